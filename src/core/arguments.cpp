#include "core/arguments.hpp"

#include <lanky/error.hpp>

#include "core/runtime.hpp"
#include "core/text.hpp"

namespace lanky {

void check_on_device(const void* pointer, std::int64_t count, Device device,
                     std::string_view what) {
  if (count == 0) return;
  if (pointer == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                concat(what, " is a null pointer, but has ", count, " elements"));
  }
  const runtime::PointerSide side = runtime::where(pointer);
  if (!device.is_cuda()) {
    if (side.on_host) return;
    throw Error(ErrorCode::wrong_memory, concat(what, " is in the memory of cuda:", side.device,
                                                ", but the stream computes on the cpu"));
  }
  if (!side.on_device) {
    throw Error(ErrorCode::wrong_memory,
                concat(what, " is in host memory, but the stream computes on ", device.name(),
                       "; copy it there (lanky::Buffer)"));
  }
  if (side.device >= 0 && side.device != device.index()) {
    throw Error(ErrorCode::wrong_memory, concat(what, " is in the memory of cuda:", side.device,
                                                ", but the stream computes on ", device.name()));
  }
}

void check_same_device(Device plan, Device stream) {
  if (plan == stream) return;
  throw Error(ErrorCode::wrong_memory, concat("the plan was made for ", plan.name(),
                                              ", but the stream is of ", stream.name()));
}

void check_workspace(const void* data, std::int64_t bytes, std::int64_t needed, Device device) {
  if (bytes < needed) {
    throw Error(ErrorCode::size_mismatch,
                concat("the workspace has ", bytes, " bytes, the plan needs ", needed));
  }
  check_on_device(data, needed, device, "the workspace");
}

bool only_on_device(const void* pointer) {
  return pointer != nullptr && !runtime::where(pointer).on_host;
}

}  // namespace lanky
