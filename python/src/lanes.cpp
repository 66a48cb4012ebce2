// The streams that a plan runs on. Its own workspace serves the stream that it was made on; each
// other stream gets a workspace from the allocator of the library that the stream came from.
#include "lanes.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "errors.hpp"
#include "exchange.hpp"
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

/// The function by which CuPy's own modules look the stream of a device up, a tenth of the time of
/// its Python function; null where this CuPy has none of that signature.
using StreamOfDevice = std::intptr_t (*)(int device);
StreamOfDevice cupy_stream_function() {
  try {
    const nb::object functions =
        nb::module_::import_("cupy_backends.cuda.stream").attr("__pyx_capi__");
    const nb::object capsule = functions["get_stream_ptr"];
    constexpr const char* kSignature = "intptr_t (int)";
    if (PyCapsule_IsValid(capsule.ptr(), kSignature) == 0) return nullptr;
    return reinterpret_cast<StreamOfDevice>(PyCapsule_GetPointer(capsule.ptr(), kSignature));
  } catch (nb::python_error&) {
    return nullptr;
  }
}

nb::object current_object_of_cupy(int device) {
  static const nb::object& current =
      *new nb::object(nb::module_::import_("cupy").attr("cuda").attr("get_current_stream"));
  return current(device);
}

StreamHandle current_cupy(int device) {
  static const StreamOfDevice quick = cupy_stream_function();
  if (quick == nullptr) return {pointer_of(current_object_of_cupy(device).attr("ptr")), {}, true};
  const std::intptr_t stream = quick(device);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return {reinterpret_cast<CUstream_st*>(stream), {}, true};
}

/// DLPack's table tells it, where PyTorch has one; else the raw stream is what PyTorch's own
/// compiler reads, at a tenth of the time of current_stream(), which serves where that is missing.
StreamHandle current_torch(int device) {
  static const Exchange* const exchange = exchange_of_torch();
  if (exchange != nullptr && exchange->current_stream != nullptr) {
    constexpr std::int32_t kCuda = 2;
    void* stream = nullptr;
    if (exchange->current_stream(kCuda, device, &stream) != 0) throw nb::python_error();
    return {static_cast<CUstream_st*>(stream), {}, true};
  }
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

/// `stream` with what keeps it. PyTorch's streams live as long as the process.
StreamHandle kept(StreamHandle stream, const Array& like) {
  if (stream.current && like.kind == Kind::cupy) stream.owner = current_object_of_cupy(like.device);
  return stream;
}

/// What `later` is given from now on starts after what `earlier` was given.
void wait(const Stream& later, const Stream& earlier) {
  Event given(earlier.device());
  given.record(earlier);
  later.wait(given);
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
  static_cast<void>(new (std::nothrow) Lanes(std::move(*this)));
}

std::shared_ptr<Lane> lane_on(const StreamHandle& stream, const Array& like, Device device) {
  return std::make_shared<Lane>(kept(stream, like), device);
}

std::shared_ptr<Lane> Lanes::find(const StreamHandle& stream, const Array& like,
                                  std::int64_t bytes) {
  for (const std::shared_ptr<Lane>& lane : lanes_) {
    if (is_of(*lane, stream)) return lane;
  }
  std::shared_ptr<Lane> lane = lane_on(stream, like, made_on()->stream.device());
  lane->behind = replaced_on_ != nullptr;
  lend(*lane, like, bytes);
  if (lanes_.size() == kMost) {
    const auto idle = std::find_if(lanes_.begin() + 1, lanes_.end(),
                                   [](const auto& known) { return known.use_count() == 1; });
    if (idle != lanes_.end()) {
      let_go(**idle);
      lanes_.erase(idle);
    }
  }
  lanes_.push_back(lane);
  return lane;
}

std::shared_ptr<Lane> Lanes::guest(const Stream& stream, std::int64_t bytes) {
  if (!stream.device().is_cuda() || stream == made_on()->stream) {
    read(*made_on());
    return made_on();
  }
  auto lane = std::make_shared<Lane>(stream);
  lend(*lane, {}, bytes);
  if (replaced_on_ != nullptr) wait(stream, replaced_on_->stream);
  return lane;
}

void Lanes::let_go(const Lane& lane) {
  if (let_go_) {
    lane.stream.wait(*let_go_);
  } else {
    let_go_.emplace(lane.stream.device());
  }
  let_go_->record(lane.stream);
}

void Lanes::join() noexcept {
  try {
    const Stream& last = made_on()->stream;
    for (std::size_t i = 1; i < lanes_.size(); ++i)
      wait(last, lanes_[i]->stream);
    if (let_go_) last.wait(*let_go_);
  } catch (const std::exception&) {
    // The device is gone, and what waits for it with it.
  }
}

void Lanes::read(Lane& lane) {
  lane.reads = true;
  if (!lane.behind || lane.stream.is_capturing()) return;
  wait(lane.stream, replaced_on_->stream);
  lane.behind = false;
}

void Lanes::replace(const std::shared_ptr<Lane>& lane) {
  const bool alone = !lane->behind && !let_go_ && lanes_.size() == 1;
  if (!alone && lane->stream.is_capturing()) return;
  read(*lane);
  for (const std::shared_ptr<Lane>& other : lanes_) {
    if (other == lane) continue;
    if (other->reads) wait(lane->stream, other->stream);
    other->reads = false;
    other->behind = true;
  }
  if (let_go_) lane->stream.wait(*let_go_);
  let_go_.reset();
  replaced_on_ = lane;
}

}  // namespace lanky::python
