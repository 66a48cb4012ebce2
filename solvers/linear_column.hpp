// Scalars of Krylov methods, a set for each right-hand side, which stay in the device's memory: how
// sums over vectors become the coefficients of the next pass. Alike on the CPU and in kernels.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

namespace lanky::solvers {

enum class ColumnState : std::int32_t {
  zero,           // b = 0, hence x = 0
  resting,        // nothing is done for it any more
  starting,       // begins anew from its residual
  running,        // is iterated
  claimed,        // its recurrence says that it is solved
  least_squares,  // |A r| over |r| is `value`, and 0 where that is rounding alone
  a_broken,       // `value` shows that A is not positive definite
  m_broken,       // `value` shows that the preconditioner is not
  not_finite      // `value` is NaN or Inf
};

/// A right-hand side as the device tells the host of it, and the host the device.
struct LinearColumn {
  double estimate;  // of the residual's norm, by the recurrence
  double claim;     // a right-hand side claims to be solved at this estimate
  double value;
  ColumnState state;
  std::int32_t iterations;
  std::int32_t copied;  // whether CopyColumnsPass copies it
  std::int32_t unused;

  LANKY_HOST_DEVICE void fail(ColumnState how, double what) {
    state = how;
    value = what;
  }
};

LANKY_HOST_DEVICE inline bool is_finite(double x) {
  return x - x == 0;
}

struct CgScalars {
  double alpha;  // 0: the column rests, and is neither read nor written
  double beta;
  double rho;  // r^H z
};

/// The scalars of conjugate gradients [columns].
struct CgView {
  LinearColumn* columns;
  CgScalars* scalars;
  bool preconditioned;

  /// After z = M r of a column that starts: rho = r^H z.
  LANKY_HOST_DEVICE void start(int c, double rho) const {
    LinearColumn& column = columns[c];
    if (column.state != ColumnState::starting) return;
    scalars[c] = {0, 0, rho};
    column.state = ColumnState::running;
    if (!is_finite(rho)) {
      column.fail(ColumnState::not_finite, rho);
    } else if (!(rho > 0)) {
      column.fail(ColumnState::m_broken, rho);
    }
  }
  /// After q = A p: curvature = p^H q.
  LANKY_HOST_DEVICE void multiplied(int c, double curvature) const {
    LinearColumn& column = columns[c];
    double& alpha = scalars[c].alpha;
    alpha = 0;
    if (column.state != ColumnState::running) return;
    if (!is_finite(curvature)) {
      column.fail(ColumnState::not_finite, curvature);
    } else if (!(curvature > 0)) {
      column.fail(ColumnState::a_broken, curvature);
    } else {
      alpha = scalars[c].rho / curvature;
    }
  }
  /// After r -= alpha q: square = |r|^2.
  LANKY_HOST_DEVICE void stepped(int c, double square) const {
    if (scalars[c].alpha == 0) return;
    LinearColumn& column = columns[c];
    ++column.iterations;
    column.estimate = std::sqrt(square);
    if (!is_finite(square)) {
      column.fail(ColumnState::not_finite, square);
    } else if (column.estimate <= column.claim) {
      column.state = ColumnState::claimed;
    }
    if (!preconditioned) weigh(c, square);
  }
  /// After z = M r: rho = r^H z.
  LANKY_HOST_DEVICE void weigh(int c, double rho) const {
    if (scalars[c].alpha == 0) return;
    LinearColumn& column = columns[c];
    if (column.state == ColumnState::running && !(rho > 0)) {
      column.fail(is_finite(rho) ? ColumnState::m_broken : ColumnState::not_finite, rho);
    }
    scalars[c].beta = rho / scalars[c].rho;
    scalars[c].rho = rho;
  }
};

/// Those of MINRES, in the notation of Paige and Saunders: A's tridiagonal form has alpha and beta,
/// Givens rotations (cs, sn) make it triangular.
struct MinresScalars {
  double alpha;
  double beta;
  double old_beta;
  double delta_bar;
  double epsilon;
  double phi_bar;  // norm of the residual
  double cs;
  double sn;
  double norm2;  // of A as far as it was seen, squared: of a column of the tridiagonal matrix
  double least;  // |A r| over |r| at which x is a least-squares solution as far as this run tells
  // Coefficients of the passes.
  double by_q;
  double by_old_r;
  double by_r;
  double by_z;
  double by_old_w;
  double by_w;
  double phi;
  std::int32_t goes_on;  // whether there is a next Lanczos vector
  std::int32_t moves;    // whether the iteration changes x
};

/// Where b is not in A's range, |A r| falls and r does not. Lanczos vectors lose their
/// orthogonality once it has fallen by the root of the roundoff (Paige, Linear Algebra Appl. 34,
/// 1980): the column begins anew from its residual then, until |A r| is zero to rounding.
struct MinresView {
  LinearColumn* columns;
  MinresScalars* scalars;
  double roundoff;  // of |A r| over |A| |r|
  double lost;      // |A r| over that of the start, where orthogonality is lost

