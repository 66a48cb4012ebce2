#include "cli/solver_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <locale>
#include <sstream>
#include <system_error>
#include <type_traits>

#include "bench/report/number_text.hpp"
#include "cli/warnings.hpp"

namespace lanky::cli {

namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::ostringstream message;
  message.imbue(std::locale::classic());
  (message << ... << parts);
  throw Error(ErrorCode::unsupported, message.str());
}

template <class T>
using Real = decltype(std::real(T()));

template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x;
  } else {
    return std::conj(x);
  }
}

template <class T>
bool is_finite(T x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}

template <class T>
void require_square(const CsrMatrix<T>& a, const std::string& name) {
  if (a.rows == a.cols) return;
  refuse(name, ": has ", a.rows, " rows and ", a.cols, " columns; a square matrix is needed");
}

/// Meets the entries of a matrix of symmetric pattern in the order of its columns, so that entry
/// (i, j) finds (j, i) as the next one of row j. `check(i, j, value, mirrored value)`.
template <class T, class Check>
void for_each_mirrored(const CsrMatrix<T>& a, const std::string& name, const Check& check) {
  const auto lonely = [&](std::int64_t i, std::int64_t j) {
    refuse(name, ": is not symmetric: there is an entry (", i + 1, ", ", j + 1, "), and none at (",
           j + 1, ", ", i + 1, ")");
  };
  std::vector<std::int64_t> next(a.row_offsets.begin(), a.row_offsets.end() - 1);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      const std::int64_t j = a.col_indices[static_cast<std::size_t>(e)];
      const auto mirror_row = static_cast<std::size_t>(j);
      const auto at = static_cast<std::size_t>(next[mirror_row]);
      const bool is_there = next[mirror_row] < a.row_offsets[mirror_row + 1];
      if (is_there && a.col_indices[at] < i) lonely(j, a.col_indices[at]);
      if (!is_there || a.col_indices[at] > i) lonely(i, j);
      check(i, j, a.values[static_cast<std::size_t>(e)], a.values[at]);
      ++next[mirror_row];
    }
  }
}

/// A + shift I, with the entries of the diagonal that A lacks.
template <class T>
CsrMatrix<T> shifted(const CsrMatrix<T>& a, T shift) {
  CsrMatrix<T> result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_offsets.reserve(a.row_offsets.size());
  result.col_indices.reserve(a.col_indices.size() + static_cast<std::size_t>(a.rows));
  result.values.reserve(result.col_indices.capacity());
  const auto append = [&](std::int64_t column, T value) {
    result.col_indices.push_back(static_cast<std::int32_t>(column));
    result.values.push_back(value);
  };
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    bool is_added = false;
    for (std::int64_t e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      if (!is_added && a.col_indices[at] >= i) {
        is_added = true;
        if (a.col_indices[at] == i) {
          append(i, a.values[at] + shift);
          continue;
        }
        append(i, shift);
      }
      append(a.col_indices[at], a.values[at]);
    }
    if (!is_added) append(i, shift);
    result.row_offsets.push_back(result.nnz());
  }
  return result;
}

/// Degrees minus adjacency of the graph that the pattern off the diagonal is.
template <class T>
CsrMatrix<T> laplacian(const CsrMatrix<T>& a, const std::string& name) {
  for_each_mirrored(a, name, [](std::int64_t, std::int64_t, T, T) {});
  CsrMatrix<T> result = shifted(a, T(0));
  for (std::int64_t i = 0; i < result.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::int64_t first = result.row_offsets[row];
    const std::int64_t last = result.row_offsets[row + 1];
    for (std::int64_t e = first; e < last; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const bool is_diagonal = result.col_indices[at] == i;
      result.values[at] = is_diagonal ? T(static_cast<Real<T>>(last - first - 1)) : T(-1);
    }
  }
  return result;
}

bool is_regular(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown);
}

bool is_complex(const std::string& path) {
  return is_regular(path) && io::read_header(path).field == io::Field::complex;
}

}  // namespace

