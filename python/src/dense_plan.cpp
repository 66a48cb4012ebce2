// lanky::GemmPlan for Python, and dense products at once by plans that are kept for the next such
// product.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <lanky/dense.hpp>
#include <list>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bindings.hpp"
#include "errors.hpp"
#include "operands.hpp"
#include "plan_class.hpp"

namespace lanky::python {

namespace {

using namespace nb::literals;

/// A GemmPlan of any types.
class DenseProduct {
 public:
  virtual ~DenseProduct() = default;
  virtual void run(const Stream& stream, const Factor& alpha, const Dense& a, const Dense& b,
                   const Factor& beta, const Dense& c, const Workspace* workspace) const = 0;
  virtual std::int64_t workspace_bytes() const = 0;
  virtual std::string explain() const = 0;
  virtual std::uint64_t fingerprint() const = 0;
  virtual std::string computed_by() const = 0;  // the kernel; "" where the result is empty
};

template <class T, class TOut>
class DenseProductOf final : public DenseProduct {
 public:
  DenseProductOf(const Stream& stream, const GemmShape& shape, const GemmOptions& options)
      : plan_(stream, shape, options) {}

  void run(const Stream& stream, const Factor& alpha, const Dense& a, const Dense& b,
           const Factor& beta, const Dense& c, const Workspace* workspace) const override {
    const auto first = matrix_view<const T>(a);
    const auto second = matrix_view<const T>(b);
    const auto result = matrix_view<TOut>(c);
    const auto factor = scalar<GemmAccumulator<T, TOut>>(alpha);
    const auto adds = scalar<GemmAccumulator<T, TOut>>(beta);
    if (workspace != nullptr)
      return plan_.run(stream, factor, first, second, adds, result, *workspace);
    plan_.run(stream, factor, first, second, adds, result);
  }

  std::int64_t workspace_bytes() const override { return plan_.workspace_bytes(); }
  std::string explain() const override { return plan_.explain(); }
  std::uint64_t fingerprint() const override { return plan_.fingerprint(); }
  std::string computed_by() const override {
    const GemmInfo info = plan_.info();
    return info.routes.empty() ? "" : info.routes.front().kernel;
  }

 private:
  GemmPlan<T, TOut> plan_;
};

/// The operand as a matrix of that layout: as it stands, or its transpose where it stands in the
/// other one.
Dense in_layout(const Dense& operand, Layout layout) {
  if (operand.layout == layout) return operand;
  return {operand.data, operand.cols, operand.rows, operand.ld, layout};
}

/// op that makes op(stored) the operand, or its adjoint.
Op op_of(const Array& array, const Dense& operand, Layout layout, bool adjoint) {
  if (operand.layout == layout) return adjoint ? Op::conj_trans : Op::none;
  if (!adjoint) return Op::trans;
  if (!is_complex(dtype_of(array))) return Op::none;
  throw_value_error(std::string(array.name) +
                    " is complex, and stands by rows where out stands by columns, or the other "
                    "way round; both must stand alike where its adjoint is multiplied");
}

/// What tells one plan from another.
struct Shape {
  DType in = DType::f64;
  DType out = DType::f64;
  int device = -1;
  Math math = Math::ieee;
  GemmShape shape;

