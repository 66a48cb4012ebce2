// The packed format: packing keeps its contract, and the checker sees every breach of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "sparse/cpu/placement.hpp"
#include "sparse/shapes.hpp"
#include "support/expect_error.hpp"
#include "support/h200.hpp"
#include "support/sparse_oracle.hpp"

namespace lanky::testing {
namespace {

using sparse::IndexKind;
using sparse::Shape;

/// Alters every byte of an array in turn; the checker has to object each time. Sanitized, it is one
/// byte of each value, at another place in each.
template <class T, class E>
void expect_noticed(const PackedOnHost<T>& packed, Buffer<E>& array, const char* name) {
  constexpr bool kOneEach = kSanitized && std::is_same_v<E, T>;
  ASSERT_GT(array.size(), 0) << name;
  auto* const bytes = reinterpret_cast<unsigned char*>(array.data());
  for (std::size_t i = 0; i < array.size() * sizeof(E); ++i) {
    if (kOneEach && i % sizeof(E) != i / sizeof(E) % sizeof(E)) continue;
    const auto flip = static_cast<unsigned char>(1U << i % 8);
    bytes[i] ^= flip;
    ASSERT_NE(packed.violation(), "") << "byte " << i << " of " << name << " altered";
    bytes[i] ^= flip;
  }
  ASSERT_EQ(packed.violation(), "");
}

template <class T>
class SparsePack : public ::testing::Test {};
TYPED_TEST_SUITE(SparsePack, Elements, ElementName);

TYPED_TEST(SparsePack, KeepsRowsOfEveryLength) {
  Random random(1);
  for (const int granule : {1, 10}) {
    const Shape shape{.lane_pieces = sparse::kLanePiecesMost<TypeParam>,
                      .wide_fill = granule == 1 ? 60 : 100,
                      .piece_most = 20,
                      .granule = granule,
                      .window_cost = 600};
    std::vector<std::int64_t> lengths;
    for (std::int64_t length = 0; length < 1300; ++length)
      lengths.push_back(length);
    std::shuffle(lengths.begin(), lengths.end(), random);
    const auto a = matrix_of<TypeParam>(lengths, 1000, random, small_integer<TypeParam>);
    PackedOnHost<TypeParam> packed(a.view(), shape);
    ASSERT_EQ(packed.violation(), "");
    const Operands<TypeParam, TypeParam> operands{
        1, 0, vector_of<TypeParam>(a.cols, random, small_integer<TypeParam>),
        std::vector<TypeParam>(a.rows)};
    expect_exact(a, operands, packed.multiply(operands));
  }
}

TYPED_TEST(SparsePack, RowsInManyPiecesAreMultipliedExactlyAndUpdated) {
  const std::uint64_t seed = seed_or(9);
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const auto shape = random_shape<TypeParam>(random);
    auto a = matrix_of<TypeParam>(cut_lengths(shape.piece_most, random), 1000, random,
                                  small_integer<TypeParam>);
    draw_columns(a, random);
    PackedOnHost<TypeParam> packed(a.view(), shape);
    ASSERT_EQ(packed.violation(), "");
    const Operands<TypeParam, TypeParam> operands{
        1, 0, vector_of<TypeParam>(a.cols, random, small_integer<TypeParam>),
        std::vector<TypeParam>(a.rows)};
    expect_exact(a, operands, packed.multiply(operands));
    if (this->HasFatalFailure()) return;
    a.values = vector_of<TypeParam>(a.nnz(), random, small_integer<TypeParam>);
    sparse::cpu::update_values(packed.packed.view(), a.values.data(), packed.packed.values.data());
    expect_exact(a, operands, packed.multiply(operands));
    if (this->HasFatalFailure()) return;
  }
}

/// NaN or Inf, now and then, anywhere in `values`.
template <class T>
void spoil(std::vector<T>& values, Random& random) {
  constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity()};
  if (values.empty() || random() % 4 != 0) return;
  values[random() % values.size()] = element<T>(kSpecial[random() % 3]);
}

// Small integers: sums are exact, whatever their order. NaN and Inf reach the rows that IEEE says.
TYPED_TEST(SparsePack, RandomMatricesInRandomShapesAreMultipliedExactly) {
  const std::uint64_t seed = seed_or(2);
  for (std::uint64_t round = 0; round < 2000; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const std::int64_t cols = random_int(random, 1, round % 16 == 0 ? 200'000 : 1000);
    auto a = matrix_of<TypeParam>(random_lengths(random), cols, random, small_integer<TypeParam>);
    draw_columns(a, random);
    spoil(a.values, random);
    PackedOnHost<TypeParam> packed(a.view(), random_shape<TypeParam>(random));
    ASSERT_EQ(packed.violation(), "");
    Operands<TypeParam, TypeParam> operands{
        small_integer<Accumulator<TypeParam>>(random),
        small_integer<Accumulator<TypeParam>>(random),
        vector_of<TypeParam>(cols, random, small_integer<TypeParam>),
        vector_of<TypeParam>(a.rows, random, small_integer<TypeParam>)};
    spoil(operands.x, random);
    expect_exact(a, operands, packed.multiply(operands));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SparsePack, KeepsRandomMixturesOfRows) {
  const std::uint64_t seed = seed_or(3);
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const std::int64_t most = std::int64_t{1} << random_int(random, 0, 11);
    std::vector<std::int64_t> lengths(random_int(random, 0, 300));
    for (std::int64_t& length : lengths)
      length = random_int(random, 0, most);
    const auto a = matrix_of<TypeParam>(lengths, 64, random, uniform<TypeParam>);
    ASSERT_EQ(PackedOnHost<TypeParam>(a.view()).violation(), "");
    ASSERT_EQ(PackedOnHost<TypeParam>(a.view(), random_shape<TypeParam>(random)).violation(), "");
  }
}

TYPED_TEST(SparsePack, KeepsExplicitZerosNegativeZerosAndNanBits) {
  Random random(6);
  auto a = matrix_of<TypeParam>(boundary_lengths(), 20, random, uniform<TypeParam>);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (i % 3 == 0) a.values[i] = element<TypeParam>(i % 2 == 0 ? 0.0 : -0.0);
    if (i % 7 == 0) a.values[i] = element<TypeParam>(std::numeric_limits<double>::quiet_NaN());
  }
  EXPECT_EQ(PackedOnHost<TypeParam>(a.view()).violation(), "");
}

TYPED_TEST(SparsePack, UpdatePutsValuesWherePackingDoes) {
  const std::uint64_t seed = seed_or(4);
  for (std::uint64_t round = 0; round < 100; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    auto a = matrix_of<TypeParam>(random_lengths(random), 50, random, uniform<TypeParam>);
    const Shape shape = random_shape<TypeParam>(random);
    PackedOnHost<TypeParam> packed(a.view(), shape);
    a.values = vector_of<TypeParam>(a.nnz(), random, uniform<TypeParam>);
    sparse::cpu::update_values(packed.packed.view(), a.values.data(), packed.packed.values.data());
    const auto updated = sparse::load(packed.stream(), a.view(), sparse::cpu::kExamination);
    ASSERT_EQ(sparse::check_packed(packed.packed.view(), updated.csr), "");
  }
}

