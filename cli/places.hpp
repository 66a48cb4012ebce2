#pragma once

#include <sched.h>

#include <vector>

namespace lanky::cli {

/// All CPUs that OMP_PLACES and OMP_PROC_BIND have given to this process.
///
/// OpenMP binds the first thread to one of them, and a program that this thread starts would have
/// no other.
class Places {
 public:
  Places();

  /// Lets the calling thread run on all of them; nothing where threads are not bound. Safe between
  /// fork() and exec().
  void unbind() const noexcept;

 private:
  std::vector<cpu_set_t> cpus_;  // one set of as many CPUs as are needed
};

}  // namespace lanky::cli
