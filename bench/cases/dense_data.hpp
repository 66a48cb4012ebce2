// Operands of a dense product as functions of place, and each element of C that follows from them:
// the same on the host and on a GPU.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>

#include "bench/cases/gemm_type.hpp"
#include "bench/cases/random.hpp"
#include "bench/harness/inner_product.hpp"

namespace lanky::bench {

/// Component `part` (0: real, 1: imaginary) of C(i, j).
struct Place {
  std::int64_t i = 0;
  std::int64_t j = 0;
  int part = 0;
};

/// C = alpha op(A) op(B) + beta C. Element (i, j) of a matrix as stored has number i + j * rows;
/// component c of element e of a complex one is component 2 e + c of the sequence.
struct DenseData {
  static constexpr std::uint64_t kSeedA = 11;
  static constexpr std::uint64_t kSeedB = 12;
  static constexpr std::uint64_t kSeedC = 13;

  Fill fill = Fill::integers;
  DType in = DType::f64;
  DType out = DType::f64;
  Op op_a = Op::none;
  Op op_b = Op::none;
  std::int64_t k = 0;
  std::int64_t a_rows = 0;  // of A, B, C as stored
  std::int64_t b_rows = 0;
  std::int64_t c_rows = 0;
  bool symmetric = false;  // B is A
  double alpha = 1;
  double beta = 0;

  /// Products of real numbers that one component of an element of A B sums.
  constexpr std::int64_t terms() const { return k * components(in); }
  /// Adds term t in [0, terms()) of a component of op(A) op(B).
  constexpr void add_term(InnerProduct& sum, const Place& place, std::int64_t t) const {
    if (!is_complex(in)) return sum.add(a(place.i, t, 0), b(t, place.j, 0));
    // (x + iy)(u + iv) = (xu - yv) + i (xv + yu)
    const std::int64_t l = t / 2;
    const int of_a = static_cast<int>(t % 2);
    const int of_b = place.part == 0 ? of_a : 1 - of_a;
    const double sign = of_a == 1 && of_b == 1 ? -1 : 1;
    sum.add(sign * a(place.i, l, of_a), b(l, place.j, of_b));
  }
  /// The element that follows from the sum of all its terms.
  constexpr Reference finish(const InnerProduct& product, const Place& place) const {
    const double size = alpha < 0 ? -alpha : alpha;
    Reference reference = product.result();
    reference.value *= alpha;
    reference.magnitude *= size;
    if (beta == 0) return reference;
    // cuBLAS rounds alpha A B to the type of C before it adds beta C to it (seen in f16, bf16).
    reference.rounded = reference.value;
    const double added = beta * stored(kSeedC, out, place.i + place.j * c_rows, place.part);
    reference.value += added;
    reference.magnitude += added < 0 ? -added : added;
    ++reference.terms;
    return reference;
  }

 private:
  constexpr double stored(std::uint64_t seed, DType dtype, std::int64_t number, int part) const {
    return element(fill, seed, number * components(dtype) + part,
                   significand_bits(component_type(dtype)));
  }
  /// Component of op(M)(i, j), M stored with `rows` rows.
  constexpr double operand(std::uint64_t seed, Op op, std::int64_t rows, std::int64_t i,
                           std::int64_t j, int part) const {
    const double value = stored(seed, in, op == Op::none ? i + j * rows : j + i * rows, part);
    return op == Op::conj_trans && part == 1 ? -value : value;
  }
  constexpr double a(std::int64_t i, std::int64_t l, int part) const {
    return operand(kSeedA, op_a, a_rows, i, l, part);
  }
  constexpr double b(std::int64_t l, std::int64_t j, int part) const {
    return symmetric ? operand(kSeedA, op_b, a_rows, l, j, part)
                     : operand(kSeedB, op_b, b_rows, l, j, part);
  }
};

}  // namespace lanky::bench
