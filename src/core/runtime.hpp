// What lanky needs of a GPU runtime, without its headers. Two implementations: runtime_cuda.cpp,
// and runtime_absent.cpp for builds without CUDA (no device is ever found, so the rest is
// unreachable).
#pragma once

#include <cstddef>
#include <lanky/device.hpp>
#include <string>

#include "core/machine.hpp"

struct CUstream_st;
struct CUevent_st;

namespace lanky::runtime {

struct DeviceCount {
  int devices = 0;
  std::string absence;  // why there is none
};

/// Where a pointer points. Host memory that CUDA does not know of is plain host memory.
struct PointerSide {
  bool on_host = true;     // the CPU can read it
  bool on_device = false;  // some GPU can read it
  int device = -1;         // the GPU that owns it; -1 where any can read it
  bool known = true;       // false where CUDA tells nothing any more (a lost context)
};

const DeviceCount& device_count() noexcept;
DeviceProperties properties(int device);

/// What the code that is loaded for a device was compiled for, by a kernel that says so and shows
/// that it ran. It runs at the first call. Throws Error(no_device) that says what to do where the
/// device has no code, the driver is too old for it, or its result is wrong.
CodeTarget code_target(int device);

CUstream_st* create_stream(int device);
void destroy_stream(CUstream_st* stream) noexcept;
void synchronize(CUstream_st* stream, int device);
bool is_capturing(CUstream_st* stream);

CUevent_st* create_event(int device);
void destroy_event(CUevent_st* event) noexcept;
void record(CUevent_st* event, CUstream_st* stream, int device);
void wait(CUstream_st* stream, CUevent_st* event, int device);
void synchronize(CUevent_st* event);
bool done(CUevent_st* event);
double elapsed_ms(CUevent_st* start, CUevent_st* end);

void* allocate(std::size_t bytes, CUstream_st* stream, int device);
void deallocate(void* data, CUstream_st* stream, int device) noexcept;
void copy(void* target, const void* source, std::size_t bytes, CUstream_st* stream, int device);
void zero(void* target, std::size_t bytes, CUstream_st* stream, int device);

PointerSide where(const void* pointer);

}  // namespace lanky::runtime
