// A matrix of a few hundred rows in host memory, by columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "solvers/number.hpp"

namespace lanky::solvers {

/// Memory that always begins at a multiple of 64 bytes: what is vectorized sums in an order that
/// follows from where operands stand, and equal bits are promised in every run.
template <class W>
struct AlignedAllocator {
  using value_type = W;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <class Other>
  AlignedAllocator(const AlignedAllocator<Other>& /*other*/) noexcept {}  // NOLINT: implicit

  W* allocate(std::size_t count) {
    return static_cast<W*>(::operator new(count * sizeof(W), kAlignment));
  }
  void deallocate(W* data, std::size_t /*count*/) noexcept { ::operator delete(data, kAlignment); }
  friend bool operator==(AlignedAllocator, AlignedAllocator) noexcept { return true; }
};

template <class W>
class SmallMatrix {
 public:
  SmallMatrix() = default;
  SmallMatrix(std::int64_t rows, std::int64_t cols)
      : rows_(rows), cols_(cols), data_(static_cast<std::size_t>(rows * cols)) {}

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t cols() const noexcept { return cols_; }
  W* data() noexcept { return data_.data(); }
  const W* data() const noexcept { return data_.data(); }
  W& operator()(std::int64_t i, std::int64_t j) {
    return data_[static_cast<std::size_t>(i + j * rows_)];
  }
  const W& operator()(std::int64_t i, std::int64_t j) const {
    return data_[static_cast<std::size_t>(i + j * rows_)];
  }

 private:
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::vector<W, AlignedAllocator<W>> data_;
};

/// From `elements` by rows, tight.
template <class T>
SmallMatrix<Wide<T>> from_rows(const T* elements, std::int64_t rows, std::int64_t cols) {
  SmallMatrix<Wide<T>> matrix(rows, cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j)
      matrix(i, j) = static_cast<Wide<T>>(elements[i * cols + j]);
  }
  return matrix;
}

}  // namespace lanky::solvers
