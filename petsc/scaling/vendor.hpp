// What PETSc multiplies with on a GPU without lanky: cuSPARSE for products, cuBLAS for vectors.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <vector>

namespace lanky_scaling {

/// Throws lanky::Error for what is not a success.
void check(cudaError_t status, const char* what);

enum class VendorAlgorithm { alg1, alg2 };  // of CSR; PETSc takes alg1 unless asked for another

/// y = A x + beta y of 64-bit elements, preprocessed, all in the memory of the stream's device.
/// The arrays must outlive what is returned, each call of which is one product.
std::function<void()> vendor_spmv(const lanky::Stream& stream, const lanky::CsrView<double>& a,
                                  lanky::VectorView<const double> x, double beta,
                                  lanky::VectorView<double> y, VendorAlgorithm algorithm);
/// Y = A X + beta Y, of columns that stand one after the other, as those of a MatDense.
std::function<void()> vendor_spmm(const lanky::Stream& stream, const lanky::CsrView<double>& a,
                                  lanky::MatrixView<const double> x, double beta,
                                  lanky::MatrixView<double> y, VendorAlgorithm algorithm);

/// y += 1e-9 x.
std::function<void()> vendor_axpy(const lanky::Stream& stream, std::int64_t size, const double* x,
                                  double* y);
/// *result = (x, y), in device memory.
std::function<void()> vendor_dot(const lanky::Stream& stream, std::int64_t size, const double* x,
                                 const double* y, double* result);

/// A number in memory of the host that a GPU writes; null where there is none.
std::unique_ptr<double, void (*)(double*)> pinned_double();

/// target.size() elements from the memory of the stream's device, when its work is done.
void copy_to_host(const lanky::Stream& stream, const double* source, std::vector<double>& target);

}  // namespace lanky_scaling
