// Register tiles for every processor: vectors of 16 bytes.
#include <cstdint>

#define LANKY_OUTER_COLUMNS 4
#define LANKY_INNER_COLUMNS 2

namespace {

constexpr char kIsa[] = "vectors of 16 bytes";
constexpr int kVectorBytes = 16;

template <class Real>
inline int lanes_of(const Real* /*type*/, int count) {
  return count;
}
/// The first `count` lanes, and 0 in the others.
template <class Real>
inline auto load_lanes(const Real* from, int count) {
  typedef Real Vector __attribute__((vector_size(kVectorBytes)));
  Vector value = {};
  for (int lane = 0; lane < count; ++lane)
    value[lane] = from[lane];
  return value;
}
/// The first `count` lanes.
template <class Real, class Vector>
inline void store_part(Real* to, Vector value, int count) {
  for (int lane = 0; lane < count; ++lane)
    to[lane] = value[lane];
}
/// Half a vector of floats and back.
template <class Floats>
inline auto to_doubles(Floats value) {
  typedef double Doubles __attribute__((vector_size(kVectorBytes)));
  return Doubles{value[0], value[1]};
}
template <class Doubles>
inline auto to_floats(Doubles value) {
  typedef float Floats __attribute__((vector_size(kVectorBytes / 2)));
  return Floats{static_cast<float>(value[0]), static_cast<float>(value[1])};
}
/// An ordinary store: instructions past the cache are not the same on all processors.
template <class Real, class Vector>
inline void stream_vector(Real* to, Vector value) {
  *reinterpret_cast<Vector*>(to) = value;
}
void stream_end() {}

}  // namespace

#include "dense/cpu/register_tiles_isa.hpp"

namespace lanky::dense::cpu::baseline {

const RegisterTiles<double> tiles_f64 = kTiles<double>;
const RegisterTiles<float> tiles_f32 = kTiles<float>;

}  // namespace lanky::dense::cpu::baseline
