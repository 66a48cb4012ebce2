// Inputs that fuzzing began with or has found, once each, for every target of tests/fuzz.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fuzz/target.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

class FuzzInputs : public ::testing::TestWithParam<fuzz::Target> {};

TEST_P(FuzzInputs, KeepEveryPromise) {
  const std::filesystem::path folder = std::filesystem::path("tests/data/fuzz") / GetParam().name;
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    const std::string bytes = testing::content(entry.path());
    const fuzz::Bytes input(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    EXPECT_NO_THROW(GetParam().check(input));
    ++count;
  }
  EXPECT_GT(count, 0U);
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzInputs, ::testing::ValuesIn(fuzz::targets()),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// The last byte of a matrix file chooses type and options.
TEST(MatrixFileInputs, ReadInEveryType) {
  for (const char* folder : {"cache", "mat", "matrix_market", "rutherford_boeing"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path("tests/data/fuzz") / folder)) {
      SCOPED_TRACE(entry.path());
      std::string bytes = testing::content(entry.path());
      for (char choice = 0; choice < 12; ++choice) {
        bytes += choice;
        EXPECT_NO_THROW(
            fuzz::check_cache({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
        bytes.pop_back();
      }
    }
  }
}

}  // namespace
}  // namespace lanky
