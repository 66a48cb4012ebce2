/* Operators, solvers and CholeskyQR of every type that they compute in, on a matrix whose
 * eigenvalues are known, and what they refuse. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "check.h"
#include "operands.h"

/* Tridiagonal: 3 on the diagonal, c above and conj(c) below it, |c| = 1. Its eigenvalues are
 * 3 - 2 cos(j pi / (n + 1)), j = 1 to n. */
enum { kSize = 100, kNonzeros = 3 * kSize - 2, kWanted = 3, kTallRows = 41, kVectorTypes = 4 };

static const lanky_dtype kVectors[kVectorTypes] = {LANKY_DTYPE_F64, LANKY_DTYPE_F32,
                                                   LANKY_DTYPE_C64, LANKY_DTYPE_C128};
static int32_t offsets[kSize + 1];
static int32_t columns[kNonzeros];

static double exact_eigenvalue(int j) {
  return 3 - 2 * cos(j * acos(-1.0) / (kSize + 1));
}

static int is_narrow(lanky_dtype type) {
  return type == LANKY_DTYPE_F32 || type == LANKY_DTYPE_C64;
}

/* What errors are held against: above the default tolerance, far below all values. */
static double limit_of(lanky_dtype type) {
  return is_narrow(type) ? 2e-3 : 1e-6;
}

static Operand make_values(const lanky_stream* stream, lanky_dtype type) {
  Operand values = make_operand(stream, type, kNonzeros, 0);
  const Number beside = is_complex_type(type) ? number(0.6, -0.8) : number(-1, 0);
  int32_t entry = 0;
  int32_t i = 0;
  int32_t j = 0;
  for (i = 0; i < kSize; ++i) {
    offsets[i] = entry;
    for (j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= kSize) continue;
      columns[entry] = j;
      put(&values, entry, j == i ? number(3, 0) : j > i ? beside : conjugate(beside));
      ++entry;
    }
  }
  offsets[kSize] = entry;
  CHECK(entry == kNonzeros);
  return values;
}

static lanky_csr_view view_of(const Operand* values) {
  lanky_csr_view view = csr_of(values);
  view.rows = kSize;
  view.cols = kSize;
  view.nnz = kNonzeros;
  view.row_offsets = offsets;
  view.col_indices = columns;
  return view;
}

/* The first rows of it, a matrix that is not square. */
static lanky_csr_view wide_view_of(const Operand* values) {
  lanky_csr_view view = view_of(values);
  view.rows = kSize / 2;
  view.nnz = offsets[kSize / 2];
  return view;
}

/* Element i of A x, x the column of a matrix by rows. */
static Number product_at(const Operand* values, const Operand* x, int64_t cols, int64_t column,
                         int64_t i) {
  Number sum = number(0, 0);
  int32_t e = 0;
  for (e = offsets[i]; e < offsets[i + 1]; ++e)
    sum = plus_product(sum, get(values, e), get(x, columns[e] * cols + column));
  return sum;
}

/* |value - factor * other| */
static double distance(Number value, double factor, Number other) {
  return hypot(value.re - factor * other.re, value.im - factor * other.im);
}

/* Vectors of a result, by rows, in host memory. */
static Operand host_copy(const lanky_stream* stream, lanky_dtype type, lanky_matrix_view view) {
  Operand copy;
  memset(&copy, 0, sizeof(copy));
  copy.type = type;
  copy.size = view.rows * view.cols;
  CHECK(view.layout == LANKY_LAYOUT_ROW && view.ld == view.cols && copy.size <= kMostElements);
  OK(lanky_buffer_wrap(stream, view.data, copy.size * (int64_t)lanky_dtype_size_of(type),
                       &copy.buffer));
  CHECK(lanky_buffer_data(copy.buffer) == view.data);
  download(&copy);
  return copy;
}

/* Functions of the caller that multiply by plans, and fail where they are told to. */
typedef struct Functions {
  const lanky_sparse_plan* plan;
  const lanky_sparse_plan* adjoint;
  int calls;
  int fails_at;        /* 0: never */
  lanky_status status; /* that it fails with; success: a failure of lanky's */
} Functions;

static lanky_status apply_plan(const lanky_stream* stream, const lanky_matrix_view* x,
                               const lanky_matrix_view* y, void* user) {
  Functions* functions = (Functions*)user;
  CHECK(x->layout == LANKY_LAYOUT_ROW && y->layout == LANKY_LAYOUT_ROW && x->cols == y->cols);
  if (++functions->calls == functions->fails_at) {
    if (functions->status != LANKY_SUCCESS) return functions->status;
    y = NULL;
  }
  return lanky_sparse_plan_run_matrix(functions->plan, stream, NULL, x, NULL, y, NULL);
}

static lanky_status apply_adjoint_plan(const lanky_stream* stream, const lanky_matrix_view* x,
                                       const lanky_matrix_view* y, void* user) {
  Functions* functions = (Functions*)user;
  return lanky_sparse_plan_run_matrix(functions->adjoint, stream, NULL, x, NULL, y, NULL);
}

static lanky_operator_functions functions_of(Functions* functions) {
  lanky_operator_functions given;
  OK(lanky_operator_functions_init(&given, sizeof(given)));
  given.apply = apply_plan;
  given.user = functions;
  return given;
}

/* How a progress function ends a solver. */
typedef struct Watch {
  int calls;
  int stops_at;        /* 0: never */
  lanky_status status; /* returned from there on, with *stop = 1 where it is success */
  lanky_solver_progress last;
} Watch;

static lanky_status watch(const lanky_solver_progress* progress, int32_t* stop, void* user) {
  Watch* watching = (Watch*)user;
  watching->last = *progress;
  CHECK(*stop == 0);
  if (++watching->calls != watching->stops_at) return LANKY_SUCCESS;
  *stop = watching->status == LANKY_SUCCESS;
  return watching->status;
}

