// Sparse products: plans of any types behind one handle, and the one-liners.
#include <lanky/lanky.h>

#include <cstdint>
#include <lanky/sparse.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "capi/arguments.hpp"
#include "capi/handles.hpp"
#include "capi/solver.hpp"
#include "capi/structs.hpp"

/// A SparsePlan of types that are known at run time.
struct lanky_sparse_plan {
  virtual ~lanky_sparse_plan() = default;
  virtual void run(const lanky::Stream& stream, const void* alpha, const lanky_vector_view* x,
                   const void* beta, const lanky_vector_view* y,
                   const capi::RunOptions& options) const = 0;
  virtual void run_matrix(const lanky::Stream& stream, const void* alpha,
                          const lanky_matrix_view* x, const void* beta, const lanky_matrix_view* y,
                          const capi::RunOptions& options) const = 0;
  virtual void update_values(const lanky::Stream& stream, const lanky_vector_view* values) = 0;
  virtual std::int64_t rows() const noexcept = 0;
  virtual std::int64_t cols() const noexcept = 0;
  virtual std::int64_t nnz() const noexcept = 0;
  virtual lanky::Device device() const noexcept = 0;
  virtual std::int64_t workspace_bytes() const noexcept = 0;
  virtual std::int64_t device_bytes() const noexcept = 0;
  virtual std::uint64_t fingerprint() const = 0;
  virtual lanky::SparseInfo info() const = 0;
  virtual std::string explain() const = 0;
  /// Throws Error: unsupported (types of no solver), invalid_argument (an adjoint of other types).
  virtual capi::AnyOperator as_operator(const lanky_sparse_plan* adjoint) const = 0;
};

namespace lanky::capi {

namespace {

lanky_sparse_options sparse_defaults() noexcept {
  const SparseOptions defaults;
  lanky_sparse_options options = {};
  options.expected_columns = defaults.expected_columns;
  options.expected_layout = static_cast<lanky_layout>(defaults.expected_layout);
  return options;
}

SparseOptions to_options(const lanky_sparse_options& options, Allocator* allocator) {
  check_reserved(options.reserved, "lanky_sparse_options");
  return {.engine = to_engine(options.engine),
          .math = to_math(options.math),
          .symmetry = to_symmetry(options.symmetry),
          .op = to_op(options.op, "op"),
          .updates = options.updates != 0,
          .tune = options.tune != 0,
          .expected_columns = options.expected_columns,
          .expected_layout = to_layout(options.expected_layout, "expected columns"),
          .allocator = allocator};
}

template <class T, class TOut>
class SparsePlanOf final : public lanky_sparse_plan {
 public:
  SparsePlanOf(const Stream& stream, const lanky_csr_view* a, const lanky_sparse_options& options)
      : allocator_(to_allocator(options.allocator)),
        plan_(stream, to_csr<T>(a, "a"), to_options(options, allocator_.get())) {}

  void run(const Stream& stream, const void* alpha, const lanky_vector_view* x, const void* beta,
           const lanky_vector_view* y, const RunOptions& options) const override {
    run_views(stream, alpha, to_vector<const T>(x, "x"), beta, to_vector<TOut>(y, "y"), options);
  }
  void run_matrix(const Stream& stream, const void* alpha, const lanky_matrix_view* x,
                  const void* beta, const lanky_matrix_view* y,
                  const RunOptions& options) const override {
    run_views(stream, alpha, to_matrix<const T>(x, "x"), beta, to_matrix<TOut>(y, "y"), options);
  }
  void update_values(const Stream& stream, const lanky_vector_view* values) override {
    plan_.update_values(stream, to_vector<const T>(values, "values"));
  }
  std::int64_t rows() const noexcept override { return plan_.rows(); }
  std::int64_t cols() const noexcept override { return plan_.cols(); }
  std::int64_t nnz() const noexcept override { return plan_.nnz(); }
  Device device() const noexcept override { return plan_.device(); }
  std::int64_t workspace_bytes() const noexcept override { return plan_.workspace_bytes(); }
  std::int64_t device_bytes() const noexcept override { return plan_.device_bytes(); }
  std::uint64_t fingerprint() const override { return plan_.fingerprint(); }
  SparseInfo info() const override { return plan_.info(); }
  std::string explain() const override { return plan_.explain(); }
  AnyOperator as_operator(const lanky_sparse_plan* adjoint) const override {
    if constexpr (is_half(kDType<T>)) {
      refuse_half(kDType<T>);
    } else {
      if (adjoint == nullptr) return LinearOperator<T>(plan_);
      const auto* const same = dynamic_cast<const SparsePlanOf*>(adjoint);
      if (same == nullptr) {
        throw Error(ErrorCode::invalid_argument, "the plan of the adjoint is not of the type " +
                                                     std::string(to_string(kDType<T>)) +
                                                     ", which the plan has");
      }
      return LinearOperator<T>(plan_, same->plan_);
    }
  }

