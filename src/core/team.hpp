// What it takes to share work out among the threads of a CPU.
#pragma once

namespace lanky {

/// Microseconds that a parallel region takes beside its work: threads that sleep are woken at its
/// start and wherever they wait for each other. Measured at the first call, in a few milliseconds:
/// 1 where idle threads spin, 20 to 100 where they sleep (docs/lab/cpu.md). 0 where there is one
/// thread, and inside a caller's own region.
double team_us();

}  // namespace lanky
