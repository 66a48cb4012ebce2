// A first program: y = A x with a sparse matrix, and the Gram matrix G = QᵀQ of a tall one.
// docs/start/first_cpp.md shows it whole.
#include <cstdio>
#include <lanky/lanky.hpp>
#include <vector>

int main() {
  const lanky::Stream stream(lanky::Device::best());  // cuda:0, else the CPU
  std::printf("computing on %s\n", stream.device().name().c_str());

  // A sparse matrix in host memory: the 27-point stencil on a grid of 20 x 20 x 20 points.
  const auto A = lanky::io::generate<double>("stencil27:20,values=int");
  const lanky::SparsePlan<double> plan(stream, A.view());  // packs A for the device, once

  const auto x = lanky::Buffer<double>::from(stream, std::vector<double>(8000, 1.0));
  lanky::Buffer<double> y(stream, A.rows);
  plan.run(stream, x, y);                          // y = A x
  plan.run(stream, 2.0, x, 1.0, y);                // y = 2 A x + y
  const std::vector<double> result = y.to_host();  // waits for the stream

  // A dense matrix of 100000 x 4 elements, column after column.
  lanky::Matrix<float> Q(stream, 100'000, 4);
  Q.buffer().copy_from(std::vector<float>(400'000, 0.5F));
  lanky::Matrix<float> G(stream, 4, 4);
  const lanky::GemmPlan<float> gram(stream,
                                    {.m = 4, .n = 4, .k = 100'000, .op_a = lanky::Op::trans});
  gram.run(stream, Q, Q, G);  // G = QᵀQ
  const std::vector<float> products = G.buffer().to_host();

  // The sum of a row of A, three times, and the sum of 100000 products of 0.5 and 0.5.
  double row_sum = 0;
  for (auto p = A.row_offsets[0]; p < A.row_offsets[1]; ++p) {
    row_sum += A.values[static_cast<std::size_t>(p)];
  }
  std::printf("y[0] = %g, G[0] = %g\n", result[0], static_cast<double>(products[0]));
  return result[0] == 3 * row_sum && products[0] == 25'000.0F ? 0 : 1;
}
