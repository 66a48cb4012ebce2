// A sparse matrix whose values are ones of any type, checked for packing.
#pragma once

#include <lanky/io.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <vector>

#include "sparse/cpu/steps.hpp"
#include "sparse/packed_matrix.hpp"

namespace lanky::regret {

template <class T>
class MatrixOfOnes {
 public:
  /// With the index arrays of `pattern`, which are not copied.
  MatrixOfOnes(const Stream& stream, const CsrMatrix<double>& pattern)
      : values_(pattern.values.size(), T(1.0F)),
        view_{pattern.rows,
              pattern.cols,
              pattern.nnz(),
              pattern.row_offsets.data(),
              pattern.col_indices.data(),
              values_.data(),
              0},
        checked_(sparse::load(stream, view_, sparse::cpu::kExamination)) {}

  const CsrView<T>& view() const noexcept { return view_; }
  const sparse::Csr<T>& csr() const noexcept { return checked_.csr; }
  /// As a plan on an H200 knows them when it chooses a shape.
  sparse::RowFacts facts() const {
    const sparse::cpu::PackedSteps<T> steps(known_machine("H200"));
    return sparse::facts_by(steps, checked_, sparse::Path::cuda);
  }

 private:
  std::vector<T> values_;
  CsrView<T> view_;
  sparse::LoadedCsr<T> checked_;
};

}  // namespace lanky::regret
