// Eigenpairs: results of any type behind one handle.
#include <lanky/eigensolver.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "capi/solver.hpp"
#include "capi/structs.hpp"

/// What an EigenResult of a type known at run time tells, with the memory that this points to.
struct lanky_eigen_result {
  virtual ~lanky_eigen_result() = default;
  lanky_eigen_info info = {};
};

namespace lanky::capi {

static_assert(LANKY_EIGEN_END_SMALLEST == int(EigenEnd::smallest) &&
              LANKY_EIGEN_END_LARGEST == int(EigenEnd::largest));

namespace {

lanky_eigen_options eigen_defaults() noexcept {
  const EigenOptions defaults;
  lanky_eigen_options options = {};
  options.k = defaults.k;
  options.max_iterations = defaults.max_iterations;
  options.polynomial_degree = defaults.polynomial_degree;
  return options;
}

EigenOptions to_options(const lanky_eigen_options& options, Allocator* allocator) {
  check_reserved(options.reserved, "lanky_eigen_options");
  check_constant(options.end, LANKY_EIGEN_END_LARGEST + 1, "end", "lanky_eigen_end");
  return {.k = options.k,
          .end = static_cast<EigenEnd>(options.end),
          .tolerance = options.tolerance,
          .max_iterations = options.max_iterations,
          .block_size = options.block_size,
          .polynomial_degree = options.polynomial_degree,
          .seed = options.seed,
          .progress = to_progress(options.progress, options.user),
          .allocator = allocator};
}

/// Columns that may be missing.
template <class T>
MatrixView<const T> to_columns(const lanky_matrix_view* view, const char* name) {
  if (view == nullptr) return {};
  return to_matrix<const T>(view, name);
}

template <class T>
class EigenResultOf final : public lanky_eigen_result {
 public:
  EigenResultOf(const Stream& stream, const EigenProblem<T>& problem,
                const lanky_eigen_options& options)
      : allocator_(to_allocator(options.allocator)),
        result_(lobpcg(stream, problem, to_options(options, allocator_.get()))),
        history_(from_history(result_.history)) {
    tell_result(info, result_, history_);
    info.k = options.k;
    info.values = result_.values.data();
    info.bounds = result_.bounds.data();
    info.norm = result_.norm;
    info.vectors = from_matrix(std::as_const(result_.vectors).view());
  }

 private:
  std::unique_ptr<Allocator> allocator_;  // outlives the result
  EigenResult<T> result_;
  std::vector<lanky_solver_progress> history_;
};

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_eigen_problem_init(lanky_eigen_problem* problem, size_t size) {
  return capi::init_struct(problem, size, {});
}

lanky_status lanky_eigen_options_init(lanky_eigen_options* options, size_t size) {
  return capi::init_struct(options, size, capi::eigen_defaults());
}

lanky_status lanky_lobpcg(const lanky_stream* stream, const lanky_eigen_problem* problem,
                          const lanky_eigen_options* options, lanky_eigen_result** result) {
  return capi::make_handle(result, "result", [&] {
    const lanky_eigen_problem given =
        capi::read_struct(capi::require(problem, "problem"), lanky_eigen_problem{});
    const lanky_eigen_options chosen = capi::read_struct(options, capi::eigen_defaults());
    return std::visit(
        [&]<class T>(const lanky::LinearOperator<T>& a) -> std::unique_ptr<lanky_eigen_result> {
          return std::make_unique<capi::EigenResultOf<T>>(
              capi::require(stream, "stream").stream,
              lanky::EigenProblem<T>{
                  .a = a,
                  .b = capi::to_operator<T>(given.b, "b"),
                  .preconditioner =
                      capi::to_operator<T>(given.preconditioner, "the preconditioner"),
                  .constraints = capi::to_columns<T>(given.constraints, "the constraints"),
                  .start = capi::to_columns<T>(given.start, "the start vectors"),
                  .a_single = capi::to_operator<lanky::SingleOf<T>>(given.a_single, "a_single")},
              chosen);
        },
        capi::require(given.a, "a of the problem").any);
  });
}

void lanky_eigen_result_destroy(lanky_eigen_result* result) {
  delete result;
}

lanky_status lanky_eigen_result_info(const lanky_eigen_result* result, lanky_eigen_info* info,
                                     size_t size) {
  return capi::make_struct(info, size, [&] { return capi::require(result, "result").info; });
}
