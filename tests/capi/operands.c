/* Operands of any type, and an allocator that counts. */
#include "operands.h"

#include <stddef.h>
#include <string.h>

#include "check.h"

const lanky_dtype kTypes[kTypePairs][2] = {
    {LANKY_DTYPE_F64, LANKY_DTYPE_F64},   {LANKY_DTYPE_F32, LANKY_DTYPE_F32},
    {LANKY_DTYPE_F16, LANKY_DTYPE_F16},   {LANKY_DTYPE_F16, LANKY_DTYPE_F32},
    {LANKY_DTYPE_BF16, LANKY_DTYPE_BF16}, {LANKY_DTYPE_BF16, LANKY_DTYPE_F32},
    {LANKY_DTYPE_C64, LANKY_DTYPE_C64},   {LANKY_DTYPE_C128, LANKY_DTYPE_C128},
};

Number number(double re, double im) {
  Number result;
  result.re = re;
  result.im = im;
  return result;
}

Number plus_product(Number other, Number left, Number right) {
  return number(other.re + left.re * right.re - left.im * right.im,
                other.im + left.re * right.im + left.im * right.re);
}

Number conjugate(Number value) {
  return number(value.re, -value.im);
}

int is_complex_type(lanky_dtype type) {
  return type == LANKY_DTYPE_C64 || type == LANKY_DTYPE_C128;
}

Number as_type(lanky_dtype type, Number value) {
  return number(value.re, is_complex_type(type) ? value.im : 0);
}

/* Element `index` of memory that is typed at run time. */
static void put_element(lanky_dtype type, void* memory, int64_t index, Number value) {
  const size_t size = lanky_dtype_size_of(type);
  unsigned char* target = (unsigned char*)memory + (size_t)index * size;
  const double pair[2] = {value.re, value.im};
  const float narrow[2] = {(float)value.re, (float)value.im};
  uint16_t bits = 0;
  switch (type) {
    case LANKY_DTYPE_F64:
    case LANKY_DTYPE_C128:
      memcpy(target, pair, size);
      break;
    case LANKY_DTYPE_F32:
    case LANKY_DTYPE_C64:
      memcpy(target, narrow, size);
      break;
    case LANKY_DTYPE_F16:
    case LANKY_DTYPE_BF16:
      bits = type == LANKY_DTYPE_F16 ? lanky_f16_from_double(value.re)
                                     : lanky_bf16_from_double(value.re);
      memcpy(target, &bits, size);
      break;
    default:
      CHECK(0);
  }
}

void put(Operand* operand, int64_t index, Number value) {
  put_element(operand->type, operand->host, index, value);
}

Number get(const Operand* operand, int64_t index) {
  const size_t size = lanky_dtype_size_of(operand->type);
  const unsigned char* source = (const unsigned char*)operand->host + (size_t)index * size;
  double pair[2] = {0, 0};
  float narrow[2] = {0, 0};
  uint16_t bits = 0;
  switch (operand->type) {
    case LANKY_DTYPE_F64:
    case LANKY_DTYPE_C128:
      memcpy(pair, source, size);
      return number(pair[0], pair[1]);
    case LANKY_DTYPE_F32:
    case LANKY_DTYPE_C64:
      memcpy(narrow, source, size);
      return number((double)narrow[0], (double)narrow[1]);
    default:
      memcpy(&bits, source, size);
      return number((double)(operand->type == LANKY_DTYPE_F16 ? lanky_f16_to_float(bits)
                                                              : lanky_bf16_to_float(bits)),
                    0);
  }
}

static int64_t bytes_of(const Operand* operand) {
  return operand->size * (int64_t)lanky_dtype_size_of(operand->type);
}

