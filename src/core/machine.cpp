#include "core/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <lanky/error.hpp>
#include <map>
#include <mutex>
#include <string>

#include "core/runtime.hpp"
#include "core/text.hpp"

namespace lanky {

namespace {

constexpr std::int64_t kKib = 1 << 10;
constexpr std::int64_t kMib = 1 << 20;

// Memory reaches this share of the nominal bandwidth on chips that nobody measured: the H100's
// measured share, the lower of the two that are known (.955; H200 .971).
constexpr double kReached = 0.955;

/// Peaks, and the rates of chips that were not measured, are NVIDIA's data sheets' (SXM modules
/// where there are several, boost clock, without sparsity).
constexpr Machine kMachines[] = {
    // read_bandwidth: read_floor_tbs of bench/results/h200/grid_*.raw.jsonl.xz.
    {.chip = "H200",
     .measured = true,
     .capability = 90,
     .code = code_for(90),
     .multiprocessors = 132,
     .shared_bytes_per_block = shared_bytes_for(90),
     .shared_bytes_per_multiprocessor = 228 * kKib,
     .first_cache_bytes = 256 * kKib,
     .second_cache_bytes = 60 * kMib,
     .last_cache_bytes = 60 * kMib,
     .clock = 1.98e9,
     .bandwidth = 4.8e12,
     .read_bandwidth = 4.66e12,
     .peak_f64 = 34e12,
     .peak_f32 = 67e12,
     .tensor_f64 = 67e12,
     .tensor_tf32 = 494e12,
     .tensor_half = 989e12,
     .tensor_int8 = 1.979e15},
    // read_bandwidth: read_floor_tbs of bench/results/h100/abft.jsonl.
    {.chip = "H100",
     .measured = true,
     .capability = 90,
     .code = code_for(90),
     .multiprocessors = 132,
     .shared_bytes_per_block = shared_bytes_for(90),
     .shared_bytes_per_multiprocessor = 228 * kKib,
     .first_cache_bytes = 256 * kKib,
     .second_cache_bytes = 50 * kMib,
     .last_cache_bytes = 50 * kMib,
     .clock = 1.98e9,
     .bandwidth = 3.35e12,
     .read_bandwidth = 3.2e12,
     .peak_f64 = 34e12,
     .peak_f32 = 67e12,
     .tensor_f64 = 67e12,
     .tensor_tf32 = 494e12,
     .tensor_half = 989e12,
     .tensor_int8 = 1.979e15},
    {.chip = "A100",
     .capability = 80,
     .code = code_for(80),
     .multiprocessors = 108,
     .shared_bytes_per_block = 163 * kKib,
     .shared_bytes_per_multiprocessor = 164 * kKib,
     .first_cache_bytes = 192 * kKib,
     .second_cache_bytes = 40 * kMib,
     .last_cache_bytes = 40 * kMib,
     .clock = 1.41e9,
     .bandwidth = 2.039e12,
     .read_bandwidth = kReached * 2.039e12,
     .peak_f64 = 9.7e12,
     .peak_f32 = 19.5e12,
     .tensor_f64 = 19.5e12,
     .tensor_tf32 = 156e12,
     .tensor_half = 312e12,
     .tensor_int8 = 624e12},
    {.chip = "L40S",
     .capability = 89,
     .code = code_for(89),
     .multiprocessors = 142,
     .shared_bytes_per_block = 99 * kKib,
     .shared_bytes_per_multiprocessor = 100 * kKib,
     .first_cache_bytes = 128 * kKib,
     .second_cache_bytes = 96 * kMib,
     .last_cache_bytes = 96 * kMib,
     .clock = 2.52e9,
     .bandwidth = 864e9,
     .read_bandwidth = kReached * 864e9,
     .peak_f64 = 1.43e12,
     .peak_f32 = 91.6e12,
     .tensor_f64 = 0,
     .tensor_tf32 = 183e12,
     .tensor_half = 362e12,
     .tensor_int8 = 733e12},
    {.chip = "RTX 4090",
     .capability = 89,
     .code = code_for(89),
     .multiprocessors = 128,
     .shared_bytes_per_block = 99 * kKib,
     .shared_bytes_per_multiprocessor = 100 * kKib,
     .first_cache_bytes = 128 * kKib,
     .second_cache_bytes = 72 * kMib,
     .last_cache_bytes = 72 * kMib,
     .clock = 2.52e9,
     .bandwidth = 1.008e12,
     .read_bandwidth = kReached * 1.008e12,
     .peak_f64 = 1.29e12,
     .peak_f32 = 82.6e12,
     .tensor_f64 = 0,
     .tensor_tf32 = 82.6e12,
     .tensor_half = 165e12,
     .tensor_int8 = 660.6e12},
    {.chip = "RTX 5090",
     .capability = 120,
     .code = code_for(120),
     .multiprocessors = 170,
     .shared_bytes_per_block = 99 * kKib,
     .shared_bytes_per_multiprocessor = 100 * kKib,
     .first_cache_bytes = 128 * kKib,
     .second_cache_bytes = 96 * kMib,
     .last_cache_bytes = 96 * kMib,
     .clock = 2.41e9,
     .bandwidth = 1.792e12,
     .read_bandwidth = kReached * 1.792e12,
     .peak_f64 = 1.64e12,
     .peak_f32 = 104.8e12,
     .tensor_f64 = 0,
     .tensor_tf32 = 104.8e12,
     .tensor_half = 209.5e12,
     .tensor_int8 = 838e12},
    {.chip = "B200",
     .capability = 100,
     .code = code_for(100),
     .multiprocessors = 148,
     .shared_bytes_per_block = 227 * kKib,
     .shared_bytes_per_multiprocessor = 228 * kKib,
     .first_cache_bytes = 256 * kKib,
     .second_cache_bytes = 126 * kMib,
     .last_cache_bytes = 126 * kMib,
     .clock = 1.965e9,
     .bandwidth = 8e12,
     .read_bandwidth = kReached * 8e12,
     .peak_f64 = 37e12,
     .peak_f32 = 75e12,
     .tensor_f64 = 37e12,
     .tensor_tf32 = 1.1e15,
     .tensor_half = 2.25e15,
     .tensor_int8 = 4.5e15}};

/// The row whose chip stands in a device's name as a word: "NVIDIA H100 80GB HBM3" is an H100,
/// "NVIDIA H100 NVL" too; null where there is none.
const Machine* row_of(std::string_view name) {
  const auto is_edge = [&](std::size_t at) { return at >= name.size() || name[at] == ' '; };
  for (const Machine& machine : kMachines) {
    const std::size_t at = name.find(machine.chip);
    if (at == std::string_view::npos || (at > 0 && name[at - 1] != ' ')) continue;
    if (is_edge(at + machine.chip.size()) || name[at + machine.chip.size()] == '-') return &machine;
  }
  return nullptr;
}

/// Lanes of CUDA cores of a multiprocessor that multiply floats, and doubles.
struct Lanes {
  int f32;
  int f64;
};

/// Data-center chips (sm_80, sm_90, sm_100) have half as many lanes for doubles as for floats.
Lanes lanes_of(int capability) {
  const bool data_center = capability == 80 || capability == 90 || capability == 100;
  if (!data_center) return {128, 2};
  return capability == 80 ? Lanes{64, 32} : Lanes{128, 64};
}

/// Rates of a GPU that has no row, from what it tells of itself. Tensor cores are taken to be as
/// fast as an A100's are beside its CUDA cores.
void estimate_rates(Machine& machine, const DeviceProperties& gpu) {
  const Lanes lanes = lanes_of(gpu.compute_capability);
  const double cycles = machine.clock * machine.multiprocessors;
  machine.bandwidth = gpu.memory_bandwidth;
  machine.peak_f32 = 2.0 * lanes.f32 * cycles;
  machine.peak_f64 = 2.0 * lanes.f64 * cycles;
  machine.tensor_f64 = lanes.f64 > 2 ? 2 * machine.peak_f64 : 0;
  machine.tensor_tf32 = lanes.f64 > 2 ? 8 * machine.peak_f32 : machine.peak_f32;
  machine.tensor_half = 2 * machine.tensor_tf32;
  // Other chips than those for data centers have half of their rate for halves with sums in float.
  machine.tensor_int8 = (lanes.f64 > 2 ? 2 : 4) * machine.tensor_half;
}

/// Rates of a sibling of the row's chip (an H100 on PCIe, an A100 of 40 GB): with fewer
/// multiprocessors, or with another memory.
void scale_rates(Machine& machine, const Machine& row, const DeviceProperties& gpu) {
  constexpr double kNoise = 0.1;  // data sheets round, and the bus tells a little more
  const double memory = gpu.memory_bandwidth / row.bandwidth;
  if (memory > 0 && std::abs(memory - 1) > kNoise) {
    machine.measured = false;
    machine.bandwidth = gpu.memory_bandwidth;
    machine.read_bandwidth = row.read_bandwidth * memory;
  }
  if (gpu.multiprocessors == row.multiprocessors) return;
  machine.measured = false;
  const double parts = 1.0 * gpu.multiprocessors / row.multiprocessors;
  for (double* rate : {&machine.peak_f64, &machine.peak_f32, &machine.tensor_f64,
                       &machine.tensor_tf32, &machine.tensor_half, &machine.tensor_int8})
    *rate *= parts;
}

/// Bytes of a cache that sysconf() knows of; 0 where it does not.
std::int64_t cache_bytes(int name) {
  return std::max<std::int64_t>(sysconf(name), 0);
}

int vector_bits() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 512;
  if (__builtin_cpu_supports("avx2")) return 256;
#endif
  return 128;
}

/// A CPU tells nothing but its caches: a core is taken to read 10 GB/s, and to do two vectors
/// of fused multiply-adds a cycle at 2 GHz.
Machine machine_of_cpu() {
  const DeviceProperties properties = Device::cpu().properties();
  Machine machine{.multiprocessors = properties.multiprocessors, .vector_bits = vector_bits()};
  const double cores = machine.multiprocessors;
  machine.first_cache_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE);
  machine.second_cache_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
  machine.last_cache_bytes =
      std::max(cache_bytes(_SC_LEVEL3_CACHE_SIZE), machine.second_cache_bytes);
  machine.clock = 2e9;
  machine.bandwidth = 10e9 * cores;
  machine.read_bandwidth = machine.bandwidth;
  machine.peak_f64 = 16e9 * cores;
  machine.peak_f32 = 32e9 * cores;
  return machine;
}

}  // namespace

