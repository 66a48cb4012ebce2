// A scene is played in a process of its own, which it may ruin: `test_faults --scene NAME`. It has
// gone well where the process ends with status 0.
#pragma once

#include <functional>
#include <lanky/error.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lanky::faults {

struct Scene {
  const char* name;
  void (*play)();
};

/// On the CPU, and on a GPU.
std::vector<Scene> cpu_scenes();
std::vector<Scene> cuda_scenes();
/// Processes that take part in a scene, and are none of their own.
std::vector<Scene> cuda_parts();

inline void require(bool condition, const std::string& sentence) {
  if (!condition) throw std::runtime_error(sentence);
}

/// The Error that a call must end with, one line that holds all of the fragments.
template <class Call>
Error require_error(Call&& call, const std::vector<std::string>& fragments,
                    const std::string& what) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    require(message.find('\n') == std::string::npos, what + ": two lines: " + message);
    for (const std::string& fragment : fragments)
      require(message.find(fragment) != std::string::npos,
              what + ": \"" + fragment + "\" is not in: " + message);
    return error;
  }
  throw std::runtime_error(what + ": no Error");
}

/// Plays in a child of fork(); what became of it, "" where it ended well. A child that hangs is
/// ended.
std::string end_in_a_child(const std::function<void()>& play);

/// Plays in two threads at a time; throws what failed in one of them.
void play_in_two_threads(const std::function<void()>& play);

/// The exit status of the process.
int play_scene(std::string_view name);

}  // namespace lanky::faults
