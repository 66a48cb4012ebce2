// A caller's CSR matrix, checked and brought into host memory for packing.
#pragma once

#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <string_view>
#include <vector>

#include "sparse/csr.hpp"
#include "sparse/facts.hpp"

namespace lanky::sparse {

/// `count` elements readable by the CPU: the caller's own, or a copy of what is in device memory.
template <class T>
class HostArray {
 public:
  /// Throws Error(wrong_memory) unless `data` is in host memory or in that of the stream's device.
  HostArray(const Stream& stream, const T* data, std::int64_t count, std::string_view what);

  const T* data() const noexcept { return data_; }

 private:
  std::vector<T> copy_;
  const T* data_;
};

/// A with its index arrays checked, in host memory: its own, or the caller's.
template <class T>
class CheckedCsr {
 public:
  /// Throws Error as the constructor of SpmvPlan does.
  CheckedCsr(const Stream& stream, const CsrView<T>& a);
  CheckedCsr(CheckedCsr&&) noexcept = default;  // arrays stay where they are
  CheckedCsr& operator=(CheckedCsr&&) noexcept = default;
  ~CheckedCsr() = default;

  const Csr<T>& csr() const noexcept { return csr_; }
  RowFacts facts() const;

 private:
  std::vector<std::int64_t> row_offsets_;  // [rows + 1]
  HostArray<std::int32_t> columns_;        // [nnz], once the row offsets have confirmed nnz
  HostArray<T> values_;
  Csr<T> csr_;
};

}  // namespace lanky::sparse
