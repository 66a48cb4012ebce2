// The body of csr_loop_baseline.cpp and csr_loop_v3.cpp, which define LANKY_CSR_LOOP_ISA. Halves
// are converted here, so that no function of a header is compiled for one processor and linked for
// all.
#include <cmath>
#include <cstdint>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "bench/rivals/csr_loop_kernels.hpp"

namespace lanky::bench {

namespace {

// Below so many entries threads take longer to wake than to multiply.
constexpr std::int64_t kEntriesWorthThreads = 1 << 15;

struct F16 {
  std::uint16_t bits;
};
struct Bf16 {
  std::uint16_t bits;
};

/// The bits of std::complex, with the plain product: that of std::complex also looks for NaN.
template <class Real>
struct Complex {
  Real re;
  Real im;

  void operator+=(Complex other) {
    re += other.re;
    im += other.im;
  }
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

template <class Real>
inline Complex<Real> widened(Complex<Real> value) {
  return value;
}
template <class Real>
inline void narrow(Complex<Real> sum, Complex<Real>& to) {
  to = sum;
}
inline double widened(double value) {
  return value;
}
inline float widened(float value) {
  return value;
}
#ifdef __F16C__
inline float widened(F16 value) {
  return _cvtsh_ss(value.bits);
}
inline void narrow(float sum, F16& to) {
  const __m128i half = _mm_cvtps_ph(_mm_set_ss(sum), _MM_FROUND_TO_NEAREST_INT);
  to.bits = static_cast<std::uint16_t>(_mm_cvtsi128_si32(half));
}
#else
inline float widened(F16 value) {
  const int exponent = value.bits >> 10 & 31;
  const auto fraction = static_cast<float>(value.bits & 1023);
  float found = exponent == 0 ? fraction * 0x1p-24F : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) found = fraction == 0 ? HUGE_VALF : NAN;
  return (value.bits & 0x8000) != 0 ? -found : found;
}
/// Multiples of the distance between halves near the sum, rounded to the nearest, even ones first.
inline void narrow(float sum, F16& to) {
  const float size = std::fabs(sum);
  int bits = 0x7e00;  // NaN
  if (size >= 65520) {
    bits = 0x7c00;
  } else if (size < 65520) {
    const int exponent = size < 0x1p-14F ? -14 : std::ilogb(size);
    const float multiples = std::nearbyint(std::ldexp(size, 10 - exponent));
    bits = ((exponent + 14) << 10) + static_cast<int>(multiples);
  }
  to.bits = static_cast<std::uint16_t>(bits | (std::signbit(sum) ? 0x8000 : 0));
}
#endif
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
inline void narrow(float sum, Bf16& to) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &sum, sizeof(bits));
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  to.bits = static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40U
                                              : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

template <class T>
struct RowOfVector {
  using Element = T;

  template <class Offset>
  static void multiply(const CsrLoopCall& call, const Offset* offsets, std::int64_t row) {
    const auto* const values = static_cast<const T*>(call.values);
    const auto* const x = static_cast<const T*>(call.x);
    decltype(widened(T{})) sum{};
    for (Offset e = offsets[row]; e < offsets[row + 1]; ++e)
      sum += widened(values[e]) * widened(x[call.columns[e]]);
    narrow(sum, static_cast<T*>(call.y)[row]);
  }
};

template <class T>
struct RowOfVectors {
  using Element = T;

