// Functions that plans call on the host and kernels on the device, in headers without CUDA.
#pragma once

#ifdef __CUDACC__
#define LANKY_HOST_DEVICE __host__ __device__
#else
#define LANKY_HOST_DEVICE
#endif
