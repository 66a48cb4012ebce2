// What a user writes first: a matrix, a plan, a product, and a Gram matrix.
#include <cstdio>
#include <lanky/lanky.hpp>
#include <vector>

int main() {
  const lanky::Stream s(lanky::Device::best());

  const auto A = lanky::io::generate<double>("stencil5:20");
  const lanky::SparsePlan<double> plan(s, A.view());
  const auto x = lanky::Buffer<double>::from(s, std::vector<double>(400, 1.0));
  lanky::Buffer<double> y(s, 400);
  plan.run(s, x, y);

  const std::vector<double> result = y.to_host();
  double error = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    double row_sum = 0;
    for (auto p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p) {
      row_sum += A.values[static_cast<std::size_t>(p)];
    }
    error += result[i] > row_sum ? result[i] - row_sum : row_sum - result[i];
  }

  const lanky::GemmPlan<float> gram(s, {.m = 2, .n = 2, .k = 1000, .op_a = lanky::Op::trans});
  lanky::Matrix<float> q(s, 1000, 2);
  lanky::Matrix<float> g(s, 2, 2);
  q.buffer().copy_from(std::vector<float>(2000, 1.0F));
  gram.run(s, q, q, g);
  const std::vector<float> product = g.buffer().to_host();

  // Half types, whose templates a shared library exports only with the types themselves.
  const auto B = lanky::io::generate<lanky::half>("stencil5:20,values=int");
  const lanky::SparsePlan<lanky::half, float> narrow(s, B.view());
  const auto ones =
      lanky::Buffer<lanky::half>::from(s, std::vector<lanky::half>(400, lanky::half(1)));
  lanky::Buffer<float> sums(s, 400);
  narrow.run(s, ones, sums);
  float expected = 0;
  for (auto p = B.row_offsets[0]; p < B.row_offsets[1]; ++p)
    expected += B.values[static_cast<std::size_t>(p)];
  const bool narrow_right = sums.to_host().front() == expected;

  std::printf("%s\nerror %.1e, gram %.0f\n", plan.explain().c_str(), error,
              static_cast<double>(product[0]));
  return error < 1e-12 && narrow_right && product == std::vector<float>(4, 1000.0F) ? 0 : 1;
}
