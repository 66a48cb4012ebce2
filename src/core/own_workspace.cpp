#include "core/own_workspace.hpp"

#include <lanky/error.hpp>
#include <utility>

#include "core/arguments.hpp"
#include "core/text.hpp"

namespace lanky {

OwnWorkspace::OwnWorkspace(const Stream& stream, std::int64_t bytes, Allocator* allocator)
    : stream_(stream),
      thread_(std::this_thread::get_id()),
      memory_(std::make_unique<Buffer<std::byte>>(stream, bytes, allocator)),
      mutex_(std::make_unique<std::mutex>()) {
  memory_->fill_zero();
  stream.synchronize();
}

OwnWorkspace::Turn OwnWorkspace::take(const Stream& stream) const {
  check_same_device(stream_.device(), stream.device());
  if (memory_->size() == 0) return {nullptr, {}};
  const bool of_another_thread =
      stream.is_per_thread_default() && std::this_thread::get_id() != thread_;
  if (stream != stream_ || of_another_thread) {
    throw Error(
        ErrorCode::invalid_argument,
        concat("a run on ",
               of_another_thread ? "the default stream of another thread" : "another stream",
               " than the plan was made on needs a Workspace of ", memory_->size(),
               " bytes: the plan's own belongs to its stream"));
  }
  return {memory_->data(), std::unique_lock(*mutex_)};
}

}  // namespace lanky
