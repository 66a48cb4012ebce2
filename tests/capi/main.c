/* Tests of the C interface, in C: `test_capi [cpu|cuda]`, both without an argument. A GPU that is
 * not there is skipped with the reason and status 77 where it was asked for by name, and is a
 * failure where LANKY_REQUIRE_GPU=1. Arguments that begin with -- are those of GoogleTest, which
 * ./dev gpu-test gives to every test program. */
#include <lanky/lanky.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "files.h"

enum { kSkipped = 77 };

static void test_on(lanky_device device) {
  char name[32] = "";
  lanky_stream* stream = NULL;
  OK(lanky_device_name(device, name, sizeof(name), NULL));
  printf("on %s\n", name);
  OK(lanky_stream_create(device, &stream));
  if (stream == NULL) return;
  test_devices(stream);
  test_buffers(stream);
  test_sparse(stream);
  test_sddmm(stream);
  test_dense(stream);
  test_solvers(stream);
  test_tuning(stream);
  test_threads(stream);
  lanky_stream_destroy(stream);
}

/* Runs on cuda:0, or says why not. Returns whether it ran. */
static int test_on_cuda(void) {
  const char* required = getenv("LANKY_REQUIRE_GPU");
  char absence[1024] = "";
  lanky_device device;
  OK(lanky_device_cuda_absence(absence, sizeof(absence), NULL));
  if (absence[0] == '\0') {
    OK(lanky_device_cuda(0, &device));
    test_on(device);
    return 1;
  }
  printf("needs a GPU: %s\n", absence);
  if (required != NULL && strcmp(required, "1") == 0)
    check_that(0, __FILE__, __LINE__, "LANKY_REQUIRE_GPU=1, but there is none");
  return 0;
}

int main(int argc, char** argv) {
  const char* only = argc > 1 && strncmp(argv[1], "--", 2) != 0 ? argv[1] : "";
  int skipped = 0;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a crash leaves what was printed before it */
  if (strcmp(only, "") != 0 && strcmp(only, "cpu") != 0 && strcmp(only, "cuda") != 0) {
    fprintf(stderr, "usage: test_capi [cpu|cuda], not \"%s\"\n", only);
    return 2;
  }
  if (!make_folder()) {
    fprintf(stderr, "test_capi: cannot make a folder for its files\n");
    return 2;
  }
  if (strcmp(only, "cuda") != 0) {
    CHECK(strcmp(lanky_last_error(), "") == 0);
    test_types();
    test_structs();
    test_files();
    test_on(lanky_device_cpu());
  }
  if (strcmp(only, "cpu") != 0) skipped = !test_on_cuda();
  remove_folder();
  printf("%d failures\n", failure_count());
  if (failure_count() != 0) return 1;
  return skipped && strcmp(only, "cuda") == 0 ? kSkipped : 0;
}
