// Inputs that fuzzing began with or has found, once each, for every target of tests/fuzz.
#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "fuzz/target.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;

/// Those that people made, and of the archive beside their folder those that fuzzing kept, by name.
std::map<std::string, std::string> inputs_of(std::string_view target) {
  std::map<std::string, std::string> inputs;
  const fs::path folder = fs::path("tests/data/fuzz") / target;
  if (fs::exists(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      inputs[entry.path().string()] = testing::content(entry.path());
  const std::string path = folder.string() + ".tar.xz";
  archive* const reader = archive_read_new();
  archive_read_support_filter_xz(reader);
  archive_read_support_format_tar(reader);
  EXPECT_EQ(archive_read_open_filename(reader, path.c_str(), 1 << 16), ARCHIVE_OK) << path;
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    std::string bytes(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
    const la_ssize_t size = archive_read_data(reader, bytes.data(), bytes.size());
    EXPECT_EQ(size, static_cast<la_ssize_t>(bytes.size()));
    inputs[path + ": " + archive_entry_pathname(entry)] = bytes;
  }
  EXPECT_EQ(archive_errno(reader), 0) << path;
  archive_read_free(reader);
  return inputs;
}

fuzz::Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class FuzzInputs : public ::testing::TestWithParam<fuzz::Target> {};

TEST_P(FuzzInputs, KeepEveryPromise) {
  const auto inputs = inputs_of(GetParam().name);
  EXPECT_FALSE(inputs.empty());
  for (const auto& [name, bytes] : inputs) {
    SCOPED_TRACE(name);
    EXPECT_NO_THROW(GetParam().check(bytes_of(bytes)));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzInputs, ::testing::ValuesIn(fuzz::targets()),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// The last byte of a matrix file chooses type and options.
TEST(MatrixFileInputs, ReadInEveryType) {
  for (const char* target : {"cache", "mat", "matrix_market", "rutherford_boeing"}) {
    for (auto [name, bytes] : inputs_of(target)) {
      SCOPED_TRACE(name);
      for (char choice = 0; choice < 12; ++choice) {
        bytes += choice;
        EXPECT_NO_THROW(fuzz::check_cache(bytes_of(bytes)));
        bytes.pop_back();
      }
    }
  }
}

}  // namespace
}  // namespace lanky
