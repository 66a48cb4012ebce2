// Orthogonalizes a block W of columns against others, Q, and within itself, for the inner product
// of the identity or of B: passes of block Gram-Schmidt, each a gram product, a small factor and an
// update (solvers/orthogonal_factor.hpp), until one finds W near orthonormal.
//
// Q and W are columns of one matrix by rows that stand side by side. A pass reads W on one side of
// Q and writes it to the other side, so that no product overwrites what it reads:
//
//     | W | Q |   |   ->   |   | Q | W |   ->   | W | Q |   |
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/view.hpp>
#include <vector>

#include "solvers/block_work.hpp"
#include "solvers/number.hpp"
#include "solvers/products.hpp"
#include "solvers/small_matrix.hpp"

namespace lanky::solvers {

enum class Side : std::uint8_t { left, right };

constexpr Side other(Side side) noexcept {
  return side == Side::left ? Side::right : Side::left;
}

/// Where Q stands in a matrix, and how many columns W has.
struct Blocks {
  std::int64_t q_first = 0;
  std::int64_t q = 0;
  std::int64_t w = 0;

  constexpr std::int64_t w_first(Side side) const noexcept {
    return side == Side::left ? q_first - w : q_first + q;
  }
  /// The first column of Q and W together.
  constexpr std::int64_t first(Side side) const noexcept {
    return side == Side::left ? q_first - w : q_first;
  }
  constexpr std::int64_t all() const noexcept { return q + w; }
  /// Rows of W and of Q where both are taken together.
  constexpr std::int64_t w_row(Side side) const noexcept { return side == Side::left ? 0 : q; }
  constexpr std::int64_t q_row(Side side) const noexcept { return side == Side::left ? w : 0; }
};

/// How far Q^H Q of a basis that grows by blocks W is from the identity, in roundings. A pass by
/// which the rounding of W grows g times (PassReport::growth) leaves that much, and what Q has lost
/// times the length of W within Q over that beside it, which is the root of g - 1.
struct Loss {
  double limit;
  double most = 0;

  /// A pass by which rounding grows more is not the last one: g + most (g - 1)^1/2 = limit.
  double allowed_growth() const {
    const double root = (std::sqrt(most * most + 4 * (limit - 1)) - most) / 2;
    return 1 + root * root;
  }
  void add(double growth) {
    most = std::max(most, growth + most * std::sqrt(std::max(0.0, growth - 1)));
  }
};

template <class T>
class Orthogonalizer {
 public:
  /// For W of up to `columns` columns beside up to `beside` columns of Q. `b` may be none.
  Orthogonalizer(const Stream& stream, BlockWork<T>& work, Products<T>& products,
                 const LinearOperator<T>& b, std::int64_t rows, std::int64_t columns,
                 std::int64_t beside, Allocator* allocator);

  /// W of `from` to the side that it returns; `report` is memory of the device, as `coefficients`
  /// are, [q + w, w] by rows, or null. Waits for nothing. `has_gram`: gram() holds [Q W]^H W
  /// already.
  Side pass(MatrixView<T> matrix, const Blocks& blocks, Side from, PassReport* report,
            bool has_gram = false, T* coefficients = nullptr);
  /// The same, from `matrix` to `target`, where W stands in the same place.
  void pass_to(MatrixView<T> matrix, const Blocks& blocks, Side side, MatrixView<T> target,
               PassReport* report);
  /// The parts of a pass before W is touched. gram() becomes [Q W]^H W:
  void multiply(MatrixView<T> matrix, const Blocks& blocks, Side side);
  /// and of it, by `work` in its stream, coefficients C [q + w, w] by rows in memory of the device,
  /// with which [Q W] C is what pass() would leave.
  void factor(const Blocks& blocks, Side side, PassReport* report, T* coefficients,
              BlockWork<T>& work) const;
  /// [q + w, w] by rows, memory of the device.
  T* gram() { return gram_.data(); }
  /// Of the last orthogonalize(), of W as it was: [Q W']^H W of the W' that it made, [q + w, w]; no
  /// elements where it took more than a pass. Waits.
  SmallMatrix<Wide<T>> products() const;

  /// Passes until one has found W near orthonormal, and returns on which side W is. Columns that
  /// are zero, or nothing but others, become random. Waits. Throws Error(invalid_argument) where B
  /// is not positive definite, or elements are NaN or Inf. `loss`: where Q has grown by W of
  /// before.
  Side orthogonalize(MatrixView<T> matrix, const Blocks& blocks, Side from, Loss* loss = nullptr);
  /// After `report` of a pass that left W on side `side`, whether W is orthonormal to so much
  /// growth of rounding; fills zero columns, throws as orthogonalize().
  bool accept(const PassReport& report, MatrixView<T> matrix, const Blocks& blocks, Side side,
              double growth = kGrowth);

  /// Where a pass has left columns no shorter than by the root of 2, a second one is not needed
  /// (Daniel, Gragg, Kaufman and Stewart, Math. Comp. 30, 1976).
  static constexpr double kGrowth = 2;
  /// Passes after which W is given up.
  static constexpr int kMostPasses = 12;

 private:
  /// Makes columns of W random whose squared lengths are no more than `square`.
  void fill_short(MatrixView<T> matrix, const Blocks& blocks, Side side, double square);
  static MatrixView<T> square(T* data, const Blocks& blocks) {
    return {data, blocks.all(), blocks.w, blocks.w, Layout::row};
  }

  Stream stream_;
  BlockWork<T>& work_;
  Products<T>& products_;
  LinearOperator<T> b_;
  Matrix<T> bw_;            // [rows, columns], where there is a B
  Buffer<T> gram_;          // [q + w, w]
  Buffer<T> coefficients_;  // [q + w, w]
  Buffer<PassReport> report_;
  Buffer<double> squares_;   // [columns]
  Blocks only_pass_;         // of an orthogonalize() that took one
  std::uint64_t fills_ = 0;  // random columns so far
};

}  // namespace lanky::solvers
