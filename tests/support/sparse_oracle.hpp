// What the tests of sparse products stand on: matrices of given row lengths, exact and random data,
// a reference in compensated double with its error bound, and one way to run a plan.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <lanky/csr.hpp>
#include <lanky/sparse.hpp>
#include <string>
#include <vector>

#include "sparse/cpu/steps.hpp"
#include "sparse/packed.hpp"
#include "sparse/packed_matrix.hpp"
#include "sparse/plan.hpp"
#include "sparse/policy.hpp"
#include "support/check_packed.hpp"
#include "support/draw_csr.hpp"
#include "support/exact_sum.hpp"
#include "support/executor.hpp"
#include "support/h200.hpp"
#include "support/replay_packed.hpp"

namespace lanky::testing {

/// Seed of a test's random data: LANKY_SEED where set. Print it with SCOPED_TRACE.
inline std::uint64_t seed_or(std::uint64_t seed) {
  const char* text = std::getenv("LANKY_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : seed;
}

/// alpha, beta, x and the y that is there before.
template <class T, class TOut>
struct Operands {
  Accumulator<T> alpha = 1;
  Accumulator<T> beta = 0;
  std::vector<T> x;
  std::vector<TOut> y;
};

/// A matrix packed by the CPU, in the shape that plans choose or in another.
template <class T>
struct PackedOnHost {
  explicit PackedOnHost(const CsrView<T>& view)
      : checked(sparse::load(stream(), view, sparse::cpu::kExamination)),
        packed(pack(sparse::choose_shape(facts(), kDType<T>, testing::h200()).shape)) {}
  PackedOnHost(const CsrView<T>& view, const sparse::Shape& shape)
      : checked(sparse::load(stream(), view, sparse::cpu::kExamination)), packed(pack(shape)) {}

  static Stream stream() { return Stream(Device::cpu()); }
  /// As a plan knows them when it chooses a shape.
  sparse::RowFacts facts() const {
    return sparse::facts_by(sparse::cpu::PackedSteps<T>(testing::h200()), checked,
                            sparse::Path::cuda);
  }
  sparse::PackedMatrix<T> pack(const sparse::Shape& shape) const {
    return sparse::cpu::pack(stream(), checked.csr, shape, nullptr);
  }
  std::string violation() const { return sparse::check_packed(packed.view(), checked.csr); }

  /// y after one product.
  template <class TOut>
  std::vector<TOut> multiply(const Operands<T, TOut>& operands) const {
    std::vector<TOut> y = operands.y;
    std::vector<Accumulator<T>> partials(packed.header.partials);
    sparse::replay_packed<T, TOut>(
        packed.view(),
        {{operands.x.data(), y.data(), operands.alpha, operands.beta}, partials.data(), nullptr});
    return y;
  }

  sparse::LoadedCsr<T> checked;
  sparse::PackedMatrix<T> packed;
};

/// Every type of a matrix, for a TYPED_TEST_SUITE; fewer where PlanCases are.
#ifdef __SANITIZE_ADDRESS__
using Elements = ::testing::Types<double, half, std::complex<double>>;
#else
using Elements =
    ::testing::Types<double, float, half, bfloat16, std::complex<float>, std::complex<double>>;
#endif
struct ElementName {
  template <class T>
  static std::string GetName(int /*index*/) {  // NOLINT: GoogleTest's name
    return std::string(to_string(kDType<T>));
  }
};

/// Any shape that keeps a window of a few thousand rows within its limits.
template <class T>
sparse::Shape random_shape(Random& random) {
  sparse::Shape shape;
  shape.lane_pieces = random() % 2 == 0 ? 1 : sparse::kLanePiecesMost<T>;
  shape.wide_fill = random() % 2 == 0 ? 100 : static_cast<int>(random_int(random, 25, 99));
  shape.piece_most = static_cast<int>(random_int(random, 4, random() % 2 == 0 ? 16 : 255));
  shape.row_cost = static_cast<int>(random_int(random, 1, 8));
  shape.granule = random() % 2 == 0 ? 1 : static_cast<int>(random_int(random, 2, 40));
  const std::int64_t pieces = random_int(random, 1, random() % 2 == 0 ? 8 : 200);
  shape.window_cost = static_cast<int>(shape.piece_most * pieces);
  shape.stage_most = random() % 2 == 0 ? 0 : static_cast<int>(random_int(random, 1, 8192));
  if (shape.stage_most == 0 && shape.wide_fill == 100)
    shape.hot_least = static_cast<int>(random_int(random, 0, 4));
  return shape;
}

/// Kernels to test by name: all that the type has on a GPU, the one way of the CPU.
template <class T>
std::vector<Engine> engines_on(Device device) {
  if (!device.is_cuda()) return {Engine::automatic};
  if (kDType<T> == DType::f32 || kIsComplex<T>) return {Engine::automatic, Engine::cuda_cores};
  return {Engine::tensor_cores, Engine::cuda_cores};
}

/// y after one run of the plan.
template <class T, class TOut>
std::vector<TOut> run_plan(const Stream& stream, const SparsePlan<T, TOut>& plan,
                           const Operands<T, TOut>& operands) {
  const auto x = Buffer<T>::from(stream, operands.x);
  auto y = Buffer<TOut>::from(stream, operands.y);
  plan.run(stream, operands.alpha, x.view(), operands.beta, y.view());
  return y.to_host();
}

/// The plain formula, which recovers no Inf from a NaN; of real numbers the plain product.
template <class T>
std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  if constexpr (!kIsComplex<T>) return a.real() * b.real();
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// A row of alpha A x + beta y, and the sum of magnitudes that its error bound is made of.
struct ReferenceRow {
  std::complex<double> value;
  double magnitude;
};

template <class T, class TOut>
ReferenceRow reference_row(const CsrMatrix<T>& a, const Operands<T, TOut>& operands,
                           std::int64_t row) {
  ExactSum real;
  ExactSum imaginary;
  double magnitude = 0.0;
  for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
    const std::complex<double> value = parts(a.values[entry]);
    const std::complex<double> factor = parts(operands.x[a.col_indices[entry]]);
    real.add(value.real(), factor.real());
    if constexpr (kIsComplex<T>) {
      real.add(-value.imag(), factor.imag());
      imaginary.add(value.real(), factor.imag());
      imaginary.add(value.imag(), factor.real());
    }
    magnitude += std::sqrt(std::norm(value) * std::norm(factor));
  }
  const std::complex<double> alpha = parts(operands.alpha);
  const std::complex<double> beta = parts(operands.beta);
  const auto scaled = product<T>(alpha, {real.value(), imaginary.value()});
  if (beta == 0.0) return {scaled, std::abs(alpha) * magnitude};
  const auto old = product<T>(beta, parts(operands.y[row]));
  return {scaled + old, std::abs(alpha) * magnitude + std::abs(old)};
}

/// Integer data, or NaN and Inf: y must hold the reference, rounded once.
template <class T, class TOut>
void expect_exact(const CsrMatrix<T>& a, const Operands<T, TOut>& operands,
                  const std::vector<TOut>& y) {
  ASSERT_EQ(static_cast<std::int64_t>(y.size()), a.rows);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const auto expected = parts(element<TOut>(reference_row(a, operands, row).value));
    const auto actual = parts(y[row]);
    ASSERT_TRUE(same_number(actual.real(), expected.real()) &&
                same_number(actual.imag(), expected.imag()))
        << actual << " instead of " << expected << " in row " << row << " of "
        << a.row_offsets[row + 1] - a.row_offsets[row] << " entries";
  }
}

