// Names of how solvers end, and preconditioners that are made from a matrix.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <lanky/buffer.hpp>
#include <lanky/csr.hpp>
#include <lanky/error.hpp>
#include <lanky/solver.hpp>
#include <memory>
#include <vector>

#include "core/arguments.hpp"
#include "core/runtime.hpp"
#include "core/text.hpp"
#include "solvers/block_work.hpp"
#include "solvers/dense_eigen.hpp"

namespace lanky::inline v1 {

namespace {

template <class E>
std::vector<E> host_copy(const Stream& stream, const E* data, std::int64_t count) {
  std::vector<E> copy(static_cast<std::size_t>(count));
  if (count == 0) return copy;
  if (only_on_device(data)) {
    runtime::copy(copy.data(), data, copy.size() * sizeof(E), stream.native(),
                  stream.device().index());
    stream.synchronize();
  } else {
    std::copy_n(data, copy.size(), copy.begin());
  }
  return copy;
}

/// A square matrix in host memory.
template <class T>
class HostRows {
 public:
  HostRows(const Stream& stream, const CsrView<T>& a) : base_(a.index_base) {
    if (a.rows != a.cols) {
      throw Error(ErrorCode::invalid_argument,
                  concat("A is ", a.rows, " x ", a.cols, "; a preconditioner needs a square one"));
    }
    // The constructor of a plan checks all that is read below.
    SparsePlan<T>(stream, a);
    const std::int64_t count = a.rows == 0 ? 0 : a.rows + 1;
    if (a.row_offsets.wide()) {
      offsets_ = host_copy(stream, static_cast<const std::int64_t*>(a.row_offsets.data()), count);
    } else {
      const std::vector<std::int32_t> narrow =
          host_copy(stream, static_cast<const std::int32_t*>(a.row_offsets.data()), count);
      offsets_.assign(narrow.begin(), narrow.end());
    }
    columns_ = host_copy(stream, a.col_indices, a.nnz);
    values_ = host_copy(stream, a.values, a.nnz);
  }

  /// f(column, value) for the entries of row i.
  template <class F>
  void for_each(std::int64_t i, const F& f) const {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t e = offsets_[row] - base_; e < offsets_[row + 1] - base_; ++e) {
      const auto at = static_cast<std::size_t>(e);
      f(std::int64_t{columns_[at]} - base_, values_[at]);
    }
  }

 private:
  int base_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int32_t> columns_;
  std::vector<T> values_;
};

/// |B|^-1 for a self-adjoint B, without eigenvalues near 0.
template <class W>
solvers::SmallMatrix<W> positive_inverse(const solvers::SmallMatrix<W>& block,
                                         std::int64_t first_row) {
  constexpr double kLeast = 1e-8;  // of the largest
  const std::int64_t size = block.rows();
  const solvers::Spectrum<W> spectrum = solvers::self_adjoint_eigen(block);
  const double largest =
      std::max(std::abs(spectrum.values.front()), std::abs(spectrum.values.back()));
  if (!std::isfinite(largest)) {
    throw Error(ErrorCode::invalid_argument, concat("A has NaN or Inf near its diagonal, in rows ",
                                                    first_row, " to ", first_row + size - 1));
  }
  solvers::SmallMatrix<W> inverse(size, size);
  for (std::int64_t e = 0; e < size; ++e) {
    const double value = std::abs(spectrum.values[static_cast<std::size_t>(e)]);
    const double over = largest == 0 ? 1 : 1 / std::max(value, kLeast * largest);
    for (std::int64_t j = 0; j < size; ++j) {
      for (std::int64_t i = 0; i < size; ++i) {
        inverse(i, j) += over * spectrum.vectors(i, e) * solvers::conjugate(spectrum.vectors(j, e));
      }
    }
  }
  return inverse;
}

}  // namespace

std::string_view to_string(SolverStatus status) noexcept {
  switch (status) {
    case SolverStatus::converged:
      return "converged";
    case SolverStatus::iterations_exhausted:
      return "iterations_exhausted";
    case SolverStatus::stagnated:
      return "stagnated";
    case SolverStatus::stopped:
      break;
  }
  return "stopped";
}

template <class T>
LinearOperator<T> jacobi(const Stream& stream, const CsrView<T>& a) {
  return block_jacobi(stream, a, 1);
}

template <class T>
LinearOperator<T> block_jacobi(const Stream& stream, const CsrView<T>& a, std::int64_t block_size) {
  using W = solvers::Wide<T>;
  constexpr std::int64_t kMost = 64;
  if (block_size < 1 || block_size > kMost) {
    throw Error(ErrorCode::invalid_argument,
                concat("diagonal blocks of ", block_size, " rows; 1 to ", kMost, " are possible"));
  }
  const HostRows<T> rows(stream, a);
  CsrMatrix<T> inverse;
  inverse.rows = inverse.cols = a.rows;
  for (std::int64_t first = 0; first < a.rows; first += block_size) {
    const std::int64_t size = std::min(block_size, a.rows - first);
    solvers::SmallMatrix<W> block(size, size);
    for (std::int64_t i = 0; i < size; ++i) {
      rows.for_each(first + i, [&](std::int64_t column, T value) {
        if (column < first || column > first + i) return;
        // The upper triangle, which small matrices are read by, is the adjoint of the lower one.
        block(column - first, i) += solvers::conjugate(static_cast<W>(value));
      });
    }
    const solvers::SmallMatrix<W> small = positive_inverse(block, first);
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t j = 0; j < size; ++j) {
        inverse.col_indices.push_back(static_cast<std::int32_t>(first + j));
        inverse.values.push_back(static_cast<T>(small(i, j)));
      }
      inverse.row_offsets.push_back(static_cast<std::int64_t>(inverse.values.size()));
    }
  }
  return make_operator(stream, inverse.view(), 8);
}

template <class T>
LinearOperator<SingleOf<T>> make_single_operator(const Stream& stream, const CsrView<T>& a,
                                                 std::int64_t columns,
                                                 const SparseOptions& options) {
  using Single = SingleOf<T>;
  CsrView<Single> single{.rows = a.rows,
                         .cols = a.cols,
                         .nnz = a.nnz,
                         .row_offsets = a.row_offsets,
                         .col_indices = a.col_indices,
                         .index_base = a.index_base};
  if (a.nnz <= 0 || a.values == nullptr) return make_operator(stream, single, columns, options);
  if (!only_on_device(a.values)) {
    std::vector<Single> values(static_cast<std::size_t>(a.nnz));
    std::transform(a.values, a.values + a.nnz, values.begin(),
                   [](T value) { return static_cast<Single>(value); });
    single.values = values.data();
    return make_operator(stream, single, columns, options);
  }
  check_on_device(a.values, a.nnz, stream.device(), "the values of A");
  Matrix<Single> values(stream, a.nnz, 1, Layout::row, 0, options.allocator);
  solvers::make_block_work<T>(stream)->narrow(nullptr, {a.values, a.nnz, 1, 1, Layout::row},
                                              values.view());
  single.values = values.view().data;
  return make_operator(stream, single, columns, options);
}

#define LANKY_INSTANTIATE(T)                                                                  \
  template LinearOperator<T> jacobi(const Stream&, const CsrView<T>&);                        \
  template LinearOperator<T> block_jacobi(const Stream&, const CsrView<T>&, std::int64_t);    \
  template LinearOperator<SingleOf<T>> make_single_operator(const Stream&, const CsrView<T>&, \
                                                            std::int64_t, const SparseOptions&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
