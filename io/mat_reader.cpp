#include "io/mat_reader.hpp"

#include <complex>
#include <cstring>

#include "io/csc.hpp"
#include "io/mat_variable.hpp"
#include "io/memory_limit.hpp"
#include "io/supported.hpp"

namespace lanky::inline v1::io {

namespace {

template <class Number>
double number_at(const void* data, std::size_t k) {
  Number value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + k * sizeof value, sizeof value);
  return static_cast<double>(value);
}

/// How a number of that type is read; its type has been checked.
auto number_reader(matio_types type) {
  switch (type) {
    case MAT_T_INT8:
      return number_at<std::int8_t>;
    case MAT_T_UINT8:
      return number_at<std::uint8_t>;
    case MAT_T_INT16:
      return number_at<std::int16_t>;
    case MAT_T_UINT16:
      return number_at<std::uint16_t>;
    case MAT_T_INT32:
      return number_at<std::int32_t>;
    case MAT_T_UINT32:
      return number_at<std::uint32_t>;
    case MAT_T_INT64:
      return number_at<std::int64_t>;
    case MAT_T_UINT64:
      return number_at<std::uint64_t>;
    case MAT_T_SINGLE:
      return number_at<float>;
    default:
      return number_at<double>;
  }
}

/// The values of a variable, in the order of columns.
template <class T>
class ValueReader {
 public:
  ValueReader(const matvar_t& v, const void* data)
      : read_(number_reader(v.data_type)), real_(data), complex_(v.isComplex != 0) {
    if (!complex_ || data == nullptr) return;
    const auto* parts = static_cast<const mat_complex_split_t*>(data);
    real_ = parts->Re;
    imaginary_ = parts->Im;
  }

  Wide<T> operator()(std::size_t k) const {
    const double real = read_(real_, k);
    if constexpr (kIsComplex<T>) {
      if (complex_) return {real, read_(imaginary_, k)};
    }
    return real;
  }

 private:
  double (*read_)(const void*, std::size_t);
  const void* real_;
  const void* imaginary_ = nullptr;
  bool complex_;
};

/// The stored entries; those of a logical variable are 1.
template <class T>
CscMatrix<T> sparse_columns(const MatVariable& matrix) {
  const auto& sparse = *static_cast<const mat_sparse_t*>(matrix.variable->data);
  const auto entries = static_cast<std::size_t>(matrix.header.stored_entries);
  CscMatrix<T> csc{matrix.header.rows, matrix.header.cols, {}, {}, {}};
  csc.col_offsets.assign(sparse.jc, sparse.jc + sparse.njc);
  csc.row_indices.assign(sparse.ir, sparse.ir + entries);
  csc.values.resize(entries, Wide<T>(1));
  if (matrix.header.field == Field::pattern) return csc;
  const ValueReader<T> value(*matrix.variable, sparse.data);
  for (std::size_t k = 0; k < entries; ++k)
    csc.values[k] = value(k);
  return csc;
}

/// What is not zero; NaN is not.
template <class T>
CscMatrix<T> dense_columns(const MatVariable& matrix) {
  const Header& header = matrix.header;
  CscMatrix<T> csc{header.rows, header.cols, {0}, {}, {}};
  const ValueReader<T> value(*matrix.variable, matrix.variable->data);
  std::size_t k = 0;
  for (std::int64_t col = 0; col < header.cols; ++col) {
    for (std::int64_t row = 0; row < header.rows; ++row, ++k) {
      const Wide<T> entry = value(k);
      if (entry == Wide<T>{}) continue;
      csc.row_indices.push_back(row);
      csc.values.push_back(header.field == Field::pattern ? Wide<T>(1) : entry);
    }
    csc.col_offsets.push_back(static_cast<std::int64_t>(csc.values.size()));
  }
  return csc;
}

template <class T>
void refuse_repeated(const CscMatrix<T>& csc, const std::string& name) {
  const auto found = find_duplicate(csc);
  if (!found) return;
  throw Error(
      ErrorCode::parse,
      concat(name, " holds entry (", csc.row_indices[found->later] + 1, ", ", found->col + 1,
             ") more than once; read with Duplicates::sum or Duplicates::keep"));
}

}  // namespace

template <class T>
CsrMatrix<T> read_mat(const std::filesystem::path& path, const ReadOptions& options) {
  MatFile file(path);
  return or_out_of_memory(path.string(), [&] {
    const MatVariable matrix = file.matrix(options.variable);
    check_readable_as<T>(matrix.header, matrix.name);
    CscMatrix<T> csc = matrix.header.format == Format::array ? dense_columns<T>(matrix)
                                                             : sparse_columns<T>(matrix);
    if (options.duplicates == Duplicates::reject) refuse_repeated(csc, matrix.name);
    return csr_of(std::move(csc), matrix.header, options.duplicates == Duplicates::sum);
  });
}

Header read_mat_header(const std::filesystem::path& path, const ReadOptions& options) {
  MatFile file(path);
  return file.matrix(options.variable).header;
}

template CsrMatrix<double> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<float> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<half> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<bfloat16> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<std::complex<float>> read_mat(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<std::complex<double>> read_mat(const std::filesystem::path&, const ReadOptions&);

}  // namespace lanky::inline v1::io
