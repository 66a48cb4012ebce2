// Calls of linear operators, solvers and CholeskyQR.
#include "fuzz/capi/script.hpp"

namespace lanky::fuzz::capi {

namespace {

constexpr int kSolverDtypes = 4;

/// A type that solvers compute in, rarely another one.
lanky_dtype solver_dtype(Script& script) {
  static constexpr std::array<lanky_dtype, kSolverDtypes> kTypes = {
      LANKY_DTYPE_F64, LANKY_DTYPE_F32, LANKY_DTYPE_C64, LANKY_DTYPE_C128};
  return script.rarely(32) ? dtype(script) : kTypes[script.byte() % kSolverDtypes];
}

/// Y = 2 X, or a failure after some calls.
struct Map {
  lanky_dtype type;
  int left;  // calls before it fails; never where negative
};

lanky_status apply(const lanky_stream*, const lanky_matrix_view* x, const lanky_matrix_view* y,
                   void* user) {
  auto& map = *static_cast<Map*>(user);
  if (map.left == 0) return 77;
  if (map.left > 0) --map.left;
  const bool wide = map.type == LANKY_DTYPE_F64 || map.type == LANKY_DTYPE_C128;
  const int parts = map.type == LANKY_DTYPE_C64 || map.type == LANKY_DTYPE_C128 ? 2 : 1;
  for (std::int64_t i = 0; i < std::min(x->rows, y->rows); ++i) {
    for (std::int64_t j = 0; j < x->cols * parts; ++j) {
      const std::int64_t from = i * x->ld * parts + j;
      const std::int64_t to = i * y->ld * parts + j;
      if (wide) {
        static_cast<double*>(y->data)[to] = 2 * static_cast<const double*>(x->data)[from];
      } else {
        static_cast<float*>(y->data)[to] = 2 * static_cast<const float*>(x->data)[from];
      }
    }
  }
  return LANKY_SUCCESS;
}

lanky_status report(const lanky_solver_progress* progress, int32_t* stop, void* user) {
  int& left = *static_cast<int*>(user);
  require(progress->iteration >= 0 && progress->converged <= progress->wanted, "no progress");
  if (left-- > 0) return LANKY_SUCCESS;
  *stop = 1;
  return left < -3 ? 78 : LANKY_SUCCESS;
}

/// What every solver's options begin with.
template <class Options>
void set_common(Script& script, Options& options) {
  options.tolerance = script.rarely(4) ? script.number() : 0;
  options.max_iterations = script.rarely(16) ? -script.below(3) : 1 + script.below(30);
  if (script.rarely(4)) {
    options.progress = report;
    options.user = script.memory(sizeof(int));
    *static_cast<int*>(options.user) = script.below(9);
  }
  options.allocator = allocator(script);
}

/// A failure of the caller's own function is told as it is.
void checked_solver(lanky_status status) {
  if (status != 77 && status != 78) checked(status);
}

void make_map(Script& script, Handles& handles, lanky_dtype type) {
  Struct<lanky_operator_functions> functions(script, lanky_operator_functions_init);
  auto* map = static_cast<Map*>(script.memory(sizeof(Map)));
  *map = {type, script.rarely(4) ? script.below(6) : -1};
  functions.value.apply = script.maybe(apply);
  functions.value.adjoint = script.rarely(2) ? apply : nullptr;
  functions.value.user = map;
  functions.value.bytes = script.rarely(8) ? script.number() : 0;
  functions.value.capturable = script.rarely(8) ? 1 : 0;
  functions.value.reserved = script.rarely(64) ? 1 : 0;
  const std::int64_t n = script.rarely(8) ? script.extent() : 1 + script.below(30);
  const std::int64_t cols = script.rarely(16) ? script.extent() : n;
  lanky_linear_operator* op = nullptr;
  // The function fills as many rows as it has of both: those of a square operator are all.
  if (cols != n && cols > 40) return;
  if (checked(lanky_linear_operator_create(type, n, cols, functions.pointer(script), &op)) ==
      LANKY_SUCCESS)
    handles.operators.emplace_back(op, type);
}

void make_of_matrix(Script& script, Handles& handles, lanky_dtype type) {
  const lanky_csr_view a = script.rarely(4) ? csr_view(script, type) : definite_view(script, type);
  Struct<lanky_sparse_options> options(script, lanky_sparse_options_init);
  options.value.op = script.rarely(8) ? script.constant(3) : 0;
  options.value.symmetry = script.rarely(8) ? script.constant(4) : 0;
  options.value.allocator = allocator(script);
  const lanky_sparse_options* given = script.rarely(2) ? nullptr : options.pointer(script);
  const lanky_stream* stream = handles.stream(script);
  lanky_linear_operator* op = nullptr;
  lanky_status status = LANKY_SUCCESS;
  const std::int64_t columns = script.rarely(16) ? script.extent() : 8;
  switch (script.below(4)) {
    case 0:
      status = lanky_make_operator(stream, type, script.maybe(&a), columns, given, &op);
      break;
    case 1:
      status =
          lanky_make_operator_with_adjoint(stream, type, script.maybe(&a), columns, given, &op);
      break;
    case 2:
      status = lanky_jacobi(stream, type, script.maybe(&a), &op);
      break;
    default:
      status = lanky_block_jacobi(stream, type, script.maybe(&a), script.extent(8), &op);
  }
  if (checked(status) == LANKY_SUCCESS) handles.operators.emplace_back(op, type);
}

void make_of_plans(Script& script, Handles& handles) {
  const Handles::Plan plan = pick(script, handles.sparse_plans);
  const Handles::Plan adjoint = pick(script, handles.sparse_plans);
  lanky_linear_operator* op = nullptr;
  const lanky_status status = lanky_linear_operator_from_plan(
      static_cast<lanky_sparse_plan*>(plan.handle),
      script.rarely(2) ? static_cast<lanky_sparse_plan*>(adjoint.handle) : nullptr, &op);
  if (checked(status) == LANKY_SUCCESS) handles.operators.emplace_back(op, plan.type);
}

/// An operator of a type, of those that there are.
lanky_linear_operator* operator_of(Script& script, const Handles& handles, lanky_dtype type) {
  const auto [op, its] = pick(script, handles.operators);
  return its == type || script.rarely(8) ? op : nullptr;
}

void solve_eigen(Script& script, Handles& handles) {
  const auto [a, type] = pick(script, handles.operators);
  const std::int64_t n = lanky_linear_operator_rows(a);
  Struct<lanky_eigen_problem> problem(script, lanky_eigen_problem_init);
  const lanky_matrix_view constraints = rows_view(script, n, script.below(3), type);
  const lanky_matrix_view start = rows_view(script, n, 1 + script.below(4), type);
  problem.value.a = a;
  problem.value.b = script.rarely(8) ? operator_of(script, handles, type) : nullptr;
  problem.value.preconditioner = script.rarely(4) ? operator_of(script, handles, type) : nullptr;
  problem.value.constraints = script.rarely(8) ? &constraints : nullptr;
  problem.value.start = script.rarely(4) ? &start : nullptr;
  problem.value.a_single = script.rarely(16) ? pick(script, handles.operators).first : nullptr;
  Struct<lanky_eigen_options> options(script, lanky_eigen_options_init);
  options.value.k = script.rarely(8) ? script.extent() : 1 + script.below(4);
  options.value.end = script.constant(2);
  options.value.block_size = script.rarely(8) ? script.extent() : 0;
  options.value.polynomial_degree = script.rarely(4) ? script.constant(12) : -1;
  options.value.seed = script.byte();
  options.value.reserved = script.rarely(64) ? 1 : 0;
  set_common(script, options.value);
  lanky_eigen_result* result = nullptr;
  checked_solver(lanky_lobpcg(handles.stream(script), script.maybe(problem.pointer(script)),
                              script.rarely(8) ? nullptr : options.pointer(script), &result));
  call_for_struct<lanky_eigen_info>(script, [&](lanky_eigen_info* info, std::size_t size) {
    checked(lanky_eigen_result_info(result, info, size));
  });
  lanky_eigen_result_destroy(result);
}

void solve_linear(Script& script, Handles& handles) {
  const auto [a, type] = pick(script, handles.operators);
  const std::int64_t n = lanky_linear_operator_rows(a);
  const std::int64_t columns = script.below(5);
  const lanky_matrix_view b = rows_view(script, n, columns, type);
  const lanky_matrix_view x = rows_view(script, n, columns, type);
  Struct<lanky_linear_options> options(script, lanky_linear_options_init);
  options.value.absolute_tolerance = script.rarely(8) ? script.number() : 0;
  options.value.reserved = script.rarely(64) ? 1 : 0;
  set_common(script, options.value);
  static constexpr std::array kSolvers = {lanky_cg, lanky_block_cg, lanky_minres};
  lanky_linear_result* result = nullptr;
  checked_solver(kSolvers[script.byte() % kSolvers.size()](
      handles.stream(script), a, script.maybe(&b), script.maybe(&x),
      script.rarely(8) ? nullptr : options.pointer(script),
      script.rarely(4) ? operator_of(script, handles, type) : nullptr, &result));
  call_for_struct<lanky_linear_info>(script, [&](lanky_linear_info* info, std::size_t size) {
    checked(lanky_linear_result_info(result, info, size));
  });
  lanky_linear_result_destroy(result);
}

void solve_svd(Script& script, Handles& handles) {
  const auto [a, type] = pick(script, handles.operators);
  Struct<lanky_svd_options> options(script, lanky_svd_options_init);
  options.value.k = script.rarely(8) ? script.extent() : 1 + script.below(4);
  options.value.method = script.constant(2);
  options.value.oversampling = script.rarely(4) ? script.extent() : 10;
  options.value.power_iterations = script.rarely(4) ? script.below(6) - 1 : 2;
  options.value.center = script.rarely(4) ? script.constant(2) : 0;
  options.value.seed = script.byte();
  set_common(script, options.value);
  lanky_svd_result* result = nullptr;
  checked_solver(lanky_svds(handles.stream(script), a,
                            script.rarely(8) ? nullptr : options.pointer(script), &result));
  call_for_struct<lanky_svd_info>(script, [&](lanky_svd_info* info, std::size_t size) {
    checked(lanky_svd_result_info(result, info, size));
  });
  lanky_svd_result_destroy(result);
}

void factorize(Script& script, Handles& handles) {
  const lanky_dtype type = solver_dtype(script);
  const std::int64_t m = script.extent(60);
  const std::int64_t n = script.extent(8);
  Struct<lanky_cholesky_qr_options> options(script, lanky_cholesky_qr_options_init);
  options.value.shifted = script.rarely(4) ? script.constant(2) : 0;
  options.value.layout = script.constant(2);
  options.value.lda = script.rarely(8) ? script.extent(70) : 0;
  options.value.ldq = script.rarely(8) ? script.extent(70) : 0;
  options.value.allocator = allocator(script);
  lanky_cholesky_qr* qr = nullptr;
  checked(lanky_cholesky_qr_create(handles.stream(script), type, m, n,
                                   script.rarely(4) ? nullptr : options.pointer(script), &qr));
  if (m <= 100 && n <= 100 && m >= 0 && n >= 0) {
    lanky_matrix_view a = matrix_view(script, m, n, type);
    lanky_matrix_view q = matrix_view(script, m, n, type);
    lanky_matrix_view r = matrix_view(script, n, n, type);
    checked(lanky_cholesky_qr_run(qr, script.maybe(&a), script.maybe(&q), script.maybe(&r)));
    checked(lanky_cholesky_qr_check(qr));
  }
  call_for_text(script, [&](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_cholesky_qr_explain(qr, text, size, length));
  });
  lanky_cholesky_qr_destroy(qr);
}

}  // namespace

