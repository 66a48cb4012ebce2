// Contestants that users plug in: shared libraries with the functions of lanky/peer.h.
#pragma once

#include <lanky/peer.h>

#include <lanky/stream.hpp>
#include <memory>
#include <string>

#include "bench/harness/contestant.hpp"

namespace lanky::bench {

class Peer {
 public:
  /// Opens the library. Error(io) where it cannot be, or lacks one of the five functions.
  explicit Peer(const std::string& path);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }

  /// A contestant that multiplies this matrix, which must outlive it, with `x` into `y`.
  Contestant contest(const Stream& stream, const lanky_peer_matrix& matrix, const void* x,
                     void* y) const;

 private:
  template <class Function>
  Function* function(const std::string& path, const char* name) const;

  void* handle_ = nullptr;  // never closed: its threads may still run
  decltype(&lanky_peer_setup) setup_ = nullptr;
  decltype(&lanky_peer_run) run_ = nullptr;
  decltype(&lanky_peer_teardown) teardown_ = nullptr;
  std::string name_;
  std::string version_;
};

}  // namespace lanky::bench
