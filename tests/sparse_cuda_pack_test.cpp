// Packing on the GPU: the same bits as on the CPU, and the same errors.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "sparse/cuda/steps.hpp"
#include "support/expect_error.hpp"
#include "support/h200.hpp"
#include "support/sparse_oracle.hpp"
#include "support/triangle.hpp"

namespace lanky::testing {
namespace {

using sparse::Shape;

template <class E>
void expect_same_array(const Buffer<E>& expected, const Buffer<E>& actual, const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  const std::vector<E> a = expected.to_host();
  const std::vector<E> b = actual.to_host();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(std::memcmp(&a[i], &b[i], sizeof(E)), 0) << what << ", element " << i;
}

template <class T>
void expect_same_bits(const sparse::PackedMatrix<T>& expected,
                      const sparse::PackedMatrix<T>& actual) {
  EXPECT_TRUE(expected.header == actual.header);
  expect_same_array(expected.windows, actual.windows, "windows");
  expect_same_array(expected.slices, actual.slices, "slices");
  expect_same_array(expected.values, actual.values, "values");
  expect_same_array(expected.indices, actual.indices, "indices");
  expect_same_array(expected.bases, actual.bases, "bases");
  expect_same_array(expected.lengths, actual.lengths, "lengths");
  expect_same_array(expected.cells, actual.cells, "cells");
  expect_same_array(expected.row_cells, actual.row_cells, "row_cells");
  expect_same_array(expected.split_rows, actual.split_rows, "split_rows");
  expect_same_array(expected.split_starts, actual.split_starts, "split_starts");
  expect_same_array(expected.order, actual.order, "order");
  expect_same_array(expected.hot_columns, actual.hot_columns, "hot_columns");
}

/// The index arrays of A in device memory, 32 or 64 bits wide, and from another base on.
template <class T>
class OnDevice {
 public:
  OnDevice(const Stream& stream, const CsrMatrix<T>& a, bool wide, int index_base)
      : view_{a.rows, a.cols, a.nnz(), nullptr, nullptr, nullptr, index_base},
        wide_(wide ? widened(a.row_offsets, index_base) : std::vector<std::int64_t>()),
        narrow_(wide ? std::vector<std::int32_t>()
                     : std::vector<std::int32_t>(a.row_offsets.begin(), a.row_offsets.end())),
        columns_(a.col_indices),
        device_wide_(stream, 0),
        device_narrow_(stream, 0),
        device_columns_(stream, 0),
        device_values_(Buffer<T>::from(stream, a.values)) {
    for (std::int32_t& offset : narrow_)
      offset += index_base;
    for (std::int32_t& column : columns_)
      column += index_base;
    device_wide_ = Buffer<std::int64_t>::from(stream, wide_);
    device_narrow_ = Buffer<std::int32_t>::from(stream, narrow_);
    device_columns_ = Buffer<std::int32_t>::from(stream, columns_);
    view_.row_offsets = wide ? RowOffsets(std::as_const(device_wide_).data())
                             : RowOffsets(std::as_const(device_narrow_).data());
    view_.col_indices = device_columns_.data();
    view_.values = device_values_.data();
  }

  const CsrView<T>& view() const { return view_; }
  /// The same in host memory.
  CsrView<T> host_view(const CsrMatrix<T>& a) const {
    CsrView<T> view = view_;
    view.row_offsets = wide_.empty() ? RowOffsets(narrow_.data()) : RowOffsets(wide_.data());
    view.col_indices = columns_.data();
    view.values = a.values.data();
    return view;
  }

 private:
  static std::vector<std::int64_t> widened(std::vector<std::int64_t> offsets, int index_base) {
    for (std::int64_t& offset : offsets)
      offset += index_base;
    return offsets;
  }

