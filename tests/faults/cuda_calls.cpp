// CUDA's runtime as lanky calls it in this program (ld's --wrap): an Injection can have a call
// fail, and what is taken is counted.
#include <cuda_runtime_api.h>

#include <atomic>

#include "faults/injection.hpp"

namespace {

using lanky::faults::Source;

std::atomic<std::int64_t> taken_device{0};
std::atomic<std::int64_t> taken_pinned{0};
std::atomic<std::int64_t> taken_streams{0};
std::atomic<std::int64_t> taken_events{0};
std::atomic<std::int64_t> taken_graphs{0};
// What cudaGetLastError tells next of a call that did not come to CUDA.
thread_local cudaError_t injected = cudaSuccess;

bool fails(const char* what, bool passed_over = false) noexcept {
  return lanky::faults::detail::fails(Source::cuda, what, passed_over);
}

cudaError_t failure(cudaError_t status) noexcept {
  injected = status;
  return status;
}

}  // namespace

lanky::faults::Held lanky::faults::held() noexcept {
  return {taken_device, taken_pinned, taken_streams, taken_events, taken_graphs};
}

// NOLINTBEGIN: names that ld gives
#define LANKY_REAL(name, parameters) extern "C" cudaError_t __real_##name parameters

/// Fails before it comes to CUDA.
#define LANKY_FAILING(name, parameters, arguments, status)           \
  LANKY_REAL(name, parameters);                                      \
  extern "C" cudaError_t __wrap_##name parameters {                  \
    return fails(#name) ? failure(status) : __real_##name arguments; \
  }
/// Waits all the same: where CUDA does not, nothing of the context runs any more.
#define LANKY_WAITING(name, parameters, arguments)            \
  LANKY_REAL(name, parameters);                               \
  extern "C" cudaError_t __wrap_##name parameters {           \
    const cudaError_t status = __real_##name arguments;       \
    return fails(#name) ? failure(cudaErrorUnknown) : status; \
  }
/// The same of a call that lanky can do without.
#define LANKY_DISPENSABLE(name, parameters, arguments)                               \
  LANKY_REAL(name, parameters);                                                      \
  extern "C" cudaError_t __wrap_##name parameters {                                  \
    return fails(#name, true) ? failure(cudaErrorUnknown) : __real_##name arguments; \
  }
/// Takes what `counter` counts.
#define LANKY_TAKING(name, parameters, arguments, counter)       \
  LANKY_REAL(name, parameters);                                  \
  extern "C" cudaError_t __wrap_##name parameters {              \
    if (fails(#name)) return failure(cudaErrorMemoryAllocation); \
    const cudaError_t status = __real_##name arguments;          \
    if (status == cudaSuccess) ++counter;                        \
    return status;                                               \
  }
/// Gives it back, and may then say that it failed.
#define LANKY_GIVING(name, parameters, arguments, counter)          \
  LANKY_REAL(name, parameters);                                     \
  extern "C" cudaError_t __wrap_##name parameters {                 \
    const cudaError_t status = __real_##name arguments;             \
    if (status == cudaSuccess) --counter;                           \
    return fails(#name, true) ? failure(cudaErrorUnknown) : status; \
  }

LANKY_TAKING(cudaMallocAsync, (void** p, std::size_t n, cudaStream_t s), (p, n, s), taken_device)
LANKY_TAKING(cudaMallocHost, (void** p, std::size_t n), (p, n), taken_pinned)
LANKY_TAKING(cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned f), (s, f), taken_streams)
LANKY_TAKING(cudaEventCreate, (cudaEvent_t * e), (e), taken_events)
LANKY_TAKING(cudaGraphInstantiate, (cudaGraphExec_t * e, cudaGraph_t g, unsigned long long f),
             (e, g, f), taken_graphs)

LANKY_GIVING(cudaFreeAsync, (void* p, cudaStream_t s), (p, s), taken_device)
LANKY_GIVING(cudaFreeHost, (void* p), (p), taken_pinned)
LANKY_GIVING(cudaStreamDestroy, (cudaStream_t s), (s), taken_streams)
LANKY_GIVING(cudaEventDestroy, (cudaEvent_t e), (e), taken_events)
LANKY_GIVING(cudaGraphExecDestroy, (cudaGraphExec_t e), (e), taken_graphs)

LANKY_FAILING(cudaLaunchKernelExC, (const cudaLaunchConfig_t* c, const void* f, void** a),
              (c, f, a), cudaErrorLaunchOutOfResources)
LANKY_FAILING(cudaFuncGetAttributes, (cudaFuncAttributes * a, const void* f), (a, f),
              cudaErrorUnknown)
