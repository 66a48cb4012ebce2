// Memory, and every other call of CUDA's runtime, fails at each place in turn: one clear Error each
// time, nothing kept, and all else works on.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <new>
#include <ostream>

#include "core/text.hpp"
#include "faults/injection.hpp"
#include "faults/subjects.hpp"
#include "faults/tally.hpp"
#include "support/counting_allocator.hpp"
#include "support/executor.hpp"

namespace lanky::faults {
namespace {

using testing::CountingAllocator;

// Of an action with more calls: all of the first ones, and about as many evenly among the rest.
constexpr std::int64_t kEach = 150;

std::int64_t after(std::int64_t nth, std::int64_t calls) {
  const std::int64_t rest = calls - kEach;
  return nth < kEach || rest <= kEach ? nth + 1 : nth + (rest + kEach - 1) / kEach;
}

struct Trial {
  DeviceKind device;
  Subject subject;
};

void PrintTo(const Trial& trial, std::ostream* out) {
  *out << trial.subject.name;
}

std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda})
    for (const Subject& subject : subjects())
      if (kind == DeviceKind::cuda || !subject.only_on_gpu) all.push_back({kind, subject});
  return all;
}

class Faults : public ::testing::TestWithParam<Trial> {};
INSTANTIATE_TEST_SUITE_P(Each, Faults, ::testing::ValuesIn(trials()), [](const auto& trial) {
  return (trial.param.device == DeviceKind::cpu ? "cpu_" : "cuda_") + trial.param.subject.name;
});

/// What became of a call that failed inside the action.
struct Outcome {
  Numbers numbers = {};
  bool threw = false;
  std::string error = {};
  std::int64_t host_kept = 0;  // blocks of host memory, the numbers' aside
};

/// The action's end; whatever is thrown must be an Error that says something, or std::bad_alloc. No
/// call fails from then on.
Outcome outcome_of(const Action& action, bool of_host, Injection* injection = nullptr) {
  Outcome outcome;
  std::array<char, 512> error{};  // no memory is taken while calls fail
  bool is_error = true;
  const std::int64_t before = host_blocks();
  try {
    outcome.numbers = action();
  } catch (const Error& thrown) {
    outcome.threw = true;
    std::snprintf(error.data(), error.size(), "%s", thrown.what());
  } catch (const std::bad_alloc& thrown) {
    outcome.threw = true;
    is_error = of_host;
    std::snprintf(error.data(), error.size(), "%s", thrown.what());
  } catch (const std::exception& thrown) {
    outcome.threw = true;
    is_error = false;
    std::snprintf(error.data(), error.size(), "%s", thrown.what());
  }
  if (injection != nullptr) injection->end();
  outcome.host_kept = host_blocks() - before - (outcome.numbers.capacity() > 0 ? 1 : 0);
  outcome.error = error.data();
  EXPECT_TRUE(is_error) << "not an Error: " << outcome.error;
  EXPECT_TRUE(!outcome.threw || !outcome.error.empty());
  EXPECT_EQ(outcome.error.find('\n'), std::string::npos) << outcome.error;
  return outcome;
}

bool are_equal(const Numbers& a, const Numbers& b, bool in_bits) {
  if (in_bits || a.size() != b.size()) return a == b;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-12 * (1 + std::abs(b[i])))) return false;
  return true;
}

