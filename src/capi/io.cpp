// Matrices from files and generators, and back to files.
#include <lanky/lanky.h>
#include <lanky/io.hpp>

#include <complex>
#include <cstdint>
#include <lanky/csr.hpp>
#include <lanky/half.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "capi/arguments.hpp"
#include "capi/structs.hpp"

struct lanky_csr_matrix {
  std::variant<lanky::CsrMatrix<double>, lanky::CsrMatrix<float>, lanky::CsrMatrix<lanky::half>,
               lanky::CsrMatrix<lanky::bfloat16>, lanky::CsrMatrix<std::complex<float>>,
               lanky::CsrMatrix<std::complex<double>>>
      matrix;
  std::string warnings;
};

namespace lanky::capi {

static_assert(LANKY_IO_DUPLICATES_SUM == int(io::Duplicates::sum) &&
              LANKY_IO_DUPLICATES_KEEP == int(io::Duplicates::keep) &&
              LANKY_IO_DUPLICATES_REJECT == int(io::Duplicates::reject));
static_assert(LANKY_IO_FORMAT_COORDINATE == int(io::Format::coordinate) &&
              LANKY_IO_FORMAT_ARRAY == int(io::Format::array));
static_assert(LANKY_IO_FIELD_REAL == int(io::Field::real) &&
              LANKY_IO_FIELD_INTEGER == int(io::Field::integer) &&
              LANKY_IO_FIELD_PATTERN == int(io::Field::pattern) &&
              LANKY_IO_FIELD_COMPLEX == int(io::Field::complex));

namespace {

io::ReadOptions to_options(const lanky_io_read_options* options) {
  const lanky_io_read_options given = read_struct(options, lanky_io_read_options{});
  check_constant(given.duplicates, LANKY_IO_DUPLICATES_REJECT + 1, "duplicates",
                 "lanky_io_duplicates");
  check_reserved(given.reserved, "lanky_io_read_options");
  io::ReadOptions result;
  result.duplicates = static_cast<io::Duplicates>(given.duplicates);
  if (given.variable != nullptr) result.variable = given.variable;
  if (given.cache != nullptr) result.cache = given.cache;
  return result;
}

lanky_io_header from_header(const io::Header& header) noexcept {
  lanky_io_header result = {};
  result.format = static_cast<lanky_io_format>(header.format);
  result.field = static_cast<lanky_io_field>(header.field);
  result.symmetry = static_cast<lanky_symmetry>(header.symmetry);
  result.rows = header.rows;
  result.cols = header.cols;
  result.stored_entries = header.stored_entries;
  return result;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  return text;
}

template <class T>
lanky_csr_view from_view(const CsrView<T>& view) noexcept {
  return {view.rows,
          view.cols,
          view.nnz,
          view.row_offsets.data(),
          view.col_indices,
          view.values,
          view.row_offsets.bytes_per_offset(),
          view.index_base};
}

/// f(matrix) as what functions return of a matrix; -1 of null.
template <class Value, class F>
Value of_matrix(const lanky_csr_matrix* matrix, Value of_null, F&& f) noexcept {
  return property(matrix, "matrix", of_null,
                  [&](const lanky_csr_matrix& given) { return std::visit(f, given.matrix); });
}

}  // namespace

}  // namespace lanky::capi

void lanky_csr_matrix_destroy(lanky_csr_matrix* matrix) {
  delete matrix;
}

int64_t lanky_csr_matrix_rows(const lanky_csr_matrix* matrix) {
  return capi::of_matrix(matrix, std::int64_t{-1}, [](const auto& m) { return m.rows; });
}

int64_t lanky_csr_matrix_cols(const lanky_csr_matrix* matrix) {
  return capi::of_matrix(matrix, std::int64_t{-1}, [](const auto& m) { return m.cols; });
}

int64_t lanky_csr_matrix_nnz(const lanky_csr_matrix* matrix) {
  return capi::of_matrix(matrix, std::int64_t{-1}, [](const auto& m) { return m.nnz(); });
}

