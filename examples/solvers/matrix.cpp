#include "examples/solvers/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace lanky::examples::solvers {

namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(ErrorCode::invalid_argument, message.str());
}

/// Calls f(row, column, value) for all entries, in order.
template <class F>
void for_each_entry(const CsrMatrix<double>& a, const F& f) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      f(i, static_cast<std::int64_t>(a.col_indices[at]), a.values[at]);
    }
  }
}

/// Meets the entries of a symmetric matrix in the order of its columns: entry (i, j) must find
/// (j, i) as the next of row j. `same` compares the two values.
template <class Same>
void check_mirrored(const CsrMatrix<double>& a, const Same& same) {
  std::vector<std::int64_t> next(a.row_offsets.begin(), a.row_offsets.end() - 1);
  for_each_entry(a, [&](std::int64_t i, std::int64_t j, double value) {
    const auto mirror_row = static_cast<std::size_t>(j);
    const auto at = static_cast<std::size_t>(next[mirror_row]);
    const bool there = next[mirror_row] < a.row_offsets[mirror_row + 1];
    if (there && a.col_indices[at] < i) {
      refuse("the matrix is not symmetric: there is an entry (", j + 1, ", ", a.col_indices[at] + 1,
             "), but none at the transposed place");
    }
    if (!there || a.col_indices[at] > i) {
      refuse("the matrix is not symmetric: there is an entry (", i + 1, ", ", j + 1,
             "), but none at the transposed place");
    }
    if (!same(value, a.values[at])) {
      refuse("the matrix is not symmetric: entry (", i + 1, ", ", j + 1, ") is ", value,
             ", entry (", j + 1, ", ", i + 1, ") is ", a.values[at]);
    }
    ++next[mirror_row];
  });
}

}  // namespace

void check_square(const CsrMatrix<double>& a, std::string_view method) {
  if (a.rows == a.cols) return;
  std::ostringstream message;
  message << method << " needs a square matrix, this one has " << a.rows << " rows and " << a.cols
          << " columns";
  throw Error(ErrorCode::size_mismatch, message.str());
}

void check_symmetric(const CsrMatrix<double>& a) {
  constexpr double kTolerance = 1e-10;
  check_mirrored(a, [](double left, double right) {
    return std::abs(left - right) <= kTolerance * std::max(std::abs(left), std::abs(right));
  });
}

CsrMatrix<double> laplacian(const CsrMatrix<double>& a, double shift) {
  check_square(a, "a Laplacian");
  if (!(shift > 0)) refuse("the Laplacian's shift is ", shift, "; it must be positive");
  check_mirrored(a, [](double, double) { return true; });
  CsrMatrix<double> result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_offsets.reserve(a.row_offsets.size());
  result.col_indices.reserve(a.col_indices.size() + static_cast<std::size_t>(a.rows));
  result.values.reserve(result.col_indices.capacity());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const auto first = a.col_indices.begin() + a.row_offsets[row];
    const auto last = a.col_indices.begin() + a.row_offsets[row + 1];
    const auto links = std::count_if(first, last, [&](std::int32_t j) { return j != i; });
    const auto append = [&](std::int64_t column, double value) {
      result.col_indices.push_back(static_cast<std::int32_t>(column));
      result.values.push_back(value);
    };
    auto next = first;
    for (; next != last && *next < i; ++next)
      append(*next, -1);
    append(i, static_cast<double>(links) + shift);
    for (; next != last; ++next) {
      if (*next != i) append(*next, -1);
    }
    result.row_offsets.push_back(result.nnz());
  }
  return result;
}

std::vector<double> inverse_diagonal(const CsrMatrix<double>& a) {
  std::vector<double> diagonal(static_cast<std::size_t>(a.rows), 0.0);
  for_each_entry(a, [&](std::int64_t i, std::int64_t j, double value) {
    if (i == j) diagonal[static_cast<std::size_t>(i)] += value;
  });
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    if (!(diagonal[i] > 0)) {
      refuse("the diagonal of row ", i + 1, " is ", diagonal[i],
             ": the matrix is not positive definite");
    }
    diagonal[i] = 1 / diagonal[i];
  }
  return diagonal;
}

std::vector<double> multiply(const CsrMatrix<double>& a, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
  for_each_entry(a, [&](std::int64_t i, std::int64_t j, double value) {
    y[static_cast<std::size_t>(i)] += value * x[static_cast<std::size_t>(j)];
  });
  return y;
}

double relative_residual(const CsrMatrix<double>& a, const std::vector<double>& x,
                         const std::vector<double>& b) {
  const std::vector<double> y = multiply(a, x);
  double rr = 0;
  double bb = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    rr += (b[i] - y[i]) * (b[i] - y[i]);
    bb += b[i] * b[i];
  }
  return std::sqrt(bb > 0 ? rr / bb : rr);
}

EigenPair eigen_pair(const CsrMatrix<double>& a, const std::vector<double>& x) {
  const std::vector<double> y = multiply(a, x);
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    xx += x[i] * x[i];
    xy += x[i] * y[i];
  }
  const double lambda = xy / xx;
  double off = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    off += (y[i] - lambda * x[i]) * (y[i] - lambda * x[i]);
  return {lambda, std::sqrt(off / xx) / std::abs(lambda)};
}

}  // namespace lanky::examples::solvers
