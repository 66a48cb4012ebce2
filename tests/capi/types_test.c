/* Types, names, version, and structs that other versions of the headers made. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "check.h"

void test_types(void) {
  static const char* const names[] = {"f64", "f32", "f16", "bf16", "c64", "c128"};
  static const size_t sizes[] = {8, 4, 2, 2, 8, 16};
  static const lanky_dtype accumulators[] = {LANKY_DTYPE_F64, LANKY_DTYPE_F32, LANKY_DTYPE_F32,
                                             LANKY_DTYPE_F32, LANKY_DTYPE_C64, LANKY_DTYPE_C128};
  static const int roundoff[] = {-53, -24, -11, -8, -24, -53};
  static const char* const statuses[] = {
      "success",   "invalid_argument", "size_mismatch", "wrong_memory",
      "no_device", "out_of_memory",    "unsupported",   "parse",
      "io",        "device",           "internal_error"};
  lanky_dtype dtype = 0;
  int i = 0;

  CHECK(lanky_version() == LANKY_VERSION);
  CHECK(LANKY_VERSION ==
        LANKY_VERSION_MAJOR * 10000 + LANKY_VERSION_MINOR * 100 + LANKY_VERSION_PATCH);
  CHECK(strlen(lanky_build_description()) > 0);
  CHECK(strchr(lanky_build_description(), '\n') == NULL);

  for (i = 0; i < 6; ++i) {
    CHECK(strcmp(lanky_dtype_to_string(i), names[i]) == 0);
    dtype = -1;
    OK(lanky_dtype_parse(names[i], &dtype));
    CHECK(dtype == i);
    CHECK(lanky_dtype_size_of(i) == sizes[i]);
    CHECK(lanky_dtype_accumulator(i) == accumulators[i]);
    CHECK(lanky_dtype_unit_roundoff(i) == ldexp(1.0, roundoff[i]));
  }
  CHECK(strcmp(lanky_dtype_to_string(6), "unknown") == 0);
  CHECK(strcmp(lanky_dtype_to_string(-1), "unknown") == 0);
  CHECK(lanky_dtype_size_of(6) == 0);
  CHECK(strstr(lanky_last_error(), "dtype is 6") != NULL);
  CHECK(lanky_dtype_accumulator(-5) == -1);
  CHECK(strstr(lanky_last_error(), "dtype is -5") != NULL);
  CHECK(lanky_dtype_unit_roundoff(77) == -1);
  FAILS(lanky_dtype_parse("f8", &dtype), LANKY_INVALID_ARGUMENT, "f8");
  CHECK(dtype == -1);
  FAILS(lanky_dtype_parse(NULL, &dtype), LANKY_INVALID_ARGUMENT, "text is NULL");
  FAILS(lanky_dtype_parse("f64", NULL), LANKY_INVALID_ARGUMENT, "dtype is NULL");

  for (i = 0; i <= LANKY_INTERNAL_ERROR; ++i)
    CHECK(strcmp(lanky_status_to_string(i), statuses[i]) == 0);
  CHECK(strcmp(lanky_status_to_string(11), "unknown") == 0);
  CHECK(strcmp(lanky_math_to_string(LANKY_MATH_TF32X3), "tf32x3") == 0);
  CHECK(strcmp(lanky_math_to_string(3), "unknown") == 0);
  CHECK(strcmp(lanky_engine_to_string(LANKY_ENGINE_TENSOR_CORES), "tensor_cores") == 0);
  CHECK(strcmp(lanky_engine_to_string(-1), "unknown") == 0);
  CHECK(strcmp(lanky_gemm_family_to_string(LANKY_GEMM_FAMILY_REGULAR), "regular") == 0);
  CHECK(strcmp(lanky_gemm_family_to_string(4), "unknown") == 0);

  CHECK(strcmp(lanky_solver_status_to_string(LANKY_SOLVER_STATUS_STOPPED), "stopped") == 0);
  CHECK(strcmp(lanky_solver_status_to_string(4), "unknown") == 0);

  CHECK(lanky_f16_from_double(1.0) == 0x3c00);
  CHECK(lanky_f16_from_double(65520.0) == 0x7c00);
  /* Rounded once: by way of float it would be a tie, and 1. */
  CHECK(lanky_f16_from_double(1.0 + ldexp(1.0, -11) + ldexp(1.0, -40)) == 0x3c01);
  CHECK(lanky_f16_to_float(0xc000) == -2.0F);
  CHECK(lanky_bf16_from_double(-1.5) == 0xbfc0);
  CHECK(lanky_bf16_to_float(0x3f80) == 1.0F);
}

/* Options as a later version of the headers has them. */
typedef struct LaterOptions {
  lanky_sparse_options known;
  int64_t added;
} LaterOptions;

