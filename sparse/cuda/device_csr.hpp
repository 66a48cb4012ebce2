// A caller's CSR matrix, checked, in the memory of a CUDA device: where it is, or a copy of what is
// in host memory, which lives as long as packing takes.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/view.hpp>
#include <string_view>

#include "sparse/cuda/steps.hpp"

namespace lanky::sparse {

/// `count` elements that kernels on the stream's device can load: the caller's own, or a copy.
template <class T>
class DeviceArray {
 public:
  /// Throws Error(wrong_memory) for the memory of another device.
  DeviceArray(const Stream& stream, const T* data, std::int64_t count, std::string_view what);

  const T* data() const noexcept { return data_; }

 private:
  Buffer<T> copy_;
  const T* data_;
};

template <class T>
class DeviceCsr {
 public:
  /// Throws Error as the constructor of SpmvPlan does.
  DeviceCsr(const Stream& stream, const CsrView<T>& a);

  Csr<T> csr() const;
  const RowFacts& facts() const noexcept { return rows_.facts; }

 private:
  cuda::ExaminedRows rows_;
  DeviceArray<std::int32_t> columns_;  // [nnz], once the row offsets have confirmed nnz
  DeviceArray<T> values_;
  int index_base_;
};

}  // namespace lanky::sparse
