// C[m, n] = alpha A[m, k] B[k, n] + beta C on the CPU: blocks of A and B, in place or packed
// (after Goto and van de Geijn, TOMS '08), are multiplied by register tiles; block sums are added
// up in double. Long m is shared out among threads in blocks of rows, long k in chunks whose
// partial sums are added in order; both depend on the shape only, so threads never change a bit.
#pragma once

#include "dense/backend.hpp"
#include "dense/cpu/blocking.hpp"
#include "dense/cpu/pack.hpp"
#include "dense/cpu/register_tiles.hpp"
#include "dense/cpu/workspace_layout.hpp"

namespace lanky::dense::cpu {

template <class T, class TOut>
class TiledExecutor final : public Executor<T, TOut> {
 public:
  /// `reason` says why a regular product comes here; empty for the skinny families. Tests give
  /// other tiles than the processor's best.
  TiledExecutor(const Problem& problem, std::string reason,
                const RegisterTiles<Real<T>>& tiles = register_tiles<Real<T>>());

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override;
  void describe(GemmInfo& info) const override;

 private:
  Problem problem_;
  const RegisterTiles<Real<T>>& tiles_;
  Blocking blocking_;
  Problem work_;  // what tiles compute: with rows folded
  WorkspaceLayout<T> layout_;
  int threads_;  // at most, of one run: each has its own panels in the workspace
  std::string reason_;
};

}  // namespace lanky::dense::cpu
