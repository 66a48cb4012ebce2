// The last step of a product on the CPU: C = alpha sum + beta C, in f64 for real types and parts,
// with one rounding to the type of C.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "dense/cpu/pack.hpp"
#include "dense/problem.hpp"

namespace lanky::dense::cpu {

/// alpha and beta of a run; alpha is 0 where there is nothing to sum.
template <class Acc>
struct Factors {
  Acc alpha;
  Acc beta;
};

inline double finished(Factors<double> factors, double sum, double c) {
  const double value = factors.alpha == 0 ? 0 : factors.alpha * sum;
  return factors.beta == 0 ? value : value + factors.beta * c;
}

/// a b by the plain formula of BLAS, also where a part is infinite.
inline std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

inline std::complex<double> finished(Factors<std::complex<double>> factors,
                                     std::complex<double> sum, std::complex<double> c) {
  const std::complex<double> zero = 0;
  const std::complex<double> value = factors.alpha == zero ? zero : product(factors.alpha, sum);
  return factors.beta == zero ? value : value + product(factors.beta, c);
}

/// The type in which C is finished: its sums are scaled before the one rounding to TOut.
template <class T>
using Final = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

/// Sums of a block of C: numbers at i * row + j * col, part after part along j.
template <class Sum>
struct Sums {
  const Sum* data;
  Strides strides;

  template <class T>
  Final<T> at(std::int64_t i, std::int64_t j) const {
    const Sum* sum = data + i * strides.row + j * kParts<T> * strides.col;
    if constexpr (kIsComplex<T>) {
      return {static_cast<double>(sum[0]), static_cast<double>(sum[strides.col])};
    } else {
      return static_cast<double>(*sum);
    }
  }
};

}  // namespace lanky::dense::cpu
