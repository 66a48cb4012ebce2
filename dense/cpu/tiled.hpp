// C[m, n] = alpha A[m, k] B[k, n] + beta C on the CPU: blocks of A and B are packed into contiguous
// panels of the accumulation type and multiplied by a register tile (after Goto and van de Geijn,
// TOMS '08); with very few columns A is read in place. Long m is shared out among threads in blocks
// of rows, long k in chunks whose partial sums are added in order; both depend on the shape only,
// so threads never change a bit.
#pragma once

#include "dense/backend.hpp"
#include "dense/policy.hpp"

namespace lanky::dense::cpu {

template <class T, class TOut>
class TiledExecutor final : public Executor<T, TOut> {
 public:
  /// `reason` says why a regular product comes here; empty for the skinny families.
  TiledExecutor(const Problem& problem, std::string reason);

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override;
  std::string explain() const override;

 private:
  Problem problem_;
  Split split_;
  std::string reason_;
};

}  // namespace lanky::dense::cpu