// Rows of one window by how many there are of each length, and the widths of their slices.
TEST(SparsePackSlice, IsWideWhereEntriesFillIt) {
  const auto widths = [](std::vector<std::pair<int, int>> rows, int wide_fill) {
    std::vector<std::int64_t> lengths;
    for (const auto& [count, length] : rows)
      lengths.insert(lengths.end(), count, length);
    Random random(6);
    const auto a = matrix_of<float>(lengths, 10, random, uniform<float>);
    const PackedOnHost<float> packed(
        a.view(),
        {.lane_pieces = 4, .wide_fill = wide_fill, .piece_most = 16, .window_cost = 16'000});
    EXPECT_EQ(packed.violation(), "");
    std::vector<int> found;
    for (int i = 0; i < packed.packed.header.slices_most; ++i)
      found.push_back(packed.packed.slices.data()[i].width);
    return found;
  };
  using Widths = std::vector<int>;
  EXPECT_EQ(widths({{128, 5}, {127, 4}}, 100), (Widths{128, 32, 32, 32, 31}));
  EXPECT_EQ(widths({{128, 5}, {127, 4}}, 99), (Widths{128, 127}));
  EXPECT_EQ(widths({{103, 5}, {4, 4}}, 99), (Widths{100, 7}));  // multiples of 4 pieces
  EXPECT_EQ(widths({{95, 5}, {40, 4}}, 99), (Widths{32, 32, 32, 32, 7}));
  EXPECT_EQ(widths({{95, 5}, {40, 4}}, 80), (Widths{128, 7}));
  EXPECT_EQ(widths({{95, 5}, {40, 4}}, 81), (Widths{32, 32, 32, 32, 7}));
  EXPECT_EQ(widths({{33, 5}}, 25), (Widths{33}));
  EXPECT_EQ(widths({{33, 5}}, 26), (Widths{32, 1}));
  EXPECT_EQ(widths({{32, 5}}, 25), (Widths{32}));
}

// The page's drawing: a slice of 32 pieces, of 5 and 3 entries; a wide one of 128 pieces, 4 a lane;
// and one of what is left.
TEST(SparsePackSlice, HasItsSlotsWhereTheContractDrawsThem) {
  std::vector<std::int64_t> lengths(160, 3);
  lengths[40] = 5;
  lengths.insert(lengths.end(), {2, 1});
  Random random(5);
  auto a = matrix_of<float>(lengths, 10, random, uniform<float>);
  for (std::int64_t entry = 0; entry < a.nnz(); ++entry)
    a.values[entry] = static_cast<float>(entry + 1);
  const PackedOnHost<float> packed(
      a.view(), {.lane_pieces = 4, .piece_most = 8, .row_cost = 4, .window_cost = 8000});
  ASSERT_EQ(packed.packed.header.windows, 1);
  ASSERT_EQ(packed.packed.header.slices_most, 3);
  const sparse::Slice* const slices = packed.packed.slices.data();
  const float* const values = packed.packed.values.data();
  const auto entry = [&](std::int64_t row, int step) {
    return static_cast<float>(a.row_offsets[row] + step + 1);
  };
  EXPECT_EQ(slices[0].width, 32);
  EXPECT_EQ(slices[0].depth, 5);
  EXPECT_EQ(slices[0].shortest, 3);
  EXPECT_EQ(slices[0].listed, 1);  // row 40 comes first, then rows 0 to 30
  EXPECT_EQ(values[0], entry(40, 0));
  EXPECT_EQ(values[1], entry(0, 0));
  EXPECT_EQ(values[2 * 32 + 31], entry(30, 2));
  EXPECT_EQ(values[3 * 32], entry(40, 3));  // the last steps are of row 40 alone
  EXPECT_EQ(values[3 * 32 + 1], entry(40, 4));
  EXPECT_EQ(values[3 * 32 + 2], 0.0F);  // to a multiple of 4

  const float* const wide = values + 3 * 32 + 4;  // rows 31 to 39 and 41 to 159
  EXPECT_EQ(slices[1].first_slot * sparse::kSlotUnit, wide - values);
  EXPECT_EQ(slices[1].first_piece, 32);
  EXPECT_EQ(slices[1].width, 128);
  EXPECT_EQ(wide[0], entry(31, 0));
  EXPECT_EQ(wide[1], entry(64, 0));             // piece 32: the second of lane 0
  EXPECT_EQ(wide[4], entry(32, 0));             // piece 1: the first of lane 1
  EXPECT_EQ(wide[2 * 128 + 7], entry(129, 2));  // step 2, lane 1, piece 97

  const float* const last = wide + 3 * 128;
  EXPECT_EQ(slices[2].first_slot * sparse::kSlotUnit, last - values);
  EXPECT_EQ(slices[2].width, 2);
  EXPECT_EQ(slices[2].listed, 0);
  EXPECT_EQ(slices[2].first_cell, 160);
  EXPECT_EQ(last[0], entry(160, 0));
  EXPECT_EQ(last[1], entry(161, 0));
  EXPECT_EQ(last[2], entry(160, 1));
  EXPECT_EQ(last[3], 0.0F);
  EXPECT_EQ(packed.packed.header.slots, sparse::round_up(last + 4 - values, 16));
}

/// The pieces of each window in slice order.
std::vector<std::vector<sparse::cpu::Piece>> pieces_of_windows(
    const std::vector<std::int64_t>& lengths, const Shape& shape) {
  Random random(10);
  const auto a = matrix_of<double>(lengths, 10, random, uniform<double>);
  const auto placement = sparse::cpu::place_rows(a.rows, a.cols, a.row_offsets.data(), shape);
  sparse::cpu::WindowPieces window_pieces(a.row_offsets.data(), shape);
  std::vector<std::vector<sparse::cpu::Piece>> pieces;
  for (const sparse::Window& window : placement.windows) {
    const auto own = window_pieces.of(window);
    pieces.emplace_back(own.begin(), own.end());
  }
  return pieces;
}

TEST(SparsePackPieces, AreDealtTheEntriesOfTheirRowInTurnAndTheLastHasTheRest) {
  const auto windows = pieces_of_windows({9, 3, 5, 0, 8, 14, 1},
                                         {.piece_most = 4, .row_cost = 4, .window_cost = 12});
  const auto expect_pieces = [&](std::size_t window, const std::vector<std::vector<int>>& wanted) {
    ASSERT_EQ(windows.at(window).size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const sparse::cpu::Piece& piece = windows[window][i];
      EXPECT_EQ((std::vector<int>{piece.cell, piece.length, static_cast<int>(piece.entry(0)),
                                  static_cast<int>(piece.entry(1))}),
                wanted[i])
          << "piece " << i << " of window " << window;
    }
  };
  // Windows of rows 0; 1 and 2; 3 and 4; 5, which is split; 6.
  ASSERT_EQ(windows.size(), 6U);
  // Cell, length, first and second entry from the window's.
  expect_pieces(0, {{0, 4, 0, 2}, {1, 4, 1, 3}, {2, 1, 8, 9}});
  expect_pieces(1, {{1, 4, 3, 4}, {0, 3, 0, 1}, {2, 1, 7, 8}});
  expect_pieces(2, {{0, 4, 0, 2}, {1, 4, 1, 3}});
  expect_pieces(3, {{0, 4, 0, 3}, {1, 4, 1, 4}, {2, 4, 2, 5}});
  expect_pieces(4, {{0, 2, 0, 1}});
  expect_pieces(5, {{0, 1, 0, 1}});
}

// By length, then by their number in the row up to 7, then by cell.
TEST(SparsePackPieces, StandInTheOrderOfTheContract) {
  const auto cells = [](const std::vector<std::int64_t>& lengths) {
    const auto windows =
        pieces_of_windows(lengths, {.piece_most = 4, .row_cost = 4, .window_cost = 8000});
    EXPECT_EQ(windows.size(), 1U);
    std::vector<int> order;
    for (const sparse::cpu::Piece& piece : windows.front())
      order.push_back(piece.cell);
    return order;
  };
  using Cells = std::vector<int>;
  // Lengths 4 4 1, 3, 4 1, 4 4 of cells 0 to 7.
  EXPECT_EQ(cells({9, 3, 5, 0, 8}), (Cells{0, 4, 6, 1, 7, 3, 5, 2}));
  // Two rows of 10 pieces: the last three of each row follow each other.
  EXPECT_EQ(cells({40, 40}),
            (Cells{0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 8, 9, 17, 18, 19}));
  // Of 37 entries 9 pieces have 4, and the last 1, which comes after those of the other row.
  EXPECT_EQ(cells({37, 40}),
            (Cells{0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 8, 17, 18, 19, 9}));
}

TEST(SparsePackWindows, BeginWhereTheContractSays) {
  // Costs: 14 each but for the split row; c(row) / 40 changes at rows 3, 6, 9 and 12.
  std::vector<std::int64_t> lengths(14, 10);
  lengths[5] = 95;
  Random random(6);
  const auto a = matrix_of<double>(lengths, 10, random, uniform<double>);
  const auto windows = [&](int granule) {
    const Shape shape{.piece_most = 8, .row_cost = 4, .granule = granule, .window_cost = 40};
    const auto placement = sparse::cpu::place_rows(a.rows, a.cols, a.row_offsets.data(), shape);
    std::vector<std::pair<int, int>> rows;
    for (const sparse::Window& window : placement.windows)
      rows.emplace_back(window.first_row, window.rows);
    EXPECT_EQ(placement.header.partials, 3);
    EXPECT_EQ(placement.split_rows, std::vector<std::int32_t>{5});
    return rows;
  };
  using Rows = std::vector<std::pair<int, int>>;
  EXPECT_EQ(windows(1),
            (Rows{{0, 3}, {3, 2}, {5, 1}, {5, 1}, {5, 1}, {6, 1}, {7, 3}, {10, 3}, {13, 1}}));
  EXPECT_EQ(windows(4), (Rows{{0, 4}, {4, 1}, {5, 1}, {5, 1}, {5, 1}, {6, 2}, {8, 4}, {12, 2}}));
}

/// Entries of each kind in a matrix of rows of `length`, `column(row, k)` that of entry k; 128 rows
/// a window.
template <class Column>
std::vector<std::int64_t> kinds_of(std::int64_t rows, std::int64_t length, std::int64_t cols,
                                   int stage_most, Column column) {
  Random random(7);
  auto a =
      matrix_of<double>(std::vector<std::int64_t>(rows, length), cols, random, uniform<double>);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < length; ++k)
      a.col_indices[row * length + k] = static_cast<std::int32_t>(column(row, k));
  }
  const PackedOnHost<double> packed(a.view(), {.lane_pieces = 2,
                                               .piece_most = 16,
                                               .row_cost = 4,
                                               .granule = 128,
                                               .window_cost = 512,
                                               .stage_most = stage_most});
  EXPECT_EQ(packed.violation(), "");
  const auto& entries = packed.packed.header.kind_entries;
  return {std::begin(entries), std::end(entries)};
}

