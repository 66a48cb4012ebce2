#include "bench/operand.hpp"

#include <unistd.h>

#include <algorithm>

#include "bench/gpu.hpp"

namespace lanky::bench {

template <class T>
void fill_matrix(const Stream& stream, MatrixView<T> matrix, Fill fill, std::uint64_t seed) {
  const bool transposed = matrix.layout == Layout::row;
  const std::int64_t rows = transposed ? matrix.cols : matrix.rows;  // contiguous direction
  const std::int64_t cols = transposed ? matrix.rows : matrix.cols;
  if (stream.device().is_cuda()) {
    gpu::fill(stream, kDType<T>, matrix.data, {rows, cols, matrix.ld, transposed}, fill, seed);
    return;
  }
  constexpr int kBits = significand_bits(kDType<T>);
  constexpr std::int64_t kWorthThreads = 1 << 16;  // elements
#pragma omp parallel for collapse(2) schedule(static) if (cols * matrix.ld > kWorthThreads)
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < matrix.ld; ++i) {
      const std::int64_t place = transposed ? j + i * cols : i + j * rows;
      const double value = element(i < rows ? fill : Fill::nan, seed, place, kBits);
      matrix.data[i + j * matrix.ld] = static_cast<T>(value);
    }
  }
}

template void fill_matrix(const Stream&, MatrixView<double>, Fill, std::uint64_t);
template void fill_matrix(const Stream&, MatrixView<float>, Fill, std::uint64_t);
template void fill_matrix(const Stream&, MatrixView<half>, Fill, std::uint64_t);
template void fill_matrix(const Stream&, MatrixView<bfloat16>, Fill, std::uint64_t);

std::int64_t uncached_bytes(Device device) {
  constexpr std::int64_t kUnknownCache = 32LL << 20;
  constexpr std::int64_t kMostOnCpu = 128LL << 20;  // a virtual machine reports its host's cache
  const std::int64_t cache = device.is_cuda()
                                 ? static_cast<std::int64_t>(device.properties().l2_bytes)
                                 : static_cast<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE));
  const std::int64_t twice = 2 * (cache > 0 ? cache : kUnknownCache) + (1 << 20);
  return device.is_cuda() ? twice : std::min(twice, kMostOnCpu);
}

}  // namespace lanky::bench
