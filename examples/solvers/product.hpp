// y = A x by lanky's plan or by cuSPARSE, behind one interface.
#pragma once

#include <chrono>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/csr.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace lanky::examples::solvers {

/// A CSR matrix in the memory of a device. Offsets have 32 bits where these suffice.
template <class T>
class DeviceMatrix {
 public:
  /// `matrix`, each value rounded to T.
  DeviceMatrix(const Stream& stream, const CsrMatrix<double>& matrix);

  CsrView<T> view() const noexcept;

 private:
  std::int64_t rows_;
  std::int64_t cols_;
  bool wide_;
  Buffer<std::int64_t> wide_offsets_;   // [rows + 1], or none
  Buffer<std::int32_t> short_offsets_;  // [rows + 1], or none
  Buffer<std::int32_t> col_indices_;    // [nnz]
  Buffer<T> values_;                    // [nnz]
};

template <class T>
class Product {
 public:
  virtual ~Product() = default;
  /// y = A x, on the device of the stream; can be captured in a CUDA graph.
  virtual void run(const Stream& stream, VectorView<const T> x, VectorView<T> y) const = 0;
  /// What computes it: "lanky", "cusparse-alg2".
  virtual std::string about() const = 0;
};

template <class T>
struct Prepared {
  std::unique_ptr<Product<T>> product;
  double setup_us;  // what preparing takes from the CSR in device memory on
};

/// What `make()` makes. On a GPU the second of two is timed: the first loads kernels.
template <class T, class Make>
Prepared<T> prepare(const Stream& stream, const Make& make) {
  if (stream.device().is_cuda()) make();
  stream.synchronize();
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Product<T>> product = make();
  stream.synchronize();
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  return {std::move(product), time.count()};
}

/// By CUSPARSE_SPMV_CSR_ALG1 or ALG2, prepared by cusparseSpMV_preprocess: the faster of the two.
/// `a` must outlive it.
template <class T>
Prepared<T> cusparse_product(const Stream& stream, const CsrView<T>& a);

/// By its name, "lanky" or "cusparse". Throws Error: invalid_argument (another name), unsupported
/// (cuSPARSE on the CPU).
template <class T>
Prepared<T> make_product(std::string_view name, const Stream& stream, const CsrView<T>& a);

}  // namespace lanky::examples::solvers