  /// After z = M r of a column that starts: rho = r^H z.
  LANKY_HOST_DEVICE void start(int c, double rho) const {
    LinearColumn& column = columns[c];
    if (column.state != ColumnState::starting) return;
    MinresScalars& s = scalars[c];
    const double norm2 = s.norm2;
    s = {};
    s.norm2 = norm2;
    s.least = -1;  // is told by the first iteration
    column.state = ColumnState::running;
    if (!is_finite(rho)) {
      column.fail(ColumnState::not_finite, rho);
    } else if (!(rho > 0)) {
      column.fail(ColumnState::m_broken, rho);
    } else {
      s.beta = s.phi_bar = std::sqrt(rho);
      s.cs = -1;
      s.goes_on = 1;
    }
  }
  /// After q = A z: sum = z^H q.
  LANKY_HOST_DEVICE void multiplied(int c, double sum) const {
    MinresScalars& s = scalars[c];
    const ColumnState state = columns[c].state;
    // Columns that claim to be solved go on until the host has looked.
    if (state != ColumnState::running && state != ColumnState::claimed) s.goes_on = 0;
    s.moves = s.goes_on;
    if (s.goes_on == 0) return;
    if (!is_finite(sum)) {
      columns[c].fail(ColumnState::not_finite, sum);
      s.moves = s.goes_on = 0;
      return;
    }
    s.alpha = sum / (s.beta * s.beta);
    s.by_q = 1 / s.beta;
    s.by_old_r = s.old_beta > 0 ? s.beta / s.old_beta : 0;
    s.by_r = s.alpha / s.beta;
  }
  /// After the next r and z = M r: sum = r^H z.
  LANKY_HOST_DEVICE void orthogonalized(int c, double sum) const {
    MinresScalars& s = scalars[c];
    if (s.goes_on == 0) return;
    LinearColumn& column = columns[c];
    if (!(sum >= 0 && is_finite(sum))) {
      column.fail(is_finite(sum) ? ColumnState::m_broken : ColumnState::not_finite, sum);
      s.moves = s.goes_on = 0;
      return;
    }
    const double next = std::sqrt(sum);
    const double column2 = s.alpha * s.alpha + (s.old_beta > 0 ? s.beta * s.beta : 0) + sum;
    if (column2 > s.norm2) s.norm2 = column2;
    const double old_epsilon = s.epsilon;
    const double delta = s.cs * s.delta_bar + s.sn * s.alpha;
    const double gamma_bar = s.sn * s.delta_bar - s.cs * s.alpha;
    s.epsilon = s.sn * next;
    s.delta_bar = -s.cs * next;
    // |A r| over |r|, of the x that stands.
    const double slope = std::sqrt(gamma_bar * gamma_bar + s.delta_bar * s.delta_bar);
    const double zero = roundoff * std::sqrt(s.norm2);
    if (s.least < 0) s.least = slope * lost > zero ? slope * lost : zero;
    if (slope <= s.least) {
      if (column.state == ColumnState::running)
        column.fail(ColumnState::least_squares, slope <= zero ? 0 : slope);
      s.moves = s.goes_on = 0;
      return;
    }
    const double gamma = std::sqrt(gamma_bar * gamma_bar + sum);
    s.cs = gamma_bar / gamma;
    s.sn = next / gamma;
    s.phi = s.cs * s.phi_bar;
    s.phi_bar = s.sn * s.phi_bar;
    s.by_z = 1 / (s.beta * gamma);
    s.by_old_w = old_epsilon / gamma;
    s.by_w = delta / gamma;
    s.old_beta = s.beta;
    s.beta = next;
    if (next == 0) s.goes_on = 0;
    column.estimate = s.phi_bar;
    if (column.state == ColumnState::running) {
      ++column.iterations;
      if (column.estimate <= column.claim) column.state = ColumnState::claimed;
    }
  }
};

}  // namespace lanky::solvers
