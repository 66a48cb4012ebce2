// Linear systems: three solvers with one signature.
#include <lanky/linear_solver.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "capi/solver.hpp"
#include "capi/structs.hpp"

/// What a LinearResult tells, with the memory that this points to.
struct lanky_linear_result {
  explicit lanky_linear_result(lanky::LinearResult reached)
      : result(std::move(reached)), history(capi::from_history(result.history)) {
    capi::tell_result(info, result, history);
    info.columns = static_cast<std::int64_t>(result.residuals.size());
  }

  lanky::LinearResult result;
  std::vector<lanky_solver_progress> history;
  lanky_linear_info info = {};
};

namespace lanky::capi {

namespace {

LinearOptions to_options(const lanky_linear_options& options, Allocator* allocator) {
  check_reserved(options.reserved, "lanky_linear_options");
  return {.tolerance = options.tolerance,
          .absolute_tolerance = options.absolute_tolerance,
          .max_iterations = options.max_iterations,
          .progress = to_progress(options.progress, options.user),
          .allocator = allocator};
}

/// `solver`: cg(), block_cg() or minres() of any type.
template <class Solver>
lanky_status solve(const lanky_stream* stream, const lanky_linear_operator* a,
                   const lanky_matrix_view* b, const lanky_matrix_view* x,
                   const lanky_linear_options* options, const lanky_linear_operator* preconditioner,
                   lanky_linear_result** result, const Solver& solver) noexcept {
  return make_handle(result, "result", [&] {
    const lanky_linear_options given = read_struct(options, lanky_linear_options{});
    const std::unique_ptr<Allocator> allocator = to_allocator(given.allocator);
    const LinearOptions chosen = to_options(given, allocator.get());
    return std::visit(
        [&]<class T>(const LinearOperator<T>& op) {
          return std::make_unique<lanky_linear_result>(solver(
              require(stream, "stream").stream, op, to_matrix<const T>(b, "b"),
              to_matrix<T>(x, "x"), chosen, to_operator<T>(preconditioner, "the preconditioner")));
        },
        require(a, "a").any);
  });
}

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_linear_options_init(lanky_linear_options* options, size_t size) {
  return capi::init_struct(options, size, {});
}

lanky_status lanky_cg(const lanky_stream* stream, const lanky_linear_operator* a,
                      const lanky_matrix_view* b, const lanky_matrix_view* x,
                      const lanky_linear_options* options,
                      const lanky_linear_operator* preconditioner, lanky_linear_result** result) {
  return capi::solve(stream, a, b, x, options, preconditioner, result,
                     [](const auto&... operands) { return lanky::cg(operands...); });
}

lanky_status lanky_block_cg(const lanky_stream* stream, const lanky_linear_operator* a,
                            const lanky_matrix_view* b, const lanky_matrix_view* x,
                            const lanky_linear_options* options,
                            const lanky_linear_operator* preconditioner,
                            lanky_linear_result** result) {
  return capi::solve(stream, a, b, x, options, preconditioner, result,
                     [](const auto&... operands) { return lanky::block_cg(operands...); });
}

lanky_status lanky_minres(const lanky_stream* stream, const lanky_linear_operator* a,
                          const lanky_matrix_view* b, const lanky_matrix_view* x,
                          const lanky_linear_options* options,
                          const lanky_linear_operator* preconditioner,
                          lanky_linear_result** result) {
  return capi::solve(stream, a, b, x, options, preconditioner, result,
                     [](const auto&... operands) { return lanky::minres(operands...); });
}

void lanky_linear_result_destroy(lanky_linear_result* result) {
  delete result;
}

lanky_status lanky_linear_result_info(const lanky_linear_result* result, lanky_linear_info* info,
                                      size_t size) {
  return capi::make_struct(info, size, [&] { return capi::require(result, "result").info; });
}
