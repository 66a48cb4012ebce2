// Types of the vectors that solvers take: on which executors their tests run, and numbers of double
// precision that judge the results.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <lanky/device.hpp>
#include <type_traits>

#include "support/executor.hpp"

namespace lanky::testing {

#ifdef __SANITIZE_ADDRESS__
using VectorCases =
    ::testing::Types<On<DeviceKind::cpu, double>, On<DeviceKind::cpu, std::complex<float>>>;
#else
using VectorCases =
    ::testing::Types<On<DeviceKind::cpu, double>, On<DeviceKind::cpu, float>,
                     On<DeviceKind::cpu, std::complex<float>>,
                     On<DeviceKind::cpu, std::complex<double>>, On<DeviceKind::cuda, double>,
                     On<DeviceKind::cuda, float>, On<DeviceKind::cuda, std::complex<float>>,
                     On<DeviceKind::cuda, std::complex<double>>>;
#endif

/// double or complex<double>.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;
/// Whether T is.
template <class T>
inline constexpr bool kDouble = std::is_same_v<T, Wide<T>>;

inline double conjugate(double x) {
  return x;
}
inline std::complex<double> conjugate(std::complex<double> x) {
  return std::conj(x);
}

/// A number whose parts `draw()` tells.
template <class T, class Draw>
Wide<T> number(Draw draw) {
  const double real = draw();
  if constexpr (std::is_floating_point_v<T>) {
    return real;
  } else {
    return {real, draw()};
  }
}

}  // namespace lanky::testing
