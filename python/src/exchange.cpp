// DLPack's table of C functions, by which a library describes its arrays and tells its current
// stream without a call of Python.
#include "exchange.hpp"

namespace lanky::python {

namespace nb = nanobind;

const Exchange* exchange_of(nb::handle type) {
  constexpr const char* kName = "dlpack_exchange_api";
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(capsule.ptr(), kName) == 0) return nullptr;
  const auto* table = static_cast<const Exchange*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  if (table->major != 1 || table->minor < 3 || table->describe == nullptr) return nullptr;
  return table;
}

const Exchange* exchange_of_torch() {
  static const Exchange* const table = exchange_of(nb::module_::import_("torch").attr("Tensor"));
  return table;
}

}  // namespace lanky::python
