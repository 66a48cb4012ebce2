// A build without CUDA: streams are of the CPU alone, so that nothing here is reached.
#include <complex>
#include <lanky/error.hpp>

#include "solvers/block_work.hpp"
#include "solvers/linear_work.hpp"

namespace lanky::solvers {

template <class T>
std::unique_ptr<BlockWork<T>> cuda::make_block_work(const Stream& /*stream*/) {
  throw Error(ErrorCode::no_device, "lanky was built without CUDA");
}

template <class T>
std::unique_ptr<LinearWork<T>> cuda::make_linear_work(const Stream& /*stream*/,
                                                      std::int64_t /*rows*/,
                                                      std::int64_t /*columns*/,
                                                      Allocator* /*allocator*/) {
  throw Error(ErrorCode::no_device, "lanky was built without CUDA");
}

#define LANKY_INSTANTIATE(T)                                                                  \
  template std::unique_ptr<BlockWork<T>> cuda::make_block_work(const Stream&);                \
  template std::unique_ptr<LinearWork<T>> cuda::make_linear_work(const Stream&, std::int64_t, \
                                                                 std::int64_t, Allocator*);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
