// The product that Lloyd's algorithm spends its time in, -2 X C^T, by lanky or by cuBLAS.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string>

namespace lanky::examples {

template <class T>
class Product {
 public:
  virtual ~Product() = default;
  /// products [n, k] = -2 x [n, d] centers [k, d]^T, all by rows, of the shape of construction.
  virtual void run(const Stream& stream, MatrixView<const T> x, MatrixView<const T> centers,
                   MatrixView<T> products) const = 0;
  virtual std::string explain() const = 0;
};

template <class T>
std::unique_ptr<Product<T>> make_lanky_product(const Stream& stream, std::int64_t n, std::int64_t d,
                                               std::int64_t k);
/// Throws Error(unsupported) on the CPU and in a build without CUDA.
template <class T>
std::unique_ptr<Product<T>> make_cublas_product(const Stream& stream);

}  // namespace lanky::examples
