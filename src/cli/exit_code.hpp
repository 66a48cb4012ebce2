// How the program ends, as --help tells it.
#pragma once

namespace lanky::cli {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,  // a result was wrong, a file of a batch could not be read, or something got slower
  kUsage = 2,   // the command line makes no sense
  kInput = 3,   // the one matrix, grid or file of results asked for cannot be read or used
  kNoDevice = 4,    // the device asked for is not there
  kBroken = 5,      // out of memory, or an error of the device or the system
  kSignalled = 128  // plus the signal's number
};

}  // namespace lanky::cli
