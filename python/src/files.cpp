// Matrix files and generators for Python: CSR arrays of NumPy, which take over the reader's memory.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <lanky/csr.hpp>
#include <lanky/io.hpp>
#include <lanky/visit_dtype.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "bindings.hpp"
#include "csr.hpp"
#include "errors.hpp"

namespace lanky::python {

namespace {

using namespace nb::literals;

/// (rows, cols, indptr, indices, data); the arrays share one owner.
template <class T>
nb::tuple arrays_of(CsrMatrix<T>&& read) {
  auto matrix = std::make_unique<CsrMatrix<T>>(std::move(read));
  CsrMatrix<T>& kept = *matrix;
  const nb::capsule owner(matrix.release(),
                          [](void* held) noexcept { delete static_cast<CsrMatrix<T>*>(held); });
  return nb::make_tuple(
      kept.rows, kept.cols,
      numpy_array(kept.row_offsets.data(), kept.rows + 1, Element::i64, owner),
      numpy_array(kept.col_indices.data(), kept.nnz(), Element::i32, owner),
      numpy_array(kept.values.data(), kept.nnz(), static_cast<Element>(kDType<T>), owner));
}

io::Duplicates duplicates_from(const std::string& text) {
  if (text == "sum") return io::Duplicates::sum;
  if (text == "keep") return io::Duplicates::keep;
  if (text == "reject") return io::Duplicates::reject;
  throw_value_error("duplicates is \"" + text + "\"; known are \"sum\", \"keep\" and \"reject\"");
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 1) != 0) throw nb::python_error();
  }
}

/// The type that holds the file's entries: complex128 or float64.
DType type_in(const std::filesystem::path& path, const io::ReadOptions& options) {
  const nb::gil_scoped_release released;
  return io::read_header(path, options).field == io::Field::complex ? DType::c128 : DType::f64;
}

nb::tuple read(const std::filesystem::path& path, nb::handle dtype, const std::string& variable,
               const std::string& duplicates, const std::filesystem::path& cache) {
  std::vector<std::string> warnings;
  const io::ReadOptions options{.duplicates = duplicates_from(duplicates),
                                .variable = variable,
                                .cache = cache,
                                .warnings = &warnings};
  const DType type = dtype.is_none() ? type_in(path, options) : dtype_from(dtype);
  nb::tuple result = visit_dtype(type, [&](auto element) {
    using T = typename decltype(element)::type;
    CsrMatrix<T> matrix;
    {
      const nb::gil_scoped_release released;
      matrix = io::read_csr<T>(path, options);
    }
    return arrays_of(std::move(matrix));
  });
  warn(warnings);
  return result;
}

void write(const std::filesystem::path& path, nb::handle offsets, nb::handle columns,
           nb::handle values, std::int64_t rows, std::int64_t cols, const std::string& comment) {
  const CsrArrays csr = read_csr_arrays(offsets, columns, values, rows, cols);
  if (!csr.values.on_host())
    throw_value_error("data is on " + place(csr.values.device) +
                      "; files are written from host memory");
  visit_dtype(dtype_of(csr.values, "S.astype('float64')"), [&](auto element) {
    using T = typename decltype(element)::type;
    const nb::gil_scoped_release released;
    if (path.extension() == ".lanky") return io::write_cache(path, csr.view<T>());
    io::write_matrix_market(path, csr.view<T>(), comment);
  });
}

nb::tuple generate(const std::string& spec, nb::handle dtype) {
  return visit_dtype(dtype_from(dtype), [&](auto element) {
    using T = typename decltype(element)::type;
    CsrMatrix<T> matrix;
    {
      const nb::gil_scoped_release released;
      matrix = io::generate<T>(spec);
    }
    return arrays_of(std::move(matrix));
  });
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("read", &read, "path"_a, nb::kw_only(), "dtype"_a = nb::none(), "variable"_a = "",
             "duplicates"_a = "sum", "cache"_a = "");
  module.def("write", &write, "path"_a, "indptr"_a.none(), "indices"_a.none(), "data"_a.none(),
             "rows"_a, "cols"_a, nb::kw_only(), "comment"_a = "");
  module.def("generate", &generate, "spec"_a, "dtype"_a.none());
  module.def("generator_help", &io::generator_help);
}

}  // namespace lanky::python
