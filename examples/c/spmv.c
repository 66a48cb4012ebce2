/* y = A x of a matrix that a file holds or a generator makes, on the GPU where there is one.
 * Shown in docs/c_api.md, and compiled and run by the tests. */
#include <lanky/lanky.h>
#include <stdio.h>
#include <stdlib.h>

static void check(lanky_status status) {
  if (status == LANKY_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", lanky_status_to_string(status), lanky_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  lanky_device device;
  lanky_stream* stream;
  lanky_csr_matrix* matrix;
  lanky_csr_view a;
  lanky_sparse_plan* plan;
  lanky_buffer *x, *y;

  check(lanky_device_best(&device)); /* cuda:0, else the CPU */
  check(lanky_stream_create(device, &stream));
  if (argc > 1)
    check(lanky_io_read_csr(argv[1], f64, NULL, &matrix));
  else
    check(lanky_io_generate("stencil5:100", f64, &matrix));
  check(lanky_csr_matrix_view(matrix, &a));
  check(lanky_sparse_plan_create(stream, f64, f64, &a, NULL, &plan)); /* once: packs A */

  const int64_t x_bytes = a.cols * 8, y_bytes = a.rows * 8;
  double* host = calloc((size_t)(a.cols > a.rows ? a.cols : a.rows) + 1, 8);
  if (host == NULL) return 1;
  for (int64_t i = 0; i < a.cols; ++i)
    host[i] = 1;
  check(lanky_buffer_create(stream, x_bytes, NULL, &x));
  check(lanky_buffer_create(stream, y_bytes, NULL, &y));
  check(lanky_buffer_copy_from(x, host, x_bytes));
  lanky_vector_view x_view = {lanky_buffer_data(x), a.cols};
  lanky_vector_view y_view = {lanky_buffer_data(y), a.rows};
  check(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, NULL)); /* y = A x */
  check(lanky_buffer_to_host(y, host, y_bytes));

  double sum = 0; /* of all entries of A */
  for (int64_t i = 0; i < a.rows; ++i)
    sum += host[i];
  printf("%lld x %lld, %lld entries with the sum %.10g\n", (long long)a.rows, (long long)a.cols,
         (long long)a.nnz, sum);

  free(host);
  lanky_buffer_destroy(y);
  lanky_buffer_destroy(x);
  lanky_sparse_plan_destroy(plan);
  lanky_csr_matrix_destroy(matrix);
  lanky_stream_destroy(stream);
  return 0;
}
