#include "faults/user_kernels.hpp"

namespace lanky::faults {

namespace {

__global__ void wild_store_kernel(int* nowhere) {
  *nowhere = 1;
}

__global__ void spin_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

}  // namespace

void start_wild_store(CUstream_st* stream) {
  wild_store_kernel<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(16));
}

void start_spin(int milliseconds, CUstream_st* stream) {
  spin_kernel<<<1, 1, 0, stream>>>(milliseconds * 1'500'000LL);
}

}  // namespace lanky::faults
