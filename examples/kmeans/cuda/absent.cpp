// Stands in for the GPU's side in a build without CUDA.
#include <lanky/error.hpp>

#include "examples/kmeans/product.hpp"
#include "examples/kmeans/steps.hpp"

namespace lanky::examples {

template <class T>
std::unique_ptr<Steps<T>> make_cuda_steps(const Stream& /*stream*/, std::int64_t /*rows*/,
                                          std::int64_t /*cols*/, std::int64_t /*clusters*/) {
  throw Error(ErrorCode::no_device, "this kmeans was built without CUDA");
}

template <class T>
std::unique_ptr<Product<T>> make_cublas_product(const Stream& /*stream*/) {
  throw Error(ErrorCode::unsupported, "this kmeans was built without CUDA, hence without cuBLAS");
}

template std::unique_ptr<Steps<float>> make_cuda_steps(const Stream&, std::int64_t, std::int64_t,
                                                       std::int64_t);
template std::unique_ptr<Steps<double>> make_cuda_steps(const Stream&, std::int64_t, std::int64_t,
                                                        std::int64_t);
template std::unique_ptr<Product<float>> make_cublas_product(const Stream&);
template std::unique_ptr<Product<double>> make_cublas_product(const Stream&);

}  // namespace lanky::examples
