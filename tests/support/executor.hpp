// One test body for every executor and type: TYPED_TEST over On<kind, T>. A test for a GPU that is
// not there is skipped with the reason, or fails where LANKY_REQUIRE_GPU=1.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <string>
#include <string_view>

namespace lanky::testing {

inline bool gpu_required() {
  const char* value = std::getenv("LANKY_REQUIRE_GPU");
  return value != nullptr && std::string_view(value) == "1";
}

/// A combination of executor, type of the operands, and type of the result.
template <DeviceKind kKind, class T, class TOut = T>
struct On {
  static constexpr DeviceKind kDeviceKind = kKind;
  using Element = T;
  using Result = TOut;
};

/// Names a combination in the test's name: "cpu_f64", "cuda_f16_f32".
struct OnName {
  template <class Case>
  static std::string GetName(int /*index*/) {  // NOLINT: GoogleTest's name
    using T = typename Case::Element;
    using TOut = typename Case::Result;
    std::string text = Case::kDeviceKind == DeviceKind::cuda ? "cuda_" : "cpu_";
    text += name(kDType<T>);
    if (kDType<T> != kDType<TOut>) text.append("_").append(name(kDType<TOut>));
    return text;
  }
};

/// Every executor with every type that sparse and dense products take.
using RealCases =
    ::testing::Types<On<DeviceKind::cpu, double>, On<DeviceKind::cpu, float>,
                     On<DeviceKind::cpu, half>, On<DeviceKind::cpu, half, float>,
                     On<DeviceKind::cpu, bfloat16>, On<DeviceKind::cpu, bfloat16, float>,
                     On<DeviceKind::cuda, double>, On<DeviceKind::cuda, float>,
                     On<DeviceKind::cuda, half>, On<DeviceKind::cuda, half, float>,
                     On<DeviceKind::cuda, bfloat16>, On<DeviceKind::cuda, bfloat16, float>>;

}  // namespace lanky::testing

/// Declares `device`, a Device of that kind, or ends the test as skipped (failed, where required).
#define LANKY_DEVICE_OR_SKIP(device, kind)                                         \
  if ((kind) == ::lanky::DeviceKind::cuda && ::lanky::Device::cuda_count() == 0) { \
    if (::lanky::testing::gpu_required()) {                                        \
      FAIL() << "LANKY_REQUIRE_GPU=1, but " << ::lanky::Device::cuda_absence();    \
    }                                                                              \
    GTEST_SKIP() << "needs a GPU: " << ::lanky::Device::cuda_absence();            \
  }                                                                                \
  const ::lanky::Device device =                                                   \
      (kind) == ::lanky::DeviceKind::cuda ? ::lanky::Device::cuda(0) : ::lanky::Device::cpu()
