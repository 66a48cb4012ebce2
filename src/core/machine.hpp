// The processor that a decision is made for, as a value: what is read from the device, and rates
// that no device tells, from a table by chip. No policy, launch, model or test holds another number
// of a card.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <span>
#include <string_view>

namespace lanky {

struct Machine {
  std::string_view chip{};  // "H200"; "" where the table has no row and rates are estimates
  bool measured = false;    // read_bandwidth was measured on this chip, not derived
  int capability = 0;       // 90 for sm_90; 0 for a CPU
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

  /// Threads that a multiprocessor holds at once: fewer on chips that are not for data centers.
  constexpr int threads_per_multiprocessor() const noexcept {
    return capability == 86 || capability == 89 || capability == 120 ? 1536 : 2048;
  }
  /// From a GPU's L2, bytes per second: 32 a cycle of each multiprocessor.
  constexpr double l2_bandwidth() const noexcept { return 32 * clock * multiprocessors; }
  /// Copies by tensor maps into shared memory, with barriers that count bytes.
  constexpr bool has_bulk_copies() const noexcept { return capability >= 90; }
  /// Products of warp groups (wgmma) and registers that warps hand to each other (setmaxnreg):
  /// code for sm_90a runs on that alone.
  constexpr bool has_warp_groups() const noexcept { return capability == 90; }
};

/// The shared memory of a block, at most, where bulk copies and warp groups are: kernels for these
/// are made for so much.
inline constexpr std::int64_t kSharedBytesOfHopper = 227 << 10;

/// The shared memory that CUDA takes of each block's for itself.
inline constexpr std::int64_t kSharedBytesOfSystem = 1 << 10;

/// The machine of a device. A GPU's is read once.
const Machine& machine_of(Device device);

/// The machine of a GPU with these properties: rates are the table's row for its name, or follow
/// from its clocks and its bus.
Machine machine_of(const DeviceProperties& gpu);

/// All rows of the table, as whole machines.
std::span<const Machine> known_machines() noexcept;

/// The row of a chip by its name in the table; throws Error(invalid_argument) with the names.
const Machine& known_machine(std::string_view chip);

}  // namespace lanky
