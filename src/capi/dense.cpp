// Dense products: plans of any types behind one handle, and the one-liner.
#include "capi/dense.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#include "capi/arguments.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"

/// A GemmPlan of types that are known at run time.
struct lanky_gemm_plan {
  virtual ~lanky_gemm_plan() = default;
  virtual void run(const lanky::Stream& stream, const void* alpha, const lanky_matrix_view* a,
                   const lanky_matrix_view* b, const void* beta, const lanky_matrix_view* c,
                   const capi::RunOptions& options) const = 0;
  virtual lanky::GemmShape shape() const noexcept = 0;
  virtual lanky::GemmFamily family() const noexcept = 0;
  virtual lanky::Device device() const noexcept = 0;
  virtual std::int64_t workspace_bytes() const noexcept = 0;
  virtual std::uint64_t fingerprint() const = 0;
  virtual lanky::GemmInfo info() const = 0;
  virtual std::string explain() const = 0;
};

namespace lanky::capi {

static_assert(LANKY_GEMM_FAMILY_PANEL == int(GemmFamily::panel) &&
              LANKY_GEMM_FAMILY_UPDATE == int(GemmFamily::update) &&
              LANKY_GEMM_FAMILY_GRAM == int(GemmFamily::gram) &&
              LANKY_GEMM_FAMILY_REGULAR == int(GemmFamily::regular));

GemmShape to_shape(const lanky_gemm_shape* shape) {
  const lanky_gemm_shape given = read_struct(require(shape, "shape"), lanky_gemm_shape{});
  check_reserved(given.reserved, "lanky_gemm_shape");
  return {.m = given.m,
          .n = given.n,
          .k = given.k,
          .op_a = to_op(given.op_a, "op_a"),
          .op_b = to_op(given.op_b, "op_b"),
          .layout = to_layout(given.layout, "a, b and c"),
          .lda = given.lda,
          .ldb = given.ldb,
          .ldc = given.ldc};
}

namespace {

lanky_gemm_shape from_shape(const GemmShape& shape) noexcept {
  lanky_gemm_shape result = {};
  result.m = shape.m;
  result.n = shape.n;
  result.k = shape.k;
  result.op_a = static_cast<lanky_op>(shape.op_a);
  result.op_b = static_cast<lanky_op>(shape.op_b);
  result.layout = static_cast<lanky_layout>(shape.layout);
  result.lda = shape.lda;
  result.ldb = shape.ldb;
  result.ldc = shape.ldc;
  return result;
}

GemmOptions to_options(const lanky_gemm_options& options, Allocator* allocator) {
  return {.math = to_math(options.math),
          .tune = options.tune != 0,
          .tuning = options.tuning == nullptr ? nullptr : &options.tuning->tuning,
          .allocator = allocator};
}

template <class T, class TOut>
class GemmPlanOf final : public lanky_gemm_plan {
 public:
  GemmPlanOf(const Stream& stream, const GemmShape& shape, const lanky_gemm_options& options)
      : allocator_(to_allocator(options.allocator)),
        plan_(stream, shape, to_options(options, allocator_.get())) {}

  void run(const Stream& stream, const void* alpha, const lanky_matrix_view* a,
           const lanky_matrix_view* b, const void* beta, const lanky_matrix_view* c,
           const RunOptions& options) const override {
    const auto factor = to_scalar<GemmAccumulator<T, TOut>>(alpha, options.alpha_on_device, 1);
    const auto kept = to_scalar<GemmAccumulator<T, TOut>>(beta, options.beta_on_device, 0);
    const auto left = to_matrix<const T>(a, "a");
    const auto right = to_matrix<const T>(b, "b");
    const auto result = to_matrix<TOut>(c, "c");
    if (options.lends) {
      plan_.run(stream, factor, left, right, kept, result, options.workspace);
    } else {
      plan_.run(stream, factor, left, right, kept, result);
    }
  }
  GemmShape shape() const noexcept override { return plan_.shape(); }
  GemmFamily family() const noexcept override { return plan_.family(); }
  Device device() const noexcept override { return plan_.device(); }
  std::int64_t workspace_bytes() const noexcept override { return plan_.workspace_bytes(); }
  std::uint64_t fingerprint() const override { return plan_.fingerprint(); }
  GemmInfo info() const override { return plan_.info(); }
  std::string explain() const override { return plan_.explain(); }

