/* Sparse products of every pair of types, exact, and what plans and one-liners refuse. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "operands.h"

/* y = alpha A x + beta y of the matrix of operands.h, for column j of X and Y. */
static void expect(const Operand* a, const Operand* x, const lanky_matrix_view* x_view,
                   const Operand* y_before, const Operand* y, const lanky_matrix_view* y_view,
                   Number alpha, Number beta) {
  int64_t i = 0;
  int64_t j = 0;
  for (j = 0; j < x_view->cols; ++j) {
    for (i = 0; i < kRows; ++i) {
      Number sum = number(0, 0);
      Number wanted;
      Number found;
      int32_t k = 0;
      for (k = kOffsets32[i]; k < kOffsets32[i + 1]; ++k)
        sum = plus_product(sum, get(a, k), get(x, at(x_view, kColumns[k], j)));
      wanted = plus_product(number(0, 0), alpha, sum);
      if (beta.re != 0 || beta.im != 0)
        wanted = plus_product(wanted, beta, get(y_before, at(y_view, i, j)));
      found = get(y, at(y_view, i, j));
      CHECK(found.re == wanted.re && found.im == wanted.im);
    }
  }
}

/* The view of a vector as a matrix of one column. */
static lanky_matrix_view column_of(const Operand* operand) {
  return matrix_of(operand, operand->size, 1, operand->size, LANKY_LAYOUT_COL);
}

static void test_vectors(const lanky_stream* stream, lanky_dtype type, lanky_dtype out) {
  Operand a = make_operand(stream, type, kEntries, 1);
  Operand x = make_operand(stream, type, kCols, 2);
  Operand y = make_operand(stream, out, kRows, 3);
  const Operand before = y;
  const Number one = number(1, 0);
  const Number zero = number(0, 0);
  const Number alpha = as_type(type, number(2, 1));
  const Number beta = as_type(type, number(-3, 1));
  double alpha_memory[2];
  double beta_memory[2];
  lanky_csr_view csr = csr_of(&a);
  lanky_vector_view x_view = vector_of(&x);
  lanky_vector_view y_view = vector_of(&y);
  lanky_matrix_view x_column = column_of(&x);
  lanky_matrix_view y_column = column_of(&y);
  lanky_sparse_plan* plan = NULL;
  Operand scalars = make_operand(stream, lanky_dtype_accumulator(type), 2, 0);
  const size_t scalar_size = lanky_dtype_size_of(scalars.type);
  lanky_run_options run;
  Operand fresh = make_operand(stream, type, kEntries, 9);
  lanky_vector_view fresh_view = vector_of(&fresh);

  OK(lanky_sparse_plan_create(stream, type, out, &csr, NULL, &plan));
  OK(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, NULL));
  download(&y);
  expect(&a, &x, &x_column, &before, &y, &y_column, one, zero);

  memcpy(y.host, before.host, sizeof(y.host));
  upload(&y);
  OK(lanky_sparse_plan_run(plan, stream, scalar_of(type, alpha, alpha_memory), &x_view,
                           scalar_of(type, beta, beta_memory), &y_view, NULL));
  download(&y);
  expect(&a, &x, &x_column, &before, &y, &y_column, alpha, beta);

  /* Scalars in the memory of the device, and a workspace that the caller lends. */
  put(&scalars, 0, alpha);
  put(&scalars, 1, beta);
  upload(&scalars);
  memcpy(y.host, before.host, sizeof(y.host));
  upload(&y);
  OK(lanky_run_options_init(&run, sizeof(run)));
  run.alpha_memory = LANKY_MEMORY_DEVICE;
  run.beta_memory = LANKY_MEMORY_DEVICE;
  OK(lanky_sparse_plan_run(plan, stream, lanky_buffer_data(scalars.buffer), &x_view,
                           (const char*)lanky_buffer_data(scalars.buffer) + scalar_size, &y_view,
                           &run));
  download(&y);
  expect(&a, &x, &x_column, &before, &y, &y_column, alpha, beta);

  /* New values, from host memory and from the device's. */
  fresh_view.data = fresh.host;
  OK(lanky_sparse_plan_update_values(plan, stream, &fresh_view));
  OK(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, NULL));
  download(&y);
  expect(&fresh, &x, &x_column, &before, &y, &y_column, one, zero);
  put(&fresh, 0, number(2, 0));
  upload(&fresh);
  fresh_view = vector_of(&fresh);
  OK(lanky_sparse_plan_update_values(plan, stream, &fresh_view));
  OK(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, NULL));
  download(&y);
  expect(&fresh, &x, &x_column, &before, &y, &y_column, one, zero);
  lanky_sparse_plan_destroy(plan);

  memcpy(y.host, before.host, sizeof(y.host));
  upload(&y);
  csr.row_offsets = kOffsets64;
  csr.offset_bytes = 8;
  OK(lanky_spmv(stream, type, out, alpha_memory, &csr, &x_view, beta_memory, &y_view));
  download(&y);
  expect(&a, &x, &x_column, &before, &y, &y_column, alpha, beta);
  OK(lanky_spmv(stream, type, out, NULL, &csr, &x_view, NULL, &y_view));
  download(&y);
  expect(&a, &x, &x_column, &before, &y, &y_column, one, zero);

  destroy_operand(&fresh);
  destroy_operand(&scalars);
  destroy_operand(&y);
  destroy_operand(&x);
  destroy_operand(&a);
}

