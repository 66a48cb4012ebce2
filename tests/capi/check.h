/* Checks of the C interface's tests. Each failure is one line with its place; the program goes on
 * and counts them. */
#ifndef LANKY_TESTS_CAPI_CHECK_H
#define LANKY_TESTS_CAPI_CHECK_H

#include <lanky/lanky.h>

/* Counts a failure unless `holds`. */
void check_that(int holds, const char* file, int line, const char* what);
/* Counts a failure unless `status` is success. */
void check_success(lanky_status status, const char* file, int line, const char* what);
/* Counts a failure unless `status` is `expected` and this thread's last error holds `part`. */
void check_failure(lanky_status status, lanky_status expected, const char* part, const char* file,
                   int line, const char* what);
int failure_count(void);

#define CHECK(condition) check_that((condition) != 0, __FILE__, __LINE__, #condition)
#define OK(call) check_success((call), __FILE__, __LINE__, #call)
#define FAILS(call, status, part) check_failure((call), (status), (part), __FILE__, __LINE__, #call)

/* The tests, by subject. Those that take a stream run on every device. */
void test_types(void);
void test_structs(void);
void test_devices(const lanky_stream* stream);
void test_buffers(const lanky_stream* stream);
void test_sparse(const lanky_stream* stream);
void test_sddmm(const lanky_stream* stream);
void test_dense(const lanky_stream* stream);
void test_solvers(const lanky_stream* stream);
void test_tuning(const lanky_stream* stream);
void test_files(void);
void test_threads(const lanky_stream* stream);

#endif
