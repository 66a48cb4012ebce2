#include "core/arguments.hpp"

#include <array>
#include <atomic>
#include <lanky/error.hpp>

#include "core/forked.hpp"
#include "core/runtime.hpp"
#include "core/text.hpp"

namespace lanky {

namespace {

/// Pointers that were found on their CUDA device, so that solvers which come back with the same
/// ones need not ask the driver again: 0.27 us a pointer, of the 4 that a launch costs (H200's
/// host). An entry outlives the memory that it names. A slot holds one pointer, the last of its
/// hash.
class PointersSeen {
 public:
  bool holds(const void* pointer, int device) const noexcept {
    const Key key = key_of(pointer, device);
    return slots_[slot_of(key)].load(std::memory_order_relaxed) == key;
  }
  void add(const void* pointer, int device) noexcept {
    const Key key = key_of(pointer, device);
    slots_[slot_of(key)].store(key, std::memory_order_relaxed);
  }

 private:
  using Key = std::uint64_t;
  static constexpr int kSlotBits = 10;
  static constexpr int kAddressBits = 57;  // of user space, with five levels of pages

  static Key key_of(const void* pointer, int device) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) ^ (Key(device + 1) << kAddressBits);
  }
  static std::size_t slot_of(Key key) noexcept {
    constexpr Key kGolden = 0x9e3779b97f4a7c15;  // Fibonacci hashing
    return static_cast<std::size_t>((key * kGolden) >> (64 - kSlotBits));
  }

  std::array<std::atomic<Key>, 1 << kSlotBits> slots_{};
};

PointersSeen& pointers_seen() {
  static PointersSeen instance;
  return instance;
}

}  // namespace

void check_on_device(const void* pointer, std::int64_t count, Device device,
                     std::string_view what) {
  if (count == 0) return;
  if (pointer == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                concat(what, ": a null pointer to ", count, " elements"));
  }
  if (device.is_cuda() && pointers_seen().holds(pointer, device.index())) return;
  const runtime::PointerSide side = runtime::where(pointer);
  if (!device.is_cuda()) {
    if (side.on_host) return;
    throw Error(ErrorCode::wrong_memory, concat(what, " is in the memory of cuda:", side.device,
                                                ", but the stream computes on the cpu"));
  }
  if (!side.known) return;  // the launch will tell why
  if (!side.on_device) {
    throw Error(ErrorCode::wrong_memory,
                concat(what, " is in host memory, but the stream computes on ", device.name(),
                       "; copy it there (lanky::Buffer)"));
  }
  if (side.device >= 0 && side.device != device.index()) {
    throw Error(ErrorCode::wrong_memory, concat(what, " is in the memory of cuda:", side.device,
                                                ", but the stream computes on ", device.name()));
  }
  pointers_seen().add(pointer, device.index());
}

void check_same_device(Device plan, Device stream) {
  if (plan.is_cuda()) runtime::check_not_forked();
  if (plan == stream) return;
  throw Error(ErrorCode::wrong_memory, concat("the plan was made for ", plan.name(),
                                              ", but the stream is of ", stream.name()));
}

void check_workspace(const void* data, std::int64_t bytes, std::int64_t needed, Device device) {
  if (bytes < needed) {
    throw Error(ErrorCode::size_mismatch,
                concat("the workspace has ", bytes, " bytes, the plan needs ", needed));
  }
  check_on_device(data, needed, device, "the workspace");
}

void check_math(Math math, DType dtype) {
  if (math == Math::ieee || dtype == DType::f32) return;
  throw Error(ErrorCode::unsupported,
              concat("Math::", to_string(math), " is for products of f32, not of ",
                     to_string(dtype), "; use Math::ieee"));
}

void refuse_capture(const Stream& stream, std::string_view what) {
  if (!stream.is_capturing()) return;
  throw Error(ErrorCode::invalid_argument,
              concat("the stream is captured for a CUDA graph; ", what,
                     " waits for its work, and is for before the capture or after it"));
}

bool only_on_device(const void* pointer) {
  return pointer != nullptr && !runtime::where(pointer).on_host;
}

}  // namespace lanky
