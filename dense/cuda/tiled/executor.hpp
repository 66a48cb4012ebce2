// The cuda executor for every shape: gemm_tile_kernel, and gemm_reduce_kernel where k is split.
#pragma once

#include "dense/backend.hpp"
#include "dense/policy.hpp"

namespace lanky::dense::cuda {

template <class T, class TOut>
class TiledExecutor final : public Executor<T, TOut> {
 public:
  /// `reason` says why a regular product comes here; empty for the skinny families.
  TiledExecutor(const Stream& stream, const Problem& problem, std::string reason);

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override;
  std::string explain() const override;

 private:
  Problem problem_;
  int tile_;  // index into kTiles
  Split split_;
  std::string reason_;
};

}  // namespace lanky::dense::cuda