  auto key() const {
    return std::tie(in, out, device, math, shape.m, shape.n, shape.k, shape.op_a, shape.op_b,
                    shape.layout, shape.lda, shape.ldb, shape.ldc);
  }
};

using State = PlanState<DenseProduct>;

std::shared_ptr<State> make_state(const Shape& what, bool tune, const Array& like,
                                  nb::handle stream) {
  auto state = std::make_shared<State>(Lanes(new_lane(what.device, like, stream)));
  state->device = what.device;
  state->in = what.in;
  state->out = what.out;
  state->copies = what.device >= 0 && like.on_host();
  const Stream on = state->lanes.made_on()->stream;
  visit_dense_product(what.in, what.out, [&](auto in, auto out) {
    using T = typename decltype(in)::type;
    using TOut = typename decltype(out)::type;
    const nb::gil_scoped_release released;
    GemmOptions options;
    options.math = what.math;
    options.tune = tune;
    state->product = std::make_unique<DenseProductOf<T, TOut>>(on, what.shape, options);
    if (what.device >= 0) on.synchronize();
  });
  return state;
}

/// The operands of one product, in the form that a plan takes.
struct Operands {
  Array a;
  Array b;
  Dense first;
  Dense second;
  Result result;
  Dense target;
  Factor alpha;
  Factor beta;
  Shape what;
};

/// Parameters of Python's function, as messages name them.
struct OperandNames {
  const char* a = "a";
  const char* b = "b";
};

/// Of two letters, "qr".
OperandNames operand_names(const std::string& letters) {
  if (letters == "qq") return {"q", "q"};
  if (letters == "qr") return {"q", "r"};
  return {};
}

/// What a caller asks for.
struct Request {
  nb::handle a;
  nb::handle b;
  nb::handle out;
  nb::handle alpha;
  nb::handle beta;
  nb::handle out_dtype;
  bool adjoint;  // A^H B in place of A B
  int device;    // of host arrays: -1, or where they are copied to
  Math math;
  OperandNames names;
};

Array read_matrix(nb::handle object, const char* name) {
  Array array = read_array(object, name);
  if (array.rank != 2)
    throw_value_error(std::string(name) + " has shape " + shape_text(array) +
                      "; a matrix of 2 dimensions is needed");
  return array;
}

Operands operands_of(const Request& request) {
  Array a = read_matrix(request.a, request.names.a);
  Array b = read_matrix(request.b, request.names.b);
  const DType in = dtype_of(a);
  require_dtype(b, in, {a.name, &a});
  if (a.device != b.device)
    throw_value_error(std::string(b.name) + " is on " + place(b.device) + ", and " + a.name +
                      " on " + place(a.device));
  const Dense first = dense(a);
  const std::int64_t m = request.adjoint ? first.cols : first.rows;
  const std::int64_t k = request.adjoint ? first.rows : first.cols;
  // The larger operand stands as it is; the other one and the result follow it.
  const bool by_a = a.size() >= b.size();
  Dense second = dense(b, by_a ? first.layout : Layout::row);
  if (second.rows != k)
    throw_value_error(std::string(a.name) + " has shape " + shape_text(a) +
                      (request.adjoint ? " (its adjoint counts)" : "") + ", and " + b.name + " " +
                      shape_text(b) + ": " + std::to_string(k) + " and " +
                      std::to_string(second.rows) + " must be equal");
  const std::int64_t n = second.cols;
  const DType out_type = result_type(request.out_dtype, in);
  const int device = a.on_host() ? request.device : a.device;
  const DType factors = has_wide_sums(in, out_type) ? out_type : in;
  const Factor alpha = factor_of(request.alpha, "alpha", factors, device);
  const Factor beta = factor_of(request.beta, "beta", factors, device);
  const Layout wanted = by_a ? first.layout : second.layout;
  Result result = result_of(request.out, a, out_type, 2, m, n, wanted, beta);
  const Dense target = dense(result.array, wanted);
  const Layout layout = target.layout;
  Shape what{in, out_type, device, request.math, {}};
  what.shape.m = m;
  what.shape.n = n;
  what.shape.k = k;
  what.shape.layout = layout;
  what.shape.op_a = op_of(a, first, layout, request.adjoint);
  what.shape.op_b = op_of(b, second, layout, false);
  const Dense stored_a = in_layout(first, layout);
  const Dense stored_b = in_layout(second, layout);
  what.shape.lda = stored_a.ld;
  what.shape.ldb = stored_b.ld;
  what.shape.ldc = target.ld;
  return {std::move(a), std::move(b), stored_a, stored_b, std::move(result),
          target,       alpha,        beta,     what};
}

nb::object execute(const std::shared_ptr<State>& state, Operands& operands, nb::handle stream) {
  const Array& a = operands.a;
  require_place(a, state->device, state->copies);
  const bool staged = a.on_host() && state->device >= 0;
  const std::shared_ptr<Lane> lane = state->lane_of(stream, a);
  give(*lane, lane == state->lanes.made_on(), [&](const Stream& on, const Workspace* workspace) {
    const auto run = [&] {
      state->product->run(on, operands.alpha, operands.first, operands.second, operands.beta,
                          operands.target, workspace);
    };
    if (!staged) return run();
    // A product of a matrix with itself goes on being one: its kernels read it once.
    const bool same = operands.first.data == operands.second.data;
    std::vector<Dense*> copied{&operands.first};
    if (!same) copied.push_back(&operands.second);
    run_staged(on, size_of(state->in), copied, operands.target, size_of(state->out),
               !operands.result.fresh, [&] {
                 if (same) operands.second.data = operands.first.data;
                 run();
               });
  });
  return finish(a, operands.result, *lane,
                is_foreign(operands.b) || operands.alpha.foreign || operands.beta.foreign);
}

/// The plans of the last products, newest first; with the GIL held.
class PlanCache {
 public:
  std::shared_ptr<State> find(const Shape& what) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first.key() != what.key()) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return entry->second;
    }
    return nullptr;
  }

  void keep(const Shape& what, const std::shared_ptr<State>& state) {
    entries_.emplace_front(what, state);
    if (entries_.size() > kMost) entries_.pop_back();
  }

 private:
  static constexpr std::size_t kMost = 32;

  std::list<std::pair<Shape, std::shared_ptr<State>>> entries_;
};