static void test_operators(const lanky_stream* stream, lanky_dtype type) {
  Operand values = make_values(stream, type);
  const lanky_csr_view a = wide_view_of(&values);
  const lanky_csr_view square = view_of(&values);
  Operand x = make_operand(stream, type, kSize * kWanted, 1);
  Operand y = make_operand(stream, type, kSize / 2 * kWanted, 2);
  const lanky_matrix_view x_view = matrix_of(&x, kSize, kWanted, kWanted, LANKY_LAYOUT_ROW);
  const lanky_matrix_view y_view = matrix_of(&y, kSize / 2, kWanted, kWanted, LANKY_LAYOUT_ROW);
  lanky_matrix_view bad;
  lanky_linear_operator* op = NULL;
  lanky_linear_operator* both = NULL;
  lanky_linear_operator* inverse = NULL;
  double most = 0;
  int64_t i = 0;

  OK(lanky_make_operator(stream, type, &a, 8, NULL, &op));
  CHECK(lanky_linear_operator_rows(op) == kSize / 2 && lanky_linear_operator_cols(op) == kSize);
  CHECK(lanky_linear_operator_dtype(op) == type);
  CHECK(lanky_linear_operator_has_adjoint(op) == 0);
  OK(lanky_linear_operator_apply(op, stream, &x_view, &y_view));
  download(&y);
  for (i = 0; i < kSize / 2 * kWanted; ++i) {
    const Number expected = product_at(&values, &x, kWanted, i % kWanted, i / kWanted);
    most = fmax(most, distance(get(&y, i), 1, expected));
  }
  CHECK(most < limit_of(type));
  FAILS(lanky_linear_operator_apply_adjoint(op, stream, &y_view, &x_view), LANKY_INVALID_ARGUMENT,
        "no adjoint");
  OK(lanky_make_operator_with_adjoint(stream, type, &a, 8, NULL, &both));
  CHECK(lanky_linear_operator_has_adjoint(both) == 1);
  OK(lanky_linear_operator_apply_adjoint(both, stream, &y_view, &x_view));
  download(&x);
  /* Row 0 of A^H: 3 and, of row 1 of A, the conjugate of the entry below the diagonal. */
  CHECK(distance(get(&x, 0), 1,
                 plus_product(plus_product(number(0, 0), number(3, 0), get(&y, 0)),
                              conjugate(get(&values, offsets[1])), get(&y, kWanted))) <
        limit_of(type));

  OK(lanky_jacobi(stream, type, &square, &inverse));
  CHECK(lanky_linear_operator_rows(inverse) == kSize);
  FAILS(lanky_linear_operator_apply(inverse, stream, &x_view, &x_view), LANKY_INVALID_ARGUMENT,
        "overlap");
  lanky_linear_operator_destroy(inverse);
  OK(lanky_block_jacobi(stream, type, &square, 8, &inverse));
  CHECK(lanky_linear_operator_dtype(inverse) == type);
  lanky_linear_operator_destroy(inverse);

  bad = y_view;
  bad.cols = 2;
  FAILS(lanky_linear_operator_apply(op, stream, &x_view, &bad), LANKY_SIZE_MISMATCH, "50 x 2");
  bad = y_view;
  bad.rows = 49;
  FAILS(lanky_linear_operator_apply(op, stream, &x_view, &bad), LANKY_SIZE_MISMATCH, "49 x 3");
  bad = y_view;
  bad.layout = LANKY_LAYOUT_COL;
  FAILS(lanky_linear_operator_apply(op, stream, &x_view, &bad), LANKY_INVALID_ARGUMENT, "by rows");
  /* Functions of callers, which check nothing, never see these. */
  bad = y_view;
  bad.data = NULL;
  FAILS(lanky_linear_operator_apply(op, stream, &x_view, &bad), LANKY_INVALID_ARGUMENT,
        "data of y is NULL");
  bad = x_view;
  bad.ld = kWanted - 1;
  FAILS(lanky_linear_operator_apply(op, stream, &bad, &y_view), LANKY_SIZE_MISMATCH,
        "ld of x is 2");
  FAILS(lanky_linear_operator_apply(NULL, stream, &x_view, &y_view), LANKY_INVALID_ARGUMENT,
        "op is NULL");
  FAILS(lanky_linear_operator_apply(op, NULL, &x_view, &y_view), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_linear_operator_apply(op, stream, NULL, &y_view), LANKY_INVALID_ARGUMENT,
        "x is NULL");
  FAILS(lanky_linear_operator_apply(op, stream, &x_view, NULL), LANKY_INVALID_ARGUMENT,
        "y is NULL");
  lanky_linear_operator_destroy(both);
  lanky_linear_operator_destroy(op);
  destroy_operand(&y);
  destroy_operand(&x);
  destroy_operand(&values);
}

