// The packed format: packing keeps its contract, and the checker sees every breach of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/sparse_oracle.hpp"

namespace lanky::testing {
namespace {

template <class T>
class SparsePack : public ::testing::Test {};
using Elements = ::testing::Types<double, float, half, bfloat16>;
struct ElementName {
  template <class T>
  static std::string GetName(int /*index*/) {  // NOLINT: GoogleTest's name
    return std::string(name(kDType<T>));
  }
};
TYPED_TEST_SUITE(SparsePack, Elements, ElementName);

TYPED_TEST(SparsePack, KeepsEveryRowLength) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = 0; length < 1300; ++length)
    lengths.push_back(length);
  Random random(1);
  std::shuffle(lengths.begin(), lengths.end(), random);
  const auto a = matrix_of<TypeParam>(lengths, 1000, random, uniform<TypeParam>);
  EXPECT_EQ(PackedOnHost<TypeParam>(a.view()).violation(), "");
}

TYPED_TEST(SparsePack, KeepsRandomMixturesOfRows) {
  const std::uint64_t seed = seed_or(2);
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const std::int64_t most = std::int64_t{1} << random_int(random, 0, 11);
    std::vector<std::int64_t> lengths(random_int(random, 0, 300));
    for (std::int64_t& length : lengths)
      length = random_int(random, 0, most);
    const auto a = matrix_of<TypeParam>(lengths, 64, random, uniform<TypeParam>);
    ASSERT_EQ(PackedOnHost<TypeParam>(a.view()).violation(), "");
  }
}

// More medium rows than a window holds: sorted inside each window, none leaves its own.
TYPED_TEST(SparsePack, SortsMediumRowsWithinWindowsOnly) {
  Random random(3);
  std::vector<std::int64_t> lengths(3 * sparse::kWindowRows + 100);
  for (std::int64_t& length : lengths)
    length = random_int(random, 5, 60);
  const auto a = matrix_of<TypeParam>(lengths, 500, random, uniform<TypeParam>);
  const PackedOnHost<TypeParam> packed(a.view());
  ASSERT_EQ(packed.violation(), "");
  const auto view = sparse::view_of(packed.placement, packed.slots);
  for (std::int64_t i = 0; i < view.header.medium_rows; ++i) {
    ASSERT_EQ(view.medium_rows[i] / sparse::kWindowRows, i / sparse::kWindowRows);
  }
  EXPECT_LT(view.header.tiles * sparse::kTileSlots<TypeParam>, 5 * a.nnz() / 4);
}

