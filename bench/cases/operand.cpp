#include "bench/cases/operand.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <lanky/visit_dtype.hpp>

#include "bench/cases/gemm_type.hpp"
#include "bench/harness/gpu.hpp"

namespace lanky::bench {

namespace {

constexpr std::int64_t kWorthThreads = 1 << 16;  // elements

/// f(data, scalars) with data a T*, T the real type behind the array's elements.
template <class F>
decltype(auto) with_reals(const StoredArray& array, F f) {
  return visit_real_dtype(component_type(array.dtype), [&]<class T>(std::type_identity<T>) {
    return f(static_cast<T*>(array.data));
  });
}

}  // namespace

void fill_array(const Stream& stream, const StoredArray& array, Fill fill, std::uint64_t seed) {
  if (stream.device().is_cuda()) return gpu::fill(stream, array, fill, seed);
  const int bits = significand_bits(component_type(array.filled_as()));
  const int parts = components(array.dtype);
  with_reals(array, [&]<class T>(T* data) {
#pragma omp parallel for collapse(2) schedule(static) if (array.cols * array.ld > kWorthThreads)
    for (std::int64_t j = 0; j < array.cols; ++j) {
      for (std::int64_t i = 0; i < array.ld; ++i) {
        const std::int64_t number = array.transposed ? j + i * array.cols : i + j * array.rows;
        const Fill here = i < array.rows ? fill : Fill::nan;
        for (int part = 0; part < parts; ++part) {
          const double value = element(here, seed, number * parts + part, bits);
          data[(i + j * array.ld) * parts + part] = static_cast<T>(value);
        }
      }
    }
  });
}

void fill_zero(const Stream& stream, void* data, std::int64_t bytes) {
  if (stream.device().is_cuda()) return gpu::zero(stream, data, bytes);
  std::memset(data, 0, static_cast<std::size_t>(bytes));
}

void replicate(const Stream& stream, void* data, std::int64_t bytes, std::int64_t copies) {
  auto* const target = static_cast<char*>(data);
  for (std::int64_t done = 1; done < copies; done *= 2) {
    const std::int64_t size = bytes * std::min(done, copies - done);
    if (stream.device().is_cuda()) {
      gpu::copy(stream, target + done * bytes, data, size);
    } else {
      std::memcpy(target + done * bytes, data, static_cast<std::size_t>(size));
    }
  }
}

std::vector<double> gather(const Stream& stream, const StoredArray& array,
                           std::span<const std::int64_t> offsets) {
  if (stream.device().is_cuda()) return gpu::gather(stream, array, offsets);
  return with_reals(array, [&]<class T>(const T* data) {
    std::vector<double> values;
    values.reserve(offsets.size());
    for (const std::int64_t offset : offsets)
      values.push_back(static_cast<double>(data[offset]));
    return values;
  });
}

std::int64_t count_nan(const Stream& stream, const StoredArray& array, bool lower) {
  if (stream.device().is_cuda()) return gpu::count_nan(stream, array, lower);
  const int parts = components(array.dtype);
  return with_reals(array, [&]<class T>(const T* data) {
    std::int64_t count = 0;
#pragma omp parallel for collapse(2) reduction(+ : count) if (array.cols * array.ld > kWorthThreads)
    for (std::int64_t j = 0; j < array.cols; ++j) {
      for (std::int64_t i = 0; i < array.rows; ++i) {
        if (lower && (array.transposed ? i > j : j > i)) continue;
        bool nan = false;
        for (int part = 0; part < parts; ++part) {
          const auto value = static_cast<double>(data[(i + j * array.ld) * parts + part]);
          nan = nan || value != value;
        }
        count += nan ? 1 : 0;
      }
    }
    return count;
  });
}

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
