// Which kernel multiplies a packed matrix, and in which blocks. Host code alone, also in builds
// without CUDA.
#pragma once

#include <lanky/dtype.hpp>
#include <lanky/sparse.hpp>

#include "core/machine.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

/// The launches of products by `path`, which is not automatic, on this machine. Throws
/// Error(unsupported) where there are more windows than a grid has blocks.
Launches choose_launches(const PackedHeader& a, DType dtype, Path path, const Machine& machine);

}  // namespace lanky::sparse::cuda