static void test_matrices(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                          lanky_layout layout) {
  enum { kColumnsOfX = 5, kLd = 7 };
  Operand a = make_operand(stream, type, kEntries, 1);
  Operand x = make_operand(stream, type, kLd * kLd, 2);
  Operand y = make_operand(stream, out, kLd * kLd, 3);
  const Operand before = y;
  const Number alpha = as_type(type, number(2, 1));
  const Number beta = as_type(type, number(1, 1));
  double alpha_memory[2];
  double beta_memory[2];
  lanky_csr_view csr = csr_of(&a);
  /* X and Y stand the other way round, as each has a layout of its own. */
  lanky_matrix_view x_view = matrix_of(&x, kCols, kColumnsOfX, kLd, layout);
  lanky_matrix_view y_view = matrix_of(&y, kRows, kColumnsOfX, kLd, 1 - layout);
  lanky_sparse_options options;
  lanky_run_options run;
  lanky_sparse_plan* plan = NULL;
  lanky_buffer* workspace = NULL;
  int64_t i = 0;
  int64_t inside = 0;

  OK(lanky_sparse_options_init(&options, sizeof(options)));
  options.expected_columns = kColumnsOfX;
  options.expected_layout = layout;
  OK(lanky_sparse_plan_create(stream, type, out, &csr, &options, &plan));
  OK(lanky_sparse_plan_run_matrix(plan, stream, scalar_of(type, alpha, alpha_memory), &x_view,
                                  scalar_of(type, beta, beta_memory), &y_view, NULL));
  download(&y);
  expect(&a, &x, &x_view, &before, &y, &y_view, alpha, beta);
  for (i = 0; i < y.size; ++i) {
    const int64_t major = i / kLd;
    const int64_t minor = i % kLd;
    const int is_inside = y_view.layout == LANKY_LAYOUT_COL ? major < kColumnsOfX && minor < kRows
                                                            : major < kRows && minor < kColumnsOfX;
    inside += is_inside;
    if (!is_inside)
      CHECK(get(&y, i).re == get(&before, i).re && get(&y, i).im == get(&before, i).im);
  }
  CHECK(inside == kRows * kColumnsOfX);

  memcpy(y.host, before.host, sizeof(y.host));
  upload(&y);
  OK(lanky_buffer_create(stream, lanky_sparse_plan_workspace_bytes(plan), NULL, &workspace));
  OK(lanky_run_options_init(&run, sizeof(run)));
  run.workspace = lanky_buffer_data(workspace);
  run.workspace_bytes = lanky_buffer_bytes(workspace);
  OK(lanky_sparse_plan_run_matrix(plan, stream, alpha_memory, &x_view, beta_memory, &y_view, &run));
  download(&y);
  expect(&a, &x, &x_view, &before, &y, &y_view, alpha, beta);

  memcpy(y.host, before.host, sizeof(y.host));
  upload(&y);
  OK(lanky_spmm(stream, type, out, alpha_memory, &csr, &x_view, beta_memory, &y_view));
  download(&y);
  expect(&a, &x, &x_view, &before, &y, &y_view, alpha, beta);

  lanky_buffer_destroy(workspace);
  lanky_sparse_plan_destroy(plan);
  destroy_operand(&y);
  destroy_operand(&x);
  destroy_operand(&a);
}

