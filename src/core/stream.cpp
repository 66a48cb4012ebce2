#include <chrono>
#include <cstdint>
#include <lanky/error.hpp>
#include <lanky/stream.hpp>
#include <optional>
#include <utility>

#include "core/arguments.hpp"
#include "core/runtime.hpp"
#include "core/text.hpp"

namespace lanky::inline v1 {

struct Stream::State {
  /// A stream of its own. Memory for this comes first: nothing keeps the stream where there is
  /// none.
  explicit State(Device d)
      : device(d),
        native(d.is_cuda() ? runtime::create_stream(d.index()) : nullptr),
        owned(d.is_cuda()) {}
  /// The caller's.
  State(Device d, CUstream_st* n) : device(d), native(n), owned(false) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (owned) runtime::destroy_stream(native);
  }

  Device device;
  CUstream_st* native;
  bool owned;
};

namespace {

/// The device, which a stream is the first use of: code that does not run there is told here.
Device usable(Device device) {
  if (device.is_cuda()) runtime::code_target(device.index());
  return device;
}

// Values of cudaStream_t that name streams of CUDA's own.
constexpr std::uintptr_t kLegacyDefault = 1;  // as null does
constexpr std::uintptr_t kPerThreadDefault = 2;

std::uintptr_t number_of(const CUstream_st* stream) noexcept {
  return stream == nullptr ? kLegacyDefault : reinterpret_cast<std::uintptr_t>(stream);
}

}  // namespace

Stream::Stream(Device device) : state_(std::make_shared<const State>(usable(device))) {}

Stream Stream::wrap(CUstream_st* stream, Device device) {
  if (!device.is_cuda()) {
    throw Error(ErrorCode::invalid_argument,
                concat("a cudaStream_t belongs to a CUDA device, not to ", device.name()));
  }
  return Stream(std::make_shared<const State>(usable(device), stream));
}

Device Stream::device() const noexcept {
  return state_->device;
}

CUstream_st* Stream::native() const noexcept {
  return state_->native;
}

bool Stream::is_per_thread_default() const noexcept {
  return device().is_cuda() && reinterpret_cast<std::uintptr_t>(native()) == kPerThreadDefault;
}

bool Stream::is_capturing() const {
  // The legacy default stream never is, and asking is an error while another stream is captured.
  if (!device().is_cuda() || number_of(native()) == kLegacyDefault) return false;
  return runtime::is_capturing(native());
}

bool operator==(const Stream& a, const Stream& b) noexcept {
  if (a.state_ == b.state_) return true;
  return a.device() == b.device() && a.device().is_cuda() &&
         number_of(a.native()) == number_of(b.native());
}

void Stream::synchronize() const {
  if (!device().is_cuda()) return;
  refuse_capture(*this, "synchronize()");
  runtime::synchronize(native(), device().index());
}

struct Event::State {
  explicit State(Device d) : device(d) {
    if (device.is_cuda()) native = runtime::create_event(device.index());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (native != nullptr) runtime::destroy_event(native);
  }

  Device device;
  CUevent_st* native = nullptr;
  std::optional<std::chrono::steady_clock::time_point> time;  // on the CPU, where work is done
};

Event::Event(Device device) : state_(std::make_unique<State>(device)) {}
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;
Event::~Event() = default;

Device Event::device() const noexcept {
  return state_->device;
}

void Event::record(const Stream& stream) {
  if (stream.device() != device()) {
    throw Error(ErrorCode::invalid_argument,
                concat("an event of ", device().name(), " cannot mark a stream of ",
                       stream.device().name()));
  }
  if (device().is_cuda()) {
    runtime::record(state_->native, stream.native(), device().index());
  } else {
    state_->time = std::chrono::steady_clock::now();
  }
}

void Event::synchronize() const {
  if (device().is_cuda()) runtime::synchronize(state_->native);
}

bool Event::done() const {
  return !device().is_cuda() || runtime::done(state_->native);
}

double Event::elapsed_ms(const Event& start, const Event& end) {
  if (start.device() != end.device()) {
    throw Error(ErrorCode::invalid_argument,
                concat("no time passes between events of ", start.device().name(), " and ",
                       end.device().name()));
  }
  if (start.device().is_cuda())
    return runtime::elapsed_ms(start.state_->native, end.state_->native);
  if (!start.state_->time || !end.state_->time) {
    throw Error(ErrorCode::invalid_argument, "elapsed_ms needs two recorded events");
  }
  return std::chrono::duration<double, std::milli>(*end.state_->time - *start.state_->time).count();
}

void Stream::wait(const Event& event) const {
  if (device().is_cuda() && event.device().is_cuda()) {
    runtime::wait(native(), event.state_->native, device().index());
  } else {
    event.synchronize();
  }
}

}  // namespace lanky::inline v1
