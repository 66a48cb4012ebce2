// The arrays of a sparse matrix in compressed sparse rows, as Python hands them over.
#include "csr.hpp"

#include <string>

#include "errors.hpp"

namespace lanky::python {

namespace nb = nanobind;

namespace {

Array read_indices(nb::handle object, const char* name, bool wide) {
  Array array = read_array(object, name);
  require_contiguous(array);
  if (array.element == Element::i32 || (wide && array.element == Element::i64)) return array;
  throw_type_error(std::string(name) + " are " +
                   nb::cast<std::string>(nb::str(object.attr("dtype"))) + "; " +
                   (wide ? "int32 or int64" : "int32") + " is needed");
}

void require_together(const Array& array, const Array& offsets) {
  if (array.device != offsets.device)
    throw_value_error(std::string(array.name) + " are on " + place(array.device) + ", and " +
                      offsets.name + " on " + place(offsets.device));
}

void require_size(const Array& array, std::int64_t size, const std::string& why) {
  if (array.size() != size)
    throw_value_error(std::string(array.name) + " has " + std::to_string(array.size()) +
                      " entries, and " + std::to_string(size) + " are needed: " + why);
}

}  // namespace

CsrArrays read_csr_arrays(nb::handle offsets, nb::handle columns, nb::handle values,
                          std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0)
    throw_value_error("shape is (" + std::to_string(rows) + ", " + std::to_string(cols) +
                      "); extents are 0 or more");
  CsrArrays csr{read_indices(offsets, "indptr", true), read_indices(columns, "indices", false),
                Array{}, rows, cols};
  require_size(csr.offsets, rows + 1, "one more than " + std::to_string(rows) + " rows");
  require_together(csr.columns, csr.offsets);
  if (values.is_none()) return csr;
  csr.values = read_array(values, "data");
  require_contiguous(csr.values);
  require_together(csr.values, csr.offsets);
  require_size(csr.values, csr.columns.size(), "one for each of the indices");
  return csr;
}

}  // namespace lanky::python
