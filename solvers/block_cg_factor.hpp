// Small matrices of block CG, by a team of threads or the one of a CPU. A gram matrix G of vectors
// W, that may depend on each other, is factored:
//
//   D G D = L diag(p) L^H,  tau = p^1/2 L^H D^-1,  C = D L^-H p^-1/2,  D = diag(G)^-1/2
//
// W C is orthonormal and W = (W C) tau. A column whose pivot is not above the roundoff is nothing
// but the ones before it: its column of C and its row of tau are zero, and stay out of all that
// follows. C C^H is then G's inverse among the other columns.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"
#include "solvers/linear_column.hpp"
#include "solvers/number.hpp"

namespace lanky::solvers {

/// Memory of the team: t [k, k] and three vectors [k].
template <class Number>
struct FactorMemory {
  Number* t;
  double* length;  // |w_i|
  double* scale;   // D: over the length, or 0
  double* root;    // p^-1/2, or 0 where a column is left out
};

struct FactorReport {
  double negative;  // the least diagonal element or Schur complement, where that is below 0
  bool finite;
};

/// Matrices are by rows. Afterwards t has diag(p) L^H in its upper triangle, L^-1 below it.
template <class Number, class Team, class Real>
LANKY_HOST_DEVICE FactorReport factor_gram(const Team& team, std::int64_t k, const Real* gram,
                                           double roundoff, const FactorMemory<Number>& own) {
  constexpr double kIndefinite = 1e-3;  // of a Schur complement, beyond what rounding makes
  double negative = 0;
  double broken = 0;
  for (std::int64_t i = team.first(); i < k; i += team.step()) {
    const double square = real_part(load_number<Number>(gram, i * k + i));
    own.length[i] = square > 0 ? std::sqrt(square) : 0;
    own.scale[i] = square > 0 ? 1 / own.length[i] : 0;
    if (-square > negative) negative = -square;
  }
  team.wait();  // all of `scale` is there
  for (std::int64_t e = team.first(); e < k * k; e += team.step()) {
    const std::int64_t i = e / k;
    const std::int64_t l = e % k;
    if (l < i) continue;  // the lower triangle becomes L^-1
    const Number element = load_number<Number>(gram, e);
    if (!is_finite(squared(element))) broken = 1;
    own.t[e] = (own.scale[i] * own.scale[l]) * element;
  }
  broken = team.most(broken);
  negative = team.most(negative);
  team.wait();  // T is there

  for (std::int64_t j = 0; j < k; ++j) {  // alike in all threads
    const Number* const pivot_row = own.t + j * k;
    double pivot = real_part(pivot_row[j]);
    if (pivot < -kIndefinite && own.scale[j] > 0) {
      const double value = -pivot * own.length[j] * own.length[j];
      if (value > negative) negative = value;
    }
    if (!(pivot > roundoff)) pivot = 0;
    for (std::int64_t i = j + 1 + team.row(); i < k; i += team.rows()) {
      Number* const row = own.t + i * k;
      if (pivot == 0) {
        if (team.lane() == 0) row[j] = number_of<Number>(0);
        continue;
      }
      const Number factor = (1 / pivot) * conjugate(pivot_row[i]);
      for (std::int64_t c = team.lane(); c < k; c += team.lanes()) {
        if (c < j || c >= i) {
          row[c] = row[c] - factor * pivot_row[c];
        } else if (c == j) {
          row[c] = -1.0 * factor;
        }
      }
    }
    if (team.first() == 0) own.root[j] = pivot == 0 ? 0 : 1 / std::sqrt(pivot);
    team.wait();  // row j + 1 is complete before it is read as a pivot's
  }
  return {-negative, broken == 0};
}

/// Element (i, l) of C.
template <class Number>
LANKY_HOST_DEVICE Number c_element(std::int64_t k, const FactorMemory<Number>& own, std::int64_t i,
                                   std::int64_t l) {
  if (i > l || own.root[l] == 0) return number_of<Number>(0);
  const double over = own.scale[i] * own.root[l];
  return i == l ? number_of<Number>(over) : over * conjugate(own.t[l * k + i]);
}

/// Element (i, l) of tau.
template <class Number>
LANKY_HOST_DEVICE Number tau_element(std::int64_t k, const FactorMemory<Number>& own,
                                     std::int64_t i, std::int64_t l) {
  if (i > l || own.root[i] == 0) return number_of<Number>(0);
  return (own.root[i] * own.length[l]) * own.t[i * k + l];
}

/// alpha = (P^H A P)^-1, and the step of X, alpha Phi, whose columns are zero where they rest.
template <class Real>
struct BlockStep {
  std::int64_t k;
  const Real* gram;   // P^H A P
  const double* phi;  // numbers [k, k]
  double roundoff;
  double* inverse;  // numbers [k, k], alpha as it was computed
  Real* alpha;
  Real* step;
  LinearColumn* columns;
};

/// After W = (W C) tau: Phi = tau Phi. The second factor of a block makes it orthonormal to
/// rounding; tau is then that of both.
template <class Real>
struct BlockFactor {
  std::int64_t k;
  bool second;
  const Real* gram;
  double roundoff;
  const double* phi;  // numbers [k, k]
  double* next_phi;
  double* tau;        // numbers [k, k], of the first factor
  Real* c;            // of the second one: the lower half of [tau^H; C]
  Real* tau_adjoint;  // of the second one: the upper half
  LinearColumn* columns;
};

/// Every column that is iterated fails.
template <class Team>
LANKY_HOST_DEVICE void fail_columns(const Team& team, std::int64_t k, LinearColumn* columns,
                                    ColumnState how, double value) {
  for (std::int64_t j = team.first(); j < k; j += team.step()) {
    const ColumnState state = columns[j].state;
    if (state == ColumnState::running || state == ColumnState::claimed ||
        state == ColumnState::starting) {
      columns[j].fail(how, value);
    }
  }
}

LANKY_HOST_DEVICE inline bool is_solved(const LinearColumn& column) {
  return column.state == ColumnState::zero || column.state == ColumnState::resting;
}

template <class Number, class Team, class Real>
LANKY_HOST_DEVICE void block_step(const Team& team, const BlockStep<Real>& p,
                                  const FactorMemory<Number>& own) {
  const std::int64_t k = p.k;
  const FactorReport report = factor_gram(team, k, p.gram, p.roundoff, own);
  const bool sound = report.finite && !(report.negative < 0);
  if (!report.finite) fail_columns(team, k, p.columns, ColumnState::not_finite, NAN);
  if (report.finite && !sound)
    fail_columns(team, k, p.columns, ColumnState::a_broken, report.negative);
  for (std::int64_t e = team.first(); e < k * k; e += team.step()) {
    const std::int64_t a = e / k;
    const std::int64_t b = e % k;
    Number sum = number_of<Number>(0);
    for (std::int64_t l = a > b ? a : b; sound && l < k; ++l)
      sum = sum + c_element(k, own, a, l) * conjugate(c_element(k, own, b, l));
    store_number(sum, p.inverse, e);
    store_number(sum, p.alpha, e);
  }
  team.wait();  // all of alpha is there
  for (std::int64_t e = team.first(); e < k * k; e += team.step()) {
    const std::int64_t a = e / k;
    const std::int64_t j = e % k;
    Number sum = number_of<Number>(0);
    if (!is_solved(p.columns[j])) {
      for (std::int64_t b = 0; b < k; ++b)
        sum =
            sum + load_number<Number>(p.inverse, a * k + b) * load_number<Number>(p.phi, b * k + j);
    }
    store_number(sum, p.step, e);
  }
}

template <class Number, class Team, class Real>
LANKY_HOST_DEVICE void block_factor(const Team& team, const BlockFactor<Real>& p,
                                    const FactorMemory<Number>& own) {
  const std::int64_t k = p.k;
  const FactorReport report = factor_gram(team, k, p.gram, p.roundoff, own);
  if (!report.finite) fail_columns(team, k, p.columns, ColumnState::not_finite, NAN);
  if (report.finite && report.negative < 0)
    fail_columns(team, k, p.columns, ColumnState::m_broken, report.negative);
  for (std::int64_t e = team.first(); e < k * k; e += team.step()) {
    const std::int64_t i = e / k;
    const std::int64_t j = e % k;
    store_number(c_element(k, own, i, j), p.c, e);
    Number phi = number_of<Number>(0);
    Number tau = number_of<Number>(0);
    for (std::int64_t l = i; l < k; ++l) {
      const Number factor = tau_element(k, own, i, l);
      phi = phi + factor * load_number<Number>(p.phi, l * k + j);
      if (p.second && l <= j) tau = tau + factor * load_number<Number>(p.tau, l * k + j);
    }
    if (is_solved(p.columns[j])) phi = number_of<Number>(0);
    store_number(phi, p.next_phi, e);
    if (p.second) {
      store_number(conjugate(tau), p.tau_adjoint, j * k + i);
    } else {
      store_number(tau_element(k, own, i, j), p.tau, e);
    }
  }
  if (!p.second) return;
  team.wait();  // all of Phi is there
  for (std::int64_t j = team.first(); j < k; j += team.step()) {
    LinearColumn& column = p.columns[j];
    const bool starts = column.state == ColumnState::starting;
    if (starts) column.state = ColumnState::running;
    if (column.state != ColumnState::running && column.state != ColumnState::claimed) continue;
    double square = 0;
    for (std::int64_t i = 0; i < k; ++i)
      square += squared(load_number<Number>(p.next_phi, i * k + j));
    column.estimate = std::sqrt(square);
    if (column.state != ColumnState::running || starts) continue;
    ++column.iterations;
    if (column.estimate <= column.claim) column.state = ColumnState::claimed;
  }
}

}  // namespace lanky::solvers
