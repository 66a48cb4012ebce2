/* Dense products of every pair of types, exact, and what they refuse. */
#include <stddef.h>
#include <string.h>

#include "check.h"
#include "operands.h"

enum { kM = 3, kN = 2, kK = 20 };

static Number op_element(const Operand* operand, const lanky_matrix_view* view, lanky_op op,
                         int64_t i, int64_t j) {
  Number value;
  if (op == LANKY_OP_NONE) return get(operand, at(view, i, j));
  value = get(operand, at(view, j, i));
  return op == LANKY_OP_CONJ_TRANS ? conjugate(value) : value;
}

static void expect(const Operand* a, const lanky_matrix_view* a_view, lanky_op op_a,
                   const Operand* b, const lanky_matrix_view* b_view, lanky_op op_b,
                   const Operand* before, const Operand* c, const lanky_matrix_view* c_view,
                   Number alpha, Number beta) {
  int64_t i = 0;
  int64_t j = 0;
  int64_t l = 0;
  for (i = 0; i < kM; ++i) {
    for (j = 0; j < kN; ++j) {
      Number sum = number(0, 0);
      Number wanted;
      const Number found = get(c, at(c_view, i, j));
      for (l = 0; l < kK; ++l)
        sum =
            plus_product(sum, op_element(a, a_view, op_a, i, l), op_element(b, b_view, op_b, l, j));
      wanted = plus_product(number(0, 0), alpha, sum);
      if (beta.re != 0 || beta.im != 0)
        wanted = plus_product(wanted, beta, get(before, at(c_view, i, j)));
      CHECK(found.re == wanted.re && found.im == wanted.im);
    }
  }
}

/* A stored matrix of op(A), [rows, cols], with two elements between its vectors. */
static lanky_matrix_view stored(const Operand* operand, lanky_op op, int64_t rows, int64_t cols,
                                lanky_layout layout) {
  const int64_t r = op == LANKY_OP_NONE ? rows : cols;
  const int64_t c = op == LANKY_OP_NONE ? cols : rows;
  return matrix_of(operand, r, c, (layout == LANKY_LAYOUT_COL ? r : c) + 2, layout);
}

static void test_products(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                          lanky_op op_a, lanky_op op_b, lanky_layout layout) {
  Operand a = make_operand(stream, type, (kM + 2) * (kK + 2), 1);
  Operand b = make_operand(stream, type, (kN + 2) * (kK + 2), 2);
  Operand c = make_operand(stream, out, (kM + 2) * (kN + 2), 3);
  const Operand before = c;
  /* Products with results of f64 have factors of f64. */
  const lanky_dtype factors = out == LANKY_DTYPE_F64 ? out : type;
  const Number one = number(1, 0);
  const Number zero = number(0, 0);
  const Number alpha = as_type(type, number(1, 1));
  const Number beta = as_type(type, number(2, -1));
  double alpha_memory[2];
  double beta_memory[2];
  lanky_matrix_view a_view = stored(&a, op_a, kM, kK, layout);
  lanky_matrix_view b_view = stored(&b, op_b, kK, kN, layout);
  lanky_matrix_view c_view = stored(&c, LANKY_OP_NONE, kM, kN, layout);
  lanky_gemm_shape shape;
  lanky_gemm_plan* plan = NULL;
  lanky_run_options run;
  lanky_buffer* workspace = NULL;
  Operand scalars = make_operand(stream, lanky_dtype_accumulator(factors), 2, 0);

  OK(lanky_gemm_shape_init(&shape, sizeof(shape)));
  shape.m = kM;
  shape.n = kN;
  shape.k = kK;
  shape.op_a = op_a;
  shape.op_b = op_b;
  shape.layout = layout;
  shape.lda = a_view.ld;
  shape.ldb = b_view.ld;
  shape.ldc = c_view.ld;
  OK(lanky_gemm_plan_create(stream, type, out, &shape, NULL, &plan));
  OK(lanky_gemm_plan_run(plan, stream, NULL, &a_view, &b_view, NULL, &c_view, NULL));
  download(&c);
  expect(&a, &a_view, op_a, &b, &b_view, op_b, &before, &c, &c_view, one, zero);

  put(&scalars, 0, alpha);
  put(&scalars, 1, beta);
  upload(&scalars);
  memcpy(c.host, before.host, sizeof(c.host));
  upload(&c);
  OK(lanky_buffer_create(stream, lanky_gemm_plan_workspace_bytes(plan), NULL, &workspace));
  OK(lanky_run_options_init(&run, sizeof(run)));
  run.workspace = lanky_buffer_data(workspace);
  run.workspace_bytes = lanky_buffer_bytes(workspace);
  run.alpha_memory = LANKY_MEMORY_DEVICE;
  OK(lanky_gemm_plan_run(plan, stream, lanky_buffer_data(scalars.buffer), &a_view, &b_view,
                         scalar_of(factors, beta, beta_memory), &c_view, &run));
  download(&c);
  expect(&a, &a_view, op_a, &b, &b_view, op_b, &before, &c, &c_view, alpha, beta);
  lanky_buffer_destroy(workspace);
  lanky_gemm_plan_destroy(plan);

  memcpy(c.host, before.host, sizeof(c.host));
  upload(&c);
  OK(lanky_gemm(stream, type, out, op_a, op_b, scalar_of(factors, alpha, alpha_memory), &a_view,
                &b_view, beta_memory, &c_view));
  download(&c);
  expect(&a, &a_view, op_a, &b, &b_view, op_b, &before, &c, &c_view, alpha, beta);
  destroy_operand(&scalars);
  destroy_operand(&c);
  destroy_operand(&b);
  destroy_operand(&a);
}

