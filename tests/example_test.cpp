// The example of docs/design.md, section 2, as it stands there; and that a run takes no memory.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <lanky/lanky.hpp>
#include <new>
#include <vector>

namespace {
int allocations = 0;  // of this thread's C++ code; tests of this program are single-threaded
}  // namespace

void* operator new(std::size_t bytes, const std::nothrow_t& /*nothrow*/) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void* operator new(std::size_t bytes) {
  void* data = operator new(bytes, std::nothrow);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
// Not inlined: GCC 12 would see free() meet operator new, and warn.
[[gnu::noinline]] void operator delete(void* data) noexcept {
  std::free(data);
}
[[gnu::noinline]] void operator delete(void* data, std::size_t /*bytes*/) noexcept {
  std::free(data);
}

namespace {

TEST(Example, OfTheDesignPageComputes) {
  const char* const path = "matrices/west0479.mtx.xz";
  const std::vector<double> ones(479, 1.0);
  const std::vector<float> q_values(10'000 * 16, 0.5F);

  lanky::Stream s(lanky::Device::best());
  auto A = lanky::io::read_csr<double>(path);
  auto x = lanky::Buffer<double>::from(s, ones);
  lanky::Buffer<double> y(s, A.rows);
  std::vector<double> new_values(A.values.size(), 1.0);
  lanky::Matrix<float> Q(s, 10'000, 16);
  lanky::Matrix<float> G(s, 16, 16);
  Q.buffer().copy_from(q_values);

  lanky::SparsePlan<double> plan(s, A.view());
  plan.run(s, x.view(), y.view());
  plan.run(s, 2.0, x.view(), 1.0, y.view());
  const std::vector<double> three_times = y.to_host();
  plan.update_values(new_values);
  EXPECT_FALSE(plan.explain().empty());
  plan.run(s, x.view(), y.view());

  lanky::GemmPlan<float> gram(s, {.m = 16, .n = 16, .k = 10'000, .op_a = lanky::Op::trans});
  gram.run(s, 1.F, Q.view(), Q.view(), 0.F, G.view());

  for (std::int64_t row = 0; row < A.rows; ++row) {
    double sum = 0;
    double magnitude = 0;
    for (std::int64_t entry = A.row_offsets[row]; entry < A.row_offsets[row + 1]; ++entry) {
      sum += A.values[entry];
      magnitude += std::abs(A.values[entry]);
    }
    EXPECT_NEAR(three_times[row], 3 * sum, 1e-13 * magnitude) << "row " << row;
  }
  const std::vector<double> lengths = y.to_host();
  for (std::int64_t row = 0; row < A.rows; ++row)
    EXPECT_EQ(lengths[row], static_cast<double>(A.row_offsets[row + 1] - A.row_offsets[row]));
  EXPECT_EQ(G.buffer().to_host(), std::vector<float>(256, 2500.0F));
}

TEST(Example, ConveniencesDeduceTheirTypes) {
  const lanky::Stream s(lanky::Device::best());
  const auto a = lanky::io::generate<double>("stencil5:10,values=int");
  auto x = lanky::Buffer<double>::from(s, std::vector<double>(100, 1.0));
  lanky::Buffer<double> y(s, 100);
  lanky::Buffer<double> expected(s, 100);
  lanky::spmv(s, 1.0, a.view(), x.view(), 0.0, y.view());
  lanky::SparsePlan<double>(s, a.view()).run(s, x.view(), expected.view());
  EXPECT_EQ(y.to_host(), expected.to_host());

  lanky::Matrix<float> q(s, 100, 2);
  lanky::Matrix<float> g(s, 2, 2);
  q.buffer().copy_from(std::vector<float>(200, 1.0F));
  lanky::gemm(s, lanky::Op::trans, lanky::Op::none, 1.0F, q.view(), q.view(), 0.0F, g.view());
  EXPECT_EQ(g.buffer().to_host(), std::vector<float>(4, 100.0F));
  const auto& q_const = q;
  lanky::gemm(s, lanky::Op::trans, lanky::Op::none, 1.0F, q_const.view(), q.view(), 1.0F, g.view());
  EXPECT_EQ(g.buffer().to_host(), std::vector<float>(4, 200.0F));
}

TEST(Example, UpdateTakesABuffer) {
  const lanky::Stream s(lanky::Device::best());
  const auto a = lanky::io::generate<float>("diagonal:10");
  lanky::SparsePlan<float> plan(s, a.view());
  const auto sevens = lanky::Buffer<float>::from(s, std::vector<float>(10, 7.0F));
  plan.update_values(sevens);
  const auto x = lanky::Buffer<float>::from(s, std::vector<float>(10, 2.0F));
  lanky::Buffer<float> y(s, 10);
  plan.run(s, x.view(), y.view());
  EXPECT_EQ(y.to_host(), std::vector<float>(10, 14.0F));
}

// Every class of rows and every family of products; on a GPU, graph capture tells the same of
// device memory (sparse_cuda_test, dense_cuda_test).
TEST(Example, RunsTakeNoMemory) {
  const lanky::Stream s(lanky::Device::best());
  const auto a = lanky::io::generate<double>("huge:3000:2:2500:5000");
  const lanky::SparsePlan<double> plan(s, a.view());
  lanky::Buffer<double> x(s, a.cols);
  lanky::Buffer<double> y(s, a.rows);
  x.fill_zero();
  plan.run(s, x.view(), y.view());
  s.synchronize();
  const int before_spmv = allocations;
  plan.run(s, 2.0, x.view(), 1.0, y.view());
  EXPECT_EQ(allocations, before_spmv);

  for (const lanky::GemmShape& shape :
       {lanky::GemmShape{.m = 300, .n = 5, .k = 700}, lanky::GemmShape{.m = 900, .n = 2, .k = 3},
        lanky::GemmShape{.m = 5, .n = 6, .k = 9000}}) {
    const lanky::GemmPlan<double> product(s, shape);
    lanky::Matrix<double> left(s, shape.m, shape.k);
    lanky::Matrix<double> right(s, shape.k, shape.n);
    lanky::Matrix<double> result(s, shape.m, shape.n);
    left.buffer().fill_zero();
    right.buffer().fill_zero();
    product.run(s, left.view(), right.view(), result.view());
    s.synchronize();
    const int before = allocations;
    product.run(s, left.view(), right.view(), result.view());
    EXPECT_EQ(allocations, before);
  }
}

}  // namespace
