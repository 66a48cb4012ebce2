// What each element of Y = A X, or each value of an SDDMM, should be, and whether it is: computed
// where the stream is, since a host would take longer than all contestants.
#pragma once

#include <lanky/buffer.hpp>
#include <vector>

#include "bench/cases/spmv_matrix.hpp"
#include "bench/harness/verify.hpp"

namespace lanky::bench {

/// References of a sparse product's elements, and the judgement on the elements by them.
class SparseReferences {
 public:
  explicit SparseReferences(const Stream& stream) : stream_(stream), references_(stream, 0) {}

  /// Memory for so many references, which the caller writes.
  Reference* prepare(const SpmvData& data, std::int64_t size);
  /// The data that they were last prepared for.
  const SpmvData& data() const { return data_; }
  /// Judges all elements of the result, which has the data's type: integers must be exact, random
  /// data within the bound of products in `math`.
  Verdict check(const SpmvResult& result, Math math) const;

 private:
  Verdict check_on_cpu(const ErrorModel& model, const SpmvResult& result) const;
  /// Judges components of one column from number `first` on.
  Verdict judge(const ErrorModel& model, std::span<const double> computed,
                const Reference* expected, std::int64_t first, const SpmvResult& result,
                std::int64_t column) const;

  Stream stream_;
  SpmvData data_;
  Buffer<Reference> references_;  // by the numbers that SpmvResult counts
};

class SpmvOracle {
 public:
  SpmvOracle(const Stream& stream, const SpmvMatrix& matrix)
      : stream_(stream), matrix_(matrix), references_(stream) {}

  /// Remembers what so many columns of Y are of that data, where it does not know them already.
  void compute(const SpmvData& data, std::int64_t columns = 1);
  /// Judges all elements of Y, which has so many columns or fewer.
  Verdict check(const void* y, Math math, SpmvColumns columns = {}) const;

 private:
  Stream stream_;
  const SpmvMatrix& matrix_;
  std::int64_t columns_ = 0;
  SparseReferences references_;  // [columns][rows][components]
};

/// The oracle of SDDMM: values of X Y^T at the entries of the matrix.
class SddmmOracle {
 public:
  SddmmOracle(const Stream& stream, const SpmvMatrix& matrix)
      : stream_(stream), matrix_(matrix), references_(stream) {}

  /// Remembers what the values are where X and Y have so many columns of that data.
  void compute(const SpmvData& data, std::int64_t columns);
  /// Judges all values [nnz].
  Verdict check(const void* values) const;

 private:
  Stream stream_;
  const SpmvMatrix& matrix_;
  SparseReferences references_;  // [nnz][components]
};

}  // namespace lanky::bench
