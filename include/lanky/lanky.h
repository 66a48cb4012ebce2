/* lanky's C interface: every product, solver, matrix file and generator of the C++ library, for C,
 * Fortran, Julia and all that calls C. docs/c_api.md is the guide; the C++ headers tell more of
 * each part.
 *
 * Names follow C++: SparsePlan::workspace_bytes() is lanky_sparse_plan_workspace_bytes(), and
 * Op::conj_trans is LANKY_OP_CONJ_TRANS.
 *
 * Status: functions that can fail return one. Those that read a property return it: of a NULL
 * handle NULL, -1 or, where unsigned, 0. Both leave the reason in lanky_last_error(). Results come
 * in the last parameters, which are set to NULL or 0 where a function fails.
 *
 * Structs that callers fill in begin with their size. `lanky_X_init(&x, sizeof x)` sets it and all
 * defaults, after which members may be changed. Later versions add members at the end: a program
 * that was compiled with fewer gets the defaults of the others. Structs that the library fills in
 * are passed with their size for the same reason. A NULL pointer to options means the defaults.
 *
 * Texts go to the caller's memory as by snprintf: `text` gets at most `size` bytes, a zero at the
 * end included, and `length` (which may be NULL) the bytes of the whole text without it. Texts that
 * functions return are the library's own and constant, except for lanky_last_error().
 *
 * Threads: a handle may be used by several threads at once where the function takes it as const,
 * and a plan's own workspace is of the stream that the plan was made on, as docs/c_api.md says. */
#ifndef LANKY_LANKY_H
#define LANKY_LANKY_H

#include <lanky/version.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LANKY_API __attribute__((visibility("default")))
#else
#define LANKY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Constants. Their types are integers of 32 bits, so that a value that this version does not know
 * is an error in every language, and so that structs look alike to every compiler.
 */

typedef int32_t lanky_status;
enum {
  LANKY_SUCCESS = 0,
  LANKY_INVALID_ARGUMENT = 1, /* a value that no call accepts: a NULL, an unknown constant */
  LANKY_SIZE_MISMATCH = 2,    /* operands whose extents, layouts or bytes do not fit together */
  LANKY_WRONG_MEMORY = 3,     /* a host pointer where device memory is needed, or the other way */
  LANKY_NO_DEVICE = 4,        /* no such device, or a build without CUDA */
  LANKY_OUT_OF_MEMORY = 5,
  LANKY_UNSUPPORTED = 6,    /* valid, but more than this version or build can do */
  LANKY_PARSE_ERROR = 7,    /* malformed file content */
  LANKY_IO_ERROR = 8,       /* a file that cannot be opened, read or written */
  LANKY_DEVICE_ERROR = 9,   /* the CUDA runtime or a vendor's library reported an error */
  LANKY_INTERNAL_ERROR = 10 /* any other exception: a fault of lanky's, please report it */
};

/* Element types. alpha and beta are of the accumulator type: f32 for f16 and bf16, else the type
 * itself; f64 for dense products with results of f64. f16 and bf16 are their 16 bits; c64 is two
 * f32, c128 two f64: real, imaginary. */
typedef int32_t lanky_dtype;
enum {
  LANKY_DTYPE_F64 = 0,
  LANKY_DTYPE_F32 = 1,
  LANKY_DTYPE_F16 = 2,
  LANKY_DTYPE_BF16 = 3,
  LANKY_DTYPE_C64 = 4,
  LANKY_DTYPE_C128 = 5
};

/* op(A) is A, its transpose, or its conjugate transpose. */
typedef int32_t lanky_op;
enum { LANKY_OP_NONE = 0, LANKY_OP_TRANS = 1, LANKY_OP_CONJ_TRANS = 2 };

/* Element (i, j) of a dense matrix stands at i + j * ld (col) or at i * ld + j (row). */
typedef int32_t lanky_layout;
enum { LANKY_LAYOUT_COL = 0, LANKY_LAYOUT_ROW = 1 };

/* How much products of f32 may be rounded: a permission. */
typedef int32_t lanky_math;
enum { LANKY_MATH_IEEE = 0, LANKY_MATH_TF32 = 1, LANKY_MATH_TF32X3 = 2 };

/* Which units of a GPU multiply. */
typedef int32_t lanky_engine;
enum { LANKY_ENGINE_AUTOMATIC = 0, LANKY_ENGINE_CUDA_CORES = 1, LANKY_ENGINE_TENSOR_CORES = 2 };

/* What a matrix is to its mirror image across the diagonal, of which one triangle is given then. */
typedef int32_t lanky_symmetry;
enum {
  LANKY_SYMMETRY_GENERAL = 0,
  LANKY_SYMMETRY_SYMMETRIC = 1,
  LANKY_SYMMETRY_SKEW_SYMMETRIC = 2,
  LANKY_SYMMETRY_HERMITIAN = 3
};

/* Where alpha and beta stand: read during the call (host), or when the work runs (device: memory of
 * the plan's device), so that a captured graph can be replayed with another value. */
typedef int32_t lanky_memory;
enum { LANKY_MEMORY_HOST = 0, LANKY_MEMORY_DEVICE = 1 };

typedef int32_t lanky_device_kind;
enum { LANKY_DEVICE_KIND_CPU = 0, LANKY_DEVICE_KIND_CUDA = 1 };

/* The equation of docs/design.md that a dense product is computed by. */
typedef int32_t lanky_gemm_family;
enum {
  LANKY_GEMM_FAMILY_PANEL = 0,
  LANKY_GEMM_FAMILY_UPDATE = 1,
  LANKY_GEMM_FAMILY_GRAM = 2,
  LANKY_GEMM_FAMILY_REGULAR = 3
};

/* How a solver ended. `stagnated`: residuals have not decreased for long, as rounding allows no
 * less. `stopped`: the caller's lanky_on_progress said so. */
typedef int32_t lanky_solver_status;
enum {
  LANKY_SOLVER_STATUS_CONVERGED = 0,
  LANKY_SOLVER_STATUS_ITERATIONS_EXHAUSTED = 1,
  LANKY_SOLVER_STATUS_STAGNATED = 2,
  LANKY_SOLVER_STATUS_STOPPED = 3
};

/* The end of the spectrum, algebraically. */
typedef int32_t lanky_eigen_end;
enum { LANKY_EIGEN_END_SMALLEST = 0, LANKY_EIGEN_END_LARGEST = 1 };

/* randomized: a fixed number of products. golub_kahan: until the tolerance is reached. */
typedef int32_t lanky_svd_method;
enum { LANKY_SVD_METHOD_RANDOMIZED = 0, LANKY_SVD_METHOD_GOLUB_KAHAN = 1 };

/* What becomes of entries that a coordinate file gives more than once. */
typedef int32_t lanky_io_duplicates;
enum { LANKY_IO_DUPLICATES_SUM = 0, LANKY_IO_DUPLICATES_KEEP = 1, LANKY_IO_DUPLICATES_REJECT = 2 };

typedef int32_t lanky_io_format;
enum { LANKY_IO_FORMAT_COORDINATE = 0, LANKY_IO_FORMAT_ARRAY = 1 };

typedef int32_t lanky_io_field;
enum {
  LANKY_IO_FIELD_REAL = 0,
  LANKY_IO_FIELD_INTEGER = 1,
  LANKY_IO_FIELD_PATTERN = 2,
  LANKY_IO_FIELD_COMPLEX = 3
};

