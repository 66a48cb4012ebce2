// The cpu executor beyond what every executor is tested for: each instruction set that this
// processor has, on shapes at the edges of vectors, strips, groups, panels and chunks.
#include <gtest/gtest.h>

#include <array>
#include <lanky/lanky.hpp>

#include "core/team.hpp"
#include "core/text.hpp"
#include "dense/cpu/blocking.hpp"
#include "dense/cpu/tiled.hpp"
#include "support/dense_oracle.hpp"
#include "support/executor.hpp"

namespace lanky::dense::cpu {
namespace {

using testing::Data;
using testing::DenseCase;
using testing::HostMatrix;

/// Tiles of every instruction set that runs here.
template <class R>
std::vector<const RegisterTiles<R>*> all_tiles() {
  std::vector<const RegisterTiles<R>*> tiles;
  if constexpr (std::is_same_v<R, double>) {
    tiles = {&baseline::tiles_f64};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) tiles.push_back(&avx2::tiles_f64);
    if (__builtin_cpu_supports("avx512f")) tiles.push_back(&avx512::tiles_f64);
#endif
  } else {
    tiles = {&baseline::tiles_f32};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) tiles.push_back(&avx2::tiles_f32);
    if (__builtin_cpu_supports("avx512f")) tiles.push_back(&avx512::tiles_f32);
#endif
  }
  return tiles;
}

/// C of the case by these tiles; the workspace ends where it is said to.
template <class T>
HostMatrix<T> multiply_with(const RegisterTiles<Real<T>>& tiles, const DenseCase<T, T>& dense) {
  const Problem problem = canonical(dense.shape);
  const TiledExecutor<T, T> executor(problem, "", tiles);
  const std::int64_t bytes = executor.workspace_bytes();
  constexpr int kGuard = 64;
  std::vector<unsigned char> memory(static_cast<std::size_t>(bytes) + 256 + kGuard, 0xa5);
  unsigned char* workspace =
      memory.data() + (256 - reinterpret_cast<std::uintptr_t>(memory.data()) % 256);
  HostMatrix<T> c = dense.c;
  const T* a = dense.a.data.data() + dense.a.offset;
  const T* b = dense.b.data.data() + dense.b.offset;
  executor.run(Stream(Device::cpu()),
               {static_cast<T>(dense.alpha), problem.swapped ? b : a, problem.swapped ? a : b,
                static_cast<T>(dense.beta), c.data.data() + c.offset, workspace, nullptr});
  GemmInfo info;
  executor.describe(info);
  EXPECT_EQ(workspace[bytes], 0xa5) << info.routes.front().configuration;
  return c;
}

template <class T>
void expect_exact_for_all_tiles(const GemmShape& shape, std::int64_t padding, double alpha = 1,
                                double beta = 0) {
  const DenseCase<T, T> dense(shape, Data::integers, 21, alpha, beta, padding, padding % 3);
  const HostMatrix<T> expected = dense.expected();
  for (const RegisterTiles<Real<T>>* tiles : all_tiles<Real<T>>()) {
    SCOPED_TRACE(concat(tiles->isa, ": ", shape.m, " x ", shape.n, " x ", shape.k, " op ",
                        static_cast<int>(shape.op_a), static_cast<int>(shape.op_b),
                        shape.layout == Layout::col ? " col" : " row", " padding ", padding));
    dense.expect_equal(multiply_with(*tiles, dense), expected);
  }
}

template <class T>
class DenseTiles : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(DenseTiles, Types);

TYPED_TEST(DenseTiles, ShortSidesOfEveryLength) {
  for (std::int64_t m = 1; m <= 50; m += m < 20 ? 1 : 7) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 17}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        expect_exact_for_all_tiles<TypeParam>({.m = m, .n = n, .k = 5, .layout = layout}, m % 2);
        expect_exact_for_all_tiles<TypeParam>(
            {.m = m, .n = n, .k = 150, .op_a = Op::trans, .layout = layout}, m % 2);
      }
    }
  }
}

// Rows of up to 8 numbers without gaps are turned in vectors, others one by one.
TYPED_TEST(DenseTiles, NarrowRows) {
  for (std::int64_t k = 1; k <= 9; ++k) {
    for (std::int64_t n = 1; n <= 9; ++n) {
      for (const std::int64_t padding : {0, 2}) {
        const GemmShape shape{.m = 1003, .n = n, .k = k, .layout = Layout::row};
        expect_exact_for_all_tiles<TypeParam>(shape, padding);
        expect_exact_for_all_tiles<TypeParam>(shape, padding, 2, -1);
      }
    }
  }
}

TYPED_TEST(DenseTiles, EdgesOfPanels) {
  for (const std::int64_t m : {255, 257, 520}) {
    if (testing::kSanitized && m != 520) continue;
    for (const auto& [n, k] :
         {std::pair{3, 7}, {8, 9}, {9, 130}, {40, 127}, {130, 257}, {5, 1100}}) {
      for (const Op op : {Op::none, Op::trans}) {
        for (const Layout layout : {Layout::col, Layout::row}) {
          expect_exact_for_all_tiles<TypeParam>(
              {.m = m, .n = n, .k = k, .op_a = op, .layout = layout}, n % 2, 2, -1);
          expect_exact_for_all_tiles<TypeParam>(
              {.m = m, .n = n, .k = k, .op_b = op, .layout = layout}, 0);
        }
      }
    }
  }
}

