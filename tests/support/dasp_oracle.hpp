// Two oracles of DASP's layout (bench/ladder/dasp.hpp): its contract, and the product by it.
#pragma once

#include <string>
#include <vector>

#include "bench/ladder/dasp.hpp"

namespace lanky::ladder {

/// What breaks the contract, "" where it is kept. Shares no code with to_dasp().
std::string dasp_violation(const DaspPattern& dasp, const CsrPattern& a);

/// y = A x by the layout, lane by lane as the kernels do it, an emulated mma included.
/// values: [nnz] in the order of CSR; x: [cols]. T: double, half.
template <class T>
std::vector<T> replay_dasp(const DaspPattern& dasp, const T* values, const T* x);

}  // namespace lanky::ladder
