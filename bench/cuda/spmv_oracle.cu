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
  std::int64_t rows;
  std::int64_t cols;
};

/// kWidth neighbouring threads sum the entries of one row, each every kWidth-th; the first of them
/// adds their sums in order. They take any row but the long ones, a block one of `list` [count]. A
/// y of the grid is a column of X, of `cols` elements, and of the references, of `rows`; a z is a
/// component of an element. sums: [kThreads] in shared memory.
template <int kWidth, class Offset>
__global__ void __launch_bounds__(kThreads)
    spmv_reference_kernel(SpmvData data, Rows<Offset> a, const std::int64_t* list,
                          std::int64_t count, Reference* references) {
  const std::int64_t column_of_x = blockIdx.y * a.cols;
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
      data.add_term(sum, e, column_of_x + a.columns[e], static_cast<int>(blockIdx.z));
  }
  sums[threadIdx.x] = sum;
  __syncthreads();  // before the sums of other threads are read
  if (skipped || member != 0) return;
  const auto members = static_cast<int>(min(end - begin, std::int64_t{kWidth}));
  for (int other = 1; other < members; ++other)
    sum.add(sums[threadIdx.x + other]);
  references[(blockIdx.y * a.rows + row) * gridDim.z + blockIdx.z] = sum.result();
}

template <class Offset>
void launch_references(const Stream& stream, const SpmvData& data, const SpmvRows& a,
                       unsigned columns, Reference* references) {
  const Rows<Offset> rows{static_cast<const Offset*>(a.offsets.data()), a.columns, a.rows, a.cols};
  // Few threads for the short rows that most matrices have, where many columns make it worth while.
  constexpr int kFew = 8;
  const int width = columns == 1 ? 32 : kFew;
  const auto parts = static_cast<unsigned>(components(data.dtype));
  const dim3 grid(blocks_for(a.rows, kThreads / width), columns, parts);
  const auto kernel =
      columns == 1 ? spmv_reference_kernel<32, Offset> : spmv_reference_kernel<kFew, Offset>;
  kernel<<<grid, kThreads, 0, stream.native()>>>(data, rows, nullptr, a.rows, references);
  check_cuda(cudaGetLastError(), "spmv_reference_kernel");
  if (a.long_count == 0) return;
  const dim3 long_grid(static_cast<unsigned>(a.long_count), columns, parts);
  spmv_reference_kernel<kThreads><<<long_grid, kThreads, 0, stream.native()>>>(
      data, rows, a.long_rows, a.long_count, references);
  check_cuda(cudaGetLastError(), "spmv_reference_kernel");
}

/// A thread an entry of [nnz], which looks for the entry's row; a y of the grid is a component. X
/// and Y have so many columns.
template <class Offset>
__global__ void __launch_bounds__(kThreads)
    sddmm_reference_kernel(SpmvData data, Rows<Offset> a, std::int64_t nnz, std::int64_t columns,
                           Reference* references) {
  const std::int64_t e = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
  if (e >= nnz) return;
  std::int64_t row = 0;  // offsets[row] <= e < offsets[end]
  for (std::int64_t end = a.rows; end - row > 1;) {
    const std::int64_t middle = row + (end - row) / 2;
    (a.offsets[middle] <= e ? row : end) = middle;
  }
  InnerProduct sum;
  for (std::int64_t c = 0; c < columns; ++c)
    data.add_term(sum, row + c * a.rows, a.columns[e] + c * a.cols, static_cast<int>(blockIdx.y));
  references[e * gridDim.y + blockIdx.y] = sum.result();
}

