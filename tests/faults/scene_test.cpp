// Plays each scene in a process of its own, which must end in time and with status 0.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

#include "faults/scene.hpp"
#include "faults/tally.hpp"
#include "support/executor.hpp"

namespace lanky::faults {
namespace {

struct Case {
  DeviceKind device;
  std::string name;
};

void PrintTo(const Case& played, std::ostream* out) {
  *out << played.name;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Scene& scene : cpu_scenes())
    all.push_back({DeviceKind::cpu, scene.name});
  for (const Scene& scene : cuda_scenes())
    all.push_back({DeviceKind::cuda, scene.name});
  return all;
}

class Scenes : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Each, Scenes, ::testing::ValuesIn(cases()),
                         [](const auto& played) { return played.param.name; });

TEST_P(Scenes, EndWell) {
  const Case& played = GetParam();
  LANKY_DEVICE_OR_SKIP(device, played.device);
  static_cast<void>(device);  // the scene has its own
  const char* const whole = std::getenv("LANKY_WHOLE_GPU");
  if (played.name == "greedy_neighbour" && (whole == nullptr || std::string_view(whole) != "1"))
    GTEST_SKIP() << "takes all of the GPU's memory: LANKY_WHOLE_GPU=1";
  Tally tally("scenes: " + played.name, played.device, "processes");
  tally.begin();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  // A scene that hangs is ended; 124 is what timeout tells then.
  const std::string command = "timeout -k 5 100 '" + program + "' --scene " + played.name + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    said += static_cast<char>(c);
  const int status = pclose(pipe);
  EXPECT_EQ(status, 0) << said;
  tally.end(status == 0);
}

}  // namespace
}  // namespace lanky::faults
