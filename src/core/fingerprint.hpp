// The number by which plans tell that they add up in the same order.
#pragma once

#include <concepts>
#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/version.hpp>
#include <string_view>

#include "core/machine.hpp"

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
    (add_part(parts), ...);
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  void add_part(std::string_view text) {
    for (const char c : text)
      add_byte(static_cast<unsigned char>(c));
    add_byte(kEndOfText);
  }
  /// Eight bytes of any type, least significant first.
  template <std::integral Number>
  void add_part(Number number) {
    const auto bits = static_cast<std::uint64_t>(number);
    for (int shift = 0; shift < 64; shift += 8)
      add_byte(bits >> shift & 0xff);
  }
  void add_byte(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  static constexpr std::uint64_t kEndOfText = 0x100;  // no byte of a text

  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace lanky