static void test_lobpcg(const lanky_stream* stream, lanky_dtype type) {
  const lanky_dtype single_type = type == LANKY_DTYPE_F64    ? LANKY_DTYPE_F32
                                  : type == LANKY_DTYPE_C128 ? LANKY_DTYPE_C64
                                                             : type;
  Operand values = make_values(stream, type);
  Operand single_values = make_values(stream, single_type);
  const lanky_csr_view a = view_of(&values);
  const lanky_csr_view a_single = view_of(&single_values);
  lanky_linear_operator* op = NULL;
  lanky_linear_operator* single = NULL;
  lanky_linear_operator* third = NULL; /* I / 3 */
  lanky_eigen_problem problem;
  lanky_eigen_options options;
  lanky_eigen_info info;
  lanky_eigen_info more;
  lanky_eigen_result* result = NULL;
  lanky_eigen_result* next = NULL;
  lanky_matrix_view first;
  Operand vectors;
  Watch watching;
  Pool pool;
  lanky_allocator allocator;
  int64_t i = 0;
  int j = 0;

  memset(&watching, 0, sizeof(watching));
  memset(&pool, 0, sizeof(pool));
  allocator = allocator_of(&pool);
  OK(lanky_make_operator(stream, type, &a, 8, NULL, &op));
  OK(lanky_jacobi(stream, type, &a, &third));
  OK(lanky_eigen_problem_init(&problem, sizeof(problem)));
  OK(lanky_eigen_options_init(&options, sizeof(options)));
  CHECK(options.k == 6 && options.max_iterations == 2000 && options.polynomial_degree == -1);
  problem.a = op;
  options.k = kWanted;
  options.progress = watch;
  options.user = &watching;
  options.allocator = &allocator;
  OK(lanky_lobpcg(stream, &problem, &options, &result));
  OK(lanky_eigen_result_info(result, &info, sizeof(info)));
  CHECK(pool.live > 0);
  CHECK(info.status == LANKY_SOLVER_STATUS_CONVERGED && info.converged == kWanted);
  CHECK(info.k == kWanted && info.iterations > 1);
  CHECK(watching.calls == info.iterations && info.history_size == info.iterations);
  CHECK(watching.last.converged == kWanted && watching.last.wanted == kWanted);
  CHECK(watching.last.residual <= watching.last.tolerance && watching.last.seconds >= 0);
  CHECK(memcmp(&watching.last, &info.history[info.history_size - 1], sizeof(watching.last)) == 0);
  CHECK(info.vectors.rows == kSize && info.vectors.cols == kWanted);
  CHECK(info.norm > 3 && info.norm < 6);
  vectors = host_copy(stream, type, info.vectors);
  for (j = 0; j < kWanted; ++j) {
    double square = 0;
    CHECK(fabs(info.values[j] - exact_eigenvalue(j + 1)) <= info.bounds[j]);
    CHECK(info.residuals[j] <= info.bounds[j] && info.bounds[j] < limit_of(type));
    for (i = 0; i < kSize; ++i) {
      const double rest = distance(product_at(&values, &vectors, kWanted, j, i), info.values[j],
                                   get(&vectors, i * kWanted + j));
      square += rest * rest;
    }
    CHECK(sqrt(square) < limit_of(type));
  }
  destroy_operand(&vectors);

  /* A polynomial of A in single precision. */
  OK(lanky_make_operator(stream, single_type, &a_single, 8, NULL, &single));
  problem.a_single = single;
  OK(lanky_lobpcg(stream, &problem, &options, &next));
  OK(lanky_eigen_result_info(next, &more, sizeof(more)));
  CHECK(more.status == LANKY_SOLVER_STATUS_CONVERGED);
  for (j = 0; j < kWanted; ++j)
    CHECK(fabs(more.values[j] - exact_eigenvalue(j + 1)) <= more.bounds[j]);
  lanky_eigen_result_destroy(next);
  problem.a_single = NULL;
  if (single_type != type) {
    problem.a_single = op;
    problem.a = single;
    FAILS(lanky_lobpcg(stream, &problem, &options, &next), LANKY_INVALID_ARGUMENT, "a_single");
    problem.a = op;
    problem.a_single = NULL;
  }
  lanky_linear_operator_destroy(single);
  destroy_operand(&single_values);

  /* Orthogonal to the first vector, from a start that has the others. */
  first = info.vectors;
  first.cols = 1;
  problem.constraints = &first;
  problem.start = &info.vectors;
  problem.preconditioner = third;
  options.k = 2;
  options.progress = NULL;
  options.allocator = NULL;
  OK(lanky_lobpcg(stream, &problem, &options, &next));
  OK(lanky_eigen_result_info(next, &more, sizeof(more)));
  CHECK(fabs(more.values[0] - exact_eigenvalue(2)) < limit_of(type));
  CHECK(fabs(more.values[1] - exact_eigenvalue(3)) < limit_of(type));
  lanky_eigen_result_destroy(next);
  lanky_eigen_result_destroy(result);
  CHECK(pool.live == 0);

  /* The largest of A x = lambda x / 3. */
  problem.constraints = NULL;
  problem.start = NULL;
  problem.preconditioner = NULL;
  problem.b = third;
  options.end = LANKY_EIGEN_END_LARGEST;
  OK(lanky_lobpcg(stream, &problem, &options, &result));
  OK(lanky_eigen_result_info(result, &info, sizeof(info)));
  CHECK(fabs(info.values[0] - 3 * exact_eigenvalue(kSize)) < 3 * limit_of(type));
  CHECK(info.values[0] >= info.values[1]);
  lanky_eigen_result_destroy(result);
  lanky_linear_operator_destroy(third);
  lanky_linear_operator_destroy(op);
  destroy_operand(&values);
}

typedef lanky_status (*LinearSolver)(const lanky_stream*, const lanky_linear_operator*,
                                     const lanky_matrix_view*, const lanky_matrix_view*,
                                     const lanky_linear_options*, const lanky_linear_operator*,
                                     lanky_linear_result**);

