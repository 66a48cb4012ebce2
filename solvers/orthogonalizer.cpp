#include "solvers/orthogonalizer.hpp"

#include <cmath>
#include <complex>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::solvers {

template <class T>
Orthogonalizer<T>::Orthogonalizer(const Stream& stream, BlockWork<T>& work, Products<T>& products,
                                  const LinearOperator<T>& b, std::int64_t rows,
                                  std::int64_t columns, std::int64_t beside, Allocator* allocator)
    : stream_(stream),
      work_(work),
      products_(products),
      b_(b),
      bw_(stream, b ? rows : 0, columns, Layout::row, 0, allocator),
      gram_(stream, (columns + beside) * columns, allocator),
      coefficients_(stream, (columns + beside) * columns, allocator),
      report_(stream, 1, allocator),
      squares_(stream, columns, allocator) {
  work_.prepare(columns);
}

template <class T>
void Orthogonalizer<T>::multiply(MatrixView<T> matrix, const Blocks& blocks, Side side) {
  const MatrixView<const T> both = columns_of(matrix, blocks.first(side), blocks.all());
  MatrixView<const T> w = columns_of(matrix, blocks.w_first(side), blocks.w);
  if (b_) {
    const MatrixView<T> bw = columns_of(bw_.view(), 0, blocks.w);
    b_.apply(stream_, w, bw);
    w = bw;
  }
  products_.gram(both, w, square(gram_.data(), blocks));
}

template <class T>
void Orthogonalizer<T>::factor(const Blocks& blocks, Side side, PassReport* report, T* coefficients,
                               BlockWork<T>& work) const {
  // Rounding of a gram product of unit vectors: sums of many terms, whose errors mostly cancel.
  constexpr double kOverRoundoff = 32;
  work.orthogonal_pass({.q = blocks.q,
                        .w = blocks.w,
                        .q_row = blocks.q_row(side),
                        .w_row = blocks.w_row(side),
                        .gram = parts_of(gram_.data()),
                        .coefficients = parts_of(coefficients),
                        .roundoff = kOverRoundoff * unit_roundoff(kDType<T>),
                        .report = report});
}

template <class T>
Side Orthogonalizer<T>::pass(MatrixView<T> matrix, const Blocks& blocks, Side from,
                             PassReport* report, bool has_gram, T* coefficients) {
  if (coefficients == nullptr) coefficients = coefficients_.data();
  if (!has_gram) multiply(matrix, blocks, from);
  factor(blocks, from, report, coefficients, work_);
  products_.update(columns_of(matrix, blocks.first(from), blocks.all()),
                   read_only(square(coefficients, blocks)),
                   columns_of(matrix, blocks.w_first(other(from)), blocks.w));
  return other(from);
}

template <class T>
void Orthogonalizer<T>::pass_to(MatrixView<T> matrix, const Blocks& blocks, Side side,
                                MatrixView<T> target, PassReport* report) {
  multiply(matrix, blocks, side);
  factor(blocks, side, report, coefficients_.data(), work_);
  products_.update(columns_of(matrix, blocks.first(side), blocks.all()),
                   square(coefficients_.data(), blocks),
                   columns_of(target, blocks.w_first(side), blocks.w));
}

template <class T>
Side Orthogonalizer<T>::orthogonalize(MatrixView<T> matrix, const Blocks& blocks, Side from,
                                      Loss* loss) {
  constexpr int kPatience = 3;  // passes that make noise of dependent columns independent
  for (int i = 1; i <= kMostPasses; ++i) {
    from = pass(matrix, blocks, from, report_.data());
    const PassReport report = report_.to_host().front();
    const double growth = loss == nullptr ? kGrowth : loss->allowed_growth();
    if (accept(report, matrix, blocks, from, growth)) {
      if (loss != nullptr) loss->add(report.growth);
      only_pass_ = i == 1 ? blocks : Blocks{};
      return from;
    }
    // Columns of few rows have no noise. A pass leaves a column short whose pivot it has replaced.
    if (report.lifted > 0 && i % kPatience == 0) fill_short(matrix, blocks, from, 0.5);
  }
  throw Error(
      ErrorCode::invalid_argument,
      concat(blocks.w, " vectors could not be made orthonormal to ", blocks.q, " others in ",
             kMostPasses, " passes",
             b_ ? ": B is indefinite, or its rank is less than what is iterated (where A is "
                  "positive definite, the largest mu of B x = mu A x are 1 / lambda)"
                : ""));
}

template <class T>
SmallMatrix<Wide<T>> Orthogonalizer<T>::products() const {
  const std::int64_t q = only_pass_.q;
  const std::int64_t w = only_pass_.w;
  SmallMatrix<Wide<T>> products(w == 0 ? 0 : q + w, w);
  if (w == 0) return products;
  const SmallMatrix<Wide<T>> gram = from_rows(gram_.to_host().data(), q + w, w);
  const SmallMatrix<Wide<T>> c = from_rows(coefficients_.to_host().data(), q + w, w);
  for (std::int64_t j = 0; j < w; ++j) {
    for (std::int64_t i = 0; i < q; ++i)
      products(i, j) = gram(i, j);
    for (std::int64_t i = 0; i < w; ++i) {  // W' = [Q W] C
      for (std::int64_t row = 0; row < q + w; ++row)
        products(q + i, j) += conjugate(c(row, i)) * gram(row, j);
    }
  }
  return products;
}

template <class T>
bool Orthogonalizer<T>::accept(const PassReport& report, MatrixView<T> matrix, const Blocks& blocks,
                               Side side, double growth) {
  if (report.broken != 0) {
    throw Error(ErrorCode::invalid_argument,
                "vectors have elements that are NaN or Inf: the operators, the preconditioner or "
                "the start vectors have");
  }
  if (report.least_square < 0) {
    throw Error(ErrorCode::invalid_argument,
                concat("B is not positive definite: x^H B x = ", report.least_square));
  }
  if (report.empty > 0) fill_short(matrix, blocks, side, 0);
  return report.growth < growth && report.lifted == 0 && report.empty == 0;
}

template <class T>
void Orthogonalizer<T>::fill_short(MatrixView<T> matrix, const Blocks& blocks, Side side,
                                   double square) {
  const MatrixView<T> w = columns_of(matrix, blocks.w_first(side), blocks.w);
  work_.dots(read_only(w), read_only(w), squares_.data());
  const std::vector<double> squares = squares_.to_host();
  for (std::int64_t j = 0; j < blocks.w; ++j) {
    if (squares[static_cast<std::size_t>(j)] <= square)
      work_.fill_random(0x5eed + ++fills_, j, columns_of(w, j, 1));
  }
}

#define LANKY_INSTANTIATE(T) template class Orthogonalizer<T>;
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
