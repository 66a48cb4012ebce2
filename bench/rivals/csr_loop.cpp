#include "bench/rivals/csr_loop.hpp"

#include <complex>
#include <lanky/dtype.hpp>
#include <lanky/half.hpp>

#include "bench/rivals/csr_loop_kernels.hpp"
#include "core/plan_types.hpp"

namespace lanky::bench {

namespace {

/// The loops of this processor.
struct Loops {
  const LoopsByType<CsrLoop>& csr;
  const LoopsByType<CsrLoop>& csr_by_rows;
  const LoopsByType<SampleLoop>& sample;
};

Loops loops() {
#if LANKY_X86_64
  static const bool is_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (is_v3) return {v3::csr_loops, v3::csr_loops_by_rows, v3::sample_loops};
#endif
  return {baseline::csr_loops, baseline::csr_loops_by_rows, baseline::sample_loops};
}

template <class T, class Loop>
Loop loop_of(const LoopsByType<Loop>& loops) {
  if constexpr (kDType<T> == DType::f64) return loops.f64;
  if constexpr (kDType<T> == DType::f32) return loops.f32;
  if constexpr (kDType<T> == DType::f16) return loops.f16;
  if constexpr (kDType<T> == DType::bf16) return loops.bf16;
  if constexpr (kDType<T> == DType::c64) return loops.c64;
  if constexpr (kDType<T> == DType::c128) return loops.c128;
}

template <class T>
CsrLoopCall call_of(const CsrView<T>& a, const T* x, T* y, CsrSchedule schedule) {
  return {schedule, a.rows, a.nnz, a.row_offsets.data(), a.row_offsets.wide(), a.col_indices,
          a.values, x,      y};
}

}  // namespace

template <class T>
void multiply_csr(const CsrView<T>& a, const T* x, T* y, CsrSchedule schedule) {
  loop_of<T>(loops().csr)(call_of(a, x, y, schedule));
}

template <class T>
void multiply_csr_by_rows(const CsrView<T>& a, const T* x, T* y, std::int64_t columns,
                          CsrSchedule schedule) {
  CsrLoopCall call = call_of(a, x, y, schedule);
  call.vectors = columns;
  loop_of<T>(loops().csr_by_rows)(call);
}

template <class T>
void sample_csr(const CsrView<T>& a, MatrixView<const T> x, MatrixView<const T> y, T* values) {
  const bool by_rows = x.layout == Layout::row;
  loop_of<T>(loops().sample)({.rows = a.rows,
                              .nnz = a.nnz,
                              .offsets = a.row_offsets.data(),
                              .wide = a.row_offsets.wide(),
                              .columns = a.col_indices,
                              .count = x.cols,
                              .x = x.data,
                              .x_row = by_rows ? x.ld : 1,
                              .x_column = by_rows ? 1 : x.ld,
                              .y = y.data,
                              .y_row = by_rows ? y.ld : 1,
                              .y_column = by_rows ? 1 : y.ld,
                              .values = values});
}

#define LANKY_INSTANTIATE(T)                                                \
  template void multiply_csr(const CsrView<T>&, const T*, T*, CsrSchedule); \
  template void sample_csr(const CsrView<T>&, MatrixView<const T>, MatrixView<const T>, T*);

LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

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
