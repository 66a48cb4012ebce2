// Faults at a call of choice: the i-th host allocation, or the i-th call of CUDA's runtime, fails
// while an Injection lives. host_memory.cpp and cuda_calls.cpp are linked in front of the real
// ones.
#pragma once

#include <cstdint>
#include <limits>

namespace lanky::faults {

enum class Source {
  host,       // the i-th operator new
  host_from,  // the i-th and all behind it: what handles the first one has no memory either
  cuda        // the i-th call of the CUDA runtime
};

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// One at a time in a process. Counts from 1, in all threads.
class Injection {
 public:
  explicit Injection(Source source, std::int64_t nth = kNever);
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;
  ~Injection() { end(); }

  /// No call fails from here on.
  void end() noexcept;
  std::int64_t calls() const noexcept;  // that were counted
  /// What failed, "operator new" or the name of CUDA's function; null where nothing did.
  const char* failed() const noexcept;
  /// Whether a caller may pass over that failure, with right results: calls that tidy up, and those
  /// that have another way.
  bool may_be_passed_over() const noexcept;
};

/// What CUDA's runtime gave lanky and this program and has not got back.
struct Held {
  std::int64_t device = 0;  // allocations
  std::int64_t pinned = 0;
  std::int64_t streams = 0;
  std::int64_t events = 0;
  std::int64_t graphs = 0;

  friend bool operator==(const Held&, const Held&) = default;
};
Held held() noexcept;

/// Of operator new, not deleted yet.
std::int64_t host_blocks() noexcept;

namespace detail {

/// Whether this call is to fail; of a call `source` that can be passed over.
bool fails(Source source, const char* what, bool passed_over) noexcept;

}  // namespace detail

}  // namespace lanky::faults