 private:
  std::unique_ptr<Allocator> allocator_;  // outlives the plan
  GemmPlan<T, TOut> plan_;
};

template <class Value, class F>
Value of_gemm_plan(const lanky_gemm_plan* plan, Value of_null, F&& f) noexcept {
  return property(plan, "plan", of_null, f);
}

lanky_gemm_info from_info(const GemmInfo& info) noexcept {
  lanky_gemm_info result = {};
  result.route_count = static_cast<std::int64_t>(info.routes.size());
  for (std::size_t same = 0; same < 2; ++same) {
    for (std::size_t adds = 0; adds < 2; ++adds) {
      result.of_aligned[same][adds] = info.of_aligned[same][adds];
    }
  }
  result.bytes = info.bytes;
  result.flops = info.flops;
  result.bound_us = info.bound_us;
  result.predicted_us = info.predicted_us;
  result.memory_bound = info.memory_bound ? 1 : 0;
  return result;
}

lanky_gemm_route from_route(const GemmRoute& route) {
  lanky_gemm_route result = {};
  copy_name(result.when, route.when);
  copy_name(result.kernel, route.kernel);
  copy_name(result.algorithm, route.algorithm);
  copy_name(result.configuration, route.configuration);
  result.vendor = route.vendor ? 1 : 0;
  return result;
}

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_gemm_shape_init(lanky_gemm_shape* shape, size_t size) {
  return capi::init_struct(shape, size, {});
}

lanky_status lanky_gemm_options_init(lanky_gemm_options* options, size_t size) {
  return capi::init_struct(options, size, {});
}

lanky_gemm_family lanky_gemm_family_of(int64_t m, int64_t n, int64_t k) {
  return static_cast<lanky_gemm_family>(lanky::gemm_family(m, n, k));
}

lanky_status lanky_gemm_plan_create(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                                    const lanky_gemm_shape* shape,
                                    const lanky_gemm_options* options, lanky_gemm_plan** plan) {
  return capi::make_handle(plan, "plan", [&] {
    const lanky_gemm_options given = capi::read_struct(options, lanky_gemm_options{});
    return capi::visit_gemm_types(
        type, out,
        [&]<class T, class TOut>(std::type_identity<T>,
                                 std::type_identity<TOut>) -> std::unique_ptr<lanky_gemm_plan> {
          return std::make_unique<capi::GemmPlanOf<T, TOut>>(capi::require(stream, "stream").stream,
                                                             capi::to_shape(shape), given);
        });
  });
}

void lanky_gemm_plan_destroy(lanky_gemm_plan* plan) {
  delete plan;
}

lanky_status lanky_gemm_plan_run(const lanky_gemm_plan* plan, const lanky_stream* stream,
                                 const void* alpha, const lanky_matrix_view* a,
                                 const lanky_matrix_view* b, const void* beta,
                                 const lanky_matrix_view* c, const lanky_run_options* options) {
  return capi::guarded([&] {
    capi::require(plan, "plan")
        .run(capi::require(stream, "stream").stream, alpha, a, b, beta, c,
             capi::RunOptions(options));
  });
}

lanky_status lanky_gemm_plan_shape(const lanky_gemm_plan* plan, lanky_gemm_shape* shape) {
  return capi::guarded([&] {
    const std::size_t size = capi::read_struct(capi::require(shape, "shape"), {}).size;
    lanky_gemm_shape told = capi::from_shape(capi::require(plan, "plan").shape());
    told.size = size;
    std::memcpy(shape, &told, std::min(size, sizeof(told)));
  });
}

lanky_gemm_family lanky_gemm_plan_family(const lanky_gemm_plan* plan) {
  return capi::of_gemm_plan(plan, lanky_gemm_family{-1}, [](const auto& p) { return p.family(); });
}

lanky_device lanky_gemm_plan_device(const lanky_gemm_plan* plan) {
  return capi::of_gemm_plan(plan, capi::kNoDevice,
                            [](const auto& p) { return capi::from_device(p.device()); });
}

int64_t lanky_gemm_plan_workspace_bytes(const lanky_gemm_plan* plan) {
  return capi::of_gemm_plan(plan, std::int64_t{-1},
                            [](const auto& p) { return p.workspace_bytes(); });
}

uint64_t lanky_gemm_plan_fingerprint(const lanky_gemm_plan* plan) {
  return capi::of_gemm_plan(plan, std::uint64_t{0}, [](const auto& p) { return p.fingerprint(); });
}

lanky_status lanky_gemm_plan_info(const lanky_gemm_plan* plan, lanky_gemm_info* info, size_t size) {
  return capi::make_struct(info, size,
                           [&] { return capi::from_info(capi::require(plan, "plan").info()); });
}

lanky_status lanky_gemm_plan_route(const lanky_gemm_plan* plan, int64_t index,
                                   lanky_gemm_route* route, size_t size) {
  return capi::make_struct(route, size, [&] {
    const lanky::GemmInfo info = capi::require(plan, "plan").info();
    capi::check_index(index, info.routes.size(), "routes");
    return capi::from_route(info.routes[static_cast<std::size_t>(index)]);
  });
}

lanky_status lanky_gemm_plan_tuning(const lanky_gemm_plan* plan, char* text, size_t size,
                                    size_t* length) {
  return capi::make_text(text, size, length,
                         [&] { return capi::require(plan, "plan").info().tuning; });
}

lanky_status lanky_gemm_plan_explain(const lanky_gemm_plan* plan, char* text, size_t size,
                                     size_t* length) {
  return capi::make_text(text, size, length, [&] { return capi::require(plan, "plan").explain(); });
}

lanky_status lanky_gemm(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                        lanky_op op_a, lanky_op op_b, const void* alpha, const lanky_matrix_view* a,
                        const lanky_matrix_view* b, const void* beta, const lanky_matrix_view* c) {
  return capi::guarded([&] {
    capi::visit_gemm_types(
        type, out, [&]<class T, class TOut>(std::type_identity<T>, std::type_identity<TOut>) {
          lanky::gemm<T, TOut>(capi::require(stream, "stream").stream, capi::to_op(op_a, "op_a"),
                               capi::to_op(op_b, "op_b"),
                               capi::to_host_scalar<lanky::GemmAccumulator<T, TOut>>(alpha, 1),
                               capi::to_matrix<const T>(a, "a"), capi::to_matrix<const T>(b, "b"),
                               capi::to_host_scalar<lanky::GemmAccumulator<T, TOut>>(beta, 0),
                               capi::to_matrix<TOut>(c, "c"));
        });
  });
}