/* What a plan tells of itself; and that copies of the same plan have the same fingerprint. */
static void test_properties(const lanky_stream* stream) {
  Operand a = make_operand(stream, LANKY_DTYPE_F64, kEntries, 1);
  lanky_csr_view csr = csr_of(&a);
  lanky_sparse_options options;
  lanky_sparse_plan* plan = NULL;
  lanky_sparse_plan* twin = NULL;
  lanky_sparse_plan* transposed = NULL;
  lanky_sparse_info info;
  lanky_sparse_trial trial;
  lanky_device device = lanky_stream_device(stream);
  char text[8192];
  size_t length = 0;
  int64_t i = 0;

  OK(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &csr, NULL, &plan));
  OK(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &csr, NULL, &twin));
  OK(lanky_sparse_options_init(&options, sizeof(options)));
  options.op = LANKY_OP_TRANS;
  options.updates = 1;
  options.tune = 1;
  OK(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &csr, &options,
                              &transposed));
  CHECK(lanky_sparse_plan_rows(plan) == kRows && lanky_sparse_plan_cols(plan) == kCols);
  CHECK(lanky_sparse_plan_rows(transposed) == kCols && lanky_sparse_plan_cols(transposed) == kRows);
  CHECK(lanky_sparse_plan_nnz(plan) == kEntries);
  CHECK(lanky_sparse_plan_device(plan).kind == device.kind);
  CHECK(lanky_sparse_plan_device(plan).index == device.index);
  CHECK(lanky_sparse_plan_workspace_bytes(plan) >= 0);
  CHECK(lanky_sparse_plan_device_bytes(plan) > 0);
  CHECK(lanky_sparse_plan_fingerprint(plan) == lanky_sparse_plan_fingerprint(twin));
  CHECK(lanky_sparse_plan_fingerprint(plan) != lanky_sparse_plan_fingerprint(transposed));
  OK(lanky_sparse_plan_explain(plan, text, sizeof(text), &length));
  CHECK(length > 0 && length == strlen(text));
  OK(lanky_sparse_plan_info(plan, &info, sizeof(info)));
  CHECK(info.trial_count == 0 && info.kept == 0);
  CHECK((info.engine == LANKY_ENGINE_AUTOMATIC) == (device.kind == LANKY_DEVICE_KIND_CPU));
  FAILS(lanky_sparse_plan_trial(plan, 0, &trial, sizeof(trial)), LANKY_INVALID_ARGUMENT,
        "index is 0");
  OK(lanky_sparse_plan_info(transposed, &info, sizeof(info)));
  CHECK(info.trial_count >= 1 && info.kept >= 0 && info.kept < info.trial_count);
  for (i = 0; i < info.trial_count; ++i) {
    OK(lanky_sparse_plan_trial(transposed, i, &trial, sizeof(trial)));
    CHECK(strlen(trial.shape) > 0 && trial.ratio > 0);
  }
  FAILS(lanky_sparse_plan_trial(transposed, info.trial_count, &trial, sizeof(trial)),
        LANKY_INVALID_ARGUMENT, "trials");

  CHECK(lanky_sparse_plan_rows(NULL) == -1 && lanky_sparse_plan_cols(NULL) == -1);
  CHECK(lanky_sparse_plan_nnz(NULL) == -1 && lanky_sparse_plan_workspace_bytes(NULL) == -1);
  CHECK(lanky_sparse_plan_device_bytes(NULL) == -1 && lanky_sparse_plan_fingerprint(NULL) == 0);
  CHECK(lanky_sparse_plan_device(NULL).kind == -1);
  CHECK(strcmp(lanky_last_error(), "plan is NULL") == 0);
  FAILS(lanky_sparse_plan_explain(NULL, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  FAILS(lanky_sparse_plan_info(NULL, &info, sizeof(info)), LANKY_INVALID_ARGUMENT, "plan is NULL");
  FAILS(lanky_sparse_plan_info(plan, NULL, sizeof(info)), LANKY_INVALID_ARGUMENT,
        "lanky_sparse_info");
  FAILS(lanky_sparse_plan_trial(NULL, 0, &trial, sizeof(trial)), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  lanky_sparse_plan_destroy(transposed);
  lanky_sparse_plan_destroy(twin);
  lanky_sparse_plan_destroy(plan);
  lanky_sparse_plan_destroy(NULL);
  destroy_operand(&a);
}

/* One change of the options or the matrix that a plan refuses. */
static void refuse(const lanky_stream* stream, const lanky_csr_view* csr,
                   const lanky_sparse_options* options, lanky_status status, const char* part) {
  lanky_sparse_plan* plan = (lanky_sparse_plan*)(void*)&status; /* any pointer but NULL */
  FAILS(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, csr, options, &plan),
        status, part);
  CHECK(plan == NULL);
}

static void test_refused_plans(const lanky_stream* stream) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  Operand a = make_operand(stream, f64, kEntries, 1);
  const int32_t descending[kRows + 1] = {0, 5, 3, 6};
  const int32_t outside[kEntries] = {2, 0, 3, 1, 1, 4};
  lanky_csr_view csr = csr_of(&a);
  lanky_csr_view bad = csr;
  lanky_sparse_options defaults;
  lanky_sparse_options options;
  lanky_sparse_plan* plan = NULL;
  Pool pool;
  lanky_allocator allocator;

  memset(&pool, 0, sizeof(pool));
  allocator = allocator_of(&pool);
  OK(lanky_sparse_options_init(&defaults, sizeof(defaults)));
  FAILS(lanky_sparse_plan_create(NULL, f64, f64, &csr, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_sparse_plan_create(stream, f64, f64, &csr, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  FAILS(lanky_sparse_plan_create(stream, 6, f64, &csr, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "type is 6");
  FAILS(lanky_sparse_plan_create(stream, f64, -1, &csr, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "out is -1");
  FAILS(lanky_sparse_plan_create(stream, f64, LANKY_DTYPE_F32, &csr, NULL, &plan),
        LANKY_UNSUPPORTED, "products of f64 cannot be written as f32");
  FAILS(lanky_sparse_plan_create(stream, LANKY_DTYPE_F16, LANKY_DTYPE_BF16, &csr, NULL, &plan),
        LANKY_UNSUPPORTED, "f16 or f32");
  refuse(stream, NULL, NULL, LANKY_INVALID_ARGUMENT, "a is NULL");
  bad.offset_bytes = 2;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "offset_bytes is 2");
  bad = csr;
  bad.index_base = 2;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "2");
  bad = csr;
  bad.rows = -1;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "-1");
  bad = csr;
  bad.nnz = -4;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "-4");
  bad = csr;
  bad.row_offsets = NULL;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "null");
  bad = csr;
  bad.col_indices = NULL;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "null");
  bad = csr;
  bad.values = NULL;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "null");
  bad = csr;
  bad.row_offsets = descending;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "offset");
  bad = csr;
  bad.col_indices = outside;
  refuse(stream, &bad, NULL, LANKY_INVALID_ARGUMENT, "4");
  bad = csr;
  bad.cols = INT64_C(1) << 32;
  refuse(stream, &bad, NULL, LANKY_UNSUPPORTED, "4294967296");

  options = defaults;
  options.engine = 3;
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "engine is 3");
  options = defaults;
  options.math = -1;
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "math is -1");
  options.math = LANKY_MATH_TF32;
  refuse(stream, &csr, &options, LANKY_UNSUPPORTED, "tf32");
  options = defaults;
  options.symmetry = 4;
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "symmetry is 4");
  options.symmetry = LANKY_SYMMETRY_SYMMETRIC;
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "3");
  options = defaults;
  options.op = 3;
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "op is 3");
  options = defaults;
  options.expected_layout = 2;
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "layout");
  options = defaults;
  options.expected_columns = 0;
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "0");
  options = defaults;
  options.reserved = 1;
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "reserved");

  options = defaults;
  options.allocator = &allocator;
  OK(lanky_sparse_plan_create(stream, f64, f64, &csr, &options, &plan));
  memset(&allocator, 0, sizeof(allocator)); /* the plan has a copy */
  CHECK(pool.served > 0 && pool.live > 0);
  lanky_sparse_plan_destroy(plan);
  CHECK(pool.live == 0);
  refuse(stream, &csr, &options, LANKY_INVALID_ARGUMENT, "lanky_allocator");
  allocator = allocator_of(&pool);
  pool.refuse = 1;
  refuse(stream, &csr, &options, LANKY_OUT_OF_MEMORY, "allocator");
  destroy_operand(&a);
}

