/* A first program in C: y = A x with a sparse matrix. docs/start/first_c.md shows it whole. */
#include <lanky/lanky.h>
#include <stdio.h>
#include <stdlib.h>

/* The message of the last failure, and the end of the program. */
static void check(lanky_status status) {
  if (status == LANKY_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", lanky_status_to_string(status), lanky_last_error());
  exit(1);
}

int main(void) {
  lanky_device device;
  lanky_stream* stream = NULL;
  check(lanky_device_best(&device)); /* cuda:0, else the CPU */
  check(lanky_stream_create(device, &stream));

  /* [[4, 0, 1], [0, 2, 0]] */
  const int32_t offsets[] = {0, 2, 3};
  const int32_t columns[] = {0, 2, 1};
  const double values[] = {4, 1, 2};
  const lanky_csr_view a = {.rows = 2,
                            .cols = 3,
                            .nnz = 3,
                            .row_offsets = offsets,
                            .col_indices = columns,
                            .values = values,
                            .offset_bytes = 4};
  lanky_sparse_plan* plan = NULL;
  check(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &a, NULL, &plan));

  const double host_x[] = {1, 2, 3};
  double host_y[2];
  lanky_buffer* x = NULL;
  lanky_buffer* y = NULL;
  check(lanky_buffer_create(stream, sizeof host_x, NULL, &x));
  check(lanky_buffer_create(stream, sizeof host_y, NULL, &y));
  check(lanky_buffer_copy_from(x, host_x, sizeof host_x));

  const lanky_vector_view x_view = {lanky_buffer_data(x), 3};
  const lanky_vector_view y_view = {lanky_buffer_data(y), 2};
  check(lanky_sparse_plan_run(plan, stream, NULL, &x_view, NULL, &y_view, NULL)); /* y = A x */
  check(lanky_buffer_to_host(y, host_y, sizeof host_y));                          /* waits */
  printf("y = %g, %g\n", host_y[0], host_y[1]);

  lanky_buffer_destroy(y);
  lanky_buffer_destroy(x);
  lanky_sparse_plan_destroy(plan);
  lanky_stream_destroy(stream);
  return host_y[0] == 7 && host_y[1] == 4 ? 0 : 1;
}
