// What an iteration does besides its product, fused into as few passes over the vectors as their
// dependences allow. Sums are formed in double and in an order that never changes.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <memory>

#include "examples/solvers/scalars.hpp"

namespace lanky::examples::solvers {

/// Elements that a vector of n takes: whole 16 bytes of any type. Those past n are zero.
inline std::int64_t padded(std::int64_t n) {
  return (n + 3) / 4 * 4;
}

template <class T>
struct CgVectors {
  std::int64_t size;          // all vectors: [size], padded
  T* x;                       // the solution
  T* r;                       // b - A x
  T* p;                       // the direction
  const T* q;                 // A p
  const T* inverse_diagonal;  // of the preconditioner; null: none
  CgScalars* scalars;         // one
};

template <class T>
struct PageRankVectors {
  std::int64_t size;             // all vectors: [size], padded
  T* x;                          // ranks
  const T* y;                    // d P^T x
  const std::uint8_t* dangling;  // 1: the node has no links
  PageRankScalars* scalars;      // one
};

template <class T>
struct EigenVectors {
  std::int64_t size;      // all vectors: [size], padded
  T* x;                   // of norm 1
  const T* y;             // A x
  EigenScalars* scalars;  // one
};

/// The passes on one device. Each returns at once where the state is not `running`.
template <class T>
class VectorSteps {
 public:
  virtual ~VectorSteps() = default;
  /// after_dot(p.q)
  virtual void cg_dot(const CgVectors<T>& v) const = 0;
  /// x += alpha p, r -= alpha q, after_step(r.r, r.z)
  virtual void cg_step(const CgVectors<T>& v) const = 0;
  /// p = z + beta p, where the last step did not converge
  virtual void cg_direction(const CgVectors<T>& v) const = 0;
  /// x = y + base, after_step(sum of |x - x before|, sum of x without links)
  virtual void pagerank_step(const PageRankVectors<T>& v) const = 0;
  /// after_product(x.y, |y|)
  virtual void eigen_product(const EigenVectors<T>& v) const = 0;
  /// x = y / |y|, after_step(|y - lambda x before|)
  virtual void eigen_step(const EigenVectors<T>& v) const = 0;
};

/// Of the stream's device; work goes to the stream. T: double, float.
template <class T>
std::unique_ptr<VectorSteps<T>> make_vector_steps(const Stream& stream);

template <class T>
std::unique_ptr<VectorSteps<T>> cuda_vector_steps(const Stream& stream);

/// `host`, padded, on the stream's device.
template <class T>
Buffer<T> padded_buffer(const Stream& stream, std::int64_t size, std::span<const T> host = {}) {
  Buffer<T> buffer(stream, padded(size));
  buffer.fill_zero();
  if (!host.empty()) buffer.copy_from(host);
  return buffer;
}

}  // namespace lanky::examples::solvers