  CsrView<T> view_;
  std::vector<std::int64_t> wide_;
  std::vector<std::int32_t> narrow_;
  std::vector<std::int32_t> columns_;
  Buffer<std::int64_t> device_wide_;
  Buffer<std::int32_t> device_narrow_;
  Buffer<std::int32_t> device_columns_;
  Buffer<T> device_values_;
};

/// Packs A on both sides, then gives it other values on both: the same bits each time.
template <class T>
void expect_packed_alike(const Stream& stream, CsrMatrix<T> a, const Shape& shape, Random& random) {
  const bool wide = random() % 2 == 0;
  const auto base = static_cast<int>(random() % 2);
  const OnDevice<T> remote(stream, a, wide, base);
  PackedOnHost<T> host(remote.host_view(a), shape);
  const auto csr = sparse::load(stream, random() % 2 == 0 ? remote.view() : remote.host_view(a),
                                sparse::cuda::kExamination);
  sparse::PackedMatrix<T> packed = sparse::cuda::pack(stream, csr.csr, shape, nullptr);
  ASSERT_NO_FATAL_FAILURE(expect_same_bits(host.packed, packed));
  const sparse::RowFacts expected = host.checked.facts;
  EXPECT_EQ(csr.facts.longest, expected.longest);
  EXPECT_EQ(csr.facts.empty, expected.empty);
  EXPECT_EQ(csr.facts.long_rows, expected.long_rows);
  EXPECT_EQ(sparse::cuda::reach_facts(stream, csr.csr.pattern()),
            sparse::cpu::reach_facts(host.checked.csr.pattern()));
  EXPECT_EQ(sparse::cuda::column_samples(stream, csr.csr.pattern(), sizeof(T)),
            sparse::cpu::column_samples(host.checked.csr.pattern(), sizeof(T)));
  for (const std::int64_t most : {0, 1, 20, 1000}) {
    const auto on_host = sparse::cpu::hot_facts(host.checked.csr.pattern(), most);
    const auto on_device = sparse::cuda::hot_facts(stream, csr.csr.pattern(), most);
    EXPECT_EQ(on_device.least, on_host.least) << "at most " << most << " hot columns";
    EXPECT_EQ(on_device.entries, on_host.entries) << "at most " << most << " hot columns";
  }

  a.values = vector_of<T>(a.nnz(), random, uniform<T>);
  const auto values = Buffer<T>::from(stream, a.values);
  sparse::cpu::update_values(host.packed.view(), a.values.data(), host.packed.values.data());
  sparse::cuda::update_values(stream, packed.view(), values.data(), packed.values.data());
  expect_same_array(host.packed.values, packed.values, "new values");
}

void expect_same_arrangement(const sparse::Arrangement& expected,
                             const sparse::Arrangement& actual) {
  EXPECT_EQ(actual.facts.rows, expected.facts.rows);
  EXPECT_EQ(actual.facts.cols, expected.facts.cols);
  EXPECT_EQ(actual.facts.nnz, expected.facts.nnz);
  EXPECT_EQ(actual.facts.longest, expected.facts.longest);
  EXPECT_EQ(actual.facts.empty, expected.facts.empty);
  expect_same_array(expected.row_offsets, actual.row_offsets, "row offsets");
  expect_same_array(expected.columns, actual.columns, "columns");
  expect_same_array(expected.entries, actual.entries, "entries");
}

/// Transposes and, of a triangle, expands on both sides: the same bits.
void expect_arranged_alike(const Stream& stream, const CsrMatrix<double>& a, bool triangle,
                           Random& random) {
  const OnDevice<double> remote(stream, a, random() % 2 == 0, static_cast<int>(random() % 2));
  const Stream cpu(Device::cpu());
  const auto on_host = sparse::load(cpu, remote.host_view(a), sparse::cpu::kExamination);
  const auto on_device = sparse::load(stream, remote.view(), sparse::cuda::kExamination);
  const sparse::CsrPattern host = on_host.csr.pattern();
  const sparse::CsrPattern device = on_device.csr.pattern();
  expect_same_arrangement(sparse::cpu::transpose(cpu, host, nullptr),
                          sparse::cuda::transpose(stream, device, nullptr));
  if (!triangle) return;
  for (const Op op : {Op::none, Op::trans}) {
    const sparse::TriangleMarks marks(op);
    expect_same_arrangement(sparse::cpu::expand(cpu, host, marks, nullptr),
                            sparse::cuda::expand(stream, device, marks, nullptr));
  }
}

TEST(SparseCudaArrange, RandomMatricesHaveTheSameBits) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  const std::uint64_t seed = seed_or(10);
  for (std::uint64_t round = 0; round < 200; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const std::vector<std::int64_t> lengths = random_lengths(random);
    const auto triangle = triangle_of<double>(lengths, random() % 2 == 0, random, uniform<double>);
    expect_arranged_alike(stream, triangle, true, random);
    const auto general =
        matrix_of<double>(lengths, random_int(random, 1, 1000), random, uniform<double>);
    expect_arranged_alike(stream, general, false, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// More entries than one pass of the blocks that look for the sides, and rows of many blocks.
TEST(SparseCudaArrange, LargeTrianglesHaveTheSameBits) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  Random random(11);
  std::vector<std::int64_t> lengths(60'000);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = row % 9'000 == 5 ? 40'000 : random_int(random, 0, 12);
  for (const bool lower : {false, true}) {
    auto a = triangle_of<double>(lengths, lower, random, uniform<double>);
    ASSERT_GT(a.nnz(), 1024 * 256);
    expect_arranged_alike(stream, a, true, random);
  }
}

template <class T>
class SparseCudaPack : public ::testing::Test {};
TYPED_TEST_SUITE(SparseCudaPack, Elements, ElementName);

TYPED_TEST(SparseCudaPack, RandomMatricesInRandomShapesHaveTheSameBits) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  const std::uint64_t seed = seed_or(5);
  for (std::uint64_t round = 0; round < 400; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const std::int64_t cols = random_int(random, 1, round % 8 == 0 ? 200'000 : 1000);
    auto a = matrix_of<TypeParam>(random_lengths(random), cols, random, uniform<TypeParam>);
    draw_columns(a, random);
    expect_packed_alike(stream, a, random_shape<TypeParam>(random), random);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SparseCudaPack, RowsInManyPiecesHaveTheSameBits) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  const std::uint64_t seed = seed_or(10);
  for (std::uint64_t round = 0; round < 100; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const auto shape = random_shape<TypeParam>(random);
    auto a = matrix_of<TypeParam>(cut_lengths(shape.piece_most, random), 1000, random,
                                  uniform<TypeParam>);
    draw_columns(a, random);
    expect_packed_alike(stream, a, shape, random);
    if (this->HasFatalFailure()) return;
  }
}

// Values of large matrices of whole rows go through shared memory. Which ones are large is told by
// the number of entries alone.
TYPED_TEST(SparseCudaPack, RandomWholeRowsHaveTheValuesOfLargeMatrices) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = TypeParam;
  const Stream stream(device);
  const std::uint64_t seed = seed_or(14);
  for (std::uint64_t round = 0; round < 60; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    constexpr auto kMost = std::array{1, 2, 5, 17, 28, 29, 30, 58, 59, 255};
    const int most = kMost[round % kMost.size()];
    std::vector<std::int64_t> lengths(random_int(random, 1, 900));
    for (std::int64_t& length : lengths)
      length = random() % 8 == 0 ? random_int(random, 0, most) : most;
    auto a = matrix_of<T>(lengths, 1000, random, uniform<T>);
    Shape shape = random_shape<T>(random);
    shape.lane_pieces = sparse::kLanePiecesMost<T>;
    shape.piece_most = sparse::kPieceMostLimit;
    shape.window_cost = shape.piece_most * static_cast<int>(random_int(random, 1, 200));
    PackedOnHost<T> host(a.view(), shape);
    sparse::PackedMatrix<T> packed = sparse::cuda::pack(
        stream, sparse::load(stream, a.view(), sparse::cuda::kExamination).csr, shape, nullptr);
    ASSERT_EQ(packed.header.row_cells, 0);

    a.values = vector_of<T>(a.nnz(), random, uniform<T>);
    const auto values = Buffer<T>::from(stream, a.values);
    sparse::PackedView<T> large = packed.view();
    large.header.nnz = 1'000'000'000;
    sparse::cpu::update_values(host.packed.view(), a.values.data(), host.packed.values.data());
    sparse::cuda::update_values(stream, large, values.data(), packed.values.data());
    expect_same_array(host.packed.values, packed.values, "values");
    if (this->HasFatalFailure()) return;
  }
}

// Rows, windows and slices beyond one block of each kernel, and rows of many windows.
TYPED_TEST(SparseCudaPack, LargeMatricesHaveTheSameBits) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = TypeParam;
  const Stream stream(device);
  Random random(6);
  constexpr std::int64_t kRows = 30'000;
  const auto length = [&](int kind, std::int64_t row) -> std::int64_t {
    switch (kind) {
      case 0:
        return 7;
      case 1:
        return random_int(random, 0, 12);
      case 2:
        return row % 10 == 3 ? random_int(random, 1, 9) : 0;
      case 3:
        return row % 9'000 == 5 ? 40'000 : 2;
      default:
        return row % 500 == 499 ? random_int(random, 200, 3'000) : row % 3;
    }
  };
  for (int kind = 0; kind < 5; ++kind) {
    SCOPED_TRACE(::testing::Message() << "kind " << kind);
    std::vector<std::int64_t> lengths(kRows);
    for (std::int64_t row = 0; row < kRows; ++row)
      lengths[row] = length(kind, row);
    auto a = matrix_of<T>(lengths, 2 * kRows, random, uniform<T>);
    draw_columns(a, random);
    expect_packed_alike(stream, a, PackedOnHost<T>(a.view()).packed.header.shape, random);
    const Shape small{.lane_pieces = sparse::kLanePiecesMost<T>,
                      .wide_fill = 60,
                      .piece_most = 16,
                      .granule = kind % 2 == 0 ? 1 : 32,
                      .window_cost = 160,
                      .stage_most = 1000};
    expect_packed_alike(stream, a, small, random);
    const Shape large{.lane_pieces = sparse::kLanePiecesMost<T>,
                      .wide_fill = 75,
                      .piece_most = 64,
                      .window_cost = 32'768,
                      .stage_most = 8192};
    expect_packed_alike(stream, a, large, random);
    if (this->HasFatalFailure()) return;
  }
}

// Columns of many blocks, counted in shared and in global memory and beyond what is told apart.
TYPED_TEST(SparseCudaPack, HotColumnsOfLargeMatricesHaveTheSameBits) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = TypeParam;
  const Stream stream(device);
  Random random(13);
  for (const bool hub : {false, true}) {
    auto a = power_law_matrix<T>(18, 900'000, random);
    if (hub) {
      for (std::int64_t entry = 0; entry < a.nnz(); ++entry) {
        if (entry % 3 > 0) a.col_indices[entry] = 200'000;
        if (entry % 30 == 0) a.col_indices[entry] = 100;
      }
    }
    for (const int hot_least : {1, 2, 20, 3000, 70'000, 1'000'000}) {
      SCOPED_TRACE(::testing::Message() << "hub " << hub << ", hot_least " << hot_least);
      const Shape shape{.lane_pieces = sparse::kLanePiecesMost<T>,
                        .piece_most = 16,
                        .window_cost = 4096,
                        .hot_least = hot_least};
      expect_packed_alike(stream, a, shape, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(SparseCudaPackErrors, AreThoseOfTheCpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  using Offsets = std::vector<std::int64_t>;
  const auto expect_message = [&](const Offsets& offsets, const std::vector<std::int32_t>& columns,
                                  int base, const std::string& message) {
    CsrMatrix<double> a;
    a.rows = 3;
    a.cols = 4;
    a.row_offsets = offsets;
    a.col_indices = columns;
    a.values = {1.0, 2.0, 3.0};
    for (const bool remote : {false, true}) {
      SCOPED_TRACE(remote ? "in device memory" : "in host memory");
      const auto device_offsets = Buffer<std::int64_t>::from(stream, offsets);
      const auto device_columns = Buffer<std::int32_t>::from(stream, columns);
      const auto device_values = Buffer<double>::from(stream, a.values);
      CsrView<double> view{3, 4, 3, offsets.data(), columns.data(), a.values.data(), base};
      if (remote) {
        view.row_offsets = std::as_const(device_offsets).data();
        view.col_indices = device_columns.data();
        view.values = device_values.data();
      }
      expect_error([&] { const SparsePlan<double> plan(stream, view); },
                   ErrorCode::invalid_argument, {message});
    }
  };
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  expect_message({0, 2, 2, 3}, {0, 3, 1}, 1,
                 "the row offsets of A start at 0, not at its index base 1");
  expect_message({kLeast, 2, 2, 3}, {0, 3, 1}, 1,
                 "the row offsets of A start at -9223372036854775808, not at its index base 1");
  expect_message({0, 2, 1, 3}, {0, 3, 1}, 0, "the row offsets of A fall from 2 to 1 at row 1");
  expect_message({1, kLeast, 2, 4}, {1, 4, 2}, 1,
                 "the row offsets of A fall from 1 to -9223372036854775808 at row 0");
  expect_message({0, 2, 2, 2}, {0, 3, 1}, 0,
                 "the row offsets of A end at 2, but A has 3 entries and index base 0");
  expect_message({1, 2, 3, kMost}, {1, 4, 2}, 1,
                 "the row offsets of A end at 9223372036854775807, but A has 3 entries and index "
                 "base 1");
  expect_message({0, 2, 2, 3}, {0, -1, 4}, 0,
                 "entry 1 of A, in row 0, has column -1; A has 4 columns and index base 0");
  expect_message({1, 3, 3, 4}, {1, 4, 0}, 1,
                 "entry 2 of A, in row 2, has column 0; A has 4 columns and index base 1");
}

// The entries on the wrong side lie far apart, among many.
TEST(SparseCudaArrange, ErrorsAreThoseOfTheCpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  Random random(12);
  const auto message_of = [](const Stream& on, const CsrView<float>& view) -> std::string {
    try {
      const SparsePlan<float> plan(on, view, {.symmetry = Symmetry::symmetric});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "no Error";
  };
  for (int round = 0; round < 10; ++round) {
    const bool lower = round % 2 == 0;
    auto a =
        triangle_of<float>(std::vector<std::int64_t>(40'000, 9), lower, random, uniform<float>);
    for (int wrong = 0; wrong < 3; ++wrong) {
      const std::int64_t row = random_int(random, 1, a.rows - 2);
      const std::int64_t column = lower ? row + 1 : row - 1;
      a.col_indices[a.row_offsets[row] + 4] = static_cast<std::int32_t>(column);
    }
    const OnDevice<float> remote(stream, a, round % 3 == 0, round % 4 / 2);
    const std::string expected = message_of(Stream(Device::cpu()), remote.host_view(a));
    EXPECT_NE(expected.find("A must be one triangle"), std::string::npos) << expected;
    EXPECT_EQ(message_of(stream, remote.view()), expected);
    EXPECT_EQ(message_of(stream, remote.host_view(a)), expected);
  }
}

TEST(SparseCudaPackErrors, NameTheWindowThatIsTooLarge) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  Random random(7);
  const auto a = matrix_of<float>(std::vector<std::int64_t>(70'000, 1), 10, random, uniform<float>);
  const auto csr = sparse::load(stream, a.view(), sparse::cuda::kExamination);
  const auto pack = [&](int window_cost) {
    const Shape shape{.piece_most = 4, .row_cost = 1, .window_cost = window_cost};
    const auto packed = sparse::cuda::pack(stream, csr.csr, shape, nullptr);
  };
  pack(2 * sparse::kCellsLimit);
  expect_error([&] { pack(2 * sparse::kCellsLimit + 4); }, ErrorCode::unsupported,
               {"the window of row 0 would have 12290 rows and 12290 cells, of which there can be "
                "12288"});
}

TEST(SparseCudaPackErrors, NoneForMatricesWithoutRowsOrEntries) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  Random random(8);
  for (const std::int64_t rows : {0, 1, 5000}) {
    const auto a =
        matrix_of<double>(std::vector<std::int64_t>(rows, 0), 3, random, uniform<double>);
    expect_packed_alike(stream, a, {}, random);
  }
  const SparsePlan<double> nothing(stream, {0, 7, 0, nullptr, nullptr, nullptr, 1});
  EXPECT_EQ(nothing.cols(), 7);
}

// Matrices share a kernel, which one allows 96 KB of shared memory and the next 56.
TEST(SparseCudaKernel, KeepsTheSharedMemoryOfAnEarlierMatrix) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  Random random(9);
  std::vector<std::int64_t> lengths(24'000, 1);
  for (std::size_t row = 0; row < lengths.size(); row += 2)
    lengths[row] = 0;  // each row of a window has a cell
  const auto a = matrix_of<double>(lengths, 1000, random, small_integer<double>);
  const auto csr = sparse::load(stream, a.view(), sparse::cuda::kExamination);
  sparse::Launches launches;
  const auto packed = [&](std::int32_t window_cost) {
    auto matrix = sparse::cuda::pack(stream, csr.csr, {.window_cost = window_cost}, nullptr);
    launches = sparse::cuda::prepare<double, double>(stream, sparse::Path::cuda, matrix.header);
    return matrix;
  };
  const sparse::PackedMatrix<double> more = packed(212 * 255);
  const sparse::Launches of_more = launches;
  const sparse::PackedMatrix<double> less = packed(124 * 255);
  ASSERT_GT(less.header.cells_most * sizeof(double), 48U << 10);
  ASSERT_GT(more.header.cells_most, less.header.cells_most);

  const auto x = Buffer<double>::from(stream, std::vector<double>(1000, 1.0));
  Buffer<double> y(stream, a.rows);
  sparse::cuda::run<double, double>(stream, of_more, more.view(),
                                    {x.data(), y.data(), 1.0, 0.0, nullptr, nullptr});
  const std::vector<double> sums = y.to_host();
  for (std::int64_t row = 0; row < a.rows; ++row)
    ASSERT_EQ(sums[row], row % 2 == 0 ? 0.0 : a.values[row / 2]) << row;
}

}  // namespace
}  // namespace lanky::testing
