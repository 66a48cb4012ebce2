// Launches of sparse products, which host code alone decides. tests/golden holds thousands of them;
// here is what no golden line says.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>

#include "golden/draw_sparse.hpp"
#include "sparse/columns_copy.hpp"
#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/columns/row_sharing.hpp"
#include "sparse/cuda/multiply/policy.hpp"
#include "sparse/cuda/tiles/cost.hpp"
#include "sparse/cuda/tiles/policy.hpp"
#include "sparse/policy.hpp"
#include "sparse/shapes.hpp"
#include "support/expect_error.hpp"
#include "support/h200.hpp"
#include "support/machines.hpp"

namespace lanky::testing {
namespace {

using sparse::Launch;
using sparse::Launches;
using sparse::PackedHeader;
using sparse::Slices;

using testing::h200;

Machine gpu_with(int multiprocessors, std::int64_t shared_bytes) {
  Machine gpu = h200();
  gpu.multiprocessors = multiprocessors;
  gpu.shared_bytes_per_block = shared_bytes;
  return gpu;
}

/// Of 1000 windows of wide slices, of which most rows are empty, that stage columns.
PackedHeader few_filled_header() {
  PackedHeader header;
  header.rows = header.cols = 1'000'000;
  header.nnz = 20'000;
  header.shape.lane_pieces = 2;
  header.windows = 1000;
  header.slices_most = 4;
  header.cells_most = 1000;
  header.columns_most = 2000;
  header.slots = 25'000;
  header.class_rows[0] = 990'000;
  header.class_rows[1] = 10'000;
  return header;
}

TEST(SparseLaunch, LeavesCellsOutWhereBetaIsKnownToBeZero) {
  const Launches launches =
      sparse::cuda::choose_launches(few_filled_header(), DType::f64, sparse::Path::cuda, h200());
  EXPECT_EQ(launches.adds.slices, Slices::any);
  EXPECT_EQ(launches.overwrites.slices, Slices::straight);
  EXPECT_EQ(launches.adds.shared_bytes - launches.overwrites.shared_bytes, 1000 * 8 + 16);
  EXPECT_EQ(&launches.of(true), &launches.overwrites);
  EXPECT_EQ(&launches.of(false), &launches.adds);
}

TEST(SparseLaunch, IsTheSameOnTensorCoresWhateverBeta) {
  const Launches launches =
      sparse::cuda::choose_launches(few_filled_header(), DType::f64, sparse::Path::mma, h200());
  EXPECT_EQ(launches.adds, launches.overwrites);
  EXPECT_EQ(launches.adds.path, sparse::Path::mma);
}

TEST(SparseLaunch, OfNoWindowsHasNoBlocks) {
  for (const std::int32_t lane_pieces : {1, 2}) {
    PackedHeader header;
    header.shape.lane_pieces = lane_pieces;
    const Launches launches =
        sparse::cuda::choose_launches(header, DType::f64, sparse::Path::cuda, h200());
    EXPECT_EQ(launches.adds.blocks, 0);
    EXPECT_EQ(launches.overwrites.blocks, 0);
  }
}

// Teams of a block share x of the hot columns: a GPU with less shared memory has fewer of them.
TEST(SparseLaunch, OfHotColumnsFollowsTheDevice) {
  PackedHeader header = few_filled_header();
  header.columns_most = 0;
  header.hot = 10'000;
  const auto launch = [&](int multiprocessors, std::int64_t shared_bytes) {
    return sparse::cuda::choose_launches(header, DType::f64, sparse::Path::cuda,
                                         gpu_with(multiprocessors, shared_bytes))
        .adds;
  };
  const Launch large = launch(h200().multiprocessors, h200().shared_bytes_per_block);
  EXPECT_TRUE(large.hot);
  EXPECT_EQ(large.teams, sparse::kHotTeams);
  EXPECT_EQ(large.blocks, 1000 / sparse::kHotTeams);
  EXPECT_EQ(launch(24, h200().shared_bytes_per_block).blocks, 24);
  const Launch small = launch(h200().multiprocessors, 100 << 10);
  EXPECT_EQ(small.teams, 2);
  EXPECT_EQ(small.threads, 2 * 128);
  EXPECT_LE(small.shared_bytes, 100 << 10);
}

TEST(SparseLaunch, NamesAGridThatCudaCannotTake) {
  PackedHeader header = few_filled_header();
  header.windows = 3'000'000'000;
  expect_error(
      [&] { sparse::cuda::choose_launches(header, DType::f64, sparse::Path::cuda, h200()); },
      ErrorCode::unsupported, {"a launch of 3000000000 blocks; CUDA takes 2147483647"});
}

/// Every shape that is listed for a matrix, and the launches of a matrix that is packed in it.
TEST(SparseLaunch, FitsEveryMachine) {
  constexpr DType kTypes[] = {DType::f64,  DType::f32, DType::f16,
                              DType::bf16, DType::c64, DType::c128};
  for (const Machine& machine : all_machines()) {
    SCOPED_TRACE(name_of(machine));
    golden::Draw draw(35);
    for (int number = 0; number < 300; ++number) {
      sparse::RowFacts facts = golden::draw_row_facts(draw);
      const DType type = kTypes[number % std::size(kTypes)];
      const auto bytes = static_cast<std::int64_t>(size_of(type));
      if (number / 6 % 2 == 0) facts.pieces_most = sparse::part_pieces_most(type, machine);
      const std::vector<sparse::Shape> all = sparse::candidates(facts, type, machine);
      ASSERT_FALSE(all.empty()) << facts.nnz << " entries, " << to_string(type);
      for (const sparse::Shape& shape : all)
        ASSERT_TRUE(sparse::fits(shape, facts, type, machine)) << sparse::name_of(shape);
      const sparse::Shape chosen = sparse::choose_shape(facts, type, machine).shape;
      PackedHeader header = golden::draw_header(facts, chosen, type, draw);
      header.hot = std::min(header.hot, sparse::hot_columns_most(type, machine));
      const std::int64_t sum_bytes = is_half(type) ? 4 : bytes;
      const std::int64_t room = machine.shared_bytes_per_block - (4 << 10) -
                                header.columns_most * bytes - header.slices_most * 32;
      header.cells_most =
          static_cast<std::int32_t>(std::min<std::int64_t>(header.cells_most, room / sum_bytes));
      for (const bool overwrites : {false, true}) {
        const Launch launch =
            sparse::cuda::choose_launches(header, type, sparse::Path::cuda, machine).of(overwrites);
        EXPECT_LE(launch.shared_bytes, machine.shared_bytes_per_block);
        EXPECT_LE(launch.threads, 1024);
      }
    }
  }
}

using sparse::cuda::NextTileStrips;
using sparse::cuda::TileStrip;

using Strips = std::vector<NextTileStrips>;

/// The launches of all columns, where rows of X are read as far as `readable`.
Strips tile_launches(std::int64_t columns, std::int64_t readable, int word_bytes, TileStrip widest,
                     DType dtype) {
  Strips launches;
  for (std::int64_t done = 0; done < columns; done += launches.back().columns) {
    const auto begin = done * static_cast<std::int64_t>(size_of(dtype)) | 16;
    const int aligned = std::min(word_bytes, static_cast<int>(begin & -begin));
    launches.push_back(sparse::cuda::next_tile_strips(
        {columns - done, readable - done, word_bytes == 0 ? 0 : aligned}, widest, dtype));
  }
  return launches;
}

TEST(SparseTileStrips, TakeWideOnesFirstAndPadLeast) {
  const auto f64 = [](std::int64_t columns, int word_bytes = 16) {
    return tile_launches(columns, columns, word_bytes, TileStrip::wide, DType::f64);
  };
  EXPECT_EQ(f64(5), (Strips{{TileStrip::apart, 5}}));
  EXPECT_EQ(f64(16), (Strips{{TileStrip::middle, 16}}));
  EXPECT_EQ(f64(24), (Strips{{TileStrip::middle, 16}, {TileStrip::apart, 8}}));
  EXPECT_EQ(f64(28), (Strips{{TileStrip::middle, 28}}));
  EXPECT_EQ(f64(31), (Strips{{TileStrip::middle, 16}, {TileStrip::apart, 15}}));
  EXPECT_EQ(f64(64), (Strips{{TileStrip::wide, 64}}));
  EXPECT_EQ(f64(100), (Strips{{TileStrip::wide, 96}, {TileStrip::apart, 4}}));
  EXPECT_EQ(f64(100, 8), (Strips{{TileStrip::apart, 100}}));
  EXPECT_EQ(f64(100, 0), (Strips{{TileStrip::apart, 100}}));
  const auto half = [](std::int64_t columns, std::int64_t readable, int word_bytes = 16) {
    return tile_launches(columns, readable, word_bytes, TileStrip::wide, DType::f16);
  };
  EXPECT_EQ(half(9, 9), (Strips{{TileStrip::apart, 9}}));
  EXPECT_EQ(half(9, 16), (Strips{{TileStrip::narrow, 9}}));
  EXPECT_EQ(half(64, 64), (Strips{{TileStrip::wide, 64}}));
  EXPECT_EQ(half(56, 56), (Strips{{TileStrip::wide, 56}}));
  EXPECT_EQ(half(60, 60), (Strips{{TileStrip::middle, 60}}));
  EXPECT_EQ(half(100, 104),
            (Strips{{TileStrip::wide, 64}, {TileStrip::middle, 32}, {TileStrip::narrow, 4}}));
  EXPECT_EQ(half(64, 64, 8), (Strips{{TileStrip::middle, 64}}));
  EXPECT_EQ(half(64, 64, 2), (Strips{{TileStrip::apart, 64}}));
  EXPECT_EQ(half(33, 33, 4), (Strips{{TileStrip::narrow, 32}, {TileStrip::apart, 1}}));
}

// Every column is in one launch, and whole words alone are read.
TEST(SparseTileStrips, ReadWhatThereIs) {
  for (const DType dtype : {DType::f64, DType::f16}) {
    const auto bytes = static_cast<int>(size_of(dtype));
    for (const TileStrip widest : {TileStrip::narrow, TileStrip::middle, TileStrip::wide}) {
      for (std::int64_t columns = 1; columns <= 200; ++columns) {
        for (const int word_bytes : {0, 2, 4, 8, 16}) {
          if (word_bytes > 0 && word_bytes < bytes) continue;
          std::int64_t done = 0;
          for (const auto& [kind, count] :
               tile_launches(columns, columns, word_bytes, widest, dtype)) {
            ASSERT_GT(count, 0);
            EXPECT_LE(kind, widest);
            const int word = kind == TileStrip::apart    ? 1
                             : dtype == DType::f64       ? 2
                             : kind == TileStrip::narrow ? 2
                             : kind == TileStrip::middle ? 4
                                                         : 8;
            EXPECT_EQ(done % word, 0);
            EXPECT_EQ(count % word, 0);
            EXPECT_TRUE(kind == TileStrip::apart || word * bytes <= word_bytes);
            EXPECT_TRUE(dtype != DType::f64 || kind != TileStrip::wide || count % 32 == 0);
            done += count;
          }
          EXPECT_EQ(done, columns);
        }
      }
    }
  }
}

/// Tiles of so many blocks of so many steps, of full column vectors.
sparse::TileHeader blocks_of(std::initializer_list<std::pair<unsigned, unsigned>> blocks) {
  sparse::TileHeader tiles;
  for (const auto& [count, steps] : blocks) {
    tiles.blocks += count;
    if (steps == 0) continue;
    const int place = static_cast<int>(std::bit_width(steps - 1));
    tiles.facts.by_steps.blocks[place] += count;
    tiles.facts.by_steps.steps[place] += std::uint64_t{count} * steps;
    tiles.facts.steps += std::int64_t{count} * steps;
    tiles.facts.steps_most = std::max<std::int64_t>(tiles.facts.steps_most, steps);
  }
  return tiles;
}

TEST(SparseTileStrips, AreNarrowWhereBlocksAreFew) {
  const auto strip = [](unsigned blocks, std::int64_t columns) {
    sparse::TileHeader tiles = blocks_of({{blocks, 4}});
    sparse::cuda::choose_sharing(tiles, columns, DType::f64, h200());
    return sparse::cuda::best_tile_strip(tiles.times, columns, DType::f64);
  };
  EXPECT_EQ(strip(20'000, 64), TileStrip::wide);
  EXPECT_EQ(strip(20'000, 16), TileStrip::middle);  // there are no more columns
  EXPECT_EQ(strip(20'000, 8), TileStrip::narrow);
  EXPECT_EQ(strip(1500, 32), TileStrip::middle);
  EXPECT_EQ(strip(1000, 32), TileStrip::narrow);
}

sparse::cuda::RowLengths rows_of(std::initializer_list<std::pair<unsigned, unsigned>> rows) {
  sparse::cuda::RowLengths lengths{};
  for (const auto& [count, length] : rows) {
    const int place = static_cast<int>(std::bit_width(length - 1));
    lengths.rows[place] += count;
    lengths.entries[place] += static_cast<unsigned long long>(count) * length;
    lengths.longest = std::max(lengths.longest, length);
  }
  return lengths;
}

// Of 100,000 rows of 20 entries: their column vectors, and the steps of the longest block.
TEST(SparseTiles, PayWhereVectorsAreSharedAndBlocksAreEven) {
  const auto pay = [&](std::int64_t vectors, unsigned steps_most, std::int64_t columns,
                       Layout layout = Layout::row, std::int64_t sectors = 0,
                       DType dtype = DType::f64, const Machine& machine = known_machine("H200")) {
    const sparse::RowFacts rows{.rows = 100'000, .cols = 100'000, .nnz = 2'000'000, .longest = 30};
    const auto blocks = static_cast<unsigned>(rows.rows / 8);
    const auto steps = static_cast<unsigned>(vectors / 16 / blocks);
    sparse::TileHeader tiles = blocks_of({{blocks - 1, steps}, {1, steps_most}});
    tiles.rows = rows.rows;
    tiles.cols = rows.cols;
    tiles.nnz = rows.nnz;
    tiles.facts.vectors = vectors;
    tiles.facts.sectors = sectors;
    sparse::cuda::choose_sharing(tiles, columns, dtype, machine);
    const sparse::cuda::RowLengths lengths = rows_of({{100'000, 20}});
    const sparse::cuda::CopyCosts costs(tiles, {rows, lengths, {.piece_most = 32}}, dtype, machine);
    return costs.tiles_pay({.expected_columns = columns, .expected_layout = layout});
  };
  EXPECT_TRUE(pay(500'000, 4, 8));
  EXPECT_FALSE(pay(2'000'000, 15, 64));  // no row shares a vector
  EXPECT_FALSE(pay(500'000, 400, 8));    // one block ends long after the others
  // X by columns is not made row-major where a sector of a column has several vectors.
  EXPECT_TRUE(pay(1'200'000, 10, 8, Layout::col, 300'000));
  EXPECT_FALSE(pay(2'000'000, 15, 64, Layout::col, 2'000'000));
  // Floats are multiplied as doubles, which this card computes at 1/64 of the rate of floats.
  EXPECT_TRUE(pay(500'000, 4, 32, Layout::row, 0, DType::f32));
  EXPECT_FALSE(pay(500'000, 4, 32, Layout::row, 0, DType::f32, known_machine("L40S")));
}

TEST(SparseTiles, ShareBlocksThatEndLongAfterTheOthers) {
  const auto shared = [](sparse::TileHeader tiles, std::int64_t columns) {
    sparse::cuda::choose_sharing(tiles, columns, DType::f64, h200());
    EXPECT_EQ(tiles.shared_blocks,
              sparse::cuda::blocks_above(tiles.facts.by_steps, tiles.share_above));
    return tiles.shared_blocks;
  };
  for (const std::int64_t columns : {8, 32, 64}) {
    SCOPED_TRACE(::testing::Message() << columns << " columns");
    EXPECT_EQ(shared(blocks_of({{100'000, 2}, {1, 300}}), columns), 1);
    EXPECT_EQ(shared(blocks_of({{400, 3}, {7, 157}}), columns), 7);
    EXPECT_EQ(shared(blocks_of({{20, 30}, {3, 0}}), columns), 20);  // the device is nearly empty
    EXPECT_EQ(shared(blocks_of({{125'000, 6}}), columns), 0);       // a large stencil
    EXPECT_EQ(shared(blocks_of({{100'000, 20}, {1000, 30}}), columns), 0);
    EXPECT_EQ(shared(blocks_of({{100, 1}, {10, 0}}), columns), 0);
    EXPECT_EQ(shared(blocks_of({{100, 0}}), columns), 0);
    EXPECT_EQ(shared(blocks_of({}), columns), 0);
  }
}

TEST(SparseTiles, TakeAnEighthOfTheStepsWhereBlocksAreShared) {
  const auto longest_us = [](unsigned steps) {
    sparse::TileHeader tiles = blocks_of({{400, 3}, {7, steps}});
    sparse::cuda::choose_sharing(tiles, 8, DType::f64, h200());
    EXPECT_EQ(tiles.shared_blocks, 7);
    const sparse::StripTimes& times = tiles.times[static_cast<int>(TileStrip::narrow)];
    EXPECT_GT(times.shared, times.alone);
    return times.shared;
  };
  EXPECT_NEAR(longest_us(160) - longest_us(80), (20 - 10) * 0.3, 1e-9);
}

// Strips of which the device holds one and a half at once, and a longest block that one warp has,
// or several.
TEST(SparseTileStrips, TakeTheLongestOfWorkAndBlocks) {
  const auto us = [](const sparse::StripTimes& times, std::int64_t strips) {
    return sparse::cuda::strips_us(times, strips);
  };
  const sparse::StripTimes alone{.work = 2, .at_once = 1.5, .alone = 9};
  EXPECT_DOUBLE_EQ(us(alone, 1), 9);
  EXPECT_DOUBLE_EQ(us(alone, 3), 3 * 2 / 2. + 9);  // the last begins when half of the work is done
  const sparse::StripTimes shared{.work = 2, .at_once = 1.5, .shared = 5, .alone = 1};
  EXPECT_DOUBLE_EQ(us(shared, 1), 5);
  EXPECT_DOUBLE_EQ(us(shared, 3), 6);
  EXPECT_DOUBLE_EQ(us({}, 4), 0);
}

TEST(SparseTiles, AreAskedFor) {
  const auto may = [](Engine engine, DType dtype, std::int64_t columns, std::int64_t nnz = 10) {
    return sparse::cuda::may_have_tiles({.engine = engine, .expected_columns = columns}, dtype,
                                        nnz);
  };
  EXPECT_TRUE(may(Engine::automatic, DType::f64, 16));
  EXPECT_TRUE(may(Engine::tensor_cores, DType::f64, 5));
  EXPECT_FALSE(may(Engine::tensor_cores, DType::f64, 4));
  EXPECT_TRUE(may(Engine::tensor_cores, DType::bf16, 9));
  EXPECT_FALSE(may(Engine::tensor_cores, DType::bf16, 8));
  EXPECT_TRUE(may(Engine::automatic, DType::f32, 16));
  EXPECT_TRUE(may(Engine::tensor_cores, DType::f32, 5));
  EXPECT_FALSE(may(Engine::tensor_cores, DType::f32, 4));
  EXPECT_FALSE(may(Engine::tensor_cores, DType::c64, 16));
  EXPECT_FALSE(may(Engine::cuda_cores, DType::f64, 16));
  EXPECT_FALSE(may(Engine::tensor_cores, DType::f64, 16, 0));
  EXPECT_FALSE(may(Engine::tensor_cores, DType::f64, 16, std::int64_t{1} << 31));
}

// Lane t = place / 4 has four vectors: of doubles one of each m8n8k4, of halves neighbours.
TEST(SparseTiles, PlaceEveryVectorOfAStepOnce) {
  for (const bool by_units : {false, true}) {
    unsigned seen = 0;
    for (int vector = 0; vector < sparse::kStepVectors; ++vector)
      seen |= 1U << sparse::place_of_vector(vector, by_units);
    EXPECT_EQ(seen, 0xffffU);
  }
  EXPECT_EQ(sparse::place_of_vector(1, false), 4);
  EXPECT_EQ(sparse::place_of_vector(4, false), 1);
  EXPECT_EQ(sparse::place_of_vector(5, true), 5);
}

// Several columns by the kernels of one vector: no copy is made for these.
TEST(SparseLaunch, OfWordsServesAFewColumns) {
  sparse::StripLaunches launches{.apart_most = 8};
  const auto in_words = [&](std::int64_t columns, Layout layout, DType dtype) {
    return sparse::cuda::in_words(launches, columns, layout, dtype);
  };
  EXPECT_FALSE(in_words(2, Layout::row, DType::f64));  // there are no such kernels
  EXPECT_FALSE(in_words(1, Layout::col, DType::f64));
  launches.of_words[0].threads = 128;
  launches.of_words[1].threads = 128;
  EXPECT_TRUE(in_words(2, Layout::row, DType::f64));
  EXPECT_FALSE(in_words(1, Layout::row, DType::f64));
  EXPECT_TRUE(in_words(4, Layout::row, DType::f64));  // two words
  EXPECT_TRUE(in_words(4, Layout::row, DType::f32));
  EXPECT_FALSE(in_words(3, Layout::row, DType::f32));
  EXPECT_TRUE(in_words(4, Layout::row, DType::f16));
  EXPECT_FALSE(in_words(8, Layout::row, DType::f32));
  for (const std::int64_t columns : {2, 3, 4})
    EXPECT_TRUE(in_words(columns, Layout::col, DType::f64)) << columns;
  EXPECT_FALSE(in_words(5, Layout::col, DType::f64));
  EXPECT_TRUE(in_words(8, Layout::col, DType::f32));  // two launches of four
  EXPECT_TRUE(in_words(7, Layout::col, DType::f16));
  launches.of_words[2].threads = 128;
  EXPECT_TRUE(in_words(8, Layout::row, DType::f16));
  EXPECT_TRUE(in_words(8, Layout::row, DType::f32));
  launches.of_words[2].threads = 0;
  EXPECT_FALSE(in_words(9, Layout::col, DType::f16));
  launches.of_words[1].threads = 0;
  EXPECT_TRUE(in_words(5, Layout::col, DType::f32));
  EXPECT_FALSE(in_words(6, Layout::col, DType::f32));
  launches.apart_most = 1;  // X is made row-major
  EXPECT_TRUE(in_words(2, Layout::col, DType::f64));
  EXPECT_FALSE(in_words(3, Layout::col, DType::f32));
}

// Shared memory has the sums of 32 pieces for each warp, or of the longest part: blocks are larger
// where few of them have room on a multiprocessor, or there are few.
TEST(SparseLaunch, OfPartsHasRoomForTheirSums) {
  const auto launch = [](int words, std::int64_t pieces, DType dtype, std::int64_t blocks = 5000,
                         std::int64_t warps = 0) {
    return sparse::cuda::parts_launch(
        words, {.blocks = blocks, .pieces_most = pieces, .warps = warps}, dtype, h200());
  };
  using sparse::PartsLaunch;
  EXPECT_EQ(launch(4, 0, DType::f64, 0), (PartsLaunch{4, 256, 8 * 32 * 8 * 8}));
  EXPECT_EQ(launch(8, 0, DType::f32, 0), (PartsLaunch{8, 256, 8 * 32 * 32 * 4}));
  EXPECT_EQ(launch(4, 1024, DType::f64), (PartsLaunch{4, 256, 1056 * 8 * 8}));
  EXPECT_EQ(launch(32, 1024, DType::f64), (PartsLaunch{8, 1024, 1056 * 16 * 8}));
  EXPECT_EQ(launch(4, 1024, DType::f16), (PartsLaunch{4, 1024, 1056 * 32 * 4}));
  EXPECT_EQ(launch(8, 1024, DType::f16), (PartsLaunch{4, 1024, 1056 * 32 * 4}));  // no room for 8
  EXPECT_EQ(launch(4, 1 << 20, DType::f16), PartsLaunch{});
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::c128}) {
    const std::int64_t most = sparse::part_pieces_most(dtype, h200());
    EXPECT_NE(launch(4, most, dtype), PartsLaunch{});
    EXPECT_EQ(launch(4, most + 1, dtype), PartsLaunch{});
  }
  EXPECT_EQ(launch(4, 200, DType::f64, 400).threads, 256);  // two of three places are taken
  EXPECT_EQ(launch(4, 200, DType::f64, 300).threads, 512);
  EXPECT_EQ(launch(4, 200, DType::f64, 20).threads, 1024);
  EXPECT_EQ(launch(4, 100, DType::f64, 20).threads, 512);    // 128 groups of four lanes
  EXPECT_EQ(launch(32, 200, DType::f64, 100).threads, 256);  // four strips
  EXPECT_EQ(launch(4, 200, DType::f64, 20, 3000).threads, 256);
}

// Several columns on CUDA cores: which rows groups have, and how many groups a row has.
TEST(SparseLaunch, OfRowsKeepsThemToGroupsWhereTheyFillTheDevice) {
  const sparse::Shape shape{.piece_most = 16, .window_cost = 8192};
  const auto share = [&](const sparse::cuda::RowLengths& rows, int words) {
    return sparse::cuda::share_rows(rows, shape, words, DType::f64, h200());
  };
  const auto limit = [&](const sparse::cuda::RowLengths& rows, int words) -> std::int64_t {
    return sparse::cuda::group_limits(shape).of[share(rows, words).limit];
  };
  const std::int64_t all = sparse::cuda::group_most(shape);
  EXPECT_EQ(all, 256);
  EXPECT_EQ(limit(rows_of({{1'000'000, 27}}), 4), all);
  EXPECT_EQ(share(rows_of({{1'000'000, 27}}), 4).team_bits, 0);
  EXPECT_EQ(limit(rows_of({{14'000, 43}}), 16), all);  // warps would take four times the lanes
  // A few long rows among many short ones would end long after these.
  EXPECT_LT(limit(rows_of({{35'000, 8}, {300, 200}}), 4), 200);
  EXPECT_EQ(limit(rows_of({}), 32), all);
  for (const int words : {4, 8, 16, 32}) {
    const std::int64_t found = limit(rows_of({{260'000, 12}, {4'000, 250}}), words);
    EXPECT_TRUE(found == all || std::has_single_bit(static_cast<std::uint64_t>(found))) << found;
    EXPECT_GE(found, shape.piece_most);
  }
}

TEST(SparseLaunch, OfRowsHasTeamsWhereTheyDoNotFillTheDevice) {
  const auto share = [](unsigned rows, unsigned length, int words) {
    return sparse::cuda::share_rows(rows_of({{rows, length}}),
                                    {.piece_most = 8, .window_cost = 704}, words, DType::f64,
                                    h200());
  };
  for (const int words : {4, 16}) {
    const sparse::cuda::RowSharing sharing = share(4100, 24, words);
    EXPECT_GT(sharing.team_bits, 0) << words;
    EXPECT_EQ(sharing.parts_us, 0) << words;
    EXPECT_LT(sharing.longest_us, share(400'000, 24, words).longest_us) << words;
  }
  EXPECT_EQ(share(4100, 8, 4).team_bits, 0);      // a row is one piece
  EXPECT_EQ(share(400'000, 24, 4).team_bits, 0);  // rows fill the device
  EXPECT_GT(share(400, 100, 4).parts_us, 0);      // warps have them
  // Y by columns: rows stand as they are, a group each, and wait for those beside them.
  const sparse::Shape shape{.piece_most = 8, .window_cost = 704};
  const auto staged_us = [&](unsigned long long taken) {
    auto lengths = rows_of({{400'000, 24}});
    for (auto& groups : lengths.groups)
      groups = {.entries = 1000, .taken = taken};
    const auto staged = sparse::cuda::share_rows(lengths, shape, 4, DType::f64, h200(), true);
    EXPECT_EQ(staged.team_bits, 0);
    return staged.work_us;
  };
  EXPECT_LT(staged_us(1000), staged_us(4000));
}

// Rows that are too long for groups have several warps where warps do not fill the device.
TEST(SparseLaunch, OfRowsInPartsSharesThemAmongWarps) {
  const sparse::Shape shape{.piece_most = 16, .window_cost = 1488};
  const auto share = [&](unsigned rows, int words) {
    return sparse::cuda::share_rows(rows_of({{1000, 10}, {rows, 500}}), shape, words, DType::f32,
                                    h200());
  };
  for (const int words : {4, 8, 16, 32}) {
    EXPECT_GT(share(16, words).warp_bits, 0) << words;
    EXPECT_EQ(share(100'000, words).warp_bits, 0) << words;
    EXPECT_LT(share(16, words).longest_us, share(100'000, words).longest_us) << words;
  }
  EXPECT_EQ(share(0, 8).warp_bits, 0);
}

TEST(SparseRows, AreSortedWhereGroupsWouldWait) {
  auto lengths = rows_of({{4100, 24}});
  EXPECT_FALSE(sparse::cuda::is_uneven(lengths, 0));  // no group has any
  lengths.groups[0] = {.entries = 1000, .taken = 1100};
  lengths.groups[1] = {.entries = 1000, .taken = 3000};
  EXPECT_FALSE(sparse::cuda::is_uneven(lengths, 0));
  EXPECT_TRUE(sparse::cuda::is_uneven(lengths, 1));
}

// X by columns is gathered where it stands, unless a row of it saves more than making it takes.
TEST(SparseLaunch, OfWordsMakesRowsOfXWhereColumnsAreScattered) {
  const auto apart_most = [](double sectors, DType dtype) {
    sparse::RowFacts facts{.rows = 200'000, .cols = 200'000, .nnz = 4'000'000};
    facts.locality[0].sectors = sectors;
    return sparse::cuda::choose_strips({}, facts, dtype, {}, h200()).apart_most;
  };
  EXPECT_EQ(apart_most(1, DType::f64), 1);
  EXPECT_EQ(apart_most(1, DType::f32), 1);
  EXPECT_EQ(apart_most(1, DType::f16), 1);
  EXPECT_EQ(apart_most(0.05, DType::f64), 4);
  EXPECT_EQ(apart_most(0.05, DType::f32), 8);
  EXPECT_GE(apart_most(0.05, DType::f16), 2);
  EXPECT_LT(apart_most(0.05, DType::f16), 8);
  EXPECT_EQ(apart_most(0, DType::f16), 8);  // unknown
  sparse::StripLaunches launches{.apart_most = 4};
  launches.of_words[0].threads = launches.of_words[1].threads = 128;
  EXPECT_FALSE(sparse::cuda::rows_first(launches, 4));
  EXPECT_FALSE(sparse::cuda::rows_first(launches, 8));  // there is no word of eight
  launches.of_words[2].threads = 128;
  EXPECT_TRUE(sparse::cuda::rows_first(launches, 8));
  EXPECT_FALSE(sparse::cuda::rows_first(launches, 7));
  launches.apart_most = 1;
  EXPECT_TRUE(sparse::cuda::rows_first(launches, 7));
}

}  // namespace
}  // namespace lanky::testing
