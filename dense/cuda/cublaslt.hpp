// Regular products on the GPU go to cuBLASLt, opened at run time. The algorithm is chosen once, by
// its heuristic, when the plan is made, so that equal plans give equal bits.
#pragma once

#include <array>

#include "dense/backend.hpp"
#include "dense/cuda/tiled.hpp"

namespace lanky::dense::cuda {

/// Why cuBLASLt cannot be used at all; "" where it can.
std::string cublaslt_absence();

/// One product in cuBLASLt's terms; owns its descriptors.
class CublasltMatmul {
 public:
  CublasltMatmul(Device device, const BlasCall& call, DType in, DType out);
  CublasltMatmul(const CublasltMatmul&) = delete;
  CublasltMatmul& operator=(const CublasltMatmul&) = delete;
  ~CublasltMatmul();

  /// False where the heuristic knows no algorithm for scalars on that side.
  bool available(bool scalars_on_device) const noexcept;
  std::int64_t workspace_bytes() const noexcept;
  /// alpha and beta: both in device memory, or both in host memory.
  void run(const Stream& stream, bool scalars_on_device, const void* alpha, const void* a,
           const void* b, const void* beta, void* c, void* workspace) const;
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Falls back on the tile kernel where cuBLASLt has no algorithm: alpha in host and beta in device
/// memory, or the other way round, and shapes that its heuristic refuses. Also where alpha is
/// known to be 0, because cuBLASLt does not promise to leave A and B alone.
template <class T, class TOut>
class CublasltExecutor final : public Executor<T, TOut> {
 public:
  CublasltExecutor(const Stream& stream, const Problem& problem);

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override;
  std::string explain() const override;

 private:
  TiledExecutor<T, TOut> tiled_;
  BlasCall call_;
  CublasltMatmul matmul_;
};

}  // namespace lanky::dense::cuda