static void test_refused_runs(const lanky_stream* stream) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  const int on_gpu = lanky_stream_device(stream).kind == LANKY_DEVICE_KIND_CUDA;
  Operand a = make_operand(stream, f64, kEntries, 1);
  Operand x = make_operand(stream, f64, 32, 2);
  Operand y = make_operand(stream, f64, 32, 3);
  lanky_csr_view csr = csr_of(&a);
  lanky_vector_view x_view = vector_of(&x);
  lanky_vector_view y_view = vector_of(&y);
  lanky_vector_view values = vector_of(&a);
  lanky_vector_view bad;
  lanky_matrix_view x_matrix = matrix_of(&x, kCols, 3, kCols, LANKY_LAYOUT_COL);
  lanky_matrix_view y_matrix = matrix_of(&y, kRows, 3, kRows, LANKY_LAYOUT_COL);
  lanky_matrix_view bad_matrix;
  lanky_sparse_options options;
  lanky_sparse_plan* plan = NULL;
  lanky_stream* other = NULL;
  lanky_run_options run;

  x_view.size = kCols;
  y_view.size = kRows;
  OK(lanky_sparse_options_init(&options, sizeof(options)));
  options.expected_columns = 3;
  OK(lanky_sparse_plan_create(stream, f64, f64, &csr, &options, &plan));
  FAILS(lanky_sparse_plan_run(NULL, stream, NULL, &x_view, NULL, &y_view, NULL),
        LANKY_INVALID_ARGUMENT, "plan is NULL");
  FAILS(lanky_sparse_plan_run(plan, NULL, NULL, &x_view, NULL, &y_view, NULL),
        LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, NULL, NULL, &y_view, NULL),
        LANKY_INVALID_ARGUMENT, "x is NULL");
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, NULL, NULL),
        LANKY_INVALID_ARGUMENT, "y is NULL");
  bad = x_view;
  bad.data = NULL;
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &bad, NULL, &y_view, NULL),
        LANKY_INVALID_ARGUMENT, "null");
  bad = x_view;
  bad.size = 5;
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &bad, NULL, &y_view, NULL), LANKY_SIZE_MISMATCH,
        "5");
  bad.size = -4;
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &bad, NULL, &y_view, NULL), LANKY_SIZE_MISMATCH,
        "-4");
  bad = y_view;
  bad.data = x_view.data;
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &bad, NULL),
        LANKY_INVALID_ARGUMENT, "overlap");
  FAILS(lanky_sparse_plan_run_matrix(NULL, stream, NULL, &x_matrix, NULL, &y_matrix, NULL),
        LANKY_INVALID_ARGUMENT, "plan is NULL");
  FAILS(lanky_sparse_plan_run_matrix(plan, NULL, NULL, &x_matrix, NULL, &y_matrix, NULL),
        LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, NULL, NULL, &y_matrix, NULL),
        LANKY_INVALID_ARGUMENT, "x is NULL");
  FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, &x_matrix, NULL, NULL, NULL),
        LANKY_INVALID_ARGUMENT, "y is NULL");
  bad_matrix = x_matrix;
  bad_matrix.layout = 2;
  FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, &bad_matrix, NULL, &y_matrix, NULL),
        LANKY_INVALID_ARGUMENT, "layout of x is 2");
  bad_matrix = x_matrix;
  bad_matrix.ld = 3;
  FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, &bad_matrix, NULL, &y_matrix, NULL),
        LANKY_INVALID_ARGUMENT, "3");
  bad_matrix = x_matrix;
  bad_matrix.cols = 2;
  FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, &bad_matrix, NULL, &y_matrix, NULL),
        LANKY_SIZE_MISMATCH, "2");
  bad_matrix.cols = -1;
  FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, &bad_matrix, NULL, &y_matrix, NULL),
        LANKY_SIZE_MISMATCH, "-1");

  /* Options of a run. */
  OK(lanky_run_options_init(&run, sizeof(run)));
  run.alpha_memory = 2;
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, &run),
        LANKY_INVALID_ARGUMENT, "alpha_memory is 2");
  run.alpha_memory = LANKY_MEMORY_DEVICE;
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, &run),
        LANKY_INVALID_ARGUMENT, "null");
  run.alpha_memory = LANKY_MEMORY_HOST;
  run.beta_memory = -1;
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, &run),
        LANKY_INVALID_ARGUMENT, "beta_memory is -1");
  run.beta_memory = LANKY_MEMORY_HOST;
  CHECK(lanky_sparse_plan_workspace_bytes(plan) > 0);
  run.workspace = lanky_buffer_data(y.buffer);
  run.workspace_bytes = lanky_sparse_plan_workspace_bytes(plan) - 1;
  FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, &x_matrix, NULL, &y_matrix, &run),
        LANKY_SIZE_MISMATCH, "workspace");
  run.workspace = NULL;
  run.workspace_bytes = lanky_sparse_plan_workspace_bytes(plan);
  FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, &x_matrix, NULL, &y_matrix, &run),
        LANKY_INVALID_ARGUMENT, "the workspace: a null pointer");

  /* Another stream needs a workspace; on the CPU, runs take turns. */
  OK(lanky_stream_create(lanky_stream_device(stream), &other));
  if (on_gpu) {
    FAILS(lanky_sparse_plan_run_matrix(plan, other, NULL, &x_matrix, NULL, &y_matrix, NULL),
          LANKY_INVALID_ARGUMENT, "Workspace");
    bad = x_view;
    bad.data = x.host;
    FAILS(lanky_sparse_plan_run(plan, stream, NULL, &bad, NULL, &y_view, NULL), LANKY_WRONG_MEMORY,
          "x is in host memory");
    run.workspace = y.host;
    FAILS(lanky_sparse_plan_run_matrix(plan, stream, NULL, &x_matrix, NULL, &y_matrix, &run),
          LANKY_WRONG_MEMORY, "workspace");
  }
  lanky_stream_destroy(other);

  FAILS(lanky_sparse_plan_update_values(NULL, stream, &values), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  FAILS(lanky_sparse_plan_update_values(plan, NULL, &values), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_sparse_plan_update_values(plan, stream, NULL), LANKY_INVALID_ARGUMENT,
        "values is NULL");
  values.size = 5;
  FAILS(lanky_sparse_plan_update_values(plan, stream, &values), LANKY_SIZE_MISMATCH, "5");
  values.size = kEntries;
  values.data = NULL;
  FAILS(lanky_sparse_plan_update_values(plan, stream, &values), LANKY_INVALID_ARGUMENT, "null");
  lanky_sparse_plan_destroy(plan);
  options.op = LANKY_OP_CONJ_TRANS;
  OK(lanky_sparse_plan_create(stream, f64, f64, &csr, &options, &plan));
  values = vector_of(&a);
  FAILS(lanky_sparse_plan_update_values(plan, stream, &values), LANKY_UNSUPPORTED, "updates");
  lanky_sparse_plan_destroy(plan);

  FAILS(lanky_spmv(NULL, f64, f64, NULL, &csr, &x_view, NULL, &y_view), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_spmv(stream, 9, f64, NULL, &csr, &x_view, NULL, &y_view), LANKY_INVALID_ARGUMENT,
        "type is 9");
  FAILS(lanky_spmv(stream, f64, f64, NULL, NULL, &x_view, NULL, &y_view), LANKY_INVALID_ARGUMENT,
        "a is NULL");
  FAILS(lanky_spmv(stream, f64, f64, NULL, &csr, NULL, NULL, &y_view), LANKY_INVALID_ARGUMENT,
        "x is NULL");
  FAILS(lanky_spmv(stream, f64, f64, NULL, &csr, &x_view, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "y is NULL");
  FAILS(lanky_spmm(NULL, f64, f64, NULL, &csr, &x_matrix, NULL, &y_matrix), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_spmm(stream, f64, 8, NULL, &csr, &x_matrix, NULL, &y_matrix), LANKY_INVALID_ARGUMENT,
        "out is 8");
  FAILS(lanky_spmm(stream, f64, f64, NULL, NULL, &x_matrix, NULL, &y_matrix),
        LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_spmm(stream, f64, f64, NULL, &csr, NULL, NULL, &y_matrix), LANKY_INVALID_ARGUMENT,
        "x is NULL");
  FAILS(lanky_spmm(stream, f64, f64, NULL, &csr, &x_matrix, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "y is NULL");
  destroy_operand(&y);
  destroy_operand(&x);
  destroy_operand(&a);
}

void test_sparse(const lanky_stream* stream) {
  int i = 0;
  for (i = 0; i < kTypePairs; ++i) {
    test_vectors(stream, kTypes[i][0], kTypes[i][1]);
    test_matrices(stream, kTypes[i][0], kTypes[i][1], LANKY_LAYOUT_COL);
    test_matrices(stream, kTypes[i][0], kTypes[i][1], LANKY_LAYOUT_ROW);
  }
  test_properties(stream);
  test_refused_plans(stream);
  test_refused_runs(stream);
}