static void test_linear(const lanky_stream* stream, lanky_dtype type, LinearSolver solver) {
  Operand values = make_values(stream, type);
  const lanky_csr_view a = view_of(&values);
  Operand exact = make_operand(stream, type, kSize * kWanted, 4);
  Operand b = make_operand(stream, type, kSize * kWanted, 1);
  Operand x = make_operand(stream, type, kSize * kWanted, 2);
  const lanky_matrix_view b_view = matrix_of(&b, kSize, kWanted, kWanted, LANKY_LAYOUT_ROW);
  const lanky_matrix_view x_view = matrix_of(&x, kSize, kWanted, kWanted, LANKY_LAYOUT_ROW);
  lanky_linear_operator* op = NULL;
  lanky_linear_operator* inverse = NULL;
  lanky_linear_options options;
  lanky_linear_info info;
  lanky_linear_result* result = NULL;
  Watch watching;
  Pool pool;
  lanky_allocator allocator;
  double most = 0;
  int with = 0;
  int64_t i = 0;

  memset(&pool, 0, sizeof(pool));
  allocator = allocator_of(&pool);
  for (i = 0; i < b.size; ++i)
    put(&b, i, product_at(&values, &exact, kWanted, i % kWanted, i / kWanted));
  upload(&b);
  OK(lanky_make_operator(stream, type, &a, 8, NULL, &op));
  OK(lanky_block_jacobi(stream, type, &a, 7, &inverse));
  OK(lanky_linear_options_init(&options, sizeof(options)));
  options.progress = watch;
  options.user = &watching;
  for (with = 0; with < 2; ++with) {
    memset(&watching, 0, sizeof(watching));
    options.allocator = with ? &allocator : NULL;
    OK(lanky_buffer_fill_zero(x.buffer));
    OK(solver(stream, op, &b_view, &x_view, &options, with ? inverse : NULL, &result));
    OK(lanky_linear_result_info(result, &info, sizeof(info)));
    CHECK(info.status == LANKY_SOLVER_STATUS_CONVERGED && info.converged == kWanted);
    CHECK(info.columns == kWanted && info.iterations > 1 && info.history_size > 1);
    CHECK(watching.calls == info.history_size && watching.last.wanted == kWanted);
    CHECK(info.residuals[0] <= (is_narrow(type) ? 1e-4 : 1e-8));
    CHECK(info.residuals[kWanted - 1] <= (is_narrow(type) ? 1e-4 : 1e-8));
    download(&x);
    for (i = 0; i < x.size; ++i)
      most = fmax(most, distance(get(&x, i), 1, get(&exact, i)));
    CHECK(most < limit_of(type));
    lanky_linear_result_destroy(result);
  }
  CHECK(pool.served > 0 && pool.live == 0);
  lanky_linear_operator_destroy(inverse);
  lanky_linear_operator_destroy(op);
  destroy_operand(&x);
  destroy_operand(&b);
  destroy_operand(&exact);
  destroy_operand(&values);
}

/* |A v - s u| of each triplet. */
static void check_triplets(const lanky_stream* stream, lanky_dtype type, const Operand* values,
                           const lanky_svd_info* info) {
  Operand u = host_copy(stream, type, info->u);
  Operand v = host_copy(stream, type, info->v);
  int64_t i = 0;
  int j = 0;
  CHECK(info->k == kWanted && info->u.rows == kSize / 2 && info->v.rows == kSize);
  for (j = 0; j < kWanted; ++j) {
    double square = 0;
    double length = 0;
    for (i = 0; i < kSize / 2; ++i) {
      const Number at_u = get(&u, i * kWanted + j);
      const double rest = distance(product_at(values, &v, kWanted, j, i), info->values[j], at_u);
      square += rest * rest;
      length += at_u.re * at_u.re + at_u.im * at_u.im;
    }
    CHECK(sqrt(square) < 5 * limit_of(type) && fabs(length - 1) < limit_of(type));
    CHECK(info->values[j] > 4 && info->values[j] < 5.1);
  }
  destroy_operand(&v);
  destroy_operand(&u);
}

static void test_svds(const lanky_stream* stream, lanky_dtype type) {
  Operand values = make_values(stream, type);
  const lanky_csr_view a = wide_view_of(&values);
  lanky_sparse_options adjoint_options;
  lanky_sparse_plan* plan = NULL;
  lanky_sparse_plan* adjoint = NULL;
  lanky_linear_operator* op = NULL;
  lanky_svd_options options;
  lanky_svd_info info;
  lanky_svd_result* result = NULL;
  lanky_operator_functions given;
  Functions functions;
  double expected = 0;
  int way = 0;

  memset(&functions, 0, sizeof(functions));
  OK(lanky_sparse_options_init(&adjoint_options, sizeof(adjoint_options)));
  adjoint_options.op = LANKY_OP_CONJ_TRANS;
  OK(lanky_sparse_plan_create(stream, type, type, &a, NULL, &plan));
  OK(lanky_sparse_plan_create(stream, type, type, &a, &adjoint_options, &adjoint));
  functions.plan = plan;
  functions.adjoint = adjoint;
  OK(lanky_svd_options_init(&options, sizeof(options)));
  CHECK(options.k == 6 && options.method == LANKY_SVD_METHOD_GOLUB_KAHAN);
  CHECK(options.oversampling == 10 && options.power_iterations == 4);
  options.k = kWanted;
  for (way = 0; way < 3; ++way) {
    if (way == 0) {
      OK(lanky_make_operator_with_adjoint(stream, type, &a, 8, NULL, &op));
    } else if (way == 1) {
      OK(lanky_linear_operator_from_plan(plan, adjoint, &op));
    } else {
      given = functions_of(&functions);
      given.adjoint = apply_adjoint_plan;
      given.bytes = 1e4;
      OK(lanky_linear_operator_create(type, a.rows, a.cols, &given, &op));
    }
    OK(lanky_svds(stream, op, &options, &result));
    OK(lanky_svd_result_info(result, &info, sizeof(info)));
    CHECK(info.status == LANKY_SOLVER_STATUS_CONVERGED && info.converged == kWanted);
    CHECK(info.means == NULL && info.residuals[0] < 5 * limit_of(type));
    check_triplets(stream, type, &values, &info);
    if (way == 0) expected = info.values[0];
    CHECK(fabs(info.values[0] - expected) < limit_of(type));
    lanky_svd_result_destroy(result);
    if (way < 2) lanky_linear_operator_destroy(op);
  }
  CHECK(functions.calls > 0);
  lanky_linear_operator_destroy(op);
  op = NULL;
  FAILS(lanky_linear_operator_from_plan(plan, plan, &op), LANKY_SIZE_MISMATCH, "100");
  CHECK(op == NULL);
  OK(lanky_linear_operator_from_plan(plan, adjoint, &op));
  options.method = LANKY_SVD_METHOD_RANDOMIZED;
  options.center = 1;
  OK(lanky_svds(stream, op, &options, &result));
  OK(lanky_svd_result_info(result, &info, sizeof(info)));
  CHECK(info.means != NULL && fabs(info.means[kSize - 1]) < limit_of(type));
  CHECK(info.means != NULL &&
        fabs(info.means[1] - (3 + 2 * get(&values, 1).re) / (kSize / 2)) < limit_of(type));
  lanky_svd_result_destroy(result);
  lanky_linear_operator_destroy(op);
  lanky_sparse_plan_destroy(adjoint);
  lanky_sparse_plan_destroy(plan);
  destroy_operand(&values);
}