 private:
  template <class X, class Y>
  void run_views(const Stream& stream, const void* alpha, const X& x, const void* beta, const Y& y,
                 const RunOptions& options) const {
    const auto a = to_scalar<T>(alpha, options.alpha_on_device, 1);
    const auto b = to_scalar<T>(beta, options.beta_on_device, 0);
    if (options.lends) {
      plan_.run(stream, a, x, b, y, options.workspace);
    } else {
      plan_.run(stream, a, x, b, y);
    }
  }

  std::unique_ptr<Allocator> allocator_;  // outlives the plan
  SparsePlan<T, TOut> plan_;
};

template <class Value, class F>
Value of_sparse_plan(const lanky_sparse_plan* plan, Value of_null, F&& f) noexcept {
  return property(plan, "plan", of_null, f);
}

/// An operator that owns its plans.
lanky_status make_operator_handle(const lanky_stream* stream, lanky_dtype type,
                                  const lanky_csr_view* a, std::int64_t columns,
                                  const lanky_sparse_options* options, bool with_adjoint,
                                  lanky_linear_operator** op) noexcept {
  return make_handle(op, "op", [&] {
    const lanky_sparse_options given = read_struct(options, sparse_defaults());
    const Stream& on = require(stream, "stream").stream;
    std::unique_ptr<Allocator> allocator = to_allocator(given.allocator);
    const SparseOptions chosen = to_options(given, allocator.get());
    return visit_solver_type(type, [&]<class T>(std::type_identity<T>) {
      const CsrView<T> view = to_csr<T>(a, "a");
      return make_operator_of(with_adjoint ? make_operator_with_adjoint(on, view, columns, chosen)
                                           : make_operator(on, view, columns, chosen),
                              std::move(allocator));
    });
  });
}

lanky_sparse_info from_info(const SparseInfo& info) noexcept {
  lanky_sparse_info result = {};
  result.engine = static_cast<lanky_engine>(info.engine);
  result.math = static_cast<lanky_math>(info.math);
  result.padding = info.padding;
  result.predicted_us = info.predicted_us;
  result.trial_count = static_cast<std::int64_t>(info.trials.size());
  result.kept = static_cast<std::int64_t>(info.kept);
  return result;
}

lanky_sparse_trial from_trial(const SparseTrial& trial) {
  lanky_sparse_trial result = {};
  copy_name(result.shape, trial.shape);
  result.engine = static_cast<lanky_engine>(trial.engine);
  result.math = static_cast<lanky_math>(trial.math);
  result.ratio = trial.ratio;
  return result;
}

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_sparse_options_init(lanky_sparse_options* options, size_t size) {
  return capi::init_struct(options, size, capi::sparse_defaults());
}

lanky_status lanky_sparse_plan_create(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                                      const lanky_csr_view* a, const lanky_sparse_options* options,
                                      lanky_sparse_plan** plan) {
  return capi::make_handle(plan, "plan", [&] {
    const lanky_sparse_options given = capi::read_struct(options, capi::sparse_defaults());
    return capi::visit_types(
        type, out,
        [&]<class T, class TOut>(std::type_identity<T>,
                                 std::type_identity<TOut>) -> std::unique_ptr<lanky_sparse_plan> {
          return std::make_unique<capi::SparsePlanOf<T, TOut>>(
              capi::require(stream, "stream").stream, a, given);
        });
  });
}

void lanky_sparse_plan_destroy(lanky_sparse_plan* plan) {
  delete plan;
}

lanky_status lanky_sparse_plan_run(const lanky_sparse_plan* plan, const lanky_stream* stream,
                                   const void* alpha, const lanky_vector_view* x, const void* beta,
                                   const lanky_vector_view* y, const lanky_run_options* options) {
  return capi::guarded([&] {
    capi::require(plan, "plan")
        .run(capi::require(stream, "stream").stream, alpha, x, beta, y, capi::RunOptions(options));
  });
}

lanky_status lanky_sparse_plan_run_matrix(const lanky_sparse_plan* plan, const lanky_stream* stream,
                                          const void* alpha, const lanky_matrix_view* x,
                                          const void* beta, const lanky_matrix_view* y,
                                          const lanky_run_options* options) {
  return capi::guarded([&] {
    capi::require(plan, "plan")
        .run_matrix(capi::require(stream, "stream").stream, alpha, x, beta, y,
                    capi::RunOptions(options));
  });
}

lanky_status lanky_sparse_plan_update_values(lanky_sparse_plan* plan, const lanky_stream* stream,
                                             const lanky_vector_view* values) {
  return capi::guarded([&] {
    capi::require(plan, "plan").update_values(capi::require(stream, "stream").stream, values);
  });
}

int64_t lanky_sparse_plan_rows(const lanky_sparse_plan* plan) {
  return capi::of_sparse_plan(plan, std::int64_t{-1}, [](const auto& p) { return p.rows(); });
}

int64_t lanky_sparse_plan_cols(const lanky_sparse_plan* plan) {
  return capi::of_sparse_plan(plan, std::int64_t{-1}, [](const auto& p) { return p.cols(); });
}

int64_t lanky_sparse_plan_nnz(const lanky_sparse_plan* plan) {
  return capi::of_sparse_plan(plan, std::int64_t{-1}, [](const auto& p) { return p.nnz(); });
}

lanky_device lanky_sparse_plan_device(const lanky_sparse_plan* plan) {
  return capi::of_sparse_plan(plan, capi::kNoDevice,
                              [](const auto& p) { return capi::from_device(p.device()); });
}

int64_t lanky_sparse_plan_workspace_bytes(const lanky_sparse_plan* plan) {
  return capi::of_sparse_plan(plan, std::int64_t{-1},
                              [](const auto& p) { return p.workspace_bytes(); });
}

int64_t lanky_sparse_plan_device_bytes(const lanky_sparse_plan* plan) {
  return capi::of_sparse_plan(plan, std::int64_t{-1},
                              [](const auto& p) { return p.device_bytes(); });
}

uint64_t lanky_sparse_plan_fingerprint(const lanky_sparse_plan* plan) {
  return capi::of_sparse_plan(plan, std::uint64_t{0},
                              [](const auto& p) { return p.fingerprint(); });
}

lanky_status lanky_sparse_plan_info(const lanky_sparse_plan* plan, lanky_sparse_info* info,
                                    size_t size) {
  return capi::make_struct(info, size,
                           [&] { return capi::from_info(capi::require(plan, "plan").info()); });
}

lanky_status lanky_sparse_plan_trial(const lanky_sparse_plan* plan, int64_t index,
                                     lanky_sparse_trial* trial, size_t size) {
  return capi::make_struct(trial, size, [&] {
    const lanky::SparseInfo info = capi::require(plan, "plan").info();
    capi::check_index(index, info.trials.size(), "trials");
    return capi::from_trial(info.trials[static_cast<std::size_t>(index)]);
  });
}

lanky_status lanky_sparse_plan_explain(const lanky_sparse_plan* plan, char* text, size_t size,
                                       size_t* length) {
  return capi::make_text(text, size, length, [&] { return capi::require(plan, "plan").explain(); });
}

lanky_status lanky_linear_operator_from_plan(const lanky_sparse_plan* plan,
                                             const lanky_sparse_plan* adjoint,
                                             lanky_linear_operator** op) {
  return capi::make_handle(op, "op", [&] {
    return capi::make_operator_of(capi::require(plan, "plan").as_operator(adjoint));
  });
}

lanky_status lanky_make_operator(const lanky_stream* stream, lanky_dtype type,
                                 const lanky_csr_view* a, int64_t columns,
                                 const lanky_sparse_options* options, lanky_linear_operator** op) {
  return capi::make_operator_handle(stream, type, a, columns, options, false, op);
}

lanky_status lanky_make_operator_with_adjoint(const lanky_stream* stream, lanky_dtype type,
                                              const lanky_csr_view* a, int64_t columns,
                                              const lanky_sparse_options* options,
                                              lanky_linear_operator** op) {
  return capi::make_operator_handle(stream, type, a, columns, options, true, op);
}

lanky_status lanky_spmv(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                        const void* alpha, const lanky_csr_view* a, const lanky_vector_view* x,
                        const void* beta, const lanky_vector_view* y) {
  return capi::guarded([&] {
    capi::visit_types(
        type, out, [&]<class T, class TOut>(std::type_identity<T>, std::type_identity<TOut>) {
          lanky::spmv<T, TOut>(capi::require(stream, "stream").stream,
                               capi::to_host_scalar<T>(alpha, 1), capi::to_csr<T>(a, "a"),
                               capi::to_vector<const T>(x, "x"), capi::to_host_scalar<T>(beta, 0),
                               capi::to_vector<TOut>(y, "y"));
        });
  });
}

lanky_status lanky_spmm(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                        const void* alpha, const lanky_csr_view* a, const lanky_matrix_view* x,
                        const void* beta, const lanky_matrix_view* y) {
  return capi::guarded([&] {
    capi::visit_types(
        type, out, [&]<class T, class TOut>(std::type_identity<T>, std::type_identity<TOut>) {
          lanky::spmm<T, TOut>(capi::require(stream, "stream").stream,
                               capi::to_host_scalar<T>(alpha, 1), capi::to_csr<T>(a, "a"),
                               capi::to_matrix<const T>(x, "x"), capi::to_host_scalar<T>(beta, 0),
                               capi::to_matrix<TOut>(y, "y"));
        });
  });
}
