// The innermost loops of dense products on the CPU: tiles of C held in vector registers. The same
// source (register_tiles_isa.hpp) is compiled for several instruction sets; what the processor has
// is chosen once, so bits are equal between runs on one machine.
#pragma once

#include <cstdint>

namespace lanky::dense::cpu {

/// sums[j * ld + i] += sum over p < depth of A(i, p) B(p, j), vectors along i.
template <class Real>
struct OuterProduct {
  const Real* a;
  /// A in place: column p stands at a + p * a_column, with a_column > 0. Packed (a_column = 0):
  /// strips of RegisterTiles::strip rows, then of `width` rows for the rest, each [depth][rows of
  /// strip].
  std::int64_t a_column;
  int rows;       // a multiple of width
  const Real* b;  // B(p, j) at p * b_row + j * b_column
  std::int64_t b_row;
  std::int64_t b_column;
  int columns;
  int depth;
  Real* sums;  // aligned to a vector, as ld is
  std::int64_t ld;
};

/// sums[j * ld + i] += sum over p < depth of a[i * lda + p] b[j * ldb + p], vectors along p.
template <class Real>
struct InnerProduct {
  const Real* a;
  std::int64_t lda;
  int rows;
  const Real* b;
  std::int64_t ldb;
  int columns;
  int depth;
  Real* sums;
  std::int64_t ld;
};

template <class Real>
struct RegisterTiles {
  const char* isa;
  int width;  // elements of a vector
  int strip;  // rows of a packed strip
  void (*outer)(const OuterProduct<Real>&);
  void (*inner)(const InnerProduct<Real>&);
  /// Copies past the caches.
  void (*stream)(const Real* source, Real* target, std::int64_t count);
  /// Makes what was streamed visible to other threads.
  void (*stream_end)();
};

/// IEEE binary16 to float.
using WidenHalf = void (*)(const std::uint16_t* source, float* target, std::int64_t count);

/// The tiles of this processor. Real: double or float.
template <class Real>
const RegisterTiles<Real>& register_tiles();
WidenHalf widen_half();

// One for each instruction set; only those of the processor may be called.
namespace baseline {
extern const RegisterTiles<double> kTilesF64;
extern const RegisterTiles<float> kTilesF32;
}  // namespace baseline
namespace avx2 {
extern const RegisterTiles<double> kTilesF64;
extern const RegisterTiles<float> kTilesF32;
void widen_half(const std::uint16_t* source, float* target, std::int64_t count);
}  // namespace avx2
namespace avx512 {
extern const RegisterTiles<double> kTilesF64;
extern const RegisterTiles<float> kTilesF32;
}  // namespace avx512

}  // namespace lanky::dense::cpu
