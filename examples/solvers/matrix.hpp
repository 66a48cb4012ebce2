// Matrices in host memory: where they come from, what is asked of them, products in double.
#pragma once

#include <lanky/csr.hpp>
#include <lanky/error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lanky::examples::solvers {

/// Error(size_mismatch) that names the extents; `method` needs a square matrix.
void check_square(const CsrMatrix<double>& a, std::string_view method);

/// Error(invalid_argument) that names an entry without its like at the transposed place. Values
/// may differ by 1e-10 of their size, as those of files do. Columns are sorted.
void check_symmetric(const CsrMatrix<double>& a);

/// Of the graph that the off-diagonal pattern of `a` is, the Laplacian with `shift` added to the
/// diagonal: links - 1, -1, .. Positive definite for shift > 0. Throws Error: size_mismatch (not
/// square), invalid_argument (the pattern is not symmetric, shift <= 0).
CsrMatrix<double> laplacian(const CsrMatrix<double>& a, double shift);

/// 1 / diagonal. Throws Error(invalid_argument) that names a row whose diagonal is not positive.
std::vector<double> inverse_diagonal(const CsrMatrix<double>& a);

/// A x
std::vector<double> multiply(const CsrMatrix<double>& a, const std::vector<double>& x);

/// |b - A x| / |b|; |A x| where b = 0.
double relative_residual(const CsrMatrix<double>& a, const std::vector<double>& x,
                         const std::vector<double>& b);

struct EigenPair {
  double lambda;             // x.Ax / x.x
  double relative_residual;  // |A x - lambda x| / (|lambda| |x|)
};

EigenPair eigen_pair(const CsrMatrix<double>& a, const std::vector<double>& x);

}  // namespace lanky::examples::solvers
