// A rung's launch: asked of the device before it is made, so that a shape that the device cannot
// run becomes an Error and not a failure under way.
#pragma once

#include <cuda_runtime.h>

#include <lanky/error.hpp>
#include <lanky/stream.hpp>

#include "core/text.hpp"
#include "device/launch.cuh"

namespace lanky::ladder {

template <class... Parameters>
class Launch {
 public:
  using Kernel = void (*)(Parameters...);

  /// Throws Error(unsupported) where the device takes no block or grid of that shape.
  Launch(const Stream& stream, Kernel kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0)
      : kernel_(kernel), grid_(grid), block_(block), shared_bytes_(shared_bytes) {
    constexpr unsigned kMostRows = 65535;  // of a grid: its y and z
    const DeviceGuard guard(stream.device().index());
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
               "cudaFuncGetAttributes");
    const unsigned threads = block.x * block.y;
    if (threads > static_cast<unsigned>(attributes.maxThreadsPerBlock)) {
      throw Error(ErrorCode::unsupported,
                  concat("a block of ", block.y, " x ", block.x, " = ", threads,
                         " threads; of this kernel the device runs at most ",
                         attributes.maxThreadsPerBlock));
    }
    if (grid.y > kMostRows) {
      throw Error(ErrorCode::unsupported, concat("a grid of ", grid.y, " x ", grid.x,
                                                 " blocks; the most rows are ", kMostRows));
    }
    const std::size_t most = stream.device().properties().shared_bytes_per_block;
    if (attributes.sharedSizeBytes + shared_bytes > most) {
      throw Error(ErrorCode::unsupported,
                  concat(attributes.sharedSizeBytes + shared_bytes,
                         " bytes of shared memory in a block; the device has ", most));
    }
    device::allow_shared_memory(stream, kernel, static_cast<int>(shared_bytes));
  }

  void operator()(const Stream& stream, Parameters... arguments) const {
    const device::LaunchScope scope(stream);
    kernel_<<<grid_, block_, shared_bytes_, stream.native()>>>(arguments...);
    scope.check("a rung of a ladder");
  }

 private:
  Kernel kernel_;
  dim3 grid_;
  dim3 block_;
  std::size_t shared_bytes_;
};

template <class... Parameters>
Launch(const Stream&, void (*)(Parameters...), dim3, dim3) -> Launch<Parameters...>;
template <class... Parameters>
Launch(const Stream&, void (*)(Parameters...), dim3, dim3, std::size_t) -> Launch<Parameters...>;

}  // namespace lanky::ladder
