/* The last error is of each thread, and a plan serves several threads that lend workspaces. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { kThreads = 4, kRepeats = 50, kSide = 12, kSize = kSide * kSide, kColumns = 3 };

typedef struct Task {
  const lanky_sparse_plan* plan;
  lanky_device device;
  int id;
  double expected[kSize * kColumns];
} Task;

static void fill(double* x, int id) {
  int i = 0;
  for (i = 0; i < kSize * kColumns; ++i)
    x[i] = (double)((i * 5 + id) % 7 - 3);
}

static void* fail_and_multiply(void* argument) {
  const Task* task = (const Task*)argument;
  double host[kSize * kColumns];
  double result[kSize * kColumns];
  char wanted[64];
  lanky_dtype dtype = 0;
  lanky_stream* stream = NULL;
  lanky_buffer* x = NULL;
  lanky_buffer* y = NULL;
  lanky_buffer* workspace = NULL;
  lanky_matrix_view x_view = {NULL, kSize, kColumns, kSize, LANKY_LAYOUT_COL};
  lanky_matrix_view y_view = x_view;
  lanky_run_options run;
  int i = 0;

  CHECK(strcmp(lanky_last_error(), "") == 0);
  snprintf(wanted, sizeof(wanted), "type_of_thread_%d", task->id);
  OK(lanky_stream_create(task->device, &stream));
  OK(lanky_buffer_create(stream, sizeof(host), NULL, &x));
  OK(lanky_buffer_create(stream, sizeof(host), NULL, &y));
  OK(lanky_buffer_create(stream, lanky_sparse_plan_workspace_bytes(task->plan), NULL, &workspace));
  OK(lanky_run_options_init(&run, sizeof(run)));
  run.workspace = lanky_buffer_data(workspace);
  run.workspace_bytes = lanky_buffer_bytes(workspace);
  x_view.data = lanky_buffer_data(x);
  y_view.data = lanky_buffer_data(y);
  fill(host, task->id);
  OK(lanky_buffer_copy_from(x, host, sizeof(host)));
  for (i = 0; i < kRepeats; ++i) {
    FAILS(lanky_dtype_parse(wanted, &dtype), LANKY_INVALID_ARGUMENT, wanted);
    OK(lanky_sparse_plan_run_matrix(task->plan, stream, NULL, &x_view, NULL, &y_view, &run));
    OK(lanky_buffer_to_host(y, result, sizeof(result)));
    CHECK(memcmp(result, task->expected, sizeof(result)) == 0);
    CHECK(strstr(lanky_last_error(), wanted) != NULL);
  }
  lanky_buffer_destroy(workspace);
  lanky_buffer_destroy(y);
  lanky_buffer_destroy(x);
  lanky_stream_destroy(stream);
  return NULL;
}

void test_threads(const lanky_stream* stream) {
  lanky_csr_matrix* matrix = NULL;
  lanky_csr_view a;
  lanky_sparse_options options;
  lanky_sparse_plan* plan = NULL;
  lanky_dtype dtype = 0;
  pthread_t threads[kThreads];
  static Task tasks[kThreads];
  int t = 0;

  OK(lanky_io_generate("stencil5:12,values=int", LANKY_DTYPE_F64, &matrix));
  OK(lanky_csr_matrix_view(matrix, &a));
  OK(lanky_sparse_options_init(&options, sizeof(options)));
  options.expected_columns = kColumns;
  OK(lanky_sparse_plan_create(stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &a, &options, &plan));
  CHECK(lanky_sparse_plan_workspace_bytes(plan) > 0);
  FAILS(lanky_dtype_parse("type_of_main", &dtype), LANKY_INVALID_ARGUMENT, "type_of_main");
  for (t = 0; t < kThreads; ++t) {
    double x[kSize * kColumns];
    int64_t i = 0;
    int64_t j = 0;
    int64_t k = 0;
    const int64_t* offsets = (const int64_t*)a.row_offsets;
    fill(x, t);
    for (j = 0; j < kColumns; ++j) {
      for (i = 0; i < kSize; ++i) {
        double sum = 0;
        for (k = offsets[i]; k < offsets[i + 1]; ++k)
          sum += ((const double*)a.values)[k] * x[a.col_indices[k] + j * kSize];
        tasks[t].expected[i + j * kSize] = sum;
      }
    }
    tasks[t].plan = plan;
    tasks[t].device = lanky_stream_device(stream);
    tasks[t].id = t;
    CHECK(pthread_create(&threads[t], NULL, fail_and_multiply, &tasks[t]) == 0);
  }
  for (t = 0; t < kThreads; ++t)
    CHECK(pthread_join(threads[t], NULL) == 0);
  CHECK(strstr(lanky_last_error(), "type_of_main") != NULL);
  lanky_sparse_plan_destroy(plan);
  lanky_csr_matrix_destroy(matrix);
}
