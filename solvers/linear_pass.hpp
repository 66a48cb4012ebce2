// Passes of linear solvers over their tall matrices, and what becomes of the sums. Matrices are by
// rows; complex ones pass as real ones of twice as many columns, since all scalars are real.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "solvers/column_pass.hpp"
#include "solvers/linear_column.hpp"
#include "solvers/number.hpp"

namespace lanky::solvers {

// A pass has kSums sums for each column (1 where it says 0, which are dropped). column(j) is what a
// thread keeps of right-hand side j; where it is not `active`, nothing else is called for it but
// finish(j, sums), once all elements have been passed.

template <class Real>
LANKY_HOST_DEVICE Real as(double x) {
  return static_cast<Real>(x);
}

struct Active {
  bool active;
};

/// Sizes of right-hand sides: |b|^2, how many elements are not zero, how many are NaN or Inf.
template <class Real>
struct SizePass {
  static constexpr int kSums = 3;
  using Loaded = Real;
  Rows<const Real> b;
  double* sums;  // [columns, 3]

  LANKY_HOST_DEVICE Active column(int /*j*/) const { return {true}; }
  LANKY_HOST_DEVICE Loaded load(Active /*j*/, std::int64_t i, int c) const { return b.at(i, c); }
  LANKY_HOST_DEVICE void apply(Active /*j*/, Loaded x, std::int64_t /*i*/, int /*c*/,
                               double* sum) const {
    const auto value = static_cast<double>(x);
    sum[0] += value * value;
    sum[1] += value == 0 ? 0 : 1;
    sum[2] += is_finite(value) ? 0 : 1;
  }
  LANKY_HOST_DEVICE void finish(int j, const double* sum) const {
    for (int s = 0; s < 3; ++s)
      sums[3 * j + s] = sum[s];
  }
};

/// X = 0 where b = 0.
template <class Real>
struct ClearPass {
  static constexpr int kSums = 0;
  struct Loaded {};
  const LinearColumn* columns;
  Rows<Real> x;

  LANKY_HOST_DEVICE Active column(int j) const { return {columns[j].state == ColumnState::zero}; }
  LANKY_HOST_DEVICE Loaded load(Active /*j*/, std::int64_t /*i*/, int /*c*/) const { return {}; }
  LANKY_HOST_DEVICE void apply(Active /*j*/, Loaded /*none*/, std::int64_t i, int c,
                               double* /*sum*/) const {
    x.at(i, c) = 0;
  }
  LANKY_HOST_DEVICE void finish(int /*j*/, const double* /*sum*/) const {}
};

/// Y = X in some columns.
template <class Real>
struct CopyColumnsPass {
  static constexpr int kSums = 0;
  using Loaded = Real;
  const LinearColumn* columns;
  Rows<const Real> x;
  Rows<Real> y;

  LANKY_HOST_DEVICE Active column(int j) const { return {columns[j].copied != 0}; }
  LANKY_HOST_DEVICE Loaded load(Active /*j*/, std::int64_t i, int c) const { return x.at(i, c); }
  LANKY_HOST_DEVICE void apply(Active /*j*/, Loaded value, std::int64_t i, int c,
                               double* /*sum*/) const {
    y.at(i, c) = value;
  }
  LANKY_HOST_DEVICE void finish(int /*j*/, const double* /*sum*/) const {}
};

/// Q = B - Q, with |q|^2.
template <class Real>
struct RestPass {
  static constexpr int kSums = 1;
  struct Loaded {
    Real b;
    Real q;
  };
  Rows<const Real> b;
  Rows<Real> q;
  double* squares;  // [columns]

  LANKY_HOST_DEVICE Active column(int /*j*/) const { return {true}; }
  LANKY_HOST_DEVICE Loaded load(Active /*j*/, std::int64_t i, int c) const {
    return {b.at(i, c), q.at(i, c)};
  }
  LANKY_HOST_DEVICE void apply(Active /*j*/, Loaded l, std::int64_t i, int c, double* sum) const {
    const double rest = static_cast<double>(l.b) - static_cast<double>(l.q);
    q.at(i, c) = as<Real>(rest);
    sum[0] += rest * rest;
  }
  LANKY_HOST_DEVICE void finish(int j, const double* sum) const { squares[j] = sum[0]; }
};

/// The real part of x^H y, and what the method makes of it.
template <class Real, class Finish>
struct ProductPass {
  static constexpr int kSums = 1;
  struct Loaded {
    Real x;
    Real y;
  };
  Rows<const Real> x;
  Rows<const Real> y;
  Finish then;

