// lanky::SparsePlan for Python: a sparse matrix times vectors, types known at run time.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <lanky/sparse.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "csr.hpp"
#include "errors.hpp"
#include "linear_operator.hpp"
#include "operands.hpp"
#include "plan_class.hpp"

namespace lanky::python {

namespace {

using namespace nb::literals;

/// A SparsePlan of any types.
class SparseProduct {
 public:
  virtual ~SparseProduct() = default;
  virtual void run(const Stream& stream, const Factor& alpha, const Dense& x, const Factor& beta,
                   const Dense& y, bool vectors, const Workspace* workspace) const = 0;
  virtual void update(const Stream& stream, const Array& values) = 0;
  /// Y = A X by apply(X, Y), and Y = A^H X by adjoint(X, Y), which may be empty.
  using Apply = std::function<void(const Dense& x, const Dense& y)>;
  virtual AnyOperator as_operator(const std::string& name, const Apply& apply,
                                  const Apply& adjoint) const = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  virtual std::int64_t nnz() const = 0;
  virtual std::int64_t workspace_bytes() const = 0;
  virtual std::int64_t device_bytes() const = 0;
  virtual std::string explain() const = 0;
  virtual std::uint64_t fingerprint() const = 0;
  virtual std::string computed_by() const = 0;  // the engine; "" on the CPU, which has one
};

template <class T, class TOut>
class SparseProductOf final : public SparseProduct {
 public:
  SparseProductOf(const Stream& stream, const CsrView<T>& matrix, const SparseOptions& options)
      : plan_(stream, matrix, options) {}

  void run(const Stream& stream, const Factor& alpha, const Dense& x, const Factor& beta,
           const Dense& y, bool vectors, const Workspace* workspace) const override {
    const auto a = scalar<T>(alpha);
    const auto b = scalar<T>(beta);
    if (vectors) {
      const VectorView<const T> from(static_cast<const T*>(x.data), x.rows);
      const VectorView<TOut> to(static_cast<TOut*>(y.data), y.rows);
      if (workspace != nullptr) return plan_.run(stream, a, from, b, to, *workspace);
      return plan_.run(stream, a, from, b, to);
    }
    const auto from = matrix_view<const T>(x);
    const auto to = matrix_view<TOut>(y);
    if (workspace != nullptr) return plan_.run(stream, a, from, b, to, *workspace);
    plan_.run(stream, a, from, b, to);
  }

  void update(const Stream& stream, const Array& values) override {
    plan_.update_values(stream,
                        VectorView<const T>(static_cast<const T*>(values.data), values.size()));
  }

  AnyOperator as_operator(const std::string& name, const Apply& apply,
                          const Apply& adjoint) const override {
    if constexpr (is_half(kDType<T>)) {
      refuse_vector_type(kDType<T>, name.c_str());
    } else {
      LinearOperator<T> made(rows(), cols(), on_views(apply), on_views(adjoint));
      made.set_capturable(true);
      return {name, std::move(made)};
    }
  }

  std::int64_t rows() const override { return plan_.rows(); }
  std::int64_t cols() const override { return plan_.cols(); }
  std::int64_t nnz() const override { return plan_.nnz(); }
  std::int64_t workspace_bytes() const override { return plan_.workspace_bytes(); }
  std::int64_t device_bytes() const override { return plan_.device_bytes(); }
  std::string explain() const override { return plan_.explain(); }
  std::uint64_t fingerprint() const override { return plan_.fingerprint(); }
  std::string computed_by() const override {
    const Engine engine = plan_.info().engine;
    return engine == Engine::automatic ? "" : std::string(to_string(engine));
  }

 private:
  static typename LinearOperator<T>::Apply on_views(const Apply& apply) {
    if (!apply) return {};
    return [apply](const Stream&, MatrixView<const T> x, MatrixView<T> y) {
      apply({const_cast<T*>(x.data), x.rows, x.cols, x.ld, x.layout},
            {y.data, y.rows, y.cols, y.ld, y.layout});
    };
  }

