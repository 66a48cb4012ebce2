/* Pieces of C for docs/c_api.md: options, texts, a workspace on another stream, an operator of the
 * caller's, by which A^T A x = b is solved. */
#include <lanky/lanky.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 64 };

static void check(lanky_status status) {
  if (status == LANKY_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", lanky_status_to_string(status), lanky_last_error());
  exit(1);
}

struct normal {
  const lanky_sparse_plan *plan, *adjoint;
  void* data; /* [rows, columns of a block] */
  int64_t rows;
};

/* begin apply */
/* Y = A^H (A X), of two plans. */
static lanky_status apply_normal(const lanky_stream* stream, const lanky_matrix_view* x,
                                 const lanky_matrix_view* y, void* user) {
  const struct normal* normal = user; /* the plans, and memory for A X, as wide as the block */
  lanky_matrix_view between = {normal->data, normal->rows, x->cols, x->cols, LANKY_LAYOUT_ROW};
  lanky_status status =
      lanky_sparse_plan_run_matrix(normal->plan, stream, NULL, x, NULL, &between, NULL);
  if (status != LANKY_SUCCESS) return status;
  return lanky_sparse_plan_run_matrix(normal->adjoint, stream, NULL, &between, NULL, y, NULL);
}
/* end apply */

int main(void) {
  lanky_device device;
  lanky_stream *stream, *other_stream;
  lanky_csr_matrix* matrix;
  lanky_csr_view a;
  lanky_sparse_plan *plan, *adjoint;
  lanky_buffer *ones, *product, *workspace, *block, *solution;
  double host[kSize];
  for (int i = 0; i < kSize; ++i)
    host[i] = 1;
  check(lanky_device_best(&device));
  check(lanky_stream_create(device, &stream));
  check(lanky_stream_create(device, &other_stream));
  check(lanky_io_generate("stencil5:8", LANKY_DTYPE_F64, &matrix));
  check(lanky_csr_matrix_view(matrix, &a));

  /* begin options */
  lanky_sparse_options options;
  lanky_sparse_options_init(&options, sizeof options);
  options.expected_columns = 16;
  lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &a, &options, &plan);
  /* end options */
  if (plan == NULL) return 1;

  /* begin text */
  size_t length;
  lanky_sparse_plan_explain(plan, NULL, 0, &length);
  char* text = malloc(length + 1);
  lanky_sparse_plan_explain(plan, text, length + 1, NULL);
  /* end text */
  if (text == NULL || strlen(text) != length) return 1;
  puts(text);

  check(lanky_buffer_create(stream, sizeof host, NULL, &ones));
  check(lanky_buffer_copy_from(ones, host, sizeof host));
  check(lanky_buffer_create(stream, sizeof host, NULL, &product));
  check(lanky_buffer_create(stream, lanky_sparse_plan_workspace_bytes(plan), NULL, &workspace));
  check(lanky_stream_synchronize(stream));
  const lanky_vector_view x = {lanky_buffer_data(ones), kSize};
  const lanky_vector_view y = {lanky_buffer_data(product), kSize};
  /* begin workspace */
  lanky_run_options run;
  lanky_run_options_init(&run, sizeof run);
  run.workspace = lanky_buffer_data(workspace);
  run.workspace_bytes = lanky_buffer_bytes(workspace);
  lanky_sparse_plan_run(plan, other_stream, NULL, &x, NULL, &y, &run);
  /* end workspace */
  check(lanky_stream_synchronize(other_stream));
  double sum = 0;
  check(lanky_buffer_to_host(product, host, sizeof host));
  for (int64_t i = 0; i < a.nnz; ++i)
    sum += ((const double*)a.values)[i];
  for (int i = 0; i < kSize; ++i)
    sum -= host[i];
  if (sum > 1e-9 || sum < -1e-9) return 1;

  options.op = LANKY_OP_CONJ_TRANS;
  check(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &a, &options, &adjoint));
  check(lanky_buffer_create(stream, sizeof host, NULL, &block));
  check(lanky_buffer_create(stream, sizeof host, NULL, &solution));
  struct normal normal = {plan, adjoint, lanky_buffer_data(block), kSize};
  lanky_linear_operator* op = NULL;
  const int64_t n = kSize;
  /* begin operator */
  lanky_operator_functions functions;
  lanky_operator_functions_init(&functions, sizeof functions);
  functions.apply = apply_normal;
  functions.user = &normal;
  lanky_linear_operator_create(LANKY_DTYPE_F64, n, n, &functions, &op);
  /* end operator */
  memset(host, 0, sizeof host);
  check(lanky_buffer_copy_from(solution, host, sizeof host));
  const lanky_matrix_view right = {lanky_buffer_data(ones), n, 1, 1, LANKY_LAYOUT_ROW};
  const lanky_matrix_view approximation = {lanky_buffer_data(solution), n, 1, 1, LANKY_LAYOUT_ROW};
  lanky_linear_result* result;
  lanky_linear_info info;
  check(lanky_cg(stream, op, &right, &approximation, NULL, NULL, &result));
  check(lanky_linear_result_info(result, &info, sizeof info));
  printf("%s after %d iterations\n", lanky_solver_status_to_string(info.status),
         (int)info.iterations);
  const int solved = info.converged == 1;

  lanky_linear_result_destroy(result);
  lanky_linear_operator_destroy(op);
  lanky_buffer_destroy(solution);
  lanky_buffer_destroy(block);
  lanky_buffer_destroy(workspace);
  lanky_buffer_destroy(product);
  lanky_buffer_destroy(ones);
  free(text);
  lanky_sparse_plan_destroy(adjoint);
  lanky_sparse_plan_destroy(plan);
  lanky_csr_matrix_destroy(matrix);
  lanky_stream_destroy(other_stream);
  lanky_stream_destroy(stream);
  return solved ? 0 : 1;
}
