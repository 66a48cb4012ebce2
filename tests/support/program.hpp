// The lanky program, run as a user runs it, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace lanky::testing {

struct Ran {
  int exit_code;
  std::string out;
  std::string err;
};

/// A file that was built into the folder of this test.
inline std::string beside_the_test(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

class ProgramTest : public ::testing::Test {
 protected:
  using Json = nlohmann::json;

  /// Runs `lanky arguments`, by way of the command `through`.
  Ran lanky(const std::string& arguments, const std::string& through = "") const {
    return shell(through + " '" + beside_the_test("lanky") + "' " + arguments);
  }
  Ran shell(const std::string& command) const {
    const std::filesystem::path out = folder_ / "stdout";
    const std::filesystem::path err = folder_ / "stderr";
    // One thread: the figures do not matter here, and others may be using the machine.
    const std::string line = "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 " + command + " >'" +
                             out.string() + "' 2>'" + err.string() + "'";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out), content(err)};
  }

  std::string write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
    return (folder_ / file).string();
  }
  /// A small matrix of 4 entries and so many rows.
  std::string matrix(const std::string& file, int rows = 3) const {
    return write(file, "%%MatrixMarket matrix coordinate real general\n" + std::to_string(rows) +
                           " 3 4\n1 1 2.5\n2 2 -1\n3 1 4\n3 3 1e3\n");
  }
  std::string json() const { return (folder_ / "out.jsonl").string(); }
  std::vector<Json> lines() const { return parse(content(json())); }
  std::vector<Json> of_kind(const std::string& kind) const {
    std::vector<Json> found = lines();
    std::erase_if(found, [&](const Json& line) { return line["kind"] != kind; });
    return found;
  }
  static std::vector<Json> parse(const std::string& text) {
    std::istringstream stream(text);
    std::vector<Json> all;
    for (std::string line; std::getline(stream, line);)
      all.push_back(Json::parse(line));
    return all;
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path folder_ = directory_.path();
};

}  // namespace lanky::testing
