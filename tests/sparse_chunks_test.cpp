// The CPU's chunks: every candidate shape and instruction set against an exact reference, the
// codes of columns, cut rows, new values, and bits that no number of threads changes.
#include <gtest/gtest.h>
#include <omp.h>

#include <cstring>
#include <limits>

#include "sparse/cpu/chunk_cost.hpp"
#include "sparse/cpu/chunk_product.hpp"
#include "sparse/cpu/pack_chunks.hpp"
#include "support/sparse_oracle.hpp"

namespace lanky::testing {
namespace {

using sparse::cpu::ChunkHeader;
using sparse::cpu::ChunkKernels;
using sparse::cpu::ChunkMatrix;
using sparse::cpu::ChunkShape;
using sparse::cpu::Codes;
using sparse::cpu::kAlone;
using sparse::cpu::kCutEntries;
using sparse::cpu::kPieceEntries;

/// Those that this processor runs.
std::vector<const ChunkKernels*> runnable_kernels() {
  std::vector<const ChunkKernels*> kernels = {&sparse::cpu::baseline::chunk_kernels};
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) kernels.push_back(&sparse::cpu::avx2::chunk_kernels);
  if (avx2 && __builtin_cpu_supports("avx512f"))
    kernels.push_back(&sparse::cpu::avx512::chunk_kernels);
#endif
  return kernels;
}

/// All that plans choose from, and others that put rows side by side always, or seldom.
std::vector<ChunkShape> shapes_for(std::int64_t rows) {
  std::vector<ChunkShape> shapes = sparse::cpu::chunk_candidates(rows);
  shapes.push_back({.scope = 64, .row_cost = 0});
  shapes.push_back({.scope = 16, .row_cost = 1000});
  shapes.push_back({.scope = sparse::cpu::kScopeMost, .row_cost = 2});
  return shapes;
}

/// A matrix in chunks on the host.
template <class T>
struct ChunksOnHost {
  ChunksOnHost(const CsrView<T>& view, const ChunkShape& shape)
      : checked(sparse::load(stream(), view, sparse::cpu::kExamination)),
        chunks(sparse::cpu::pack_chunks(stream(), checked.csr, shape, nullptr)) {}

  static Stream stream() { return Stream(Device::cpu()); }

  template <class TOut>
  std::vector<TOut> multiply(const Operands<T, TOut>& operands, const ChunkKernels& kernels) const {
    std::vector<TOut> y = operands.y;
    std::vector<Accumulator<T>> partials(chunks.header.partials);
    sparse::cpu::run_chunks<T, TOut>(
        chunks,
        {{operands.x.data(), y.data(), operands.alpha, operands.beta}, partials.data(), nullptr},
        kernels);
    return y;
  }

  /// Y of several columns, X and Y by rows or both by columns.
  template <class TOut>
  std::vector<TOut> multiply(const std::vector<T>& x, std::int64_t columns, bool by_rows,
                             const ChunkKernels& kernels) const {
    using Sum = Accumulator<T>;
    const ChunkHeader& header = chunks.header;
    std::vector<TOut> y(header.rows * columns);
    std::vector<Sum> partials(header.partials * sparse::cpu::kColumnsAtOnce);
    const auto strides = [&](std::int64_t rows) {
      return by_rows ? sparse::Strides{columns, 1} : sparse::Strides{1, rows};
    };
    const sparse::ColumnsOperands<T, TOut> operands = {
        x.data(), strides(header.cols), y.data(), strides(header.rows), columns, Sum{1}, Sum{0}};
    sparse::cpu::run_chunks<T, TOut>(chunks, operands, partials.data(), true, kernels);
    if (by_rows) return y;
    const std::vector<TOut> found = y;
    constexpr std::int64_t kSome = 5;
    std::vector<T> x_by_rows(header.cols * kSome);
    sparse::cpu::run_chunks<T, TOut>(chunks, operands, partials.data(), true, kernels,
                                     x_by_rows.data(), kSome);
    EXPECT_EQ(std::memcmp(y.data(), found.data(), y.size() * sizeof(TOut)), 0)
        << "X set by rows gives other bits";
    return y;
  }

