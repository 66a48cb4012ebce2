// What a fork leaves behind: CUDA does not survive one, and OpenMP's threads are not there.
#pragma once

namespace lanky::python {

/// Prepares for forks from now on.
void watch_forks();

/// Says that this process uses CUDA from now on, and looks for NVIDIA's libraries at first. With
/// the GIL held. lanky.Error where it was forked from one that did.
void begin_cuda();

/// Whether this process was forked from one that had begun to use CUDA.
bool forked_after_cuda() noexcept;

/// lanky.Error where forked_after_cuda().
void require_cuda_alive();

}  // namespace lanky::python
