// The processor that a decision is made for, as a value: what is read from the device, and rates
// that no device tells, from a table by chip. No policy, launch, model or test holds another number
// of a card.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <span>
#include <string_view>

#include "core/host_device.hpp"

namespace lanky {

/// What the code that runs on a GPU was compiled for, which the device's number does not tell: a
/// driver translates PTX for compute_80 to an H100's instructions.
struct CodeTarget {
  int capability = 0;        // 80 for compute_80; 0 for a CPU
  bool warp_groups = false;  // for sm_90a, whose code runs on sm_90 alone

  friend bool operator==(const CodeTarget&, const CodeTarget&) = default;
};

/// Code that was compiled for just this device.
constexpr CodeTarget code_for(int capability) noexcept {
  return {capability, capability == 90};
}

struct Machine {
  std::string_view chip{};  // "H200"; "" where the table has no row and rates are estimates
  bool measured = false;    // read_bandwidth was measured on this chip, not derived
  int capability = 0;       // of the device: 90 for sm_90; 0 for a CPU
  CodeTarget code{};        // what kernels are picked by
  int multiprocessors = 0;  // SMs, or threads of a CPU
  int vector_bits = 0;      // widest registers of a CPU; 0 for a GPU
  std::int64_t shared_bytes_per_block = 0;           // the most that a block can opt in to
  std::int64_t shared_bytes_per_multiprocessor = 0;  // of all its blocks
  std::int64_t first_cache_bytes = 0;   // L1 and shared memory of an SM; L1 data cache of a core
  std::int64_t second_cache_bytes = 0;  // L2
  std::int64_t last_cache_bytes = 0;    // L2 of a GPU, L3 of a CPU
  double clock = 0;                     // Hz
  double bandwidth = 0;                 // of memory, bytes per second, nominal
  double read_bandwidth = 0;            // of memory, bytes per second, reached by reading 2 GiB
  double peak_f64 = 0;                  // flops per second outside of tensor cores, nominal
  double peak_f32 = 0;
  double tensor_f64 = 0;  // flops per second of tensor cores without sparsity, nominal
  double tensor_tf32 = 0;
  double tensor_half = 0;  // f16 and bf16 with sums in float
  double tensor_int8 = 0;  // operations per second on bytes with sums of 32 bits

  /// Threads that a multiprocessor holds at once: fewer on chips that are not for data centers.
  constexpr int threads_per_multiprocessor() const noexcept {
    return capability == 86 || capability == 89 || capability == 120 ? 1536 : 2048;
  }
  /// From a GPU's L2, bytes per second: 32 a cycle of each multiprocessor.
  constexpr double l2_bandwidth() const noexcept { return 32 * clock * multiprocessors; }
  /// Instructions of lanes per second that a GPU issues: of four warps a cycle and multiprocessor.
  constexpr double issue_rate() const noexcept { return 128 * clock * multiprocessors; }
  /// Copies by tensor maps into shared memory, with barriers that count bytes.
  constexpr bool has_bulk_copies() const noexcept { return code.capability >= 90; }
  /// Kernels that start before the one ahead of them has ended, and wait for it.
  constexpr bool waits_for_kernels() const noexcept { return code.capability >= 90; }
  /// Products of warp groups (wgmma) and registers that warps hand to each other (setmaxnreg).
  constexpr bool has_warp_groups() const noexcept { return code.warp_groups; }
};

/// The shared memory of a block that kernels are made for, in code for a capability: what blocks of
/// such a device can have. Code for sm_80 runs on sm_86 and sm_89 too, where they have less:
/// kernels that need more are no candidates there.
LANKY_HOST_DEVICE constexpr std::int64_t shared_bytes_for(int capability) noexcept {
  const bool data_center = capability == 90 || capability == 100 || capability == 103;
  return (data_center ? 227 : capability == 80 || capability == 87 ? 163 : 99) << 10;
}

/// The shared memory that CUDA takes of each block's for itself.
inline constexpr std::int64_t kSharedBytesOfSystem = 1 << 10;

/// The machine of a device. A GPU's is read once. Throws Error(no_device) where no code of this
/// lanky runs on it.
const Machine& machine_of(Device device);

/// The machine of a GPU with these properties that runs such code: rates are the table's row for
/// its name, or follow from its clocks and its bus.
Machine machine_of(const DeviceProperties& gpu, CodeTarget code);

/// All rows of the table, as whole machines.
std::span<const Machine> known_machines() noexcept;

/// The row of a chip by its name in the table; throws Error(invalid_argument) with the names.
const Machine& known_machine(std::string_view chip);

}  // namespace lanky
