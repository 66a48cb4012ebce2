// Products of chunks, from one source for each instruction set (chunk_kernels_isa.hpp for a vector,
// column_kernels_isa.hpp for several), of which the processor's is taken when first needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sparse/cpu/chunks.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse::cpu {

/// One task of y = alpha A x + beta y. Halves are their bits, complex numbers pairs of reals.
struct TaskArguments {
  const Chunk* chunks;
  const Chunk* chunks_end;
  const std::byte* codes;  // of the first chunk
  const void* values;      // likewise
  const void* x;           // [cols]
  void* y;                 // [rows]
  const void* alpha;       // one accumulator
  const void* beta;        // likewise
  void* partials;          // [partials] accumulators
};
using RunTask = void (*)(const TaskArguments& task);

/// Columns that a task multiplies at once, at most.
inline constexpr int kColumnsAtOnce = 32;

/// One task of Y = alpha A X + beta Y. x and y point to the first of its columns.
struct ColumnsArguments : TaskArguments {  // partials: [partials, kColumnsAtOnce] accumulators
  int columns;                             // 1 .. kColumnsAtOnce
  Strides x_strides;                       // by rows or by columns, as those of y: one of both is 1
  Strides y_strides;
};
using RunColumns = void (*)(const ColumnsArguments& task);

/// Writes y of a row from its sum, alpha and beta, all accumulators.
using WriteRow = void (*)(const TaskArguments& task, std::int64_t row, const void* sum);
using WriteColumns = void (*)(const ColumnsArguments& task, std::int64_t row, const void* sums);

/// A row with some others, for sampled products.
struct DotsArguments {
  const void* x;                // [length]
  const void* y;                // rows of `length` elements
  std::int64_t y_pitch;         // elements from one of them to the next
  const std::int32_t* columns;  // [entries] rows of y
  std::int64_t entries;
  std::int64_t length;
  void* sums;  // [entries] accumulators
  bool adds;   // to what they hold; else to 0
};
/// sums[i] = sum of x[c] y[columns[i], c], added to what is there or to 0.
using AddDots = void (*)(const DotsArguments& task);

struct ChunkKernel {
  RunTask run_task;
  WriteRow write_row;
  RunColumns run_columns;
  WriteColumns write_columns;
  AddDots add_dots;
};

/// The kernels of one instruction set, by the types of a plan.
struct ChunkKernels {
  std::string_view isa;
  ChunkKernel f64, f32, f16, f16_f32, bf16, bf16_f32, c64, c128;
};

namespace baseline {
extern const ChunkKernels chunk_kernels;
}
namespace avx2 {
extern const ChunkKernels chunk_kernels;
}
namespace avx512 {
extern const ChunkKernels chunk_kernels;
}

/// Those of this processor.
const ChunkKernels& chunk_kernels();

}  // namespace lanky::sparse::cpu
