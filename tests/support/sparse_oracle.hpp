// What the tests of sparse products stand on: matrices of given row lengths, exact and random data,
// a reference in compensated double with its error bound, and one way to run a plan.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <lanky/csr.hpp>
#include <lanky/sparse.hpp>
#include <random>
#include <string>
#include <vector>

#include "sparse/check_packed.hpp"
#include "sparse/host_csr.hpp"
#include "sparse/packed.hpp"
#include "support/executor.hpp"

namespace lanky::testing {

/// Seed of a test's random data: LANKY_SEED where set. Print it with SCOPED_TRACE.
inline std::uint64_t seed_or(std::uint64_t seed) {
  const char* text = std::getenv("LANKY_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : seed;
}

/// Any real T from a double, rounded once.
template <class T>
T element(double value) {
  return static_cast<T>(value);
}

using Random = std::mt19937_64;

inline std::int64_t random_int(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

/// Integers of -2 .. 2: sums of products are exact in every accumulator.
template <class T>
T small_integer(Random& random) {
  return element<T>(static_cast<double>(random() % 5) - 2.0);
}

/// Uniform in [-1, 1].
template <class T>
T uniform(Random& random) {
  return element<T>(std::uniform_real_distribution<double>(-1.0, 1.0)(random));
}

template <class T, class Draw>
std::vector<T> vector_of(std::int64_t size, Random& random, Draw draw) {
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& value : values)
    value = draw(random);
  return values;
}

/// Row i has lengths[i] entries in random columns: unsorted, and repeated now and then.
template <class T, class Draw>
CsrMatrix<T> matrix_of(const std::vector<std::int64_t>& lengths, std::int64_t cols, Random& random,
                       Draw draw) {
  CsrMatrix<T> a;
  a.rows = static_cast<std::int64_t>(lengths.size());
  a.cols = cols;
  for (const std::int64_t length : lengths)
    a.row_offsets.push_back(a.row_offsets.back() + length);
  const std::int64_t nnz = a.row_offsets.back();
  a.values = vector_of<T>(nnz, random, draw);
  a.col_indices.resize(a.values.size());
  for (std::int32_t& column : a.col_indices) {
    column = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(cols));
  }
  return a;
}

/// Lengths at both sides of every boundary of classes, tiles and pieces, in mixed order.
inline std::vector<std::int64_t> boundary_lengths() {
  std::vector<std::int64_t> lengths = {
      1024, 0,   3,   255,  5,  1,   2,   4,   8,  16,   2048, 0,    3,  1,  7,  9, 15,  17,
      6,    256, 257, 1023, 3,  2,   2,   1,   31, 32,   33,   0,    63, 64, 65, 4, 127, 128,
      129,  3,   1,   254,  10, 511, 512, 513, 0,  1025, 2049, 5000, 1,  1,  3,  4};
  for (std::int64_t length = 0; length < 40; ++length)
    lengths.push_back(length);
  return lengths;
}

/// The host matrix with the packed form that plans are made of; checked against the contract.
template <class T>
struct PackedOnHost {
  explicit PackedOnHost(const CsrView<T>& view)
      : checked(Stream(Device::cpu()), view),
        placement(sparse::place_rows<T>(view.cols, checked.csr().row_offsets)),
        slots(sparse::pack_slots(Stream(Device::cpu()), checked.csr(), placement)) {}

  std::string violation() const {
    return sparse::check_packed(sparse::view_of(placement, slots), checked.csr());
  }