std::span<const Machine> known_machines() noexcept {
  return kMachines;
}

const Machine& known_machine(std::string_view chip) {
  std::string names;
  for (const Machine& machine : kMachines) {
    if (machine.chip == chip) return machine;
    names += concat(names.empty() ? "" : ", ", machine.chip);
  }
  throw Error(ErrorCode::invalid_argument,
              concat("unknown chip \"", chip, "\"; known are ", names));
}

Machine machine_of(const DeviceProperties& gpu, CodeTarget code) {
  const Machine* const row = row_of(gpu.name);
  Machine machine = row != nullptr ? *row : Machine();
  machine.capability = gpu.compute_capability;
  machine.code = code;
  machine.multiprocessors = gpu.multiprocessors;
  machine.shared_bytes_per_block = static_cast<std::int64_t>(gpu.shared_bytes_per_block);
  machine.shared_bytes_per_multiprocessor =
      static_cast<std::int64_t>(gpu.shared_bytes_per_multiprocessor);
  machine.second_cache_bytes = static_cast<std::int64_t>(gpu.l2_bytes);
  machine.last_cache_bytes = machine.second_cache_bytes;
  machine.clock = gpu.clock;
  if (row != nullptr) {
    scale_rates(machine, *row, gpu);
    return machine;
  }
  machine.first_cache_bytes = machine.shared_bytes_per_multiprocessor + 28 * kKib;
  estimate_rates(machine, gpu);
  machine.read_bandwidth = kReached * machine.bandwidth;
  return machine;
}

const Machine& machine_of(Device device) {
  static const Machine cpu = machine_of_cpu();
  if (!device.is_cuda()) return cpu;
  static std::mutex mutex;
  static std::map<int, Machine> known;  // by index; an entry never moves
  const std::lock_guard lock(mutex);
  const auto found = known.find(device.index());
  if (found != known.end()) return found->second;
  const CodeTarget code = runtime::code_target(device.index());
  return known.emplace(device.index(), machine_of(device.properties(), code)).first->second;
}

}  // namespace lanky
