// The steps of making a plan, and the product, on a GPU.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <vector>

#include "sparse/arrangement.hpp"
#include "sparse/column_samples.hpp"
#include "sparse/csr.hpp"
#include "sparse/facts.hpp"
#include "sparse/launch.hpp"
#include "sparse/load.hpp"
#include "sparse/packed.hpp"
#include "sparse/product.hpp"

namespace lanky::sparse::cuda {

ExaminedRows examine_rows(const Stream& stream, const RowOffsets& offsets, const CsrPattern& a);
void check_columns(const Stream& stream, const CsrPattern& a);
inline constexpr Examination kExamination = {examine_rows, check_columns};

Arrangement transpose(const Stream& stream, const CsrPattern& a, Allocator* allocator);

Arrangement expand(const Stream& stream, const CsrPattern& a, const TriangleMarks& marks,
                   Allocator* allocator);

template <class T>
void gather_values(const Stream& stream, const ValueMap& map, const T* source, T* target);

/// As cpu::reach_facts. Waits for the stream.
ReachFacts reach_facts(const Stream& stream, const CsrPattern& a);

/// As cpu::column_samples. Waits for the stream.
std::vector<ColumnSample> column_samples(const Stream& stream, const CsrPattern& a,
                                         int element_bytes);

/// As cpu::hot_facts. Waits for the stream.
HotFacts hot_facts(const Stream& stream, const CsrPattern& a, std::int64_t most);

/// Memory of the columns comes from `allocator`. Waits for the stream where columns may be hot.
HotColumns find_hot_columns(const Stream& stream, const CsrPattern& a, const Shape& shape,
                            Allocator* allocator);

/// As cpu::pack, bit by bit. Waits for what is counted; values may still be on their way in the
/// stream.
template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator);

template <class T>
void update_values(const Stream& stream, const PatternView& a, const T* values, T* slots);

/// Chooses how `path` multiplies `a`, and loads the kernels, so that run need not.
template <class T, class TOut>
Launches prepare(const Stream& stream, Path path, const PackedHeader& a);

/// Launches on the stream and returns; `launches` are those of `a`.
template <class T, class TOut>
void run(const Stream& stream, const Launches& launches, const PackedView<T>& a,
         const Product<T, TOut>& product);

}  // namespace lanky::sparse::cuda
