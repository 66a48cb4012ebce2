// What the CPU and the GPU must decide alike: the weights of checksums, faults, and
// what a set of residuals tells. C[m, n] = A[m, k] B[k, n]; W[m, 2], V[n, 2] are the weights.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "examples/support/uniform.hpp"

namespace lanky::examples::abft {

/// Data of products at random: uniform in (-1, 1), uniform in (0, 1), the first times 2^e with e
/// uniform in -12..12, and one number of (0, 1) everywhere, whose sums are rounded to one side.
enum class Data : std::uint8_t { uniform, positive, spread, constant };

/// Element number `e` of such data.
constexpr double datum(Data data, std::uint64_t seed, std::int64_t e) {
  if (data == Data::constant) return uniform(seed, 0);
  const double x = uniform(seed, e);
  if (data == Data::positive) return x;
  if (data == Data::uniform) return 2 * x - 1;
  const auto exponent = static_cast<int>(25 * uniform(~seed, e)) - 12;
  const double scale = static_cast<double>(std::uint64_t{1} << (exponent + 12)) / 4096;
  return (2 * x - 1) * scale;
}

/// What the second weight vector tells of place `i` of `count`: (i + 1) / count, in (0, 1].
template <class T>
constexpr T place_weight(std::int64_t i, std::int64_t count) {
  return static_cast<T>(static_cast<double>(i + 1) / static_cast<double>(count));
}

/// Element `i` of weight vector `which` of `count`: a random sign, and that sign times
/// place_weight(). With signs at random (Freivalds, '77) sums of like numbers are as small as sums
/// of others, and so is their rounding. None is larger than 1, so that one formula bounds the
/// rounding of both.
template <class T>
constexpr T weight(int which, std::int64_t i, std::int64_t count) {
  const T sign = mix(static_cast<std::uint64_t>(i)) >> 63 == 0 ? T{1} : T{-1};
  return which == 0 ? sign : sign * place_weight<T>(i, count);
}

/// Factors of the bounds of residuals: that of column j against weight vector s is
///   hypot(columns.of_operand[s] |B(:, j)|, columns.of_result[s] |C(:, j)|), in 2-norms;
/// that of row i has |A(i, :)| and |C(i, :)|.
///
/// Derivation, for a column. Four computations round: C, R = W^T A, the expected sum R B and the
/// sum W^T C. Model: roundings are random variables of mean zero, each given those before it
/// (Higham, Mary, SISC '19), so that their sum stays below lambda sqrt(sum of squares of what each
/// can be at most), but for a probability of 2 exp(-lambda^2 / 2) (Azuma, Hoeffding). A sum of k
/// products has at most 2k roundings, whatever its order, none larger than u sum|x||y|, which
/// Cauchy-Schwarz bounds. With |w_i| <= 1 and a_l the columns of A, squares sum up to 2 u^2 times
///   of C      k sum_i |A(i, :)|^2 |b_j|^2        = k |A|_F^2 |b_j|^2
///   of R      m sum_l |w|^2 |a_l|^2 b_lj^2      <= m |w|^2 max_l |a_l|^2 |b_j|^2
///   of R B    k |r|^2 |b_j|^2
///   of W^T C  m |w|^2 |c_j|^2
/// The last is known from the C at hand, fault and all: a fault d adds lambda u sqrt(2 m) |w| |d|
/// to its own bound, far less than d. Terms in u^2 are left out. Squares of the elements' sums must
/// neither overflow nor vanish: magnitudes of 1e-140 to 1e140 in f64, all in f32.
struct Scales {
  struct Side {
    double of_operand[2];
    double of_result[2];
    double spread;  // see prominence()
  };
  Side columns;
  Side rows;
};

/// What `Scales` are made of: norms along the inner dimension.
struct InnerNorms {
  double total_square = 0;      // |A|_F^2, or |B|_F^2
  double most_square = 0;       // of the columns of A, or the rows of B
  double checksum_square[2]{};  // of each column of R, or S
};

/// `lambda_u`: lambda times the unit roundoff. `length`: m for columns, n for rows.
template <class Real>
constexpr Scales::Side side_scales(const InnerNorms& norms, Real lambda_u, std::int64_t length,
                                   std::int64_t k) {
  const auto count = static_cast<double>(length);
  const auto depth = static_cast<double>(k);
  const double weight_square[2] = {count, (count + 1) * (2 * count + 1) / (6 * count)};
  Scales::Side side{};
  for (int s = 0; s < 2; ++s) {
    const double squares = depth * norms.total_square +
                           count * weight_square[s] * norms.most_square +
                           depth * norms.checksum_square[s];
    side.of_operand[s] = lambda_u * std::sqrt(2 * squares);
    side.of_result[s] = lambda_u * std::sqrt(2 * count * weight_square[s]);
  }
  side.spread = (norms.total_square + norms.checksum_square[0]) / depth;
  return side;
}

template <class Real>
constexpr bool finite(Real x) {
  return x - x == 0;
}

/// Residuals of one column (or row) against both weight vectors, and what rounding may make them.
struct Residuals {
  double value[2];
  double bound[2];
};

/// operand, result: squares of the 2-norms that the bound is made of.
template <class T>
constexpr Residuals residuals(const Scales::Side& side, T found0, T expected0, T found1,
                              T expected1, double operand, double result) {
  Residuals r{};
  r.value[0] = static_cast<double>(found0) - static_cast<double>(expected0);
  r.value[1] = static_cast<double>(found1) - static_cast<double>(expected1);
  for (int s = 0; s < 2; ++s) {
    r.bound[s] =
        std::hypot(side.of_operand[s] * std::sqrt(operand), side.of_result[s] * std::sqrt(result));
  }
  return r;
}

/// The larger share of its bound that a residual takes; more than 1, or infinite where something is
/// not finite, means a fault.
template <class Share = double>
constexpr Share share_of_bound(const Residuals& r) {
  Share most = 0;
  for (int s = 0; s < 2; ++s) {
    const double size = std::fabs(r.value[s]);
    const bool usable = finite(size) && finite(r.bound[s]);
    const Share share = !usable     ? std::numeric_limits<double>::infinity()
                        : size == 0 ? 0
                                    : size / r.bound[s];
    if (share > most) most = share;
  }
  return most;
}

/// How far the unweighted residual of a line stands out: over the likely size of what was summed
/// for it, in the model of partial sums that walk at random to where they end,
///   |c_j|^2 + (|A|_F^2 + |r|^2) / k |b_j|^2 + expected^2.
/// Only the largest of all lines counts (see settle()), so a common factor of all does not matter.
constexpr double prominence(double spread, double residual, double expected, double operand,
                            double result) {
  if (residual == 0) return 0;
  const double likely = result + spread * operand + expected * expected;
  const double ratio = std::fabs(residual) / std::sqrt(likely);
  const double most = std::numeric_limits<float>::max();
  if (!finite(residual) || !finite(likely)) return std::numeric_limits<float>::infinity();
  return ratio < most ? ratio : most;  // the latter where `likely` is zero, too
}

constexpr std::uint64_t kLastPlace = (std::uint64_t{1} << 40) - 1;

/// Lines in the order of their prominence, as numbers: of equal ones (to 15 bits) the first is
/// greatest. Places below 2^40.
constexpr std::uint64_t rank_of(double prominence, std::int64_t i) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(prominence));
  return std::uint64_t{bits >> 8} << 40 | (kLastPlace - static_cast<std::uint64_t>(i));
}
constexpr std::int64_t place_of_rank(std::uint64_t rank) {
  return static_cast<std::int64_t>(kLastPlace - (rank & kLastPlace));
}

