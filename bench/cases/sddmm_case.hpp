// SDDMM as a benchmark case: values = X Y^T at the entries of A, whose pattern is given. X and Y
// are random, of one layout and without gaps. Operands are not rotated, as in the other sparse
// cases.
#pragma once

#include <memory>

#include "bench/cases/case.hpp"
#include "bench/cases/spmv_matrix.hpp"
#include "bench/harness/session.hpp"

namespace lanky::bench {

/// `columns`: of X and of Y. `matrix` must outlive it.
std::unique_ptr<Workload> make_sddmm_workload(Session& session, const SpmvMatrix& matrix,
                                              DType dtype, SpmvColumns columns,
                                              bool vendors = true);

}  // namespace lanky::bench
