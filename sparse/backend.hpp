// What a device offers to a plan: the steps of making it, and a matrix in the form that it
// multiplies. Two implementations of make(): cpu/, whose form are chunks, and cuda/, whose form is
// the packed one; a build without CUDA takes cuda/absent.cpp.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/sparse.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <vector>

#include "core/machine.hpp"
#include "sparse/arrangement.hpp"
#include "sparse/column_samples.hpp"
#include "sparse/columns_copy.hpp"
#include "sparse/csr.hpp"
#include "sparse/facts.hpp"
#include "sparse/launch.hpp"
#include "sparse/load.hpp"
#include "sparse/packed.hpp"
#include "sparse/path.hpp"
#include "sparse/plan_matrix.hpp"
#include "sparse/policy.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse {

/// One device, whose memory holds all arrays, with a stream for the steps of making a plan.
template <class T, class TOut>
class Backend {
 public:
  virtual ~Backend() = default;

  /// The caller's matrix, checked. Throws Error as the constructor of SparsePlan does.
  virtual LoadedCsr<T> load(const CsrView<T>& a) const = 0;

  /// The transpose of at most kTransposedEntriesMost entries; those of a row stand in the order of
  /// A's rows. Memory of `entries` comes from `allocator`.
  virtual Arrangement transpose(const CsrPattern& a, Allocator* allocator) const = 0;
  /// The matrix of which A, of at most kTriangleEntriesMost entries, is one triangle, marked.
  virtual Arrangement expand(const CsrPattern& a, const TriangleMarks& marks,
                             Allocator* allocator) const = 0;
  /// In the order of the stream, as all that is given one here.
  virtual void gather_values(const Stream& stream, const ValueMap& map, const T* source,
                             T* target) const = 0;

  /// A in the form that this device multiplies fastest by prediction or, where the options say
  /// `tune`, by measurement. The arrays of `a` are not needed after the return.
  virtual std::unique_ptr<PlanMatrix<T, TOut>> make_matrix(const LoadedCsr<T>& a,
                                                           const SparseOptions& options,
                                                           const PathChoice& choice) const = 0;
};

/// A backend whose form is the packed one: what a GPU offers to packed_matrix.cpp and tune.cpp.
template <class T, class TOut>
class Executor : public Backend<T, TOut> {
 public:
  /// By make_packed_matrix().
  std::unique_ptr<PlanMatrix<T, TOut>> make_matrix(const LoadedCsr<T>& a,
                                                   const SparseOptions& options,
                                                   const PathChoice& choice) const final;

  virtual ReachFacts reach_facts(const CsrPattern& a) const = 0;
  /// [kAllSamples]
  virtual std::vector<ColumnSample> column_samples(const CsrPattern& a) const = 0;
  /// For at most `most` hot columns.
  virtual HotFacts hot_facts(const CsrPattern& a, std::int64_t most) const = 0;
  /// The machine that shapes are chosen for.
  virtual const Machine& machine() const = 0;

  /// Ready in the order of the stream of the executor.
  virtual PackedMatrix<T> pack(const Csr<T>& a, const Shape& shape, Allocator* allocator) const = 0;
  /// Values in CSR order to the slots that pack() gave them.
  virtual void update_values(const Stream& stream, const PatternView& a, const T* values,
                             T* slots) const = 0;

  /// What a plan made with `options` has besides `packed`, the packed form of `a`, which has
  /// `facts`, where prepare() gave these strips.
  virtual ColumnsCopy<T> copy_for_columns(const Csr<T>& a, const PackedMatrix<T>& packed,
                                          const RowFacts& facts, const StripLaunches& strips,
                                          const SparseOptions& options) const = 0;
  /// Values in CSR order to the copy.
  virtual void update_copy(const Stream& stream, ColumnsCopy<T>& copy, const T* values) const = 0;

  /// The launches of products of `a`, which has `facts`, or unknown ones: those of one vector are
  /// ready for run().
  virtual Launches prepare(Path path, const PackedHeader& a, const RowFacts& facts) const = 0;
  /// Makes their strips ready for run_columns() with this copy.
  virtual void load_strips(const StripLaunches& strips, const ColumnsCopy<T>& copy) const = 0;
  /// `launches` are those of `a`. On a GPU launches on the stream, of the same device, and returns.
  virtual void run(const Stream& stream, const Launches& launches, const PackedView<T>& a,
                   const Product<T, TOut>& product) const = 0;
  virtual void run_columns(const Stream& stream, const Launches& launches, const PackedView<T>& a,
                           const ColumnsCopy<T>& copy,
                           const ColumnsProduct<T, TOut>& product) const = 0;
};

namespace cpu {
template <class T, class TOut>
std::unique_ptr<const Backend<T, TOut>> make(const Stream& stream);
}  // namespace cpu

namespace cuda {
template <class T, class TOut>
std::unique_ptr<const Executor<T, TOut>> make(const Stream& stream);
}  // namespace cuda

}  // namespace lanky::sparse