  SparsePlan<T, TOut> plan_;
};

Symmetry symmetry_from(const std::string& text) {
  if (text == "general") return Symmetry::general;
  if (text == "symmetric") return Symmetry::symmetric;
  if (text == "skew_symmetric") return Symmetry::skew_symmetric;
  if (text == "hermitian") return Symmetry::hermitian;
  throw_value_error("symmetry is \"" + text +
                    "\"; known are \"general\", \"symmetric\", \"skew_symmetric\" and "
                    "\"hermitian\"");
}

/// Of a matrix whose type lanky does not multiply.
constexpr const char* kConversion = "lanky.sparse(S, dtype='float64')";

struct SparseSettings {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  SparseOptions options;
};

class SparsePlanOfPython : public PlanOfPython<SparseProduct> {
 public:
  SparsePlanOfPython(nb::handle offsets, nb::handle columns, nb::handle values,
                     const SparseSettings& settings, nb::handle out_dtype, nb::handle device,
                     nb::handle stream) {
    const CsrArrays csr = read_csr_arrays(offsets, columns, values, settings.rows, settings.cols);
    const DType in = dtype_of(csr.values, kConversion);
    const int where = device.is_none() ? csr.values.device : device_index(device);
    require_place(csr.values, where, true);
    state_ = std::make_shared<State>(Lanes(new_lane(where, csr.values, stream)));
    state_->device = where;
    state_->in = in;
    state_->out = result_type(out_dtype, in);
    state_->copies = where >= 0 && csr.values.on_host();
    make(csr, settings.options);
  }

  nb::object multiply(nb::handle x_object, nb::handle out, nb::handle alpha, nb::handle beta,
                      nb::handle stream) const {
    const std::shared_ptr<State> state = alive();
    const Array x = read_array(x_object, "x");
    require_dtype(x, state->in, {"A"});
    require_place(x, state->device, state->copies);
    const std::int64_t rows = state->product->rows();
    if (x.shape[0] != state->product->cols()) {
      throw_value_error("x has shape " + shape_text(x) + ", and A is " + std::to_string(rows) +
                        " x " + std::to_string(state->product->cols()));
    }
    Dense from = dense(x);
    const Factor a = factor_of(alpha, "alpha", state->in, state->device);
    const Factor b = factor_of(beta, "beta", state->in, state->device);
    Result result = result_of(out, x, state->out, x.rank, rows, from.cols, from.layout, b);
    Dense to = dense(result.array, from.layout);
    // A strided vector is a matrix of one column, whose bits are those of a vector.
    const bool vectors = x.rank == 1 && is_contiguous(x) && is_contiguous(result.array);
    const bool staged = x.on_host() && state->device >= 0;
    const std::shared_ptr<Lane> lane = state->lane_of(stream, x);
    state->lanes.read(*lane);
    give(*lane, lane == state->lanes.made_on(), [&](const Stream& on, const Workspace* workspace) {
      const auto run = [&] { state->product->run(on, a, from, b, to, vectors, workspace); };
      if (!staged) return run();
      run_staged(on, size_of(state->in), {&from}, to, size_of(state->out), !result.fresh, run);
    });
    return finish(x, result, *lane, a.foreign || b.foreign);
  }

  nb::object matmul(nb::handle x) const {
    static const nb::object& one = *new nb::object(nb::float_(1.0));
    static const nb::object& zero = *new nb::object(nb::float_(0.0));
    const nb::object none = nb::none();
    return multiply(x, none, one, zero, none);
  }

  /// `times` runs from one vector into another by the plan alone, in a loop of C++.
  void repeat(nb::handle x_object, nb::handle out, std::int64_t times) const {
    const std::shared_ptr<State> state = alive();
    const Array x = read_array(x_object, "x");
    const Array y = read_array(out, "out");
    require_dtype(x, state->in, {"A"});
    require_result_dtype(y, state->out);
    require_writable(y);
    for (const Array* operand : {&x, &y}) {
      require_contiguous(*operand);
      require_place(*operand, state->device, false);
    }
    const Factor one{1.0};
    const Factor zero{0.0};
    const Dense from = dense(x);
    const Dense to = dense(y);
    const std::shared_ptr<Lane> lane = state->lane_of(nb::none(), x);
    give(*lane, lane == state->lanes.made_on(), [&](const Stream& on, const Workspace* workspace) {
      for (std::int64_t i = 0; i < times; ++i)
        state->product->run(on, one, from, zero, to, true, workspace);
    });
  }

  /// The matrix for solvers that run at that place, and wait; `adjoint`: a plan of A^H, or null.
  AnyOperator operator_at(const std::string& name, const SolverPlace& place,
                          const SparsePlanOfPython* adjoint) const {
    const std::shared_ptr<State> state = alive();
    if (state->device != place.device())
      throw_value_error(name + " is on " + lanky::python::place(state->device) +
                        ", and the solver runs on " + lanky::python::place(place.device()));
    return state->product->as_operator(name, product_at(place),
                                       adjoint == nullptr ? nullptr : adjoint->product_at(place));
  }