/* init() of one struct: refuses null and sizes that are none, and writes no byte too many. */
#define CHECK_INIT(Type)                                                     \
  do {                                                                       \
    struct {                                                                 \
      Type value;                                                            \
      unsigned char guard[8];                                                \
    } area;                                                                  \
    memset(&area, 0xa5, sizeof(area));                                       \
    OK(Type##_init(&area.value, sizeof(Type)));                              \
    CHECK(area.value.size == sizeof(Type));                                  \
    CHECK(area.guard[0] == 0xa5);                                            \
    FAILS(Type##_init(NULL, sizeof(Type)), LANKY_INVALID_ARGUMENT, #Type);   \
    FAILS(Type##_init(&area.value, 8), LANKY_INVALID_ARGUMENT, "8 bytes");   \
    FAILS(Type##_init(&area.value, (size_t)1 << 40), LANKY_INVALID_ARGUMENT, \
          "1099511627776 bytes");                                            \
  } while (0)

void test_structs(void) {
  lanky_device cpu = lanky_device_cpu();
  lanky_stream* stream = NULL;
  lanky_sparse_plan* plan = NULL;
  lanky_sparse_options options;
  lanky_run_options run;
  LaterOptions later;
  unsigned char large[sizeof(lanky_device_properties) + 8];
  const int64_t offsets[2] = {0, 1};
  const int32_t column = 0;
  const double value = 3;
  double x = 2;
  double y = 0;
  lanky_csr_view a = {1, 1, 1, NULL, NULL, NULL, 8, 0};
  lanky_vector_view x_view = {NULL, 1};
  lanky_vector_view y_view = {NULL, 1};

  a.row_offsets = offsets;
  a.col_indices = &column;
  a.values = &value;
  x_view.data = &x;
  y_view.data = &y;
  CHECK_INIT(lanky_allocator);
  CHECK_INIT(lanky_run_options);
  CHECK_INIT(lanky_sparse_options);
  CHECK_INIT(lanky_sddmm_options);
  CHECK_INIT(lanky_gemm_shape);
  CHECK_INIT(lanky_gemm_options);
  CHECK_INIT(lanky_gemm_query);
  CHECK_INIT(lanky_io_read_options);
  CHECK_INIT(lanky_operator_functions);
  CHECK_INIT(lanky_eigen_problem);
  CHECK_INIT(lanky_eigen_options);
  CHECK_INIT(lanky_linear_options);
  CHECK_INIT(lanky_svd_options);
  CHECK_INIT(lanky_cholesky_qr_options);

  OK(lanky_sparse_options_init(&options, sizeof(options)));
  CHECK(options.expected_columns == 1 && options.expected_layout == LANKY_LAYOUT_ROW);
  CHECK(options.engine == LANKY_ENGINE_AUTOMATIC && options.allocator == NULL);

  /* A caller with later headers: its members are left alone as long as they are 0. */
  OK(lanky_stream_create(cpu, &stream));
  memset(&later, 0xa5, sizeof(later));
  OK(lanky_sparse_options_init(&later.known, sizeof(later)));
  CHECK(later.added == 0 && later.known.size == sizeof(later));
  OK(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &a, &later.known, &plan));
  OK(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, NULL));
  CHECK(y == 6);
  lanky_sparse_plan_destroy(plan);
  later.added = 1;
  FAILS(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &a, &later.known, &plan),
        LANKY_UNSUPPORTED, "lanky_sparse_options");
  CHECK(plan == NULL);

  /* Options that nobody initialized. */
  memset(&options, 0, sizeof(options));
  FAILS(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &a, &options, &plan),
        LANKY_INVALID_ARGUMENT, "lanky_sparse_options_init()");
  memset(&run, 0xa5, sizeof(run));
  OK(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &a, NULL, &plan));
  FAILS(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, &run),
        LANKY_INVALID_ARGUMENT, "lanky_run_options");
  lanky_sparse_plan_destroy(plan);

  /* Structs that the library fills in, of a caller with later headers, and with no headers. */
  memset(large, 0xa5, sizeof(large));
  OK(lanky_device_get_properties(cpu, (lanky_device_properties*)(void*)large, sizeof(large)));
  CHECK(large[sizeof(lanky_device_properties)] == 0);
  FAILS(lanky_device_get_properties(cpu, (lanky_device_properties*)(void*)large, 16),
        LANKY_INVALID_ARGUMENT, "lanky_device_properties");
  FAILS(lanky_device_get_properties(cpu, NULL, sizeof(large)), LANKY_INVALID_ARGUMENT,
        "lanky_device_properties");
  lanky_stream_destroy(stream);
}
