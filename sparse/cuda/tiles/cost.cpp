#include "sparse/cuda/tiles/cost.hpp"

#include <algorithm>

namespace lanky::sparse::cuda {

namespace {

// Fitted to 33 matrices of up to 8 million entries with 8, 32 and 64 columns, judged on 33 others
// (docs/lab/spmm.md): the median error of tiles is 7 % there, that of rows 19 %.
constexpr double kTilesUs = 0.9;  // of a launch
constexpr double kRowsUs = 1.8;
constexpr double kRowsOfXUs = 2;
constexpr double kEntryUs = 0.035;  // of a row's entries, one after the other
constexpr int kRowEntries = 64;     // that lanes have of a row, at most: longer ones are cut
constexpr double kOfL2 = 1.13;      // time of gathers from the L2, over that of its nominal rate
constexpr double kRowsOfL2 = 0.6;   // the same of rows, which the L1 has in part
constexpr double kWritten = 2;      // time of bytes of Y, over that of reading them
constexpr double kL1Bytes = 128;    // of an L1 in a cycle

/// Of a step of 16 column vectors, one after the other: floats are made doubles.
double step_us(DType dtype) {
  return dtype == DType::f64 ? 0.26 : dtype == DType::f32 ? 0.36 : 0.21;
}
/// Of an entry of a row and each column of it, in cycles of a multiprocessor.
constexpr double kEntryCycles = 1.1;

}  // namespace

double CopyCosts::from_l2_us(double bytes) const {
  return 1e6 * bytes / machine_.l2_bandwidth();
}

double CopyCosts::from_memory_us(double bytes) const {
  return 1e6 * bytes / machine_.read_bandwidth;
}

double CopyCosts::other_us(std::int64_t columns) const {
  constexpr double kVectorBytes = 5;  // a column and its share of masks
  const TileFacts& facts = tiles_.facts;
  const double a = static_cast<double>(tiles_.nnz) * element_bytes() +
                   static_cast<double>(facts.vectors) * kVectorBytes;
  const double y = static_cast<double>(tiles_.rows * columns) * element_bytes();
  return kTilesUs + static_cast<double>(facts.steps_most) * step_us(dtype_) +
         from_memory_us(a / 3 + kWritten * y);
}

double CopyCosts::tiles_us(std::int64_t columns) const {
  const double x = static_cast<double>(tiles_.facts.vectors * columns) * element_bytes();
  return other_us(columns) + kOfL2 * from_l2_us(x);
}

double CopyCosts::direct_us(std::int64_t columns) const {
  constexpr double kSectorBytes = 32;
  const double x = static_cast<double>(tiles_.facts.sectors * columns) * kSectorBytes;
  return other_us(columns) + kOfL2 * from_l2_us(x);
}

double CopyCosts::rows_us(std::int64_t columns) const {
  const double row = static_cast<double>(columns) * element_bytes();
  const double entries = static_cast<double>(rows_.nnz);
  const double cycles = machine_.clock * machine_.multiprocessors;
  return kRowsUs +
         kEntryUs * static_cast<double>(std::min<std::int64_t>(rows_.longest, kRowEntries)) +
         1e6 * entries * (kEntryCycles + row / kL1Bytes) / cycles +
         kRowsOfL2 * from_l2_us(static_cast<double>(tiles_.facts.vectors) * row) +
         from_memory_us(static_cast<double>(rows_.rows) * row);
}

double CopyCosts::rows_of_x_us(std::int64_t columns) const {
  const double x = static_cast<double>(rows_.cols * columns) * element_bytes();
  return kRowsOfXUs + from_memory_us(2 * x);
}

bool CopyCosts::tiles_pay(const PlanOptions& options) const {
  const std::int64_t columns = options.expected_columns;
  if (options.expected_layout == Layout::row) return tiles_us(columns) < rows_us(columns);
  const double tiles = std::min(direct_us(columns), tiles_us(columns) + rows_of_x_us(columns));
  return tiles < rows_us(columns) + rows_of_x_us(columns);
}

std::int64_t CopyCosts::direct_columns() const {
  std::int64_t most = 0;
  for (std::int64_t columns = kBlockRows; columns <= 128; columns *= 2) {
    if (direct_us(columns) > tiles_us(columns) + rows_of_x_us(columns)) break;
    most = columns;
  }
  return most;
}

}  // namespace lanky::sparse::cuda
