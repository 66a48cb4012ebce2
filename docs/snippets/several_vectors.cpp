// Sparse matrix times several vectors, for docs/guide/several_vectors.md.
#include "expect.hpp"

#include <lanky/lanky.hpp>
#include <vector>

int main() {
  const lanky::Stream stream(lanky::Device::best());
  const auto A = lanky::io::generate<double>("stencil5:30,values=int");  // 900 x 900
  // begin plan
  const lanky::SparsePlan<double> plan(
      stream, A.view(), {.expected_columns = 8, .expected_layout = lanky::Layout::row});

  lanky::Matrix<double> X(stream, plan.cols(), 8, lanky::Layout::row);
  lanky::Matrix<double> Y(stream, plan.rows(), 8, lanky::Layout::row);
  X.buffer().copy_from(std::vector<double>(900 * 8, 1.0));
  plan.run(stream, X, Y);            // Y = A X
  plan.run(stream, 1.0, X, 1.0, Y);  // Y = A X + Y
  // end plan

  // begin others
  // Another number of columns, another layout, a part of a larger matrix: the same plan.
  lanky::Matrix<double> Z(stream, plan.rows(), 3, lanky::Layout::col, 1024);
  const lanky::MatrixView<const double> first_three(X.buffer().data(), 900, 3, 8,
                                                    lanky::Layout::row);
  plan.run(stream, first_three, Z);
  // end others

  const std::vector<double> doubled = Y.buffer().to_host();
  const std::vector<double> single = Z.buffer().to_host();
  for (std::size_t i = 0; i < 900; ++i) {
    expect(doubled[i * 8] == 2 * single[i] && doubled[i * 8 + 7] == 2 * single[i]);
    expect(single[i] == single[1024 + i]);
  }
}