void call_operators(Script& script, Handles& handles) {
  const lanky_dtype type = solver_dtype(script);
  switch (script.below(4)) {
    case 0:
    case 1:
      make_of_matrix(script, handles, type);
      break;
    case 2:
      make_map(script, handles, type);
      break;
    default:
      make_of_plans(script, handles);
  }
  const auto [op, its] = pick(script, handles.operators);
  lanky_linear_operator_has_adjoint(op);
  lanky_linear_operator_dtype(op);
  const std::int64_t rows = lanky_linear_operator_rows(op);
  const std::int64_t cols = lanky_linear_operator_cols(op);
  const std::int64_t columns = script.below(9);
  const lanky_matrix_view x = rows_view(script, cols, columns, its);
  const lanky_matrix_view y = rows_view(script, rows, columns, its);
  checked_solver(
      lanky_linear_operator_apply(op, handles.stream(script), script.maybe(&x), script.maybe(&y)));
  checked_solver(lanky_linear_operator_apply_adjoint(op, handles.stream(script), &y, &x));
}

void call_solvers(Script& script, Handles& handles) {
  if (handles.operators.empty()) {
    const lanky_dtype type = solver_dtype(script);
    script.rarely(4) ? make_map(script, handles, type) : make_of_matrix(script, handles, type);
  }
  switch (script.below(4)) {
    case 0:
      return solve_linear(script, handles);
    case 1:
      return solve_eigen(script, handles);
    case 2:
      return solve_svd(script, handles);
    default:
      return factorize(script, handles);
  }
}

}  // namespace lanky::fuzz::capi
