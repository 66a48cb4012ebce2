// Sparse matrix times vector as a benchmark case: y = A x, the pattern of A given, its values and x
// random. Sparse products are not rotated: a solver multiplies the same matrix again and again.
#pragma once

#include <lanky/sparse.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/peer.hpp"
#include "bench/session.hpp"
#include "bench/spmv_matrix.hpp"

namespace lanky::bench {

struct SpmvSelection {
  std::vector<SpmvPath> paths = {SpmvPath::automatic};  // of lanky
  bool vendors = true;
  bool tuned = false;  // one more plan of lanky, with PlanOptions::tune
  std::vector<std::shared_ptr<const Peer>> peers{};
};

/// `matrix` must outlive the workload.
std::unique_ptr<Workload> make_spmv_workload(Session& session, SpmvMatrix& matrix, DType dtype,
                                             const SpmvSelection& selection);

}  // namespace lanky::bench
