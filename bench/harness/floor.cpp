#include "bench/harness/floor.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "bench/cases/operand.hpp"
#include "bench/harness/gpu.hpp"
#include "core/graph.hpp"

namespace lanky::bench {

namespace {

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Reads all words and writes all bytes, each thread a part.
void stream_on_cpu(const char* source, std::int64_t read, char* target, std::int64_t write) {
  constexpr std::int64_t kChunk = 1 << 16;         // bytes that a thread takes at a time
  constexpr std::int64_t kWorthThreads = 1 << 18;  // bytes
  const auto* words = reinterpret_cast<const std::uint64_t*>(source);
  const std::int64_t word_count = (read + 7) / 8;
  std::uint64_t fold = 0;
#pragma omp parallel for reduction(^ : fold) schedule(static) if (read > kWorthThreads)
  for (std::int64_t i = 0; i < word_count; ++i)
    fold ^= words[i];
#pragma omp parallel for schedule(static) if (write > kWorthThreads)
  for (std::int64_t i = 0; i < write; i += kChunk)
    std::memset(target + i, static_cast<int>(fold & 1), std::min(kChunk, write - i));
  asm volatile("" : : "r"(fold));  // keeps the loads where nothing is written
}

}  // namespace

StreamingFloor::StreamingFloor(Session& session, std::int64_t read, std::int64_t write, int slots)
    : read_(read), write_(write), slots_(slots) {
  bool fresh = false;
  source_ = session.floor_source.reserve(aligned(read) * slots, &fresh);
  target_ = session.floor_target.reserve(aligned(write) * slots);
  if (fresh) fill_zero(session.stream, source_, session.floor_source.size());
  if (!session.stream.device().is_cuda()) return;
  const auto [known, is_new] = session.unrolls.try_emplace({read, write}, unroll_);
  if (is_new) known->second = fastest_unroll(session.stream);
  unroll_ = known->second;
}

int StreamingFloor::fastest_unroll(const Stream& stream) {
  constexpr std::int64_t kTrialBytes = 1LL << 30;  // of one replay
  const std::int64_t affordable = kTrialBytes / std::max<std::int64_t>(1, read_ + write_);
  const int launches =
      std::max(slots_, static_cast<int>(std::clamp<std::int64_t>(affordable, 1, 20)));
  double fastest = std::numeric_limits<double>::infinity();
  int best = unroll_;
  for (const int unroll : gpu::kStreamingUnrolls) {
    unroll_ = unroll;
    const Lap trial = lap();
    std::int64_t turn = 0;
    batch_us(stream, trial, std::min(slots_, 2), turn);
    const runtime::Graph graph(stream, [&] {
      for (int i = 0; i < launches; ++i)
        trial.product(stream, i % slots_);
    });
    for (int repeat = 0; repeat < 4; ++repeat) {
      Event start(stream.device());
      Event end(stream.device());
      start.record(stream);
      graph.launch(stream);
      end.record(stream);
      end.synchronize();
      const double ms = Event::elapsed_ms(start, end);
      if (repeat > 0 && ms < fastest) {
        fastest = ms;
        best = unroll;
      }
    }
  }
  return best;
}

Lap StreamingFloor::lap() {
  return {.product = [this](const Stream& stream, int slot) { stream_once(stream, slot); },
          .slots = slots_,
          .cold = false};
}

void StreamingFloor::stream_once(const Stream& stream, int slot) {
  const char* source = source_ + slot * aligned(read_);
  char* target = target_ + slot * aligned(write_);
  if (stream.device().is_cuda()) {
    gpu::stream_bytes(stream, {source, read_, target, write_, nullptr}, unroll_);
  } else {
    stream_on_cpu(source, read_, target, write_);
  }
}

double read_floor_tbs(Session& session) {
  const bool cuda = session.stream.device().is_cuda();
  const std::int64_t bytes = cuda ? 2LL << 30 : session.options.cpu_floor_bytes;
  StreamingFloor floor(session, bytes, 0, 1);
  const Lap lap = floor.lap();
  const std::vector<Timing> timing = time_laps(session, {&lap, 1});
  return static_cast<double>(bytes) / timing[0].warm.median_us * 1e-6;
}

}  // namespace lanky::bench