template <class Offset>
void launch_sampled(const Stream& stream, const SpmvData& data, const SpmvRows& a, std::int64_t nnz,
                    std::int64_t columns, Reference* references) {
  const dim3 grid(blocks_for(nnz, kThreads), static_cast<unsigned>(components(data.dtype)));
  sddmm_reference_kernel<<<grid, kThreads, 0, stream.native()>>>(
      data, Rows<Offset>{static_cast<const Offset*>(a.offsets.data()), a.columns, a.rows, a.cols},
      nnz, columns, references);
  check_cuda(cudaGetLastError(), "sddmm_reference_kernel");
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

/// The worse of two elements, the first where they are equal, and the digest of both parts.
__host__ __device__ Findings joined(const Findings& a, const Findings& b) {
  const bool takes_b =
      b.worst.index >= 0 && (a.worst.index < 0 || b.worst.share > a.worst.share ||
                             (b.worst.share == a.worst.share && b.worst.index < a.worst.index));
  return {takes_b ? b.worst : a.worst, a.digest + b.digest};
}

constexpr int kJudgeBlocks = 512;

/// Grid-stride over the elements; `findings` [gridDim.x] takes each block's.
template <class E>
__global__ void __launch_bounds__(kThreads)
    judge_kernel(bool exact, ErrorModel model, SpmvResult result, const Reference* references,
                 std::int64_t count, Findings* findings) {
  __shared__ __align__(16) unsigned char raw[kThreads * sizeof(Findings)];
  auto* found = reinterpret_cast<Findings*>(raw);
  const E* computed = static_cast<const E*>(result.data);
  Findings mine;
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < count;
       i += gridDim.x * std::int64_t{kThreads}) {
    const E element = computed[result.offset(i)];
    const double value = device::widen(element);
    const double share = exact ? misses_exact(value, references[i], RoundTo<E>())
                               : share_of_bound(model, value, references[i], RoundTo<E>());
    if (share > mine.worst.share) mine.worst = {i, share};
    mine.digest += digest_term(i, element);
  }
  found[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();  // the other half's element has been written
    if (static_cast<int>(threadIdx.x) < half)
      found[threadIdx.x] = joined(found[threadIdx.x], found[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) findings[blockIdx.x] = found[0];
}

template <class E>
void launch_judge(const Stream& stream, const SpmvData& data, const ErrorModel& model,
                  const SpmvResult& result, const Reference* references,
                  Buffer<Findings>& findings) {
  judge_kernel<E><<<static_cast<unsigned>(findings.size()), kThreads, 0, stream.native()>>>(
      data.fill == Fill::integers, model, result, references, result.size(), findings.data());
  check_cuda(cudaGetLastError(), "judge_kernel");
}

/// Grid-stride over the slots.
template <class E>
__global__ void __launch_bounds__(kThreads)
    place_kernel(const E* values, const std::int32_t* sources, std::int64_t slots, E* target) {
  for (std::int64_t s = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; s < slots;
       s += gridDim.x * std::int64_t{kThreads})
    target[s] = sources[s] < 0 ? E{} : values[sources[s]];
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

void references(const Stream& stream, const SpmvData& data, const SpmvRows& a, std::int64_t columns,
                Reference* references) {
  if (a.rows == 0 || columns == 0) return;
  const DeviceGuard device(stream.device().index());
  const auto count = static_cast<unsigned>(columns);
  if (a.offsets.wide()) return launch_references<std::int64_t>(stream, data, a, count, references);
  launch_references<std::int32_t>(stream, data, a, count, references);
}

void sampled_references(const Stream& stream, const SpmvData& data, const SpmvRows& a,
                        std::int64_t nnz, std::int64_t columns, Reference* references) {
  if (nnz == 0) return;
  const DeviceGuard device(stream.device().index());
  if (a.offsets.wide())
    return launch_sampled<std::int64_t>(stream, data, a, nnz, columns, references);
  launch_sampled<std::int32_t>(stream, data, a, nnz, columns, references);
}

Findings judge(const Stream& stream, const SpmvData& data, const ErrorModel& model,
               const SpmvResult& result, const Reference* references) {
  if (result.size() == 0) return {};
  const DeviceGuard device(stream.device().index());
  const unsigned blocks = std::min(blocks_for(result.size(), kThreads), unsigned{kJudgeBlocks});
  Buffer<Findings> found(stream, blocks);
  switch (component_type(data.dtype)) {
    case DType::f64:
      launch_judge<double>(stream, data, model, result, references, found);
      break;
    case DType::f32:
      launch_judge<float>(stream, data, model, result, references, found);
      break;
    case DType::f16:
      launch_judge<__half>(stream, data, model, result, references, found);
      break;
    default:
      launch_judge<__nv_bfloat16>(stream, data, model, result, references, found);
  }
  Findings all;
  for (const Findings& each : found.to_host())
    all = joined(all, each);
  return all;
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
    case 16:
      return launch_place<uint4>(stream, values, sources, target);
    case 8:
      return launch_place<std::uint64_t>(stream, values, sources, target);
    case 4:
      return launch_place<std::uint32_t>(stream, values, sources, target);
    default:
      return launch_place<std::uint16_t>(stream, values, sources, target);
  }
}

}  // namespace lanky::bench::gpu
