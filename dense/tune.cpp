#include "dense/tune.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <lanky/buffer.hpp>
#include <random>
#include <span>
#include <vector>

#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

namespace {

template <class T>
T random_element(std::minstd_rand& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  if constexpr (is_complex(kDType<T>)) {
    const auto real = uniform(random);
    return T(real, uniform(random));
  } else {
    return T(uniform(random));
  }
}

/// Random numbers, which repeat: zeros and ones take less power, so that clocks would be higher.
template <class T>
void fill_random(Buffer<T>& buffer) {
  constexpr std::int64_t kPeriod = 1'000'003;
  const std::int64_t size = buffer.size();
  std::minstd_rand random(1);
  std::vector<T> period(static_cast<std::size_t>(std::min(size, kPeriod)));
  for (T& element : period)
    element = random_element<T>(random);
  buffer.copy_from(period);
  const Stream& stream = buffer.stream();
  for (auto filled = static_cast<std::int64_t>(period.size()); filled < size; filled *= 2) {
    const auto bytes = static_cast<std::size_t>(std::min(filled, size - filled)) * sizeof(T);
    if (stream.device().is_cuda()) {
      runtime::copy(buffer.data() + filled, buffer.data(), bytes, stream.native(),
                    stream.device().index());
    } else {
      std::memcpy(buffer.data() + filled, buffer.data(), bytes);
    }
  }
}

}  // namespace

template <class T, class TOut>
GemmTuning tuning_of(const Stream& stream, const GemmShape& shape, const GemmOptions& options) {
  GemmTuning tuning = options.tuning != nullptr ? *options.tuning : GemmTuning();
  const StoredExtents of_a = stored_extents(shape.m, shape.k, shape.op_a);
  const StoredExtents of_b = stored_extents(shape.k, shape.n, shape.op_b);
  Matrix<T> a(stream, of_a.rows, of_a.cols, shape.layout, shape.lda, options.allocator);
  Matrix<T> b(stream, of_b.rows, of_b.cols, shape.layout, shape.ldb, options.allocator);
  Matrix<TOut> c(stream, shape.m, shape.n, shape.layout, shape.ldc, options.allocator);
  fill_random(a.buffer());
  fill_random(b.buffer());
  c.buffer().fill_zero();
  const auto measure = [&](MatrixView<const T> of_b_or_a, GemmAccumulator<T, TOut> beta) {
    measure_choices<T, TOut>(stream, shape, {.a = a, .b = of_b_or_a, .beta = beta, .c = c}, tuning,
                             options.math);
  };
  const GemmQuery plain{.device = stream.device(),
                        .shape = shape,
                        .in = kDType<T>,
                        .out = kDType<TOut>,
                        .math = options.math};
  measure(b, GemmAccumulator<T, TOut>(0));
  GemmQuery adding = plain;
  adding.adds = true;
  if (gemm_class(adding) != gemm_class(plain)) measure(b, GemmAccumulator<T, TOut>(1));
  GemmQuery same = plain;
  same.same_operands = true;
  const bool may_be_same =
      of_a.rows == of_b.rows && of_a.cols == of_b.cols && shape.lda == shape.ldb;
  if (may_be_same && gemm_class(same) != gemm_class(plain)) measure(a, GemmAccumulator<T, TOut>(0));
  return tuning;
}

#define LANKY_INSTANTIATE(T, TOut) \
  template GemmTuning tuning_of<T, TOut>(const Stream&, const GemmShape&, const GemmOptions&);
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense
