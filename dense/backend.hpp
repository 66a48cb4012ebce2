// What an executor offers to gemm.cpp. Two implementations of make(): cpu/ and cuda/; a build
// without CUDA takes cuda/absent.cpp.
#pragma once

#include <cstdint>
#include <lanky/dense.hpp>
#include <lanky/tuning.hpp>
#include <memory>
#include <string>
#include <vector>

#include "dense/problem.hpp"

namespace lanky::dense {

/// Pointers and scalars of one run, in the order of the canonical problem. T is Widened where sums
/// are wider than T's own.
template <class T, class TOut>
struct Operands {
  Scalar<Accumulator<T>> alpha;
  const T* a;  // [m, k]
  const T* b;  // [k, n]
  Scalar<Accumulator<T>> beta;
  TOut* c;             // [m, n]
  void* workspace;     // workspace_bytes() of the executor
  unsigned* counters;  // zeros before and after each run, where the executor counts(); or null

  /// False where beta is known to be 0.
  bool may_add() const noexcept {
    return beta.pointer() != nullptr || beta.value() != Accumulator<T>(0);
  }
};

/// One canonical problem on one device, ready to run.
template <class T, class TOut>
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void run(const Stream& stream, const Operands<T, TOut>& operands) const = 0;
  virtual std::int64_t workspace_bytes() const noexcept = 0;
  /// Whether runs are faster with Operands::counters.
  virtual bool counts() const noexcept { return false; }
  /// Fills in GemmInfo::routes and of_aligned.
  virtual void describe(GemmInfo& info) const = 0;
};

/// Algorithms that the vendor's heuristic is asked for, to find one by its name; cuBLASLt 13.1
/// offers up to 8.
inline constexpr int kVendorAlgorithms = 16;

/// The choices that were measured to be fastest; null where costs decide.
struct MeasuredChoices {
  const GemmChoice* general = nullptr;
  const GemmChoice* adds = nullptr;  // for runs whose beta is not 0
  const GemmChoice* same = nullptr;  // for runs whose B is A
};

namespace cpu {
/// alpha or beta as it is when a run starts.
template <class Acc>
Acc load(const Scalar<Acc>& scalar) {
  return scalar.pointer() != nullptr ? *scalar.pointer() : scalar.value();
}

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Problem& problem, GemmFamily family,
                                        MeasuredChoices measured = {});

/// All ways to compute a product, first the one that a plan takes.
std::vector<GemmChoice> choices(const Problem& problem, GemmFamily family, DType in, DType out);
}  // namespace cpu

namespace cuda {
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& stream, const Problem& problem,
                                        GemmFamily family, MeasuredChoices measured = {});

/// All ways to compute a product, first the one that a plan takes: "" for the cheapest of lanky's
/// own, its kernels by name in the order of their predicted times, and up to `most` of cuBLASLt's
/// algorithms in the order of its heuristic.
std::vector<GemmChoice> choices(const GemmQuery& query, const Problem& problem, GemmFamily family,
                                int most);

/// Names of cuBLASLt's algorithms for a product, the heuristic's first, at most `most`; nothing
/// without the library.
std::vector<std::string> vendor_algorithms(Device device, const Problem& problem, DType in,
                                           DType out, int most);
}  // namespace cuda

}  // namespace lanky::dense
