// The steps of a sampled product on a GPU.
#pragma once

#include <lanky/stream.hpp>

#include "sparse/cuda/sddmm/quads.hpp"
#include "sparse/sampler.hpp"

namespace lanky::sparse::cuda {

/// Loads the kernels, so that run need not.
template <class T>
void load_sddmm(const Stream& stream);

/// Launches on the stream and returns. `workspace` has `room`.
template <class T, class TOut>
void run_sddmm(const Stream& stream, const Quads& pattern, const CopiesRoom& room,
               const SampleOperands<T, TOut>& operands, bool conjugates, T* workspace);

}  // namespace lanky::sparse::cuda
