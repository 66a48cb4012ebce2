// The few numbers that steer an iteration. They stand in the memory of the device, where the last
// block of a kernel brings them up to date by the functions below; the CPU's loops call the same.
// Once an iteration has ended its vectors stay as they are, however often it is run on.
#pragma once

#include <cstdint>

namespace lanky::examples::solvers {

enum class State : std::int32_t { running, converged, broken };

/// x += alpha p, r -= alpha q, p = z + beta p, where z = M^-1 r. Hestenes and Stiefel, 1952.
struct CgScalars {
  double tolerance = 0;  // of |r| / |b|
  double alpha = 0;
  double beta = 0;
  double rho = 0;        // r.z
  double rr = 0;         // r.r
  double bb = 0;         // b.b
  double curvature = 0;  // p.q, as it was where it broke
  std::int64_t iterations = -1;
  State state = State::running;

  constexpr void after_dot(double pq) {
    const bool positive = pq > 0 && pq - pq == 0;  // and finite
    if (positive) {
      alpha = rho / pq;
    } else {
      curvature = pq;
      state = State::broken;
    }
  }
  /// The step before the first, of alpha = 0, sets out: p = z.
  constexpr void after_step(double rr_now, double rz) {
    beta = rho > 0 ? rz / rho : 0;
    rho = rz;
    rr = rr_now;
    if (++iterations == 0) bb = rr_now;
    const double least = tolerance > 0 ? tolerance * tolerance * bb : 0;
    if (rr <= least) state = State::converged;
  }
};

/// x = y + base, where y = d P^T x: base is what each node has from jumps and from nodes without
/// links. Page, Brin, Motwani and Winograd, 1999.
struct PageRankScalars {
  double tolerance = 0;  // of the sum of |x - x before|
  double damping = 0;    // d
  double nodes = 0;
  double base = 0;
  double change = 0;
  std::int64_t iterations = 0;
  State state = State::running;

  constexpr void set_base(double dangling_mass) {
    base = (1 - damping + damping * dangling_mass) / nodes;
  }
  constexpr void after_step(double change_now, double dangling_mass) {
    set_base(dangling_mass);
    change = change_now;
    ++iterations;
    if (change <= tolerance) state = State::converged;
  }
};

/// x = y / |y|, where y = A x: lambda = x.y for the x before.
struct EigenScalars {
  double tolerance = 0;  // of |y - lambda x| / |lambda|
  double lambda = 0;
  double norm = 0;      // |y|
  double residual = 0;  // |y - lambda x|
  std::int64_t iterations = 0;
  State state = State::running;

  constexpr void after_product(double xy, double norm_of_y) {
    lambda = xy;
    norm = norm_of_y;
    const bool usable = norm > 0 && norm - norm == 0;
    if (!usable) state = State::broken;
  }
  constexpr void after_step(double residual_now) {
    residual = residual_now;
    ++iterations;
    if (residual <= tolerance * (lambda < 0 ? -lambda : lambda)) state = State::converged;
  }
};

}  // namespace lanky::examples::solvers
