// The small factorization of a pass of block Gram-Schmidt with the Pythagorean inner product: from
// G = [Q W]^H W follow coefficients C with which [Q W] C is orthonormal and orthogonal to Q
// (Carson, Lund, Ma and Oktay, "Reorthogonalized Pythagorean variants of block classical
// Gram-Schmidt", 2024).
//
//   D = diag(|w_i|^-1),  T = D (W^H W - (Q^H W)^H (Q^H W)) D = L diag(p) L^H,  C_W = D L^-H p^-1/2,
//   C_Q = -(Q^H W) C_W
//
// The elimination is that of Gauss on T, row by row; where step j has made a zero below pivot j, it
// leaves L^-1 instead.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"
#include "solvers/number.hpp"

namespace lanky::solvers {

/// How a pass went. After it [Q W] is orthonormal to about `growth` times the rounding of G.
struct PassReport {
  double growth;        // the largest squared length of the columns of L^-H p^-1/2
  double least_pivot;   // of T up to the first weak column: the squared sine of a column's angle to
                        // all before it, which rounding may make negative
  double least_square;  // |w_i|^2; below 0 where the inner product is not positive semidefinite
  std::int32_t lifted;  // pivots below the roundoff of G, which were replaced by it
  std::int32_t empty;   // columns of W of length zero, or about, which are zero afterwards
  std::int32_t broken;  // elements that are NaN or Inf
  std::int32_t first_weak;  // of the lifted and the empty ones; the number of columns: none
};

/// Matrices are by rows. [Q W] may stand in any order: `q_row` and `w_row` are the first of their
/// rows in G and C.
template <class Real>
struct PassOperands {
  std::int64_t q;  // columns of Q
  std::int64_t w;  // columns of W
  std::int64_t q_row;
  std::int64_t w_row;
  const Real* gram;    // G [q + w, w]
  Real* coefficients;  // C [q + w, w]
  double roundoff;     // of G, over the lengths of its columns
  PassReport* report;

