/* Matrices from files and generators, and back. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "files.h"

static int same_matrices(const lanky_csr_matrix* a, const lanky_csr_matrix* b) {
  lanky_csr_view left;
  lanky_csr_view right;
  OK(lanky_csr_matrix_view(a, &left));
  OK(lanky_csr_matrix_view(b, &right));
  if (left.rows != right.rows || left.cols != right.cols || left.nnz != right.nnz) return 0;
  if (left.offset_bytes != 8 || right.offset_bytes != 8) return 0;
  return memcmp(left.row_offsets, right.row_offsets, (size_t)(left.rows + 1) * 8) == 0 &&
         memcmp(left.col_indices, right.col_indices, (size_t)left.nnz * 4) == 0 &&
         memcmp(left.values, right.values,
                (size_t)left.nnz * lanky_dtype_size_of(lanky_csr_matrix_dtype(a))) == 0;
}

static void test_round_trips(void) {
  lanky_dtype type = 0;
  for (type = LANKY_DTYPE_F64; type <= LANKY_DTYPE_C128; ++type) {
    lanky_csr_matrix* made = NULL;
    lanky_csr_matrix* from_text = NULL;
    lanky_csr_matrix* from_cache = NULL;
    lanky_csr_view view;
    int64_t entries = -1;
    OK(lanky_io_generate("stencil5:6", type, &made));
    CHECK(lanky_csr_matrix_dtype(made) == type);
    CHECK(lanky_csr_matrix_rows(made) == 36 && lanky_csr_matrix_cols(made) == 36);
    CHECK(lanky_csr_matrix_nnz(made) == 5 * 36 - 4 * 6);
    OK(lanky_io_estimated_entries("stencil5:6", &entries));
    CHECK(entries > 100 && entries < 250);
    OK(lanky_csr_matrix_view(made, &view));
    CHECK(view.index_base == 0 && view.nnz == lanky_csr_matrix_nnz(made));
    OK(lanky_io_write_matrix_market(path_of("m.mtx.gz"), type, &view, "a comment"));
    OK(lanky_io_read_csr(path_of("m.mtx.gz"), type, NULL, &from_text));
    CHECK(same_matrices(made, from_text));
    OK(lanky_io_write_cache(path_of("m.lanky"), type, &view));
    OK(lanky_io_read_csr(path_of("m.lanky"), type, NULL, &from_cache));
    CHECK(same_matrices(made, from_cache));
    lanky_csr_matrix_destroy(from_cache);
    lanky_csr_matrix_destroy(from_text);
    lanky_csr_matrix_destroy(made);
  }
}

static void test_reading(void) {
  const char* const head = "%%MatrixMarket matrix coordinate integer symmetric\n";
  const lanky_dtype f64 = LANKY_DTYPE_F64;
  char text[2048];
  size_t length = 0;
  lanky_csr_matrix* matrix = NULL;
  lanky_csr_matrix* other = NULL;
  lanky_csr_view view;
  lanky_io_header header;
  lanky_io_read_options options;
  int64_t entries = 7;

  snprintf(text, sizeof(text), "%s3 3 3\n1 1 5\n3 1 2\n3 1 4\n", head);
  write_file(path_of("twice.mtx"), text);
  OK(lanky_io_read_header(path_of("twice.mtx"), NULL, &header, sizeof(header)));
  CHECK(header.format == LANKY_IO_FORMAT_COORDINATE && header.field == LANKY_IO_FIELD_INTEGER);
  CHECK(header.symmetry == LANKY_SYMMETRY_SYMMETRIC && header.stored_entries == 3);
  CHECK(header.rows == 3 && header.cols == 3);
  OK(lanky_io_read_csr(path_of("twice.mtx"), f64, NULL, &matrix));
  CHECK(lanky_csr_matrix_nnz(matrix) == 3);
  OK(lanky_csr_matrix_view(matrix, &view));
  CHECK(((const double*)view.values)[1] == 6 && view.col_indices[1] == 2);
  OK(lanky_csr_matrix_warnings(matrix, text, sizeof(text), &length));
  CHECK(length == 0);
  lanky_csr_matrix_destroy(matrix);
  OK(lanky_io_read_options_init(&options, sizeof(options)));
  options.duplicates = LANKY_IO_DUPLICATES_KEEP;
  OK(lanky_io_read_csr(path_of("twice.mtx"), f64, &options, &matrix));
  CHECK(lanky_csr_matrix_nnz(matrix) == 5);
  lanky_csr_matrix_destroy(matrix);
  options.duplicates = LANKY_IO_DUPLICATES_REJECT;
  FAILS(lanky_io_read_csr(path_of("twice.mtx"), f64, &options, &matrix), LANKY_PARSE_ERROR,
        "twice.mtx");
  CHECK(matrix == NULL);
  options.duplicates = 3;
  FAILS(lanky_io_read_csr(path_of("twice.mtx"), f64, &options, &matrix), LANKY_INVALID_ARGUMENT,
        "duplicates is 3");
  OK(lanky_io_read_options_init(&options, sizeof(options)));
  options.reserved = 1;
  FAILS(lanky_io_read_header(path_of("twice.mtx"), &options, &header, sizeof(header)),
        LANKY_INVALID_ARGUMENT, "reserved");

  /* A last line that may have been cut. */
  write_file(path_of("cut.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 25");
  OK(lanky_io_read_csr(path_of("cut.mtx"), f64, NULL, &matrix));
  OK(lanky_csr_matrix_warnings(matrix, text, sizeof(text), &length));
  CHECK(length == strlen(text) && strstr(text, "cut.mtx:3") != NULL);
  CHECK(text[length - 1] == '\n');
  OK(lanky_csr_matrix_view(matrix, &view));
  FAILS(lanky_io_write_matrix_market(path_of("no/such/folder.mtx"), f64, &view, NULL),
        LANKY_IO_ERROR, "folder.mtx");

  write_file(path_of("bad.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 3\n");
  FAILS(lanky_io_read_csr(path_of("bad.mtx"), f64, NULL, &other), LANKY_PARSE_ERROR, "bad.mtx:3");
  FAILS(lanky_io_read_csr(path_of("none.mtx"), f64, NULL, &other), LANKY_IO_ERROR, "none.mtx");
  FAILS(lanky_io_read_header(path_of("none.mtx"), NULL, &header, sizeof(header)), LANKY_IO_ERROR,
        "none.mtx");
  write_file(path_of("complex.mtx"),
             "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n");
  FAILS(lanky_io_read_csr(path_of("complex.mtx"), f64, NULL, &other), LANKY_UNSUPPORTED, "complex");

  FAILS(lanky_io_read_csr(NULL, f64, NULL, &other), LANKY_INVALID_ARGUMENT, "path is NULL");
  FAILS(lanky_io_read_csr("x", 6, NULL, &other), LANKY_INVALID_ARGUMENT, "type is 6");
  FAILS(lanky_io_read_csr("x", f64, NULL, NULL), LANKY_INVALID_ARGUMENT, "matrix is NULL");
  FAILS(lanky_io_read_header(NULL, NULL, &header, sizeof(header)), LANKY_INVALID_ARGUMENT,
        "path is NULL");
  FAILS(lanky_io_read_header("x", NULL, NULL, sizeof(header)), LANKY_INVALID_ARGUMENT,
        "lanky_io_header");
  FAILS(lanky_io_write_matrix_market(NULL, f64, &view, NULL), LANKY_INVALID_ARGUMENT,
        "path is NULL");
  FAILS(lanky_io_write_matrix_market("x", -1, &view, NULL), LANKY_INVALID_ARGUMENT, "type is -1");
  FAILS(lanky_io_write_matrix_market("x", f64, NULL, NULL), LANKY_INVALID_ARGUMENT,
        "matrix is NULL");
  FAILS(lanky_io_write_cache(NULL, f64, &view), LANKY_INVALID_ARGUMENT, "path is NULL");
  FAILS(lanky_io_write_cache("x", 6, &view), LANKY_INVALID_ARGUMENT, "type is 6");
  FAILS(lanky_io_write_cache("x", f64, NULL), LANKY_INVALID_ARGUMENT, "matrix is NULL");
  FAILS(lanky_io_generate("nothing:3", f64, &other), LANKY_INVALID_ARGUMENT, "nothing");
  FAILS(lanky_io_generate(NULL, f64, &other), LANKY_INVALID_ARGUMENT, "spec is NULL");
  FAILS(lanky_io_generate("stencil5:6", 6, &other), LANKY_INVALID_ARGUMENT, "type is 6");
  FAILS(lanky_io_generate("stencil5:6", f64, NULL), LANKY_INVALID_ARGUMENT, "matrix is NULL");
  FAILS(lanky_io_estimated_entries(NULL, &entries), LANKY_INVALID_ARGUMENT, "spec is NULL");
  CHECK(entries == 0);
  FAILS(lanky_io_estimated_entries("stencil5:6", NULL), LANKY_INVALID_ARGUMENT, "entries is NULL");
  OK(lanky_io_generator_help(text, sizeof(text), &length));
  CHECK(strstr(text, "stencil5") != NULL);
  FAILS(lanky_io_generator_help(NULL, 1, &length), LANKY_INVALID_ARGUMENT, "text is NULL");

  CHECK(lanky_csr_matrix_rows(NULL) == -1 && lanky_csr_matrix_cols(NULL) == -1);
  CHECK(lanky_csr_matrix_nnz(NULL) == -1 && lanky_csr_matrix_dtype(NULL) == -1);
  FAILS(lanky_csr_matrix_view(NULL, &view), LANKY_INVALID_ARGUMENT, "matrix is NULL");
  CHECK(view.row_offsets == NULL && view.rows == 0);
  FAILS(lanky_csr_matrix_view(matrix, NULL), LANKY_INVALID_ARGUMENT, "view is NULL");
  lanky_csr_matrix_destroy(matrix);
  FAILS(lanky_csr_matrix_warnings(NULL, text, sizeof(text), NULL), LANKY_INVALID_ARGUMENT,
        "matrix is NULL");
  lanky_csr_matrix_destroy(NULL);
}

void test_files(void) {
  test_round_trips();
  test_reading();
}