static void test_cholesky_qr(const lanky_stream* stream, lanky_dtype type) {
  Operand a = make_operand(stream, type, kTallRows * kWanted, 1);
  Operand q = make_operand(stream, type, kTallRows * kWanted, 2);
  Operand r = make_operand(stream, type, kWanted * kWanted, 3);
  const lanky_matrix_view a_view = matrix_of(&a, kTallRows, kWanted, kTallRows, LANKY_LAYOUT_COL);
  const lanky_matrix_view q_view = matrix_of(&q, kTallRows, kWanted, kTallRows, LANKY_LAYOUT_COL);
  const lanky_matrix_view r_view = matrix_of(&r, kWanted, kWanted, kWanted, LANKY_LAYOUT_COL);
  lanky_matrix_view bad = q_view;
  lanky_cholesky_qr_options options;
  lanky_cholesky_qr* qr = NULL;
  Pool pool;
  lanky_allocator allocator;
  char text[16384];
  size_t length = 0;
  double most = 0;
  int64_t i = 0;
  int64_t j = 0;
  int64_t k = 0;
  int shifted = 0;

  memset(&pool, 0, sizeof(pool));
  allocator = allocator_of(&pool);
  OK(lanky_cholesky_qr_options_init(&options, sizeof(options)));
  options.allocator = &allocator;
  for (shifted = 0; shifted < 2; ++shifted) {
    options.shifted = shifted;
    OK(lanky_cholesky_qr_create(stream, type, kTallRows, kWanted, &options, &qr));
    CHECK(pool.live > 0);
    OK(lanky_cholesky_qr_run(qr, &a_view, &q_view, &r_view));
    OK(lanky_cholesky_qr_check(qr));
    download(&q);
    download(&r);
    for (j = 0; j < kWanted; ++j) {
      CHECK(get(&r, at(&r_view, j, j)).re > 0);
      for (k = j + 1; k < kWanted; ++k)
        CHECK(distance(get(&r, at(&r_view, k, j)), 0, number(0, 0)) == 0);
      for (i = 0; i < kTallRows; ++i) {
        Number sum = number(0, 0);
        for (k = 0; k <= j; ++k)
          sum = plus_product(sum, get(&q, at(&q_view, i, k)), get(&r, at(&r_view, k, j)));
        most = fmax(most, distance(get(&a, at(&a_view, i, j)), 1, sum));
      }
    }
    CHECK(most < (is_narrow(type) ? 1e-5 : 1e-13));
    OK(lanky_cholesky_qr_explain(qr, text, sizeof(text), &length));
    CHECK(length > 0 && length == strlen(text));
    if (shifted == 0) lanky_cholesky_qr_destroy(qr);
  }
  bad.rows = kTallRows - 1;
  FAILS(lanky_cholesky_qr_run(qr, &a_view, &bad, &r_view), LANKY_SIZE_MISMATCH, "40");
  FAILS(lanky_cholesky_qr_run(qr, NULL, &q_view, &r_view), LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_cholesky_qr_run(qr, &a_view, NULL, &r_view), LANKY_INVALID_ARGUMENT, "q is NULL");
  FAILS(lanky_cholesky_qr_run(qr, &a_view, &q_view, NULL), LANKY_INVALID_ARGUMENT, "r is NULL");
  lanky_cholesky_qr_destroy(qr);
  CHECK(pool.live == 0);

  /* Columns that are equal. */
  for (i = 0; i < a.size; ++i)
    put(&a, i, number((double)(i % kTallRows % 5), 0));
  upload(&a);
  OK(lanky_cholesky_qr_create(stream, type, kTallRows, kWanted, NULL, &qr));
  OK(lanky_cholesky_qr_run(qr, &a_view, &q_view, &r_view));
  FAILS(lanky_cholesky_qr_check(qr), LANKY_UNSUPPORTED, "pivot");
  lanky_cholesky_qr_destroy(qr);
  destroy_operand(&r);
  destroy_operand(&q);
  destroy_operand(&a);
}

