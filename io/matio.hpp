// libmatio, opened when the first .mat file is read.
#pragma once

#include <matio.h>

#include <mutex>

#include "core/shared_library.hpp"

namespace lanky::inline v1::io {

struct Matio {
  Matio();

  SharedLibrary library;
  decltype(Mat_Open)* open;
  decltype(Mat_Close)* close;
  decltype(Mat_VarReadNextInfo)* read_next_info;
  decltype(Mat_VarReadDataAll)* read_data;
  decltype(Mat_VarGetStructFieldByName)* field;
  decltype(Mat_VarFree)* free;
  /// HDF5, which reads files of version 7.3, may be called by one thread at a time.
  mutable std::mutex mutex;
};

/// Throws Error(unsupported) that names the Debian package where it cannot be opened.
const Matio& matio();

}  // namespace lanky::inline v1::io
