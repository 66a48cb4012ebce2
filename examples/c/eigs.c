/* The smallest eigenvalues of a symmetric matrix that a file holds or a generator makes, on the GPU
 * where there is one. Shown in docs/c_api.md, and compiled and run by the tests. */
#include <lanky/lanky.h>
#include <stdio.h>
#include <stdlib.h>

static void check(lanky_status status) {
  if (status == LANKY_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", lanky_status_to_string(status), lanky_last_error());
  exit(1);
}

/* Called after each iteration. *stop = 1 would end the solver with the best so far. */
static lanky_status tell(const lanky_solver_progress* progress, int32_t* stop, void* user) {
  (void)stop;
  (void)user;
  if (progress->iteration % 10 == 0)
    fprintf(stderr, "iteration %d: %lld of %lld\n", (int)progress->iteration,
            (long long)progress->converged, (long long)progress->wanted);
  return LANKY_SUCCESS;
}

int main(int argc, char** argv) {
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  lanky_device device;
  lanky_stream* stream;
  lanky_csr_matrix* matrix;
  lanky_csr_view a;
  lanky_linear_operator *op, *inverse;
  lanky_eigen_problem problem;
  lanky_eigen_options options;
  lanky_eigen_result* result;
  lanky_eigen_info info;
  lanky_buffer* vectors;

  check(lanky_device_best(&device)); /* cuda:0, else the CPU */
  check(lanky_stream_create(device, &stream));
  if (argc > 1)
    check(lanky_io_read_csr(argv[1], f64, NULL, &matrix));
  else
    check(lanky_io_generate("stencil5:100", f64, &matrix));
  check(lanky_csr_matrix_view(matrix, &a));
  check(lanky_make_operator(stream, f64, &a, 8, NULL, &op)); /* packs A for products with 8 vectors */
  check(lanky_block_jacobi(stream, f64, &a, 32, &inverse));

  check(lanky_eigen_problem_init(&problem, sizeof problem)); /* A x = lambda x */
  check(lanky_eigen_options_init(&options, sizeof options));
  problem.a = op;
  problem.preconditioner = inverse;
  options.k = 4;
  options.tolerance = 1e-6;
  options.progress = tell;
  check(lanky_lobpcg(stream, &problem, &options, &result));
  check(lanky_eigen_result_info(result, &info, sizeof info));
  printf("%s after %d iterations\n", lanky_solver_status_to_string(info.status),
         (int)info.iterations);
  for (int64_t j = 0; j < info.k; ++j)
    printf("%.10g, an eigenvalue within %.1e\n", info.values[j], info.bounds[j]);

  /* The vectors stand by rows in the memory of the device, and live as long as the result. */
  const int64_t bytes = info.vectors.rows * info.vectors.ld * 8;
  double* host = malloc((size_t)bytes);
  if (host == NULL) return 1;
  check(lanky_buffer_wrap(stream, info.vectors.data, bytes, &vectors));
  check(lanky_buffer_to_host(vectors, host, bytes));
  double square = 0;
  for (int64_t i = 0; i < info.vectors.rows; ++i)
    square += host[i * info.vectors.ld] * host[i * info.vectors.ld];
  printf("the first vector has the length %.6f\n", square);

  free(host);
  lanky_buffer_destroy(vectors);
  lanky_eigen_result_destroy(result);
  lanky_linear_operator_destroy(inverse);
  lanky_linear_operator_destroy(op);
  lanky_csr_matrix_destroy(matrix);
  lanky_stream_destroy(stream);
  return 0;
}
