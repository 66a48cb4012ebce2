// Memory of a device for the operands of one product after the other: one copy there for all of
// them, since a driver does the calls of all threads one by one.
#pragma once

#include <cstddef>
#include <cstring>
#include <lanky/buffer.hpp>
#include <memory>
#include <vector>

#include "random/device_work.hpp"

namespace lanky::random_cases {

class Arena {
 public:
  /// With `apart` each operand has a buffer of its own, whose ends compute-sanitizer knows.
  Arena(const Stream& stream, bool apart) : stream_(stream), apart_(apart) {}

  void clear() {
    host_.clear();
    starts_.clear();
    sizes_.clear();
  }

  /// Takes a copy. Returns the operand's number.
  template <class E>
  std::size_t add(const std::vector<E>& elements) {
    const std::size_t bytes = elements.size() * sizeof(E);
    starts_.push_back(host_.size());
    sizes_.push_back(bytes);
    // What stands between operands is NaN in all types.
    host_.resize((host_.size() + bytes + kBetween + kAligned - 1) / kAligned * kAligned,
                 std::byte{0xff});
    if (bytes > 0) std::memcpy(host_.data() + starts_.back(), elements.data(), bytes);
    return starts_.size() - 1;
  }

  /// All of them, in the order of the stream.
  void upload_all() {
    if (!apart_) {
      reserve(0, host_.size());
      upload(stream_, buffers_[0]->data(), host_.data(), host_.size());
      return;
    }
    buffers_.clear();
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      reserve(i, sizes_[i]);
      upload(stream_, buffers_[i]->data(), host_.data() + starts_[i], sizes_[i]);
    }
  }

  /// Where an operand stands, after upload_all().
  template <class E>
  E* data(std::size_t operand) {
    std::byte* const begin =
        apart_ ? buffers_[operand]->data() : buffers_[0]->data() + starts_[operand];
    return sizes_[operand] > 0 ? reinterpret_cast<E*>(begin) : nullptr;
  }

 private:
  static constexpr std::size_t kAligned = 256;
  static constexpr std::size_t kBetween = 64;

  void reserve(std::size_t index, std::size_t bytes) {
    if (buffers_.size() <= index) buffers_.resize(index + 1);
    std::unique_ptr<Buffer<std::byte>>& buffer = buffers_[index];
    if (buffer && static_cast<std::size_t>(buffer->size()) >= bytes) return;
    const std::size_t size = apart_ ? bytes : 2 * bytes;
    buffer = std::make_unique<Buffer<std::byte>>(stream_, static_cast<std::int64_t>(size));
  }

  Stream stream_;
  bool apart_;
  std::vector<std::byte> host_{};
  std::vector<std::size_t> starts_{};
  std::vector<std::size_t> sizes_{};
  std::vector<std::unique_ptr<Buffer<std::byte>>> buffers_{};
};

}  // namespace lanky::random_cases