/* ------------------------------------------------------------------------------------------------
 * Errors, version, types
 */

/* The calling thread's last failure: one line with the values at fault, "" where nothing failed
 * yet. The text stands until the next failure in this thread, and success leaves it as it is. */
LANKY_API const char* lanky_last_error(void);

/* Names as they stand in C++ ("size_mismatch", "f64", "tf32x3", "tensor_cores", "gram"); "unknown"
 * for values that this version does not know. LANKY_SUCCESS is "success". */
LANKY_API const char* lanky_status_to_string(lanky_status status);
LANKY_API const char* lanky_dtype_to_string(lanky_dtype dtype);
LANKY_API const char* lanky_math_to_string(lanky_math math);
LANKY_API const char* lanky_engine_to_string(lanky_engine engine);
LANKY_API const char* lanky_gemm_family_to_string(lanky_gemm_family family);
LANKY_API const char* lanky_solver_status_to_string(lanky_solver_status status);

/* LANKY_VERSION of the library that runs, which may be later than that of the headers. */
LANKY_API int32_t lanky_version(void);
/* How the library that runs was built: one line. */
LANKY_API const char* lanky_build_description(void);

/* From "f64", "f32", "f16", "bf16", "c64" or "c128". */
LANKY_API lanky_status lanky_dtype_parse(const char* text, lanky_dtype* dtype);
/* Bytes of an element; 0 for an unknown type. */
LANKY_API size_t lanky_dtype_size_of(lanky_dtype dtype);
/* The type of alpha and beta, but of dense products with results of f64, which have f64; -1 for an
 * unknown type. */
LANKY_API lanky_dtype lanky_dtype_accumulator(lanky_dtype dtype);
/* Half the distance from 1 to the next number; -1 for an unknown type. */
LANKY_API double lanky_dtype_unit_roundoff(lanky_dtype dtype);

/* The 16 bits of a number, rounded once to nearest even, and the number of 16 bits. */
LANKY_API uint16_t lanky_f16_from_double(double value);
LANKY_API float lanky_f16_to_float(uint16_t bits);
LANKY_API uint16_t lanky_bf16_from_double(double value);
LANKY_API float lanky_bf16_to_float(uint16_t bits);

/* ------------------------------------------------------------------------------------------------
 * Handles. Each is made by a function that returns it in its last parameter, and given back by
 * lanky_X_destroy(), which takes NULL as free() does.
 */

typedef struct lanky_stream lanky_stream;
typedef struct lanky_event lanky_event;
typedef struct lanky_buffer lanky_buffer;
typedef struct lanky_csr_matrix lanky_csr_matrix;
typedef struct lanky_sparse_plan lanky_sparse_plan;
typedef struct lanky_sddmm_plan lanky_sddmm_plan;
typedef struct lanky_gemm_plan lanky_gemm_plan;
typedef struct lanky_gemm_tuning lanky_gemm_tuning;
typedef struct lanky_gemm_trials lanky_gemm_trials;
typedef struct lanky_linear_operator lanky_linear_operator;
typedef struct lanky_eigen_result lanky_eigen_result;
typedef struct lanky_linear_result lanky_linear_result;
typedef struct lanky_svd_result lanky_svd_result;
typedef struct lanky_cholesky_qr lanky_cholesky_qr;

/* ------------------------------------------------------------------------------------------------
 * Devices: values that name the CPU or a CUDA GPU
 */

typedef struct lanky_device {
  lanky_device_kind kind;
  int32_t index; /* of a GPU; 0 for the CPU */
} lanky_device;

typedef struct lanky_device_properties {
  char name[256];             /* "NVIDIA H200", or the processor's name */
  int32_t multiprocessors;    /* SMs; threads used on a CPU */
  int32_t compute_capability; /* 90 for sm_90; 0 on a CPU */
  uint64_t memory_bytes;      /* device memory, or main memory */
  uint64_t l2_bytes;          /* 0 on a CPU, as all that follow */
  uint64_t shared_bytes_per_block;
  uint64_t shared_bytes_per_multiprocessor;
  double clock;            /* Hz, of SMs at most */
  double memory_bandwidth; /* bytes per second that memory clock and bus allow */
} lanky_device_properties;

LANKY_API lanky_device lanky_device_cpu(void);
/* LANKY_NO_DEVICE tells how many there are, or why none. */
LANKY_API lanky_status lanky_device_cuda(int32_t index, lanky_device* device);
/* cuda:0 where it is there and runs this lanky's code, else the CPU. */
LANKY_API lanky_status lanky_device_best(lanky_device* device);
/* From "cpu", "cuda" or "cuda:1". */
LANKY_API lanky_status lanky_device_parse(const char* text, lanky_device* device);
/* Number of CUDA devices; 0 in a build without CUDA and on a machine without a driver. */
LANKY_API int32_t lanky_device_cuda_count(void);
/* Why lanky_device_best() is the CPU; "" where it is cuda:0. */
LANKY_API lanky_status lanky_device_cuda_absence(char* text, size_t size, size_t* length);
/* "cpu" or "cuda:0". */
LANKY_API lanky_status lanky_device_name(lanky_device device, char* text, size_t size,
                                         size_t* length);
LANKY_API lanky_status lanky_device_get_properties(lanky_device device,
                                                   lanky_device_properties* properties,
                                                   size_t size);

/* ------------------------------------------------------------------------------------------------
 * Streams and events: order of work on a device. On the CPU each call is done when it returns.
 */

/* A new non-blocking stream. Buffers, events and plans made on it keep it alive. */
LANKY_API lanky_status lanky_stream_create(lanky_device device, lanky_stream** stream);
/* The caller's own cudaStream_t (NULL: the legacy default stream), which lanky never destroys. It
 * must live as long as the buffers and plans made on it. */
LANKY_API lanky_status lanky_stream_wrap(void* cuda_stream, lanky_device device,
                                         lanky_stream** stream);
LANKY_API void lanky_stream_destroy(lanky_stream* stream);
/* Of NULL: kind -1. */
LANKY_API lanky_device lanky_stream_device(const lanky_stream* stream);
/* The cudaStream_t; NULL on the CPU. */
LANKY_API void* lanky_stream_native(const lanky_stream* stream);
/* 1 where both name the same stream, which runs in a plan's own workspace need; else 0. */
LANKY_API int32_t lanky_stream_equal(const lanky_stream* a, const lanky_stream* b);
/* Whether work given to the stream is captured for a CUDA graph instead of being done: 1 or 0. */
LANKY_API lanky_status lanky_stream_is_capturing(const lanky_stream* stream, int32_t* capturing);
/* Blocks until all work given to the stream is done, and returns what went wrong in it. */
LANKY_API lanky_status lanky_stream_synchronize(const lanky_stream* stream);
/* Work given to the stream from now on starts after the event has been reached. */
LANKY_API lanky_status lanky_stream_wait(const lanky_stream* stream, const lanky_event* event);

