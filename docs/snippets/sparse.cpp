// Sparse matrix times vector, for docs/guide/sparse.md.
#include "expect.hpp"

#include <cstdint>
#include <cstdio>
#include <lanky/lanky.hpp>
#include <vector>

namespace {

// begin own arrays
// The matrix [[4, 0, 1], [0, 2, 0]] in the caller's own arrays. Both index types of offsets serve.
const std::vector<std::int32_t> row_offsets = {0, 2, 3};
const std::vector<std::int32_t> col_indices = {0, 2, 1};
const std::vector<double> values = {4, 1, 2};

const lanky::CsrView<double> matrix = {.rows = 2,
                                       .cols = 3,
                                       .nnz = 3,
                                       .row_offsets = row_offsets.data(),
                                       .col_indices = col_indices.data(),
                                       .values = values.data()};
// end own arrays

void run_a_plan() {
  // begin plan
  const lanky::Stream stream(lanky::Device::best());
  const lanky::SparsePlan<double> plan(stream, matrix);

  const auto x = lanky::Buffer<double>::from(stream, std::vector<double>{1, 2, 3});
  lanky::Buffer<double> y(stream, plan.rows());
  plan.run(stream, x, y);             // y = A x
  plan.run(stream, 2.0, x, -1.0, y);  // y = 2 A x - y
  const std::vector<double> result = y.to_host();
  // end plan
  expect(result == std::vector<double>{7, 4});

  // begin explain
  std::puts(plan.explain().c_str());
  // end explain
  expect(!plan.explain().empty());
}

void new_values() {
  const lanky::Stream stream(lanky::Device::best());
  const auto x = lanky::Buffer<double>::from(stream, std::vector<double>{1, 2, 3});
  lanky::Buffer<double> y(stream, 2);
  // begin update
  lanky::SparsePlan<double> plan(stream, matrix);
  const std::vector<double> next = {1, 1, 1};  // in the order of the plan's CSR
  plan.update_values(next);
  plan.run(stream, x, y);
  // end update
  expect(y.to_host() == std::vector<double>{4, 2});
}

void transposes_and_triangles() {
  const lanky::Stream stream(lanky::Device::best());
  // begin transpose
  const lanky::SparsePlan<double> transposed(stream, matrix, {.op = lanky::Op::trans});
  const auto x = lanky::Buffer<double>::from(stream, std::vector<double>{1, 2});
  lanky::Buffer<double> y(stream, transposed.rows());  // 3: the plan holds Aᵀ
  transposed.run(stream, x, y);
  // end transpose
  expect(y.to_host() == std::vector<double>{4, 4, 1});

  // begin triangle
  // The lower triangle of [[2, 1], [1, 3]].
  const std::vector<std::int64_t> offsets = {0, 1, 3};
  const std::vector<std::int32_t> columns = {0, 0, 1};
  const std::vector<double> lower = {2, 1, 3};
  const lanky::SparsePlan<double> symmetric(stream,
                                            {.rows = 2,
                                             .cols = 2,
                                             .nnz = 3,
                                             .row_offsets = offsets.data(),
                                             .col_indices = columns.data(),
                                             .values = lower.data()},
                                            {.symmetry = lanky::Symmetry::symmetric});
  // end triangle
  const auto ones = lanky::Buffer<double>::from(stream, std::vector<double>{1, 1});
  lanky::Buffer<double> sums(stream, 2);
  symmetric.run(stream, ones, sums);
  expect(sums.to_host() == std::vector<double>{3, 4});
}

void host_memory() {
  // begin host
  // On the CPU, vectors of the standard library are operands as they stand.
  const lanky::Stream cpu(lanky::Device::cpu());
  const std::vector<double> x = {1, 2, 3};
  std::vector<double> y(2);
  const lanky::SparsePlan<double> plan(cpu, matrix);
  plan.run(cpu, x, y);

  // One line, where the matrix is multiplied only once.
  lanky::spmv(cpu, 1.0, matrix, x, 0.0, lanky::VectorView<double>(y));
  // end host
  expect(y == std::vector<double>{7, 4});
}

void bad_input() {
  const lanky::Stream cpu(lanky::Device::cpu());
  const lanky::SparsePlan<double> plan(cpu, matrix);
  // begin error
  const std::vector<double> short_x = {1, 2};
  std::vector<double> y(2);
  try {
    plan.run(cpu, short_x, y);
  } catch (const lanky::Error& error) {
    // size_mismatch, and the sizes of both
    std::printf("%s: %s\n", std::string(lanky::to_string(error.code())).c_str(), error.what());
    expect(error.code() == lanky::ErrorCode::size_mismatch);
    return;
  }
  // end error
  expect(false);
}

}  // namespace

int main() {
  run_a_plan();
  new_values();
  transposes_and_triangles();
  host_memory();
  bad_input();
}
