// How the program ends, as --help tells it.
#pragma once

namespace lanky::cli {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,      // something was wrong, could not be read or fetched, or got slower
  kUsage = 2,       // the command line makes no sense
  kInput = 3,       // the one matrix, grid, index or file of results cannot be read or used
  kNoDevice = 4,    // the device asked for is not there
  kBroken = 5,      // out of memory, or an error of the device or the system
  kSignalled = 128  // plus the signal's number
};

}  // namespace lanky::cli
