// Dense products of PETSc's columns: plans that are kept, since solvers ask for few shapes again
// and again, and the small operands that pass between host and device.
#pragma once

#include <array>
#include <list>
#include <optional>
#include <vector>

#include "memory.hpp"

namespace lanky_petsc {

class Gemms {
 public:
  /// C = alpha op(A) op(B) + beta C, by columns, in memory that the stream's device reaches.
  void multiply(const lanky::Stream& stream, const lanky::GemmShape& shape, Element alpha,
                const Element* a, const Element* b, Element beta, Element* c);
  /// A copy of what the host has, for work that is given to the stream before the next seven calls.
  const Element* upload(const lanky::Stream& stream, const Element* host, std::int64_t count);
  /// Memory that the stream's device writes and, once the stream is done, the host reads; until the
  /// next call.
  Element* result(const lanky::Stream& stream, std::int64_t count);
  /// Memory of the stream's device, until the next call.
  Element* scratch(const lanky::Stream& stream, std::int64_t count);

 private:
  struct Plan {
    lanky::GemmShape shape;
    lanky::Stream stream;
    lanky::GemmPlan<Element> plan;
  };
  struct Upload {
    Memory host{Memory::Kind::host};
    Memory pinned{Memory::Kind::pinned};
    Memory device{Memory::Kind::device};
    std::optional<lanky::Event> done;
  };

  std::list<Plan> plans_;  // the last used first
  std::array<Upload, 8> uploads_;
  std::size_t next_upload_ = 0;
  Memory host_{Memory::Kind::host};
  Memory pinned_{Memory::Kind::pinned};
  Memory host_scratch_{Memory::Kind::host};
  Memory device_scratch_{Memory::Kind::device};
};

/// The process's, made at first use and dropped by PetscFinalize().
PetscErrorCode gemms(Gemms** gemms);

/// A^H B, or A^T B, of m and n columns of k rows that are on one device, on the host.
PetscErrorCode gram_on_host(const Columns& where, lanky::Op op, PetscInt m, PetscInt n, PetscInt k,
                            const Element* a, std::int64_t lda, const Element* b, std::int64_t ldb,
                            Element** result);
/// The sums of `count` elements over the ranks, in their place.
PetscErrorCode sum_over_ranks(PetscObject object, Element* values, PetscInt count);

/// Flops of a product where `where` is, for -log_view.
PetscErrorCode log_flops(const Columns& where, double flops);

}  // namespace lanky_petsc
