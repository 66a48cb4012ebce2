/* Sampled products of every pair of types, exact, and what they refuse. */
#include <stddef.h>
#include <string.h>

#include "check.h"
#include "operands.h"

enum { kShared = 5 }; /* columns of X and Y */

static void expect(const Operand* x, const lanky_matrix_view* x_view, const Operand* y,
                   const lanky_matrix_view* y_view, int conjugate_y, const Operand* before,
                   const Operand* values, Number alpha, Number beta) {
  int64_t i = 0;
  int32_t k = 0;
  for (i = 0; i < kRows; ++i) {
    for (k = kOffsets32[i]; k < kOffsets32[i + 1]; ++k) {
      Number sum = number(0, 0);
      Number wanted;
      Number found = get(values, k);
      int64_t c = 0;
      for (c = 0; c < kShared; ++c) {
        const Number right = get(y, at(y_view, kColumns[k], c));
        sum = plus_product(sum, get(x, at(x_view, i, c)), conjugate_y ? conjugate(right) : right);
      }
      wanted = plus_product(number(0, 0), alpha, sum);
      if (beta.re != 0 || beta.im != 0) wanted = plus_product(wanted, beta, get(before, k));
      CHECK(found.re == wanted.re && found.im == wanted.im);
    }
  }
}

static void test_products(const lanky_stream* stream, lanky_dtype type, lanky_dtype out) {
  Operand x = make_operand(stream, type, kRows * kShared, 1);
  Operand y = make_operand(stream, type, kCols * (kShared + 1), 2);
  Operand values = make_operand(stream, out, kEntries, 3);
  const Operand before = values;
  const Number one = number(1, 0);
  const Number zero = number(0, 0);
  const Number alpha = as_type(type, number(1, 1));
  const Number beta = as_type(type, number(2, -1));
  double alpha_memory[2];
  double beta_memory[2];
  lanky_csr_view csr = csr_of(&values);
  lanky_matrix_view x_view = matrix_of(&x, kRows, kShared, kRows, LANKY_LAYOUT_COL);
  lanky_matrix_view y_view = matrix_of(&y, kCols, kShared, kShared + 1, LANKY_LAYOUT_ROW);
  lanky_vector_view v_view = vector_of(&values);
  lanky_sddmm_options options;
  lanky_run_options run;
  lanky_sddmm_plan* plan = NULL;
  lanky_buffer* workspace = NULL;

  csr.values = NULL; /* they are not looked at */
  OK(lanky_sddmm_options_init(&options, sizeof(options)));
  options.conjugate_y = 1;
  options.expected_columns = kShared;
  OK(lanky_sddmm_plan_create(stream, type, out, &csr, &options, &plan));
  OK(lanky_sddmm_plan_run(plan, stream, NULL, &x_view, &y_view, NULL, &v_view, NULL));
  download(&values);
  expect(&x, &x_view, &y, &y_view, 1, &before, &values, one, zero);

  CHECK(lanky_sddmm_plan_workspace_bytes(plan) > 0);
  OK(lanky_buffer_create(stream, lanky_sddmm_plan_workspace_bytes(plan), NULL, &workspace));
  OK(lanky_run_options_init(&run, sizeof(run)));
  run.workspace = lanky_buffer_data(workspace);
  run.workspace_bytes = lanky_buffer_bytes(workspace);
  memcpy(values.host, before.host, sizeof(values.host));
  upload(&values);
  OK(lanky_sddmm_plan_run(plan, stream, scalar_of(type, alpha, alpha_memory), &x_view, &y_view,
                          scalar_of(type, beta, beta_memory), &v_view, &run));
  download(&values);
  expect(&x, &x_view, &y, &y_view, 1, &before, &values, alpha, beta);
  lanky_buffer_destroy(workspace);
  lanky_sddmm_plan_destroy(plan);

  memcpy(values.host, before.host, sizeof(values.host));
  upload(&values);
  OK(lanky_sddmm(stream, type, out, alpha_memory, &csr, &x_view, &y_view, beta_memory, &v_view));
  download(&values);
  expect(&x, &x_view, &y, &y_view, 0, &before, &values, alpha, beta);
  destroy_operand(&values);
  destroy_operand(&y);
  destroy_operand(&x);
}