/* What ends a solver from within: the caller's functions. */
static void test_callbacks(const lanky_stream* stream) {
  const lanky_dtype type = LANKY_DTYPE_F64;
  Operand values = make_values(stream, type);
  const lanky_csr_view a = view_of(&values);
  Operand b = make_operand(stream, type, kSize, 1);
  Operand x = make_operand(stream, type, kSize, 2);
  const lanky_matrix_view b_view = matrix_of(&b, kSize, 1, 1, LANKY_LAYOUT_ROW);
  const lanky_matrix_view x_view = matrix_of(&x, kSize, 1, 1, LANKY_LAYOUT_ROW);
  lanky_sparse_plan* plan = NULL;
  lanky_linear_operator* op = NULL;
  lanky_eigen_problem problem;
  lanky_eigen_options options;
  lanky_eigen_result* eigen = NULL;
  lanky_eigen_info info;
  lanky_linear_options linear_options;
  lanky_linear_result* linear = NULL;
  lanky_linear_info linear_info;
  lanky_operator_functions given;
  Functions functions;
  Watch watching;

  memset(&functions, 0, sizeof(functions));
  memset(&watching, 0, sizeof(watching));
  OK(lanky_sparse_plan_create(stream, type, type, &a, NULL, &plan));
  functions.plan = plan;
  given = functions_of(&functions);
  OK(lanky_linear_operator_create(type, kSize, kSize, &given, &op));
  CHECK(lanky_linear_operator_has_adjoint(op) == 0);
  OK(lanky_eigen_problem_init(&problem, sizeof(problem)));
  OK(lanky_eigen_options_init(&options, sizeof(options)));
  OK(lanky_linear_options_init(&linear_options, sizeof(linear_options)));
  problem.a = op;
  options.k = kWanted;
  options.progress = watch;
  options.user = &watching;
  linear_options.progress = watch;
  linear_options.user = &watching;

  OK(lanky_lobpcg(stream, &problem, &options, &eigen));
  CHECK(functions.calls > 0);
  lanky_eigen_result_destroy(eigen);

  functions.calls = 0;
  functions.fails_at = 3;
  functions.status = LANKY_DEVICE_ERROR;
  FAILS(lanky_lobpcg(stream, &problem, &options, &eigen), LANKY_DEVICE_ERROR,
        "the caller's function apply returned the status 9 (device)");
  CHECK(eigen == NULL && functions.calls == 3);
  CHECK(strstr(lanky_last_error(), "device): ") == NULL);
  functions.calls = 0;
  functions.status = 1000; /* a status of the caller's own */
  FAILS(lanky_cg(stream, op, &b_view, &x_view, NULL, NULL, &linear), 1000, "1000 (unknown)");
  CHECK(linear == NULL);
  functions.calls = 0;
  functions.status = LANKY_SUCCESS; /* lanky's own failure within the function */
  FAILS(lanky_minres(stream, op, &b_view, &x_view, NULL, NULL, &linear), LANKY_INVALID_ARGUMENT,
        "(invalid_argument): y is NULL");
  functions.fails_at = 0;

  watching.calls = 0;
  watching.stops_at = 2;
  OK(lanky_lobpcg(stream, &problem, &options, &eigen));
  OK(lanky_eigen_result_info(eigen, &info, sizeof(info)));
  CHECK(info.status == LANKY_SOLVER_STATUS_STOPPED && info.iterations == 2);
  lanky_eigen_result_destroy(eigen);
  watching.calls = 0;
  OK(lanky_block_cg(stream, op, &b_view, &x_view, &linear_options, NULL, &linear));
  OK(lanky_linear_result_info(linear, &linear_info, sizeof(linear_info)));
  CHECK(linear_info.status == LANKY_SOLVER_STATUS_STOPPED && linear_info.converged == 0);
  CHECK(linear_info.history_size == 2);
  lanky_linear_result_destroy(linear);
  watching.calls = 0;
  watching.status = -77;
  FAILS(lanky_lobpcg(stream, &problem, &options, &eigen), -77,
        "the caller's progress function returned the status -77 (unknown)");
  CHECK(eigen == NULL);

  lanky_linear_operator_destroy(op);
  lanky_sparse_plan_destroy(plan);
  destroy_operand(&x);
  destroy_operand(&b);
  destroy_operand(&values);
}

