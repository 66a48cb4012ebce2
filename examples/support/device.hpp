// The device that a program's user names.
#pragma once

#include <lanky/device.hpp>
#include <string>

namespace lanky::examples {

/// The device of that name, the best for "". Throws what Device::parse() throws.
inline Device device_of(const std::string& name) {
  return name.empty() ? Device::best() : Device::parse(name);
}

}  // namespace lanky::examples
