/* The smallest eigenvalues of the Laplacian of a square grid, on the GPU where there is one. Shown
 * in docs/c_api.md, and compiled and run by the tests. */
#include <lanky/lanky.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSide = 100, kSize = kSide * kSide };

static int32_t row_offsets[kSize + 1], col_indices[5 * kSize];
static double values[5 * kSize];

static void check(lanky_status status) {
  if (status == LANKY_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", lanky_status_to_string(status), lanky_last_error());
  exit(1);
}

/* 4 on the diagonal and -1 for each neighbour. */
static lanky_csr_view laplacian(void) {
  int32_t count = 0;
  for (int32_t i = 0; i < kSize; ++i) {
    const int32_t row = i / kSide, col = i % kSide;
    const int32_t neighbours[5] = {row > 0 ? i - kSide : -1, col > 0 ? i - 1 : -1, i,
                                   col < kSide - 1 ? i + 1 : -1, row < kSide - 1 ? i + kSide : -1};
    for (int j = 0; j < 5; ++j) {
      if (neighbours[j] < 0) continue;
      col_indices[count] = neighbours[j];
      values[count++] = neighbours[j] == i ? 4 : -1;
    }
    row_offsets[i + 1] = count;
  }
  lanky_csr_view a = {kSize, kSize, count, row_offsets, col_indices, values, 4, 0};
  return a;
}

int main(void) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  const lanky_csr_view a = laplacian();
  lanky_device device;
  lanky_stream* stream;
  lanky_linear_operator* op;
  lanky_eigen_problem problem;
  lanky_eigen_options options;
  lanky_eigen_result* result;
  lanky_eigen_info info;

  check(lanky_device_best(&device)); /* cuda:0, else the CPU */
  check(lanky_stream_create(device, &stream));
  check(lanky_make_operator(stream, f64, &a, 8, NULL, &op)); /* packs A for 8 vectors at once */

  check(lanky_eigen_problem_init(&problem, sizeof problem));
  check(lanky_eigen_options_init(&options, sizeof options));
  problem.a = op; /* A x = lambda x */
  options.k = 4;
  options.tolerance = 1e-6;
  check(lanky_lobpcg(stream, &problem, &options, &result));
  check(lanky_eigen_result_info(result, &info, sizeof info));
  printf("%s after %d iterations\n", lanky_solver_status_to_string(info.status),
         (int)info.iterations);
  for (int64_t j = 0; j < info.k; ++j)
    printf("%.10f, within %.1e of an eigenvalue\n", info.values[j], info.bounds[j]);

  /* The vectors stand by rows in the memory of the device, and live as long as the result. */
  const int64_t elements = info.vectors.rows * info.vectors.ld;
  double* vectors = malloc((size_t)elements * sizeof *vectors);
  if (vectors == NULL) return 1;
  lanky_buffer* on_device;
  check(lanky_buffer_wrap(stream, info.vectors.data, elements * 8, &on_device));
  check(lanky_buffer_to_host(on_device, vectors, elements * 8));
  printf("the first vector is %.3g in the middle of the grid\n",
         vectors[(kSize + kSide) / 2 * info.vectors.ld]);

  free(vectors);
  lanky_buffer_destroy(on_device);
  lanky_eigen_result_destroy(result);
  lanky_linear_operator_destroy(op);
  lanky_stream_destroy(stream);
  return 0;
}
