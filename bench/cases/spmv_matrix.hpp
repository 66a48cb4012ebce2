// The matrix of sparse cases: its pattern on the host and where the stream is, in CSR and in the
// formats of the rivals. What all element types share, and is made once.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/csr.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/cases/spmv_data.hpp"

namespace lanky::bench {

/// A PaddedPattern on the device.
struct PaddedMatrix {
  int unit;                          // rows of a slice, or side of a block
  Buffer<std::int32_t> offsets;      // [units + 1]
  Buffer<std::int32_t> col_indices;  // of slots, or of blocks
  Buffer<std::int32_t> sources;      // [slots]

  std::int64_t slots() const { return sources.size(); }
  std::int64_t index_bytes() const { return 4 * (offsets.size() + col_indices.size()); }
};

class SpmvMatrix {
 public:
  /// `pattern` must outlive this; its values are not used. Columns of a row ascend.
  SpmvMatrix(const Stream& stream, std::string name, std::string matrix_class,
             const CsrMatrix<double>& pattern);

  const std::string& name() const { return name_; }
  /// What records call it: see spmv_set.hpp.
  const std::string& matrix_class() const { return class_; }
  const CsrMatrix<double>& pattern() const { return pattern_; }
  std::int64_t rows() const { return pattern_.rows; }
  std::int64_t cols() const { return pattern_.cols; }
  std::int64_t nnz() const { return pattern_.nnz(); }

  /// Of the device: offsets 32 bits wide where that is enough, as a user would keep them.
  SpmvRows on_device() const;
  /// Bytes of the indices of CSR.
  std::int64_t index_bytes() const;

  /// In slices of 32 rows. Error(unsupported) where padding makes it hopeless.
  const PaddedMatrix& sliced_ell();
  /// The sides, of 2, 3, 4 and 8, of blocks that are dense enough for a rival.
  const std::vector<int>& dense_block_sides();
  const PaddedMatrix& blocks(int side);

 private:
  Stream stream_;
  std::string name_;
  std::string class_;
  const CsrMatrix<double>& pattern_;
  std::optional<Buffer<std::int32_t>> narrow_offsets_;
  std::optional<Buffer<std::int64_t>> wide_offsets_;
  Buffer<std::int32_t> columns_;
  Buffer<std::int64_t> long_rows_;
  std::optional<PaddedMatrix> sliced_ell_;
  std::optional<std::vector<int>> sides_;
  std::map<int, PaddedMatrix> blocks_;  // by side
};

}  // namespace lanky::bench
