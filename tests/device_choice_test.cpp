// Plans on every device of the machine, whichever device the caller has current: results agree bit
// for bit with those of the first device of the kind, and operands of another device are refused.
#include <gtest/gtest.h>

#include <lanky/lanky.hpp>
#include <vector>

#include "core/text.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"

namespace lanky {
namespace {

std::vector<double> spmv_on(Device device) {
  const Stream stream(device);
  const auto a = io::generate<double>("mixed:500,values=int");
  const SparsePlan<double> plan(stream, a.view());
  const auto x = Buffer<double>::from(stream, std::vector<double>(500, 3.0));
  Buffer<double> y(stream, 500);
  plan.run(stream, x.view(), y.view());
  return y.to_host();
}

/// m = n = k = `size`: a gram or, above 128, a regular product through the vendor's library.
std::vector<double> gemm_on(Device device, std::int64_t size) {
  const Stream stream(device);
  const GemmPlan<double> plan(stream, {.m = size, .n = size, .k = size, .op_a = Op::trans});
  std::vector<double> values(static_cast<std::size_t>(size * size));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i % 7) - 3;
  Matrix<double> a(stream, size, size);
  Matrix<double> c(stream, size, size);
  a.buffer().copy_from(values);
  plan.run(stream, a.view(), a.view(), c.view());
  return c.buffer().to_host();
}

TEST(DeviceChoice, EveryDeviceComputesTheSame) {
  const std::vector<double> y = spmv_on(Device::cpu());
  const std::vector<double> small = gemm_on(Device::cpu(), 20);
  const std::vector<double> regular = gemm_on(Device::cpu(), 200);
  for (const Device& device : Device::all()) {
    SCOPED_TRACE(device.name());
    EXPECT_EQ(spmv_on(device), y);
    EXPECT_EQ(gemm_on(device, 20), small);
    EXPECT_EQ(gemm_on(device, 200), regular);
  }
}

TEST(DeviceChoice, OperandsOfAnotherDeviceAreRefused) {
  const std::vector<Device> devices = Device::all();
  const auto a = io::generate<double>("diagonal:10");
  for (const Device& here : devices) {
    for (const Device& there : devices) {
      if (here == there) continue;
      SCOPED_TRACE(concat(here.name(), " and ", there.name()));
      const Stream stream(here);
      const Stream other(there);
      const SparsePlan<double> plan(stream, a.view());
      const Buffer<double> x(other, 10);
      Buffer<double> y(stream, 10);
      expect_error([&] { plan.run(stream, x.view(), y.view()); }, ErrorCode::wrong_memory,
                   {"x is in", here.name()});
      expect_error([&] { plan.run(other, x.view(), y.view()); }, ErrorCode::wrong_memory,
                   {here.name(), there.name()});
    }
  }
}

}  // namespace
}  // namespace lanky
