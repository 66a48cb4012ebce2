// The device that a program's user names.
#pragma once

#include <cstdio>
#include <lanky/device.hpp>
#include <string>

namespace lanky::examples {

/// The device of that name, the best for "", with a warning where that is not the GPU that is
/// there. Throws what Device::parse() throws.
inline Device device_of(const std::string& name) {
  if (!name.empty()) return Device::parse(name);
  const Device best = Device::best();
  if (!best.is_cuda() && Device::cuda_count() > 0)
    std::fprintf(stderr, "warning: no GPU is used: %s\n", Device::cuda_absence().c_str());
  return best;
}

}  // namespace lanky::examples