/// Random data: within k u sum |a||x| of the reference, u twice the unit roundoff of the
/// accumulator (tensor cores truncate; complex products are two), and half a unit of y's type;
/// `product_error`: of a product of rounded factors.
template <class T, class TOut>
void expect_within_bound(const CsrMatrix<T>& a, const Operands<T, TOut>& operands,
                         const std::vector<TOut>& y, double product_error = 0.0) {
  ASSERT_EQ(static_cast<std::int64_t>(y.size()), a.rows);
  const double unit = 2.0 * unit_roundoff(kDType<Accumulator<T>>);
  const double subnormal = kDType<TOut> == DType::f16 ? 0x1p-25 : 0.0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const ReferenceRow reference = reference_row(a, operands, row);
    const auto terms = static_cast<double>(a.row_offsets[row + 1] - a.row_offsets[row] + 3);
    const double bound = (terms * unit + product_error) * reference.magnitude + subnormal +
                         1.01 * unit_roundoff(kDType<TOut>) * std::abs(reference.value);
    ASSERT_LE(std::abs(parts(y[row]) - reference.value), bound)
        << parts(y[row]) << " instead of " << reference.value << " in row " << row << " of "
        << terms - 3 << " entries";
  }
}

/// Packs A, checks the packed form, multiplies by it on the host and by plans on every path of the
/// device; judge(y) each time.
template <class T, class TOut, class Judge>
void for_each_path(Device device, const CsrMatrix<T>& a, const Operands<T, TOut>& operands,
                   Judge judge) {
  const PackedOnHost<T> packed(a.view());
  ASSERT_EQ(packed.violation(), "");
  {
    SCOPED_TRACE("replay of the packed matrix");
    judge(packed.multiply(operands));
    if (::testing::Test::HasFatalFailure()) return;
  }
  const Stream stream(device);
  for (const Engine engine : engines_on<T>(device)) {
    SCOPED_TRACE(to_string(engine));
    const SparsePlan<T, TOut> plan(stream, a.view(), {.engine = engine});
    judge(run_plan(stream, plan, operands));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace lanky::testing