  template <class Offset>
  static void multiply(const CsrLoopCall& call, const Offset* offsets, std::int64_t row) {
    const auto* const values = static_cast<const T*>(call.values);
    T* const y = static_cast<T*>(call.y) + row * call.vectors;
    for (std::int64_t c = 0; c < call.vectors; ++c)
      y[c] = T{};
    for (Offset e = offsets[row]; e < offsets[row + 1]; ++e) {
      const T* const x = static_cast<const T*>(call.x) + call.columns[e] * call.vectors;
      const T value = values[e];
      for (std::int64_t c = 0; c < call.vectors; ++c)
        y[c] += value * x[c];
    }
  }
};

template <class Row, class Offset>
void multiply_rows(const CsrLoopCall& call) {
  const auto* const offsets = static_cast<const Offset*>(call.offsets);
  const bool threads = call.nnz > kEntriesWorthThreads;
  switch (call.schedule) {
    case CsrSchedule::serial:
      __builtin_memset(
          call.y, 0,
          static_cast<std::size_t>(call.rows * call.vectors) * sizeof(typename Row::Element));
      for (std::int64_t row = 0; row < call.rows; ++row)
        Row::multiply(call, offsets, row);
      return;
    case CsrSchedule::fixed:  // NOLINT(bugprone-branch-clone): by the pragma it is not
#pragma omp parallel for schedule(static) if (threads)
      for (std::int64_t row = 0; row < call.rows; ++row)
        Row::multiply(call, offsets, row);
      return;
    case CsrSchedule::guided:
#pragma omp parallel for schedule(guided) if (threads)
      for (std::int64_t row = 0; row < call.rows; ++row)
        Row::multiply(call, offsets, row);
      return;
  }
}

template <class Row>
void multiply(const CsrLoopCall& call) {
  call.wide ? multiply_rows<Row, std::int64_t>(call) : multiply_rows<Row, std::int32_t>(call);
}

/// Several sums, so that vector instructions can make them; the steps are 1 where elements follow
/// each other.
template <class T>
inline auto inner_product(const T* x, std::int64_t x_step, const T* y, std::int64_t y_step,
                          std::int64_t count) {
  constexpr int kSums = 8;
  decltype(widened(T{})) sums[kSums]{};
  std::int64_t c = 0;
  for (; c + kSums <= count; c += kSums) {
    for (int k = 0; k < kSums; ++k)
      sums[k] += widened(x[(c + k) * x_step]) * widened(y[(c + k) * y_step]);
  }
  for (; c < count; ++c)
    sums[0] += widened(x[c * x_step]) * widened(y[c * y_step]);
  for (int k = 1; k < kSums; ++k)
    sums[0] += sums[k];
  return sums[0];
}

template <class T, class Offset>
void sample_rows(const SampleLoopCall& call) {
  const auto* const offsets = static_cast<const Offset*>(call.offsets);
  auto* const values = static_cast<T*>(call.values);
  const bool by_rows = call.x_column == 1 && call.y_column == 1;
#pragma omp parallel for schedule(guided) if (call.nnz * call.count > kEntriesWorthThreads)
  for (std::int64_t row = 0; row < call.rows; ++row) {
    const T* const x = static_cast<const T*>(call.x) + row * call.x_row;
    for (Offset e = offsets[row]; e < offsets[row + 1]; ++e) {
      const T* const y = static_cast<const T*>(call.y) + call.columns[e] * call.y_row;
      narrow(by_rows ? inner_product(x, 1, y, 1, call.count)
                     : inner_product(x, call.x_column, y, call.y_column, call.count),
             values[e]);
    }
  }
}

template <class T>
void sample(const SampleLoopCall& call) {
  call.wide ? sample_rows<T, std::int64_t>(call) : sample_rows<T, std::int32_t>(call);
}

}  // namespace

namespace LANKY_CSR_LOOP_ISA {
const LoopsByType<CsrLoop> csr_loops = {.f64 = multiply<RowOfVector<double>>,
                                        .f32 = multiply<RowOfVector<float>>,
                                        .f16 = multiply<RowOfVector<F16>>,
                                        .bf16 = multiply<RowOfVector<Bf16>>,
                                        .c64 = multiply<RowOfVector<Complex<float>>>,
                                        .c128 = multiply<RowOfVector<Complex<double>>>};
const LoopsByType<CsrLoop> csr_loops_by_rows = {.f64 = multiply<RowOfVectors<double>>,
                                                .f32 = multiply<RowOfVectors<float>>,
                                                .f16 = nullptr,
                                                .bf16 = nullptr,
                                                .c64 = multiply<RowOfVectors<Complex<float>>>,
                                                .c128 = multiply<RowOfVectors<Complex<double>>>};
const LoopsByType<SampleLoop> sample_loops = {
    sample<double>, sample<float>,          sample<F16>,
    sample<Bf16>,   sample<Complex<float>>, sample<Complex<double>>};
}  // namespace LANKY_CSR_LOOP_ISA

}  // namespace lanky::bench
