// The cuda executor of panel products on sm_90: panel_ring_kernel, ahead of it panel_pack_kernel
// for many columns, behind it panel_sum_kernel for the tiles that several blocks share, or
// panel_class_sum_kernel where columns of A lie off 16 bytes.
#pragma once

#include <memory>

#include "dense/backend.hpp"
#include "dense/cuda/panel/policy.hpp"
#include "dense/problem.hpp"

namespace lanky::dense::cuda {

/// Whether there is a panel kernel for the problem on the device of the stream.
template <class T>
bool panel_serves(const Stream& stream, const Problem& problem);

template <class T>
struct PanelVariant;

template <class T, class TOut>
class PanelExecutor final : public Executor<T, TOut> {
 public:
  /// For problems that panel_serves().
  PanelExecutor(const Stream& stream, const Problem& problem);

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override;
  std::string explain() const override;

 private:
  std::string describe(const PanelPlan& plan) const;

  /// Where in the workspace B lies as slots take it, behind the partial sums.
  std::int64_t packed_at(const PanelPlan& plan) const noexcept;

  std::int64_t workspace_bytes(const PanelPlan& plan) const noexcept;

  /// Whether panel_pack_kernel puts B in order, whatever its pointer.
  bool must_pack(const PanelPlan& plan) const noexcept;

  Problem problem_;
  const PanelVariant<T>* variant_;
  PanelPlan aligned_;  // none where A's lines are off 16 bytes wherever it begins
  PanelPlan off_;      // for an A off 16 bytes; perhaps none where aligned_ is
};

}  // namespace lanky::dense::cuda
