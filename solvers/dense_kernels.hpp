// What the host of solvers decomposes again and again, once for each instruction set. Matrices are
// by columns and tight.
#pragma once

#include <complex>
#include <cstdint>

namespace lanky::solvers {

/// Of RitzStep (solvers/dense_eigen.hpp).
template <class W>
struct RitzOperands {
  std::int64_t size;
  std::int64_t b;
  std::int64_t others;  // eigenvectors that P is made of, those farthest from X
  std::int64_t p;
  bool reversed;               // X has the last eigenvectors, the last one first
  const std::int32_t* active;  // [p]
  const double* values;        // [size], ascending
  const W* vectors;            // [size, size]
  W* x;                        // [size, b]
  W* steps;                    // [size, p]
  W* gram;                     // [p, p]
};

/// A basis [Q W] of `size` columns, the last w of which stand for W' = [Q W] C.
template <class W>
struct UnmadeBlock {
  std::int64_t size;
  std::int64_t w;
  const W* c;  // [size, w]
};

template <class W>
struct DenseKernels {
  /// H [n, n], whose upper triangle is read, is V diag(values) V^H, values ascending; false where
  /// the QR iteration does not converge.
  bool (*self_adjoint)(std::int64_t n, const W* h, double* values, W* vectors);
  void (*ritz_step)(const RitzOperands<W>& operands);
  /// H [size, size], whose upper triangle is read and written: from that of [Q W] to that of [Q
  /// W'].
  void (*gram_with)(const UnmadeBlock<W>& block, W* h);
  /// X [size, cols]: from coefficients for [Q W'] to those for [Q W].
  void (*coefficients_without)(const UnmadeBlock<W>& block, std::int64_t cols, W* x);
  /// A [n, n] = left diag(values) right^H, values descending; false as above.
  bool (*svd)(std::int64_t n, const W* a, double* values, W* left, W* right);
};

[[noreturn]] void refuse_no_convergence();

/// Those of the widest registers that the CPU has.
template <class W>
const DenseKernels<W>& dense_kernels();

namespace baseline {
template <class W>
const DenseKernels<W>& dense_kernels();
}
namespace avx2 {
template <class W>
const DenseKernels<W>& dense_kernels();
}

}  // namespace lanky::solvers
