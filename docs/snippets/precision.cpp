// Element types, accumulators and lower precision, for docs/guide/precision.md.
#include "expect.hpp"

#include <cmath>
#include <lanky/lanky.hpp>
#include <vector>

namespace {

void halves() {
  const lanky::Stream stream(lanky::Device::best());
  const auto A = lanky::io::generate<lanky::half>("banded:2000:5");
  // begin halves
  // A and x are f16, sums are f32, and y is f32, too: nothing is rounded to 11 bits at the end.
  const lanky::SparsePlan<lanky::half, float> plan(stream, A.view());
  const auto x =
      lanky::Buffer<lanky::half>::from(stream, std::vector<lanky::half>(2000, lanky::half(1.0F)));
  lanky::Buffer<float> y(stream, plan.rows());
  plan.run(stream, 2.0F, x, 0.0F, y);  // alpha and beta are of the accumulators' type: float
  // end halves

  const std::vector<float> result = y.to_host();
  // begin bound
  // |y - exact| <= (terms + 2) u sum |alpha a x|, row by row; u is the accumulators' roundoff.
  const double u = lanky::unit_roundoff(lanky::DType::f32);
  for (std::size_t i = 0; i < result.size(); ++i) {
    double exact = 0;
    double magnitude = 0;
    const auto begin = static_cast<std::size_t>(A.row_offsets[i]);
    const auto end = static_cast<std::size_t>(A.row_offsets[i + 1]);
    for (std::size_t p = begin; p < end; ++p) {
      exact += 2.0 * static_cast<double>(A.values[p]);
      magnitude += 2.0 * std::abs(static_cast<double>(A.values[p]));
    }
    expect(std::abs(result[i] - exact) <= static_cast<double>(end - begin + 2) * u * magnitude);
  }
  // end bound
}

void math() {
  const lanky::Stream stream(lanky::Device::best());
  // begin math
  // Products of floats may be rounded as tf32x3 allows: kernels without it compute in IEEE.
  const lanky::GemmPlan<float> plan(stream, {.m = 20'000, .n = 32, .k = 2000},
                                    {.math = lanky::Math::tf32x3});
  // end math
  expect(plan.family() == lanky::GemmFamily::panel);
  expect(lanky::to_string(lanky::Math::tf32x3) == "tf32x3");
}

void grams_in_double() {
  const lanky::Stream stream(lanky::Device::best());
  const std::int64_t rows = 10'000;
  lanky::Matrix<float> Q(stream, rows, 4, lanky::Layout::row);
  Q.buffer().copy_from(std::vector<float>(4 * 10'000, 0x1p-30F));
  // begin gram
  // Q holds floats, G doubles: products are exact, and sums are rounded to 53 bits.
  lanky::Matrix<double> G(stream, 4, 4, lanky::Layout::row);
  const lanky::GemmPlan<float, double> gram(
      stream, {.m = 4, .n = 4, .k = rows, .op_a = lanky::Op::trans, .layout = lanky::Layout::row});
  gram.run(stream, Q, Q, G);
  // end gram
  expect(G.buffer().to_host()[0] == 10'000 * 0x1p-60);
}

void chosen_at_run_time() {
  const lanky::Stream stream(lanky::Device::best());
  // begin visit
  // A type that is known at run time: one lambda for all of them.
  const lanky::DType dtype = lanky::parse_dtype("f32");
  const std::int64_t bytes = lanky::visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto A = lanky::io::generate<T>("diagonal:1000");
    return lanky::SparsePlan<T>(stream, A.view()).device_bytes();
  });
  // end visit
  expect(bytes >= 4000);
}

}  // namespace

int main() {
  halves();
  math();
  grams_in_double();
  chosen_at_run_time();
}
