// What is fuzzed: a function of any bytes for each parser, and one for the C interface.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

namespace lanky::fuzz {

using Bytes = std::span<const std::uint8_t>;

/// `check` throws where what comes out is unsound, and may throw nothing that lanky throws: an
/// Error of the parser is as good as a value.
struct Target {
  std::string_view name;
  void (*check)(Bytes bytes);
};

/// All of them. Each name is that of a program fuzz_NAME, and of a folder of tests/data/fuzz.
std::span<const Target> targets() noexcept;

/// std::logic_error where a promise of lanky's is broken.
inline void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_archive(Bytes bytes);
void check_cache(Bytes bytes);
void check_capi(Bytes bytes);
void check_filter(Bytes bytes);
void check_grid(Bytes bytes);
void check_index(Bytes bytes);
void check_journal(Bytes bytes);
void check_mat(Bytes bytes);
void check_matrix_file(Bytes bytes);
void check_report(Bytes bytes);
void check_spec(Bytes bytes);
void check_tuning(Bytes bytes);

}  // namespace lanky::fuzz