  // A pass without Q may also give the upper triangular R of W = (W C) R. Such a pass replaces no
  // pivots: where it would, C and R are NaN.
  Real* r = nullptr;  // [w, w]: R, times `r_before` where that is not null
  std::int64_t r_ld = 0;
  const Real* r_before = nullptr;  // [w, w], tight
  double shift = 0;                // added to the diagonal of T
  bool by_columns = false;         // G, C and both R
};

/// The team of a CPU: one thread. That of a GPU is the threads of a block (cuda/block_team.cuh).
struct OneThread {
  LANKY_HOST_DEVICE static int first() { return 0; }
  LANKY_HOST_DEVICE static int step() { return 1; }
  LANKY_HOST_DEVICE static int row() { return 0; }
  LANKY_HOST_DEVICE static int rows() { return 1; }
  LANKY_HOST_DEVICE static int lane() { return 0; }
  LANKY_HOST_DEVICE static int lanes() { return 1; }
  LANKY_HOST_DEVICE static void wait() {}
  LANKY_HOST_DEVICE static double most(double value) { return value; }
};

/// Squared lengths up to this count as zero: gram products of such columns underflow.
template <class Real>
inline constexpr double kLeastSquare = sizeof(Real) == sizeof(float) ? 0x1p-110 : 0x1p-990;

/// t [w, w] and scale [w] are the team's own memory. Team: threads are numbered from first() on in
/// steps of step(), and stand in rows() rows of lanes() lanes.
template <class Number, class Team, class Real>
LANKY_HOST_DEVICE void orthogonal_pass(const Team& team, const PassOperands<Real>& p, Number* t,
                                       double* scale) {
  const Real* const gram_q = p.gram + p.q_row * p.w * kNumberParts<Number>;
  const Real* const gram_w = p.gram + p.w_row * p.w * kNumberParts<Number>;
  double worst[4] = {0, 0, 0, 0};  // growth, least square negated, broken, largest square
  const auto look = [&](Number x) {
    const double square = squared(x);
    if (!(square <= 1.7e308)) worst[2] = 1;
    return square;
  };
  for (std::int64_t i = team.first(); i < p.w; i += team.step()) {
    const double square = real_part(load_number<Number>(gram_w, i * p.w + i));
    scale[i] = square > kLeastSquare<Real> ? 1 / std::sqrt(square) : 0;
    worst[1] = -square > worst[1] ? -square : worst[1];
    worst[3] = square > worst[3] ? square : worst[3];
    look(load_number<Number>(gram_w, i * p.w + i));
  }
  team.wait();  // all of `scale` is there
  for (std::int64_t e = team.first(); e < p.q * p.w; e += team.step())
    look(load_number<Number>(gram_q, e));
  for (std::int64_t e = team.first(); e < p.w * p.w; e += team.step()) {
    const std::int64_t i = e / p.w;
    const std::int64_t l = e % p.w;
    if (l < i) continue;  // the lower triangle becomes L^-1
    const double both = scale[i] * scale[l];
    Number sum = load_number<Number>(gram_w, e);
    look(sum);
    for (std::int64_t row = 0; row < p.q; ++row) {
      sum = sum - conjugate(load_number<Number>(gram_q, row * p.w + i)) *
                      load_number<Number>(gram_q, row * p.w + l);
    }
    t[e] = both * sum;
    if (i == l) t[e] = t[e] + number_of<Number>(p.shift);
  }
  team.wait();  // T is there

  double least = 1;
  std::int32_t lifted = 0;
  std::int32_t empty = 0;
  auto first_weak = static_cast<std::int32_t>(p.w);
  for (std::int64_t j = 0; j < p.w; ++j) {  // alike in all threads
    const Number* const pivot_row = t + j * p.w;
    const double pivot = real_part(pivot_row[j]);
    const bool none = scale[j] == 0;
    const bool weak = none || !(pivot > p.roundoff);  // nothing but rounding is left of column j
    if (weak && first_weak == p.w) first_weak = static_cast<std::int32_t>(j);
    empty += none ? 1 : 0;
    lifted += weak && !none ? 1 : 0;
    if (pivot < least && (first_weak == p.w || first_weak == j)) least = pivot;
    for (std::int64_t i = j + 1 + team.row(); i < p.w; i += team.rows()) {
      Number* const row = t + i * p.w;
      // Others take nothing of a weak column, whose row is noise: the next pass sees it anew.
      const Number factor = (weak ? 0 : 1 / pivot) * conjugate(pivot_row[i]);
      for (std::int64_t c = team.lane(); c < p.w; c += team.lanes()) {
        if (c < j || c >= i) {
          row[c] = row[c] - factor * pivot_row[c];
        } else if (c == j) {
          row[c] = -1.0 * factor;  // between j and i: the lower triangle, which holds nothing yet
        }
      }
    }
    team.wait();  // row j + 1 is complete before it is read as a pivot's
  }

  for (std::int64_t l = team.first(); l < p.w; l += team.step()) {
    double square = 1;
    for (std::int64_t i = 0; i < l; ++i)
      square += squared(t[l * p.w + i]);
    const double pivot = real_part(t[l * p.w + l]);
    square /= pivot > p.roundoff ? pivot : p.roundoff;
    worst[0] = square > worst[0] ? square : worst[0];
  }
  for (double& value : worst)
    value = team.most(value);

  // By columns, what was read by rows is the conjugate of G: so is all that follows from it.
  const auto store = [&](Number x, Real* matrix, std::int64_t i, std::int64_t l, std::int64_t ld) {
    store_number(p.by_columns ? conjugate(x) : x, matrix, p.by_columns ? l * ld + i : i * ld + l);
  };
  const bool broken_down = p.r != nullptr && first_weak < p.w;
  // C_W: column l is row l of L^-1, conjugated, over the root of its pivot.
  for (std::int64_t e = team.first(); e < p.w * p.w; e += team.step()) {
    const std::int64_t i = e / p.w;
    const std::int64_t l = e % p.w;
    auto c = number_of<Number>(0);
    if (i <= l && scale[l] != 0) {
      const double diagonal = real_part(t[l * p.w + l]);
      const double pivot = diagonal > p.roundoff ? diagonal : p.roundoff;
      const double over = scale[i] / std::sqrt(pivot);
      c = i == l ? number_of<Number>(over) : over * conjugate(t[l * p.w + i]);
    }
    if (broken_down) c = number_of<Number>(NAN);
    store(c, p.coefficients + p.w_row * p.w * kNumberParts<Number>, i, l, p.w);
  }
  team.wait();  // C_W is there
  if (p.r != nullptr) {
    for (std::int64_t j = team.first(); j < p.w; j += team.step())
      scale[j] = scale[j] == 0 ? 0 : 1 / scale[j];  // the column's length
    team.wait();                                    // all lengths are there
  }
  // R is diag(p)^1/2 L^H D^-1; row i of diag(p) L^H is what elimination has left right of pivot i.
  for (std::int64_t e = team.first(); p.r != nullptr && e < p.w * p.w; e += team.step()) {
    const std::int64_t i = e / p.w;
    const std::int64_t l = e % p.w;
    auto sum = number_of<Number>(0);
    const double over = 1 / std::sqrt(real_part(t[i * p.w + i]));
    for (std::int64_t j = p.r_before == nullptr ? l : i; i <= l && j <= l; ++j) {
      const Number step = (over * scale[j]) * t[i * p.w + j];
      if (p.r_before == nullptr) {
        sum = step;
      } else {
        const Number before =
            load_number<Number>(p.r_before, p.by_columns ? l * p.w + j : j * p.w + l);
        sum = sum + step * (p.by_columns ? conjugate(before) : before);
      }
    }
    if (i == l) sum = number_of<Number>(real_part(sum));
    store(broken_down ? number_of<Number>(NAN) : sum, p.r, i, l, p.r_ld);
  }
  for (std::int64_t e = team.first(); e < p.q * p.w; e += team.step()) {
    const std::int64_t row = e / p.w;
    const std::int64_t l = e % p.w;
    auto sum = number_of<Number>(0);
    for (std::int64_t i = 0; i <= l; ++i) {
      sum = sum - load_number<Number>(gram_q, row * p.w + i) *
                      load_number<Number>(p.coefficients, (p.w_row + i) * p.w + l);
    }
    store_number(sum, p.coefficients, (p.q_row + row) * p.w + l);
  }
  if (team.first() == 0) {
    const double negative = worst[1] > p.roundoff * worst[3] ? -worst[1] : 0;
    *p.report = {worst[0], least, negative, lifted, empty, worst[2] > 0 ? 1 : 0, first_weak};
  }
}

}  // namespace lanky::solvers
