#include <lanky/dtype.hpp>
#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::inline v1 {

namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  std::size_t size;
  double unit_roundoff;
};

constexpr Entry kEntries[] = {
    {DType::f64, "f64", 8, 0x1p-53}, {DType::f32, "f32", 4, 0x1p-24},
    {DType::f16, "f16", 2, 0x1p-11}, {DType::bf16, "bf16", 2, 0x1p-8},
    {DType::c64, "c64", 8, 0x1p-24}, {DType::c128, "c128", 16, 0x1p-53},
};

const Entry& entry(DType dtype) noexcept {
  return kEntries[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view to_string(DType dtype) noexcept {
  return entry(dtype).name;
}
std::size_t size_of(DType dtype) noexcept {
  return entry(dtype).size;
}
double unit_roundoff(DType dtype) noexcept {
  return entry(dtype).unit_roundoff;
}

DType parse_dtype(std::string_view text) {
  for (const Entry& e : kEntries) {
    if (e.name == text) return e.dtype;
  }
  throw Error(ErrorCode::invalid_argument,
              concat("unknown type \"", text, "\"; known are f64, f32, f16, bf16, c64, c128"));
}

}  // namespace lanky::inline v1