int host_device(nb::handle device) {
  return device.is_none() ? -1 : device_index(device);
}

nb::object gemm(nb::handle a, nb::handle b, nb::handle out, nb::handle alpha, nb::handle beta,
                nb::handle out_dtype, bool adjoint, const std::string& math, nb::handle device,
                nb::handle stream, const std::string& names) {
  static PlanCache& cache = *new PlanCache;  // leaked: no plan is freed after CUDA has ended
  Operands operands = operands_of({a, b, out, alpha, beta, out_dtype, adjoint, host_device(device),
                                   math_from(math), operand_names(names)});
  if (operands.what.device >= 0) require_cuda_alive();
  std::shared_ptr<State> state = cache.find(operands.what);
  if (state == nullptr) {
    state = make_state(operands.what, false, operands.a, stream);
    cache.keep(operands.what, state);
  }
  state->copies = true;  // the request says where host arrays go
  return execute(state, operands, stream);
}

class GemmPlanOfPython : public PlanOfPython<DenseProduct> {
 public:
  GemmPlanOfPython(nb::handle a, nb::handle b, nb::handle out, nb::handle out_dtype, bool adjoint,
                   const std::string& math, bool tune, nb::handle device, nb::handle stream) {
    const nb::float_ one(1.0);
    const nb::float_ zero(0.0);
    math_ = math_from(math);
    device_ = host_device(device);
    adjoint_ = adjoint;
    const Operands operands =
        operands_of({a, b, out, one, zero, out_dtype, adjoint, device_, math_, {}});
    what_ = operands.what;
    state_ = make_state(what_, tune, operands.a, stream);
  }

  nb::object execute(nb::handle a, nb::handle b, nb::handle out, nb::handle alpha, nb::handle beta,
                     nb::handle stream) const {
    const std::shared_ptr<State> state = alive();
    const nb::str out_dtype(numpy_name(what_.out));
    Operands operands =
        operands_of({a, b, out, alpha, beta, out_dtype, adjoint_, device_, math_, {}});
    require_same(operands.what);
    return python::execute(state, operands, stream);
  }

  nb::tuple shape() const { return nb::make_tuple(what_.shape.m, what_.shape.n, what_.shape.k); }

 private:
  static std::string text(const Shape& what) {
    const GemmShape& shape = what.shape;
    const auto op = [](Op value) {
      return value == Op::none ? "n" : value == Op::trans ? "t" : "h";
    };
    return std::string(numpy_name(what.in)) + " on " + place(what.device) + ", m " +
           std::to_string(shape.m) + ", n " + std::to_string(shape.n) + ", k " +
           std::to_string(shape.k) + ", " +
           (shape.layout == Layout::row ? "by rows" : "by columns") + ", " + op(shape.op_a) +
           op(shape.op_b) + ", leading dimensions " + std::to_string(shape.lda) + ", " +
           std::to_string(shape.ldb) + " and " + std::to_string(shape.ldc);
  }

  void require_same(const Shape& what) const {
    if (what.key() != what_.key())
      throw_value_error("the plan is for " + text(what_) + "; these operands are " + text(what));
  }

  Shape what_;
  Math math_ = Math::ieee;
  int device_ = -1;
  bool adjoint_ = false;
};

}  // namespace

void bind_dense(nb::module_& module) {
  nb::class_<GemmPlanOfPython> plan(module, "GemmPlan", "A dense product of fixed extents.");
  bind_plan(plan);
  plan.def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, bool, const std::string&, bool,
                    nb::handle, nb::handle>(),
           "a"_a.none(), "b"_a.none(), nb::kw_only(), "out"_a = nb::none(),
           "out_dtype"_a = nb::none(), "adjoint"_a = false, "math"_a = "ieee", "tune"_a = false,
           "device"_a = nb::none(), "stream"_a = nb::none())
      .def("execute", &GemmPlanOfPython::execute, "a"_a.none(), "b"_a.none(), "out"_a = nb::none(),
           "alpha"_a.none() = 1.0, "beta"_a.none() = 0.0, "stream"_a = nb::none(),
           "alpha op(A) B + beta out.")
      .def_prop_ro("shape", &GemmPlanOfPython::shape, "m, n and k.");
  module.def("gemm", &gemm, "a"_a.none(), "b"_a.none(), "out"_a = nb::none(), nb::kw_only(),
             "alpha"_a.none() = 1.0, "beta"_a.none() = 0.0, "out_dtype"_a = nb::none(),
             "adjoint"_a = false, "math"_a = "ieee", "device"_a = nb::none(),
             "stream"_a = nb::none(), "names"_a = "ab", "alpha op(A) B + beta out.");
}

}  // namespace lanky::python