static void test_properties(const lanky_stream* stream) {
  const lanky_dtype f32 = LANKY_DTYPE_F32;
  lanky_gemm_shape shape;
  lanky_gemm_shape told;
  lanky_gemm_options options;
  lanky_gemm_plan* plan = NULL;
  lanky_gemm_plan* twin = NULL;
  lanky_gemm_plan* tuned = NULL;
  lanky_gemm_tuning* tuning = NULL;
  lanky_gemm_info info;
  lanky_gemm_route route;
  char text[8192];
  size_t length = 0;
  int64_t i = 0;

  OK(lanky_gemm_shape_init(&shape, sizeof(shape)));
  shape.m = 8;
  shape.n = 8;
  shape.k = 5000;
  shape.op_a = LANKY_OP_TRANS;
  OK(lanky_gemm_plan_create(stream, f32, f32, &shape, NULL, &plan));
  OK(lanky_gemm_plan_create(stream, f32, f32, &shape, NULL, &twin));
  OK(lanky_gemm_shape_init(&told, sizeof(told)));
  OK(lanky_gemm_plan_shape(plan, &told));
  CHECK(told.size == sizeof(told) && told.m == 8 && told.n == 8 && told.k == 5000);
  CHECK(told.op_a == LANKY_OP_TRANS && told.op_b == LANKY_OP_NONE);
  CHECK(told.layout == LANKY_LAYOUT_COL);
  CHECK(told.lda == 5000 && told.ldb == 5000 && told.ldc == 8);
  CHECK(lanky_gemm_plan_family(plan) == LANKY_GEMM_FAMILY_GRAM);
  CHECK(lanky_gemm_family_of(8, 8, 5000) == LANKY_GEMM_FAMILY_GRAM);
  CHECK(lanky_gemm_plan_device(plan).kind == lanky_stream_device(stream).kind);
  CHECK(lanky_gemm_plan_workspace_bytes(plan) >= 0);
  CHECK(lanky_gemm_plan_fingerprint(plan) == lanky_gemm_plan_fingerprint(twin));
  OK(lanky_gemm_plan_explain(plan, text, sizeof(text), &length));
  CHECK(length > 0 && strstr(text, "gram") != NULL);
  OK(lanky_gemm_plan_tuning(plan, text, sizeof(text), &length));
  OK(lanky_gemm_plan_info(plan, &info, sizeof(info)));
  CHECK(info.route_count >= 1 && info.flops == 2.0 * 8 * 8 * 5000 && info.bytes > 0);
  for (i = 0; i < 4; ++i)
    CHECK(info.of_aligned[i / 2][i % 2] >= 0 && info.of_aligned[i / 2][i % 2] < info.route_count);
  for (i = 0; i < info.route_count; ++i) {
    OK(lanky_gemm_plan_route(plan, i, &route, sizeof(route)));
    CHECK(strlen(route.kernel) > 0 && (i == 0) == (route.when[0] == '\0'));
  }
  FAILS(lanky_gemm_plan_route(plan, i, &route, sizeof(route)), LANKY_INVALID_ARGUMENT, "routes");
  FAILS(lanky_gemm_plan_route(plan, -1, &route, sizeof(route)), LANKY_INVALID_ARGUMENT,
        "index is -1");

  OK(lanky_gemm_options_init(&options, sizeof(options)));
  options.tune = 1;
  options.math = LANKY_MATH_TF32;
  OK(lanky_gemm_plan_create(stream, f32, f32, &shape, &options, &tuned));
  CHECK(lanky_gemm_plan_family(tuned) == LANKY_GEMM_FAMILY_GRAM);
  lanky_gemm_plan_destroy(tuned);
  OK(lanky_gemm_options_init(&options, sizeof(options)));
  OK(lanky_gemm_tuning_create(&tuning));
  options.tuning = tuning;
  OK(lanky_gemm_plan_create(stream, f32, f32, &shape, &options, &tuned));
  OK(lanky_gemm_plan_tuning(tuned, text, sizeof(text), &length));
  CHECK(length == strlen(text) && strstr(text, "knows no such product") != NULL);
  lanky_gemm_tuning_destroy(tuning);

  CHECK(lanky_gemm_plan_family(NULL) == -1 && lanky_gemm_plan_device(NULL).kind == -1);
  CHECK(lanky_gemm_plan_workspace_bytes(NULL) == -1 && lanky_gemm_plan_fingerprint(NULL) == 0);
  CHECK(strcmp(lanky_last_error(), "plan is NULL") == 0);
  FAILS(lanky_gemm_plan_shape(NULL, &told), LANKY_INVALID_ARGUMENT, "plan is NULL");
  FAILS(lanky_gemm_plan_shape(plan, NULL), LANKY_INVALID_ARGUMENT, "shape is NULL");
  told.size = 1;
  FAILS(lanky_gemm_plan_shape(plan, &told), LANKY_INVALID_ARGUMENT, "lanky_gemm_shape_init()");
  FAILS(lanky_gemm_plan_info(NULL, &info, sizeof(info)), LANKY_INVALID_ARGUMENT, "plan is NULL");
  FAILS(lanky_gemm_plan_route(NULL, 0, &route, sizeof(route)), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  FAILS(lanky_gemm_plan_tuning(NULL, text, sizeof(text), NULL), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  FAILS(lanky_gemm_plan_explain(NULL, text, sizeof(text), NULL), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  lanky_gemm_plan_destroy(tuned);
  lanky_gemm_plan_destroy(twin);
  lanky_gemm_plan_destroy(plan);
  lanky_gemm_plan_destroy(NULL);
}

static void test_refused(const lanky_stream* stream) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  Operand a = make_operand(stream, f64, kM * kK, 1);
  Operand b = make_operand(stream, f64, kK * kN, 2);
  Operand c = make_operand(stream, f64, kM * kN, 3);
  lanky_matrix_view a_view = matrix_of(&a, kM, kK, kM, LANKY_LAYOUT_COL);
  lanky_matrix_view b_view = matrix_of(&b, kK, kN, kK, LANKY_LAYOUT_COL);
  lanky_matrix_view c_view = matrix_of(&c, kM, kN, kM, LANKY_LAYOUT_COL);
  lanky_matrix_view bad;
  lanky_gemm_shape shape;
  lanky_gemm_shape wrong;
  lanky_gemm_options options;
  lanky_gemm_plan* plan = NULL;
  Pool pool;
  lanky_allocator allocator;

  memset(&pool, 0, sizeof(pool));
  allocator = allocator_of(&pool);
  OK(lanky_gemm_shape_init(&shape, sizeof(shape)));
  shape.m = kM;
  shape.n = kN;
  shape.k = kK;
  OK(lanky_gemm_options_init(&options, sizeof(options)));
  FAILS(lanky_gemm_plan_create(NULL, f64, f64, &shape, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "stream is NULL");
  FAILS(lanky_gemm_plan_create(stream, f64, f64, NULL, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "shape is NULL");
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &shape, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "plan is NULL");
  FAILS(lanky_gemm_plan_create(stream, 6, f64, &shape, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "type is 6");
  FAILS(lanky_gemm_plan_create(stream, f64, LANKY_DTYPE_F16, &shape, NULL, &plan),
        LANKY_UNSUPPORTED, "f16");
  wrong = shape;
  wrong.m = -3;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &wrong, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "-3");
  wrong = shape;
  wrong.lda = 2;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &wrong, NULL, &plan), LANKY_INVALID_ARGUMENT, "2");
  wrong = shape;
  wrong.op_a = 3;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &wrong, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "op_a is 3");
  wrong = shape;
  wrong.op_b = -1;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &wrong, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "op_b is -1");
  wrong = shape;
  wrong.layout = 2;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &wrong, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "layout");
  wrong = shape;
  wrong.reserved = 2;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &wrong, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "reserved");
  wrong = shape;
  wrong.size = 0;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &wrong, NULL, &plan), LANKY_INVALID_ARGUMENT,
        "lanky_gemm_shape_init()");
  options.math = 3;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &shape, &options, &plan), LANKY_INVALID_ARGUMENT,
        "math is 3");
  options.math = LANKY_MATH_TF32X3;
  FAILS(lanky_gemm_plan_create(stream, f64, f64, &shape, &options, &plan), LANKY_UNSUPPORTED,
        "tf32x3");
  FAILS(lanky_gemm_plan_create(stream, LANKY_DTYPE_F32, f64, &shape, &options, &plan),
        LANKY_UNSUPPORTED, "tf32x3");
  options.math = LANKY_MATH_IEEE;
  options.allocator = &allocator;
  OK(lanky_gemm_plan_create(stream, f64, f64, &shape, &options, &plan));
  CHECK((pool.live > 0) == (lanky_gemm_plan_workspace_bytes(plan) > 0));
  FAILS(lanky_gemm_plan_run(NULL, stream, NULL, &a_view, &b_view, NULL, &c_view, NULL),
        LANKY_INVALID_ARGUMENT, "plan is NULL");
  FAILS(lanky_gemm_plan_run(plan, NULL, NULL, &a_view, &b_view, NULL, &c_view, NULL),
        LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_gemm_plan_run(plan, stream, NULL, NULL, &b_view, NULL, &c_view, NULL),
        LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_gemm_plan_run(plan, stream, NULL, &a_view, NULL, NULL, &c_view, NULL),
        LANKY_INVALID_ARGUMENT, "b is NULL");
  FAILS(lanky_gemm_plan_run(plan, stream, NULL, &a_view, &b_view, NULL, NULL, NULL),
        LANKY_INVALID_ARGUMENT, "c is NULL");
  bad = a_view;
  bad.rows = 4;
  FAILS(lanky_gemm_plan_run(plan, stream, NULL, &bad, &b_view, NULL, &c_view, NULL),
        LANKY_SIZE_MISMATCH, "4");
  bad = a_view;
  bad.layout = LANKY_LAYOUT_ROW;
  FAILS(lanky_gemm_plan_run(plan, stream, NULL, &bad, &b_view, NULL, &c_view, NULL),
        LANKY_SIZE_MISMATCH, "row");
  bad.layout = 5;
  FAILS(lanky_gemm_plan_run(plan, stream, NULL, &bad, &b_view, NULL, &c_view, NULL),
        LANKY_INVALID_ARGUMENT, "layout of a is 5");
  bad = c_view;
  bad.data = NULL;
  FAILS(lanky_gemm_plan_run(plan, stream, NULL, &a_view, &b_view, NULL, &bad, NULL),
        LANKY_INVALID_ARGUMENT, "null");
  if (lanky_stream_device(stream).kind == LANKY_DEVICE_KIND_CUDA) {
    bad = a_view;
    bad.data = a.host;
    FAILS(lanky_gemm_plan_run(plan, stream, NULL, &bad, &b_view, NULL, &c_view, NULL),
          LANKY_WRONG_MEMORY, "host memory");
  }
  lanky_gemm_plan_destroy(plan);
  CHECK(pool.live == 0);

  FAILS(lanky_gemm(NULL, f64, f64, 0, 0, NULL, &a_view, &b_view, NULL, &c_view),
        LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_gemm(stream, 6, f64, 0, 0, NULL, &a_view, &b_view, NULL, &c_view),
        LANKY_INVALID_ARGUMENT, "type is 6");
  FAILS(lanky_gemm(stream, f64, f64, 3, 0, NULL, &a_view, &b_view, NULL, &c_view),
        LANKY_INVALID_ARGUMENT, "op_a is 3");
  FAILS(lanky_gemm(stream, f64, f64, 0, 4, NULL, &a_view, &b_view, NULL, &c_view),
        LANKY_INVALID_ARGUMENT, "op_b is 4");
  FAILS(lanky_gemm(stream, f64, f64, 0, 0, NULL, NULL, &b_view, NULL, &c_view),
        LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_gemm(stream, f64, f64, 0, 0, NULL, &a_view, NULL, NULL, &c_view),
        LANKY_INVALID_ARGUMENT, "b is NULL");
  FAILS(lanky_gemm(stream, f64, f64, 0, 0, NULL, &a_view, &b_view, NULL, NULL),
        LANKY_INVALID_ARGUMENT, "c is NULL");
  FAILS(lanky_gemm(stream, f64, f64, LANKY_OP_TRANS, 0, NULL, &a_view, &b_view, NULL, &c_view),
        LANKY_SIZE_MISMATCH, "20");
  destroy_operand(&c);
  destroy_operand(&b);
  destroy_operand(&a);
}

void test_dense(const lanky_stream* stream) {
  static const lanky_dtype of_f64[] = {LANKY_DTYPE_F32, LANKY_DTYPE_F16, LANKY_DTYPE_BF16};
  int i = 0;
  int op = 0;
  for (i = 0; i < 3; ++i) {
    for (op = 0; op < 4; ++op) {
      test_products(stream, of_f64[i], LANKY_DTYPE_F64, op / 2, op % 2,
                    op % 3 == 0 ? LANKY_LAYOUT_COL : LANKY_LAYOUT_ROW);
    }
  }
  for (i = 0; i < kTypePairs; ++i) {
    for (op = 0; op < 9; ++op) {
      test_products(stream, kTypes[i][0], kTypes[i][1], op / 3, op % 3,
                    op % 2 == 0 ? LANKY_LAYOUT_COL : LANKY_LAYOUT_ROW);
    }
  }
  test_properties(stream);
  test_refused(stream);
}