  LANKY_HOST_DEVICE Active column(int j) const { return {then.wants(j)}; }
  LANKY_HOST_DEVICE Loaded load(Active /*j*/, std::int64_t i, int c) const {
    return {x.at(i, c), y.at(i, c)};
  }
  LANKY_HOST_DEVICE void apply(Active /*j*/, Loaded l, std::int64_t /*i*/, int /*c*/,
                               double* sum) const {
    sum[0] += static_cast<double>(l.x) * static_cast<double>(l.y);
  }
  LANKY_HOST_DEVICE void finish(int j, const double* sum) const { then(j, sum[0]); }
};

struct Store {
  double* sums;  // [columns]
  LANKY_HOST_DEVICE static bool wants(int /*j*/) { return true; }
  LANKY_HOST_DEVICE void operator()(int j, double sum) const { sums[j] = sum; }
};
struct CgMultiplied {
  CgView cg;
  LANKY_HOST_DEVICE bool wants(int j) const { return cg.columns[j].state == ColumnState::running; }
  LANKY_HOST_DEVICE void operator()(int j, double sum) const { cg.multiplied(j, sum); }
};
struct CgWeigh {
  CgView cg;
  LANKY_HOST_DEVICE bool wants(int j) const { return cg.scalars[j].alpha != 0; }
  LANKY_HOST_DEVICE void operator()(int j, double sum) const { cg.weigh(j, sum); }
};
struct MinresMultiplied {
  MinresView minres;
  LANKY_HOST_DEVICE bool wants(int j) const { return minres.scalars[j].goes_on != 0; }
  LANKY_HOST_DEVICE void operator()(int j, double sum) const { minres.multiplied(j, sum); }
};
struct MinresOrthogonalized {
  MinresView minres;
  LANKY_HOST_DEVICE bool wants(int j) const { return minres.scalars[j].goes_on != 0; }
  LANKY_HOST_DEVICE void operator()(int j, double sum) const { minres.orthogonalized(j, sum); }
};

/// Columns that start: R = rest, P = Z, with r^H z.
template <class Real>
struct CgStartPass {
  static constexpr int kSums = 1;
  struct Loaded {
    Real rest;
    Real z;
  };
  CgView cg;
  Rows<const Real> rest;
  Rows<const Real> z;
  Rows<Real> r;
  Rows<Real> p;

  LANKY_HOST_DEVICE Active column(int j) const {
    return {cg.columns[j].state == ColumnState::starting};
  }
  LANKY_HOST_DEVICE Loaded load(Active /*j*/, std::int64_t i, int c) const {
    return {rest.at(i, c), z.at(i, c)};
  }
  LANKY_HOST_DEVICE void apply(Active /*j*/, Loaded l, std::int64_t i, int c, double* sum) const {
    r.at(i, c) = l.rest;
    p.at(i, c) = l.z;
    sum[0] += static_cast<double>(l.rest) * static_cast<double>(l.z);
  }
  LANKY_HOST_DEVICE void finish(int j, const double* sum) const { cg.start(j, sum[0]); }
};

/// R -= alpha Q, with |r|^2.
template <class Real>
struct CgStepPass {
  static constexpr int kSums = 1;
  struct Column {
    bool active;
    double alpha;
  };
  struct Loaded {
    Real q;
    Real r;
  };
  CgView cg;
  Rows<const Real> q;
  Rows<Real> r;

  LANKY_HOST_DEVICE Column column(int j) const {
    const double alpha = cg.scalars[j].alpha;
    return {alpha != 0, alpha};
  }
  LANKY_HOST_DEVICE Loaded load(const Column& /*j*/, std::int64_t i, int c) const {
    return {q.at(i, c), r.at(i, c)};
  }
  LANKY_HOST_DEVICE void apply(const Column& j, Loaded l, std::int64_t i, int c,
                               double* sum) const {
    const double rest = static_cast<double>(l.r) - j.alpha * static_cast<double>(l.q);
    r.at(i, c) = as<Real>(rest);
    sum[0] += rest * rest;
  }
  LANKY_HOST_DEVICE void finish(int j, const double* sum) const { cg.stepped(j, sum[0]); }
};

/// X += alpha P, P = Z + beta P: P is read once for both.
template <class Real>
struct CgDirectionPass {
  static constexpr int kSums = 0;
  struct Column {
    bool active;
    double alpha;
    double beta;
  };
  struct Loaded {
    Real x;
    Real z;
    Real p;
  };
  CgView cg;
  Rows<const Real> z;
  Rows<Real> p;
  Rows<Real> x;

  LANKY_HOST_DEVICE Column column(int j) const {
    const CgScalars& s = cg.scalars[j];
    return {s.alpha != 0, s.alpha, s.beta};
  }
  LANKY_HOST_DEVICE Loaded load(const Column& /*j*/, std::int64_t i, int c) const {
    return {x.at(i, c), z.at(i, c), p.at(i, c)};
  }
  LANKY_HOST_DEVICE void apply(const Column& j, Loaded l, std::int64_t i, int c,
                               double* /*sum*/) const {
    const auto direction = static_cast<double>(l.p);
    x.at(i, c) = as<Real>(static_cast<double>(l.x) + j.alpha * direction);
    p.at(i, c) = as<Real>(static_cast<double>(l.z) + j.beta * direction);
  }
  LANKY_HOST_DEVICE void finish(int /*j*/, const double* /*sum*/) const {}
};

/// Columns that start: R = rest, Z = M rest, what was before them zero; r^H z.
template <class Real>
struct MinresStartPass {
  static constexpr int kSums = 1;
  struct Loaded {
    Real rest;
    Real z;
  };
  MinresView minres;
  Rows<const Real> rest;
  Rows<const Real> next_z;
  Rows<Real> old_r;
  Rows<Real> r;
  Rows<Real> z;  // r itself, where there is no preconditioner
  Rows<Real> old_w;
  Rows<Real> w;

