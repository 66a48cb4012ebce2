// The cuda executor of update products.
#pragma once

#include "dense/backend.hpp"
#include "dense/cuda/update/policy.hpp"

namespace lanky::dense::cuda {

template <class T, class TOut>
class UpdateExecutor final : public Executor<T, TOut> {
 public:
  UpdateExecutor(const Stream& stream, const Problem& problem);

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override;
  std::int64_t workspace_bytes() const noexcept override;
  std::string explain() const override;

 private:
  Problem problem_;
  UpdateConfig config_;
  UpdateConfig unaligned_;  // for pointers that are not aligned to config_.alignment
};

}  // namespace lanky::dense::cuda