static void test_properties(const lanky_stream* stream) {
  Operand values = make_operand(stream, LANKY_DTYPE_F32, kEntries, 1);
  lanky_csr_view csr = csr_of(&values);
  lanky_sddmm_plan* plan = NULL;
  lanky_sddmm_plan* twin = NULL;
  char text[4096];
  size_t length = 0;

  OK(lanky_sddmm_plan_create(stream, LANKY_DTYPE_F32, LANKY_DTYPE_F32, &csr, NULL, &plan));
  OK(lanky_sddmm_plan_create(stream, LANKY_DTYPE_F32, LANKY_DTYPE_F32, &csr, NULL, &twin));
  CHECK(lanky_sddmm_plan_rows(plan) == kRows && lanky_sddmm_plan_cols(plan) == kCols);
  CHECK(lanky_sddmm_plan_nnz(plan) == kEntries);
  CHECK(lanky_sddmm_plan_device(plan).kind == lanky_stream_device(stream).kind);
  CHECK(lanky_sddmm_plan_workspace_bytes(plan) == 0);
  CHECK(lanky_sddmm_plan_device_bytes(plan) > 0);
  CHECK(lanky_sddmm_plan_fingerprint(plan) == lanky_sddmm_plan_fingerprint(twin));
  OK(lanky_sddmm_plan_explain(plan, text, sizeof(text), &length));
  CHECK(length > 0 && length == strlen(text));
  CHECK(lanky_sddmm_plan_rows(NULL) == -1 && lanky_sddmm_plan_cols(NULL) == -1);
  CHECK(lanky_sddmm_plan_nnz(NULL) == -1 && lanky_sddmm_plan_workspace_bytes(NULL) == -1);
  CHECK(lanky_sddmm_plan_device_bytes(NULL) == -1 && lanky_sddmm_plan_fingerprint(NULL) == 0);
  CHECK(lanky_sddmm_plan_device(NULL).kind == -1);
  FAILS(lanky_sddmm_plan_explain(NULL, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  lanky_sddmm_plan_destroy(twin);
  lanky_sddmm_plan_destroy(plan);
  lanky_sddmm_plan_destroy(NULL);
  destroy_operand(&values);
}

static void test_refused(const lanky_stream* stream) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  Operand x = make_operand(stream, f64, kRows * kShared, 1);
  Operand y = make_operand(stream, f64, kCols * kShared, 2);
  Operand values = make_operand(stream, f64, kEntries, 3);
  lanky_csr_view csr = csr_of(&values);
  lanky_matrix_view x_view = matrix_of(&x, kRows, kShared, kRows, LANKY_LAYOUT_COL);
  lanky_matrix_view y_view = matrix_of(&y, kCols, kShared, kCols, LANKY_LAYOUT_COL);
  lanky_matrix_view bad;
  lanky_vector_view v_view = vector_of(&values);
  lanky_vector_view bad_values;
  lanky_sddmm_options options;
  lanky_sddmm_plan* plan = NULL;
  Pool pool;
  lanky_allocator allocator;

  memset(&pool, 0, sizeof(pool));
  allocator = allocator_of(&pool);
  OK(lanky_sddmm_options_init(&options, sizeof(options)));
  FAILS(lanky_sddmm_plan_create(NULL, f64, f64, &csr, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_sddmm_plan_create(stream, f64, f64, NULL, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "a is NULL");
  FAILS(lanky_sddmm_plan_create(stream, f64, f64, &csr, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  FAILS(lanky_sddmm_plan_create(stream, 6, f64, &csr, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "type is 6");
  FAILS(lanky_sddmm_plan_create(stream, f64, LANKY_DTYPE_C128, &csr, NULL, &plan),
        LANKY_UNSUPPORTED, "c128");
  options.expected_columns = -1;
  FAILS(lanky_sddmm_plan_create(stream, f64, f64, &csr, &options, &plan), LANKY_INVALID_ARGUMENT,
        "-1");
  options.expected_columns = 0;
  options.reserved = 5;
  FAILS(lanky_sddmm_plan_create(stream, f64, f64, &csr, &options, &plan), LANKY_INVALID_ARGUMENT,
        "reserved");
  options.reserved = 0;
  options.allocator = &allocator;
  OK(lanky_sddmm_plan_create(stream, f64, f64, &csr, &options, &plan));
  CHECK(pool.live > 0);
  FAILS(lanky_sddmm_plan_run(NULL, stream, NULL, &x_view, &y_view, NULL, &v_view, NULL),
        LANKY_INVALID_ARGUMENT, "plan is NULL");
  FAILS(lanky_sddmm_plan_run(plan, NULL, NULL, &x_view, &y_view, NULL, &v_view, NULL),
        LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_sddmm_plan_run(plan, stream, NULL, NULL, &y_view, NULL, &v_view, NULL),
        LANKY_INVALID_ARGUMENT, "x is NULL");
  FAILS(lanky_sddmm_plan_run(plan, stream, NULL, &x_view, NULL, NULL, &v_view, NULL),
        LANKY_INVALID_ARGUMENT, "y is NULL");
  FAILS(lanky_sddmm_plan_run(plan, stream, NULL, &x_view, &y_view, NULL, NULL, NULL),
        LANKY_INVALID_ARGUMENT, "values is NULL");
  bad = x_view;
  bad.rows = kRows + 1;
  FAILS(lanky_sddmm_plan_run(plan, stream, NULL, &bad, &y_view, NULL, &v_view, NULL),
        LANKY_SIZE_MISMATCH, "4");
  bad = y_view;
  bad.cols = 1;
  FAILS(lanky_sddmm_plan_run(plan, stream, NULL, &x_view, &bad, NULL, &v_view, NULL),
        LANKY_SIZE_MISMATCH, "1");
  bad = y_view;
  bad.layout = -1;
  FAILS(lanky_sddmm_plan_run(plan, stream, NULL, &x_view, &bad, NULL, &v_view, NULL),
        LANKY_INVALID_ARGUMENT, "layout of y is -1");
  bad_values = v_view;
  bad_values.size = 7;
  FAILS(lanky_sddmm_plan_run(plan, stream, NULL, &x_view, &y_view, NULL, &bad_values, NULL),
        LANKY_SIZE_MISMATCH, "7");
  bad_values = v_view;
  bad_values.data = x_view.data;
  FAILS(lanky_sddmm_plan_run(plan, stream, NULL, &x_view, &y_view, NULL, &bad_values, NULL),
        LANKY_INVALID_ARGUMENT, "overlap");
  if (lanky_stream_device(stream).kind == LANKY_DEVICE_KIND_CUDA) {
    bad = x_view;
    bad.data = x.host;
    FAILS(lanky_sddmm_plan_run(plan, stream, NULL, &bad, &y_view, NULL, &v_view, NULL),
          LANKY_WRONG_MEMORY, "host memory");
  }
  lanky_sddmm_plan_destroy(plan);
  CHECK(pool.live == 0);
  FAILS(lanky_sddmm(NULL, f64, f64, NULL, &csr, &x_view, &y_view, NULL, &v_view),
        LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_sddmm(stream, f64, 7, NULL, &csr, &x_view, &y_view, NULL, &v_view),
        LANKY_INVALID_ARGUMENT, "out is 7");
  FAILS(lanky_sddmm(stream, f64, f64, NULL, NULL, &x_view, &y_view, NULL, &v_view),
        LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_sddmm(stream, f64, f64, NULL, &csr, NULL, &y_view, NULL, &v_view),
        LANKY_INVALID_ARGUMENT, "x is NULL");
  FAILS(lanky_sddmm(stream, f64, f64, NULL, &csr, &x_view, NULL, NULL, &v_view),
        LANKY_INVALID_ARGUMENT, "y is NULL");
  FAILS(lanky_sddmm(stream, f64, f64, NULL, &csr, &x_view, &y_view, NULL, NULL),
        LANKY_INVALID_ARGUMENT, "values is NULL");
  destroy_operand(&values);
  destroy_operand(&y);
  destroy_operand(&x);
}

void test_sddmm(const lanky_stream* stream) {
  int i = 0;
  for (i = 0; i < kTypePairs; ++i)
    test_products(stream, kTypes[i][0], kTypes[i][1]);
  test_properties(stream);
  test_refused(stream);
}