LANKY_API lanky_status lanky_event_create(lanky_device device, lanky_event** event);
LANKY_API void lanky_event_destroy(lanky_event* event);
/* Of NULL: kind -1. */
LANKY_API lanky_device lanky_event_device(const lanky_event* event);
/* Marks the current end of the stream. */
LANKY_API lanky_status lanky_event_record(lanky_event* event, const lanky_stream* stream);
LANKY_API lanky_status lanky_event_synchronize(const lanky_event* event);
/* *done is 1 once the recorded point has been reached, else 0. */
LANKY_API lanky_status lanky_event_done(const lanky_event* event, int32_t* done);
/* Milliseconds between two points that have been reached. */
LANKY_API lanky_status lanky_event_elapsed_ms(const lanky_event* start, const lanky_event* end,
                                              double* ms);

/* ------------------------------------------------------------------------------------------------
 * Buffers: bytes in the memory of a stream's device, allocated and freed in the stream's order. Any
 * other memory of the device serves products as well.
 */

/* Where a caller's own memory pool plugs in. The struct is copied; what `user` points to must
 * outlive the buffers and plans made with it. The functions are called from the thread that makes
 * or destroys those, and must not throw. */
typedef struct lanky_allocator {
  size_t size;
  /* At least `bytes` > 0 bytes aligned to 256, usable by work given to `stream` afterwards; NULL
   * where there is no memory. `stream` is valid during the call. */
  void* (*allocate)(size_t bytes, const lanky_stream* stream, void* user);
  /* Memory that is not touched by work given to `stream` afterwards. */
  void (*deallocate)(void* data, size_t bytes, const lanky_stream* stream, void* user);
  void* user; /* passed on */
} lanky_allocator;
LANKY_API lanky_status lanky_allocator_init(lanky_allocator* allocator, size_t size);

/* Uninitialized; aligned to 256 bytes. `allocator` may be NULL. */
LANKY_API lanky_status lanky_buffer_create(const lanky_stream* stream, int64_t bytes,
                                           const lanky_allocator* allocator, lanky_buffer** buffer);
/* Memory of the stream's device that is not lanky's to free, such as a result's vectors, so that it
 * can be copied. It must live as long as the buffer. */
LANKY_API lanky_status lanky_buffer_wrap(const lanky_stream* stream, void* data, int64_t bytes,
                                         lanky_buffer** buffer);
LANKY_API void lanky_buffer_destroy(lanky_buffer* buffer);
/* NULL for 0 bytes. */
LANKY_API void* lanky_buffer_data(const lanky_buffer* buffer);
LANKY_API int64_t lanky_buffer_bytes(const lanky_buffer* buffer);
/* `bytes` bytes to and from the front of the buffer, in stream order. Both wait for the copy. */
LANKY_API lanky_status lanky_buffer_copy_from(lanky_buffer* buffer, const void* host,
                                              int64_t bytes);
LANKY_API lanky_status lanky_buffer_to_host(const lanky_buffer* buffer, void* host, int64_t bytes);
/* Sets every byte to zero, in stream order. */
LANKY_API lanky_status lanky_buffer_fill_zero(lanky_buffer* buffer);

/* ------------------------------------------------------------------------------------------------
 * Views: pointers with extents, which count elements. Their type is told by the plan, or by the
 * function that takes them. Operands that a product only reads are never written, though `data` is
 * no pointer to const: one vector may be y of one product and x of the next. These structs are
 * complete and stay as they are.
 */

typedef struct lanky_vector_view {
  void* data;
  int64_t size;
} lanky_vector_view;

typedef struct lanky_matrix_view {
  void* data;
  int64_t rows;
  int64_t cols;
  int64_t ld;
  lanky_layout layout;
} lanky_matrix_view;

/* A sparse matrix in compressed sparse rows: all arrays in host memory, or all in that of one
 * device. Columns may be unsorted and repeated within a row (repeated entries add up). */
typedef struct lanky_csr_view {
  int64_t rows;
  int64_t cols;
  int64_t nnz;
  const void* row_offsets;    /* [rows + 1] int32_t or int64_t, as offset_bytes says */
  const int32_t* col_indices; /* [nnz] */
  const void* values;         /* [nnz] */
  int32_t offset_bytes;       /* 4 or 8 */
  int32_t index_base;         /* of offsets and columns alike: 0 or 1 */
} lanky_csr_view;

/* ------------------------------------------------------------------------------------------------
 * How a plan is run
 */

typedef struct lanky_run_options {
  size_t size;
  lanky_memory alpha_memory; /* host */
  lanky_memory beta_memory;  /* host */
  /* Memory for this run, on the plan's device and aligned to 256 bytes, so that runs may overlap;
   * NULL: the plan's own, on the stream that the plan was made on. */
  void* workspace;
  int64_t workspace_bytes;
} lanky_run_options;
LANKY_API lanky_status lanky_run_options_init(lanky_run_options* options, size_t size);

/* ------------------------------------------------------------------------------------------------
 * Sparse products: y = alpha op(A) x + beta y (SpMV) and Y = alpha op(A) X + beta Y (SpMM).
 * `type` is that of A and x, `out` that of y: the same, or f32 for f16 and bf16.
 */

typedef struct lanky_sparse_options {
  size_t size;
  lanky_engine engine;      /* automatic */
  lanky_math math;          /* ieee */
  lanky_symmetry symmetry;  /* general; otherwise the CSR is one triangle, which the plan expands */
  lanky_op op;              /* none; the plan has the extents of op(A) */
  int32_t updates;          /* 0; 1: new values are possible with a symmetry or an op, too */
  int32_t tune;             /* 0; 1: candidates are measured, and the fastest is kept */
  int64_t expected_columns; /* 1; vectors that most runs will multiply at once */
  lanky_layout expected_layout;     /* row; how X and Y of these runs stand */
  int32_t reserved;                 /* 0 */
  const lanky_allocator* allocator; /* NULL; of the plan's device memory */
} lanky_sparse_options;
LANKY_API lanky_status lanky_sparse_options_init(lanky_sparse_options* options, size_t size);

/* What a plan has decided. */
typedef struct lanky_sparse_info {
  lanky_engine engine; /* of the kernels of one vector; automatic: the CPU */
  lanky_math math;     /* of the same */
  double padding;      /* share of the slots that hold no entry */
  double predicted_us; /* of a product; 0 on the CPU */
  int64_t trial_count; /* shapes that were measured, the plan's own choice first */
  int64_t kept;        /* of these */
} lanky_sparse_info;

/* A shape of the packed matrix that was measured. */
typedef struct lanky_sparse_trial {
  char shape[256];
  lanky_engine engine;
  lanky_math math;
  double ratio; /* its time over that of the plan's own choice */
} lanky_sparse_trial;

/* Copies and packs A, and allocates all that runs need. */
LANKY_API lanky_status lanky_sparse_plan_create(const lanky_stream* stream, lanky_dtype type,
                                                lanky_dtype out, const lanky_csr_view* a,
                                                const lanky_sparse_options* options,
                                                lanky_sparse_plan** plan);
/* Runs given to other streams than the plan's must be done. */
LANKY_API void lanky_sparse_plan_destroy(lanky_sparse_plan* plan);
/* y = alpha op(A) x + beta y on memory of the plan's device. alpha and beta point to values of the
 * accumulator type; NULL means alpha = 1 and beta = 0. With beta = 0, y is overwritten whatever it
 * held. Never allocates, waits or prints; can be captured in a CUDA graph. */
