// Order of work on a device: a Stream runs what it is given one after the other, an Event marks a
// point in it. On the CPU a stream runs each call at once, in the calling thread.
#pragma once

#include <lanky/device.hpp>
#include <lanky/export.hpp>
#include <memory>
#include <utility>

struct CUstream_st;  // cudaStream_t is CUstream_st*; no CUDA header is needed to pass one

namespace lanky::inline v1 {

class Event;

/// A shared handle to a stream: copies name the same stream, which lives until the last is gone.
class LANKY_EXPORT Stream {
 public:
  /// A new non-blocking stream of the device.
  explicit Stream(Device device);
  /// The caller's own cudaStream_t (null: the legacy default stream). lanky never destroys it; it
  /// must live as long as the buffers and plans made on it, whose memory is freed in its order.
  static Stream wrap(CUstream_st* stream, Device device);

  Device device() const noexcept;
  /// The cudaStream_t; null on the CPU.
  CUstream_st* native() const noexcept;
  /// Whether native() is cudaStreamPerThread, which is another stream in each thread.
  bool is_per_thread_default() const noexcept;
  /// Whether work given to the stream is captured for a CUDA graph instead of being done.
  bool is_capturing() const;
  /// Blocks until all work given to the stream is done; throws what went wrong in it.
  void synchronize() const;
  /// Work given to this stream from now on starts after the event has been reached.
  void wait(const Event& event) const;

  /// Whether both name the same stream.
  friend LANKY_EXPORT bool operator==(const Stream& a, const Stream& b) noexcept;

 private:
  struct State;
  explicit Stream(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// A point in a stream, with its time.
class LANKY_EXPORT Event {
 public:
  explicit Event(Device device);
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;
  ~Event();

  Device device() const noexcept;
  /// Marks the current end of the stream.
  void record(const Stream& stream);
  /// Blocks until the recorded point has been reached.
  void synchronize() const;
  /// True once the recorded point has been reached.
  bool done() const;
  /// Milliseconds from `start` to `end`; both must have been recorded and reached.
  static double elapsed_ms(const Event& start, const Event& end);

 private:
  friend class Stream;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanky::inline v1
