// What csr_loop.cpp takes from the loops of each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/rivals/csr_loop.hpp"

namespace lanky::bench {

struct CsrLoopCall {
  CsrSchedule schedule;
  std::int64_t rows;
  std::int64_t nnz;
  const void* offsets;  // [rows + 1], 64 bits where `wide`, else 32
  bool wide;
  const std::int32_t* columns;  // [nnz]
  const void* values;           // [nnz]
  const void* x;                // [cols][vectors]
  void* y;                      // [rows][vectors]
  std::int64_t vectors = 1;
};
using CsrLoop = void (*)(const CsrLoopCall& call);

/// Element (i, c) of X and of Y stands at i * stride of a row + c * stride of a column.
struct SampleLoopCall {
  std::int64_t rows;
  std::int64_t nnz;
  const void* offsets;  // [rows + 1], 64 bits where `wide`, else 32
  bool wide;
  const std::int32_t* columns;  // [nnz], of the pattern
  std::int64_t count;           // columns of X and of Y
  const void* x;                // [rows][count]
  std::int64_t x_row, x_column;
  const void* y;  // [cols][count]
  std::int64_t y_row, y_column;
  void* values;  // [nnz]
};
using SampleLoop = void (*)(const SampleLoopCall& call);

template <class Loop>
struct LoopsByType {
  Loop f64, f32, f16, bf16, c64, c128;
};

namespace baseline {
extern const LoopsByType<CsrLoop> csr_loops;
extern const LoopsByType<CsrLoop> csr_loops_by_rows;  // not of halves
extern const LoopsByType<SampleLoop> sample_loops;
}  // namespace baseline
namespace v3 {
extern const LoopsByType<CsrLoop> csr_loops;
extern const LoopsByType<CsrLoop> csr_loops_by_rows;  // not of halves
extern const LoopsByType<SampleLoop> sample_loops;
}  // namespace v3

}  // namespace lanky::bench