LANKY_API lanky_status lanky_sparse_plan_run(const lanky_sparse_plan* plan,
                                             const lanky_stream* stream, const void* alpha,
                                             const lanky_vector_view* x, const void* beta,
                                             const lanky_vector_view* y,
                                             const lanky_run_options* options);
/* Y = alpha op(A) X + beta Y, of any number of columns, each in its layout. */
LANKY_API lanky_status lanky_sparse_plan_run_matrix(const lanky_sparse_plan* plan,
                                                    const lanky_stream* stream, const void* alpha,
                                                    const lanky_matrix_view* x, const void* beta,
                                                    const lanky_matrix_view* y,
                                                    const lanky_run_options* options);
/* New numbers for the same pattern, nnz of them in the order of the CSR, for runs that follow on
 * `stream`. Values in host memory have been taken on return. */
LANKY_API lanky_status lanky_sparse_plan_update_values(lanky_sparse_plan* plan,
                                                       const lanky_stream* stream,
                                                       const lanky_vector_view* values);
LANKY_API int64_t lanky_sparse_plan_rows(const lanky_sparse_plan* plan);
LANKY_API int64_t lanky_sparse_plan_cols(const lanky_sparse_plan* plan);
/* Entries of the CSR that the plan was made of. */
LANKY_API int64_t lanky_sparse_plan_nnz(const lanky_sparse_plan* plan);
/* Of NULL: kind -1. */
LANKY_API lanky_device lanky_sparse_plan_device(const lanky_sparse_plan* plan);
/* Memory that one run works in. */
LANKY_API int64_t lanky_sparse_plan_workspace_bytes(const lanky_sparse_plan* plan);
/* Memory that the plan holds, workspace included. */
LANKY_API int64_t lanky_sparse_plan_device_bytes(const lanky_sparse_plan* plan);
/* Plans with equal fingerprints give equal bits for equal operands, within one version. */
LANKY_API uint64_t lanky_sparse_plan_fingerprint(const lanky_sparse_plan* plan);
LANKY_API lanky_status lanky_sparse_plan_info(const lanky_sparse_plan* plan,
                                              lanky_sparse_info* info, size_t size);
/* Shape `index` of those that were measured, from 0. */
LANKY_API lanky_status lanky_sparse_plan_trial(const lanky_sparse_plan* plan, int64_t index,
                                               lanky_sparse_trial* trial, size_t size);
LANKY_API lanky_status lanky_sparse_plan_explain(const lanky_sparse_plan* plan, char* text,
                                                 size_t size, size_t* length);

/* Through a plan that is thrown away, alpha and beta in host memory. Both wait for the result. */
LANKY_API lanky_status lanky_spmv(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                                  const void* alpha, const lanky_csr_view* a,
                                  const lanky_vector_view* x, const void* beta,
                                  const lanky_vector_view* y);
LANKY_API lanky_status lanky_spmm(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                                  const void* alpha, const lanky_csr_view* a,
                                  const lanky_matrix_view* x, const void* beta,
                                  const lanky_matrix_view* y);

/* ------------------------------------------------------------------------------------------------
 * Sampled products: values[k] = alpha sum_c X(i, c) Y(j, c) + beta values[k] for every entry k, at
 * (i, j), of a sparse pattern (SDDMM). `type` is that of X and Y, `out` that of the values: the
 * same, or f32 for f16 and bf16.
 */

typedef struct lanky_sddmm_options {
  size_t size;
  int32_t conjugate_y;              /* 0; 1: sums of X(i, c) conj(Y(j, c)) */
  int32_t reserved;                 /* 0 */
  int64_t expected_columns;         /* 0; of X and Y, for which the workspace has room */
  const lanky_allocator* allocator; /* NULL; of the plan's device memory */
} lanky_sddmm_options;
LANKY_API lanky_status lanky_sddmm_options_init(lanky_sddmm_options* options, size_t size);

/* Copies the pattern of `a`, whose values are not looked at and may be NULL. */
LANKY_API lanky_status lanky_sddmm_plan_create(const lanky_stream* stream, lanky_dtype type,
                                               lanky_dtype out, const lanky_csr_view* a,
                                               const lanky_sddmm_options* options,
                                               lanky_sddmm_plan** plan);
/* Runs given to other streams than the plan's must be done. */
LANKY_API void lanky_sddmm_plan_destroy(lanky_sddmm_plan* plan);
/* X [rows, c], Y [cols, c], values [nnz] in the order of the CSR. alpha, beta and the rest as in
 * lanky_sparse_plan_run(). */
LANKY_API lanky_status lanky_sddmm_plan_run(const lanky_sddmm_plan* plan,
                                            const lanky_stream* stream, const void* alpha,
                                            const lanky_matrix_view* x, const lanky_matrix_view* y,
                                            const void* beta, const lanky_vector_view* values,
                                            const lanky_run_options* options);
LANKY_API int64_t lanky_sddmm_plan_rows(const lanky_sddmm_plan* plan);
LANKY_API int64_t lanky_sddmm_plan_cols(const lanky_sddmm_plan* plan);
LANKY_API int64_t lanky_sddmm_plan_nnz(const lanky_sddmm_plan* plan);
/* Of NULL: kind -1. */
LANKY_API lanky_device lanky_sddmm_plan_device(const lanky_sddmm_plan* plan);
LANKY_API int64_t lanky_sddmm_plan_workspace_bytes(const lanky_sddmm_plan* plan);
LANKY_API int64_t lanky_sddmm_plan_device_bytes(const lanky_sddmm_plan* plan);
LANKY_API uint64_t lanky_sddmm_plan_fingerprint(const lanky_sddmm_plan* plan);
LANKY_API lanky_status lanky_sddmm_plan_explain(const lanky_sddmm_plan* plan, char* text,
                                                size_t size, size_t* length);

/* Through a plan that is thrown away, alpha and beta in host memory. Waits for the result. */
LANKY_API lanky_status lanky_sddmm(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                                   const void* alpha, const lanky_csr_view* a,
                                   const lanky_matrix_view* x, const lanky_matrix_view* y,
                                   const void* beta, const lanky_vector_view* values);

/* ------------------------------------------------------------------------------------------------
 * Dense products with a skinny side: C = alpha op(A) op(B) + beta C. `type` is that of A and B,
 * `out` that of C: the same, f32 for f16 and bf16, or f64 for these and f32. Products with results
 * of f64 are summed in f64, and alpha and beta are f64.
 */

/* Sizes count elements; leading dimensions of 0 mean tight. */
typedef struct lanky_gemm_shape {
  size_t size;
  int64_t m; /* rows of op(A) and C */
  int64_t n; /* columns of op(B) and C */
  int64_t k; /* columns of op(A), rows of op(B) */
  lanky_op op_a;
  lanky_op op_b;
  lanky_layout layout; /* of A, B and C: col */
  int32_t reserved;    /* 0 */
  int64_t lda;         /* of A as stored: [m, k], or [k, m] where op_a transposes */
  int64_t ldb;
  int64_t ldc;
} lanky_gemm_shape;
LANKY_API lanky_status lanky_gemm_shape_init(lanky_gemm_shape* shape, size_t size);