// A by columns is read in place by several blocks of long columns, for a C of up to 64 columns.
TYPED_TEST(DenseTiles, LongColumnsInPlace) {
  for (const auto& [n, k] : {std::pair{2, 140}, {9, 140}, {33, 150}, {64, 75}, {65, 75}}) {
    const GemmShape shape{.m = 1537, .n = n, .k = k};
    expect_exact_for_all_tiles<TypeParam>(shape, 0);
    expect_exact_for_all_tiles<TypeParam>(shape, 1, 2, -1);
  }
}

TYPED_TEST(DenseTiles, ChunksAndFoldedRows) {
  for (const std::int64_t k : {4095, 4096, 4099, 20'001}) {
    for (const auto& [m, n] :
         {std::pair{1, 1}, {2, 2}, {3, 2}, {4, 1}, {5, 5}, {12, 7}, {16, 16}}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        expect_exact_for_all_tiles<TypeParam>(
            {.m = m, .n = n, .k = k, .op_a = Op::trans, .layout = layout}, 0);
      }
    }
  }
}

// Few chunks, or one, with rows that fill no whole vectors.
TYPED_TEST(DenseTiles, WideRowMajorGrams) {
  for (const auto& [m, n] : {std::pair{100, 60}, {201, 70}})
    expect_exact_for_all_tiles<TypeParam>(
        {.m = m, .n = n, .k = 4097, .op_a = Op::trans, .layout = Layout::row}, 0);
}

// A is contiguous along k and C along m: A is transposed as it is packed, whole strips or not.
TYPED_TEST(DenseTiles, TransposedUpdates) {
  for (const auto& [m, n, k] : {std::array{23, 701, 3}, {50, 243, 49}, {16, 130, 16}})
    expect_exact_for_all_tiles<TypeParam>(
        {.m = m, .n = n, .k = k, .op_b = Op::trans, .layout = Layout::row}, 0);
}

// Too few rows and too short a k for blocks and chunks of the usual size.
TYPED_TEST(DenseTiles, ProductsOfFewBlocks) {
  for (const Op op : {Op::none, Op::trans}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      expect_exact_for_all_tiles<TypeParam>(
          {.m = 101, .n = 83, .k = 600, .op_a = op, .layout = layout}, 1);
    }
  }
}

// Whatever alpha and beta are, tiles store C: whole vectors or not, its columns neighbours or not.
TYPED_TEST(DenseTiles, SmallProductsOfEveryScaling) {
  for (const std::int64_t m : {9, 24, 101}) {
    for (const std::int64_t n : {1, 2, 3, 5, 8, 11, 17, 33}) {
      if (testing::kSanitized && m * n % 2 == 0) continue;
      for (const Layout layout : {Layout::col, Layout::row}) {
        for (const Op op : {Op::none, Op::trans}) {
          const GemmShape shape{.m = m, .n = n, .k = 37, .op_a = op, .layout = layout};
          expect_exact_for_all_tiles<TypeParam>(shape, 0, 2, -1);
          expect_exact_for_all_tiles<TypeParam>(shape, 1, 3, 0);
          GemmShape shorter = shape;
          shorter.k = 3;
          shorter.op_b = Op::trans;
          expect_exact_for_all_tiles<TypeParam>(shorter, n % 2, 1, 1);
        }
      }
    }
  }
}

// Sums of floats join totals every 256 k, and lie in parts of vectors.
TYPED_TEST(DenseTiles, SmallGramsOfManyChains) {
  for (const auto& [m, n] : {std::pair{2, 2}, {7, 7}, {20, 20}, {50, 4}, {17, 33}}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (const Op op : {Op::none, Op::trans})
        expect_exact_for_all_tiles<TypeParam>(
            {.m = m, .n = n, .k = 1301, .op_a = op, .layout = layout}, 0, 1, m % 2);
    }
  }
}

// A large C is written past the caches, whole lines or not.
TYPED_TEST(DenseTiles, LargeResults) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const std::int64_t padding : {0, 1})
      expect_exact_for_all_tiles<TypeParam>({.m = 400'003, .n = 9, .k = 3, .layout = layout},
                                            padding);
  }
}

Blocking blocking_of(const GemmShape& shape, int width = 8) {
  GemmShape tight = shape;
  tight.lda = tight_ld(stored_extents(shape.m, shape.k, shape.op_a), shape.layout);
  tight.ldb = tight_ld(stored_extents(shape.k, shape.n, shape.op_b), shape.layout);
  tight.ldc = tight_ld({shape.m, shape.n}, shape.layout);
  return choose_blocking(canonical(tight), {}, width);
}

