// Contestants that users plug in: shared libraries with the functions of lanky/peer.h.
#pragma once

#include <lanky/peer.h>

#include <lanky/stream.hpp>
#include <memory>
#include <string>

#include "bench/cases/spmv_data.hpp"
#include "bench/harness/contestant.hpp"

namespace lanky::bench {

class Peer {
 public:
  /// Opens the library. Error(io) where it cannot be, or lacks one of the five functions.
  explicit Peer(const std::string& path);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }

  /// A contestant that multiplies this matrix, which must outlive it, with `x` into `y`, both of so
  /// many columns. Where the library has no function for several: column after column, as variant
  /// "VERSION mv", and unsupported by rows.
  Contestant contest(const Stream& stream, const lanky_peer_matrix& matrix, SpmvColumns columns,
                     const void* x, void* y) const;

 private:
  template <class Function>
  Function* function(const std::string& path, const char* name) const;
  Product product(std::shared_ptr<void> plan, const lanky_peer_matrix& matrix, SpmvColumns columns,
                  const void* x, void* y) const;

  void* handle_ = nullptr;  // never closed: its threads may still run
  decltype(&lanky_peer_setup) setup_ = nullptr;
  decltype(&lanky_peer_run) run_ = nullptr;
  decltype(&lanky_peer_run_columns) run_columns_ = nullptr;  // where there is one
  decltype(&lanky_peer_teardown) teardown_ = nullptr;
  std::string name_;
  std::string version_;
};

}  // namespace lanky::bench
