// The SpMV ladder: DASP's layout against its contract and by replay, and the rungs on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <lanky/io.hpp>
#include <lanky/stream.hpp>
#include <limits>
#include <string>
#include <type_traits>

#include "bench/ladder/spmv.hpp"
#include "support/dasp_oracle.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_oracle.hpp"

namespace lanky::ladder {
namespace {

using testing::Random;
using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kCols = 97;

template <class T>
CsrMatrix<T> integer_matrix(const Lengths& lengths, std::uint64_t seed) {
  Random random(seed);
  return testing::matrix_of<T>(lengths, kCols, random, testing::small_integer<T>);
}

template <class T>
testing::Operands<T, T> integer_operands(std::int64_t cols, std::uint64_t seed) {
  Random random(seed);
  return {.x = testing::vector_of<T>(cols, random, testing::small_integer<T>), .y = {}};
}

template <class T>
DaspPattern dasp_of(const CsrMatrix<T>& a) {
  return to_dasp(a.view(), dasp_tile_width(kDType<T>));
}

/// As many rows of each length as `counts` says, mixed.
Lengths mixed_lengths(const std::vector<int>& counts, std::uint64_t seed) {
  Lengths lengths;
  for (std::size_t length = 0; length < counts.size(); ++length)
    lengths.insert(lengths.end(), static_cast<std::size_t>(counts[length]),
                   static_cast<std::int64_t>(length));
  Random random(seed);
  std::shuffle(lengths.begin(), lengths.end(), random);
  return lengths;
}

/// The layout keeps its contract, and its replay gives the product exactly.
template <class T>
void expect_right(const CsrMatrix<T>& a, const testing::Operands<T, T>& operands) {
  const DaspPattern dasp = dasp_of(a);
  ASSERT_EQ(dasp_violation(dasp, a.view()), "");
  testing::expect_exact(a, operands, replay_dasp(dasp, a.values.data(), operands.x.data()));
}

/// For double and for half, whose tiles differ.
template <class Body>
void for_each_width(Body body) {
  body(std::type_identity<double>{});
  if (!::testing::Test::HasFatalFailure()) body(std::type_identity<half>{});
}

void expect_right(const Lengths& lengths, std::uint64_t seed) {
  for_each_width([&]<class T>(std::type_identity<T>) {
    expect_right(integer_matrix<T>(lengths, seed), integer_operands<T>(kCols, seed + 1));
  });
}

Lengths all_lengths() {
  Lengths lengths = testing::boundary_lengths();
  for (const std::int64_t length : {255, 256, 257, 258, 320, 384, 385, 3000})
    lengths.push_back(length);
  return lengths;
}

TEST(Dasp, EveryLengthOfRow) {
  expect_right(all_lengths(), 1);
}

TEST(Dasp, NoRowsOneRowAndNoColumns) {
  expect_right({}, 1);
  for (std::int64_t length = 0; length <= 40; ++length)
    expect_right({length}, 2);
  for (const std::int64_t length : {63, 64, 65, 128, 129, 255, 256, 257, 512, 513})
    expect_right({length}, 3);
  CsrMatrix<double> a;
  a.rows = 3;
  a.row_offsets = {0, 0, 0, 0};
  expect_right(a, {.x = {}, .y = {}});
}

TEST(Dasp, RowsOfTwoLengthsInAnyNumber) {
  for (int one = 0; one <= 12; ++one) {
    for (int other = 0; other < one; ++other) {
      std::vector<int> counts(13, 0);
      counts[static_cast<std::size_t>(one)] = 11 + one;
      counts[static_cast<std::size_t>(other)] = 20 - one;
      expect_right(mixed_lengths(counts, 5), 6);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Dasp, ShortRowsArePiecedAsPublished) {
  for (int code = 0; code < 4 * 4 * 4 * 3; ++code) {
    const int ones = code % 4 * 9;
    const int threes = code / 4 % 4 * 10;
    const int twos = code / 16 % 4 * 11;
    const int fours = code / 64 * 8;
    const Lengths lengths = mixed_lengths({2, ones, twos, threes, fours}, 7);
    SCOPED_TRACE(::testing::Message() << ones << " of 1, " << twos << " of 2, " << threes
                                      << " of 3, " << fours << " of 4");
    const auto a = integer_matrix<double>(lengths, 8);
    const DaspPattern dasp = dasp_of(a);
    const int pairs = std::min(ones, threes);
    EXPECT_EQ(dasp.pieced_13, pairs);
    EXPECT_EQ(dasp.pieced_22, (twos + 1) / 2);
    EXPECT_EQ(dasp.pieced_4, fours + threes - pairs);
    EXPECT_EQ(dasp.single_rows, ones - pairs);
    EXPECT_EQ(dasp.tiles(),
              (pairs + 7) / 8 + ((twos + 1) / 2 + 7) / 8 + (fours + threes - pairs + 7) / 8);
    expect_right(lengths, 9);
    if (HasFatalFailure()) return;
  }
}

/// Tiles of the first block and loose entries of f64.
std::pair<std::int64_t, std::int64_t> tiles_and_tails(const Lengths& lengths) {
  expect_right(lengths, 10);
  const DaspPattern dasp = dasp_of(integer_matrix<double>(lengths, 10));
  return {dasp.medium_tiles.at(1) - dasp.medium_tiles.at(0), dasp.tail_offsets.back()};
}

TEST(Dasp, TilesAreFilledMoreThanThreeQuarters) {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(tiles_and_tails({5, 5, 5, 5, 5, 5, 5, 5}), Pair(1, 8));
  EXPECT_EQ(tiles_and_tails({8, 8, 8, 8, 8, 6, 5, 5}), Pair(1, 24));  // 24 of 32: not more
  EXPECT_EQ(tiles_and_tails({8, 8, 8, 8, 8, 6, 6, 5}), Pair(2, 0));   // 25 of 32
  EXPECT_EQ(tiles_and_tails({8, 8, 8, 8, 8, 8}), Pair(0, 48));        // 24 of 32 in either
  EXPECT_EQ(tiles_and_tails({8, 8, 8, 8, 8, 8, 8}), Pair(2, 0));      // 28 of 32
  EXPECT_EQ(tiles_and_tails({256, 256, 256, 256, 256, 256, 256, 256}), Pair(64, 0));
  EXPECT_EQ(tiles_and_tails({256, 5, 5, 5, 5, 5, 5, 5}), Pair(1, 259));
}

TEST(Dasp, GroupsOfLongRows) {
  for (const auto& [length, groups] :
       {std::pair{257, 5}, std::pair{320, 5}, std::pair{321, 6}, std::pair{640, 10}}) {
    const DaspPattern dasp = dasp_of(integer_matrix<double>({3, length, length}, 11));
    EXPECT_EQ(dasp.groups(), 2 * groups);
    EXPECT_EQ(dasp.long_groups, (std::vector<std::int32_t>{0, groups, 2 * groups}));
  }
}

TEST(Dasp, GeneratedMatrices) {
  for (const char* spec :
       {"stencil5:20", "fem:4", "rmat:8,per_row=12", "huge:60:3:400", "short:99", "empty:300",
        "mixed:200:90", "dense:20:300", "uniform:0", "diagonal:77"}) {
    SCOPED_TRACE(spec);
    for_each_width([&]<class T>(std::type_identity<T>) {
      const auto a = io::generate<T>(std::string(spec) + ",values=int");
      expect_right(a, integer_operands<T>(a.cols, 12));
    });
  }
}

TEST(Dasp, RandomRows) {
  Random random(testing::seed_or(13));
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    expect_right(testing::random_lengths(random), random());
    if (HasFatalFailure()) return;
  }
}

/// Padding is multiplied by nothing, and no row by its neighbour's entries.
template <class T>
void put_specials(CsrMatrix<T>& a, std::vector<T>& x) {
  const T infinity(std::numeric_limits<float>::infinity());
  const T nan(std::numeric_limits<float>::quiet_NaN());
  x.front() = infinity;
  x[x.size() / 2] = nan;
  for (std::size_t e = 0; e < a.values.size(); e += 41)
    a.values[e] = e % 2 == 0 ? infinity : nan;
}

TEST(Dasp, NanAndInfStayInTheirRows) {
  for_each_width([]<class T>(std::type_identity<T>) {
    auto a = integer_matrix<T>(mixed_lengths({3, 40, 40, 35, 40, 20, 20, 3, 3}, 14), 15);
    auto operands = integer_operands<T>(kCols, 16);
    put_specials(a, operands.x);
    expect_right(a, operands);
  });
}

TEST(Dasp, OffsetsOfAnyWidthAndBase) {
  const auto a = integer_matrix<double>(all_lengths(), 17);
  const DaspPattern expected = dasp_of(a);
  std::vector<std::int32_t> offsets(a.row_offsets.begin(), a.row_offsets.end());
  std::vector<std::int32_t> columns = a.col_indices;
  for (auto* array : {&offsets, &columns})
    for (std::int32_t& number : *array)
      ++number;
  CsrView<double> one_based = a.view();
  one_based.row_offsets = offsets.data();
  one_based.col_indices = columns.data();
  one_based.index_base = 1;
  const DaspPattern dasp = to_dasp(one_based, 4);
  EXPECT_EQ(dasp_violation(dasp, one_based), "");
  EXPECT_EQ(dasp_violation(dasp, a.view()), "");
  EXPECT_EQ(dasp.columns, expected.columns);
  EXPECT_EQ(dasp.sources, expected.sources);
}

/// The checker is no decoration: whatever is damaged, it says so.
TEST(Dasp, TheCheckerSeesDamage) {
  const auto a = integer_matrix<double>(all_lengths(), 18);
  const DaspPattern whole = dasp_of(a);
  ASSERT_GT(whole.pieced_13, 0);
  ASSERT_GT(whole.tail_offsets.back(), 0);
  const auto expect_seen = [&](const char* what, auto damage) {
    DaspPattern dasp = whole;
    damage(dasp);
    EXPECT_NE(dasp_violation(dasp, a.view()), "") << what;
  };
  expect_seen("width", [](DaspPattern& d) { d.tile_width = 8; });
  expect_seen("extent", [](DaspPattern& d) { ++d.cols; });
  for (std::size_t s = 0; s < whole.sources.size(); s += 97) {
    expect_seen("column", [s](DaspPattern& d) { ++d.columns[s]; });
    expect_seen("source", [s](DaspPattern& d) { --d.sources[s]; });
  }
  expect_seen("lost slot", [](DaspPattern& d) { d.columns.pop_back(); });
  expect_seen("long row", [](DaspPattern& d) { d.long_rows[0] = d.medium_rows[0]; });
  expect_seen("group", [](DaspPattern& d) { ++d.long_groups[1]; });
  expect_seen("order", [](DaspPattern& d) { std::swap(d.medium_rows[0], d.medium_rows[9]); });
  expect_seen("tile", [](DaspPattern& d) { ++d.medium_tiles[1]; });
  expect_seen("tail", [](DaspPattern& d) { ++d.tail_offsets[3]; });
  expect_seen("kind", [](DaspPattern& d) { --d.pieced_13; });
  expect_seen("pieced row", [](DaspPattern& d) { d.pieced_rows[0] = d.pieced_rows[1]; });
  expect_seen("padding's row", [](DaspPattern& d) { d.pieced_rows.back() = 0; });
  expect_seen("other row", [](DaspPattern& d) { d.other_rows.pop_back(); });
}

TEST(Dasp, SummaryCountsByHand) {
  // Long: 300 in 5 groups of 64. Medium: 8 rows of 5, a tile and 8 tails. 1+3: a tile of 8 pieced
  // rows, of which 1 is there. One row of 1 is left, one is empty.
  const Lengths lengths = {300, 5, 5, 5, 5, 5, 5, 5, 5, 1, 3, 1, 0};
  const DaspSummary summary = summarize(dasp_of(integer_matrix<double>(lengths, 19)));
  EXPECT_EQ(summary.long_rows, 1);
  EXPECT_EQ(summary.medium_rows, 8);
  EXPECT_EQ(summary.short_rows, 3);
  EXPECT_EQ(summary.empty_rows, 1);
  EXPECT_EQ(summary.slots, 320 + 32 + 32);
  EXPECT_EQ(summary.loose_entries, 9);
  EXPECT_EQ(summary.padding, 20 + 28);
  EXPECT_DOUBLE_EQ(summary.padding_share(), 48.0 / 384.0);
  // Columns; long rows and groups, medium rows, tiles and tails, 8 pairs, 2 other rows.
  EXPECT_EQ(summary.index_bytes, 4 * (384 + 9 + 1 + 2 + 8 + 2 + 9 + 16 + 2));
  EXPECT_EQ(summary.bytes(DType::f64), summary.index_bytes + 8 * (384 + 9));
  EXPECT_EQ(summary.text(),
            "rows: 1 long, 8 medium, 3 short, 1 empty; of 384 slots 12.5 % are padding; "
            "9 entries are for CUDA cores");
}

TEST(Dasp, RefusesWhatItCannotHold) {
  expect_error([] { dasp_tile_width(DType::f32); }, ErrorCode::unsupported, {"f64 and f16", "f32"});
  const CsrView<double> huge{.rows = std::int64_t{1} << 31, .cols = 1};
  expect_error([&] { to_dasp(huge, 4); }, ErrorCode::unsupported, {"2147483648 rows"});
}

TEST(SpmvRungs, NeedAGpu) {
  const Stream stream(Device::cpu());
  for (const auto make : {make_csr_scalar, make_csr_warp}) {
    expect_error([&] { make(stream, DeviceCsr{}); }, ErrorCode::no_device, {});
  }
  const DaspPattern dasp = dasp_of(integer_matrix<double>({1}, 20));
  expect_error([&] { make_dasp(stream, dasp, DType::f64, nullptr); }, ErrorCode::no_device, {});
}

// On a GPU.

/// A matrix in device memory, with 32-bit offsets or 64-bit ones.
template <class T>
struct OnDevice {
  OnDevice(const Stream& on, const CsrMatrix<T>& matrix, bool wide_offsets)
      : stream(on),
        a(matrix),
        wide(Buffer<std::int64_t>::from(on, matrix.row_offsets)),
        narrow(Buffer<std::int32_t>::from(
            on, std::vector<std::int32_t>(matrix.row_offsets.begin(), matrix.row_offsets.end()))),
        columns(Buffer<std::int32_t>::from(on, matrix.col_indices)),
        values(Buffer<T>::from(on, matrix.values)),
        csr{.dtype = kDType<T>,
            .rows = matrix.rows,
            .cols = matrix.cols,
            .nnz = matrix.nnz(),
            .offsets = wide_offsets ? RowOffsets(wide.data()) : RowOffsets(narrow.data()),
            .columns = columns.data(),
            .values = values.data()} {}

  /// csr-scalar, csr-warp and, where it is of this type, dasp.
  std::vector<std::unique_ptr<SpmvRung>> rungs() const {
    std::vector<std::unique_ptr<SpmvRung>> made;
    made.push_back(make_csr_scalar(stream, csr));
    made.push_back(make_csr_warp(stream, csr));
    if (kDType<T> != DType::f32)
      made.push_back(make_dasp(stream, dasp_of(a), kDType<T>, values.data()));
    return made;
  }

  std::vector<T> run(SpmvRung& rung, const std::vector<T>& x, Leave leave) const {
    const auto x_there = Buffer<T>::from(stream, x);
    auto y = Buffer<T>::from(stream, std::vector<T>(static_cast<std::size_t>(a.rows),
                                                    T(std::numeric_limits<float>::quiet_NaN())));
    rung.run(stream, x_there.data(), y.data(), leave);
    return y.to_host();
  }

  const Stream& stream;
  const CsrMatrix<T>& a;
  Buffer<std::int64_t> wide;
  Buffer<std::int32_t> narrow;
  Buffer<std::int32_t> columns;
  Buffer<T> values;
  DeviceCsr csr;
};

template <class Body>
void for_each_type(Body body) {
  body(std::type_identity<double>{});
  body(std::type_identity<float>{});
  body(std::type_identity<half>{});
}

/// Every rung with integers: whole it is exact; without gathers as if x were x[0] everywhere.
template <class T>
void expect_rungs_exact(const Stream& stream, const CsrMatrix<T>& a,
                        const testing::Operands<T, T>& operands) {
  for (const bool wide : {false, true}) {
    const OnDevice<T> there(stream, a, wide);
    int number = 0;
    for (const auto& rung : there.rungs()) {
      SCOPED_TRACE(::testing::Message() << to_string(kDType<T>) << ", rung " << number++);
      testing::expect_exact(a, operands, there.run(*rung, operands.x, Leave::nothing));
      if (operands.x.empty()) continue;
      const testing::Operands<T, T> flat{.x = std::vector<T>(operands.x.size(), operands.x.front()),
                                         .y = {}};
      testing::expect_exact(a, flat, there.run(*rung, operands.x, Leave::gathers));
      EXPECT_GT(rung->bytes(), 0);
    }
  }
}

TEST(SpmvRungs, ExactOnAGpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  for (const Lengths& lengths :
       {Lengths{}, Lengths{0}, Lengths{1}, Lengths{3000}, all_lengths(),
        mixed_lengths({5, 90, 61, 50, 70, 30, 9, 9, 20}, 21), Lengths(1000, 7), Lengths(999, 2)}) {
    for_each_type([&]<class T>(std::type_identity<T>) {
      expect_rungs_exact(stream, integer_matrix<T>(lengths, 22), integer_operands<T>(kCols, 23));
    });
  }
}

TEST(SpmvRungs, RandomDataAndSpecialsOnAGpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  for_each_type([&]<class T>(std::type_identity<T>) {
    for (const char* spec : {"rmat:12", "fem:8", "huge:3000:3:2000", "short:5000", "empty:4000"}) {
      SCOPED_TRACE(spec);
      const auto a = io::generate<T>(spec);
      Random random(24);
      const testing::Operands<T, T> operands{
          .x = testing::vector_of<T>(a.cols, random, testing::uniform<T>), .y = {}};
      const OnDevice<T> there(stream, a, false);
      for (const auto& rung : there.rungs())
        testing::expect_within_bound(a, operands, there.run(*rung, operands.x, Leave::nothing));
    }
    auto a = integer_matrix<T>(mixed_lengths({3, 40, 40, 35, 40, 20, 20, 3, 3}, 25), 26);
    auto operands = integer_operands<T>(kCols, 27);
    put_specials(a, operands.x);
    const OnDevice<T> there(stream, a, false);
    for (const auto& rung : there.rungs())
      testing::expect_exact(a, operands, there.run(*rung, operands.x, Leave::nothing));
  });
}

/// Without arithmetic a row of csr-scalar is the exclusive or of all that it loads: nothing else
/// shows that no load was left out with the sums.
TEST(SpmvRungs, WithoutArithmeticAllIsLoadedOnAGpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  Random random(28);
  const auto a = testing::matrix_of<double>(all_lengths(), kCols, random, testing::uniform<double>);
  const auto x = testing::vector_of<double>(kCols, random, testing::uniform<double>);
  const OnDevice<double> there(stream, a, false);
  const auto rungs = there.rungs();
  const std::int64_t strides[] = {1, 32};  // of a thread's entries: csr-scalar, csr-warp
  for (std::size_t r = 0; r < std::size(strides); ++r) {
    const auto y = there.run(*rungs[r], x, Leave::arithmetic);
    for (std::int64_t row = 0; row < a.rows; ++row) {
      std::uint64_t bits = 0;
      for (std::int64_t e = a.row_offsets[row]; e < a.row_offsets[row + 1]; e += strides[r])
        bits ^= std::bit_cast<std::uint64_t>(a.values[e]) ^
                std::bit_cast<std::uint64_t>(x[a.col_indices[e]]);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(y[row]), bits) << "row " << row << ", rung " << r;
    }
  }
  there.run(*rungs[2], x, Leave::arithmetic);  // dasp: only that it runs
}

TEST(SpmvRungs, RefuseOtherTypesOnAGpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  expect_error([&] { make_csr_warp(stream, {.dtype = DType::bf16}); }, ErrorCode::unsupported,
               {"bf16"});
  const DaspPattern dasp = dasp_of(integer_matrix<double>({1}, 29));
  expect_error([&] { make_dasp(stream, dasp, DType::f16, nullptr); }, ErrorCode::size_mismatch,
               {"4 wide", "8 wide"});
}

}  // namespace
}  // namespace lanky::ladder