static void test_refused_operators(const lanky_stream* stream) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  Operand values = make_values(stream, f64);
  Operand halves = make_operand(stream, LANKY_DTYPE_F16, kNonzeros, 1);
  Operand singles = make_operand(stream, LANKY_DTYPE_F32, kNonzeros, 1);
  const lanky_csr_view a = view_of(&values);
  const lanky_csr_view wide = wide_view_of(&values);
  const lanky_csr_view half_view = view_of(&halves);
  const lanky_csr_view single_view = view_of(&singles);
  lanky_sparse_plan* plan = NULL;
  lanky_sparse_plan* half_plan = NULL;
  lanky_sparse_plan* single_plan = NULL;
  lanky_linear_operator* op = NULL;
  lanky_buffer* buffer = NULL;
  lanky_operator_functions given;
  Functions functions;

  memset(&functions, 0, sizeof(functions));
  OK(lanky_sparse_plan_create(stream, f64, f64, &a, NULL, &plan));
  OK(lanky_sparse_plan_create(stream, LANKY_DTYPE_F16, LANKY_DTYPE_F32, &half_view, NULL,
                              &half_plan));
  OK(lanky_sparse_plan_create(stream, LANKY_DTYPE_F32, LANKY_DTYPE_F32, &single_view, NULL,
                              &single_plan));
  FAILS(lanky_linear_operator_from_plan(NULL, NULL, &op), LANKY_INVALID_ARGUMENT, "plan is NULL");
  FAILS(lanky_linear_operator_from_plan(plan, NULL, NULL), LANKY_INVALID_ARGUMENT, "op is NULL");
  FAILS(lanky_linear_operator_from_plan(half_plan, NULL, &op), LANKY_UNSUPPORTED, "f16");
  FAILS(lanky_linear_operator_from_plan(plan, single_plan, &op), LANKY_INVALID_ARGUMENT,
        "not of the type f64");
  CHECK(op == NULL);

  given = functions_of(&functions);
  FAILS(lanky_linear_operator_create(f64, 3, 3, NULL, &op), LANKY_INVALID_ARGUMENT,
        "functions is NULL");
  FAILS(lanky_linear_operator_create(f64, 3, 3, &given, NULL), LANKY_INVALID_ARGUMENT,
        "op is NULL");
  FAILS(lanky_linear_operator_create(LANKY_DTYPE_BF16, 3, 3, &given, &op), LANKY_UNSUPPORTED,
        "bf16");
  FAILS(lanky_linear_operator_create(17, 3, 3, &given, &op), LANKY_INVALID_ARGUMENT, "type is 17");
  FAILS(lanky_linear_operator_create(f64, -3, 3, &given, &op), LANKY_INVALID_ARGUMENT, "-3 x 3");
  given.bytes = -1;
  FAILS(lanky_linear_operator_create(f64, 3, 3, &given, &op), LANKY_INVALID_ARGUMENT, "bytes");
  given.bytes = 0;
  given.reserved = 4;
  FAILS(lanky_linear_operator_create(f64, 3, 3, &given, &op), LANKY_INVALID_ARGUMENT, "reserved");
  given.reserved = 0;
  given.apply = NULL;
  FAILS(lanky_linear_operator_create(f64, 3, 3, &given, &op), LANKY_INVALID_ARGUMENT,
        "without a function");

  FAILS(lanky_make_operator(NULL, f64, &a, 8, NULL, &op), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_make_operator(stream, f64, NULL, 8, NULL, &op), LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_make_operator(stream, f64, &a, 0, NULL, &op), LANKY_INVALID_ARGUMENT, "0");
  FAILS(lanky_make_operator(stream, LANKY_DTYPE_F16, &half_view, 8, NULL, &op), LANKY_UNSUPPORTED,
        "f16");
  FAILS(lanky_make_operator_with_adjoint(stream, f64, &a, 8, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "op is NULL");
  FAILS(lanky_jacobi(stream, f64, &wide, &op), LANKY_INVALID_ARGUMENT, "50 x 100");
  FAILS(lanky_jacobi(stream, f64, NULL, &op), LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_block_jacobi(stream, f64, &a, 65, &op), LANKY_INVALID_ARGUMENT, "65 rows");
  FAILS(lanky_block_jacobi(NULL, f64, &a, 4, &op), LANKY_INVALID_ARGUMENT, "stream is NULL");
  CHECK(lanky_linear_operator_rows(NULL) == -1 && lanky_linear_operator_cols(NULL) == -1);
  CHECK(lanky_linear_operator_dtype(NULL) == -1 && lanky_linear_operator_has_adjoint(NULL) == -1);
  lanky_linear_operator_destroy(NULL);
  FAILS(lanky_buffer_wrap(stream, NULL, 8, &buffer), LANKY_INVALID_ARGUMENT, "data is NULL");
  FAILS(lanky_buffer_wrap(NULL, &values, 8, &buffer), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_buffer_wrap(stream, &values, -8, &buffer), LANKY_INVALID_ARGUMENT, "-8");
  lanky_sparse_plan_destroy(single_plan);
  lanky_sparse_plan_destroy(half_plan);
  lanky_sparse_plan_destroy(plan);
  destroy_operand(&singles);
  destroy_operand(&halves);
  destroy_operand(&values);
}

