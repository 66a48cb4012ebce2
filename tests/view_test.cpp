// Views: what they are made from, and what they refuse.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <lanky/lanky.hpp>
#include <span>
#include <type_traits>
#include <vector>

#include "support/expect_error.hpp"

namespace lanky {
namespace {

static_assert(std::is_trivially_copyable_v<VectorView<double>>);
static_assert(std::is_trivially_copyable_v<MatrixView<const half>>);

template <class From, class To>
constexpr bool kConverts = std::is_convertible_v<From, To>;

static_assert(kConverts<std::vector<float>&, VectorView<float>>);
static_assert(kConverts<const std::vector<float>&, VectorView<const float>>);
static_assert(kConverts<std::span<float>&, VectorView<float>>);
static_assert(kConverts<std::array<float, 3>&, VectorView<const float>>);
static_assert(kConverts<VectorView<float>, VectorView<const float>>);
static_assert(kConverts<Buffer<float>&, VectorView<float>>);
static_assert(kConverts<const Buffer<float>&, VectorView<const float>>);
static_assert(kConverts<Matrix<float>&, MatrixView<float>>);
static_assert(kConverts<const Matrix<float>&, MatrixView<const float>>);
static_assert(kConverts<Buffer<std::byte>&, Workspace>);

static_assert(!kConverts<const std::vector<float>&, VectorView<float>>, "const elements");
static_assert(!kConverts<const Buffer<float>&, VectorView<float>>, "const elements");
static_assert(!kConverts<const Matrix<float>&, MatrixView<float>>, "const elements");
static_assert(!kConverts<VectorView<const float>, VectorView<float>>, "const elements");
static_assert(!kConverts<std::vector<float>, VectorView<float>>, "a temporary to write to");
static_assert(!kConverts<std::vector<double>&, VectorView<float>>, "another type");
static_assert(!kConverts<Buffer<double>&, VectorView<const float>>, "another type");
static_assert(!kConverts<Buffer<float>&, Workspace>, "typed elements are no workspace");
static_assert(!kConverts<Matrix<float>&, VectorView<float>>, "a matrix is no vector");

/// What std::mdspan offers, for compilers without it.
template <class T, std::size_t kRank>
struct Mdspan {
  using element_type = T;
  static constexpr std::size_t rank() { return kRank; }
  std::int64_t extent(std::size_t r) const { return extents[r]; }
  std::int64_t stride(std::size_t r) const { return strides[r]; }
  T* data_handle() const { return data; }

  T* data;
  std::array<std::int64_t, kRank> extents;
  std::array<std::int64_t, kRank> strides;
};

void expect_view(const MatrixView<const double>& view, std::int64_t rows, std::int64_t cols,
                 std::int64_t ld, Layout layout) {
  EXPECT_EQ(view.rows, rows);
  EXPECT_EQ(view.cols, cols);
  EXPECT_EQ(view.ld, ld);
  EXPECT_EQ(view.layout, layout);
}

TEST(Views, OfOwnersHaveTheirExtents) {
  const Stream stream(Device::cpu());
  Matrix<double> matrix(stream, 3, 2, Layout::row, 5);
  expect_view(matrix, 3, 2, 5, Layout::row);
  const VectorView<const double> elements = matrix.buffer();
  EXPECT_EQ(elements.size, 15);
  EXPECT_EQ(elements.data, matrix.view().data);
  Buffer<std::byte> bytes(stream, 256);
  const Workspace workspace = bytes;
  EXPECT_EQ(workspace.data, bytes.data());
  EXPECT_EQ(workspace.bytes, 256);
}

TEST(Views, WithoutALeadingDimensionAreTight) {
  double data[6] = {};
  expect_view(MatrixView<double>(data, 3, 2), 3, 2, 3, Layout::col);
  expect_view(MatrixView<double>(data, 3, 2, Layout::row), 3, 2, 2, Layout::row);
}

TEST(Views, OfMdspanTakeTheirContiguousSide) {
  double data[20] = {};
  expect_view(Mdspan<double, 2>{data, {3, 4}, {1, 5}}, 3, 4, 5, Layout::col);
  expect_view(Mdspan<double, 2>{data, {3, 4}, {5, 1}}, 3, 4, 5, Layout::row);
  expect_view(Mdspan<const double, 2>{data, {1, 4}, {4, 1}}, 1, 4, 1, Layout::col);
  expect_view(Mdspan<double, 2>{data, {3, 1}, {6, 2}}, 3, 1, 6, Layout::row);
  expect_view(Mdspan<double, 2>{data, {3, 0}, {1, 9}}, 3, 0, 3, Layout::col);
  const VectorView<double> vector = Mdspan<double, 1>{data, {7}, {1}};
  EXPECT_EQ(vector.size, 7);
  EXPECT_EQ(VectorView<double>(Mdspan<double, 1>{data, {1}, {9}}).size, 1);
}

TEST(Views, RefuseStridesThatTheyCannotTell) {
  double data[20] = {};
  expect_error(
      [&] {
        (void)MatrixView<double>(Mdspan<double, 2>{data, {3, 3}, {2, 6}});
      },
      ErrorCode::invalid_argument, {"strides 2 and 6"});
  expect_error(
      [&] {
        (void)VectorView<double>(Mdspan<double, 1>{data, {7}, {2}});
      },
      ErrorCode::invalid_argument, {"stride 2"});
}

TEST(Views, OwnersAreOperandsAsTheyAre) {
  const Stream stream(Device::cpu());
  const auto a = io::generate<double>("stencil5:8");
  const SparsePlan<double> plan(stream, a.view());
  const std::vector<double> x(64, 1.0);
  auto x_there = Buffer<double>::from(stream, x);
  Buffer<double> y(stream, 64);
  plan.run(stream, x_there, y);
  std::vector<double> expected(64);
  plan.run(stream, std::span(x), expected);
  EXPECT_EQ(y.to_host(), expected);

  Matrix<double> both(stream, 64, 2);
  Matrix<double> products(stream, 64, 2, Layout::row);
  both.buffer().copy_from(std::vector<double>(128, 1.0));
  plan.run(stream, both, products);
  const std::vector<double> of_both = products.buffer().to_host();
  for (std::size_t i = 0; i < 128; ++i)
    EXPECT_EQ(of_both[i], expected[i / 2]);

  std::vector<double> once(64);
  spmv(stream, 1.0, a.view(), x, 0.0, VectorView<double>(once));
  EXPECT_EQ(once, expected);
  Matrix<double> at_once(stream, 64, 2, Layout::row);
  spmm(stream, 1.0, a.view(), both, 0.0, at_once.view());
  EXPECT_EQ(at_once.buffer().to_host(), of_both);
}

TEST(Versions, OfLibraryAndHeadersAgreeHere) {
  EXPECT_EQ(version(), LANKY_VERSION);
  EXPECT_EQ(std::string(build_description()).rfind(kVersion, 0), 0U) << build_description();
}

}  // namespace
}  // namespace lanky
