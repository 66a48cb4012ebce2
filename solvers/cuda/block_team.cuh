// The threads of one block, as a team that works on a small matrix (solvers/orthogonal_factor.hpp,
// block_cg_factor.hpp).
#pragma once

namespace lanky::solvers {

/// The threads of a block, a row a warp.
struct BlockTeam {
  double* shared;  // [32]

  __device__ static int first() { return static_cast<int>(threadIdx.x); }
  __device__ static int step() { return static_cast<int>(blockDim.x); }
  __device__ static int row() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int rows() { return static_cast<int>(blockDim.x) / 32; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int lanes() { return 32; }
  __device__ static void wait() { __syncthreads(); }
  __device__ double most(double value) const {
    for (int offset = 16; offset > 0; offset /= 2)
      value = fmax(value, __shfl_xor_sync(0xffffffffU, value, offset));
    __syncthreads();  // what was shared before has been read
    if (lane() == 0) shared[row()] = value;
    __syncthreads();  // each warp's value is there
    value = shared[0];
    for (int w = 1; w < rows(); ++w)
      value = fmax(value, shared[w]);
    return value;
  }
};

}  // namespace lanky::solvers
