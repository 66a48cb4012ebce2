// Scenes on the CPU: processes that fork, and threads.
#include <cstdint>
#include <lanky/lanky.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/launches.hpp"
#include "faults/scene.hpp"
#include "faults/subjects.hpp"

namespace lanky::faults {

namespace {

/// Large enough for threads.
Numbers product(const CsrMatrix<double>& a) {
  const Stream stream(Device::cpu());
  const SparsePlan<double> plan(stream, a.view());
  const auto x =
      Buffer<double>::from(stream, std::vector<double>(static_cast<std::size_t>(a.cols), 0.5));
  Buffer<double> y(stream, a.rows);
  plan.run(stream, x, y);
  return y.to_host();
}

Numbers gram() {
  const Stream stream(Device::cpu());
  constexpr std::int64_t kLong = 100'000;
  Matrix<double> q(stream, kLong, 8);
  q.buffer().copy_from(std::vector<double>(kLong * 8, 0.25));
  Matrix<double> g(stream, 8, 8);
  const GemmPlan<double> plan(stream, {.m = 8, .n = 8, .k = kLong, .op_a = Op::trans});
  plan.run(stream, q, q, g);
  return g.buffer().to_host();
}

/// The parent has had threads, which its child has not.
void fork_after_threads() {
  const auto a = io::generate<double>("uniform:60000:12");
  const Numbers expected = product(a);
  const Numbers expected_gram = gram();
  const std::string end = end_in_a_child([&] {
    require(product(a) == expected, "other numbers in the child");
    require(gram() == expected_gram, "other dense numbers in the child");
    require(io::generate<double>("uniform:60000:12").values == a.values, "another matrix");
  });
  require(product(a) == expected, "other numbers in the parent");
  require(end.empty(), end);
}

/// Each thread makes and runs plans of its own.
void threads_on_the_cpu() {
  const auto a = io::generate<double>("uniform:20000:9");
  const Numbers expected = product(a);
  play_in_two_threads([&] {
    for (int round = 0; round < 5; ++round)
      require(product(a) == expected, "other numbers in a thread");
  });
}

/// What is known of launches, by which an error is told to be another's.
void launches_that_ended() {
  const auto stream_at = [](std::uintptr_t address) {
    return reinterpret_cast<const CUstream_st*>(address);
  };
  const CUstream_st* const first = stream_at(0x1000);
  const CUstream_st* const second = stream_at(0x2000);
  require(runtime::all_launches_ended(), "launches before the first one");
  runtime::note_launch(first);
  require(!runtime::all_launches_ended(), "a launch has ended that nobody waited for");
  const runtime::Launched before = runtime::launched(first);
  runtime::note_launch(second);
  runtime::note_ended(before);
  require(!runtime::all_launches_ended(), "the other stream's launch has ended with the first's");
  runtime::note_ended(runtime::launched(second));
  require(runtime::all_launches_ended(), "both were waited for");
  const runtime::Launched early = runtime::launched(first);
  runtime::note_launch(first);
  runtime::note_ended(early);
  require(!runtime::all_launches_ended(), "a wait that began before a launch counts for it");
  runtime::forget_stream(first);
  runtime::note_ended(runtime::launched(first));
  require(!runtime::all_launches_ended(), "the work of a stream that went is known");
}

/// More streams than there are places for: nothing is claimed of what is not known.
void launches_on_many_streams() {
  for (std::uintptr_t i = 1; i <= 1000; ++i) {
    const auto* const stream = reinterpret_cast<const CUstream_st*>(i * 0x400);
    runtime::note_launch(stream);
    runtime::note_ended(runtime::launched(stream));
  }
  require(!runtime::all_launches_ended(), "1000 streams are known");
}

}  // namespace

std::vector<Scene> cpu_scenes() {
  return {{"fork_after_threads", fork_after_threads},
          {"threads_on_the_cpu", threads_on_the_cpu},
          {"launches_that_ended", launches_that_ended},
          {"launches_on_many_streams", launches_on_many_streams}};
}

}  // namespace lanky::faults
