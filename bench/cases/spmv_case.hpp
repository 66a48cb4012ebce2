// Sparse matrix times vector, or several, as a benchmark case: Y = A X, the pattern of A given, its
// values and X random. Sparse products are not rotated: a solver multiplies the same matrix again
// and again.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/sparse.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/cases/sparse_path.hpp"
#include "bench/cases/spmv_matrix.hpp"
#include "bench/harness/session.hpp"
#include "bench/rivals/peer.hpp"

namespace lanky::bench {

/// What a product is made of, in the memory of the stream's device.
struct SpmvOperands {
  const SpmvMatrix& matrix;  // its pattern
  DType dtype;
  const void* values;  // [nnz], in the order of CSR
  SpmvColumns columns;
  const void* x;  // [cols][columns]
  void* y;        // [rows][columns]
};

struct BuiltSpmv {
  std::function<void(const Stream& stream)> run;  // starts one product
  std::int64_t bytes = 0;                         // of the matrix as it reads it
  std::string explanation{};
};

/// A way to multiply that is neither lanky's nor a vendor's. It is built anew for other
/// values.
struct SpmvEntrant {
  std::string contestant;
  std::string variant;
  /// Throws Error: unsupported, where it does not multiply such a matrix.
  std::function<BuiltSpmv(const Stream& stream, const SpmvOperands& operands)> build;
};

struct SpmvSelection {
  std::vector<SparsePath> paths = {SparsePath{}};  // of lanky
  bool vendors = true;
  bool tuned = false;  // one more plan of lanky, with SparseOptions::tune
  std::vector<std::shared_ptr<const Peer>> peers{};
  std::vector<SpmvEntrant> entrants{};
};

/// Makes products of a matrix in one element type. They share lanky's plans, the values of A and
/// what the oracle knows, so that one is run after the other. `matrix` must outlive them.
using SpmvWorkloads = std::function<std::unique_ptr<Workload>(SpmvColumns columns)>;
SpmvWorkloads spmv_workloads(Session& session, SpmvMatrix& matrix, DType dtype,
                             const SpmvSelection& selection);

/// One of them alone.
std::unique_ptr<Workload> make_spmv_workload(Session& session, SpmvMatrix& matrix, DType dtype,
                                             const SpmvSelection& selection,
                                             SpmvColumns columns = {});

}  // namespace lanky::bench
