// Inputs that fuzzing began with or has found, once each.
#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/check_input.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

TEST(FuzzInputs, GiveSoundMatricesOrErrors) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/data/fuzz")) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
    SCOPED_TRACE(entry.path());
    std::string bytes = testing::content(entry.path());
    const std::size_t size = bytes.size();
    for (char choice = 0; choice < 12; ++choice) {
      bytes.resize(size);
      bytes += choice;  // of type and options
      const std::span input(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      EXPECT_NO_THROW(fuzz::check_input(input));
      EXPECT_NO_THROW(fuzz::check_input(input.first(size)));
      EXPECT_NO_THROW(fuzz::check_forged_cache(input.first(size)));
    }
    ++count;
  }
  EXPECT_GT(count, 10U);
}

}  // namespace
}  // namespace lanky
