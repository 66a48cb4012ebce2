// References for the rows of a sparse product and the judgement on its result, where its operands
// are; and the values of padded formats. Compiled without contraction to fused multiply-adds, which
// InnerProduct does not allow.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <iterator>
#include <lanky/buffer.hpp>
#include <type_traits>

#include "bench/harness/gpu.hpp"
#include "bench/harness/judgement.hpp"
#include "core/cuda_check.hpp"
#include "device/element.cuh"

namespace lanky::bench::gpu {

namespace {

constexpr int kThreads = 512;

unsigned blocks_for(std::int64_t count, std::int64_t per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

template <class Offset>
struct Rows {
  const Offset* offsets;  // [rows + 1]
  const std::int32_t* columns;
};

/// kWidth neighbouring threads sum the entries of one row, each every kWidth-th; the first of them
/// adds their sums in order. A warp takes any row but the long ones, a block one of `list`
/// [count]. sums: [kThreads] in shared memory.
template <int kWidth, class Offset>
__global__ void __launch_bounds__(kThreads)
    spmv_reference_kernel(SpmvData data, Rows<Offset> a, const std::int64_t* list,
                          std::int64_t count, Reference* references) {
  __shared__ __align__(16) unsigned char raw[kThreads * sizeof(InnerProduct)];
  auto* sums = reinterpret_cast<InnerProduct*>(raw);
  const int member = static_cast<int>(threadIdx.x) % kWidth;
  const std::int64_t p =
      blockIdx.x * std::int64_t{kThreads / kWidth} + static_cast<int>(threadIdx.x) / kWidth;
  const std::int64_t row = p >= count ? -1 : list != nullptr ? list[p] : p;
  const std::int64_t begin = row < 0 ? 0 : a.offsets[row];
  const std::int64_t end = row < 0 ? 0 : a.offsets[row + 1];
  const bool skipped = row < 0 || (list == nullptr && end - begin > kLongRow);
  InnerProduct sum;
  if (!skipped) {
    for (std::int64_t e = begin + member; e < end; e += kWidth)
      data.add_term(sum, e, a.columns[e]);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();  // before the sums of other threads are read
  if (skipped || member != 0) return;
  const auto members = static_cast<int>(min(end - begin, std::int64_t{kWidth}));
  for (int other = 1; other < members; ++other)
    sum.add(sums[threadIdx.x + other]);
  references[row] = sum.result();
}

template <class Offset>
void launch_references(const Stream& stream, const SpmvData& data, const SpmvRows& a,
                       Reference* references) {
  const Rows<Offset> rows{static_cast<const Offset*>(a.offsets.data()), a.columns};
  spmv_reference_kernel<32><<<blocks_for(a.rows, kThreads / 32), kThreads, 0, stream.native()>>>(
      data, rows, nullptr, a.rows, references);
  check_cuda(cudaGetLastError(), "spmv_reference_kernel");
  if (a.long_count == 0) return;
  spmv_reference_kernel<kThreads>
      <<<static_cast<unsigned>(a.long_count), kThreads, 0, stream.native()>>>(
          data, rows, a.long_rows, a.long_count, references);
  check_cuda(cudaGetLastError(), "spmv_reference_kernel");
}

/// To E, rounding once, and back.
template <class E>
struct RoundTo {
  __device__ double operator()(double value) const {
    if constexpr (std::is_same_v<E, __half>) return device::widen(__double2half(value));
    if constexpr (std::is_same_v<E, __nv_bfloat16>) return device::widen(__double2bfloat16(value));
    return device::widen(static_cast<E>(value));
  }
};

/// The worse of two, the first where they are equal.
__device__ WorstElement worse(const WorstElement& a, const WorstElement& b) {
  const bool takes_b = b.index >= 0 && (a.index < 0 || b.share > a.share ||
                                        (b.share == a.share && b.index < a.index));
  return takes_b ? b : a;
}

constexpr int kJudgeBlocks = 512;

/// Grid-stride over the elements; `worst` [gridDim.x] takes each block's.
template <class E>
__global__ void __launch_bounds__(kThreads)
    judge_kernel(bool exact, ErrorModel model, const E* computed, const Reference* references,
                 std::int64_t count, WorstElement* worst) {
  __shared__ __align__(16) unsigned char raw[kThreads * sizeof(WorstElement)];
  auto* found = reinterpret_cast<WorstElement*>(raw);
  WorstElement mine;
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < count;
       i += gridDim.x * std::int64_t{kThreads}) {
    const double value = device::widen(computed[i]);
    const double share = exact ? misses_exact(value, references[i], RoundTo<E>())
                               : share_of_bound(model, value, references[i], RoundTo<E>());
    if (share > mine.share) mine = {i, share};
  }
  found[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();  // the other half's element has been written
    if (static_cast<int>(threadIdx.x) < half)
      found[threadIdx.x] = worse(found[threadIdx.x], found[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) worst[blockIdx.x] = found[0];
}

template <class E>
void launch_judge(const Stream& stream, const SpmvData& data, const ErrorModel& model,
                  const void* computed, std::span<const Reference> references, int blocks,
                  WorstElement* worst) {
  judge_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream.native()>>>(
      data.fill == Fill::integers, model, static_cast<const E*>(computed), references.data(),
      std::ssize(references), worst);
  check_cuda(cudaGetLastError(), "judge_kernel");
}

/// Grid-stride over the slots.
template <class E>
__global__ void __launch_bounds__(kThreads)
    place_kernel(const E* values, const std::int32_t* sources, std::int64_t slots, E* target) {
  for (std::int64_t s = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; s < slots;
       s += gridDim.x * std::int64_t{kThreads})
    target[s] = sources[s] < 0 ? E(0) : values[sources[s]];
}

template <class E>
void launch_place(const Stream& stream, const void* values, std::span<const std::int32_t> sources,
                  void* target) {
  const unsigned blocks = std::min(blocks_for(std::ssize(sources), kThreads), 1U << 14);
  place_kernel<<<blocks, kThreads, 0, stream.native()>>>(
      static_cast<const E*>(values), sources.data(), std::ssize(sources), static_cast<E*>(target));
  check_cuda(cudaGetLastError(), "place_kernel");
}

}  // namespace

void references(const Stream& stream, const SpmvData& data, const SpmvRows& a,
                Reference* references) {
  if (a.rows == 0) return;
  const DeviceGuard device(stream.device().index());
  if (a.offsets.wide()) return launch_references<std::int64_t>(stream, data, a, references);
  launch_references<std::int32_t>(stream, data, a, references);
}

WorstElement worst_element(const Stream& stream, const SpmvData& data, const ErrorModel& model,
                           const void* computed, std::span<const Reference> references) {
  if (references.empty()) return {};
  const DeviceGuard device(stream.device().index());
  const int blocks = static_cast<int>(
      std::min(blocks_for(std::ssize(references), kThreads), unsigned{kJudgeBlocks}));
  const Buffer<WorstElement> found(stream, blocks);
  switch (data.dtype) {
    case DType::f64:
      launch_judge<double>(stream, data, model, computed, references, blocks, found.data());
      break;
    case DType::f32:
      launch_judge<float>(stream, data, model, computed, references, blocks, found.data());
      break;
    case DType::f16:
      launch_judge<__half>(stream, data, model, computed, references, blocks, found.data());
      break;
    default:
      launch_judge<__nv_bfloat16>(stream, data, model, computed, references, blocks, found.data());
  }
  WorstElement worst;
  for (const WorstElement& each : found.to_host()) {
    if (each.share > worst.share || (each.share == worst.share && each.index < worst.index))
      worst = each;
  }
  return worst;
}

Reference fetch(const Stream& stream, const Reference* reference) {
  const DeviceGuard device(stream.device().index());
  Reference value;
  check_cuda(
      cudaMemcpyAsync(&value, reference, sizeof value, cudaMemcpyDeviceToHost, stream.native()),
      "cudaMemcpyAsync");
  stream.synchronize();
  return value;
}

void place_values(const Stream& stream, DType dtype, const void* values,
                  std::span<const std::int32_t> sources, void* target) {
  if (sources.empty()) return;
  const DeviceGuard device(stream.device().index());
  switch (size_of(dtype)) {
    case 8:
      return launch_place<std::uint64_t>(stream, values, sources, target);
    case 4:
      return launch_place<std::uint32_t>(stream, values, sources, target);
    default:
      return launch_place<std::uint16_t>(stream, values, sources, target);
  }
}

}  // namespace lanky::bench::gpu