static void test_refused_solvers(const lanky_stream* stream) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  Operand values = make_values(stream, f64);
  Operand singles = make_values(stream, LANKY_DTYPE_F32);
  Operand b = make_operand(stream, f64, kSize, 1);
  Operand x = make_operand(stream, f64, kSize, 1);
  const lanky_csr_view a = view_of(&values);
  const lanky_csr_view single_view = view_of(&singles);
  lanky_matrix_view b_view = matrix_of(&b, kSize, 1, 1, LANKY_LAYOUT_ROW);
  const lanky_matrix_view x_view = matrix_of(&x, kSize, 1, 1, LANKY_LAYOUT_ROW);
  lanky_linear_operator* op = NULL;
  lanky_linear_operator* single = NULL;
  lanky_eigen_problem problem;
  lanky_eigen_options options;
  lanky_eigen_result* eigen = NULL;
  lanky_eigen_info info;
  lanky_linear_options linear_options;
  lanky_linear_result* linear = NULL;
  lanky_linear_info linear_info;
  lanky_svd_options svd_options;
  lanky_svd_result* svd = NULL;
  lanky_svd_info svd_info;
  lanky_cholesky_qr* qr = NULL;
  char text[8];

  OK(lanky_make_operator(stream, f64, &a, 8, NULL, &op));
  OK(lanky_make_operator(stream, LANKY_DTYPE_F32, &single_view, 8, NULL, &single));
  OK(lanky_eigen_problem_init(&problem, sizeof(problem)));
  FAILS(lanky_lobpcg(stream, NULL, NULL, &eigen), LANKY_INVALID_ARGUMENT, "problem is NULL");
  FAILS(lanky_lobpcg(stream, &problem, NULL, &eigen), LANKY_INVALID_ARGUMENT,
        "a of the problem is NULL");
  problem.a = op;
  FAILS(lanky_lobpcg(NULL, &problem, NULL, &eigen), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_lobpcg(stream, &problem, NULL, NULL), LANKY_INVALID_ARGUMENT, "result is NULL");
  problem.b = single;
  FAILS(lanky_lobpcg(stream, &problem, NULL, &eigen), LANKY_INVALID_ARGUMENT,
        "b is of f32, but f64 is needed");
  problem.b = NULL;
  b_view.rows = kSize - 1;
  problem.start = &b_view;
  FAILS(lanky_lobpcg(stream, &problem, NULL, &eigen), LANKY_INVALID_ARGUMENT, "99 rows");
  problem.start = NULL;
  OK(lanky_eigen_options_init(&options, sizeof(options)));
  options.k = kSize + 1;
  FAILS(lanky_lobpcg(stream, &problem, &options, &eigen), LANKY_INVALID_ARGUMENT, "101 eigenpairs");
  options.k = 1;
  options.end = 2;
  FAILS(lanky_lobpcg(stream, &problem, &options, &eigen), LANKY_INVALID_ARGUMENT, "end is 2");
  options.end = 0;
  options.reserved = 1;
  FAILS(lanky_lobpcg(stream, &problem, &options, &eigen), LANKY_INVALID_ARGUMENT, "reserved");
  CHECK(eigen == NULL);
  FAILS(lanky_eigen_result_info(NULL, &info, sizeof(info)), LANKY_INVALID_ARGUMENT,
        "result is NULL");
  CHECK(info.values == NULL && info.k == 0);
  lanky_eigen_result_destroy(NULL);

  FAILS(lanky_cg(stream, NULL, &x_view, &x_view, NULL, NULL, &linear), LANKY_INVALID_ARGUMENT,
        "a is NULL");
  FAILS(lanky_cg(NULL, op, &x_view, &x_view, NULL, NULL, &linear), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_cg(stream, op, NULL, &x_view, NULL, NULL, &linear), LANKY_INVALID_ARGUMENT,
        "b is NULL");
  FAILS(lanky_block_cg(stream, op, &x_view, NULL, NULL, NULL, &linear), LANKY_INVALID_ARGUMENT,
        "x is NULL");
  FAILS(lanky_minres(stream, op, &b_view, &x_view, NULL, NULL, &linear), LANKY_INVALID_ARGUMENT,
        "99 x 1");
  FAILS(lanky_minres(stream, op, &x_view, &x_view, NULL, single, &linear), LANKY_INVALID_ARGUMENT,
        "the preconditioner is of f32");
  FAILS(lanky_cg(stream, op, &x_view, &x_view, NULL, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "result is NULL");
  OK(lanky_linear_options_init(&linear_options, sizeof(linear_options)));
  linear_options.tolerance = -1;
  FAILS(lanky_cg(stream, op, &x_view, &x_view, &linear_options, NULL, &linear),
        LANKY_INVALID_ARGUMENT, "-1");
  linear_options.tolerance = 0;
  linear_options.reserved = 1;
  FAILS(lanky_cg(stream, op, &x_view, &x_view, &linear_options, NULL, &linear),
        LANKY_INVALID_ARGUMENT, "reserved");
  FAILS(lanky_linear_result_info(NULL, &linear_info, sizeof(linear_info)), LANKY_INVALID_ARGUMENT,
        "result is NULL");
  lanky_linear_result_destroy(NULL);

  FAILS(lanky_svds(stream, op, NULL, &svd), LANKY_INVALID_ARGUMENT, "adjoint");
  FAILS(lanky_svds(stream, NULL, NULL, &svd), LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_svds(NULL, op, NULL, &svd), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_svds(stream, op, NULL, NULL), LANKY_INVALID_ARGUMENT, "result is NULL");
  OK(lanky_svd_options_init(&svd_options, sizeof(svd_options)));
  svd_options.method = -1;
  FAILS(lanky_svds(stream, op, &svd_options, &svd), LANKY_INVALID_ARGUMENT, "method is -1");
  FAILS(lanky_svd_result_info(NULL, &svd_info, sizeof(svd_info)), LANKY_INVALID_ARGUMENT,
        "result is NULL");
  lanky_svd_result_destroy(NULL);

  FAILS(lanky_cholesky_qr_create(stream, f64, 3, 4, NULL, &qr), LANKY_INVALID_ARGUMENT, "4");
  FAILS(lanky_cholesky_qr_create(stream, LANKY_DTYPE_F16, 4, 3, NULL, &qr), LANKY_UNSUPPORTED,
        "f16");
  FAILS(lanky_cholesky_qr_create(NULL, f64, 4, 3, NULL, &qr), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_cholesky_qr_create(stream, f64, 4, 3, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "qr is NULL");
  FAILS(lanky_cholesky_qr_run(NULL, &b_view, &b_view, &b_view), LANKY_INVALID_ARGUMENT,
        "qr is NULL");
  FAILS(lanky_cholesky_qr_check(NULL), LANKY_INVALID_ARGUMENT, "qr is NULL");
  FAILS(lanky_cholesky_qr_explain(NULL, text, sizeof(text), NULL), LANKY_INVALID_ARGUMENT,
        "qr is NULL");
  lanky_cholesky_qr_destroy(NULL);
  lanky_linear_operator_destroy(single);
  lanky_linear_operator_destroy(op);
  destroy_operand(&x);
  destroy_operand(&b);
  destroy_operand(&singles);
  destroy_operand(&values);
}

void test_solvers(const lanky_stream* stream) {
  int i = 0;
  for (i = 0; i < kVectorTypes; ++i) {
    test_operators(stream, kVectors[i]);
    test_lobpcg(stream, kVectors[i]);
    test_linear(stream, kVectors[i], lanky_cg);
    test_linear(stream, kVectors[i], lanky_block_cg);
    test_linear(stream, kVectors[i], lanky_minres);
    test_svds(stream, kVectors[i]);
    test_cholesky_qr(stream, kVectors[i]);
  }
  test_callbacks(stream);
  test_refused_operators(stream);
  test_refused_solvers(stream);
}
