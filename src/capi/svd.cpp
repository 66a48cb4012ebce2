// Singular triplets: results of any type behind one handle.
#include <lanky/svd.hpp>

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "capi/solver.hpp"
#include "capi/structs.hpp"

/// What an SvdResult of a type known at run time tells, with the memory that this points to.
struct lanky_svd_result {
  virtual ~lanky_svd_result() = default;
  lanky_svd_info info = {};
};

namespace lanky::capi {

static_assert(LANKY_SVD_METHOD_RANDOMIZED == int(SvdMethod::randomized) &&
              LANKY_SVD_METHOD_GOLUB_KAHAN == int(SvdMethod::golub_kahan));

namespace {

lanky_svd_options svd_defaults() noexcept {
  const SvdOptions defaults;
  lanky_svd_options options = {};
  options.k = defaults.k;
  options.method = static_cast<lanky_svd_method>(defaults.method);
  options.max_iterations = defaults.max_iterations;
  options.oversampling = defaults.oversampling;
  options.power_iterations = defaults.power_iterations;
  return options;
}

SvdOptions to_options(const lanky_svd_options& options, Allocator* allocator) {
  check_constant(options.method, LANKY_SVD_METHOD_GOLUB_KAHAN + 1, "method", "lanky_svd_method");
  return {.k = options.k,
          .method = static_cast<SvdMethod>(options.method),
          .tolerance = options.tolerance,
          .max_iterations = options.max_iterations,
          .oversampling = options.oversampling,
          .power_iterations = options.power_iterations,
          .center = options.center != 0,
          .seed = options.seed,
          .progress = to_progress(options.progress, options.user),
          .allocator = allocator};
}

template <class T>
class SvdResultOf final : public lanky_svd_result {
 public:
  SvdResultOf(const Stream& stream, const LinearOperator<T>& a, const lanky_svd_options& options)
      : allocator_(to_allocator(options.allocator)),
        result_(svds(stream, a, to_options(options, allocator_.get()))),
        history_(from_history(result_.history)) {
    tell_result(info, result_, history_);
    info.k = options.k;
    info.values = result_.values.data();
    info.means = result_.means.empty() ? nullptr : result_.means.data();
    info.u = from_matrix(std::as_const(result_.u).view());
    info.v = from_matrix(std::as_const(result_.v).view());
  }

 private:
  std::unique_ptr<Allocator> allocator_;  // outlives the result
  SvdResult<T> result_;
  std::vector<lanky_solver_progress> history_;
};

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_svd_options_init(lanky_svd_options* options, size_t size) {
  return capi::init_struct(options, size, capi::svd_defaults());
}

lanky_status lanky_svds(const lanky_stream* stream, const lanky_linear_operator* a,
                        const lanky_svd_options* options, lanky_svd_result** result) {
  return capi::make_handle(result, "result", [&] {
    const lanky_svd_options chosen = capi::read_struct(options, capi::svd_defaults());
    return std::visit(
        [&]<class T>(const lanky::LinearOperator<T>& op) -> std::unique_ptr<lanky_svd_result> {
          return std::make_unique<capi::SvdResultOf<T>>(capi::require(stream, "stream").stream, op,
                                                        chosen);
        },
        capi::require(a, "a").any);
  });
}

void lanky_svd_result_destroy(lanky_svd_result* result) {
  delete result;
}

lanky_status lanky_svd_result_info(const lanky_svd_result* result, lanky_svd_info* info,
                                   size_t size) {
  return capi::make_struct(info, size, [&] { return capi::require(result, "result").info; });
}