typedef struct lanky_gemm_options {
  size_t size;
  lanky_math math;                  /* ieee */
  int32_t tune;                     /* 0; 1: all ways are measured, and the fastest is kept */
  const lanky_gemm_tuning* tuning;  /* NULL; choices measured before, needed by _create() only */
  const lanky_allocator* allocator; /* NULL; of the plan's workspace */
} lanky_gemm_options;
LANKY_API lanky_status lanky_gemm_options_init(lanky_gemm_options* options, size_t size);

/* What a plan has decided, and what that is to cost. */
typedef struct lanky_gemm_info {
  int64_t route_count; /* ways that the plan computes by; that of plain runs first */
  /* Which of them takes runs on operands that begin at multiples of 16 bytes: where B is A or not,
   * and where beta is other than 0 or not: [same][adds]. */
  int32_t of_aligned[2][2];
  double bytes; /* A, B and C once each */
  double flops;
  double bound_us;     /* at nominal bandwidth and peak */
  double predicted_us; /* of plain runs; 0 where nothing is known of the kernel */
  int32_t memory_bound;
  int32_t reserved;
} lanky_gemm_info;

/* A way that a plan computes by, and the runs that take it. */
typedef struct lanky_gemm_route {
  char when[256];          /* "where A is B", "where C is off 16 bytes"; "" for plain runs */
  char kernel[256];        /* "gram_direct_kernel", "cuBLASLt", "OpenBLAS" */
  char algorithm[256];     /* as lanky_gemm_choice names it */
  char configuration[256]; /* kernel, tiles, split: one line */
  int32_t vendor;
  int32_t reserved;
} lanky_gemm_route;

/* The family that computes m x n x k. */
LANKY_API lanky_gemm_family lanky_gemm_family_of(int64_t m, int64_t n, int64_t k);

/* Chooses kernels and allocates the workspace. */
LANKY_API lanky_status lanky_gemm_plan_create(const lanky_stream* stream, lanky_dtype type,
                                              lanky_dtype out, const lanky_gemm_shape* shape,
                                              const lanky_gemm_options* options,
                                              lanky_gemm_plan** plan);
/* Runs given to other streams than the plan's must be done. */
LANKY_API void lanky_gemm_plan_destroy(lanky_gemm_plan* plan);
/* Views must have the plan's extents, layout and leading dimensions. alpha, beta and the rest as in
 * lanky_sparse_plan_run(). */
LANKY_API lanky_status lanky_gemm_plan_run(const lanky_gemm_plan* plan, const lanky_stream* stream,
                                           const void* alpha, const lanky_matrix_view* a,
                                           const lanky_matrix_view* b, const void* beta,
                                           const lanky_matrix_view* c,
                                           const lanky_run_options* options);
/* The shape with its leading dimensions filled in; `shape` was initialized by its _init(). */
LANKY_API lanky_status lanky_gemm_plan_shape(const lanky_gemm_plan* plan, lanky_gemm_shape* shape);
/* Of NULL: -1. */
LANKY_API lanky_gemm_family lanky_gemm_plan_family(const lanky_gemm_plan* plan);
/* Of NULL: kind -1. */
LANKY_API lanky_device lanky_gemm_plan_device(const lanky_gemm_plan* plan);
LANKY_API int64_t lanky_gemm_plan_workspace_bytes(const lanky_gemm_plan* plan);
LANKY_API uint64_t lanky_gemm_plan_fingerprint(const lanky_gemm_plan* plan);
LANKY_API lanky_status lanky_gemm_plan_info(const lanky_gemm_plan* plan, lanky_gemm_info* info,
                                            size_t size);
/* Way `index` of info's route_count, from 0. */
LANKY_API lanky_status lanky_gemm_plan_route(const lanky_gemm_plan* plan, int64_t index,
                                             lanky_gemm_route* route, size_t size);
/* What was measured of such products: lines, or "". */
LANKY_API lanky_status lanky_gemm_plan_tuning(const lanky_gemm_plan* plan, char* text, size_t size,
                                              size_t* length);
LANKY_API lanky_status lanky_gemm_plan_explain(const lanky_gemm_plan* plan, char* text, size_t size,
                                               size_t* length);

/* Through a plan that is thrown away, shapes taken from the views, alpha and beta in host memory.
 * Waits for the result. */
LANKY_API lanky_status lanky_gemm(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                                  lanky_op op_a, lanky_op op_b, const void* alpha,
                                  const lanky_matrix_view* a, const lanky_matrix_view* b,
                                  const void* beta, const lanky_matrix_view* c);

/* ------------------------------------------------------------------------------------------------
 * Tuning of dense products: what was measured on a machine, by class of product
 */

/* A way to compute a dense product. */
typedef struct lanky_gemm_choice {
  char algorithm[256]; /* "" for the cheapest of lanky's, or the first of the vendor's heuristic */
  int32_t vendor;      /* 1: cuBLASLt or OpenBLAS; 0: lanky's kernels */
  int32_t reserved;
  double us; /* what it took, where it was measured; else 0 */
} lanky_gemm_choice;

/* A product that choices are made for; they hold for its class. */
typedef struct lanky_gemm_query {
  size_t size;
  const lanky_gemm_shape* shape;
  lanky_device device;   /* the CPU */
  lanky_dtype type;      /* f64 */
  lanky_dtype out;       /* f64 */
  lanky_math math;       /* ieee */
  int32_t same_operands; /* 0; 1: runs whose B is A */
  int32_t adds;          /* 0; 1: runs whose beta is not 0 */
  int32_t reserved;      /* 0 */
} lanky_gemm_query;
LANKY_API lanky_status lanky_gemm_query_init(lanky_gemm_query* query, size_t size);

/* Text that is equal for all products of a class. */
LANKY_API lanky_status lanky_gemm_class(const lanky_gemm_query* query, char* text, size_t size,
                                        size_t* length);
/* All ways to compute a product, first the one that a plan takes where nothing is measured; at most
 * `most_algorithms` (16 is usual) of the vendor's. */
LANKY_API lanky_status lanky_gemm_choices(const lanky_gemm_query* query, int32_t most_algorithms,
                                          lanky_gemm_trials** trials);
/* Times these ways beside what a plan without tuning takes, on the caller's operands. Where another
 * way is faster by more than two percent, `tuning` has the fastest for such products afterwards. C
 * is overwritten. alpha and beta are in host memory. `trials` may be NULL. Waits. */
LANKY_API lanky_status lanky_measure_choices(const lanky_stream* stream, lanky_dtype type,
                                             lanky_dtype out, const lanky_gemm_shape* shape,
                                             const void* alpha, const lanky_matrix_view* a,
                                             const lanky_matrix_view* b, const void* beta,
                                             const lanky_matrix_view* c, lanky_math math,
                                             lanky_gemm_tuning* tuning, lanky_gemm_trials** trials);
LANKY_API void lanky_gemm_trials_destroy(lanky_gemm_trials* trials);
LANKY_API int64_t lanky_gemm_trials_size(const lanky_gemm_trials* trials);
LANKY_API lanky_status lanky_gemm_trials_get(const lanky_gemm_trials* trials, int64_t index,
                                             lanky_gemm_choice* choice, size_t size);

/* Without choices. */
LANKY_API lanky_status lanky_gemm_tuning_create(lanky_gemm_tuning** tuning);
/* From a file; without choices where there is none. */
LANKY_API lanky_status lanky_gemm_tuning_read(const char* path, lanky_gemm_tuning** tuning);
/* A copy of what the file of lanky_gemm_tuning_default_path() held when this process first asked
 * for it. A file that cannot be used counts as empty, and its note says why. */
