// The number by which plans tell that they add up in the same order.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/version.hpp>
#include <string_view>

#include "core/machine.hpp"
#include "core/text.hpp"

namespace lanky {

/// 64-bit FNV-1a over texts and numbers, each with a mark of its end.
class Fingerprint {
 public:
  /// Plans of other versions, on other models of devices, or by code for other ones, have other
  /// fingerprints.
  explicit Fingerprint(Device device) {
    const CodeTarget code = machine_of(device).code;
    add(kVersion, device.is_cuda() ? "cuda" : "cpu", device.properties().name, code.capability,
        code.warp_groups);
  }

  template <class... Parts>
  void add(const Parts&... parts) {
    (add_bytes(concat(parts)), ...);
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  void add_bytes(std::string_view text) {
    constexpr std::uint64_t kPrime = 0x100000001b3;
    for (const char c : text)
      value_ = (value_ ^ static_cast<unsigned char>(c)) * kPrime;
    value_ = (value_ ^ 0x100) * kPrime;
  }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace lanky