TEST(SparsePackKinds, AreTheCheapestThatHoldTheColumns) {
  using Kinds = std::vector<std::int64_t>;
  constexpr std::int64_t kRows = 4096;
  const auto scattered = [](std::int64_t row, std::int64_t k, std::int64_t most) {
    const std::uint64_t hash = static_cast<std::uint64_t>(row * 7 + k) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::int64_t>(hash >> 33) % most;
  };
  const auto band = [&](std::int64_t width) {
    return [=](std::int64_t row, std::int64_t k) { return row + scattered(row, k, width); };
  };
  // Rows of a stencil, shifted; far columns are no obstacle.
  EXPECT_EQ(kinds_of(kRows, 7, 4'000'000, 8000,
                     [](std::int64_t row, std::int64_t k) { return row + k * k * k * 10'000; }),
            (Kinds{0, 0, 0, 0, 0, kRows * 7}));
  // Blocks of 3 unknowns: 3 rows after another have equal columns.
  EXPECT_EQ(
      kinds_of(kRows, 9, 5000, 8000,
               [](std::int64_t row, std::int64_t k) { return row / 3 * 3 + k / 3 * 300 + k % 3; }),
      (Kinds{kRows * 9, 0, 0, 0, 0, 0}));
  // A band filled at random, of which a window stages its part, or not.
  EXPECT_EQ(kinds_of(kRows, 5, 5000, 8000, band(180)), (Kinds{0, kRows * 5, 0, 0, 0, 0}));
  EXPECT_EQ(kinds_of(kRows, 5, 5000, 0, band(180)), (Kinds{0, 0, kRows * 5, 0, 0, 0}));
  EXPECT_EQ(kinds_of(kRows, 5, 6000, 0, band(900)), (Kinds{0, 0, 0, kRows * 5, 0, 0}));
  const auto anywhere = [&](std::int64_t cols) {
    return kinds_of(kRows, 5, cols, 8000,
                    [=](std::int64_t row, std::int64_t k) { return scattered(row, k, cols); });
  };
  EXPECT_EQ(anywhere(60'000), (Kinds{0, 0, 0, kRows * 5, 0, 0}));
  EXPECT_EQ(anywhere(1'000'000), (Kinds{0, 0, 0, 0, kRows * 5, 0}));
}

// The last part of a split row, of few columns, stages them where whole parts do.
TEST(SparsePackKinds, PartsOfARowStageAllOrNone) {
  constexpr std::int64_t kLength = 2 * 512 + 100;
  const auto staged = [](int stage_most) {
    const auto column = [](std::int64_t, std::int64_t k) { return 3 * k + k % 7 / 5; };
    return kinds_of(1, kLength, 4000, stage_most, column)[static_cast<int>(IndexKind::staged)];
  };
  EXPECT_EQ(staged(1600), kLength);
  EXPECT_EQ(staged(1000), 0);
}

// Full pieces of a row that is full are shifted by a column each, however many there are.
TEST(SparsePackKinds, DenseRowsNeedNoIndices) {
  Random random(11);
  const auto expect_shared = [&](std::int64_t rows, std::int64_t cols, int piece_most,
                                 int window_cost, double least = 1) {
    SCOPED_TRACE(::testing::Message() << rows << " rows of " << cols << " in pieces of up to "
                                      << piece_most << ", windows of " << window_cost);
    auto a = matrix_of<float>(std::vector<std::int64_t>(rows, cols), cols, random, uniform<float>);
    for (std::int64_t entry = 0; entry < a.nnz(); ++entry)
      a.col_indices[entry] = static_cast<std::int32_t>(entry % cols);
    for (const int lane_pieces : {1, 4}) {
      const PackedOnHost<float> packed(a.view(), {.lane_pieces = lane_pieces,
                                                  .piece_most = piece_most,
                                                  .row_cost = 4,
                                                  .window_cost = window_cost,
                                                  .stage_most = 8192});
      EXPECT_EQ(packed.violation(), "");
      EXPECT_EQ(packed.packed.header.class_rows[3], rows);
      const auto& entries = packed.packed.header.kind_entries;
      EXPECT_GE(static_cast<double>(entries[static_cast<int>(IndexKind::shared)]),
                least * static_cast<double>(a.nnz()));
    }
  };
  expect_shared(70, 1000, 250, 8250);      // 4 pieces
  expect_shared(70, 1024, 64, 8192);       // 16, more than are told apart
  expect_shared(3, 102'000, 255, 16'320);  // split rows
  expect_shared(70, 1001, 64, 8192, .75);  // a rest of 41 in a slice with others
  expect_shared(3, 100'000, 255, 16'320, .9);
}

// One slice of 32 rows, one entry of which is `reach` columns away from the others.
TEST(SparsePackKinds, ChangeAtTheirLimits) {
  const auto kind = [](std::int64_t reach, bool shifted, int stage_most) {
    const auto kinds = kinds_of(32, 2, 200'000, stage_most, [&](std::int64_t row, std::int64_t k) {
      return 5 + (row == 20 && (k == 1 || shifted) ? reach : 0);
    });
    return static_cast<IndexKind>(std::find(kinds.begin(), kinds.end(), 64) - kinds.begin());
  };
  EXPECT_EQ(kind(65535, true, 0), IndexKind::shared);
  EXPECT_EQ(kind(65536, true, 0), IndexKind::absolute);
  EXPECT_EQ(kind(255, false, 0), IndexKind::offset8);
  EXPECT_EQ(kind(256, false, 0), IndexKind::offset16);
  EXPECT_EQ(kind(65535, false, 0), IndexKind::offset16);
  EXPECT_EQ(kind(65536, false, 0), IndexKind::absolute);
  EXPECT_EQ(kind(49, false, 50), IndexKind::staged);  // 50 columns
  EXPECT_EQ(kind(50, false, 50), IndexKind::offset8);
  EXPECT_EQ(kind(511, false, 8000), IndexKind::staged);  // 64 entries for 512 columns
  EXPECT_EQ(kind(512, false, 8000), IndexKind::offset16);
}

// Rows of which one entry is left for a piece of its own: where all others stand on diagonals, x is
// not staged for these few.
TEST(SparsePackKinds, StagedAreHalfOfAWindowAtLeast) {
  const auto kinds = [](bool repeat) {
    return kinds_of(128, 17, 1000, 8000, [=](std::int64_t row, std::int64_t k) {
      return repeat && k < 16 ? row + 3 * k : (31 * row * row + 17 * k * k) % 900;
    });
  };
  EXPECT_EQ(kinds(false)[static_cast<int>(IndexKind::staged)], 128 * 17);
  EXPECT_EQ(kinds(true)[static_cast<int>(IndexKind::staged)], 0);
  EXPECT_EQ(kinds(true)[static_cast<int>(IndexKind::diagonal)], 128 * 16);
}

TEST(SparsePackKinds, SharedNeedsTwoStepsAndTwoPieces) {
  const auto apart = [](std::int64_t row, std::int64_t k) { return 2 * row + k; };
  EXPECT_EQ(kinds_of(128, 1, 300, 0, apart)[static_cast<int>(IndexKind::offset8)], 128);
  EXPECT_EQ(kinds_of(128, 2, 300, 0, apart)[static_cast<int>(IndexKind::shared)], 256);
  EXPECT_EQ(kinds_of(1, 9, 300, 0, apart)[static_cast<int>(IndexKind::offset8)], 9);
}

TEST(SparsePackKinds, DiagonalNeedsAFullWideSlice) {
  const auto diagonal = [](std::int64_t row, std::int64_t k) { return row + 5 * k; };
  EXPECT_EQ(kinds_of(128, 1, 200, 0, diagonal)[static_cast<int>(IndexKind::offset8)], 128);
  EXPECT_EQ(kinds_of(128, 3, 200, 0, diagonal)[static_cast<int>(IndexKind::diagonal)], 384);
  EXPECT_EQ(kinds_of(63, 3, 200, 0, diagonal)[static_cast<int>(IndexKind::shared)], 189);
}

// Rows of a band, of which the first and the last are shorter: all of it but a few slices at its
// ends has no index, and what stands for it is checked.
TYPED_TEST(SparsePack, DiagonalsAreStoredOnce) {
  using T = TypeParam;
  Random random(21);
  constexpr int kRows = 300;
  std::vector<std::int64_t> lengths(kRows, 3);
  lengths.front() = lengths.back() = 2;
  auto a = matrix_of<T>(lengths, kRows, random, small_integer<T>);
  for (int row = 0; row < kRows; ++row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry)
      a.col_indices[entry] =
          std::max(row - 1, 0) + static_cast<std::int32_t>(entry - a.row_offsets[row]);
  }
  for (const int wide_fill : {100, 60}) {
    PackedOnHost<T> packed(a.view(), {.lane_pieces = sparse::kLanePiecesMost<T>,
                                      .wide_fill = wide_fill,
                                      .piece_most = 16,
                                      .window_cost = 8000});
    ASSERT_EQ(packed.violation(), "");
    const auto& entries = packed.packed.header.kind_entries;
    const std::int64_t on_diagonals = entries[static_cast<int>(IndexKind::diagonal)];
    if (sparse::kLanePiecesMost < T >> 1) {
      EXPECT_GE(on_diagonals, 3 * 256);
    } else {
      EXPECT_EQ(on_diagonals, 0);  // no slice is wide
    }
    expect_noticed(packed, packed.packed.slices, "slices");
    expect_noticed(packed, packed.packed.bases, "bases");
    expect_noticed(packed, packed.packed.values, "values");
    const Operands<T, T> operands{1, 0, vector_of<T>(a.cols, random, small_integer<T>),
                                  std::vector<T>(a.rows)};
    expect_exact(a, operands, packed.multiply(operands));
  }
}

// Windows whose sums go to y at once: of 64 pieces, 8 may have another cell than the next of the
// piece before.
TEST(SparsePackWindows, AreDirectWhereRowsOfALengthFollowEachOther) {
  const auto direct = [](std::vector<std::int64_t> lengths) {
    Random random(5);
    const auto a = matrix_of<float>(lengths, 100, random, uniform<float>);
    const PackedOnHost<float> packed(
        a.view(), {.lane_pieces = 1, .piece_most = 5, .row_cost = 1, .window_cost = 8000});
    EXPECT_EQ(packed.violation(), "");
    EXPECT_EQ(packed.packed.header.windows, 1);
    return packed.packed.windows.data()[0].direct == 1;
  };
  const auto with_shorter = [](std::initializer_list<int> rows) {
    std::vector<std::int64_t> lengths(64, 3);
    for (const int row : rows)
      lengths[row] = 2;
    return lengths;
  };
  EXPECT_TRUE(direct(with_shorter({})));
  EXPECT_TRUE(direct(with_shorter({20})));
  EXPECT_TRUE(direct(with_shorter({10, 20, 30, 40})));       // 4 breaks in each length
  EXPECT_FALSE(direct(with_shorter({10, 20, 30, 40, 50})));  // 5 and 5
  std::vector<std::int64_t> lengths(64, 3);
  lengths[20] = 0;
  EXPECT_FALSE(direct(lengths));  // nothing would write row 20
  lengths[20] = 6;
  EXPECT_FALSE(direct(lengths));  // of two pieces
}

/// A small matrix whose windows are of every sort: direct, with gaps, listed, cut, split, staged;
/// with wide slices where the type has any, and columns of every kind.
template <class T>
struct EverySort {
  EverySort() {
    Random random(8);
    std::vector<std::int64_t> lengths(131, 1);
    lengths[0] = 0;
    lengths.insert(lengths.end(), 87, 2);
    lengths.insert(lengths.end(), {1, 0, 3, 2, 4, 4, 5, 0, 9, 2, 10, 3, 13, 263, 3, 1, 0, 0, 2});
    a = matrix_of<T>(lengths, 100'000, random, uniform<T>);
    for (std::int64_t row = 0; row < a.rows; ++row) {
      for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry)
        a.col_indices[entry] = column(row, entry - a.row_offsets[row], a.col_indices[entry]);
    }
  }

  /// By windows, which begin at rows 0, 131, 218, 231 (split) and 232.
  static std::int32_t column(std::int64_t row, std::int64_t place, std::int32_t any) {
    if (row == 1) return 0;
    if (row < 131)
      return 89 - any % std::min(static_cast<std::int32_t>(row), 90);  // 0 to 89: staged
    const auto step = static_cast<std::int32_t>(1000 * place);
    if (row < 131 + 64) return static_cast<std::int32_t>(2 * (row - 70)) + step;  // shared
    if (row < 218) return any % 200 + step;                                       // 1-byte offsets
    return row < 231 ? any % 60'000 : any;  // 2-byte offsets, absolute
  }

  CsrMatrix<T> a;
  Shape shape{.lane_pieces = sparse::kLanePiecesMost<T>,
              .wide_fill = 80,
              .piece_most = 5,
              .row_cost = 1,
              .granule = 1,
              .window_cost = 260,
              .stage_most = 90,
              .bands = 3};
};

TYPED_TEST(SparsePack, SmallMatrixHasWindowsOfEverySort) {
  const EverySort<TypeParam> example;
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  const auto view = packed.packed.view();
  int direct = 0, gaps = 0, cut = 0, split = 0, listed = 0, told = 0, staged = 0;
  int wide = sparse::kLanePiecesMost<TypeParam> == 1 ? 1 : 0;
  for (std::int64_t i = 0; i < view.header.windows; ++i) {
    const sparse::Window& window = view.windows[i];
    direct += window.direct;
    gaps += window.gaps;
    cut += window.first_row_cell >= 0;
    split += window.partial >= 0;
    told += window.first_piece >= 0;
    staged += window.columns > 0;
    for (int j = 0; j < window.slices; ++j) {
      const sparse::Slice& slice = view.slices[i * view.header.slices_most + j];
      listed += slice.listed;
      wide += sparse::is_wide(slice);
    }
  }
  for (const int count : {direct, gaps, cut, split, listed, told, staged, wide})
    EXPECT_GT(count, 0);
  for (int kind = 0; kind < sparse::kIndexKinds; ++kind) {
    if (static_cast<IndexKind>(kind) == IndexKind::diagonal) continue;  // DiagonalsAreStoredOnce
    EXPECT_GT(view.header.kind_entries[kind], 0) << kind;
  }
  for (const std::int64_t rows : view.header.class_rows)
    EXPECT_GT(rows, 0);
}

/// A small matrix with three hot columns, one of which slices of kind shared reach too; windows as
/// in EverySort.
template <class T>
struct HotColumnsExample {
  HotColumnsExample() {
    for (std::int64_t entry = 0; entry < a.nnz(); ++entry) {
      const bool shared = entry >= a.row_offsets[131] && entry < a.row_offsets[131 + 64];
      if (!shared && entry % 4 == 0) a.col_indices[entry] = kHot[entry / 8 % 3];
    }
    shape.stage_most = 0;
    shape.hot_least = 5;
    shape.wide_fill = 100;
  }

  static constexpr std::array<std::int32_t, 3> kHot = {5, 140, 70'000};
  CsrMatrix<T> a = EverySort<T>().a;
  Shape shape = EverySort<T>().shape;
};

TYPED_TEST(SparsePack, HotColumnsAreGivenByTheirPlaces) {
  const HotColumnsExample<TypeParam> example;
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  ASSERT_EQ(packed.violation(), "");
  const auto view = packed.packed.view();
  EXPECT_EQ(packed.packed.hot_columns.to_host(),
            std::vector<std::int32_t>(std::begin(example.kHot), std::end(example.kHot)));
  std::int64_t hot = 0;
  std::int64_t sampled = 0;
  for (std::int64_t entry = 0; entry < example.a.nnz(); ++entry) {
    const bool found = std::count(std::begin(example.kHot), std::end(example.kHot),
                                  example.a.col_indices[entry]) > 0;
    hot += found ? 1 : 0;
    sampled += found && entry % 8 == 0 ? 1 : 0;
  }
  EXPECT_EQ(view.header.hot_sampled, sampled);
  const auto& kinds = view.header.kind_entries;
  const std::int64_t shared = kinds[static_cast<int>(IndexKind::shared)];
  const std::int64_t absolute = kinds[static_cast<int>(IndexKind::absolute)];
  EXPECT_GE(shared, 128);
  EXPECT_EQ(shared + absolute, example.a.nnz());
  EXPECT_GT(absolute, hot);
  // Entries of a hot column in shared slices have no index of their own: row 140's.
  std::int64_t marked = 0;
  for (std::int64_t i = 0; i < view.header.windows; ++i) {
    const sparse::Window& window = view.windows[i];
    for (int j = 0; j < window.slices; ++j) {
      const sparse::Slice& slice = view.slices[i * view.header.slices_most + j];
      if (slice.kind != IndexKind::absolute) continue;
      const auto* const indices = reinterpret_cast<const std::uint32_t*>(
          view.indices + (window.first_index + slice.first_index) * sparse::kIndexUnit);
      const bool differ = slice.depth != slice.shortest;
      const std::uint8_t* const lengths = view.lengths + window.first_piece + slice.first_piece;
      sparse::cpu::for_each_slot(
          slice, view.header.shape.lane_pieces,
          [&](int piece) { return differ ? lengths[piece] : slice.depth; },
          [&](int /*step*/, int /*piece*/, int slot) {
            marked += (indices[slot] & sparse::kHotBit) != 0 ? 1 : 0;
          });
    }
  }
  EXPECT_LT(marked, hot);
  EXPECT_GE(marked, hot - shared);
}

TYPED_TEST(SparsePack, HotColumnsAreMultipliedExactly) {
  HotColumnsExample<TypeParam> example;
  Random random(14);
  example.a.values = vector_of<TypeParam>(example.a.nnz(), random, small_integer<TypeParam>);
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  Operands<TypeParam, TypeParam> operands{
      1, 0, vector_of<TypeParam>(example.a.cols, random, small_integer<TypeParam>),
      std::vector<TypeParam>(example.a.rows)};
  expect_exact(example.a, operands, packed.multiply(operands));
  operands.x[example.kHot[1]] = element<TypeParam>(std::numeric_limits<double>::quiet_NaN());
  operands.x[example.kHot[2]] = element<TypeParam>(std::numeric_limits<double>::infinity());
  expect_exact(example.a, operands, packed.multiply(operands));
}

// None is hot enough: slices are as they are without.
TYPED_TEST(SparsePack, ShapesWithoutHotColumnsChangeNothing) {
  EverySort<TypeParam> example;
  example.shape.wide_fill = 100;
  example.shape.stage_most = 0;
  example.shape.hot_least = 1000;
  const PackedOnHost<TypeParam> none(example.a.view(), example.shape);
  ASSERT_EQ(none.violation(), "");
  EXPECT_EQ(none.packed.header.hot, 0);
  example.shape.hot_least = 0;
  const PackedOnHost<TypeParam> plain(example.a.view(), example.shape);
  EXPECT_EQ(none.packed.indices.to_host(), plain.packed.indices.to_host());
  EXPECT_GT(plain.packed.header.kind_entries[static_cast<int>(IndexKind::offset16)], 0);
}

TYPED_TEST(SparsePack, CheckerSeesEveryAlteredByte) {
  const EverySort<TypeParam> example;
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  ASSERT_EQ(packed.violation(), "");
  expect_noticed(packed, packed.packed.windows, "windows");
  expect_noticed(packed, packed.packed.slices, "slices");
  expect_noticed(packed, packed.packed.values, "values");
  expect_noticed(packed, packed.packed.indices, "indices");
  expect_noticed(packed, packed.packed.bases, "bases");
  expect_noticed(packed, packed.packed.lengths, "lengths");
  expect_noticed(packed, packed.packed.cells, "cells");
  expect_noticed(packed, packed.packed.row_cells, "row_cells");
  expect_noticed(packed, packed.packed.split_rows, "split_rows");
  expect_noticed(packed, packed.packed.split_starts, "split_starts");
  expect_noticed(packed, packed.packed.order, "order");
}

TYPED_TEST(SparsePack, CheckerSeesEveryAlteredByteWhereColumnsAreHot) {
  const HotColumnsExample<TypeParam> example;
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  ASSERT_EQ(packed.violation(), "");
  expect_noticed(packed, packed.packed.slices, "slices");
  expect_noticed(packed, packed.packed.indices, "indices");
  expect_noticed(packed, packed.packed.bases, "bases");
  expect_noticed(packed, packed.packed.hot_columns, "hot_columns");
}

// A hot column by its number is wrong, though it leads to x.
TYPED_TEST(SparsePack, CheckerSeesEveryHotColumnThatIsGivenByItsNumber) {
  const HotColumnsExample<TypeParam> example;
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  auto* const indices = reinterpret_cast<std::uint32_t*>(packed.packed.indices.data());
  int altered = 0;
  for (std::int64_t i = 0; i < packed.packed.indices.size() / 4; ++i) {
    const std::uint32_t kept = indices[i];
    const std::uint32_t place = kept & ~sparse::kHotBit;
    if (place == kept || place >= std::size(example.kHot)) continue;
    indices[i] = static_cast<std::uint32_t>(example.kHot[place]);
    ASSERT_NE(packed.violation(), "") << "index " << i;
    indices[i] = kept;
    ++altered;
  }
  EXPECT_GT(altered, 0);
}

TYPED_TEST(SparsePack, CheckerSeesEveryAlteredCountOfTheHeader) {
  const EverySort<TypeParam> example;
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  const auto expect_seen = [&](auto& count, const char* name) {
    using Count = std::remove_reference_t<decltype(count)>;
    const Count kept = count;
    for (const Count altered :
         {Count(kept - 1), Count(kept + 1), Count(0), Count(-1), std::numeric_limits<Count>::max(),
          std::numeric_limits<Count>::min()}) {
      if (altered == kept) continue;
      count = altered;
      EXPECT_NE(packed.violation(), "") << name << " altered to " << altered;
    }
    count = kept;
  };
  sparse::PackedHeader& header = packed.packed.header;
  expect_seen(header.rows, "rows");
  expect_seen(header.cols, "cols");
  expect_seen(header.nnz, "nnz");
  expect_seen(header.shape.lane_pieces, "lane_pieces");
  expect_seen(header.shape.piece_most, "piece_most");
  expect_seen(header.shape.row_cost, "row_cost");
  expect_seen(header.shape.granule, "granule");
  expect_seen(header.shape.window_cost, "window_cost");
  for (const int altered : {0, -1, 89, std::numeric_limits<int>::max()}) {
    header.shape.stage_most = altered;
    EXPECT_NE(packed.violation(), "") << "stage_most altered to " << altered;
  }
  header.shape.stage_most = example.shape.stage_most;
  for (const int altered : {1, -1, std::numeric_limits<int>::max()}) {
    header.shape.bands = altered;
    EXPECT_NE(packed.violation(), "") << "bands altered to " << altered;
  }
  header.shape.bands = example.shape.bands;
  for (const int altered : {1, -1, std::numeric_limits<int>::max()}) {
    header.shape.hot_least = altered;
    EXPECT_NE(packed.violation(), "") << "hot_least altered to " << altered;
  }
  header.shape.hot_least = 0;
  expect_seen(header.slices_most, "slices_most");
  expect_seen(header.columns_most, "columns_most");
  expect_seen(header.cells_most, "cells_most");
  expect_seen(header.windows, "windows");
  expect_seen(header.slots, "slots");
  expect_seen(header.index_units, "index_units");
  expect_seen(header.bases, "bases");
  expect_seen(header.pieces_told, "pieces_told");
  expect_seen(header.row_cells, "row_cells");
  expect_seen(header.split_rows, "split_rows");
  expect_seen(header.partials, "partials");
  expect_seen(header.hot, "hot");
  expect_seen(header.hot_sampled, "hot_sampled");
  for (std::int64_t& rows : header.class_rows)
    expect_seen(rows, "class_rows");
  for (std::int64_t& entries : header.class_entries)
    expect_seen(entries, "class_entries");
  for (std::int64_t& entries : header.kind_entries)
    expect_seen(entries, "kind_entries");
  EXPECT_EQ(packed.violation(), "");
}

TYPED_TEST(SparsePack, CheckerSeesEveryAlteredCountOfHotColumns) {
  const HotColumnsExample<TypeParam> example;
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  sparse::PackedHeader& header = packed.packed.header;
  for (const int altered : {0, -1, 1, std::numeric_limits<int>::max()}) {
    header.shape.hot_least = altered;
    EXPECT_NE(packed.violation(), "") << "hot_least altered to " << altered;
  }
  header.shape.hot_least = example.shape.hot_least;
  header.shape.stage_most = 1;
  EXPECT_NE(packed.violation(), "");
  header.shape.stage_most = 0;
  for (std::int64_t* const count : {&header.hot, &header.hot_sampled}) {
    for (const std::int64_t altered : {*count - 1, *count + 1, std::int64_t{0}, std::int64_t{-1}}) {
      const std::int64_t kept = std::exchange(*count, altered);
      EXPECT_NE(packed.violation(), "") << kept << " altered to " << altered;
      *count = kept;
    }
  }
  EXPECT_EQ(packed.violation(), "");
}

TYPED_TEST(SparsePack, CheckerComparesWithTheMatrixNotWithItself) {
  const EverySort<TypeParam> example;
  PackedOnHost<TypeParam> packed(example.a.view(), example.shape);
  const auto violation = [&](const CsrMatrix<TypeParam>& b) {
    const auto other = sparse::load(packed.stream(), b.view(), sparse::cpu::kExamination);
    return sparse::check_packed(packed.packed.view(), other.csr);
  };
  for (std::int64_t entry = 0; entry < example.a.nnz(); ++entry) {
    auto b = example.a;
    b.values[entry] = element<TypeParam>(77.0);
    ASSERT_NE(violation(b), "") << "value of entry " << entry;
    b = example.a;
    b.col_indices[entry] ^= 1;
    ASSERT_NE(violation(b), "") << "column of entry " << entry;
  }
  for (std::int64_t row = 1; row < example.a.rows; ++row) {
    auto b = example.a;
    if (++b.row_offsets[row] > b.row_offsets[row + 1]) continue;
    ASSERT_NE(violation(b), "") << "first entry of row " << row;
  }
}

TEST(SparsePackLimits, NameTheWindowThatIsTooLarge) {
  const std::vector<std::int64_t> offsets(20'001, 0);
  expect_error(
      [&] {
        sparse::cpu::place_rows(20'000, 5, offsets.data(),
                                {.piece_most = 100, .row_cost = 1, .window_cost = 30'000});
      },
      ErrorCode::unsupported,
      {"the window of row 0 would have 20000 rows and 20000 cells, of which there can be 12288"});
}

/// Row offsets of `rows` rows, length(row) entries each.
template <class Length>
std::vector<std::int64_t> offsets_of(std::int64_t rows, Length length) {
  std::vector<std::int64_t> offsets(rows + 1);
  for (std::int64_t row = 0; row < rows; ++row)
    offsets[row + 1] = offsets[row] + length(row);
  return offsets;
}

sparse::RowFacts facts_of(const std::vector<std::int64_t>& offsets) {
  sparse::RowFacts facts{static_cast<std::int64_t>(offsets.size()) - 1, 1000, offsets.back()};
  for (std::int64_t row = 0; row < facts.rows; ++row) {
    const std::int64_t length = offsets[row + 1] - offsets[row];
    facts.longest = std::max(facts.longest, length);
    facts.empty += length == 0;
  }
  return facts;
}

// Beyond 2^31 slots: row offsets place slots, so that no values are needed.
TEST(SparsePackLimits, NumbersSlotsBeyond32Bits) {
  constexpr std::int64_t kRows = 800'000;
  constexpr std::int64_t kLength = 3001;
  const auto offsets = offsets_of(kRows, [](std::int64_t) { return kLength; });
  const Shape shape{.lane_pieces = 4, .piece_most = 255, .row_cost = 4, .window_cost = 8160};
  const auto placement = sparse::cpu::place_rows(kRows, 1000, offsets.data(), shape);
  const sparse::Window& last = placement.windows.back();
  EXPECT_EQ(last.first_entry, last.first_row * kLength);
  EXPECT_EQ(last.first_row + last.rows, kRows);
  EXPECT_GT(last.first_slot, std::int64_t{1} << 31);
  EXPECT_GE(last.first_slot, last.first_entry);
  EXPECT_LT(last.first_slot, last.first_entry + placement.header.windows * 32);
}

// Rows that the choice of a shape does not know of: where most are alike, others in numbers.
TEST(SparsePackLimits, AreKeptByTheShapesThatPlansChoose) {
  const auto longs = [](std::int64_t length, std::int64_t rows) {
    return offsets_of(rows, [&](std::int64_t) { return length; });
  };
  const auto mixed = [](std::int64_t few, std::int64_t many, std::int64_t rows) {
    return offsets_of(rows, [=](std::int64_t row) { return row % 40'000 < 20'000 ? few : many; });
  };
  for (const auto& offsets :
       {longs(1, 100'000), longs(0, 100'000), longs(4000, 100), longs(50'000, 64),
        longs(1'000'000, 3), longs(1000, 100), longs(1020, 4000), mixed(1, 130, 2'400'000),
        mixed(0, 130, 1'200'000), mixed(1, 3, 200'000), mixed(9, 17, 200'000),
        mixed(0, 3000, 60'000)}) {
    const sparse::RowFacts facts = facts_of(offsets);
    for (const DType dtype : {DType::f64, DType::f32, DType::c128}) {
      const Shape shape = sparse::choose_shape(facts, dtype, testing::h200()).shape;
      SCOPED_TRACE(::testing::Message()
                   << facts.rows << " rows, " << facts.nnz << " entries, " << to_string(dtype)
                   << ", window_cost " << shape.window_cost);
      EXPECT_EQ(shape.window_cost % shape.piece_most, 0);
      EXPECT_GE(shape.window_cost, shape.piece_most);
      EXPECT_NO_THROW(sparse::cpu::place_rows(facts.rows, facts.cols, offsets.data(), shape));
    }
  }
}

// From the first to the last entry of rows that have any; of many rows, of some.
TEST(SparseColumnSamples, TellSpansAndSectors) {
  // Row i has the eight columns from 8 i on: 32 bytes of floats, 64 of doubles.
  CsrMatrix<double> a{2000, 16'000, {0}, {}, {}};
  for (std::int32_t i = 0; i < 16'000; ++i) {
    a.col_indices.push_back(i);
    if (i % 8 == 7) a.row_offsets.push_back(i + 1);
  }
  a.values.resize(a.col_indices.size());
  const PackedOnHost<double> host(a.view());
  for (const int bytes : {4, 8}) {
    const auto found =
        sparse::locality_of(sparse::cpu::column_samples(host.checked.csr.pattern(), bytes));
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const double span : found[i].span)
        EXPECT_EQ(span, 8.0 * static_cast<double>(sparse::sample_rows(static_cast<int>(i))));
      EXPECT_NEAR(found[i].sectors, bytes / 32.0, 0.01);
    }
  }
}

TEST(SparseColumnSamples, OfFewRowsAreOneOfEachSize) {
  const CsrMatrix<double> a{.rows = 3,
                            .cols = 900,
                            .row_offsets = {0, 2, 2, 4},
                            .col_indices = {5, 800, 7, 6},
                            .values = {1, 1, 1, 1}};
  const PackedOnHost<double> host(a.view());
  const auto samples = sparse::cpu::column_samples(host.checked.csr.pattern(), 8);
  for (int number = 0; number < sparse::kAllSamples; ++number) {
    const sparse::ColumnSample expected = {5, 800, 4, sparse::kSampleBits - 2};
    EXPECT_EQ(samples[number], number % sparse::kSamples == 0 ? expected : sparse::ColumnSample{})
        << number;
  }
}

TEST(SparsePackReach, IsTheMeanOverRows) {
  const auto reach = [](const std::vector<std::int64_t>& offsets,
                        const std::vector<std::int32_t>& columns, std::int64_t rows) {
    return sparse::cpu::reach_facts(sparse::CsrPattern{.rows = rows,
                                                       .cols = 100,
                                                       .nnz = std::ssize(columns),
                                                       .row_offsets = offsets.data(),
                                                       .columns = columns.data()});
  };
  using Facts = sparse::ReachFacts;
  EXPECT_EQ(reach({0, 3, 3, 4, 6}, {2, 5, 31, 7, 60, 50}, 4), (Facts{(30 + 54 + 11) / 3, 0}));
  EXPECT_EQ(reach({0, 0, 0}, {}, 2), Facts{});
  EXPECT_EQ(reach({0}, {}, 0), Facts{});
  // Of five rows the first two are repeated; then the middle is not, and the length.
  EXPECT_EQ(reach({0, 3, 6, 9, 12, 14}, {0, 3, 9, 1, 4, 10, 2, 5, 11, 3, 7, 12, 4, 13}, 5),
            (Facts{10, 40}));
  const auto offsets = offsets_of(100'000, [](std::int64_t) { return 2; });
  std::vector<std::int32_t> columns;
  for (int row = 0; row < 100'000; ++row)
    columns.insert(columns.end(), {10, row % 2 == 0 ? 29 : 39});
  EXPECT_EQ(reach(offsets, columns, 100'000), (Facts{25, 0}));  // of even rows and of odd ones
}

// Kernels for small matrices have a warp for each slice of a window, of which they have eight:
// lengths of all kinds, rows of up to 5000 entries among short ones.
TEST(SparsePackShape, WindowsOfSmallMatricesHaveEightSlicesAtMost) {
  Random random(42);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t rows = random_int(random, 1, 6000);
    const std::int64_t usual = random_int(random, 1, round % 3 == 0 ? 200 : 12);
    const std::int64_t longest = random_int(random, usual, round % 2 == 0 ? 5000 : 2 * usual);
    const std::int64_t long_rows = random_int(random, 1, 40);  // one of so many
    sparse::RowFacts facts{.rows = rows, .cols = 6000};
    std::vector<std::int64_t> offsets = offsets_of(rows, [&](std::int64_t row) {
      return row % (4 * long_rows) == 0 ? random_int(random, usual, longest)
                                        : random_int(random, round % 5 == 0 ? 0 : 1, usual);
    });
    for (std::int64_t row = 0; row < rows; ++row)
      facts.count_row(offsets[row + 1] - offsets[row]);
    facts.nnz = offsets.back();
    facts.reach = random_int(random, 0, facts.cols);
    for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
      const auto shape = sparse::single_shape(facts, dtype, testing::h200());
      if (!shape) {
        ASSERT_GE(facts.nnz, 1'400'000) << to_string(dtype) << ", " << rows << " rows of " << usual;
        continue;
      }
      const auto header = sparse::cpu::place_rows(rows, facts.cols, offsets.data(), *shape).header;
      ASSERT_LE(header.slices_most, 8) << to_string(dtype) << ", " << rows << " rows of " << usual
                                       << ", up to " << facts.longest;
    }
  }
}

/// By trying every count.
sparse::HotFacts hot_facts_by_trial(const std::vector<std::int32_t>& columns, std::int64_t cols,
                                    std::int64_t most) {
  std::vector<std::int64_t> sampled(static_cast<std::size_t>(cols));
  for (std::size_t entry = 0; entry < columns.size(); entry += 8)
    ++sampled[columns[entry]];
  for (std::int64_t least = 16; least <= 65'535; ++least) {
    std::int64_t hot = 0;
    std::int64_t entries = 0;
    for (const std::int64_t own : sampled) {
      hot += own >= least ? 1 : 0;
      entries += own >= least ? 8 * std::min<std::int64_t>(own, 65'535) : 0;
    }
    if (hot <= most) return {static_cast<std::int32_t>(least), entries};
  }
  return {};
}

sparse::HotFacts hot_facts_of(const CsrMatrix<float>& a, std::int64_t most) {
  const auto checked = sparse::load(Stream(Device::cpu()), a.view(), sparse::cpu::kExamination);
  return sparse::cpu::hot_facts(checked.csr.pattern(), most);
}

TEST(SparsePackHotFacts, AreThoseOfTheHottestColumns) {
  Random random(41);
  const auto a = power_law_matrix<float>(10, 20'000, random);
  for (const std::int64_t most : {0, 1, 2, 10, 100, 300, 1024}) {
    SCOPED_TRACE(most);
    const sparse::HotFacts expected = hot_facts_by_trial(a.col_indices, a.cols, most);
    const sparse::HotFacts facts = hot_facts_of(a, most);
    EXPECT_EQ(facts.least, expected.least);
    EXPECT_EQ(facts.entries, expected.entries);
    Shape shape;
    shape.hot_least = facts.least;
    const PackedOnHost<float> packed(a.view(), shape);
    EXPECT_LE(packed.packed.header.hot, most);
    EXPECT_EQ(packed.packed.header.hot_sampled * 8, facts.entries);
  }
  EXPECT_GT(hot_facts_of(a, 10).least, 16);
  EXPECT_EQ(hot_facts_of(a, 1024).least, 16);
}

TEST(SparsePackHotFacts, AreUnknownWhereTooManyColumnsAreTooHot) {
  Random random(42);
  const auto a = matrix_of<float>({8 * 65'535 - 7, 8 * 65'534 + 1}, 1, random, uniform<float>);
  EXPECT_TRUE(hot_facts_of(a, 0) == sparse::HotFacts{});
  EXPECT_TRUE(hot_facts_of(a, 1) == (sparse::HotFacts{16, 8 * 65'535}));
  const auto empty = matrix_of<float>({0, 0}, 5, random, uniform<float>);
  EXPECT_TRUE(hot_facts_of(empty, 5) == sparse::HotFacts{});
}

// For more there is no kernel without a loop.
TEST(SparsePackLimits, WindowsOfSmallMatricesHaveAtMostASliceForEachOf8Warps) {
  Random random(31);
  const auto lengths = [&](std::int64_t rows, auto length) { return offsets_of(rows, length); };
  const auto any_of = [&](std::int64_t most) {
    return [&, most](std::int64_t) { return random_int(random, 0, most); };
  };
  for (const auto& offsets :
       {lengths(30'000, [](std::int64_t) { return 1; }), lengths(4000, any_of(5)),
        lengths(5000, any_of(16)), lengths(5000, any_of(64)), lengths(900, any_of(700)),
        lengths(900, [](std::int64_t row) { return 81 + row % 20; }),
        lengths(60'000, [](std::int64_t row) { return row % 10 == 0 ? 9 : 0; }),
        lengths(20'000, [](std::int64_t row) { return row % 2000 == 0 ? 20'000 : 1; }),
        lengths(9000, [](std::int64_t row) { return row % 64 < 32 ? 0 : 40; })}) {
    const sparse::RowFacts facts = facts_of(offsets);
    for (const DType dtype : {DType::f64, DType::f16}) {
      const Shape shape = sparse::single_shape(facts, dtype, testing::h200()).value();
      SCOPED_TRACE(::testing::Message() << facts.rows << " rows, " << facts.nnz << " entries");
      EXPECT_EQ(shape.lane_pieces, 1);
      const auto placement = sparse::cpu::place_rows(facts.rows, facts.cols, offsets.data(), shape);
      EXPECT_LE(placement.header.slices_most, 8);
    }
  }
}

}  // namespace
}  // namespace lanky::testing
