// SparseOptions::tune: shapes near the one that the model chooses, of which the fastest is kept.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/sparse.hpp>
#include <lanky/stream.hpp>
#include <limits>
#include <vector>

#include "core/timed_runs.hpp"
#include "sparse/backend.hpp"
#include "sparse/packed.hpp"
#include "sparse/path.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse {

/// Shapes to measure, each once: `chosen`, the model's, then up to eleven near it, or that the
/// model predicts to be fastest of another kind; each of them fits().
std::vector<Shape> shapes_near(const Shape& chosen, const RowFacts& facts, DType dtype,
                               const Machine& machine);

/// A shape multiplied by some kernels, and its time over that of the model's choice.
struct Measured {
  Shape shape;
  Path path = Path::cuda;
  double ratio = 1;
};

/// What was measured, the model's choice first.
struct Tuning {
  std::vector<Measured> measured;  // empty where there is nothing to measure
  std::size_t kept = 0;            // of these
  double model_us = std::numeric_limits<double>::infinity();  // of the model's choice, the least
};

/// Replaces `packed` and `choice`, which are those of the model, by the fastest of `shapes` for
/// `a`, if that takes less than kWorthwhile of the model's time. The paths are those that the
/// options allow. At most three packed matrices are in memory at once; candidates that memory has
/// no room for are left out. Waits.
template <class T, class TOut>
Tuning tune(const Executor<T, TOut>& executor, const Csr<T>& a, const std::vector<Shape>& shapes,
            const SparseOptions& options, PackedMatrix<T>& packed, PathChoice& choice);

/// The copy for several columns of `a` that is faster where measured, of the two that the model
/// chooses from: `modelled`, its choice, unless the other one takes less than kWorthwhile of its
/// time in products of the columns that are expected. `vector`: the launches of one vector. Waits.
template <class T, class TOut>
ColumnsCopy<T> faster_copy(const Executor<T, TOut>& executor, const Csr<T>& a,
                           const PackedMatrix<T>& packed, const RowFacts& facts,
                           const Launches& vector, const SparseOptions& options,
                           ColumnsCopy<T> modelled);

}  // namespace lanky::sparse
