// What each element of Y = A X should be, and whether it is: computed where the stream is, since a
// host would take longer than all contestants.
#pragma once

#include <lanky/buffer.hpp>
#include <vector>

#include "bench/cases/spmv_matrix.hpp"
#include "bench/harness/verify.hpp"

namespace lanky::bench {

class SpmvOracle {
 public:
  SpmvOracle(const Stream& stream, const SpmvMatrix& matrix)
      : stream_(stream), matrix_(matrix), references_(stream, 0) {}

  /// Remembers what so many columns of Y are of that data, where it does not know them already.
  void compute(const SpmvData& data, std::int64_t columns = 1);
  /// Of all elements of Y, of the data's type, in as many of these columns or fewer: exact for
  /// integers, else within the bound of products in `math`.
  Verdict check(const void* y, Math math, SpmvColumns columns = {}) const;

 private:
  Verdict check_on_cpu(const ErrorModel& model, const SpmvResult& result) const;
  /// Of components of one column from number `first` on.
  Verdict judge(const ErrorModel& model, std::span<const double> computed,
                const Reference* expected, std::int64_t first, const SpmvResult& result,
                std::int64_t column) const;

  Stream stream_;
  const SpmvMatrix& matrix_;
  SpmvData data_;
  std::int64_t columns_ = 0;
  Buffer<Reference> references_;  // [columns][rows][components]
};

}  // namespace lanky::bench
