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

struct CsrLoops {
  CsrLoop f64, f32, f16, bf16, c64, c128;                       // of one vector
  CsrLoop f64_by_rows, f32_by_rows, c64_by_rows, c128_by_rows;  // of several
};

namespace baseline {
extern const CsrLoops csr_loops;
}
namespace v3 {
extern const CsrLoops csr_loops;
}

}  // namespace lanky::bench
