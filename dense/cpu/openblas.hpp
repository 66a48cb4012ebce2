// Regular products on the CPU go to OpenBLAS, opened at run time.
#pragma once

#include "dense/backend.hpp"

namespace lanky::dense::cpu {

/// Why OpenBLAS cannot compute this problem (not installed, sizes beyond its int); "" where it can.
std::string openblas_absence(const Problem& problem);

/// Why OpenBLAS should not compute a regular problem: absent, or with kernels of an older processor
/// than this one; "" where it is the fastest.
std::string openblas_drawback(const Problem& problem);

/// T: double or float.
template <class T>
class OpenblasExecutor final : public Executor<T, T> {
 public:
  explicit OpenblasExecutor(const Problem& problem) : call_(blas_call(problem)) {}

  void run(const Stream& stream, const Operands<T, T>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override { return 0; }
  void describe(GemmInfo& info) const override;

 private:
  BlasCall call_;
};

}  // namespace lanky::dense::cpu
