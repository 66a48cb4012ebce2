// Small dense eigenproblems on the host, by Eigen (eigen.tuxfamily.org): its headers take long to
// compile and stay behind these functions.
#pragma once

#include <cstdint>
#include <lanky/eigensolver.hpp>
#include <span>
#include <vector>

#include "solvers/small_matrix.hpp"

namespace lanky::solvers {

/// H = V diag(values) V^H; the upper triangle of H is read. `values` ascend.
template <class W>
struct Spectrum {
  std::vector<double> values;
  SmallMatrix<W> vectors;
};
template <class W>
Spectrum<W> self_adjoint_eigen(const SmallMatrix<W>& h);

/// A x = lambda B x among the x that are B-orthogonal to the columns of Y. B [0, 0] stands for the
/// identity, Y may have no columns. B is positive definite; or it is semidefinite and A definite,
/// and eigenvalues are infinite whose x has B x = 0. Throws Error(invalid_argument) else.
template <class W>
Spectrum<W> constrained_eigen(const SmallMatrix<W>& a, const SmallMatrix<W>& b,
                              const SmallMatrix<W>& y);

/// Throws Error(invalid_argument), with the elements, where H differs from its adjoint by more than
/// the root of the roundoff, or has NaN or Inf. `name` is that of the operator, and `norm` its
/// norm, as far as that is known: elements far below it are rounding.
template <class W>
void check_self_adjoint(const SmallMatrix<W>& h, double roundoff, const char* name, double norm);

/// Coefficients of the next X and P of LOBPCG, from the spectrum of S^H A S of its basis
/// S = [X P W].
template <class W>
struct RitzStep {
  SmallMatrix<W> x;       // [s, b]
  SmallMatrix<W> p;       // [s, p]: orthonormal beside x
  SmallMatrix<W> p_gram;  // p^H S^H A S p
};
/// X has b columns, of the end that is asked for. P spans, beside the next X, the steps of its
/// columns `active`, as many as `others` at most, from the X before: with the eigenvectors V1 of X
/// and V2, the `others` farthest from these, it is V2 Q, where Q R = V2^H (V1 less its rows of X)
/// (Duersch et al. 2018, section 4).
template <class W>
RitzStep<W> ritz_step(const Spectrum<W>& all, std::int64_t b, std::int64_t others, EigenEnd end,
                      std::span<const std::int32_t> active);

/// Of a basis [Q W] whose W stands for W' = [Q W] C, C [q + w, w], and is not made anew: H, whose
/// upper triangle counts, becomes the gram matrix with [Q W'], X the coefficients without it.
template <class W>
void gram_with(const SmallMatrix<W>& c, SmallMatrix<W>& h);
template <class W>
void coefficients_without(const SmallMatrix<W>& c, SmallMatrix<W>& x);

}  // namespace lanky::solvers
