// Sampled products, for docs/guide/sampled.md: the gradient of A in Y = A X.
#include "expect.hpp"

#include <lanky/lanky.hpp>
#include <vector>

int main() {
  const lanky::Stream stream(lanky::Device::best());
  const auto A = lanky::io::generate<float>("uniform:500:6:300");  // 500 x 300, 6 entries a row
  const std::int64_t c = 16;
  // begin plan
  // A's pattern alone counts: values may be null.
  const lanky::SddmmPlan<float> plan(stream, A.view(), {.expected_columns = c});

  lanky::Matrix<float> dY(stream, plan.rows(), c, lanky::Layout::row);
  lanky::Matrix<float> X(stream, plan.cols(), c, lanky::Layout::row);
  dY.buffer().copy_from(std::vector<float>(500 * c, 2.0F));
  X.buffer().copy_from(std::vector<float>(300 * c, 0.5F));

  lanky::Buffer<float> gradient(stream, plan.nnz());  // in the order of A's entries
  plan.run(stream, dY, X, gradient);                  // dA[i, j] = sum_c dY[i, c] X[j, c]
  // end plan
  expect(gradient.to_host() == std::vector<float>(static_cast<std::size_t>(A.nnz()), 16.0F));
}