  sparse::LoadedCsr<T> checked;
  ChunkMatrix<T> chunks;
};

template <class T, class TOut, class Judge>
void for_each_form(const CsrMatrix<T>& a, const Operands<T, TOut>& operands, Judge judge) {
  for (const ChunkShape& shape : shapes_for(a.rows)) {
    const ChunksOnHost<T> host(a.view(), shape);
    for (const ChunkKernels* const kernels : runnable_kernels()) {
      SCOPED_TRACE(::testing::Message()
                   << name_of(shape) << ", row cost " << shape.row_cost << ", " << kernels->isa);
      judge(host.multiply(operands, *kernels));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

/// Row lengths of all classes.
std::vector<std::vector<std::int64_t>> lengths_of_chunks() {
  std::vector<std::int64_t> cut = boundary_lengths();
  cut.insert(cut.begin() + 5, {kCutEntries, kCutEntries + 1, 2 * kPieceEntries + 1});
  cut.insert(cut.end(), {0, 3 * kPieceEntries, 17});
  std::vector<std::int64_t> mostly_empty(3000, 0);
  for (std::size_t row = 0; row < mostly_empty.size(); row += 7)
    mostly_empty[row] = static_cast<std::int64_t>(row % 11);
  return {boundary_lengths(),
          cut,
          mostly_empty,
          {kCutEntries + 1},
          {1},
          {0},
          std::vector<std::int64_t>(1000, 3),
          std::vector<std::int64_t>(77, 27),
          std::vector<std::int64_t>(9, 0),
          {}};
}

template <class Case>
class SparseChunks : public ::testing::Test {};
#ifdef __SANITIZE_ADDRESS__
using ChunkCases = ::testing::Types<ElementTypes<double, double>, ElementTypes<half, float>,
                                    ElementTypes<std::complex<float>, std::complex<float>>>;
#else
using ChunkCases = ::testing::Types<ElementTypes<double, double>, ElementTypes<float, float>,
                                    ElementTypes<half, half>, ElementTypes<half, float>,
                                    ElementTypes<bfloat16, bfloat16>, ElementTypes<bfloat16, float>,
                                    ElementTypes<std::complex<float>, std::complex<float>>,
                                    ElementTypes<std::complex<double>, std::complex<double>>>;
#endif
TYPED_TEST_SUITE(SparseChunks, ChunkCases);

TYPED_TEST(SparseChunks, AreExactOnSmallIntegersInEveryShape) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(1));
  for (const auto& lengths : lengths_of_chunks()) {
    for (const std::int64_t cols : {std::int64_t{1}, std::int64_t{300}, std::int64_t{100'000}}) {
      SCOPED_TRACE(::testing::Message() << lengths.size() << " rows, " << cols << " columns");
      // Of -1, 0 and 1, with few of x other than 0: sums of long rows fit any type.
      const auto sign = [&](Random& draw) {
        return draw_parts<T>([&] { return static_cast<double>(draw() % 3) - 1.0; });
      };
      const auto seldom = [&](Random& draw) {
        return draw() % 64 == 0 ? sign(draw) : element<T>(0.0);
      };
      auto a = matrix_of<T>(lengths, cols, random, sign);
      draw_columns(a, random);
      const Operands<T, TOut> operands{
          element<Accumulator<T>>(-1.0), element<Accumulator<T>>(cols == 300 ? 0.0 : 2.0),
          vector_of<T>(cols, random, seldom), vector_of<TOut>(a.rows, random, small_integer<TOut>)};
      for_each_form(a, operands, [&](const std::vector<TOut>& y) { expect_exact(a, operands, y); });
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(SparseChunks, KeepTheBoundOnRandomData) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(2));
  for (int round = 0; round < 20; ++round) {
    const auto lengths = round == 0 ? boundary_lengths() : random_lengths(random);
    auto a = matrix_of<T>(lengths, random_int(random, 1, 3000), random, uniform<T>);
    draw_columns(a, random);
    const Operands<T, TOut> operands{element<Accumulator<T>>(0.75), element<Accumulator<T>>(-1.5),
                                     vector_of<T>(a.cols, random, uniform<T>),
                                     vector_of<TOut>(a.rows, random, uniform<TOut>)};
    for_each_form(a, operands,
                  [&](const std::vector<TOut>& y) { expect_within_bound(a, operands, y); });
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Padding stands beside entries, and its codes point to columns that others have: what is there
// must reach no row but theirs.
TYPED_TEST(SparseChunks, MultiplyNoPadding) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(3));
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::int64_t> lengths(203, 2);
  for (std::size_t row = 0; row < lengths.size(); row += 8)
    lengths[row] = static_cast<std::int64_t>(row % 5) + 4;
  auto a = matrix_of<T>(lengths, 64, random, small_integer<T>);
  auto x = vector_of<T>(64, random, small_integer<T>);
  for (std::size_t i = 0; i < x.size(); i += 3)
    x[i] = element<T>(i % 2 == 0 ? inf : nan);
  for (const double beta : {0.0, 1.0}) {
    auto y = vector_of<TOut>(a.rows, random, small_integer<TOut>);
    y[7] = element<TOut>(nan);
    const Operands<T, TOut> operands{element<Accumulator<T>>(1.0), element<Accumulator<T>>(beta), x,
                                     y};
    for_each_form(a, operands, [&](const std::vector<TOut>& found) {
      ASSERT_EQ(found.size(), y.size());
      for (std::int64_t row = 0; row < a.rows; ++row) {
        const auto expected = parts(element<TOut>(reference_row(a, operands, row).value));
        const auto actual = parts(found[row]);
        if constexpr (kIsComplex<T>) {
          // Complex infinities meet zeros: parts that the reference has finite must be equal.
          const bool finite = std::isfinite(expected.real()) && std::isfinite(expected.imag());
          ASSERT_EQ(finite, std::isfinite(actual.real()) && std::isfinite(actual.imag()));
          if (finite) {
            ASSERT_EQ(expected, actual) << "in row " << row;
          }
        } else {
          ASSERT_TRUE(same_number(actual.real(), expected.real()))
              << actual << " instead of " << expected << " in row " << row;
        }
      }
    });
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(SparseChunks, TakeNewValues) {
  using T = typename TypeParam::Element;
  Random random(seed_or(4));
  for (const auto& lengths : lengths_of_chunks()) {
    const auto a = matrix_of<T>(lengths, 5000, random, uniform<T>);
    for (const ChunkShape& shape : shapes_for(a.rows)) {
      SCOPED_TRACE(name_of(shape));
      ChunksOnHost<T> made(a.view(), shape);
      auto b = a;
      b.values = vector_of<T>(a.nnz(), random, uniform<T>);
      const ChunksOnHost<T> expected(b.view(), shape);
      sparse::cpu::update_chunks(made.chunks, b.values.data());
      const auto slots = static_cast<std::size_t>(made.chunks.values.size());
      ASSERT_EQ(
          std::memcmp(made.chunks.values.data(), expected.chunks.values.data(), slots * sizeof(T)),
          0);
    }
  }
}

TEST(SparseChunkForm, IsTheSameForAnyNumberOfThreads) {
  Random random(seed_or(5));
  std::vector<std::int64_t> lengths = boundary_lengths();
  for (int row = 0; row < 20'000; ++row)
    lengths.push_back(random_int(random, 0, 30));
  lengths.insert(lengths.end(), {5 * kPieceEntries, kCutEntries + 3, 4});
  const auto a = matrix_of<float>(lengths, 70'000, random, uniform<float>);
  ASSERT_GE(a.nnz(), sparse::kThreadsLeast);
  const Operands<float, float> operands{1, 0.5, vector_of<float>(a.cols, random, uniform<float>),
                                        vector_of<float>(a.rows, random, uniform<float>)};
  const int threads = omp_get_max_threads();
  for (const ChunkShape& shape : shapes_for(a.rows)) {
    SCOPED_TRACE(name_of(shape));
    std::vector<std::vector<float>> results;
    std::vector<std::vector<std::byte>> codes;
    std::vector<ChunkHeader> headers;
    for (const int count : {1, 2, 5}) {
      omp_set_num_threads(count);
      ChunksOnHost<float> host(a.view(), shape);
      host.chunks.header.threads = true;
      results.push_back(host.multiply(operands, sparse::cpu::chunk_kernels()));
      codes.push_back(host.chunks.codes.to_host());
      headers.push_back(host.chunks.header);
    }
    omp_set_num_threads(threads);
    for (const std::size_t other : {1, 2}) {
      EXPECT_EQ(std::memcmp(results[0].data(), results[other].data(), a.rows * sizeof(float)), 0);
      EXPECT_EQ(codes[0], codes[other]);
      EXPECT_EQ(headers[0], headers[other]);
    }
  }
}

TYPED_TEST(SparseChunks, GiveColumnsTheBitsOfOneByEveryKernelAndShape) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(11));
  constexpr std::int64_t kColumnsMost = 34;
  std::vector<CsrMatrix<T>> matrices;
  for (const std::int64_t cols : {90, 5000})
    matrices.push_back(matrix_of<T>(lengths_of_chunks()[1], cols, random, uniform<T>));
  matrices[1].cols = 70'000;  // in rows that codes of 2 bytes reach, and one that they do not
  matrices[1].col_indices[0] = 69'999;
  matrices.push_back(matrix_of<T>(std::vector<std::int64_t>(500, 5), 600, random, uniform<T>));
  for (std::int64_t entry = 0; entry < matrices[2].nnz(); ++entry)  // diagonals
    matrices[2].col_indices[entry] = static_cast<std::int32_t>(entry / 5 + entry % 5 * 20);
  for (const CsrMatrix<T>& a : matrices) {
    const auto x = vector_of<T>(a.cols * kColumnsMost, random, uniform<T>);
    const auto column = [&](std::int64_t j) {
      return std::vector<T>(x.begin() + j * a.cols, x.begin() + (j + 1) * a.cols);
    };
    for (const ChunkShape& shape : shapes_for(a.rows)) {
      const ChunksOnHost<T> host(a.view(), shape);
      for (const ChunkKernels* const kernels : runnable_kernels()) {
        std::vector<std::vector<TOut>> alone;
        for (std::int64_t j = 0; j < kColumnsMost; ++j) {
          const Operands<T, TOut> operands{1, 0, column(j), std::vector<TOut>(a.rows)};
          alone.push_back(host.multiply(operands, *kernels));
        }
        for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{7}, kColumnsMost}) {
          SCOPED_TRACE(::testing::Message()
                       << name_of(shape) << ", " << kernels->isa << ", " << columns << " columns");
          std::vector<T> by_rows(a.cols * columns);
          for (std::int64_t j = 0; j < columns; ++j) {
            for (std::int64_t i = 0; i < a.cols; ++i)
              by_rows[i * columns + j] = x[i + j * a.cols];
          }
          const auto y = host.template multiply<TOut>(x, columns, false, *kernels);
          const auto y_by_rows = host.template multiply<TOut>(by_rows, columns, true, *kernels);
          for (std::int64_t j = 0; j < columns; ++j) {
            for (std::int64_t i = 0; i < a.rows; ++i) {
              const TOut& expected = alone[j][i];
              ASSERT_EQ(std::memcmp(&y[i + j * a.rows], &expected, sizeof(TOut)), 0)
                  << "by columns: row " << i << " of column " << j;
              ASSERT_EQ(std::memcmp(&y_by_rows[i * columns + j], &expected, sizeof(TOut)), 0)
                  << "by rows: row " << i << " of column " << j;
            }
          }
        }
      }
    }
  }
}

// Vectors of any width add the same lanes in the same order: bits differ only by FMA.
TEST(SparseChunkForm, HasBitsThatVectorsOfAnyWidthGive) {
  const auto kernels = runnable_kernels();
  if (kernels.size() < 3) GTEST_SKIP() << "needs AVX-512 beside AVX2";
  Random random(seed_or(6));
  const auto a = matrix_of<double>(boundary_lengths(), 900, random, uniform<double>);
  const Operands<double, double> operands{1, 0, vector_of<double>(900, random, uniform<double>),
                                          std::vector<double>(a.rows)};
  for (const ChunkShape& shape : shapes_for(a.rows)) {
    const ChunksOnHost<double> host(a.view(), shape);
    EXPECT_EQ(host.multiply(operands, *kernels[1]), host.multiply(operands, *kernels[2]));
  }
}

/// Entries by the codes of their columns.
std::array<std::int64_t, sparse::cpu::kCodes> codes_of(const CsrMatrix<float>& a,
                                                       const ChunkShape& shape) {
  return ChunksOnHost<float>(a.view(), shape).chunks.header.code_entries;
}

TEST(SparseChunkForm, StoresColumnsInAsFewBytesAsHoldThem) {
  constexpr std::int64_t kRows = 64;
  Random random(seed_or(7));
  auto a = matrix_of<float>(std::vector<std::int64_t>(kRows, 3), 200'000, random, uniform<float>);
  const auto place = [&](auto column) {
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t k = 0; k < 3; ++k)
        a.col_indices[3 * row + k] = static_cast<std::int32_t>(column(row, k));
    }
  };
  const std::int64_t all = a.nnz();
  using Counts = std::array<std::int64_t, sparse::cpu::kCodes>;
  const ChunkShape beside;
  const ChunkShape alone{.row_cost = kAlone};
  place([](std::int64_t row, std::int64_t k) { return row + 70'000 * k; });
  EXPECT_EQ(codes_of(a, beside), (Counts{all, 0, 0, 0}));
  EXPECT_EQ(codes_of(a, alone), (Counts{0, 0, 0, all}));
  place([](std::int64_t row, std::int64_t k) { return 1000 * row + k; });
  EXPECT_EQ(codes_of(a, beside), (Counts{0, 0, all, 0}));
  EXPECT_EQ(codes_of(a, alone), (Counts{all, 0, 0, 0}));
  place([](std::int64_t row, std::int64_t k) { return 7 * row + 30'000 * k; });
  EXPECT_EQ(codes_of(a, beside), (Counts{0, all, 0, 0}));
  EXPECT_EQ(codes_of(a, alone), (Counts{0, 0, all, 0}));
  place([](std::int64_t row, std::int64_t k) { return 3000 * row + 100 * k; });
  EXPECT_EQ(codes_of(a, alone), (Counts{0, all, 0, 0}));
}

TEST(SparseChunkForm, CutsLongRowsIntoPiecesOfTheSameEntries) {
  Random random(seed_or(8));
  const auto a = matrix_of<float>({3, kCutEntries, kCutEntries + 1, 3 * kPieceEntries}, 500, random,
                                  uniform<float>);
  const ChunkHeader header = ChunksOnHost<float>(a.view(), {}).chunks.header;
  EXPECT_EQ(header.cut_rows, 2);
  EXPECT_EQ(header.partials, 3 + 3);
  EXPECT_EQ(header.cut_entries, kCutEntries + 1 + 3 * kPieceEntries);
}

TEST(SparseChunkCost, CountsWhatPackingMakes) {
  Random random(seed_or(9));
  for (int round = 0; round < 30; ++round) {
    auto a = matrix_of<float>(random_lengths(random), 3000, random, uniform<float>);
    if (a.rows == 0) continue;
    draw_columns(a, random);
    for (const ChunkShape& shape : shapes_for(a.rows)) {
      const ChunksOnHost<float> host(a.view(), shape);
      const auto counts = sparse::cpu::sampled_counts(host.checked.csr.pattern(), shape);
      const ChunkHeader& header = host.chunks.header;
      EXPECT_EQ(counts.chunks, header.chunks);
      EXPECT_EQ(counts.slots, header.slots);
      EXPECT_EQ(counts.code_bytes + sparse::cpu::kCodesBehind, header.code_bytes);
      EXPECT_EQ(counts.code_entries, header.code_entries);
    }
  }
}

TEST(SparseChunkCost, SetsShortRowsSideBySideAndLongOnesOfAnyLengthAlone) {
  Random random(seed_or(10));
  const auto choice = [&](const std::vector<std::int64_t>& lengths) {
    const auto a = matrix_of<double>(lengths, 5000, random, uniform<double>);
    const auto checked = sparse::load(Stream(Device::cpu()), a.view(), sparse::cpu::kExamination);
    return sparse::cpu::choose_chunks(checked.csr.pattern(), DType::f64, machine_of(Device::cpu()));
  };
  EXPECT_NE(choice(std::vector<std::int64_t>(10'000, 3)).shape.row_cost, kAlone);
  EXPECT_EQ(choice({5000}).shape.scope, sparse::cpu::kChunkRows);
  EXPECT_GE(choice({1}).of, 2U);
}

}  // namespace
}  // namespace lanky::testing
