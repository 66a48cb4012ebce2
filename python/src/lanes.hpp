// The streams that a plan runs on. Its own workspace serves the stream that it was made on; each
// other stream gets a workspace from the allocator of the library that the stream came from.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "array.hpp"

namespace lanky::python {

/// A stream as Python tells it.
struct StreamHandle {
  CUstream_st* pointer = nullptr;
  // Keeps the stream; null where it came as a number, and of a current one, which a lane looks up.
  nb::object owner;
  // Memory that the library's allocator gives now is for this stream.
  bool current = false;
};

/// The stream of a call: `stream` (an int, or an object with __cuda_stream__, ptr or cuda_stream),
/// or where it is None the current stream of the library that `like` comes from; the legacy default
/// stream of libraries that do not tell. ValueError for a stream beside arrays in host memory.
StreamHandle stream_of(nb::handle stream, const Array& like);

/// A stream of a plan, and what its runs work in.
struct Lane {
  Lane(StreamHandle stream, Device device);
  explicit Lane(Stream own);

  StreamHandle handle;
  std::thread::id thread;  // of cudaStreamPerThread, which names another stream in each
  Stream stream;
  nb::object memory;                          // from the library's allocator, or
  std::unique_ptr<Buffer<std::byte>> buffer;  // from lanky's own
  Workspace workspace;
  std::mutex turn;      // runs on the lane are given to the stream one after the other
  bool reads = false;   // it was given runs since the values of A were last replaced
  bool behind = false;  // values were replaced on another lane, for which it has not waited yet
};

/// A lane on that stream, which it keeps; `like` is an array of the library that told the stream.
std::shared_ptr<Lane> lane_on(const StreamHandle& stream, const Array& like, Device device);

/// The lanes of one plan. All members are called with the GIL held.
class Lanes {
 public:
  /// The first lane is that of the constructor of the plan.
  explicit Lanes(std::shared_ptr<Lane> made_on) : lanes_{std::move(made_on)} {}
  Lanes(Lanes&&) = default;
  ~Lanes();

  const std::shared_ptr<Lane>& made_on() const { return lanes_.front(); }
  /// The lane of that stream, made where it is new; `bytes` of workspace.
  std::shared_ptr<Lane> find(const StreamHandle& stream, const Array& like, std::int64_t bytes);
  /// A lane on that stream for a caller who waits for its runs: one that the lanes do not remember,
  /// or the constructor's, where that has the stream, and on the CPU.
  std::shared_ptr<Lane> guest(const Stream& stream, std::int64_t bytes);
  /// The constructor's stream waits for what was given to all others.
  void join() noexcept;
  /// A run is given to the lane next: it waits for the lane that has replaced the values of
  /// A. Where the lane is captured in a graph, nothing waits, as a capture cannot depend on what
  /// was given before it: who captures has waited already, and orders the replays.
  void read(Lane& lane);
  /// The values of A are replaced on the lane next: it waits for all that read the former ones. As
  /// for read() where the lane is captured.
  void replace(const std::shared_ptr<Lane>& lane);

 private:
  static constexpr std::size_t kMost = 8;

  /// Remembers the end of a lane that makes room for another one.
  void let_go(const Lane& lane);

  std::vector<std::shared_ptr<Lane>> lanes_;
  // After the runs of all lanes that were let go since the values of A were last replaced.
  std::optional<Event> let_go_;
  std::shared_ptr<Lane> replaced_on_;  // the lane that has replaced the values; null: none has
};

/// Gives a run to a lane without the GIL; run(stream, workspace), whose workspace is null on the
/// lane that the plan was made on.
template <class Run>
void give(Lane& lane, bool own, Run&& run) {
  const nb::gil_scoped_release released;
  const std::lock_guard turn(lane.turn);
  run(lane.stream, own ? nullptr : &lane.workspace);
}

}  // namespace lanky::python
