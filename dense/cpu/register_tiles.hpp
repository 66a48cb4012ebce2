// The innermost loops of dense products on the CPU: tiles of C held in vector registers. The same
// source (register_tiles_isa.hpp) is compiled for several instruction sets; what the processor has
// is chosen once, so bits are equal between runs on one machine.
#pragma once

#include <cstdint>

namespace lanky::dense::cpu {

/// Memory that will be read next: asked for while a tile is computed, because a block takes too
/// little of each column for prefetchers to learn.
struct Ahead {
  const void* data = nullptr;
  std::int64_t column = 0;  // bytes from one to the next
  int column_bytes = 0;
  int columns = 0;
};

/// C = alpha sums + beta C, with one rounding; with beta = 0 C is not read.
struct Scaling {
  double alpha;
  double beta;
  /// Floats times either are exact, and need not become doubles.
  bool exact;
};

/// sums[j * ld + i] (+)= sum over p < depth of A(i, p) B(p, j), vectors along i.
template <class Real>
struct OuterProduct {
  const Real* a;
  /// A in place: column p stands at a + p * a_column, with a_column > 0. Packed (a_column = 0):
  /// strips of RegisterTiles::strip rows, then of `width` rows for the rest, each [depth][rows of
  /// strip], with a cache line between two.
  std::int64_t a_column;
  int rows;
  bool beyond;  // of A in place: whole vectors can be read where rows end within one
  /// B(p, j) at b[g * b_group + p * b_row + (j - g * group) * b_column], in groups g of
  /// RegisterTiles::group columns.
  const Real* b;
  std::int64_t b_group;
  std::int64_t b_row;
  std::int64_t b_column;
  int columns;
  int depth;
  int chain;  // products that are added up in a register before they join the sums
  Real* sums;
  std::int64_t ld;
  bool fresh;              // sums are written, never read
  bool padded;             // sums have room for whole vectors at the end of each column
  const Scaling* scaling;  // sums are C, which is finished from fresh ones; or null
  Ahead ahead;
};

/// sums[i * step + j * ld] (+)= sum over p < depth of a[i * lda + p] b[j * ldb + p], vectors along
/// p.
template <class Real>
struct InnerProduct {
  const Real* a;
  std::int64_t lda;
  int rows;
  const Real* b;
  std::int64_t ldb;
  int columns;
  int depth;
  int chain;  // products that are added up in a lane before they join its sum
  Real* sums;
  std::int64_t step;
  std::int64_t ld;
  bool fresh;  // sums are written, never read
};

/// Rows without gaps of up to so many columns are turned by tiles of their own.
inline constexpr int kTightColumns = 8;

template <class Real>
struct RegisterTiles {
  const char* isa;
  int width;  // elements of a vector
  int strip;  // rows of a packed strip
  int group;  // columns of a packed group
  void (*outer)(const OuterProduct<Real>&);
  void (*inner)(const InnerProduct<Real>&);
  /// Strips of OuterProduct::a from a matrix in place; rows up to a full vector are 0.
  void (*pack)(const Real* source, std::int64_t column, int rows, int depth, Real* strips);
  /// The same of rows that stand contiguous along depth, `stride` apart.
  void (*pack_transposed)(const Real* source, std::int64_t stride, int rows, int depth,
                          Real* strips);
  /// totals += sums.
  void (*promote)(const Real* sums, double* totals, std::int64_t count);
  /// c = alpha sums + beta c, neighbours.
  void (*finish)(const Real* sums, Real* c, std::int64_t count, const Scaling& scaling);
  void (*finish_totals)(const double* sums, Real* c, std::int64_t count, const Scaling& scaling);
  /// target[r * pitch + j] = sums[r + j * ld]: columns become rows.
  void (*leave_rows)(const Real* sums, std::int64_t ld, std::int64_t rows, int columns,
                     Real* target, std::int64_t pitch);
  /// Copies past the caches.
  void (*stream)(const Real* source, Real* target, std::int64_t count);
  /// Makes what was streamed visible to other threads.
  void (*stream_end)();
};

/// IEEE binary16 to float, and back with one rounding to nearest even.
struct HalfConversion {
  void (*widen)(const std::uint16_t* source, float* target, std::int64_t count);
  void (*narrow)(const float* source, std::uint16_t* target, std::int64_t count);
};

/// The tiles of this processor. Real: double or float.
template <class Real>
const RegisterTiles<Real>& register_tiles();
const HalfConversion& half_conversion();

// One for each instruction set; only those of the processor may be called.
namespace baseline {
extern const RegisterTiles<double> tiles_f64;
extern const RegisterTiles<float> tiles_f32;
}  // namespace baseline
namespace avx2 {
extern const RegisterTiles<double> tiles_f64;
extern const RegisterTiles<float> tiles_f32;
extern const HalfConversion f16c_conversion;
}  // namespace avx2
namespace avx512 {
extern const RegisterTiles<double> tiles_f64;
extern const RegisterTiles<float> tiles_f32;
}  // namespace avx512

}  // namespace lanky::dense::cpu