lanky_dtype lanky_csr_matrix_dtype(const lanky_csr_matrix* matrix) {
  return capi::of_matrix(matrix, lanky_dtype{-1}, []<class T>(const lanky::CsrMatrix<T>&) {
    return static_cast<lanky_dtype>(lanky::kDType<T>);
  });
}

lanky_status lanky_csr_matrix_view(const lanky_csr_matrix* matrix, lanky_csr_view* view) {
  return capi::make_value(view, "view", [&] {
    return std::visit([](const auto& m) { return capi::from_view(m.view()); },
                      capi::require(matrix, "matrix").matrix);
  });
}

lanky_status lanky_csr_matrix_warnings(const lanky_csr_matrix* matrix, char* text, size_t size,
                                       size_t* length) {
  return capi::make_text(text, size, length,
                         [&] { return capi::require(matrix, "matrix").warnings; });
}

lanky_status lanky_io_read_options_init(lanky_io_read_options* options, size_t size) {
  return capi::init_struct(options, size, {});
}

lanky_status lanky_io_read_csr(const char* path, lanky_dtype type,
                               const lanky_io_read_options* options, lanky_csr_matrix** matrix) {
  return capi::make_handle(matrix, "matrix", [&] {
    auto made = std::make_unique<lanky_csr_matrix>();
    std::vector<std::string> warnings;
    lanky::io::ReadOptions given = capi::to_options(options);
    given.warnings = &warnings;
    lanky::visit_dtype(capi::to_dtype(type, "type"), [&]<class T>(std::type_identity<T>) {
      made->matrix = lanky::io::read_csr<T>(capi::require_text(path, "path"), given);
    });
    made->warnings = capi::joined_lines(warnings);
    return made;
  });
}

lanky_status lanky_io_read_header(const char* path, const lanky_io_read_options* options,
                                  lanky_io_header* header, size_t size) {
  return capi::make_struct(header, size, [&] {
    return capi::from_header(
        lanky::io::read_header(capi::require_text(path, "path"), capi::to_options(options)));
  });
}

lanky_status lanky_io_write_matrix_market(const char* path, lanky_dtype type,
                                          const lanky_csr_view* matrix, const char* comment) {
  return capi::guarded([&] {
    lanky::visit_dtype(capi::to_dtype(type, "type"), [&]<class T>(std::type_identity<T>) {
      lanky::io::write_matrix_market<T>(capi::require_text(path, "path"),
                                        capi::to_csr<T>(matrix, "matrix"),
                                        comment == nullptr ? "" : comment);
    });
  });
}

lanky_status lanky_io_write_cache(const char* path, lanky_dtype type,
                                  const lanky_csr_view* matrix) {
  return capi::guarded([&] {
    lanky::visit_dtype(capi::to_dtype(type, "type"), [&]<class T>(std::type_identity<T>) {
      lanky::io::write_cache<T>(capi::require_text(path, "path"),
                                capi::to_csr<T>(matrix, "matrix"));
    });
  });
}

lanky_status lanky_io_generate(const char* spec, lanky_dtype type, lanky_csr_matrix** matrix) {
  return capi::make_handle(matrix, "matrix", [&] {
    auto made = std::make_unique<lanky_csr_matrix>();
    lanky::visit_dtype(capi::to_dtype(type, "type"), [&]<class T>(std::type_identity<T>) {
      made->matrix = lanky::io::generate<T>(capi::require_text(spec, "spec"));
    });
    return made;
  });
}

lanky_status lanky_io_estimated_entries(const char* spec, int64_t* entries) {
  return capi::make_value(entries, "entries", [&] {
    return lanky::io::estimated_entries(capi::require_text(spec, "spec"));
  });
}

lanky_status lanky_io_generator_help(char* text, size_t size, size_t* length) {
  return capi::make_text(text, size, length, [] { return lanky::io::generator_help(); });
}