LANKY_API lanky_status lanky_gemm_tuning_of_this_user(lanky_gemm_tuning** tuning);
/* A copy of what lanky's developers measured, which plans follow where no tuning knows better. */
LANKY_API lanky_status lanky_gemm_tuning_of_lanky(lanky_gemm_tuning** tuning);
LANKY_API void lanky_gemm_tuning_destroy(lanky_gemm_tuning* tuning);
/* Where `lanky tune` keeps its file. */
LANKY_API lanky_status lanky_gemm_tuning_default_path(char* text, size_t size, size_t* length);
/* In a new file that then takes the place of `path`. */
LANKY_API lanky_status lanky_gemm_tuning_write(const lanky_gemm_tuning* tuning, const char* path);
/* Number of choices. */
LANKY_API int64_t lanky_gemm_tuning_size(const lanky_gemm_tuning* tuning);
/* Why a file was ignored; "" otherwise. */
LANKY_API lanky_status lanky_gemm_tuning_note(const lanky_gemm_tuning* tuning, char* text,
                                              size_t size, size_t* length);
/* The vendor's library or lanky's kernels (0), by `algorithm` ("" for the first of its kind). */
LANKY_API lanky_status lanky_gemm_tuning_set(lanky_gemm_tuning* tuning,
                                             const lanky_gemm_query* query, int32_t vendor,
                                             const char* algorithm);
/* *found is 1 where something is known of such products, and `choice` is filled in then. */
LANKY_API lanky_status lanky_gemm_tuning_find(const lanky_gemm_tuning* tuning,
                                              const lanky_gemm_query* query,
                                              lanky_gemm_choice* choice, size_t size,
                                              int32_t* found);

/* ------------------------------------------------------------------------------------------------
 * Linear operators: what solvers apply to several vectors at once, Y = A X. Their type is f64, f32,
 * c64 or c128. An operator may serve several solvers, one after the other.
 */

/* X [cols, c] and Y [rows, c], both by rows and in the memory of the stream's device, of any c >= 1
 * and with leading dimensions of their own; they do not overlap. The function gives its work to the
 * stream. A status other than LANKY_SUCCESS ends the solver, which returns it: one of the
 * constants, or any number that the caller knows. The function must not throw. */
typedef lanky_status (*lanky_apply)(const lanky_stream* stream, const lanky_matrix_view* x,
                                    const lanky_matrix_view* y, void* user);

/* The caller's own linear map. The struct is copied; what `user` points to must outlive the
 * operator. The functions are called in the thread that calls a solver. */
typedef struct lanky_operator_functions {
  size_t size;
  lanky_apply apply; /* Y = A X */
  /* NULL; Y = A^H X with X [rows, c] and Y [cols, c], which lanky_svds() alone needs */
  lanky_apply adjoint;
  void* user; /* passed on */
  /* 0: ten entries a row; bytes that a product moves beside X and Y, by which solvers weigh
   * products against their own work. */
  double bytes;
  /* 0; 1: the functions give the stream always the same work and do nothing else, so that solvers
   * may capture it in a CUDA graph. */
  int32_t capturable;
  int32_t reserved; /* 0 */
} lanky_operator_functions;
LANKY_API lanky_status lanky_operator_functions_init(lanky_operator_functions* functions,
                                                     size_t size);

LANKY_API lanky_status lanky_linear_operator_create(lanky_dtype type, int64_t rows, int64_t cols,
                                                    const lanky_operator_functions* functions,
                                                    lanky_linear_operator** op);
/* A plan whose operands and results have the same type. `adjoint`, a plan of A^H and of its
 * extents, may be NULL. Both must outlive the operator. */
LANKY_API lanky_status lanky_linear_operator_from_plan(const lanky_sparse_plan* plan,
                                                       const lanky_sparse_plan* adjoint,
                                                       lanky_linear_operator** op);
/* An operator that owns its plan of `a`, made for `columns` vectors by rows, whatever the options
 * expect. Solvers multiply blocks: 8 or more columns serve best. */
LANKY_API lanky_status lanky_make_operator(const lanky_stream* stream, lanky_dtype type,
                                           const lanky_csr_view* a, int64_t columns,
                                           const lanky_sparse_options* options,
                                           lanky_linear_operator** op);
/* The same with a second plan, of A^H, which lanky_svds() needs. */
LANKY_API lanky_status lanky_make_operator_with_adjoint(const lanky_stream* stream,
                                                        lanky_dtype type, const lanky_csr_view* a,
                                                        int64_t columns,
                                                        const lanky_sparse_options* options,
                                                        lanky_linear_operator** op);
/* The inverse of the diagonal of a square `a` (Jacobi), by absolute value, 1 where it has none. */
LANKY_API lanky_status lanky_jacobi(const lanky_stream* stream, lanky_dtype type,
                                    const lanky_csr_view* a, lanky_linear_operator** op);
/* The inverses of diagonal blocks of `block_size` rows, 1 to 64 (block Jacobi), made positive
 * definite. `a` is symmetric or Hermitian; entries below the diagonal decide. */
LANKY_API lanky_status lanky_block_jacobi(const lanky_stream* stream, lanky_dtype type,
                                          const lanky_csr_view* a, int64_t block_size,
                                          lanky_linear_operator** op);
LANKY_API void lanky_linear_operator_destroy(lanky_linear_operator* op);
LANKY_API int64_t lanky_linear_operator_rows(const lanky_linear_operator* op);
LANKY_API int64_t lanky_linear_operator_cols(const lanky_linear_operator* op);
/* Of NULL: -1. */
LANKY_API lanky_dtype lanky_linear_operator_dtype(const lanky_linear_operator* op);
/* 1 or 0; of NULL: -1. */
LANKY_API int32_t lanky_linear_operator_has_adjoint(const lanky_linear_operator* op);
/* Y = A X and Y = A^H X, for operators that are made of others. */
LANKY_API lanky_status lanky_linear_operator_apply(const lanky_linear_operator* op,
                                                   const lanky_stream* stream,
                                                   const lanky_matrix_view* x,
                                                   const lanky_matrix_view* y);
LANKY_API lanky_status lanky_linear_operator_apply_adjoint(const lanky_linear_operator* op,
                                                           const lanky_stream* stream,
                                                           const lanky_matrix_view* x,
                                                           const lanky_matrix_view* y);

/* ------------------------------------------------------------------------------------------------
 * Solvers. Each works on the stream, waits, and returns a handle on what it reached, also where
 * that is less than what was asked for: the result's status tells. Operators of a solver have one
 * type, which is that of all vectors. Equal bits in every run on the same device.
 */

/* Where a solver stands after an iteration. The struct is complete and stays as it is. */
typedef struct lanky_solver_progress {
  int32_t iteration;
  int32_t reserved;
  int64_t wanted;    /* eigenpairs, singular triplets or right-hand sides */
  int64_t converged; /* of these */
  double residual;   /* the largest of the wanted, over what it is compared with */
  double tolerance;  /* at which `residual` has converged */
  double seconds;    /* since the solver began */
} lanky_solver_progress;

