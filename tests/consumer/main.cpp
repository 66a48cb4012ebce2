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
  plan.run(s, x.view(), y.view());

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
  gram.run(s, 1.0F, q.view(), q.view(), 0.0F, g.view());
  const std::vector<float> product = g.buffer().to_host();

  std::printf("%s\nerror %.1e, gram %.0f\n", plan.explain().c_str(), error,
              static_cast<double>(product[0]));
  return error < 1e-12 && product == std::vector<float>(4, 1000.0F) ? 0 : 1;
}