  LANKY_HOST_DEVICE Active column(int j) const {
    return {minres.columns[j].state == ColumnState::starting};
  }
  LANKY_HOST_DEVICE Loaded load(Active /*j*/, std::int64_t i, int c) const {
    return {rest.at(i, c), next_z.at(i, c)};
  }
  LANKY_HOST_DEVICE void apply(Active /*j*/, Loaded l, std::int64_t i, int c, double* sum) const {
    r.at(i, c) = l.rest;
    z.at(i, c) = l.z;
    old_r.at(i, c) = 0;
    old_w.at(i, c) = 0;
    w.at(i, c) = 0;
    sum[0] += static_cast<double>(l.rest) * static_cast<double>(l.z);
  }
  LANKY_HOST_DEVICE void finish(int j, const double* sum) const { minres.start(j, sum[0]); }
};

/// The next Lanczos vector, in the place of the one before the last; its square, which is r^H z
/// where there is no preconditioner.
template <class Real>
struct LanczosPass {
  static constexpr int kSums = 1;
  struct Column {
    bool active;
    double by_q;
    double by_old_r;
    double by_r;
  };
  struct Loaded {
    Real q;
    Real old_r;
    Real r;
  };
  MinresView minres;
  bool preconditioned;
  Rows<const Real> q;
  Rows<const Real> r;
  Rows<Real> old_r;

  LANKY_HOST_DEVICE Column column(int j) const {
    const MinresScalars& s = minres.scalars[j];
    return {s.goes_on != 0, s.by_q, s.by_old_r, s.by_r};
  }
  LANKY_HOST_DEVICE Loaded load(const Column& /*j*/, std::int64_t i, int c) const {
    return {q.at(i, c), old_r.at(i, c), r.at(i, c)};
  }
  LANKY_HOST_DEVICE void apply(const Column& j, Loaded l, std::int64_t i, int c,
                               double* sum) const {
    const double next = j.by_q * static_cast<double>(l.q) -
                        j.by_old_r * static_cast<double>(l.old_r) -
                        j.by_r * static_cast<double>(l.r);
    old_r.at(i, c) = as<Real>(next);
    sum[0] += next * next;
  }
  LANKY_HOST_DEVICE void finish(int j, const double* sum) const {
    if (!preconditioned) minres.orthogonalized(j, sum[0]);
  }
};

/// The next direction, in the place of the one before the last, and X += phi times it.
template <class Real>
struct MinresSolutionPass {
  static constexpr int kSums = 0;
  struct Column {
    bool active;
    double by_z;
    double by_old_w;
    double by_w;
    double phi;
  };
  struct Loaded {
    Real z;
    Real old_w;
    Real w;
    Real x;
  };
  MinresView minres;
  Rows<const Real> z;
  Rows<const Real> w;
  Rows<Real> old_w;
  Rows<Real> x;

  LANKY_HOST_DEVICE Column column(int j) const {
    const MinresScalars& s = minres.scalars[j];
    return {s.moves != 0, s.by_z, s.by_old_w, s.by_w, s.phi};
  }
  LANKY_HOST_DEVICE Loaded load(const Column& /*j*/, std::int64_t i, int c) const {
    return {z.at(i, c), old_w.at(i, c), w.at(i, c), x.at(i, c)};
  }
  LANKY_HOST_DEVICE void apply(const Column& j, Loaded l, std::int64_t i, int c,
                               double* /*sum*/) const {
    const double direction = j.by_z * static_cast<double>(l.z) -
                             j.by_old_w * static_cast<double>(l.old_w) -
                             j.by_w * static_cast<double>(l.w);
    old_w.at(i, c) = as<Real>(direction);
    x.at(i, c) = as<Real>(static_cast<double>(l.x) + j.phi * direction);
  }
  LANKY_HOST_DEVICE void finish(int /*j*/, const double* /*sum*/) const {}
};

/// apply(Pass) for every pass over elements whose parts are of type Real.
#define LANKY_FOR_EACH_LINEAR_PASS(apply, Real)                                                   \
  apply(SizePass<Real>) apply(ClearPass<Real>) apply(CopyColumnsPass<Real>) apply(RestPass<Real>) \
      apply(ProductPass<Real, Store>) apply(ProductPass<Real, CgMultiplied>)                      \
          apply(ProductPass<Real, CgWeigh>) apply(ProductPass<Real, MinresMultiplied>)            \
              apply(ProductPass<Real, MinresOrthogonalized>) apply(CgStartPass<Real>)             \
                  apply(CgStepPass<Real>) apply(CgDirectionPass<Real>)                            \
                      apply(MinresStartPass<Real>) apply(LanczosPass<Real>)                       \
                          apply(MinresSolutionPass<Real>)

}  // namespace lanky::solvers