Operand make_operand(const lanky_stream* stream, lanky_dtype type, int64_t size, int seed) {
  Operand operand;
  int64_t i = 0;
  memset(&operand, 0, sizeof(operand));
  operand.type = type;
  operand.size = size;
  CHECK(size <= kMostElements);
  for (i = 0; i < size; ++i) {
    put(&operand, i,
        number((double)((i * 7 + seed * 3) % 5 - 2), (double)((i * 3 + seed) % 3 - 1)));
  }
  OK(lanky_buffer_create(stream, bytes_of(&operand), NULL, &operand.buffer));
  upload(&operand);
  return operand;
}

void upload(Operand* operand) {
  OK(lanky_buffer_copy_from(operand->buffer, operand->host, bytes_of(operand)));
}

void download(Operand* operand) {
  OK(lanky_buffer_to_host(operand->buffer, operand->host, bytes_of(operand)));
}

void destroy_operand(Operand* operand) {
  lanky_buffer_destroy(operand->buffer);
  operand->buffer = NULL;
}

lanky_vector_view vector_of(const Operand* operand) {
  lanky_vector_view view;
  view.data = lanky_buffer_data(operand->buffer);
  view.size = operand->size;
  return view;
}

lanky_matrix_view matrix_of(const Operand* operand, int64_t rows, int64_t cols, int64_t ld,
                            lanky_layout layout) {
  lanky_matrix_view view;
  view.data = lanky_buffer_data(operand->buffer);
  view.rows = rows;
  view.cols = cols;
  view.ld = ld;
  view.layout = layout;
  return view;
}

int64_t at(const lanky_matrix_view* view, int64_t i, int64_t j) {
  return view->layout == LANKY_LAYOUT_COL ? i + j * view->ld : i * view->ld + j;
}

const void* scalar_of(lanky_dtype type, Number value, double memory[2]) {
  put_element(lanky_dtype_accumulator(type), memory, 0, value);
  return memory;
}

const int32_t kOffsets32[kRows + 1] = {0, 3, 3, 6};
const int64_t kOffsets64[kRows + 1] = {0, 3, 3, 6};
const int32_t kColumns[kEntries] = {2, 0, 3, 1, 1, 3};

lanky_csr_view csr_of(const Operand* values) {
  lanky_csr_view view;
  view.rows = kRows;
  view.cols = kCols;
  view.nnz = kEntries;
  view.row_offsets = kOffsets32;
  view.col_indices = kColumns;
  view.values = values->host;
  view.offset_bytes = 4;
  view.index_base = 0;
  return view;
}

static void* pool_allocate(size_t bytes, const lanky_stream* stream, void* user) {
  Pool* pool = (Pool*)user;
  lanky_buffer* buffer = NULL;
  int i = 0;
  if (pool->refuse) return NULL;
  if (lanky_buffer_create(stream, (int64_t)bytes + 8, NULL, &buffer) != LANKY_SUCCESS) return NULL;
  while (pool->buffers[i] != NULL)
    ++i;
  pool->buffers[i] = buffer;
  ++pool->live;
  ++pool->served;
  return (char*)lanky_buffer_data(buffer) + (pool->misalign ? 8 : 0);
}

static void pool_deallocate(void* data, size_t bytes, const lanky_stream* stream, void* user) {
  Pool* pool = (Pool*)user;
  int i = 0;
  CHECK(bytes > 0);
  CHECK(lanky_stream_device(stream).kind >= 0);
  for (i = 0; i < kMostBuffers; ++i) {
    char* begin = pool->buffers[i] == NULL ? NULL : (char*)lanky_buffer_data(pool->buffers[i]);
    if (begin == NULL || (begin != (char*)data && begin + 8 != (char*)data)) continue;
    lanky_buffer_destroy(pool->buffers[i]);
    pool->buffers[i] = NULL;
    --pool->live;
    return;
  }
  CHECK(!"memory that the pool gave");
}

lanky_allocator allocator_of(Pool* pool) {
  lanky_allocator allocator;
  OK(lanky_allocator_init(&allocator, sizeof(allocator)));
  allocator.allocate = pool_allocate;
  allocator.deallocate = pool_deallocate;
  allocator.user = pool;
  return allocator;
}
