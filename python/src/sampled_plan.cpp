// lanky::SddmmPlan for Python: products of dense rows, sampled at the entries of a sparse pattern.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <lanky/sddmm.hpp>
#include <memory>
#include <string>
#include <type_traits>

#include "bindings.hpp"
#include "csr.hpp"
#include "errors.hpp"
#include "operands.hpp"
#include "plan_class.hpp"

namespace lanky::python {

namespace {

using namespace nb::literals;

/// An SddmmPlan of any types.
class SampledProduct {
 public:
  virtual ~SampledProduct() = default;
  virtual void run(const Stream& stream, const Factor& alpha, const Dense& x, const Dense& y,
                   const Factor& beta, const Dense& values, const Workspace* workspace) const = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  virtual std::int64_t nnz() const = 0;
  virtual std::int64_t workspace_bytes() const = 0;
  virtual std::int64_t device_bytes() const = 0;
  virtual std::string explain() const = 0;
  virtual std::uint64_t fingerprint() const = 0;
  virtual std::string computed_by() const = 0;  // "": there is one way
};

template <class T, class TOut>
class SampledProductOf final : public SampledProduct {
 public:
  SampledProductOf(const Stream& stream, const CsrView<T>& pattern, const SddmmOptions& options)
      : plan_(stream, pattern, options) {}

  void run(const Stream& stream, const Factor& alpha, const Dense& x, const Dense& y,
           const Factor& beta, const Dense& values, const Workspace* workspace) const override {
    const auto left = matrix_view<const T>(x);
    const auto right = matrix_view<const T>(y);
    const VectorView<TOut> to(static_cast<TOut*>(values.data), values.rows);
    const auto factor = scalar<T>(alpha);
    const auto adds = scalar<T>(beta);
    if (workspace != nullptr) return plan_.run(stream, factor, left, right, adds, to, *workspace);
    plan_.run(stream, factor, left, right, adds, to);
  }

  std::int64_t rows() const override { return plan_.rows(); }
  std::int64_t cols() const override { return plan_.cols(); }
  std::int64_t nnz() const override { return plan_.nnz(); }
  std::int64_t workspace_bytes() const override { return plan_.workspace_bytes(); }
  std::int64_t device_bytes() const override { return plan_.device_bytes(); }
  std::string explain() const override { return plan_.explain(); }
  std::uint64_t fingerprint() const override { return plan_.fingerprint(); }
  std::string computed_by() const override { return ""; }

 private:
  SddmmPlan<T, TOut> plan_;
};

class SddmmPlanOfPython : public PlanOfPython<SampledProduct> {
 public:
  SddmmPlanOfPython(nb::handle offsets, nb::handle columns, std::int64_t rows, std::int64_t cols,
                    nb::handle dtype, nb::handle out_dtype, nb::handle device, bool conjugate_y,
                    std::int64_t expected_columns, nb::handle stream) {
    const CsrArrays csr = read_csr_arrays(offsets, columns, nb::none(), rows, cols);
    const int where = device.is_none() ? csr.offsets.device : device_index(device);
    require_place(csr.offsets, where, true);
    state_ = std::make_shared<State>(Lanes(new_lane(where, csr.offsets, stream)));
    state_->device = where;
    state_->in = dtype_from(dtype);
    state_->out = result_type(out_dtype, state_->in);
    state_->copies = where >= 0 && csr.offsets.on_host();
    make(csr, {.conjugate_y = conjugate_y, .expected_columns = expected_columns});
  }

  nb::object execute(nb::handle x_object, nb::handle y_object, nb::handle out, nb::handle alpha,
                     nb::handle beta, nb::handle stream) const {
    const std::shared_ptr<State> state = alive();
    const Array x = read_operand(x_object, "x", state->product->rows(), "rows");
    const Array y = read_operand(y_object, "y", state->product->cols(), "columns");
    Dense left = dense(x);
    Dense right = dense(y);
    if (x.device != y.device)
      throw_value_error("y is on " + place(y.device) + ", and x on " + place(x.device));
    if (left.cols != right.cols)
      throw_value_error("x has shape " + shape_text(x) + ", and y " + shape_text(y) +
                        "; both must have as many columns");
    const Factor a = factor_of(alpha, "alpha", state->in, state->device);
    const Factor b = factor_of(beta, "beta", state->in, state->device);
    Result result = result_of(out, x, state->out, 1, state->product->nnz(), 1, Layout::row, b);
    require_contiguous(result.array);
    Dense values{result.array.data, state->product->nnz(), 1, 1, Layout::row};
    const bool staged = x.on_host() && state->device >= 0;
    const std::shared_ptr<Lane> lane = state->lane_of(stream, x);
    give(*lane, lane == state->lanes.made_on(), [&](const Stream& on, const Workspace* workspace) {
      const auto run = [&] { state->product->run(on, a, left, right, b, values, workspace); };
      if (!staged) return run();
      run_staged(on, size_of(state->in), {&left, &right}, values, size_of(state->out),
                 !result.fresh, run);
    });
    return finish(x, result, *lane, is_foreign(y) || a.foreign || b.foreign);
  }

 private:
  Array read_operand(nb::handle object, const char* name, std::int64_t rows,
                     const char* what) const {
    Array array = read_array(object, name);
    require_dtype(array, state_->in, {"the plan"});
    require_place(array, state_->device, state_->copies);
    if (array.rank != 2 || array.shape[0] != rows)
      throw_value_error(std::string(name) + " has shape " + shape_text(array) +
                        ", and the pattern has " + std::to_string(rows) + " " + what +
                        ": a matrix of as many rows is needed");
    return array;
  }

  void make(const CsrArrays& csr, const SddmmOptions& options) {
    const Stream stream = state_->lanes.made_on()->stream;
    visit_product(state_->in, state_->out, [&](auto in, auto out) {
      using T = typename decltype(in)::type;
      using TOut = typename decltype(out)::type;
      const nb::gil_scoped_release released;
      state_->product = std::make_unique<SampledProductOf<T, TOut>>(stream, csr.view<T>(), options);
      if (state_->device >= 0) stream.synchronize();
    });
  }
};

}  // namespace

void bind_sampled(nb::module_& module) {
  nb::class_<SddmmPlanOfPython> plan(module, "SddmmPlan", "A sparse pattern for sampled products.");
  bind_matrix_plan(plan);
  plan.def(nb::init<nb::handle, nb::handle, std::int64_t, std::int64_t, nb::handle, nb::handle,
                    nb::handle, bool, std::int64_t, nb::handle>(),
           "indptr"_a.none(), "indices"_a.none(), "rows"_a, "cols"_a, "dtype"_a.none(),
           nb::kw_only(), "out_dtype"_a = nb::none(), "device"_a = nb::none(),
           "conjugate_y"_a = false, "expected_columns"_a = 0, "stream"_a = nb::none())
      .def("execute", &SddmmPlanOfPython::execute, "x"_a.none(), "y"_a.none(), "out"_a = nb::none(),
           "alpha"_a.none() = 1.0, "beta"_a.none() = 0.0, "stream"_a = nb::none(),
           "alpha (X Y^T at the entries of the pattern) + beta out.");
}

}  // namespace lanky::python
