// Kernels of a program that uses lanky, and does wrong.
#pragma once

struct CUstream_st;

namespace lanky::faults {

/// Writes to an address that is no memory: the context is ruined when the kernel runs.
void start_wild_store(CUstream_st* stream);
/// Runs for about so many milliseconds.
void start_spin(int milliseconds, CUstream_st* stream);

}  // namespace lanky::faults