  sparse::CheckedCsr<T> checked;
  sparse::Placement placement;
  sparse::PackedSlots<T> slots;
};

/// Kernels to test by name: all that the type has on a GPU, the one replay on the CPU.
template <class T>
std::vector<SpmvPath> paths_on(Device device) {
  if (!device.is_cuda()) return {SpmvPath::automatic};
  if (kDType<T> == DType::f32) return {SpmvPath::automatic, SpmvPath::cuda};
  return {SpmvPath::mma, SpmvPath::cuda};
}

inline std::string path_name(SpmvPath path) {
  return path == SpmvPath::mma ? "path mma" : path == SpmvPath::cuda ? "path cuda" : "path auto";
}

/// alpha, beta, x and the y that is there before.
template <class T, class TOut>
struct Operands {
  Accumulator<T> alpha = 1;
  Accumulator<T> beta = 0;
  std::vector<T> x;
  std::vector<TOut> y;
};

/// y after one run of the plan.
template <class T, class TOut>
std::vector<TOut> run_plan(const Stream& stream, const SpmvPlan<T, TOut>& plan,
                           const Operands<T, TOut>& operands) {
  const auto x = Buffer<T>::from(stream, operands.x);
  auto y = Buffer<TOut>::from(stream, operands.y);
  plan.run(stream, operands.alpha, x.view(), operands.beta, y.view());
  return y.to_host();
}

/// A row of alpha A x + beta y: in double, compensated (Ogita, Rump and Oishi 2005, Dot2), and the
/// sum of magnitudes that its error bound is made of.
struct ReferenceRow {
  double value;
  double magnitude;
};

template <class T, class TOut>
ReferenceRow reference_row(const CsrMatrix<T>& a, const Operands<T, TOut>& operands,
                           std::int64_t row) {
  double sum = 0.0;
  double plain = 0.0;
  double correction = 0.0;
  double magnitude = 0.0;
  for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
    const double value = static_cast<double>(a.values[entry]);
    const double factor = static_cast<double>(operands.x[a.col_indices[entry]]);
    const double product = value * factor;
    const double next = sum + product;
    const double back = next - sum;
    correction += std::fma(value, factor, -product) + ((sum - (next - back)) + (product - back));
    sum = next;
    plain += product;
    magnitude += std::fabs(product);
  }
  const double total = std::isfinite(plain) ? sum + correction : plain;
  const double alpha = static_cast<double>(operands.alpha);
  const double beta = static_cast<double>(operands.beta);
  if (beta == 0.0) return {alpha * total, std::fabs(alpha) * magnitude};
  const double old = beta * static_cast<double>(operands.y[row]);
  return {alpha * total + old, std::fabs(alpha) * magnitude + std::fabs(old)};
}

/// Integer data, or NaN and Inf: y must hold the reference, rounded once.
template <class T, class TOut>
void expect_exact(const CsrMatrix<T>& a, const Operands<T, TOut>& operands,
                  const std::vector<TOut>& y) {
  ASSERT_EQ(static_cast<std::int64_t>(y.size()), a.rows);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const double expected =
        static_cast<double>(element<TOut>(reference_row(a, operands, row).value));
    const double actual = static_cast<double>(y[row]);
    if (std::isnan(expected) && std::isnan(actual)) continue;
    ASSERT_EQ(actual, expected) << "row " << row << " of "
                                << a.row_offsets[row + 1] - a.row_offsets[row] << " entries";
  }
}

/// Random data: within k u sum |a||x| of the reference, u twice the unit roundoff of the
/// accumulator (tensor cores truncate), and half a unit of y's type.
template <class T, class TOut>
void expect_within_bound(const CsrMatrix<T>& a, const Operands<T, TOut>& operands,
                         const std::vector<TOut>& y) {
  ASSERT_EQ(static_cast<std::int64_t>(y.size()), a.rows);
  const double unit = 2.0 * unit_roundoff(kDType<Accumulator<T>>);
  const double subnormal = kDType<TOut> == DType::f16 ? 0x1p-25 : 0.0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const ReferenceRow reference = reference_row(a, operands, row);
    const auto terms = static_cast<double>(a.row_offsets[row + 1] - a.row_offsets[row] + 3);
    const double bound = terms * unit * reference.magnitude + subnormal +
                         1.01 * unit_roundoff(kDType<TOut>) * std::fabs(reference.value);
    ASSERT_NEAR(static_cast<double>(y[row]), reference.value, bound)
        << "row " << row << " of " << terms - 3 << " entries";
  }
}

/// Packs A, checks the packed form, multiplies on every path of the device; judge(y) each time.
template <class T, class TOut, class Judge>
void for_each_path(Device device, const CsrMatrix<T>& a, const Operands<T, TOut>& operands,
                   Judge judge) {
  ASSERT_EQ(PackedOnHost<T>(a.view()).violation(), "");
  const Stream stream(device);
  for (const SpmvPath path : paths_on<T>(device)) {
    SCOPED_TRACE(path_name(path));
    const SpmvPlan<T, TOut> plan(stream, a.view(), {.path = path});
    judge(run_plan(stream, plan, operands));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace lanky::testing