/* Called after iterations, in the thread that called the solver. *stop is 0: another value ends the
 * solver with the best so far, LANKY_SOLVER_STATUS_STOPPED. A status other than LANKY_SUCCESS ends
 * it without a result, and the solver returns that status. The function must not throw. */
typedef lanky_status (*lanky_on_progress)(const lanky_solver_progress* progress, int32_t* stop,
                                          void* user);

/* A x = lambda x or A x = lambda B x. Operators are [n, n] and self-adjoint. */
typedef struct lanky_eigen_problem {
  size_t size;
  const lanky_linear_operator* a;
  const lanky_linear_operator* b; /* NULL, the identity; positive definite */
  /* NULL, the identity; near the inverse of A, positive definite */
  const lanky_linear_operator* preconditioner;
  /* NULL; [n, c] by rows: eigenpairs are sought among vectors B-orthogonal to these columns, which
   * need not be eigenvectors */
  const lanky_matrix_view* constraints;
  /* NULL; [n, any] by rows: first approximations of eigenvectors, in no order */
  const lanky_matrix_view* start;
  /* NULL; A with values in single precision, f32 for f64 and c64 for c128: the polynomial that
   * preconditions residuals is one of this. Not beside b or a preconditioner. */
  const lanky_linear_operator* a_single;
} lanky_eigen_problem;
LANKY_API lanky_status lanky_eigen_problem_init(lanky_eigen_problem* problem, size_t size);

typedef struct lanky_eigen_options {
  size_t size;
  int64_t k;              /* 6; eigenpairs wanted, 1 to n */
  lanky_eigen_end end;    /* smallest */
  int32_t max_iterations; /* 2000 */
  /* 0: 1e-8 for f64 and c128, 1e-4 for f32 and c64. |A x - lambda B x| <= tolerance |lambda B x|,
   * or what rounding allows. */
  double tolerance;
  int64_t block_size; /* 0: k and a few more; vectors iterated at once */
  /* -1: chosen by cost; 0: none. Steps of Chebyshev iteration that precondition residuals where
   * there are no B and no preconditioner. */
  int32_t polynomial_degree;
  int32_t reserved;                 /* 0 */
  uint64_t seed;                    /* 0; of random start vectors */
  lanky_on_progress progress;       /* NULL */
  void* user;                       /* passed on to `progress` */
  const lanky_allocator* allocator; /* NULL; of device memory; copied */
} lanky_eigen_options;
LANKY_API lanky_status lanky_eigen_options_init(lanky_eigen_options* options, size_t size);

/* Pointers are to memory of the result, which lives as long as its handle. */
typedef struct lanky_eigen_info {
  lanky_solver_status status;
  int32_t iterations;
  int64_t converged;       /* of the k, counted from the end */
  int64_t k;               /* length of the three arrays, which are in host memory */
  const double* values;    /* ascending for the smallest, descending for the largest */
  const double* residuals; /* |A x - lambda B x| / |x|, computed anew at the end */
  const double* bounds;    /* without B, A has an eigenvalue no farther than this from each value */
  double norm;             /* of A as far as it was seen */
  const lanky_solver_progress* history; /* what each iteration reached, in host memory */
  int64_t history_size;
  lanky_matrix_view vectors; /* [n, k] by rows on the stream's device, B-orthonormal */
} lanky_eigen_info;

/* k eigenpairs at one end of the spectrum, by LOBPCG; small problems by a dense solver. */
LANKY_API lanky_status lanky_lobpcg(const lanky_stream* stream, const lanky_eigen_problem* problem,
                                    const lanky_eigen_options* options,
                                    lanky_eigen_result** result);
LANKY_API void lanky_eigen_result_destroy(lanky_eigen_result* result);
LANKY_API lanky_status lanky_eigen_result_info(const lanky_eigen_result* result,
                                               lanky_eigen_info* info, size_t size);

typedef struct lanky_linear_options {
  size_t size;
  /* 0: 1e-8 for f64 and c128, 1e-4 for f32 and c64. |b - A x| <= max(tolerance |b|,
   * absolute_tolerance). */
  double tolerance;
  double absolute_tolerance;        /* 0 */
  int32_t max_iterations;           /* 0: ten times the rows of A, at most 100,000 */
  int32_t reserved;                 /* 0 */
  lanky_on_progress progress;       /* NULL; after 1, 2, 4, ... iterations, then every 16 */
  void* user;                       /* passed on to `progress` */
  const lanky_allocator* allocator; /* NULL; of device memory */
} lanky_linear_options;
LANKY_API lanky_status lanky_linear_options_init(lanky_linear_options* options, size_t size);

/* Pointers are to host memory of the result, which lives as long as its handle. */
typedef struct lanky_linear_info {
  lanky_solver_status status;
  int32_t iterations;                   /* of the right-hand side that took the most */
  int64_t converged;                    /* right-hand sides that are solved */
  int64_t columns;                      /* right-hand sides */
  const double* residuals;              /* [columns] |b - A x| / |b|, computed anew at the end */
  const lanky_solver_progress* history; /* an entry for each test of convergence */
  int64_t history_size;
} lanky_linear_info;

/* A X = B, A [n, n] positive definite, by conjugate gradients, each right-hand side by a recurrence
 * of its own. B [n, c] and X [n, c] by rows on the stream's device; X holds first approximations,
 * which may be zeros, and then the solutions. `preconditioner`, positive definite, may be NULL. */
LANKY_API lanky_status lanky_cg(const lanky_stream* stream, const lanky_linear_operator* a,
                                const lanky_matrix_view* b, const lanky_matrix_view* x,
                                const lanky_linear_options* options,
                                const lanky_linear_operator* preconditioner,
                                lanky_linear_result** result);
/* The same by block CG, which seeks every solution in the Krylov spaces of all right-hand sides. */
LANKY_API lanky_status lanky_block_cg(const lanky_stream* stream, const lanky_linear_operator* a,
                                      const lanky_matrix_view* b, const lanky_matrix_view* x,
                                      const lanky_linear_options* options,
                                      const lanky_linear_operator* preconditioner,
                                      lanky_linear_result** result);
/* The same by MINRES, for a self-adjoint A that may be indefinite or singular. */
LANKY_API lanky_status lanky_minres(const lanky_stream* stream, const lanky_linear_operator* a,
                                    const lanky_matrix_view* b, const lanky_matrix_view* x,
                                    const lanky_linear_options* options,
                                    const lanky_linear_operator* preconditioner,
                                    lanky_linear_result** result);
LANKY_API void lanky_linear_result_destroy(lanky_linear_result* result);
LANKY_API lanky_status lanky_linear_result_info(const lanky_linear_result* result,
                                                lanky_linear_info* info, size_t size);

typedef struct lanky_svd_options {
  size_t size;
  int64_t k;               /* 6; singular triplets wanted, 1 to min(m, n) */
  lanky_svd_method method; /* golub_kahan */
  int32_t max_iterations;  /* 1000; of Golub-Kahan */
  /* 0: 1e-8 for f64 and c128, 1e-4 for f32 and c64. max(|A v - s u|, |A^H u - s v|) <= tolerance
   * times the largest singular value. */
  double tolerance;
  int64_t oversampling;             /* 10; vectors beside the k */
  int32_t power_iterations;         /* 4; of the randomized method */
  int32_t center;                   /* 0; 1: columns of A less their means */
  uint64_t seed;                    /* 0; of random start vectors */
  lanky_on_progress progress;       /* NULL */
  void* user;                       /* passed on to `progress` */
  const lanky_allocator* allocator; /* NULL; of device memory; copied */
} lanky_svd_options;
LANKY_API lanky_status lanky_svd_options_init(lanky_svd_options* options, size_t size);

