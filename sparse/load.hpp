// A caller's arrays, checked, in the memory of an executor's device: where they are, or copies of
// what is in other memory, which live as long as packing takes.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string_view>

#include "sparse/csr.hpp"
#include "sparse/facts.hpp"

namespace lanky::sparse {

/// `count` elements that work on the stream's device can load.
template <class T>
class LoadedArray {
 public:
  /// Throws Error(wrong_memory), calling them `what`, unless `data` is in host memory or in that of
  /// the stream's device.
  LoadedArray(const Stream& stream, const T* data, std::int64_t count, std::string_view what);

  const T* data() const noexcept { return data_; }

 private:
  Buffer<T> copy_;
  const T* data_;
};

/// A CSR matrix with what keeps its arrays: they are the caller's own, copies, or made of them.
template <class T>
struct LoadedCsr {
  Csr<T> csr;
  RowFacts facts;
  std::shared_ptr<const void> owner;
};

/// What a pass over row offsets finds.
struct ExaminedRows {
  Buffer<std::int64_t> offsets;  // [rows + 1], zero-based
  RowFacts facts;
};

/// How an executor checks arrays in its memory; both throw Error.
struct Examination {
  /// Row offsets: from the index base they rise to nnz. Only the extents of `a` are read.
  ExaminedRows (*rows)(const Stream& stream, const RowOffsets& offsets, const CsrPattern& a);
  /// All columns are in range.
  void (*columns)(const Stream& stream, const CsrPattern& a);
};

/// Throws Error as the constructor of SparsePlan does.
template <class T>
LoadedCsr<T> load(const Stream& stream, const CsrView<T>& a, const Examination& examine);

}  // namespace lanky::sparse
