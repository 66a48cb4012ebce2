// The cuda executor of gram products on sm_90, and the tile kernel for those whose pointers turn
// out not to be aligned to 16 bytes where a kernel needs that.
#pragma once

#include <atomic>
#include <lanky/buffer.hpp>

#include "dense/backend.hpp"
#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/tiled/executor.hpp"

namespace lanky::dense::cuda {

template <class T, class TOut>
class GramExecutor final : public Executor<T, TOut> {
 public:
  static bool serves(const Device& device, const Problem& problem) {
    return configuration(device, problem).kernel != GramKernel::none;
  }
  /// `problem` is one that the executor serves, in one way at least. `symmetric`: with the kernel
  /// for A = B where there is one.
  GramExecutor(const Stream& stream, const Problem& problem, bool symmetric = true);

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override;
  std::string explain() const override;

  /// A and B are the same memory, and the kernel for that takes them.
  bool runs_as_same(const Operands<T, TOut>& operands) const noexcept;
  std::string explain_same() const;

 private:
  static GramConfiguration configuration(const Device& device, const Problem& problem) {
    return choose_gram(problem, kDType<T>, machine_of(device));
  }
  static GramConfiguration symmetric_configuration(const Device& device, const Problem& problem) {
    return choose_symmetric_gram(problem, kDType<T>, machine_of(device));
  }
  bool same(const Operands<T, TOut>& operands) const noexcept;
  unsigned* arrivals_of(void* workspace) const noexcept;
  void launch(const Stream& stream, const Operands<T, TOut>& operands,
              const GramConfiguration& configuration) const;

  GramConfiguration configuration_;
  bool exchanged_;  // C^T = B^T A^T is computed
  Problem problem_;
  GramConfiguration symmetric_;                 // where A and B are the same; none: configuration_
  GramConfiguration unaligned_;                 // for pointers off 16 bytes; none: misaligned_
  mutable Buffer<unsigned> arrivals_;           // of blocks, zero between runs; one or none
  mutable std::atomic<void*> owner_ = nullptr;  // the workspace that arrivals_ belongs to
  TiledExecutor<T, TOut> misaligned_;
};

}  // namespace lanky::dense::cuda
