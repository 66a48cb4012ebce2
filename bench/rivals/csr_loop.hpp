// CSR loops on the CPU as users write them, compiled for the processor at hand: the rivals
// `cpu-csr`.
#pragma once

#include <cstdint>
#include <lanky/view.hpp>

namespace lanky::bench {

/// How threads share the rows. serial: one thread, y zeroed first: the loop of SciPy's csr_matvec
/// or csr_matvecs (scipy/sparse/sparsetools/csr.h), without what Python adds. The others: as many
/// rows each
/// (`schedule(static)`), or fewer and fewer of those that are left (`schedule(guided)`); one
/// thread alone multiplies where a matrix has few entries.
enum class CsrSchedule : std::uint8_t { serial, fixed, guided };

/// y = A x, zero-based: a sum a row, in the accumulator of T. Halves are converted by F16C where
/// the processor has it.
template <class T>
void multiply_csr(const CsrView<T>& a, const T* x, T* y, CsrSchedule schedule);

/// Y = A X, both by rows of `columns` without gaps, each row added up where it stands in Y. Not of
/// halves, whose sums are no halves.
template <class T>
void multiply_csr_by_rows(const CsrView<T>& a, const T* x, T* y, std::int64_t columns,
                          CsrSchedule schedule);

/// SDDMM: values[k] = sum_c X(i, c) Y(j, c) for each entry k, at (i, j), of the zero-based pattern
/// of `a`, X and Y of one layout. Threads share the rows as `schedule(guided)` does.
template <class T>
void sample_csr(const CsrView<T>& a, MatrixView<const T> x, MatrixView<const T> y, T* values);

}  // namespace lanky::bench
