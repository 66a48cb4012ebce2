// What the example needs beside factorizations, on the CPU or in CUDA kernels: data, and an
// independent judgement of the result.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>

namespace lanky::examples::cholqr {

inline constexpr int kMostColumns = 128;  // of a judgement

/// Matrices are column major.
template <class T>
class TallWork {
 public:
  virtual ~TallWork() = default;

  /// Uniform in (-1, 1).
  virtual void fill(const Stream& stream, std::uint64_t seed, MatrixView<T> matrix) = 0;

  /// |Q^T Q - I| in the Frobenius norm and |A - Q R| over |A| likewise, summed in double. Wait.
  virtual double orthogonality(const Stream& stream, MatrixView<const T> q) = 0;
  virtual double residual(const Stream& stream, MatrixView<const T> a, MatrixView<const T> q,
                          MatrixView<const T> r) = 0;
};

/// Throws Error(no_device).
template <class T>
std::unique_ptr<TallWork<T>> make_tall_work(const Stream& stream);
template <class T>
std::unique_ptr<TallWork<T>> make_cuda_tall_work(const Stream& stream);

/// `work` captured as a CUDA graph, to be replayed by one launch on the stream; itself on the CPU.
std::function<void()> replay(const Stream& stream, const std::function<void()>& work);
std::function<void()> cuda_replay(const Stream& stream, const std::function<void()>& work);

}  // namespace lanky::examples::cholqr
