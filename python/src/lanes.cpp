// The streams that a plan runs on. Its own workspace serves the stream that it was made on; each
// other stream gets a workspace from the allocator of the library that the stream came from.
#include "lanes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "errors.hpp"
#include "process.hpp"

namespace lanky::python {

namespace {

CUstream_st* pointer_of(nb::handle value) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw_value_error("stream is " + nb::cast<std::string>(nb::str(value)) +
                      "; a cudaStream_t as a number of 0 or more is needed");
  }
  return reinterpret_cast<CUstream_st*>(number);
}

StreamHandle given(nb::handle stream) {
  const nb::object owner = nb::borrow(stream);
  if (PyLong_Check(stream.ptr())) return {pointer_of(stream), {}};
  if (nb::hasattr(stream, "__cuda_stream__")) {
    nb::object told = stream.attr("__cuda_stream__");
    if (PyCallable_Check(told.ptr()) != 0) told = told();
    return {pointer_of(told[1]), owner};
  }
  if (nb::hasattr(stream, "ptr")) return {pointer_of(stream.attr("ptr")), owner};
  if (nb::hasattr(stream, "cuda_stream")) return {pointer_of(stream.attr("cuda_stream")), owner};
  throw_type_error(std::string("stream is a ") + nb::type_name(stream.type()).c_str() +
                   "; an int, or an object with __cuda_stream__, ptr or cuda_stream is needed");
}

StreamHandle current_cupy(int device) {
  static const nb::object& current =
      *new nb::object(nb::module_::import_("cupy").attr("cuda").attr("get_current_stream"));
  nb::object stream = current(device);
  return {pointer_of(stream.attr("ptr")), stream, true};
}

/// PyTorch's streams live as long as the process. The raw stream is what PyTorch's own compiler
/// reads, at a tenth of the time of current_stream(), which serves where that is missing.
StreamHandle current_torch(int device) {
  static const nb::object& raw = *new nb::object(nb::getattr(
      nb::module_::import_("torch").attr("_C"), "_cuda_getCurrentRawStream", nb::none()));
  static const nb::object& slow =
      *new nb::object(nb::module_::import_("torch").attr("cuda").attr("current_stream"));
  if (!raw.is_none()) return {pointer_of(raw(device)), {}, true};
  return {pointer_of(slow(device).attr("cuda_stream")), {}, true};
}

bool is_per_thread(CUstream_st* stream) {
  constexpr std::uintptr_t kPerThread = 2;  // cudaStreamPerThread
  return reinterpret_cast<std::uintptr_t>(stream) == kPerThread;
}

bool is_of(const Lane& lane, const StreamHandle& stream) {
  return lane.handle.pointer == stream.pointer &&
         (!is_per_thread(stream.pointer) || lane.thread == std::this_thread::get_id());
}

void lend(Lane& lane, const Array& like, std::int64_t bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  if (lane.handle.current)
    lane.memory = borrow_memory(like.kind, lane.stream.device().index(), bytes, &data);
  if (!lane.memory.is_valid()) {
    lane.buffer = std::make_unique<Buffer<std::byte>>(lane.stream, bytes);
    data = lane.buffer->data();
  }
  lane.workspace = {data, bytes};
}

}  // namespace

StreamHandle stream_of(nb::handle stream, const Array& like) {
  if (like.on_host()) {
    if (!stream.is_none())
      throw_value_error(std::string("a stream is given, but ") + like.name + " is in host memory");
    return {};
  }
  if (!stream.is_none()) return given(stream);
  switch (like.kind) {
    case Kind::cupy:
      return current_cupy(like.device);
    case Kind::torch:
      return current_torch(like.device);
    default:
      return {};
  }
}

Lane::Lane(StreamHandle stream_handle, Device device)
    : handle(std::move(stream_handle)),
      thread(std::this_thread::get_id()),
      stream(Stream::wrap(handle.pointer, device)) {}

Lane::Lane(Stream own)
    : handle{own.native(), {}, false}, thread(std::this_thread::get_id()), stream(std::move(own)) {}

Lanes::~Lanes() {
  if (lanes_.empty() || !lanes_.front()) return;
  if (!lanes_.front()->stream.device().is_cuda() || !forked_after_cuda()) return;
  // In the child of a fork nothing of CUDA may be touched, not even to free it.
  for (const std::shared_ptr<Lane>& lane : lanes_)
    new std::shared_ptr<Lane>(lane);
}

std::shared_ptr<Lane> Lanes::find(const StreamHandle& stream, const Array& like,
                                  std::int64_t bytes) {
  for (const std::shared_ptr<Lane>& lane : lanes_) {
    if (is_of(*lane, stream)) return lane;
  }
  const auto lane = std::make_shared<Lane>(stream, made_on()->stream.device());
  lend(*lane, like, bytes);
  if (lanes_.size() == kMost) {
    const auto idle = std::find_if(lanes_.begin() + 1, lanes_.end(),
                                   [](const auto& known) { return known.use_count() == 1; });
    if (idle != lanes_.end()) lanes_.erase(idle);
  }
  lanes_.push_back(lane);
  return lane;
}

void Lanes::join() noexcept {
  if (lanes_.size() < 2) return;
  try {
    for (std::size_t i = 1; i < lanes_.size(); ++i) {
      Event given(lanes_[i]->stream.device());
      given.record(lanes_[i]->stream);
      made_on()->stream.wait(given);
    }
  } catch (const std::exception&) {
    // The device is gone, and what waits for it with it.
  }
}

void Lanes::follow() {
  if (lanes_.size() < 2) return;
  Event given(made_on()->stream.device());
  given.record(made_on()->stream);
  for (std::size_t i = 1; i < lanes_.size(); ++i)
    lanes_[i]->stream.wait(given);
}

}  // namespace lanky::python
