#include "bench/rivals/csr_loop.hpp"

#include <complex>
#include <lanky/dtype.hpp>
#include <lanky/half.hpp>

#include "bench/rivals/csr_loop_kernels.hpp"

namespace lanky::bench {

namespace {

const CsrLoops& csr_loops() {
#if LANKY_X86_64
  static const bool is_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (is_v3) return v3::csr_loops;
#endif
  return baseline::csr_loops;
}

template <class T>
CsrLoop loop_of() {
  if constexpr (kDType<T> == DType::f64) return csr_loops().f64;
  if constexpr (kDType<T> == DType::f32) return csr_loops().f32;
  if constexpr (kDType<T> == DType::f16) return csr_loops().f16;
  if constexpr (kDType<T> == DType::bf16) return csr_loops().bf16;
  if constexpr (kDType<T> == DType::c64) return csr_loops().c64;
  if constexpr (kDType<T> == DType::c128) return csr_loops().c128;
}

template <class T>
CsrLoop loop_by_rows_of() {
  if constexpr (kDType<T> == DType::f64) return csr_loops().f64_by_rows;
  if constexpr (kDType<T> == DType::f32) return csr_loops().f32_by_rows;
  if constexpr (kDType<T> == DType::c64) return csr_loops().c64_by_rows;
  if constexpr (kDType<T> == DType::c128) return csr_loops().c128_by_rows;
}

template <class T>
CsrLoopCall call_of(const CsrView<T>& a, const T* x, T* y, CsrSchedule schedule) {
  return {schedule, a.rows, a.nnz, a.row_offsets.data(), a.row_offsets.wide(), a.col_indices,
          a.values, x,      y};
}

}  // namespace

template <class T>
void multiply_csr(const CsrView<T>& a, const T* x, T* y, CsrSchedule schedule) {
  loop_of<T>()(call_of(a, x, y, schedule));
}

template <class T>
void multiply_csr_by_rows(const CsrView<T>& a, const T* x, T* y, std::int64_t columns,
                          CsrSchedule schedule) {
  CsrLoopCall call = call_of(a, x, y, schedule);
  call.vectors = columns;
  loop_by_rows_of<T>()(call);
}

template void multiply_csr(const CsrView<double>&, const double*, double*, CsrSchedule);
template void multiply_csr(const CsrView<float>&, const float*, float*, CsrSchedule);
template void multiply_csr(const CsrView<half>&, const half*, half*, CsrSchedule);
template void multiply_csr(const CsrView<bfloat16>&, const bfloat16*, bfloat16*, CsrSchedule);
template void multiply_csr(const CsrView<std::complex<float>>&, const std::complex<float>*,
                           std::complex<float>*, CsrSchedule);
template void multiply_csr(const CsrView<std::complex<double>>&, const std::complex<double>*,
                           std::complex<double>*, CsrSchedule);

template void multiply_csr_by_rows(const CsrView<double>&, const double*, double*, std::int64_t,
                                   CsrSchedule);
template void multiply_csr_by_rows(const CsrView<float>&, const float*, float*, std::int64_t,
                                   CsrSchedule);
template void multiply_csr_by_rows(const CsrView<std::complex<float>>&, const std::complex<float>*,
                                   std::complex<float>*, std::int64_t, CsrSchedule);
template void multiply_csr_by_rows(const CsrView<std::complex<double>>&,
                                   const std::complex<double>*, std::complex<double>*, std::int64_t,
                                   CsrSchedule);

}  // namespace lanky::bench
