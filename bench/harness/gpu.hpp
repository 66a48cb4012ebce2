// Measuring on a GPU beyond lanky's own API, without CUDA's headers. Implemented in bench/cuda;
// its absent.cpp throws Error(no_device) in builds without CUDA.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/cases/dense_data.hpp"
#include "bench/cases/operand.hpp"
#include "bench/cases/random.hpp"
#include "bench/cases/spmv_data.hpp"
#include "bench/harness/judgement.hpp"
#include "bench/harness/memory_peak.hpp"

namespace lanky::bench::gpu {

/// The SM clock now, counted by one thread against the GPU's wall clock for 0.1 ms.
double sm_clock_mhz(const Stream& stream);

/// `read` bytes of `source` are read, `write` bytes of `target` written, both rounded up to 16.
/// seen: set to 1 where a thread reads a 16-byte word of 0xa5 among zeros (a test's sentinel).
struct Traffic {
  const void* source = nullptr;
  std::int64_t read = 0;
  void* target = nullptr;
  std::int64_t write = 0;
  std::uint32_t* seen = nullptr;
};

/// Loads that one thread has in flight: variants of the streaming kernel, the best depends on size.
inline constexpr int kStreamingUnrolls[] = {1, 2, 4, 8};

/// Moves those bytes and does nothing else.
void stream_bytes(const Stream& stream, const Traffic& traffic, int unroll);

/// fill_array(), gather(), count_nan() of operand.hpp, and references() of oracle.hpp.
void fill(const Stream& stream, const StoredArray& array, Fill fill, std::uint64_t seed);
std::vector<double> gather(const Stream& stream, const StoredArray& array,
                           std::span<const std::int64_t> offsets);
std::int64_t count_nan(const Stream& stream, const StoredArray& array, bool lower);
std::vector<Reference> references(const Stream& stream, const DenseData& data,
                                  std::span<const Place> places);

/// What the sparse oracles are made of: references [columns][rows][components] of a product, or
/// [nnz][components] of an SDDMM; what is found in a result of which they are the references; one
/// reference.
void references(const Stream& stream, const SpmvData& data, const SpmvRows& a, std::int64_t columns,
                Reference* references);
void sampled_references(const Stream& stream, const SpmvData& data, const SpmvRows& a,
                        std::int64_t nnz, std::int64_t columns, Reference* references);
/// The element that is wrong or uses most of its bound by the model, the first of equal ones.
struct WorstElement {
  std::int64_t index = -1;  // -1 where there is none
  double share = -1;        // judgement.hpp's
};
struct Findings {
  WorstElement worst;
  std::uint64_t digest = 0;  // of all elements
};
Findings judge(const Stream& stream, const SpmvData& data, const ErrorModel& model,
               const SpmvResult& result, const Reference* references);
Reference fetch(const Stream& stream, const Reference* reference);

/// target[s] = values[sources[s]], or 0 where that is -1.
void place_values(const Stream& stream, DType dtype, const void* values,
                  std::span<const std::int32_t> sources, void* target);

void zero(const Stream& stream, void* data, std::int64_t bytes);
/// Within the memory of the device.
void copy(const Stream& stream, void* target, const void* source, std::int64_t bytes);

/// Multiply-adds per second, times two, that the SMs reach on registers alone: of tensor cores
/// (mma.sync) or CUDA cores, whichever is faster in this arithmetic. tf32x3: a third of tf32's.
double peak_flops(const Stream& stream, const GemmType& type);
/// The same of CUDA cores alone, in IEEE arithmetic; f64 or f32.
double cuda_core_flops(const Stream& stream, DType dtype);

/// Memory of cudaMallocAsync, which lanky's is: begins to watch how much is in use; the most that
/// was, beyond what is in use now. Both wait for the stream.
void watch_memory(const Stream& stream);
std::int64_t transient_bytes(const Stream& stream);

/// What the driver says of the memory: see memory_peak.hpp.
MemoryPeak memory_peak(Device device);

/// Version of the CUDA runtime ("13.0"), and of the driver.
std::string runtime_version();
std::string driver_version();

}  // namespace lanky::bench::gpu
