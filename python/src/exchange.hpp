// DLPack's table of C functions, by which a library describes its arrays and tells its current
// stream without a call of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

namespace lanky::python {

/// DLPackExchangeAPI of DLPack 1.3. The members stand as that says; those that lanky does not call
/// are pointers alone.
struct Exchange {
  std::uint32_t major;
  std::uint32_t minor;
  const void* previous;
  void (*allocate)();
  void (*export_owned)();
  void (*import_owned)();
  /// Shape and strides belong to `array`, and nothing is held. Not 0: an error of Python is set.
  int (*describe)(void* array, nanobind::dlpack::dltensor* description);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

/// The table of a type of arrays; null where it has none that lanky knows.
const Exchange* exchange_of(nanobind::handle type);

/// That of torch.Tensor, looked up once; null before PyTorch 2.10.
const Exchange* exchange_of_torch();

}  // namespace lanky::python
