// The tests, or one scene of theirs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "faults/scene.hpp"
#include "faults/tally.hpp"

void lanky::faults::play_in_two_threads(const std::function<void()>& play) {
  std::vector<std::string> wrong(2);
  std::vector<std::thread> threads;
  for (std::string& said : wrong) {
    threads.emplace_back([&] {
      try {
        play();
      } catch (const std::exception& error) {
        said = error.what();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const std::string& said : wrong)
    require(said.empty(), said);
}

std::string lanky::faults::end_in_a_child(const std::function<void()>& play) {
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {
    try {
      alarm(60);
      play();
    } catch (const std::exception& error) {
      std::printf("in the child: %s\n", error.what());
      std::fflush(stdout);
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
             ? "the child hung"
             : "the child ended with status " + std::to_string(status);
}

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