/// Calls of `source` fail in the action, one after the other.
void try_each(const Trial& trial, Source source, const char* check) {
  LANKY_DEVICE_OR_SKIP(device, trial.device);
  Tally tally(check, trial.device);
  const Stream stream(device);
  const Action works = witness(stream);
  const Numbers expected_of_witness = works();
  const Action action = trial.subject.prepare(stream, nullptr);
  action();  // what is loaded at first use
  const Numbers expected = action();
  const bool in_bits = !trial.subject.measures;
  std::int64_t calls = 0;
  {
    Injection counting(source);
    action();
    calls = counting.calls();
  }
  const Held before = held();
  for (std::int64_t nth = 1; nth <= calls; nth = after(nth, calls)) {
    Injection injection(source, nth);
    const Outcome outcome = outcome_of(action, source != Source::cuda, &injection);
    const char* const failed = injection.failed();
    if (failed == nullptr) break;  // measured runs take other numbers of calls
    tally.begin();
    SCOPED_TRACE(::testing::Message()
                 << "call " << nth << " of " << calls << ", " << failed << ": " << outcome.error);
    const bool may_pass =
        injection.may_be_passed_over() || trial.subject.measures || source == Source::host;
    const bool told = outcome.threw || may_pass;
    EXPECT_TRUE(told) << "the failure was told nobody";
    const bool right = outcome.threw || are_equal(outcome.numbers, expected, in_bits);
    EXPECT_TRUE(right) << "other numbers than without the failure";
    const bool all_back = held() == before && outcome.host_kept <= 0;
    const bool works_on = works() == expected_of_witness;
    EXPECT_TRUE(all_back) << "of the device " << held().device - before.device << " blocks, "
                          << held().pinned - before.pinned << " pinned, "
                          << held().streams - before.streams << " streams, "
                          << held().events - before.events << " events, "
                          << held().graphs - before.graphs << " graphs are kept, and "
                          << outcome.host_kept << " blocks of host memory";
    EXPECT_TRUE(works_on) << "another plan gives other numbers now";
    tally.end(told && right && all_back && works_on);
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(tally.tried(), 0) << "no such call is made";
  EXPECT_TRUE(are_equal(action(), expected, in_bits));
}

// By such texts kernels are found and choices looked up: one that is cut off would find others.
TEST(FaultsOfText, NoTextIsCutOff) {
  const std::string expected = concat("a text longer than a string holds in itself: ", 1.5, ' ', 7);
  for (std::int64_t nth = 1;; ++nth) {
    Injection injection(Source::host, nth);
    std::string text;
    bool threw = false;
    try {
      text = concat("a text longer than a string holds in itself: ", 1.5, ' ', 7);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    injection.end();
    EXPECT_EQ(threw, injection.failed() != nullptr) << "allocation " << nth;
    if (injection.failed() == nullptr) {
      EXPECT_EQ(text, expected);
      EXPECT_GT(nth, 1);
      return;
    }
  }
}

TEST_P(Faults, HostMemory) {
  try_each(GetParam(), Source::host, "host memory fails once");
}

TEST_P(Faults, HostMemoryFromThereOn) {
  try_each(GetParam(), Source::host_from, "host memory fails from then on");
}

TEST_P(Faults, CudaCalls) {
  if (GetParam().device == DeviceKind::cpu) GTEST_SKIP() << "no call of CUDA's is made";
  if (GetParam().subject.name == "matrix_market" || GetParam().subject.name == "gzip" ||
      GetParam().subject.name == "cache")
    GTEST_SKIP() << "no call of CUDA's is made";
  try_each(GetParam(), Source::cuda, "a call of CUDA fails");
}

/// The caller's allocator fails at the n-th request, and has all back then.
TEST_P(Faults, CallersAllocator) {
  const Trial& trial = GetParam();
  LANKY_DEVICE_OR_SKIP(device, trial.device);
  if (!trial.subject.takes_allocator || trial.subject.name == "streams")
    GTEST_SKIP() << "takes no allocator";
  Tally tally("the caller's allocator fails", trial.device);
  const Stream stream(device);
  CountingAllocator allocator;
  {
    const Action action = trial.subject.prepare(stream, &allocator);
    const Numbers expected = action();
    const std::int64_t held_before = allocator.live_bytes();
    const int before = allocator.requests();
    action();
    const int requests = allocator.requests() - before;
    for (int nth = 0; nth < requests; ++nth) {
      tally.begin();
      allocator.most_requests = allocator.requests() + nth;
      const Outcome outcome = outcome_of(action, false);
      EXPECT_TRUE(outcome.threw || trial.subject.measures) << "request " << nth + 1;
      const bool all_back = allocator.live_bytes() == held_before;
      EXPECT_TRUE(all_back) << "after request " << nth + 1;
      EXPECT_TRUE(!outcome.threw || outcome.error == "no more requests") << outcome.error;
      tally.end((outcome.threw || trial.subject.measures) && all_back);
      allocator.most_requests = std::numeric_limits<int>::max();
      if (::testing::Test::HasFailure()) break;
    }
    EXPECT_TRUE(are_equal(action(), expected, !trial.subject.measures));
  }
  EXPECT_EQ(allocator.live_bytes(), 0);
  EXPECT_EQ(allocator.returned_wrong(), 0);
}

}  // namespace
}  // namespace lanky::faults
