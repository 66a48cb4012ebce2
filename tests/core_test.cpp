#include <gtest/gtest.h>

#include <lanky/lanky.hpp>

TEST(Core, Smoke) {
  EXPECT_EQ(lanky::Device::cpu().name(), "cpu");
}
