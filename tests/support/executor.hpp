// One test body for every executor and type: EXECUTOR_TEST over On<kind, T>. A test for a GPU that
// is not there is skipped with the reason, or fails where LANKY_REQUIRE_GPU=1.
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

/// The type of the operands and the type of the result.
template <class T, class TOut>
struct ElementTypes {
  using Element = T;
  using Result = TOut;
};

/// A combination of executor and types.
template <DeviceKind kKind, class T, class TOut = T>
struct On : ElementTypes<T, TOut> {
  static constexpr DeviceKind kDeviceKind = kKind;
  using TypesAlone = ElementTypes<T, TOut>;
};

/// Names a combination in the test's name: "cpu_f64", "cuda_f16_f32".
struct OnName {
  template <class Case>
  static std::string GetName(int /*index*/) {  // NOLINT: GoogleTest's name
    using T = typename Case::Element;
    using TOut = typename Case::Result;
    std::string text = Case::kDeviceKind == DeviceKind::cuda ? "cuda_" : "cpu_";
    text += to_string(kDType<T>);
    if (kDType<T> != kDType<TOut>) text.append("_").append(to_string(kDType<TOut>));
    return text;
  }
};

#ifdef __SANITIZE_ADDRESS__

// Builds under AddressSanitizer have no GPU, and take one type of each size that code differs for:
// the others take minutes there.
inline constexpr bool kSanitized = true;
using RealCases = ::testing::Types<On<DeviceKind::cpu, double>, On<DeviceKind::cpu, half, float>>;
using PlanCases = ::testing::Types<On<DeviceKind::cpu, double>, On<DeviceKind::cpu, half, float>,
                                   On<DeviceKind::cpu, std::complex<double>>>;

#else

inline constexpr bool kSanitized = false;

/// Every executor with every real type that plans take.
using RealCases =
    ::testing::Types<On<DeviceKind::cpu, double>, On<DeviceKind::cpu, float>,
                     On<DeviceKind::cpu, half>, On<DeviceKind::cpu, half, float>,
                     On<DeviceKind::cpu, bfloat16>, On<DeviceKind::cpu, bfloat16, float>,
                     On<DeviceKind::cuda, double>, On<DeviceKind::cuda, float>,
                     On<DeviceKind::cuda, half>, On<DeviceKind::cuda, half, float>,
                     On<DeviceKind::cuda, bfloat16>, On<DeviceKind::cuda, bfloat16, float>>;

/// And with the complex ones.
using PlanCases = ::testing::Types<
    On<DeviceKind::cpu, double>, On<DeviceKind::cpu, float>, On<DeviceKind::cpu, half>,
    On<DeviceKind::cpu, half, float>, On<DeviceKind::cpu, bfloat16>,
    On<DeviceKind::cpu, bfloat16, float>, On<DeviceKind::cpu, std::complex<float>>,
    On<DeviceKind::cpu, std::complex<double>>, On<DeviceKind::cuda, double>,
    On<DeviceKind::cuda, float>, On<DeviceKind::cuda, half>, On<DeviceKind::cuda, half, float>,
    On<DeviceKind::cuda, bfloat16>, On<DeviceKind::cuda, bfloat16, float>,
    On<DeviceKind::cuda, std::complex<float>>, On<DeviceKind::cuda, std::complex<double>>>;

#endif

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

/// EXECUTOR_TEST(Suite, Name) { body }: a TYPED_TEST over On<kind, T, TOut>. In the body `device`
/// is the executor's device and TypeParam is ElementTypes<T, TOut>: executors share its code, which
/// takes longer to compile than anything else in the tests.
#define EXECUTOR_TEST(Suite, Name)                                      \
  template <class TypeParam>                                            \
  struct Suite##_##Name##_Body : Suite<TypeParam> {                     \
    using TestFixture = Suite<TypeParam>;                               \
    static void run(const ::lanky::Device& device);                     \
  };                                                                    \
  TYPED_TEST(Suite, Name) {                                             \
    LANKY_DEVICE_OR_SKIP(device, TypeParam::kDeviceKind);               \
    Suite##_##Name##_Body<typename TypeParam::TypesAlone>::run(device); \
  }                                                                     \
  template <class TypeParam>                                            \
  void Suite##_##Name##_Body<TypeParam>::run([[maybe_unused]] const ::lanky::Device& device)