  void update_values(nb::handle object, nb::handle stream) {
    const std::shared_ptr<State> state = alive();
    const Array values = read_array(object, "values");
    require_dtype(values, state->in, {"A"});
    require_contiguous(values);
    require_place(values, state->device, true);
    if (values.size() != state->product->nnz())
      throw_value_error("values has " + std::to_string(values.size()) + " entries, and A has " +
                        std::to_string(state->product->nnz()));
    const std::shared_ptr<Lane> lane = state->lane_of(stream, values);
    state->lanes.replace(lane);
    give(*lane, true, [&](const Stream& on, const Workspace*) {
      state->product->update(on, values);
      // Their library has no stream by which what it frees waits for this one.
      if (is_foreign(values)) on.synchronize();
    });
  }

 private:
  SparseProduct::Apply product_at(const SolverPlace& place) const {
    const std::shared_ptr<State> state = alive();
    const std::shared_ptr<Lane> lane =
        state->lanes.guest(place.stream(), state->product->workspace_bytes());
    const bool own = lane == state->lanes.made_on();
    return [state, lane, own](const Dense& x, const Dense& y) {
      const std::lock_guard turn(lane->turn);
      state->product->run(lane->stream, Factor{1.0}, x, Factor{0.0}, y, false,
                          own ? nullptr : &lane->workspace);
    };
  }

  void make(const CsrArrays& csr, const SparseOptions& options) {
    const Stream stream = state_->lanes.made_on()->stream;
    visit_product(state_->in, state_->out, [&](auto in, auto out) {
      using T = typename decltype(in)::type;
      using TOut = typename decltype(out)::type;
      const nb::gil_scoped_release released;
      state_->product = std::make_unique<SparseProductOf<T, TOut>>(stream, csr.view<T>(), options);
      // From here on runs may be given to any stream.
      if (state_->device >= 0) stream.synchronize();
    });
  }
};

}  // namespace

void bind_sparse(nb::module_& module) {
  nb::class_<SparsePlanOfPython> plan(module, "SparsePlan",
                                      "A sparse matrix packed for repeated products.");
  bind_matrix_plan(plan);
  plan.def(
          "__init__",
          [](SparsePlanOfPython* self, nb::handle indptr, nb::handle indices, nb::handle data,
             std::int64_t rows, std::int64_t cols, nb::handle out_dtype, nb::handle device,
             nb::handle stream, const std::string& engine, const std::string& math,
             const std::string& symmetry, const std::string& op, bool updates, bool tune,
             std::int64_t expected_columns, const std::string& expected_layout) {
            SparseSettings settings{rows, cols, {}};
            settings.options.engine = engine_from(engine);
            settings.options.math = math_from(math);
            settings.options.symmetry = symmetry_from(symmetry);
            settings.options.op = op_from(op);
            settings.options.updates = updates;
            settings.options.tune = tune;
            settings.options.expected_columns = expected_columns;
            settings.options.expected_layout = layout_from(expected_layout);
            new (self)
                SparsePlanOfPython(indptr, indices, data, settings, out_dtype, device, stream);
          },
          "indptr"_a.none(), "indices"_a.none(), "data"_a.none(), "rows"_a, "cols"_a, nb::kw_only(),
          "out_dtype"_a = nb::none(), "device"_a = nb::none(), "stream"_a = nb::none(),
          "engine"_a = "auto", "math"_a = "ieee", "symmetry"_a = "general", "op"_a = "none",
          "updates"_a = false, "tune"_a = false, "expected_columns"_a = 1,
          "expected_layout"_a = "row")
      .def("multiply", &SparsePlanOfPython::multiply, "x"_a.none(), "out"_a = nb::none(),
           "alpha"_a.none() = 1.0, "beta"_a.none() = 0.0, "stream"_a = nb::none(),
           "alpha op(A) x + beta out.")
      .def("__matmul__", &SparsePlanOfPython::matmul, "x"_a.none())
      .def("repeat", &SparsePlanOfPython::repeat, "x"_a.none(), "out"_a.none(), "times"_a,
           "The same product several times: for python/bench/python_steps.py, which subtracts it.")
      .def("operator_at", &SparsePlanOfPython::operator_at, "name"_a, "place"_a, "adjoint"_a.none(),
           "The matrix for a solver.")
      .def("update_values", &SparsePlanOfPython::update_values, "values"_a.none(),
           "stream"_a = nb::none(), "New numbers for the same pattern, in its order.");
}

}  // namespace lanky::python