/* Pointers are to memory of the result, which lives as long as its handle. */
typedef struct lanky_svd_info {
  lanky_solver_status status;
  int32_t iterations;
  int64_t converged;       /* of the k, counted from the largest */
  int64_t k;               /* length of values and residuals, which are in host memory */
  const double* values;    /* descending */
  const double* residuals; /* max(|A v - s u|, |A^H u - s v|), computed anew at the end */
  const double* means;     /* [n] of A's columns (real parts) in host memory; NULL without center */
  const lanky_solver_progress* history; /* in host memory */
  int64_t history_size;
  lanky_matrix_view u; /* [m, k] by rows on the stream's device, orthonormal */
  lanky_matrix_view v; /* [n, k] by rows on the stream's device, orthonormal */
} lanky_svd_info;

/* The k largest singular triplets of A [m, n], an operator with its adjoint. */
LANKY_API lanky_status lanky_svds(const lanky_stream* stream, const lanky_linear_operator* a,
                                  const lanky_svd_options* options, lanky_svd_result** result);
LANKY_API void lanky_svd_result_destroy(lanky_svd_result* result);
LANKY_API lanky_status lanky_svd_result_info(const lanky_svd_result* result, lanky_svd_info* info,
                                             size_t size);

/* ------------------------------------------------------------------------------------------------
 * CholeskyQR2: A = Q R of a tall dense A [m, n] of f64, f32, c64 or c128.
 */

typedef struct lanky_cholesky_qr_options {
  size_t size;
  int32_t shifted;                  /* 0; 1: three passes, for nearly dependent columns */
  lanky_layout layout;              /* col; of A, Q and R */
  int64_t lda;                      /* 0: tight */
  int64_t ldq;                      /* 0: tight */
  const lanky_allocator* allocator; /* NULL; of device memory; copied */
} lanky_cholesky_qr_options;
LANKY_API lanky_status lanky_cholesky_qr_options_init(lanky_cholesky_qr_options* options,
                                                      size_t size);

/* Allocates all that runs need: another [m, n] and a few [n, n]. */
LANKY_API lanky_status lanky_cholesky_qr_create(const lanky_stream* stream, lanky_dtype type,
                                                int64_t m, int64_t n,
                                                const lanky_cholesky_qr_options* options,
                                                lanky_cholesky_qr** qr);
/* Runs must be done. */
LANKY_API void lanky_cholesky_qr_destroy(lanky_cholesky_qr* qr);
/* Q [m, n] and R [n, n], upper triangular with a positive diagonal. A is kept; Q does not overlap
 * it. Gives its work to the stream of _create() and waits for nothing; can be captured in a CUDA
 * graph. Where columns of A depend on each other too closely, Q and R are NaN and _check() fails.
 */
LANKY_API lanky_status lanky_cholesky_qr_run(lanky_cholesky_qr* qr, const lanky_matrix_view* a,
                                             const lanky_matrix_view* q,
                                             const lanky_matrix_view* r);
/* Waits. LANKY_UNSUPPORTED, with the pass and the pivot, where the last run broke down, and
 * LANKY_INVALID_ARGUMENT for NaN or Inf in A. */
LANKY_API lanky_status lanky_cholesky_qr_check(const lanky_cholesky_qr* qr);
LANKY_API lanky_status lanky_cholesky_qr_explain(const lanky_cholesky_qr* qr, char* text,
                                                 size_t size, size_t* length);

/* ------------------------------------------------------------------------------------------------
 * Matrices from files and generators. They are host matrices in CSR: zero-based, 64-bit offsets,
 * columns sorted within rows.
 */

LANKY_API void lanky_csr_matrix_destroy(lanky_csr_matrix* matrix);
LANKY_API int64_t lanky_csr_matrix_rows(const lanky_csr_matrix* matrix);
LANKY_API int64_t lanky_csr_matrix_cols(const lanky_csr_matrix* matrix);
LANKY_API int64_t lanky_csr_matrix_nnz(const lanky_csr_matrix* matrix);
/* Of NULL: -1. */
LANKY_API lanky_dtype lanky_csr_matrix_dtype(const lanky_csr_matrix* matrix);
/* The matrix's own arrays, which live as long as it does. */
LANKY_API lanky_status lanky_csr_matrix_view(const lanky_csr_matrix* matrix, lanky_csr_view* view);
/* What the reader accepted, but what may be a fault: a line each, or "". */
LANKY_API lanky_status lanky_csr_matrix_warnings(const lanky_csr_matrix* matrix, char* text,
                                                 size_t size, size_t* length);

typedef struct lanky_io_read_options {
  size_t size;
  lanky_io_duplicates duplicates; /* sum */
  int32_t reserved;               /* 0 */
  const char* variable; /* NULL; of a .mat file, the matrix to read: "A", or "Problem.A" */
  const char* cache;    /* NULL; a folder for binary copies of what is read */
} lanky_io_read_options;
LANKY_API lanky_status lanky_io_read_options_init(lanky_io_read_options* options, size_t size);

/* What a matrix file says of itself before its entries. */
typedef struct lanky_io_header {
  lanky_io_format format;
  lanky_io_field field;
  lanky_symmetry symmetry;
  int32_t reserved;
  int64_t rows;
  int64_t cols;
  int64_t stored_entries; /* entries in the file, symmetric ones counted once */
} lanky_io_header;

/* Matrix Market, Rutherford-Boeing, Harwell-Boeing, MATLAB's .mat, lanky_io_write_cache()'s, plain,
 * compressed or in SuiteSparse's archives; the content tells. Symmetric storage is expanded. */
LANKY_API lanky_status lanky_io_read_csr(const char* path, lanky_dtype type,
                                         const lanky_io_read_options* options,
                                         lanky_csr_matrix** matrix);
LANKY_API lanky_status lanky_io_read_header(const char* path, const lanky_io_read_options* options,
                                            lanky_io_header* header, size_t size);
/* Compresses by the name's ending (.gz .xz .zst .bz2). `comment` may be NULL. */
LANKY_API lanky_status lanky_io_write_matrix_market(const char* path, lanky_dtype type,
                                                    const lanky_csr_view* matrix,
                                                    const char* comment);
/* The matrix as it stands in memory, with checksums. Name it NAME.lanky. */
LANKY_API lanky_status lanky_io_write_cache(const char* path, lanky_dtype type,
                                            const lanky_csr_view* matrix);
/* The matrix that `spec` names, such as "stencil27:128" or "rmat:20,seed=7". */
LANKY_API lanky_status lanky_io_generate(const char* spec, lanky_dtype type,
                                         lanky_csr_matrix** matrix);
/* About how many entries lanky_io_generate() would make. */
LANKY_API lanky_status lanky_io_estimated_entries(const char* spec, int64_t* entries);
/* One line a generator. */
LANKY_API lanky_status lanky_io_generator_help(char* text, size_t size, size_t* length);

#ifdef __cplusplus
}
#endif
#endif
