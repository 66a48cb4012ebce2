// What an executor offers to gemm.cpp. Two implementations of make(): cpu/ and cuda/; a build
// without CUDA takes cuda/absent.cpp.
#pragma once

#include <cstdint>
#include <lanky/dense.hpp>
#include <memory>
#include <string>

#include "dense/problem.hpp"

namespace lanky::dense {

/// Pointers and scalars of one run, in the order of the canonical problem.
template <class T, class TOut>
struct Operands {
  Scalar<Accumulator<T>> alpha;
  const T* a;  // [m, k]
  const T* b;  // [k, n]
  Scalar<Accumulator<T>> beta;
  TOut* c;          // [m, n]
  void* workspace;  // workspace_bytes() of the executor
};

/// One canonical problem on one device, ready to run.
template <class T, class TOut>
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void run(const Stream& stream, const Operands<T, TOut>& operands) const = 0;
  virtual std::int64_t workspace_bytes() const noexcept = 0;
  /// One line: kernel, tiles, split.
  virtual std::string explain() const = 0;
};

namespace cpu {
/// alpha or beta as it is when a run starts.
template <class Acc>
Acc load(const Scalar<Acc>& scalar) {
  return scalar.pointer() != nullptr ? *scalar.pointer() : scalar.value();
}

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Problem& problem, GemmFamily family);
}  // namespace cpu

namespace cuda {
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& stream, const Problem& problem,
                                        GemmFamily family);
}

}  // namespace lanky::dense
