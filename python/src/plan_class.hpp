// What the classes of all plans have in common: their life, and what they tell of themselves.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "array.hpp"
#include "errors.hpp"
#include "operands.hpp"
#include "process.hpp"

namespace lanky::python {

/// A plan as Python holds it, until it is released.
template <class Product>
class PlanOfPython {
 public:
  void release() { state_.reset(); }
  bool released() const { return state_ == nullptr; }
  const Product& product() const { return *alive()->product; }
  std::string device() const { return place(alive()->device); }
  const char* dtype() const { return numpy_name(alive()->in); }
  const char* out_dtype() const { return numpy_name(alive()->out); }

 protected:
  using State = PlanState<Product>;

  /// ValueError after release(), Error in the child of a fork.
  std::shared_ptr<State> alive() const {
    if (state_ == nullptr) throw_value_error("this plan was released");
    if (state_->device >= 0) require_cuda_alive();
    return state_;
  }

  std::shared_ptr<State> state_;
};

/// Members of every plan.
template <class Plan>
void bind_plan(nb::class_<Plan>& plan) {
  plan.def(
          "release", [](Plan& self) { self.release(); },
          "Frees the memory; the plan is of no use then.")
      .def_prop_ro("released", [](const Plan& self) { return self.released(); })
      .def_prop_ro("device", [](const Plan& self) { return self.device(); })
      .def_prop_ro("dtype_name", [](const Plan& self) { return self.dtype(); })
      .def_prop_ro("out_dtype_name", [](const Plan& self) { return self.out_dtype(); })
      .def_prop_ro("computed_by", [](const Plan& self) { return self.product().computed_by(); })
      .def_prop_ro("workspace_bytes",
                   [](const Plan& self) { return self.product().workspace_bytes(); })
      .def_prop_ro("fingerprint", [](const Plan& self) { return self.product().fingerprint(); })
      .def("explain", [](const Plan& self) { return self.product().explain(); });
}

/// Members of plans of a sparse matrix or a pattern.
template <class Plan>
void bind_matrix_plan(nb::class_<Plan>& plan) {
  bind_plan(plan);
  plan.def_prop_ro("shape",
                   [](const Plan& self) {
                     return nb::make_tuple(self.product().rows(), self.product().cols());
                   })
      .def_prop_ro("nnz", [](const Plan& self) { return self.product().nnz(); })
      .def_prop_ro("device_bytes", [](const Plan& self) { return self.product().device_bytes(); });
}

}  // namespace lanky::python
