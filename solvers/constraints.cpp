#include "solvers/constraints.hpp"

#include <complex>

#include "solvers/orthogonalizer.hpp"

namespace lanky::solvers {

template <class T>
Constraints<T>::Constraints(const Stream& stream, const EigenProblem<T>& problem,
                            BlockWork<T>& work, Products<T>& products, std::int64_t columns,
                            Allocator* allocator)
    : products_(products),
      y_(stream, problem.constraints.cols > 0 ? problem.a.rows() : 0, problem.constraints.cols,
         Layout::row, 0, allocator),
      by_(stream, problem.b ? y_.view().rows : 0, problem.constraints.cols, Layout::row, 0,
          allocator),
      inner_(stream, problem.constraints.cols * columns, allocator) {
  const std::int64_t c = problem.constraints.cols;
  if (c == 0) return;
  const std::int64_t n = problem.a.rows();
  Matrix<T> room(stream, n, 2 * c, Layout::row, 0, allocator);
  work.combine(1, problem.constraints, 0, columns_of(room.view(), 0, c));
  Orthogonalizer<T> orthogonalizer(stream, work, products, problem.b, n, c, 0, allocator);
  const Blocks blocks{c, 0, c};
  const Side side = orthogonalizer.orthogonalize(room.view(), blocks, Side::left);
  work.combine(1, read_only(columns_of(room.view(), blocks.w_first(side), c)), 0, y_.view());
  if (problem.b) problem.b.apply(stream, y(), by_.view());
}

template <class T>
void Constraints<T>::project(MatrixView<T> x) {
  const MatrixView<const T> y = y_.view();
  if (y.cols == 0 || x.cols == 0) return;
  const MatrixView<T> inner(inner_.data(), y.cols, x.cols, Layout::row);
  products_.gram(y, read_only(x), inner);
  products_.update(T{-1}, by_.view().rows > 0 ? read_only(by_.view()) : y, read_only(inner), T{1},
                   x);
}

#define LANKY_INSTANTIATE(T) template class Constraints<T>;
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
