#include "bench/cases/spmv_matrix.hpp"

#include <lanky/error.hpp>
#include <limits>
#include <utility>

#include "bench/rivals/padded_formats.hpp"

namespace lanky::bench {

namespace {

constexpr int kSliceHeight = 32;
// Beyond these a padded format is slower than CSR by the bytes alone, so nobody need wait for it.
constexpr double kMostSlicedFill = 4;  // slots over entries
constexpr double kMostBlockFill = 1.5;
constexpr double kMostPaddedSlots = 20e9 / 12;  // 20 GB in f64

std::vector<std::int64_t> long_rows(const CsrMatrix<double>& pattern) {
  std::vector<std::int64_t> found;
  for (std::int64_t row = 0; row < pattern.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    if (pattern.row_offsets[r + 1] - pattern.row_offsets[r] > kLongRow) found.push_back(row);
  }
  return found;
}

PaddedMatrix upload(const Stream& stream, int unit, const PaddedPattern& padded) {
  return {unit, Buffer<std::int32_t>::from(stream, padded.offsets),
          Buffer<std::int32_t>::from(stream, padded.col_indices),
          Buffer<std::int32_t>::from(stream, padded.sources)};
}

}  // namespace

SpmvMatrix::SpmvMatrix(const Stream& stream, std::string name, std::string matrix_class,
                       const CsrMatrix<double>& pattern)
    : stream_(stream),
      name_(std::move(name)),
      class_(std::move(matrix_class)),
      pattern_(pattern),
      columns_(Buffer<std::int32_t>::from(stream, pattern.col_indices)),
      long_rows_(Buffer<std::int64_t>::from(stream, long_rows(pattern))) {
  const std::vector<std::int64_t>& offsets = pattern.row_offsets;
  if (offsets.back() <= std::numeric_limits<std::int32_t>::max()) {
    narrow_offsets_ = Buffer<std::int32_t>::from(
        stream, std::vector<std::int32_t>(offsets.begin(), offsets.end()));
  } else {
    wide_offsets_ = Buffer<std::int64_t>::from(stream, offsets);
  }
}

SpmvRows SpmvMatrix::on_device() const {
  return {pattern_.rows,
          narrow_offsets_ ? RowOffsets(narrow_offsets_->data()) : RowOffsets(wide_offsets_->data()),
          columns_.data(),
          long_rows_.data(),
          long_rows_.size(),
          pattern_.cols};
}

std::int64_t SpmvMatrix::index_bytes() const {
  return nnz() * 4 + (rows() + 1) * on_device().offsets.bytes_per_offset();
}

const PaddedMatrix& SpmvMatrix::sliced_ell() {
  if (sliced_ell_) return *sliced_ell_;
  const auto slots = static_cast<double>(sliced_ell_slots(pattern_, kSliceHeight));
  if (slots > kMostSlicedFill * static_cast<double>(nnz()) || slots > kMostPaddedSlots)
    throw Error(ErrorCode::unsupported, "sliced ELL would have " +
                                            std::to_string(static_cast<std::int64_t>(slots)) +
                                            " slots for " + std::to_string(nnz()) + " entries");
  sliced_ell_ = upload(stream_, kSliceHeight, to_sliced_ell(pattern_, kSliceHeight));
  return *sliced_ell_;
}

const std::vector<int>& SpmvMatrix::dense_block_sides() {
  if (sides_) return *sides_;
  sides_.emplace();
  for (const int side : {2, 3, 4, 8}) {
    const double fill = block_fill(pattern_, side);
    if (fill > 0 && fill < kMostBlockFill && fill * static_cast<double>(nnz()) < kMostPaddedSlots)
      sides_->push_back(side);
  }
  return *sides_;
}

const PaddedMatrix& SpmvMatrix::blocks(int side) {
  const auto known = blocks_.find(side);
  if (known != blocks_.end()) return known->second;
  return blocks_.emplace(side, upload(stream_, side, to_blocks(pattern_, side))).first->second;
}

}  // namespace lanky::bench
