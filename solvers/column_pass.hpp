// Passes of solvers over the rows of tall matrices, an element at a time, some with a sum for each
// column. Each is written once, for the CPU and for kernels. Matrices are by rows; complex ones
// pass as real ones of twice as many columns, whose factors stand for two columns each.
#pragma once

#include <cstdint>
#include <lanky/view.hpp>

#include "core/host_device.hpp"
#include "solvers/number.hpp"

namespace lanky::solvers {

template <class Real>
struct Rows {
  Real* data;
  std::int64_t ld;

  LANKY_HOST_DEVICE Real& at(std::int64_t i, int c) const { return data[i * ld + c]; }
};

/// The parts of a matrix by rows.
template <class T>
Rows<const RealOf<T>> real_rows(MatrixView<const T> x) {
  return {parts_of(x.data), x.ld * kParts<T>};
}
template <class T>
Rows<RealOf<T>> real_rows(MatrixView<T> x) {
  return {parts_of(x.data), x.ld * kParts<T>};
}

// A pass has load(i, c), what an element needs of memory, and apply(loaded, i, c), which writes and
// returns what is added to the sum of column c. Passes load two elements before they apply.

/// W = A X - B X diag(theta), in the columns that have a position there; sums of squares of all.
template <class Real>
struct ResidualPass {
  struct Loaded {
    Real ax;
    Real bx;
  };
  Rows<const Real> ax;
  Rows<const Real> bx;
  const double* theta;            // [columns / parts]
  const std::int32_t* positions;  // [columns / parts] in W, or -1
  int parts;
  Rows<Real> w;

  LANKY_HOST_DEVICE Loaded load(std::int64_t i, int c) const { return {ax.at(i, c), bx.at(i, c)}; }
  LANKY_HOST_DEVICE double apply(Loaded x, std::int64_t i, int c) const {
    const int column = c / parts;
    const double rest = static_cast<double>(x.ax) - theta[column] * static_cast<double>(x.bx);
    const int position = positions[column];
    if (position >= 0) w.at(i, position * parts + c % parts) = static_cast<Real>(rest);
    return rest * rest;
  }
};

/// Sums of x y.
template <class Real>
struct DotPass {
  struct Loaded {
    Real x;
    Real y;
  };
  Rows<const Real> x;
  Rows<const Real> y;

  LANKY_HOST_DEVICE Loaded load(std::int64_t i, int c) const { return {x.at(i, c), y.at(i, c)}; }
  LANKY_HOST_DEVICE double apply(Loaded l, std::int64_t /*i*/, int /*c*/) const {
    return static_cast<double>(l.x) * static_cast<double>(l.y);
  }
};

/// Y = alpha X + beta Y; beta = 0 reads no Y.
template <class Real>
struct CombinePass {
  struct Loaded {
    Real x;
    Real y;
  };
  double alpha;
  Rows<const Real> x;
  double beta;
  Rows<Real> y;

  LANKY_HOST_DEVICE Loaded load(std::int64_t i, int c) const {
    return {x.at(i, c), beta == 0 ? Real{} : y.at(i, c)};
  }
  LANKY_HOST_DEVICE double apply(Loaded l, std::int64_t i, int c) const {
    y.at(i, c) =
        static_cast<Real>(alpha * static_cast<double>(l.x) + beta * static_cast<double>(l.y));
    return 0;
  }
};

/// Y = X, times *factor where that is not null, in another precision.
template <class From, class To>
struct ConvertPass {
  struct Loaded {
    From x;
  };
  const double* factor;
  Rows<const From> x;
  Rows<To> y;

  LANKY_HOST_DEVICE Loaded load(std::int64_t i, int c) const { return {x.at(i, c)}; }
  LANKY_HOST_DEVICE double apply(Loaded l, std::int64_t i, int c) const {
    const double value = static_cast<double>(l.x);
    y.at(i, c) = static_cast<To>(factor == nullptr ? value : *factor * value);
    return 0;
  }
};

/// A step of a three-term recurrence: Y = t[0] X + t[1] Y + t[2] R + t[3] A X, with t in memory;
/// t[1] = 0 reads no Y.
template <class Real>
struct RecurrencePass {
  struct Loaded {
    Real x;
    Real y;
    Real r;
    Real ax;
  };
  const double* t;
  Rows<const Real> x;
  Rows<Real> y;
  Rows<const Real> r;
  Rows<const Real> ax;

  LANKY_HOST_DEVICE Loaded load(std::int64_t i, int c) const {
    return {x.at(i, c), t[1] == 0 ? Real{} : y.at(i, c), r.at(i, c), ax.at(i, c)};
  }
  LANKY_HOST_DEVICE double apply(Loaded l, std::int64_t i, int c) const {
    y.at(i, c) =
        static_cast<Real>(t[0] * static_cast<double>(l.x) + t[1] * static_cast<double>(l.y) +
                          t[2] * static_cast<double>(l.r) + t[3] * static_cast<double>(l.ax));
    return 0;
  }
};

/// X uniform in (-1, 1): SplitMix64 of the element's place (Steele, Lea and Flood, OOPSLA '14), the
/// same on every device and whatever the number of columns.
template <class Real>
struct RandomPass {
  struct Loaded {};
  std::uint64_t seed;
  std::int64_t first_column;
  Rows<Real> x;

  LANKY_HOST_DEVICE Loaded load(std::int64_t /*i*/, int /*c*/) const { return {}; }
  LANKY_HOST_DEVICE double apply(Loaded /*none*/, std::int64_t i, int c) const {
    std::uint64_t z = seed + (static_cast<std::uint64_t>(first_column + c) << 40U) +
                      static_cast<std::uint64_t>(i);
    z *= 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    z ^= z >> 31U;
    x.at(i, c) = static_cast<Real>((static_cast<double>(z >> 11U) + 0.5) * 0x1p-52 - 1);
    return 0;
  }
};

}  // namespace lanky::solvers
