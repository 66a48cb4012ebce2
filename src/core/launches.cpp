#include "core/launches.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace lanky::runtime {

namespace {

/// The launches of the stream that came to this slot first; those of others are never known to have
/// ended.
struct Slot {
  std::atomic<const CUstream_st*> stream{nullptr};
  std::atomic<std::uint64_t> given{0};
  std::atomic<std::uint64_t> ended{0};
  std::atomic<bool> taken{false};
  std::atomic<bool> unknown{false};  // launches that nobody can wait for
};

constexpr int kSlotBits = 6;
std::array<Slot, 1 << kSlotBits> slots;

Slot& slot_of(const CUstream_st* stream) noexcept {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // Fibonacci hashing
  return slots[(reinterpret_cast<std::uintptr_t>(stream) * kGolden) >> (64 - kSlotBits)];
}

}  // namespace

void note_launch(const CUstream_st* stream) noexcept {
  Slot& slot = slot_of(stream);
  if (!slot.taken.load(std::memory_order_acquire)) {
    const CUstream_st* nobody = nullptr;
    slot.stream.compare_exchange_strong(nobody, stream);
    slot.taken.store(true, std::memory_order_release);
  }
  if (slot.stream.load(std::memory_order_relaxed) == stream) {
    slot.given.fetch_add(1, std::memory_order_relaxed);
  } else {
    slot.unknown.store(true, std::memory_order_relaxed);
  }
}

Launched launched(const CUstream_st* stream) noexcept {
  const Slot& slot = slot_of(stream);
  const bool own = slot.stream.load(std::memory_order_relaxed) == stream;
  return {stream, own ? slot.given.load(std::memory_order_relaxed) : 0};
}

void note_ended(Launched launched) noexcept {
  Slot& slot = slot_of(launched.stream);
  std::uint64_t known = slot.ended.load(std::memory_order_relaxed);
  while (known < launched.count && !slot.ended.compare_exchange_weak(known, launched.count)) {
  }
}

void forget_stream(const CUstream_st* stream) noexcept {
  Slot& slot = slot_of(stream);
  if (slot.stream.load(std::memory_order_relaxed) != stream) return;
  if (slot.given.load() != slot.ended.load()) slot.unknown.store(true);
}

bool all_launches_ended() noexcept {
  return std::all_of(slots.begin(), slots.end(), [](const Slot& slot) {
    return !slot.unknown.load() && slot.given.load() == slot.ended.load();
  });
}

}  // namespace lanky::runtime