Source solver_source(const SolverOptions& options) {
  Work work;
  if (!options.file.empty()) work.files = {options.file};
  if (!options.generator.empty()) work.generators = {options.generator};
  const Sources found = find_sources(work, 0);
  if (!found.failed.empty()) throw Error(ErrorCode::io, found.failed.front().reason);
  if (found.matrices.size() == 1) return found.matrices.front();
  throw Error(ErrorCode::invalid_argument, options.file + ": holds " +
                                               std::to_string(found.matrices.size()) +
                                               " matrices; name one of them");
}

DType solver_dtype(const SolverOptions& options, const Source& source,
                   const std::vector<std::string>& files) {
  std::string complex_file;
  if (!source.generated && is_complex(source.place)) complex_file = source.place;
  for (const std::string& file : files) {
    if (!file.empty() && is_complex(file)) complex_file = file;
  }
  if (options.dtype.empty()) return complex_file.empty() ? DType::f64 : DType::c128;
  const DType dtype = parse_dtype(options.dtype);
  if (complex_file.empty() || dtype == DType::c64 || dtype == DType::c128) return dtype;
  throw Error(ErrorCode::invalid_argument,
              complex_file + ": has complex entries; --dtype " + options.dtype + " has none");
}

std::string values_text(const SolverOptions& options, const Source& source) {
  const std::string shift =
      options.shift == 0 ? "" : ", " + report::shortest(options.shift) + " added to the diagonal";
  if (options.laplacian) return "the Laplacian of its graph" + shift;
  if (source.generated) return "values of the generator" + shift;
  const bool is_pattern =
      is_regular(source.place) && io::read_header(source.place).field == io::Field::pattern;
  return (is_pattern ? "a pattern, whose entries are 1" : "values of the file") + shift;
}

template <class T>
CsrMatrix<T> read_values(const Source& source) {
  if (source.generated) return io::generate<T>(source.place);
  std::vector<std::string> warnings;
  CsrMatrix<T> matrix = io::read_csr<T>(source.place, {.warnings = &warnings});
  print_warnings(warnings);
  return matrix;
}

template <class T>
CsrMatrix<T> solver_matrix(const SolverOptions& options, const Source& source) {
  CsrMatrix<T> matrix = read_values<T>(source);
  if (options.laplacian || options.shift != 0) require_square(matrix, source.place);
  if (options.laplacian) matrix = laplacian(matrix, source.place);
  if (options.shift != 0) matrix = shifted(matrix, T(static_cast<Real<T>>(options.shift)));
  return matrix;
}

template <class T>
void require_self_adjoint(const CsrMatrix<T>& a, const std::string& name) {
  require_square(a, name);
  const double tolerance = sizeof(Real<T>) == sizeof(double) ? 1e-10 : 1e-5;
  for_each_mirrored(a, name, [&](std::int64_t i, std::int64_t j, T value, T mirrored) {
    if (!is_finite(value)) {
      refuse(name, ": entry (", i + 1, ", ", j + 1, ") is ", value, "; it must be finite");
    }
    const double apart = std::abs(value - conjugate(mirrored));
    if (apart <= tolerance * std::max(std::abs(value), std::abs(mirrored))) return;
    if (i == j) {
      refuse(name, ": is not Hermitian: entry (", i + 1, ", ", j + 1, ") is ", value,
             ", which is not real");
    }
    refuse(name, ": is not symmetric or Hermitian: entry (", i + 1, ", ", j + 1, ") is ", value,
           ", entry (", j + 1, ", ", i + 1, ") is ", mirrored);
  });
}

#define LANKY_INSTANTIATE(T)                                                   \
  template CsrMatrix<T> read_values(const Source&);                            \
  template CsrMatrix<T> solver_matrix<T>(const SolverOptions&, const Source&); \
  template void require_self_adjoint(const CsrMatrix<T>&, const std::string&);
LANKY_INSTANTIATE(double)
LANKY_INSTANTIATE(float)
LANKY_INSTANTIATE(std::complex<double>)
LANKY_INSTANTIATE(std::complex<float>)
#undef LANKY_INSTANTIATE

}  // namespace lanky::cli
