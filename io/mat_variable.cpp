#include "io/mat_variable.hpp"

#include <algorithm>
#include <array>
#include <lanky/error.hpp>

#include "core/text.hpp"
#include "io/mat5_check.hpp"

namespace lanky::inline v1::io {

namespace {

/// The field of SuiteSparse's struct Problem that holds the matrix.
constexpr const char* kMatrixField = "A";

bool is_numeric_array(const matvar_t& v) {
  constexpr std::size_t kMostExtent = std::size_t{1} << 62;
  const bool dense = v.class_type >= MAT_C_DOUBLE && v.class_type <= MAT_C_UINT64;
  return (dense || v.class_type == MAT_C_SPARSE) && v.rank == 2 && v.dims != nullptr &&
         v.dims[0] < kMostExtent && v.dims[1] < kMostExtent;
}

/// Bytes of one number; 0 where it is none.
std::size_t number_bytes(matio_types type) {
  switch (type) {
    case MAT_T_INT8:
    case MAT_T_UINT8:
      return 1;
    case MAT_T_INT16:
    case MAT_T_UINT16:
      return 2;
    case MAT_T_INT32:
    case MAT_T_UINT32:
    case MAT_T_SINGLE:
      return 4;
    case MAT_T_DOUBLE:
    case MAT_T_INT64:
    case MAT_T_UINT64:
      return 8;
    default:
      return 0;
  }
}

bool has_values(const matvar_t& v, const void* data) {
  if (data == nullptr) return false;
  if (v.isComplex == 0) return true;
  const auto* parts = static_cast<const mat_complex_split_t*>(data);
  return parts->Re != nullptr && parts->Im != nullptr;
}

/// What is wrong with the arrays of a sparse variable; null where nothing is.
const char* sparse_fault(const matvar_t& v, std::int64_t rows, std::int64_t cols) {
  if (v.data == nullptr) return "has no data";
  const auto& sparse = *static_cast<const mat_sparse_t*>(v.data);
  if (sparse.jc == nullptr || sparse.njc != cols + 1) return "has not one pointer a column";
  if (sparse.jc[0] != 0 || !std::is_sorted(sparse.jc, sparse.jc + sparse.njc)) {
    return "has column pointers that fall";
  }
  const mat_uint32_t entries = sparse.jc[cols];
  if (entries == 0) return nullptr;
  if (sparse.ir == nullptr || sparse.nir < entries || sparse.ndata < entries ||
      number_bytes(v.data_type) == 0 || !has_values(v, sparse.data)) {
    return "has fewer row indices or values than its column pointers count";
  }
  const auto inside = [&](mat_uint32_t row) { return row < rows; };
  return std::all_of(sparse.ir, sparse.ir + entries, inside) ? nullptr
                                                             : "has row indices out of range";
}

const char* dense_fault(const matvar_t& v, std::int64_t rows, std::int64_t cols) {
  if (rows == 0 || cols == 0) return nullptr;
  std::size_t bytes = number_bytes(v.data_type);
  const bool beyond =
      __builtin_mul_overflow(bytes, rows, &bytes) || __builtin_mul_overflow(bytes, cols, &bytes);
  if (beyond || bytes == 0 || !has_values(v, v.data) || v.nbytes != bytes) {
    return "has not as many values as its extents say";
  }
  return nullptr;
}

Header header_of(const matvar_t& v) {
  Header header;
  const bool sparse = v.class_type == MAT_C_SPARSE;
  header.format = sparse ? Format::coordinate : Format::array;
  header.field = v.isLogical != 0   ? Field::pattern
                 : v.isComplex != 0 ? Field::complex
                                    : Field::real;
  header.rows = static_cast<std::int64_t>(v.dims[0]);
  header.cols = static_cast<std::int64_t>(v.dims[1]);
  return header;
}

std::string joined_names(const auto& candidates) {
  std::string names;
  for (const auto& candidate : candidates)
    names += concat(names.empty() ? "" : ", ", candidate.name);
  return names;
}

}  // namespace

MatFile::MatFile(const std::filesystem::path& path) : lock_(matio().mutex), name_(path.string()) {
  check_structure();
  file_.reset(matio().open(path.c_str(), MAT_ACC_RDONLY));
  if (file_ == nullptr) fail("is no .mat file of version 5 or 7.3 that libmatio can open");
  list_variables();
}

/// Of version 5 all of it; HDF5, which holds version 7.3, is left to its own library.
void MatFile::check_structure() const {
  constexpr std::int64_t kVersionAt = 124;
  const InputFile file(name_);
  std::array<char, 4> version{};
  file.read_all(version.data(), version.size(), kVersionAt);
  constexpr std::array kLittle5 = {'\0', '\1', 'I', 'M'};
  constexpr std::array kBig5 = {'\1', '\0', 'M', 'I'};
  constexpr std::array kLittle73 = {'\0', '\2', 'I', 'M'};
  if (version == kLittle5 || version == kBig5) {
    check_mat5(file);
  } else if (version != kLittle73) {
    fail("is of no version that is read: 5 and 7.3 are");
  }
}

void MatFile::list_variables() {
  while (matvar_t* next = matio().read_next_info(file_.get())) {
    variables_.emplace_back(next);
    if (next->name == nullptr) continue;
    all_.push_back({next->name, next});
    if (next->class_type != MAT_C_STRUCT || next->data == nullptr) continue;
    if (matvar_t* field = matio().field(next, kMatrixField, 0)) {
      all_.push_back({concat(next->name, ".", kMatrixField), field});
    }
  }
}

std::vector<MatFile::Candidate> MatFile::candidates(bool sparse) const {
  std::vector<Candidate> found;
  for (const Candidate& candidate : all_) {
    const matvar_t& v = *candidate.variable;
    if (is_numeric_array(v) && (v.class_type == MAT_C_SPARSE) == sparse) found.push_back(candidate);
  }
  return found;
}

MatFile::Candidate MatFile::choose(std::string_view name) const {
  if (!name.empty()) {
    for (const Candidate& candidate : all_) {
      if (candidate.name == name && is_numeric_array(*candidate.variable)) return candidate;
    }
    fail(concat("holds no matrix ", name, ", but ", joined_names(all_)));
  }
  for (const bool sparse : {true, false}) {
    const std::vector<Candidate> found = candidates(sparse);
    if (found.size() == 1) return found.front();
    if (found.size() > 1) {
      fail(concat("holds several matrices: ", joined_names(found),
                  "; name one (ReadOptions::variable, lanky convert --variable)"));
    }
  }
  fail(all_.empty() ? std::string("holds no variable that can be read")
                    : concat("holds no matrix, but ", joined_names(all_)));
}

MatVariable MatFile::matrix(std::string_view name) {
  const Candidate chosen = choose(name);
  matvar_t& v = *chosen.variable;
  Header header = header_of(v);
  const std::string message_name = concat(name_, ": variable ", chosen.name);
  if (matio().read_data(file_.get(), &v) != 0)
    fail(concat("variable ", chosen.name, " is damaged"));
  const bool sparse = v.class_type == MAT_C_SPARSE;
  const char* fault =
      sparse ? sparse_fault(v, header.rows, header.cols) : dense_fault(v, header.rows, header.cols);
  if (fault != nullptr) fail(concat("variable ", chosen.name, " ", fault));
  header.stored_entries = sparse ? static_cast<const mat_sparse_t*>(v.data)->jc[header.cols]
                                 : header.rows * header.cols;
  return {message_name, header, &v};
}

void MatFile::fail(std::string_view message) const {
  throw Error(ErrorCode::parse, concat(name_, ": ", message));
}

}  // namespace lanky::inline v1::io
