// The body of csr_loop_baseline.cpp and csr_loop_v3.cpp, which define LANKY_CSR_LOOP_ISA. Halves
// are GCC's _Float16, so that no function of a header is compiled here for one processor and linked
// for all.
#include <cstdint>

#include "bench/rivals/csr_loop_kernels.hpp"

namespace lanky::bench {

namespace {

// Below so many entries threads take longer to wake than to multiply.
constexpr std::int64_t kEntriesWorthThreads = 1 << 15;

struct Bf16 {
  std::uint16_t bits;
};

inline double widened(double value) {
  return value;
}
inline float widened(float value) {
  return value;
}
inline float widened(_Float16 value) {
  return static_cast<float>(value);
}
inline float widened(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float wide = 0;
  __builtin_memcpy(&wide, &bits, sizeof(wide));
  return wide;
}
inline void narrow(double sum, double& to) {
  to = sum;
}
inline void narrow(float sum, float& to) {
  to = sum;
}
inline void narrow(float sum, _Float16& to) {
  to = static_cast<_Float16>(sum);
}
inline void narrow(float sum, Bf16& to) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &sum, sizeof(bits));
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  to.bits = static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40U
                                              : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

template <class T, class Offset>
inline void multiply_row(const CsrLoopCall& call, const Offset* offsets, std::int64_t row) {
  const auto* const values = static_cast<const T*>(call.values);
  const auto* const x = static_cast<const T*>(call.x);
  decltype(widened(T{})) sum = 0;
  for (Offset e = offsets[row]; e < offsets[row + 1]; ++e)
    sum += widened(values[e]) * widened(x[call.columns[e]]);
  narrow(sum, static_cast<T*>(call.y)[row]);
}

template <class T, class Offset>
void multiply_rows(const CsrLoopCall& call) {
  const auto* const offsets = static_cast<const Offset*>(call.offsets);
  const bool threads = call.nnz > kEntriesWorthThreads;
  switch (call.schedule) {
    case CsrSchedule::serial:
      __builtin_memset(call.y, 0, static_cast<std::size_t>(call.rows) * sizeof(T));
      for (std::int64_t row = 0; row < call.rows; ++row)
        multiply_row<T>(call, offsets, row);
      return;
    case CsrSchedule::fixed:
#pragma omp parallel for schedule(static) if (threads)
      for (std::int64_t row = 0; row < call.rows; ++row)
        multiply_row<T>(call, offsets, row);
      return;
    case CsrSchedule::guided:
#pragma omp parallel for schedule(guided) if (threads)
      for (std::int64_t row = 0; row < call.rows; ++row)
        multiply_row<T>(call, offsets, row);
      return;
  }
}

template <class T>
void multiply(const CsrLoopCall& call) {
  call.wide ? multiply_rows<T, std::int64_t>(call) : multiply_rows<T, std::int32_t>(call);
}

}  // namespace

namespace LANKY_CSR_LOOP_ISA {
const CsrLoops csr_loops = {multiply<double>, multiply<float>, multiply<_Float16>, multiply<Bf16>};
}  // namespace LANKY_CSR_LOOP_ISA

}  // namespace lanky::bench
