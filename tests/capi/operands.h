/* Operands of any type in host and device memory, and exact products of small integers. */
#ifndef LANKY_TESTS_CAPI_OPERANDS_H
#define LANKY_TESTS_CAPI_OPERANDS_H

#include <lanky/lanky.h>

enum { kMostElements = 512, kTypePairs = 8, kMostBuffers = 256 };

/* Every pair of types that all products have: of the operands, of the result. Dense ones have more.
 */
extern const lanky_dtype kTypes[kTypePairs][2];

typedef struct Number {
  double re;
  double im;
} Number;

/* Elements in host memory, and a buffer of the stream's device that they are copied to. */
typedef struct Operand {
  lanky_dtype type;
  int64_t size;
  double host[2 * kMostElements]; /* of any type: 16 bytes an element are enough */
  lanky_buffer* buffer;
} Operand;

Number number(double re, double im);
/* factor * (left * right) + other, exact for small integers. */
Number plus_product(Number other, Number left, Number right);
Number conjugate(Number value);

int is_complex_type(lanky_dtype type);
void put(Operand* operand, int64_t index, Number value);
Number get(const Operand* operand, int64_t index);

/* `size` elements with small integers that `seed` tells, their imaginary parts too. */
Operand make_operand(const lanky_stream* stream, lanky_dtype type, int64_t size, int seed);
/* Host to device, and back. */
void upload(Operand* operand);
void download(Operand* operand);
void destroy_operand(Operand* operand);

lanky_vector_view vector_of(const Operand* operand);
lanky_matrix_view matrix_of(const Operand* operand, int64_t rows, int64_t cols, int64_t ld,
                            lanky_layout layout);
/* Index of element (i, j). */
int64_t at(const lanky_matrix_view* view, int64_t i, int64_t j);

/* The value in the accumulator type of `type`, for a scalar in host memory. Returns `memory`. */
const void* scalar_of(lanky_dtype type, Number value, double memory[2]);
/* What a value becomes where the operands have this type: real types drop the imaginary part. */
Number as_type(lanky_dtype type, Number value);

/* 3 x 4 with 6 entries, columns unsorted in one row and one entry given twice. */
enum { kRows = 3, kCols = 4, kEntries = 6 };
extern const int32_t kOffsets32[kRows + 1];
extern const int64_t kOffsets64[kRows + 1];
extern const int32_t kColumns[kEntries];
/* Its values of a type. The view points to `values`, which must outlive it. */
lanky_csr_view csr_of(const Operand* values);

/* An allocator that takes its memory from buffers and counts them. */
typedef struct Pool {
  lanky_buffer* buffers[kMostBuffers];
  int live;
  int served;
  int refuse;   /* 1: no memory */
  int misalign; /* 1: memory that is not aligned */
} Pool;
lanky_allocator allocator_of(Pool* pool);

#endif
