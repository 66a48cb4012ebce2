/* A sparse product of your own beside lanky's in the tables of `lanky batch --peer libfoo.so`: a
 * shared library with the functions below, in C, so that any compiler and any library will do. The
 * last one is optional; the other five are not.
 * docs/batch.md has a walk through; tests/peer/csr_peer.cpp is a complete one. */
#ifndef LANKY_PEER_H
#define LANKY_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix in CSR: zero-based, columns ascending within rows. All arrays stand in the memory of
 * `device`, unchanged in place and in content until the teardown. */
typedef struct lanky_peer_matrix {
  int64_t rows;
  int64_t cols;
  int64_t nnz;
  const void* row_offsets;    /* [rows + 1] int32_t or int64_t, as offset_bytes says */
  int32_t offset_bytes;       /* 4 or 8 */
  const int32_t* col_indices; /* [nnz] */
  const void* values;         /* [nnz] of dtype */
  const char* dtype; /* "f64", "f32", "f16" (IEEE binary16), "bf16", "c64" (two f32) or "c128" */
  int32_t device;    /* ordinal of the CUDA device; -1: host memory */
  void* stream;      /* cudaStream_t of that device; NULL on the host */
} lanky_peer_matrix;

enum lanky_peer_status {
  LANKY_PEER_OK = 0,
  LANKY_PEER_UNSUPPORTED = 1, /* no such type, device or shape here: no failure */
  LANKY_PEER_OUT_OF_MEMORY = 2,
  LANKY_PEER_FAILED = 3
};

/* What setup tells beside its status. */
typedef struct lanky_peer_report {
  int64_t plan_bytes; /* memory of the plan, and of the CSR where it reads it; 0: unknown */
  char message[256];  /* why the status is not LANKY_PEER_OK; zero-terminated */
} lanky_peer_report;

/* Who takes part: a word such as "csr5"; it becomes the contestant of the records. */
const char* lanky_peer_name(void);

/* Version of the peer, "1.2.0": the variant of the records. A new one is measured anew. */
const char* lanky_peer_version(void);

/* All that comes once a matrix; its time is setup_us. Sets *plan where the status is
 * LANKY_PEER_OK. */
int lanky_peer_setup(const lanky_peer_matrix* matrix, void** plan, lanky_peer_report* report);

/* y = A x, in the order of the matrix's stream; x has `cols` elements of dtype, y `rows`. Must not
 * wait for the device, where its time in a CUDA graph is to count: it is captured in one. */
int lanky_peer_run(void* plan, const void* x, void* y);

/* Gives back what setup took. All products are done. */
void lanky_peer_teardown(void* plan);

/* How a matrix of several columns lies in memory: element (i, j) at i + j * ld, or at i * ld + j.
 */
enum lanky_peer_layout { LANKY_PEER_BY_COLUMNS = 0, LANKY_PEER_BY_ROWS = 1 };

/* Optional: Y = A X, as lanky_peer_run multiplies a vector. X is `cols` x `columns` and Y `rows` x
 * `columns`, of dtype; ldx and ldy are their leading dimensions, in elements, and each has a layout
 * of its own (enum lanky_peer_layout). LANKY_PEER_UNSUPPORTED: not these columns or layouts. A plan
 * is asked for one number of columns and one pair of layouts, and its first product is in no graph
 * and no time, so that it may prepare for them. A peer without this function is measured by columns
 * alone, column after column. */
int lanky_peer_run_columns(void* plan, int64_t columns, const void* x, int64_t ldx,
                           int32_t x_layout, void* y, int64_t ldy, int32_t y_layout);

#ifdef __cplusplus
}
#endif
#endif