TYPED_TEST(SparsePack, LeavesRowsOfEqualLengthInPlace) {
  Random random(4);
  const std::vector<std::int64_t> lengths(10'000, 27);
  const auto a = matrix_of<TypeParam>(lengths, 500, random, uniform<TypeParam>);
  const PackedOnHost<TypeParam> packed(a.view());
  const auto view = sparse::view_of(packed.placement, packed.slots);
  ASSERT_EQ(view.header.medium_rows, 10'000);
  for (std::int64_t i = 0; i < 10'000; ++i)
    ASSERT_EQ(view.medium_rows[i], i);
  const std::int64_t tiles_of_block =
      (27 + sparse::kDepth<TypeParam> - 1) / sparse::kDepth<TypeParam>;
  EXPECT_EQ(view.header.tiles, 10'000 / 8 * tiles_of_block);
}

// 300 rows each of 1, 2, 3 and 4 entries need 1 + 2 + 3 + 4 slots: pieced together, none is lost.
TYPED_TEST(SparsePack, PiecesShortRowsTogetherWithoutPadding) {
  constexpr int kTileSlots = sparse::kTileSlots<TypeParam>;
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 64 * 4; ++i)
    lengths.push_back(i % 4 + 1);
  Random random(5);
  std::shuffle(lengths.begin(), lengths.end(), random);
  const auto a = matrix_of<TypeParam>(lengths, 10, random, uniform<TypeParam>);
  const PackedOnHost<TypeParam> packed(a.view());
  EXPECT_EQ(packed.violation(), "");
  EXPECT_EQ(packed.placement.header.tiles * kTileSlots, a.nnz());
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

/// A small matrix with every class, group and kind of padding, packed.
template <class T>
CsrMatrix<T> small_matrix_of_every_class() {
  Random random(7);
  return matrix_of<T>({1, 2, 3, 4, 0, 3, 1, 1, 2, 5, 9, 6, 0, 17, 7, 8, 5, 5, 40, 256, 1100, 3, 1},
                      50, random, [](Random& r) { return element<T>(1.0 + (r() % 100) / 64.0); });
}

// Every word of the four arrays matters: whichever is altered, the checker objects.
TYPED_TEST(SparsePack, CheckerSeesEveryAlteredValueAndColumn) {
  const auto a = small_matrix_of_every_class<TypeParam>();
  PackedOnHost<TypeParam> packed(a.view());
  ASSERT_EQ(packed.violation(), "");
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.slots.values.data());
  for (std::int64_t slot = 0; slot < packed.slots.values.size(); ++slot) {
    bytes[slot * sizeof(TypeParam)] ^= 1U;
    ASSERT_NE(packed.violation(), "") << "value bit of slot " << slot;
    bytes[slot * sizeof(TypeParam)] ^= 1U;
    std::int32_t& column = packed.slots.columns.data()[slot];
    ++column;
    ASSERT_NE(packed.violation(), "") << "column of slot " << slot;
    --column;
  }
  EXPECT_EQ(packed.violation(), "");
}

TYPED_TEST(SparsePack, CheckerSeesEveryAlteredRowNumberAndTileStart) {
  const auto a = small_matrix_of_every_class<TypeParam>();
  PackedOnHost<TypeParam> packed(a.view());
  for (std::int32_t& row : packed.placement.row_numbers) {
    const std::int32_t kept = row;
    for (const std::int32_t altered : {-1, 0, 1, 22, 23, kept + 1}) {
      if (altered == kept) continue;
      row = altered;
      ASSERT_NE(packed.violation(), "")
          << "row number " << &row - packed.placement.row_numbers.data() << ": " << altered;
    }
    row = kept;
  }
  for (std::int64_t& start : packed.placement.tile_starts) {
    for (const std::int64_t step : {-1, 1}) {
      start += step;
      ASSERT_NE(packed.violation(), "")
          << "tile start " << &start - packed.placement.tile_starts.data();
      start -= step;
    }
  }
  EXPECT_EQ(packed.violation(), "");
}

TYPED_TEST(SparsePack, CheckerSeesAlteredCountsAndMissingRows) {
  const auto a = small_matrix_of_every_class<TypeParam>();
  PackedOnHost<TypeParam> packed(a.view());
  sparse::PackedHeader& header = packed.placement.header;
  for (std::int64_t* count :
       {&header.rows, &header.cols, &header.nnz, &header.tiles, &header.split_rows,
        &header.long_rows, &header.medium_rows, &header.short_rows, &header.empty_rows,
        &header.long_entries, &header.short_groups[2].tiles, &header.short_groups[1].first_tile,
        &header.short_groups[3].first_row}) {
    --*count;
    EXPECT_NE(packed.violation(), "");
    ++*count;
  }
  EXPECT_EQ(packed.violation(), "");
}

TYPED_TEST(SparsePack, CheckerComparesWithTheMatrixNotWithItself) {
  auto a = small_matrix_of_every_class<TypeParam>();
  const PackedOnHost<TypeParam> packed(a.view());
  auto b = a;
  std::swap(b.values[40], b.values[41]);
  b.values[41] = element<TypeParam>(77.0);
  const PackedOnHost<TypeParam> other(b.view());
  EXPECT_NE(
      sparse::check_packed(sparse::view_of(packed.placement, packed.slots), other.checked.csr()),
      "");
}

// Beyond 2^31 slots: the placement needs row offsets only, so that it is testable without values.
template <class T>
void expect_wide_placement(std::int64_t rows, std::int64_t length) {
  std::vector<std::int64_t> offsets(rows + 1);
  for (std::int64_t row = 0; row <= rows; ++row)
    offsets[row] = row * length;
  const sparse::Placement placement = sparse::place_rows<T>(1000, offsets);
  const auto view = sparse::view_of<T>(placement.header, nullptr, nullptr,
                                       placement.tile_starts.data(), placement.row_numbers.data());
  const std::int64_t slots = placement.header.tiles * sparse::kTileSlots<T>;
  EXPECT_GT(slots, std::int64_t{1} << 31);
  EXPECT_GE(slots, rows * length);
  if (length >= sparse::kLongLeast) {
    const std::int64_t row_tiles = (length + sparse::kTileSlots<T> - 1) / sparse::kTileSlots<T>;
    EXPECT_EQ(placement.header.tiles, rows * row_tiles);
    EXPECT_EQ(view.piece_tiles[view.split_starts[rows - 1]], (rows - 1) * row_tiles);
  } else {
    const std::int64_t row_tiles = (length + sparse::kDepth<T> - 1) / sparse::kDepth<T>;
    EXPECT_EQ(placement.header.tiles, rows / 8 * row_tiles);
    EXPECT_EQ(view.block_tiles[rows / 8 - 1], (rows / 8 - 1) * row_tiles);
  }
  static_assert(std::is_same_v<decltype(view.block_tiles[0] * sparse::kTileSlots<T>), std::int64_t>,
                "slot numbers are 64 bits wide");
}

TYPED_TEST(SparsePack, NumbersSlotsBeyond32Bits) {
  expect_wide_placement<TypeParam>(1'000'000, 3001);
  expect_wide_placement<TypeParam>(10'000'000, 250);
}

}  // namespace
}  // namespace lanky::testing
