/* Counting and printing of failures, from any thread. */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int failures = 0;

static void count_failure(void) {
  pthread_mutex_lock(&mutex);
  ++failures;
  pthread_mutex_unlock(&mutex);
}

void check_that(int holds, const char* file, int line, const char* what) {
  if (holds) return;
  count_failure();
  printf("%s:%d: does not hold: %s\n", file, line, what);
}

void check_success(lanky_status status, const char* file, int line, const char* what) {
  if (status == LANKY_SUCCESS) return;
  count_failure();
  printf("%s:%d: %s: %s (%s)\n", file, line, lanky_status_to_string(status), what,
         lanky_last_error());
}

void check_failure(lanky_status status, lanky_status expected, const char* part, const char* file,
                   int line, const char* what) {
  if (status == expected && strstr(lanky_last_error(), part) != NULL) return;
  count_failure();
  printf("%s:%d: %s, expected %s with \"%s\": %s (%s)\n", file, line,
         lanky_status_to_string(status), lanky_status_to_string(expected), part, what,
         status == LANKY_SUCCESS ? "" : lanky_last_error());
}

int failure_count(void) {
  return failures;
}