LANKY_FAILING(cudaFuncSetAttribute, (const void* f, cudaFuncAttribute a, int v), (f, a, v),
              cudaErrorUnknown)
LANKY_FAILING(cudaMemcpyAsync,
              (void* t, const void* s, std::size_t n, cudaMemcpyKind k, cudaStream_t st),
              (t, s, n, k, st), cudaErrorUnknown)
LANKY_FAILING(cudaMemsetAsync, (void* t, int v, std::size_t n, cudaStream_t s), (t, v, n, s),
              cudaErrorUnknown)
LANKY_WAITING(cudaStreamSynchronize, (cudaStream_t s), (s))
LANKY_WAITING(cudaEventSynchronize, (cudaEvent_t e), (e))
LANKY_FAILING(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned f), (s, e, f),
              cudaErrorUnknown)
LANKY_FAILING(cudaStreamBeginCapture, (cudaStream_t s, cudaStreamCaptureMode m), (s, m),
              cudaErrorUnknown)
LANKY_FAILING(cudaGraphLaunch, (cudaGraphExec_t e, cudaStream_t s), (e, s), cudaErrorUnknown)
LANKY_FAILING(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, s), cudaErrorUnknown)
LANKY_FAILING(cudaEventQuery, (cudaEvent_t e), (e), cudaErrorUnknown)
LANKY_FAILING(cudaEventElapsedTime, (float* ms, cudaEvent_t a, cudaEvent_t b), (ms, a, b),
              cudaErrorUnknown)
LANKY_FAILING(cudaPointerGetAttributes, (cudaPointerAttributes * a, const void* p), (a, p),
              cudaErrorUnknown)
LANKY_FAILING(cudaDeviceGetAttribute, (int* v, cudaDeviceAttr a, int d), (v, a, d),
              cudaErrorUnknown)
LANKY_FAILING(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
              (int* b, const void* f, int t, std::size_t n, unsigned flags), (b, f, t, n, flags),
              cudaErrorUnknown)
#if CUDART_VERSION >= 13000
LANKY_FAILING(__cudaLaunchKernel,
              (cudaKernel_t k, dim3 g, dim3 b, void** a, std::size_t n, cudaStream_t s),
              (k, g, b, a, n, s), cudaErrorLaunchOutOfResources)
LANKY_FAILING(cudaGetDeviceProperties, (cudaDeviceProp * p, int d), (p, d), cudaErrorUnknown)
#else
LANKY_FAILING(cudaLaunchKernel,
              (const void* f, dim3 g, dim3 b, void** a, std::size_t n, cudaStream_t s),
              (f, g, b, a, n, s), cudaErrorLaunchOutOfResources)
#endif

LANKY_DISPENSABLE(cudaGetDevice, (int* d), (d))
LANKY_DISPENSABLE(cudaSetDevice, (int d), (d))
LANKY_DISPENSABLE(cudaStreamIsCapturing, (cudaStream_t s, cudaStreamCaptureStatus* c), (s, c))
LANKY_DISPENSABLE(cudaMemGetInfo, (std::size_t * f, std::size_t* t), (f, t))
LANKY_DISPENSABLE(cudaDriverGetVersion, (int* v), (v))

LANKY_REAL(cudaStreamEndCapture, (cudaStream_t, cudaGraph_t*));
LANKY_REAL(cudaGraphDestroy, (cudaGraph_t));
LANKY_REAL(cudaGetLastError, ());
LANKY_REAL(cudaPeekAtLastError, ());

extern "C" cudaError_t __wrap_cudaGraphDestroy(cudaGraph_t graph) {
  const cudaError_t status = __real_cudaGraphDestroy(graph);
  return fails("cudaGraphDestroy", true) ? failure(cudaErrorUnknown) : status;
}
/// The stream leaves the capture, as where CUDA finds a capture invalid.
extern "C" cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const cudaError_t status = __real_cudaStreamEndCapture(stream, graph);
  if (!fails("cudaStreamEndCapture")) return status;
  if (*graph != nullptr) __real_cudaGraphDestroy(*graph);
  *graph = nullptr;
  return failure(cudaErrorStreamCaptureInvalidated);
}
extern "C" cudaError_t __wrap_cudaPeekAtLastError() {
  return injected != cudaSuccess ? injected : __real_cudaPeekAtLastError();
}
extern "C" cudaError_t __wrap_cudaGetLastError() {
  const cudaError_t real = __real_cudaGetLastError();
  if (injected == cudaSuccess) return real;
  const cudaError_t told = injected;
  injected = cudaSuccess;
  return told;
}
// NOLINTEND
