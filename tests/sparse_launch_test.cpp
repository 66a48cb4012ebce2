// Launches of sparse products, which host code alone decides. tests/golden holds thousands of them;
// here is what no golden line says.
#include <gtest/gtest.h>

#include "golden/draw_sparse.hpp"
#include "sparse/cuda/multiply/policy.hpp"
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
      sparse::cuda::choose_launches(few_filled_header(), DType::f64, SpmvPath::cuda, h200());
  EXPECT_EQ(launches.adds.slices, Slices::any);
  EXPECT_EQ(launches.overwrites.slices, Slices::straight);
  EXPECT_EQ(launches.adds.shared_bytes - launches.overwrites.shared_bytes, 1000 * 8 + 16);
  EXPECT_EQ(&launches.of(true), &launches.overwrites);
  EXPECT_EQ(&launches.of(false), &launches.adds);
}

TEST(SparseLaunch, IsTheSameOnTensorCoresWhateverBeta) {
  const Launches launches =
      sparse::cuda::choose_launches(few_filled_header(), DType::f64, SpmvPath::mma, h200());
  EXPECT_EQ(launches.adds, launches.overwrites);
  EXPECT_EQ(launches.adds.path, SpmvPath::mma);
}

TEST(SparseLaunch, OfNoWindowsHasNoBlocks) {
  for (const std::int32_t lane_pieces : {1, 2}) {
    PackedHeader header;
    header.shape.lane_pieces = lane_pieces;
    const Launches launches =
        sparse::cuda::choose_launches(header, DType::f64, SpmvPath::cuda, h200());
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
    return sparse::cuda::choose_launches(header, DType::f64, SpmvPath::cuda,
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
  expect_error([&] { sparse::cuda::choose_launches(header, DType::f64, SpmvPath::cuda, h200()); },
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
      const sparse::RowFacts facts = golden::draw_row_facts(draw);
      const DType type = kTypes[number % std::size(kTypes)];
      const auto bytes = static_cast<std::int64_t>(size_of(type));
      const std::vector<sparse::Shape> all = sparse::candidates(facts, type, machine);
      ASSERT_FALSE(all.empty()) << facts.nnz << " entries, " << name(type);
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
            sparse::cuda::choose_launches(header, type, SpmvPath::cuda, machine).of(overwrites);
        EXPECT_LE(launch.shared_bytes, machine.shared_bytes_per_block);
        EXPECT_LE(launch.threads, 1024);
      }
    }
  }
}

}  // namespace
}  // namespace lanky::testing
