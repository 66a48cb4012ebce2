// Which processor computes: the CPU, or one of the CUDA GPUs.
#pragma once

#include <cstddef>
#include <lanky/export.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lanky::inline v1 {

enum class DeviceKind { cpu, cuda };  // the CPU, or an NVIDIA GPU

struct DeviceProperties {
  std::string name;                        // "NVIDIA H200", or the processor's name
  int multiprocessors = 0;                 // SMs; threads used on a CPU
  int compute_capability = 0;              // 90 for sm_90; 0 on a CPU
  std::size_t memory_bytes = 0;            // device memory, or main memory
  std::size_t l2_bytes = 0;                // last shared cache of a GPU; 0 on a CPU
  std::size_t shared_bytes_per_block = 0;  // largest shared memory that one block can opt in to
  std::size_t shared_bytes_per_multiprocessor = 0;  // of all blocks of an SM
  double clock = 0;                                 // Hz, of SMs at most; 0 on a CPU
  double memory_bandwidth = 0;  // bytes per second that memory clock and bus allow; 0 on a CPU
};

/// A value that names a device; copying it costs nothing and holds no resource.
class LANKY_EXPORT Device {
 public:
  static Device cpu() noexcept { return Device(DeviceKind::cpu, 0); }
  /// CUDA device `index`; throws Error(no_device) that says how many there are, or why none. A
  /// stream on a device that does not run this lanky's code throws Error(no_device), too.
  static Device cuda(int index = 0);
  /// cuda:0 where it is there and runs this lanky's code, else the CPU; cuda_absence() tells why.
  static Device best();
  /// The CPU, then every CUDA device.
  static std::vector<Device> all();
  /// "cpu", "cuda" or "cuda:1"; throws Error(invalid_argument) for other text.
  static Device parse(std::string_view text);

  /// Number of CUDA devices; 0 in a build without CUDA and on a machine without a driver.
  static int cuda_count() noexcept;
  /// Why best() is the CPU: no device ("built without CUDA", "no CUDA-capable device is detected"),
  /// or one that does not run this lanky's code ("this lanky has code for sm_90a; cuda:0, NVIDIA
  /// A100-SXM4-80GB, is sm_80: ..."); "" where best() is cuda:0. The first call runs a kernel there
  /// that shows it. lanky prints nothing: a program warns with this text.
  static std::string cuda_absence();

  DeviceKind kind() const noexcept { return kind_; }
  bool is_cuda() const noexcept { return kind_ == DeviceKind::cuda; }
  int index() const noexcept { return index_; }
  /// "cpu" or "cuda:0".
  std::string name() const;
  DeviceProperties properties() const;

  friend bool operator==(const Device&, const Device&) = default;

 private:
  Device(DeviceKind kind, int index) noexcept : kind_(kind), index_(index) {}

  DeviceKind kind_;
  int index_;
};

}  // namespace lanky::inline v1
