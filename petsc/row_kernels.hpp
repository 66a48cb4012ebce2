// Kernels of packed_rows.cpp, without anything of PETSc: some rows of a column-major matrix, and
// the same rows one after the other.
#pragma once

#include <cuda_runtime_api.h>

#include <complex>
#include <cstdint>

namespace lanky_petsc {

/// packed[i * columns + j] = x[rows[i] + j * leading], for i < count. T: float, double, or
/// std::complex of these; all memory is the GPU's.
template <class T>
cudaError_t gather_rows(const T* x, std::int64_t leading, std::int64_t columns,
                        const std::int64_t* rows, std::int64_t count, T* packed,
                        cudaStream_t stream);

/// y[rows[i] + j * leading] += packed[i * columns + j], for i < count, of different rows.
template <class T>
cudaError_t add_rows(const T* packed, std::int64_t leading, std::int64_t columns,
                     const std::int64_t* rows, std::int64_t count, T* y, cudaStream_t stream);

/// The same where row i gets the sum of packed[slots[k] * columns + j] over k in
/// [begins[i], begins[i + 1]), in this order.
template <class T>
cudaError_t add_rows(const T* packed, std::int64_t leading, std::int64_t columns,
                     const std::int64_t* rows, const std::int64_t* begins,
                     const std::int64_t* slots, std::int64_t count, T* y, cudaStream_t stream);

}  // namespace lanky_petsc
