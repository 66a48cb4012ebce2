// Tall-and-skinny dense products, for docs/guide/dense.md.
#include "expect.hpp"

#include <cstdio>
#include <lanky/lanky.hpp>
#include <vector>

int main() {
  using lanky::Op;
  const lanky::Stream stream(lanky::Device::best());
  const std::int64_t n = 50'000;
  lanky::Matrix<double> Q(stream, n, 8);
  Q.buffer().copy_from(std::vector<double>(static_cast<std::size_t>(8 * n), 0.5));

  // begin gram
  // G = QᵀQ, [8, 8] of [50000, 8]: A is stored as [k, m] and transposed.
  const lanky::GemmPlan<double> gram(stream, {.m = 8, .n = 8, .k = n, .op_a = Op::trans});
  lanky::Matrix<double> G(stream, 8, 8);
  gram.run(stream, Q, Q, G);  // A and B are the same memory, which is read once
  // end gram
  expect(G.buffer().to_host() == std::vector<double>(64, 0.25 * static_cast<double>(n)));

  // begin update
  // P = Q R, [50000, 8] times [8, 8]; then P = Q R - P.
  lanky::Matrix<double> R(stream, 8, 8);
  R.buffer().copy_from(std::vector<double>(64, 1.0));
  lanky::Matrix<double> P(stream, n, 8);
  const lanky::GemmPlan<double> update(stream, {.m = n, .n = 8, .k = 8});
  update.run(stream, Q, R, P);
  update.run(stream, 1.0, Q, R, -1.0, P);
  // end update
  expect(P.buffer().to_host() == std::vector<double>(static_cast<std::size_t>(8 * n), 0.0));

  // begin panel
  // C = A B with a large A and 4 columns: [600, 600] times [600, 4], by rows.
  const lanky::GemmShape shape = {.m = 600, .n = 4, .k = 600, .layout = lanky::Layout::row};
  const lanky::GemmPlan<double> panel(stream, shape);
  std::puts(panel.explain().c_str());  // family, kernel, bytes, bound
  // end panel
  expect(panel.family() == lanky::GemmFamily::panel);
  expect(gram.family() == lanky::GemmFamily::gram);
  expect(update.family() == lanky::GemmFamily::update);

  // begin one_line
  // Without a plan: shapes follow from the views, and the call waits for the result.
  lanky::gemm(stream, Op::trans, Op::none, 1.0, Q.view(), Q, 0.0, G.view());
  // end one_line
  expect(G.buffer().to_host() == std::vector<double>(64, 0.25 * static_cast<double>(n)));

  // begin stored_as
  // A stored by columns with a leading dimension of 50048 elements, of which 50000 count.
  lanky::Matrix<double> padded(stream, n, 8, lanky::Layout::col, 50'048);
  const lanky::GemmPlan<double> strided(
      stream, {.m = 8, .n = 8, .k = n, .op_a = Op::trans, .lda = 50'048, .ldb = 50'048});
  // end stored_as
  padded.buffer().copy_from(std::vector<double>(8 * 50'048, 0.5));
  strided.run(stream, padded, padded, G);
  expect(G.buffer().to_host() == std::vector<double>(64, 0.25 * static_cast<double>(n)));
}