TEST(DenseBlocking, VectorsGoAlongWhatIsContiguous) {
  EXPECT_EQ(blocking_of({.m = 4096, .n = 8, .k = 4096}).form, Form::outer);
  EXPECT_EQ(blocking_of({.m = 4096, .n = 8, .k = 4096, .op_a = Op::trans}).form, Form::inner);
  EXPECT_EQ(blocking_of({.m = 4096, .n = 8, .k = 4096, .layout = Layout::row}).form, Form::swapped);
  EXPECT_EQ(blocking_of({.m = 100'000, .n = 4, .k = 4, .layout = Layout::row}).form, Form::outer);
  EXPECT_EQ(blocking_of({.m = 100'000, .n = 8, .k = 4, .layout = Layout::row}).form, Form::swapped);
  EXPECT_EQ(blocking_of({.m = 8, .n = 8, .k = 100'000, .op_a = Op::trans}).form, Form::inner);
}

TEST(DenseBlocking, NarrowRowMajorGramsFoldIntoVectors) {
  const auto fold = [](std::int64_t n, int width) {
    return blocking_of({.m = n, .n = n, .k = 100'000, .op_a = Op::trans, .layout = Layout::row},
                       width)
        .fold;
  };
  EXPECT_EQ(fold(2, 8), 4);
  EXPECT_EQ(fold(2, 16), 8);
  EXPECT_EQ(fold(3, 8), 2);
  EXPECT_EQ(fold(8, 8), 1);
  EXPECT_EQ(fold(7, 16), 2);
  EXPECT_EQ(fold(12, 8), 1);
}

TEST(DenseBlocking, ThereAreTasksWhereMultiplyAddsAreWorthThem) {
  const auto tasks = [](const GemmShape& shape) {
    const Blocking blocking = blocking_of(shape);
    return ceil_div(shape.m, std::int64_t{blocking.rows} * blocking.blocks) * blocking.split.count;
  };
  EXPECT_EQ(tasks({.m = 30, .n = 30, .k = 30}), 1);
  EXPECT_GE(tasks({.m = 100, .n = 100, .k = 160, .op_a = Op::trans}), 4);
  EXPECT_GE(tasks({.m = 82, .n = 82, .k = 1158, .op_b = Op::trans}), 4);
  EXPECT_GE(tasks({.m = 2000, .n = 2, .k = 200}), 2);
}

TEST(DenseBlocking, SmallProductsAreOneTaskOfOneThread) {
  for (const GemmShape& shape : {GemmShape{.m = 2, .n = 2, .k = 1241},
                                 {.m = 20, .n = 20, .k = 1415, .op_a = Op::trans},
                                 {.m = 10'652, .n = 2, .k = 2}}) {
    const Blocking blocking = blocking_of(shape);
    EXPECT_TRUE(blocking.small);
    EXPECT_TRUE(blocking.a_in_place && blocking.b_in_place);
    EXPECT_EQ(blocking.worth, 1);
    EXPECT_EQ(blocking.split.count, 1);
  }
  EXPECT_GT(blocking_of({.m = 1'000'000, .n = 2, .k = 2}).worth, 8);
}

TEST(DenseBlocking, ThreadsShareWhatIsWorthARegion) {
  Blocking blocking;
  blocking.worth = 4;  // 60 us
  EXPECT_EQ(threads_worth(blocking, 8, 100, 0), 4) << "tasks that are worth it";
  EXPECT_EQ(threads_worth(blocking, 8, 3, 0), 3) << "tasks";
  EXPECT_EQ(threads_worth(blocking, 2, 100, 29), 2) << "half of the time is saved";
  EXPECT_EQ(threads_worth(blocking, 2, 100, 31), 1) << "a region takes longer";
  EXPECT_EQ(threads_worth(blocking, 1, 100, 0), 1);
  blocking.worth = 1;
  EXPECT_EQ(threads_worth(blocking, 8, 100, 0), 1);
  EXPECT_EQ(team_us(), team_us()) << "measured once";
#pragma omp parallel num_threads(2)
  EXPECT_EQ(team_us(), 0) << "within a caller's region";
}

TEST(DenseBlocking, PartialSumsAreFewAndFloatsArePromoted) {
  const Blocking gram = blocking_of({.m = 128, .n = 128, .k = 100'000, .op_a = Op::trans});
  EXPECT_GE(gram.split.length, 2048);
  EXPECT_EQ(gram.promote, 0);
  const Problem problem = canonical({.m = 16,
                                     .n = 16,
                                     .k = 1'000'000,
                                     .op_a = Op::trans,
                                     .lda = 1'000'000,
                                     .ldb = 1'000'000,
                                     .ldc = 16});
  const Blocking of_floats = choose_blocking(problem, {.real_bytes = 4}, 16);
  EXPECT_GT(of_floats.promote, 0);
  EXPECT_LE(of_floats.promote, 4096);
  EXPECT_EQ(of_floats.promote % of_floats.depth, 0);
}

}  // namespace
}  // namespace lanky::dense::cpu
