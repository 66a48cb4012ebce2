// The tests, or one scene of theirs.
#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "faults/scene.hpp"
#include "faults/tally.hpp"

int lanky::faults::play_scene(std::string_view name) {
  for (const auto& scenes : {cpu_scenes(), cuda_scenes(), cuda_parts()}) {
    for (const Scene& scene : scenes) {
      if (name != scene.name) continue;
      try {
        scene.play();
        return 0;
      } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
      }
    }
  }
  std::printf("there is no scene %s\n", std::string(name).c_str());
  return 2;
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--scene")
    return lanky::faults::play_scene(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  lanky::faults::write_tallies();
  return status;
}
