// Devices, streams and events.
#include <lanky/lanky.h>
#include <lanky/device.hpp>
#include <lanky/stream.hpp>

#include <memory>
#include <string>

#include "capi/arguments.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"

struct lanky_event {
  lanky::Event event;
};

namespace lanky::capi {

static_assert(LANKY_DEVICE_KIND_CPU == int(DeviceKind::cpu) &&
              LANKY_DEVICE_KIND_CUDA == int(DeviceKind::cuda));

namespace {

/// *result = from_device(make()), or no device where that fails.
template <class Make>
lanky_status make_device(lanky_device* result, Make&& make) noexcept {
  return guarded([&] {
    require(result, "device") = kNoDevice;
    *result = from_device(make());
  });
}

lanky_device_properties from_properties(const DeviceProperties& properties) {
  lanky_device_properties result = {};
  copy_name(result.name, properties.name);
  result.multiprocessors = properties.multiprocessors;
  result.compute_capability = properties.compute_capability;
  result.memory_bytes = properties.memory_bytes;
  result.l2_bytes = properties.l2_bytes;
  result.shared_bytes_per_block = properties.shared_bytes_per_block;
  result.shared_bytes_per_multiprocessor = properties.shared_bytes_per_multiprocessor;
  result.clock = properties.clock;
  result.memory_bandwidth = properties.memory_bandwidth;
  return result;
}

}  // namespace

}  // namespace lanky::capi

lanky_device lanky_device_cpu(void) {
  return {LANKY_DEVICE_KIND_CPU, 0};
}

lanky_status lanky_device_cuda(int32_t index, lanky_device* device) {
  return capi::make_device(device, [&] { return lanky::Device::cuda(index); });
}

lanky_status lanky_device_best(lanky_device* device) {
  return capi::make_device(device, [] { return lanky::Device::best(); });
}

lanky_status lanky_device_parse(const char* text, lanky_device* device) {
  return capi::make_device(device,
                           [&] { return lanky::Device::parse(capi::require_text(text, "text")); });
}

int32_t lanky_device_cuda_count(void) {
  return lanky::Device::cuda_count();
}

lanky_status lanky_device_cuda_absence(char* text, size_t size, size_t* length) {
  return capi::make_text(text, size, length, [] { return lanky::Device::cuda_absence(); });
}

lanky_status lanky_device_name(lanky_device device, char* text, size_t size, size_t* length) {
  return capi::make_text(text, size, length, [&] { return capi::to_device(device).name(); });
}

lanky_status lanky_device_get_properties(lanky_device device, lanky_device_properties* properties,
                                         size_t size) {
  return capi::make_struct(properties, size, [&] {
    return capi::from_properties(capi::to_device(device).properties());
  });
}

lanky_status lanky_stream_create(lanky_device device, lanky_stream** stream) {
  return capi::make_handle(stream, "stream", [&] {
    return std::make_unique<lanky_stream>(lanky_stream{lanky::Stream(capi::to_device(device))});
  });
}

lanky_status lanky_stream_wrap(void* cuda_stream, lanky_device device, lanky_stream** stream) {
  return capi::make_handle(stream, "stream", [&] {
    return std::make_unique<lanky_stream>(lanky_stream{
        lanky::Stream::wrap(static_cast<CUstream_st*>(cuda_stream), capi::to_device(device))});
  });
}

void lanky_stream_destroy(lanky_stream* stream) {
  delete stream;
}

lanky_device lanky_stream_device(const lanky_stream* stream) {
  return capi::property(stream, "stream", capi::kNoDevice, [](const lanky_stream& given) {
    return capi::from_device(given.stream.device());
  });
}

void* lanky_stream_native(const lanky_stream* stream) {
  return capi::property(stream, "stream", static_cast<void*>(nullptr),
                        [](const lanky_stream& given) { return given.stream.native(); });
}

int32_t lanky_stream_equal(const lanky_stream* a, const lanky_stream* b) {
  return capi::property(a, "stream", std::int32_t{0}, [&](const lanky_stream& first) {
    return std::int32_t{first.stream == capi::require(b, "stream").stream};
  });
}

lanky_status lanky_stream_is_capturing(const lanky_stream* stream, int32_t* capturing) {
  return capi::make_value(capturing, "capturing",
                          [&] { return capi::require(stream, "stream").stream.is_capturing(); });
}

lanky_status lanky_stream_synchronize(const lanky_stream* stream) {
  return capi::guarded([&] { capi::require(stream, "stream").stream.synchronize(); });
}

lanky_status lanky_stream_wait(const lanky_stream* stream, const lanky_event* event) {
  return capi::guarded(
      [&] { capi::require(stream, "stream").stream.wait(capi::require(event, "event").event); });
}

lanky_status lanky_event_create(lanky_device device, lanky_event** event) {
  return capi::make_handle(event, "event", [&] {
    return std::make_unique<lanky_event>(lanky_event{lanky::Event(capi::to_device(device))});
  });
}

void lanky_event_destroy(lanky_event* event) {
  delete event;
}

lanky_device lanky_event_device(const lanky_event* event) {
  return capi::property(event, "event", capi::kNoDevice, [](const lanky_event& given) {
    return capi::from_device(given.event.device());
  });
}

lanky_status lanky_event_record(lanky_event* event, const lanky_stream* stream) {
  return capi::guarded(
      [&] { capi::require(event, "event").event.record(capi::require(stream, "stream").stream); });
}

lanky_status lanky_event_synchronize(const lanky_event* event) {
  return capi::guarded([&] { capi::require(event, "event").event.synchronize(); });
}

lanky_status lanky_event_done(const lanky_event* event, int32_t* done) {
  return capi::make_value(done, "done", [&] { return capi::require(event, "event").event.done(); });
}

lanky_status lanky_event_elapsed_ms(const lanky_event* start, const lanky_event* end, double* ms) {
  return capi::make_value(ms, "ms", [&] {
    return lanky::Event::elapsed_ms(capi::require(start, "start").event,
                                    capi::require(end, "end").event);
  });
}
