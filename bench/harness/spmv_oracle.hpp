// What each row of y = A x should be, and whether it is: computed where the stream is, since a host
// would take longer than all contestants.
#pragma once

#include <lanky/buffer.hpp>
#include <vector>

#include "bench/cases/spmv_matrix.hpp"
#include "bench/harness/verify.hpp"

namespace lanky::bench {

class SpmvOracle {
 public:
  SpmvOracle(const Stream& stream, const SpmvMatrix& matrix)
      : stream_(stream), matrix_(matrix), references_(stream, matrix.rows()) {}

  /// Remembers what y is of that data.
  void compute(const SpmvData& data);
  /// Of all rows of `y`, elements of the data's type: exact for integers, else within the bound of
  /// products in `math`.
  Verdict check(const void* y, Math math) const;

 private:
  Verdict judge(const ErrorModel& model, std::span<const double> computed,
                std::span<const Reference> expected, std::int64_t first) const;

  Stream stream_;
  const SpmvMatrix& matrix_;
  SpmvData data_;
  Buffer<Reference> references_;  // [rows]
};

}  // namespace lanky::bench
