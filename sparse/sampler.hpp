// What a device offers to SddmmPlan: the pattern in the form that it samples products by. Two
// implementations of make_sampler(), cpu/ and cuda/; a build without CUDA takes cuda/absent.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/sddmm.hpp>
#include <memory>
#include <string>

#include "sparse/product.hpp"

namespace lanky::sparse {

/// The operands of values = alpha (X Y^T, sampled) + beta values, all on the pattern's device.
template <class T, class TOut>
struct SampleOperands {
  const T* x;  // [rows, columns]
  Strides x_strides;
  const T* y;  // [cols, columns]
  Strides y_strides;
  std::int64_t columns;  // 0 or more
  TOut* values;          // [nnz]
  Scalar<Accumulator<T>> alpha;
  Scalar<Accumulator<T>> beta;
};

/// Row-major copies of X and Y in a workspace, whose rows are multiples of `word` elements.
struct CopiesRoom {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t columns = 0;  // of each, at most; a multiple of `word`
  std::int64_t word = 1;

  /// Throws Error(out_of_memory) where the elements cannot be counted.
  CopiesRoom(std::int64_t the_rows, std::int64_t the_cols, std::int64_t columns_most,
             std::int64_t the_word)
      : rows(the_rows), cols(the_cols), columns(pitch(columns_most, the_word)), word(the_word) {
    detail::checked_elements(columns, rows + cols);
  }

  std::int64_t elements() const { return (rows + cols) * columns; }
  /// Elements from row to row of the copies of so many columns; 0 where they have no room.
  std::int64_t pitch(std::int64_t of_columns) const {
    return of_columns <= columns ? pitch(of_columns, word) : 0;
  }

 private:
  static std::int64_t pitch(std::int64_t columns, std::int64_t word) {
    return columns / word * word + (columns % word != 0 ? word : 0);
  }
};

/// A pattern on one device, ready for products.
template <class T, class TOut>
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Device memory of the pattern.
  virtual std::int64_t bytes() const noexcept = 0;
  virtual std::int64_t workspace_bytes() const noexcept = 0;
  /// On a GPU launches on the stream, of the same device, and returns.
  virtual void run(const Stream& stream, const SampleOperands<T, TOut>& operands,
                   std::byte* workspace) const = 0;
  /// How the pattern is held: a line.
  virtual std::string tell() const = 0;
};

namespace cpu {
/// Throws Error as the constructor of SddmmPlan does.
template <class T, class TOut>
std::unique_ptr<const Sampler<T, TOut>> make_sampler(const Stream& stream, const CsrView<T>& a,
                                                     const SddmmOptions& options);
}  // namespace cpu

namespace cuda {
template <class T, class TOut>
std::unique_ptr<const Sampler<T, TOut>> make_sampler(const Stream& stream, const CsrView<T>& a,
                                                     const SddmmOptions& options);
}  // namespace cuda

}  // namespace lanky::sparse
