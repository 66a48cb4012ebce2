// The device that --device names.
#pragma once

#include <lanky/device.hpp>
#include <string>

namespace lanky::cli {

/// The device of that name, the best for "". Throws what Device::parse() throws.
inline Device device_of(const std::string& name) {
  return name.empty() ? Device::best() : Device::parse(name);
}

/// Why the best device is the CPU although there is a GPU; "" where it is not, or was not asked
/// for.
inline std::string gpu_absence(const std::string& name) {
  return name.empty() && Device::cuda_count() > 0 ? Device::cuda_absence() : "";
}

}  // namespace lanky::cli