enum class Verdict : std::int32_t {
  clean,     // all residuals are within their bounds, and the suspect within its rounding
  located,   // one element is wrong, and known
  checksum,  // columns alone or rows alone: a checksum is wrong, not C
  several,   // more than one element is wrong
};

/// What one check found. Indices are -1 where there is none.
struct Report {
  Verdict verdict;
  std::int32_t wrong_columns;
  std::int32_t wrong_rows;
  std::int64_t row;          // the located one, else the first wrong one
  std::int64_t col;          // likewise
  std::int64_t suspect_row;  // of all lines those that stand out most
  std::int64_t suspect_col;
  std::int64_t ratio_row;  // what the ratio of the wrong column's residuals tells of the row
  std::int64_t ratio_col;
  double share;     // the largest share of its bound that a residual takes
  double injected;  // the element before a trial's fault, and after it
  double faulty;
  double recomputed;  // the suspect as it was computed again
  double rounding;    // by which it and the element in C may differ
};

/// One side's outcome: how many lines are wrong, the first of them and its residuals.
struct Wrong {
  std::int32_t count = 0;
  std::int64_t first = -1;
  Residuals of_first{};
  std::uint64_t rank = 0;  // of the line that stands out most
};

/// Where the ratio of weighted to unweighted residual points to; -1 where it tells nothing.
template <class Index = std::int64_t>
constexpr Index place_of_ratio(const Residuals& r, std::int64_t count) {
  const double ratio = r.value[1] / r.value[0];
  if (!finite(ratio) || ratio < 0 || ratio > 2) return -1;
  const double place = ratio * static_cast<double>(count);  // of the first, 1
  const auto below = static_cast<Index>(place);
  return place - static_cast<double>(below) < 0.5 ? below - 1 : below;
}

