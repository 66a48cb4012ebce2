// lanky._core: what the Python package lanky does in C++.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <lanky/device.hpp>
#include <lanky/version.hpp>
#include <string>

#include "array.hpp"
#include "bindings.hpp"
#include "errors.hpp"
#include "process.hpp"

namespace lanky::python {

namespace {

/// Where there are GPUs, asking for them begins to use CUDA.
void ask_for_cuda() {
  require_cuda_alive();
  if (Device::cuda_count() > 0) begin_cuda();
}

}  // namespace

void bind_devices(nb::module_& module) {
  using namespace nb::literals;
  module.attr("version") = kVersion;
  module.def("build_description", [] { return std::string(build_description()); });
  module.def("devices", [] {
    nb::list result;
    ask_for_cuda();
    for (const Device& device : Device::all()) {
      const DeviceProperties properties = device.properties();
      nb::dict entry;
      entry["device"] = device.name();
      entry["name"] = properties.name;
      entry["multiprocessors"] = properties.multiprocessors;
      entry["compute_capability"] = properties.compute_capability;
      entry["memory_bytes"] = properties.memory_bytes;
      result.append(entry);
    }
    return result;
  });
  module.def("cuda_absence", [] {
    ask_for_cuda();
    return Device::cuda_absence();
  });
}

}  // namespace lanky::python

NB_MODULE(_core, module) {
  using namespace lanky::python;
  nb::set_leak_warnings(false);  // of what libraries keep until the process ends
  translate_errors();
  watch_forks();
  bind_devices(module);
  bind_operators(module);  // names types that what follows has in its signatures
  bind_sparse(module);
  bind_dense(module);
  bind_sampled(module);
  bind_eigensolver(module);
  bind_linear_solvers(module);
  bind_singular_values(module);
  bind_files(module);
  bind_collection(module);
}
