// Launches of sparse products, which host code alone decides. tests/golden holds thousands of them;
// here is what no golden line says.
#include <gtest/gtest.h>

#include "sparse/cuda/multiply/policy.hpp"
#include "support/expect_error.hpp"
#include "support/h200.hpp"

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

}  // namespace
}  // namespace lanky::testing
