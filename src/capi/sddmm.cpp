// Sampled products: plans of any types behind one handle, and the one-liner.
#include <lanky/lanky.h>

#include <cstdint>
#include <lanky/sddmm.hpp>
#include <memory>
#include <string>
#include <type_traits>

#include "capi/arguments.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"

/// An SddmmPlan of types that are known at run time.
struct lanky_sddmm_plan {
  virtual ~lanky_sddmm_plan() = default;
  virtual void run(const lanky::Stream& stream, const void* alpha, const lanky_matrix_view* x,
                   const lanky_matrix_view* y, const void* beta, const lanky_vector_view* values,
                   const capi::RunOptions& options) const = 0;
  virtual std::int64_t rows() const noexcept = 0;
  virtual std::int64_t cols() const noexcept = 0;
  virtual std::int64_t nnz() const noexcept = 0;
  virtual lanky::Device device() const noexcept = 0;
  virtual std::int64_t workspace_bytes() const noexcept = 0;
  virtual std::int64_t device_bytes() const noexcept = 0;
  virtual std::uint64_t fingerprint() const = 0;
  virtual std::string explain() const = 0;
};

namespace lanky::capi {

namespace {

SddmmOptions to_options(const lanky_sddmm_options& options, Allocator* allocator) {
  check_reserved(options.reserved, "lanky_sddmm_options");
  return {.conjugate_y = options.conjugate_y != 0,
          .expected_columns = options.expected_columns,
          .allocator = allocator};
}

template <class T, class TOut>
class SddmmPlanOf final : public lanky_sddmm_plan {
 public:
  SddmmPlanOf(const Stream& stream, const lanky_csr_view* a, const lanky_sddmm_options& options)
      : allocator_(to_allocator(options.allocator)),
        plan_(stream, to_csr<T>(a, "a"), to_options(options, allocator_.get())) {}

  void run(const Stream& stream, const void* alpha, const lanky_matrix_view* x,
           const lanky_matrix_view* y, const void* beta, const lanky_vector_view* values,
           const RunOptions& options) const override {
    const auto a = to_scalar<T>(alpha, options.alpha_on_device, 1);
    const auto b = to_scalar<T>(beta, options.beta_on_device, 0);
    const auto left = to_matrix<const T>(x, "x");
    const auto right = to_matrix<const T>(y, "y");
    const auto result = to_vector<TOut>(values, "values");
    if (options.lends) {
      plan_.run(stream, a, left, right, b, result, options.workspace);
    } else {
      plan_.run(stream, a, left, right, b, result);
    }
  }
  std::int64_t rows() const noexcept override { return plan_.rows(); }
  std::int64_t cols() const noexcept override { return plan_.cols(); }
  std::int64_t nnz() const noexcept override { return plan_.nnz(); }
  Device device() const noexcept override { return plan_.device(); }
  std::int64_t workspace_bytes() const noexcept override { return plan_.workspace_bytes(); }
  std::int64_t device_bytes() const noexcept override { return plan_.device_bytes(); }
  std::uint64_t fingerprint() const override { return plan_.fingerprint(); }
  std::string explain() const override { return plan_.explain(); }

 private:
  std::unique_ptr<Allocator> allocator_;  // outlives the plan
  SddmmPlan<T, TOut> plan_;
};

template <class Value, class F>
Value of_sddmm_plan(const lanky_sddmm_plan* plan, Value of_null, F&& f) noexcept {
  return property(plan, "plan", of_null, f);
}

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_sddmm_options_init(lanky_sddmm_options* options, size_t size) {
  return capi::init_struct(options, size, {});
}

lanky_status lanky_sddmm_plan_create(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                                     const lanky_csr_view* a, const lanky_sddmm_options* options,
                                     lanky_sddmm_plan** plan) {
  return capi::make_handle(plan, "plan", [&] {
    const lanky_sddmm_options given = capi::read_struct(options, lanky_sddmm_options{});
    return capi::visit_types(
        type, out,
        [&]<class T, class TOut>(std::type_identity<T>,
                                 std::type_identity<TOut>) -> std::unique_ptr<lanky_sddmm_plan> {
          return std::make_unique<capi::SddmmPlanOf<T, TOut>>(
              capi::require(stream, "stream").stream, a, given);
        });
  });
}

void lanky_sddmm_plan_destroy(lanky_sddmm_plan* plan) {
  delete plan;
}

lanky_status lanky_sddmm_plan_run(const lanky_sddmm_plan* plan, const lanky_stream* stream,
                                  const void* alpha, const lanky_matrix_view* x,
                                  const lanky_matrix_view* y, const void* beta,
                                  const lanky_vector_view* values,
                                  const lanky_run_options* options) {
  return capi::guarded([&] {
    capi::require(plan, "plan")
        .run(capi::require(stream, "stream").stream, alpha, x, y, beta, values,
             capi::RunOptions(options));
  });
}

int64_t lanky_sddmm_plan_rows(const lanky_sddmm_plan* plan) {
  return capi::of_sddmm_plan(plan, std::int64_t{-1}, [](const auto& p) { return p.rows(); });
}

int64_t lanky_sddmm_plan_cols(const lanky_sddmm_plan* plan) {
  return capi::of_sddmm_plan(plan, std::int64_t{-1}, [](const auto& p) { return p.cols(); });
}

int64_t lanky_sddmm_plan_nnz(const lanky_sddmm_plan* plan) {
  return capi::of_sddmm_plan(plan, std::int64_t{-1}, [](const auto& p) { return p.nnz(); });
}

lanky_device lanky_sddmm_plan_device(const lanky_sddmm_plan* plan) {
  return capi::of_sddmm_plan(plan, capi::kNoDevice,
                             [](const auto& p) { return capi::from_device(p.device()); });
}

int64_t lanky_sddmm_plan_workspace_bytes(const lanky_sddmm_plan* plan) {
  return capi::of_sddmm_plan(plan, std::int64_t{-1},
                             [](const auto& p) { return p.workspace_bytes(); });
}

int64_t lanky_sddmm_plan_device_bytes(const lanky_sddmm_plan* plan) {
  return capi::of_sddmm_plan(plan, std::int64_t{-1},
                             [](const auto& p) { return p.device_bytes(); });
}

uint64_t lanky_sddmm_plan_fingerprint(const lanky_sddmm_plan* plan) {
  return capi::of_sddmm_plan(plan, std::uint64_t{0}, [](const auto& p) { return p.fingerprint(); });
}

lanky_status lanky_sddmm_plan_explain(const lanky_sddmm_plan* plan, char* text, size_t size,
                                      size_t* length) {
  return capi::make_text(text, size, length, [&] { return capi::require(plan, "plan").explain(); });
}

lanky_status lanky_sddmm(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                         const void* alpha, const lanky_csr_view* a, const lanky_matrix_view* x,
                         const lanky_matrix_view* y, const void* beta,
                         const lanky_vector_view* values) {
  return capi::guarded([&] {
    capi::visit_types(
        type, out, [&]<class T, class TOut>(std::type_identity<T>, std::type_identity<TOut>) {
          lanky::sddmm<T, TOut>(capi::require(stream, "stream").stream,
                                capi::to_host_scalar<T>(alpha, 1), capi::to_csr<T>(a, "a"),
                                capi::to_matrix<const T>(x, "x"), capi::to_matrix<const T>(y, "y"),
                                capi::to_host_scalar<T>(beta, 0),
                                capi::to_vector<TOut>(values, "values"));
        });
  });
}