/// Whether one wrong element at a place of weight `w` explains both residuals, but for rounding.
template <class Real>
constexpr bool explained(const Residuals& r, Real w) {
  if (!finite(r.value[0]) || !finite(r.value[1])) return true;  // nothing can be told apart
  return !(std::fabs(r.value[1] - w * r.value[0]) > r.bound[1] + w * r.bound[0]);
}

/// The verdict of the bounds on columns [n] and rows [m], and the suspect.
template <class T>
constexpr void judge(const Wrong& columns, const Wrong& rows, std::int64_t m, std::int64_t n,
                     Report& report) {
  report.wrong_columns = columns.count;
  report.wrong_rows = rows.count;
  report.col = columns.first;
  report.row = rows.first;
  report.ratio_row = columns.count > 0 ? place_of_ratio(columns.of_first, m) : -1;
  report.ratio_col = rows.count > 0 ? place_of_ratio(rows.of_first, n) : -1;
  report.suspect_col = place_of_rank(columns.rank);
  report.suspect_row = place_of_rank(rows.rank);
  if (columns.count == 0 && rows.count == 0) {
    report.verdict = Verdict::clean;
  } else if (columns.count == 0 || rows.count == 0) {
    report.verdict = Verdict::checksum;
  } else if (columns.count == 1 && rows.count == 1 &&
             explained(columns.of_first, static_cast<double>(place_weight<T>(rows.first, m))) &&
             explained(rows.of_first, static_cast<double>(place_weight<T>(columns.first, n)))) {
    report.verdict = Verdict::located;
  } else {
    report.verdict = Verdict::several;
  }
}

/// What an element of C and the same computed again may differ by, over sum_l |A(i, l) B(l, j)|,
/// where roundings have mean zero. Either has k - 1 additions, each rounded by at most u times a
/// partial sum, hence u times that sum of magnitudes; products whose roundings' squares add up to
/// at most as much; and one rounding more to its type. u is that of the type, and of double in
/// which the second is summed. `lambda`: as in Scales, of the one comparison.
inline double rounding_factor(double lambda, double u, std::int64_t k) {
  constexpr double kUnitOfDouble = 0x1p-53;
  return lambda * std::sqrt(static_cast<double>(k + 1)) * std::hypot(u, kUnitOfDouble);
}

/// A sum of products in T, one after the other, and what it loses by rounding. Where the terms are
/// alike, as in a matrix of one number, it is rounded to the same side for as long as it has the
/// same exponent, and loses far more than roundings of mean zero would. Sums in other orders have
/// smaller partial sums, and lose less.
template <class T>
struct PlainSum {
  T sum = 0;
  double lost = 0;  // sum less the sum of the products
  double most = 0;  // |lost| at its largest

  constexpr void add(T a, T b) {
    const T product = a * b;
    const T next = sum + product;
    lost += static_cast<double>((next - sum) - product);  // exact for |product| <= |sum|
    sum = next;
    most = std::fabs(lost) > most ? std::fabs(lost) : most;
  }
};

/// The final verdict, by the suspect: the element where the most prominent column and the most
/// prominent row meet is computed again, whatever their size. Bounds of sums of m or n elements
/// must be wide; that of one element need not be, so that faults are found which are lost in the
/// bounds of the sums. `zero_mean`: rounding_factor() sum_l |A(i, l) B(l, j)|; `drift`:
/// PlainSum::most. Where that widens the bound of the suspect, it widens those of the sums as much.
constexpr void settle(double element, double recomputed, double zero_mean, double drift,
                      Report& report) {
  report.recomputed = recomputed;
  report.rounding = zero_mean + 2 * drift;
  const bool differs = !(std::fabs(element - recomputed) <= report.rounding);  // NaN does
  if (!differs && report.share * zero_mean <= report.rounding) {
    report.verdict = Verdict::clean;
    return;
  }
  if (report.verdict == Verdict::several || report.wrong_columns > 1 || report.wrong_rows > 1)
    return;
  if (differs) {
    report.verdict = Verdict::located;
    report.row = report.suspect_row;
    report.col = report.suspect_col;
  } else {
    report.verdict = Verdict::checksum;
  }
}

/// A wrong element of C.
struct Fault {
  enum class Kind : std::int32_t { add, flip, set };
  std::int64_t row = 0;
  std::int64_t col = 0;
  Kind kind = Kind::add;
  std::int32_t bit = 0;  // flip: which bit, 0 the last of the significand
  double value = 0;      // add, set
};

template <class T>
constexpr T with_fault(T element, const Fault& fault) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  switch (fault.kind) {
    case Fault::Kind::add:
      return element + static_cast<T>(fault.value);
    case Fault::Kind::flip:
      return std::bit_cast<T>(
          static_cast<Bits>(std::bit_cast<Bits>(element) ^ (Bits{1} << fault.bit)));
    case Fault::Kind::set:
      break;
  }
  return static_cast<T>(fault.value);
}

}  // namespace lanky::examples::abft
