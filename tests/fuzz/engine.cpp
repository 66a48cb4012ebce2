// The entry points that libFuzzer calls, and the sanitizers' settings. One program has all targets:
// the name that it is called by, fuzz_NAME, tells which one runs.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "fuzz/target.hpp"

namespace {

using lanky::fuzz::Target;

const Target* chosen = nullptr;

const Target* find_target(std::string_view program) {
  constexpr std::string_view kPrefix = "fuzz_";
  const std::string_view file = program.substr(program.rfind('/') + 1);
  for (const Target& target : lanky::fuzz::targets())
    if (file.starts_with(kPrefix) && file.substr(kPrefix.size()) == target.name) return &target;
  return nullptr;
}

}  // namespace

/// A request of more than a gigabyte fails as one of a real machine may.
extern "C" const char* __asan_default_options() {  // NOLINT: the sanitizer's name
  return "allocator_may_return_null=1:max_allocation_size_mb=1024";
}

/// What libmatio itself does not give back when it fails is no fault of ours.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:libmatio";
}

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  chosen = find_target((*arguments)[0]);
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "%s: call this program as fuzz_NAME, of:", (*arguments)[0]);
  for (const Target& target : lanky::fuzz::targets())
    std::fprintf(stderr, " %.*s", static_cast<int>(target.name.size()), target.name.data());
  std::fputc('\n', stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    chosen->check({data, size});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_%.*s: %s\n", static_cast<int>(chosen->name.size()),
                 chosen->name.data(), error.what());
    std::abort();
  }
  return 0;
}
