// Work that linear solvers give to a device beside lanky's products. Two implementations: cpu/ and
// cuda/; a build without CUDA takes cuda/absent.cpp. Work is given to the stream; nothing waits.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <memory>

#include "solvers/block_cg_factor.hpp"
#include "solvers/linear_pass.hpp"

namespace lanky::solvers {

/// T: double, float, complex<float>, complex<double>.
template <class T>
class LinearWork {
 public:
  using Real = RealOf<T>;

  virtual ~LinearWork() = default;

#define LANKY_DECLARE(...) virtual void run(const __VA_ARGS__& pass) = 0;
  LANKY_FOR_EACH_LINEAR_PASS(LANKY_DECLARE, Real)
#undef LANKY_DECLARE
  virtual void run(const BlockStep<Real>& step) = 0;
  virtual void run(const BlockFactor<Real>& factor) = 0;
};

/// For matrices of so many rows and columns.
template <class T>
std::unique_ptr<LinearWork<T>> make_linear_work(const Stream& stream, std::int64_t rows,
                                                std::int64_t columns, Allocator* allocator);

namespace cpu {
template <class T>
std::unique_ptr<LinearWork<T>> make_linear_work(const Stream& stream, std::int64_t rows,
                                                std::int64_t columns, Allocator* allocator);
}
namespace cuda {
template <class T>
std::unique_ptr<LinearWork<T>> make_linear_work(const Stream& stream, std::int64_t rows,
                                                std::int64_t columns, Allocator* allocator);
}

template <class T>
std::unique_ptr<LinearWork<T>> make_linear_work(const Stream& stream, std::int64_t rows,
                                                std::int64_t columns, Allocator* allocator) {
  return stream.device().is_cuda() ? cuda::make_linear_work<T>(stream, rows, columns, allocator)
                                   : cpu::make_linear_work<T>(stream, rows, columns, allocator);
}

}  // namespace lanky::solvers
