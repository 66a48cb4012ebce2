// Products that go to cuBLASLt, opened at run time: the regular ones, and skinny ones where it
// wins. The algorithm is fixed when the plan is made, by the library's heuristic or by the caller,
// so that equal plans give equal bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "dense/backend.hpp"

namespace lanky::dense::cuda {

/// Why cuBLASLt cannot compute this product (not installed, an empty sum, a conjugate that BLAS has
/// no word for); "" where it can.
std::string cublaslt_absence(const Problem& problem, DType in);

/// One product in cuBLASLt's terms; owns its descriptors.
class CublasltMatmul {
 public:
  /// The algorithm of the name `chosen` (of vendor_algorithms()) computes where pointers are
  /// aligned to 16 bytes and the heuristic offers it; what the heuristic takes for the fastest
  /// otherwise.
  CublasltMatmul(Device device, const Problem& problem, DType in, DType out,
                 std::string_view chosen);
  CublasltMatmul(const CublasltMatmul&) = delete;
  CublasltMatmul& operator=(const CublasltMatmul&) = delete;
  ~CublasltMatmul();

  /// False where the library has no algorithm for scalars on that side.
  bool available(bool scalars_on_device) const noexcept;
  std::int64_t workspace_bytes() const noexcept;
  /// The canonical A and B. alpha and beta: both in device memory, or both in host memory.
  void run(const Stream& stream, bool scalars_on_device, const void* alpha, const void* a,
           const void* b, const void* beta, void* c, void* workspace) const;
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Falls back on lanky's kernels where cuBLASLt has no algorithm: alpha in host and beta in device
/// memory, or the other way round, and shapes that its heuristic refuses. Also where alpha is
/// known to be 0, because cuBLASLt does not promise to leave A and B alone.
template <class T, class TOut>
class CublasltExecutor final : public Executor<T, TOut> {
 public:
  /// cublaslt_absence(problem, kDType<T>) is "".
  CublasltExecutor(const Stream& stream, const Problem& problem,
                   std::unique_ptr<Executor<T, TOut>> fallback, std::string_view chosen)
      : fallback_(std::move(fallback)),
        matmul_(stream.device(), problem, kDType<T>, kDType<TOut>, chosen) {}

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override;
  std::string explain() const override;

 private:
  std::unique_ptr<Executor<T, TOut>> fallback_;
  CublasltMatmul matmul_;
};

}  // namespace lanky::dense::cuda
