// Memory of the plug-in's own, for the host, for a GPU, and for what passes between them and to
// MPI.
#pragma once

#include "columns.hpp"

namespace lanky_petsc {

/// Memory of one kind that grows: of the host, pinned where a GPU is to reach it, or of a GPU: from
/// cudaMalloc(), since no other process can open what cudaMallocAsync() gives.
class Memory {
 public:
  enum class Kind { host, pinned, device };
  explicit Memory(Kind kind) : kind_(kind) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { release(); }

  /// At least `count` elements; what they held is lost where they have to be more than before.
  Element* at_least(std::int64_t count);
  Element* data() const { return static_cast<Element*>(data_); }

 private:
  void release() noexcept;
  [[maybe_unused]] Kind kind_;  // there is one alone without CUDA
  std::int64_t count_ = 0;
  void* data_ = nullptr;
};

#if defined(PETSC_HAVE_CUDA)
/// Throws lanky::Error for what is not a success, with the name of the call.
void check(cudaError_t status, const char* call);
#endif
/// A point in a stream of a GPU, without its time, which lanky::Event has and the GPU would have to
/// write. All may throw lanky::Error.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
#if defined(PETSC_HAVE_CUDA)
  ~Mark();
#endif

  void record(const lanky::Stream& stream);
  /// The host waits until the stream has come there.
  void synchronize() const;
  /// Work given to `stream` from now on starts when the other one has come there.
  void hold(const lanky::Stream& stream) const;

 private:
#if defined(PETSC_HAVE_CUDA)
  cudaEvent_t event_ = nullptr;
#endif
};

/// A stream of the process's own. An urgent one is for work that other ranks or the host wait for:
/// the GPU takes its blocks before those of other streams. Throws lanky::Error.
enum class Urgency { normal, urgent };
const lanky::Stream& own_stream(lanky::Device device, Urgency urgency);
/// Work given to `then` from now on starts after what `first` has been given.
void order(const lanky::Stream& first, const lanky::Stream& then);
/// Copies between pinned memory and a GPU's, in the order of `stream`. Throws lanky::Error.
void copy_across(const lanky::Stream& stream, const Element* from, std::int64_t count, Element* to);

}  // namespace lanky_petsc
