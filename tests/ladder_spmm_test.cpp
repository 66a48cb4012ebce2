// The SpMM ladder: its formats against their contracts on the host, and its rungs on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <lanky/io.hpp>
#include <lanky/stream.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "bench/ladder/spmm.hpp"
#include "bench/ladder/spmm_formats.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_oracle.hpp"

namespace lanky::ladder {
namespace {

using testing::Random;
using Json = nlohmann::ordered_json;

/// Rows of all lengths, with entries that repeat; matrices of few and of many columns; none.
std::vector<CsrMatrix<double>> matrices() {
  std::vector<std::int64_t> lengths = testing::boundary_lengths();
  for (const std::int64_t length : {255, 256, 257, 511, 512, 513, 3000})
    lengths.push_back(length);
  std::vector<CsrMatrix<double>> all(1);
  for (const std::int64_t cols : {1, 97, 5000}) {
    Random random(static_cast<std::uint64_t>(cols));
    all.push_back(testing::matrix_of<double>(lengths, cols, random, testing::uniform<double>));
  }
  for (const char* spec : {"stencil27:9", "fem:4", "rmat:8", "empty:300", "huge:60:3:400"})
    all.push_back(io::generate<double>(spec));
  return all;
}

TEST(SpmmFormats, BlocksOfRowsAreTheRowsInOrder) {
  for (const auto& a : matrices()) {
    const RowSplit split = split_rows(a.view());
    std::vector<std::vector<RowBlock>> of_row(static_cast<std::size_t>(a.rows));
    for (std::size_t b = 0; b < split.blocks.size(); ++b) {
      const RowBlock& block = split.blocks[b];
      EXPECT_EQ(block.length == kSplitEntries, static_cast<std::int64_t>(b) < split.whole);
      of_row[static_cast<std::size_t>(block.row)].push_back(block);
    }
    std::vector<std::int32_t> several;  // rows, as `rows` lists them
    std::int32_t partials = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const auto& blocks = of_row[static_cast<std::size_t>(row)];
      ASSERT_FALSE(blocks.empty());
      std::int64_t entry = a.row_offsets[row];
      for (const RowBlock& block : blocks) {
        EXPECT_EQ(block.first, entry);
        EXPECT_EQ(block.partial, blocks.size() == 1 ? -1 : partials++);
        entry += block.length;
      }
      EXPECT_EQ(entry, a.row_offsets[row + 1]);
      if (blocks.size() == 1) continue;
      const auto number = several.size();
      several.push_back(static_cast<std::int32_t>(row));
      ASSERT_LT(number, split.rows.size());
      EXPECT_EQ(split.rows[number].row, row);
      EXPECT_EQ(split.rows[number].first, blocks.front().partial);
      EXPECT_EQ(split.rows[number].count, static_cast<std::int32_t>(blocks.size()));
    }
    EXPECT_EQ(several.size(), split.rows.size());
    EXPECT_EQ(split.partials, partials);
  }
}

TEST(SpmmFormats, StagedRowsAreThoseThatTheBlockNames) {
  std::int64_t staged_blocks = 0;
  for (const auto& a : matrices()) {
    const StagedRows staged = stage_rows(a.view());
    ASSERT_EQ(static_cast<std::int64_t>(staged.starts.size()) - 1,
              (a.rows + kStagedRows - 1) / kStagedRows);
    std::int32_t most = 0;
    for (std::size_t block = 0; block + 1 < staged.starts.size(); ++block) {
      const std::int64_t row = static_cast<std::int64_t>(block) * kStagedRows;
      const std::int64_t first = a.row_offsets[row];
      const std::int64_t end = a.row_offsets[std::min(a.rows, row + kStagedRows)];
      const std::set<std::int32_t> named(a.col_indices.begin() + first,
                                         a.col_indices.begin() + end);
      const std::int32_t start = staged.starts[block];
      const std::int32_t count = staged.starts[block + 1] - start;
      const auto distinct = static_cast<std::int64_t>(named.size());
      const bool worth = distinct > 0 && distinct <= kStagedMost && end - first >= 2 * distinct;
      ASSERT_EQ(count, worth ? distinct : 0);
      most = std::max(most, count);
      if (count == 0) continue;
      ++staged_blocks;
      for (std::int64_t e = first; e < end; ++e) {
        ASSERT_LT(staged.places[e], count);
        ASSERT_EQ(staged.rows[start + staged.places[e]], a.col_indices[e]);
      }
    }
    EXPECT_EQ(staged.most, most);
  }
  EXPECT_GT(staged_blocks, 0);
}

TEST(SpmmFormats, ColumnVectorsHoldEveryEntryOnce) {
  for (const auto& a : matrices()) {
    for (const int width : {4, 16}) {
      const ColumnVectors vectors = to_column_vectors(a.view(), width);
      ASSERT_EQ(static_cast<std::int64_t>(vectors.columns.size()), vectors.steps() * width);
      ASSERT_EQ(static_cast<std::int64_t>(vectors.sources.size()),
                vectors.steps() * width * kVectorRows);
      std::vector<int> seen(a.values.size());
      for (std::size_t block = 0; block + 1 < vectors.starts.size(); ++block) {
        for (int step = vectors.starts[block]; step < vectors.starts[block + 1]; ++step) {
          for (int place = 0; place < width * kVectorRows; ++place) {
            // As a lane of the kernel has it: row lane / 4, vectors of lane % 4.
            const int own = width / 4;
            const int lane = place / own;
            const std::int64_t vector = std::int64_t{step} * width + lane % 4 * own + place % own;
            const std::int64_t row = static_cast<std::int64_t>(block) * kVectorRows + lane / 4;
            const std::int32_t source =
                vectors.sources[std::int64_t{step} * width * kVectorRows + place];
            if (source < 0) continue;
            ++seen[source];
            ASSERT_EQ(vectors.columns[vector], a.col_indices[source]);
            ASSERT_GE(source, a.row_offsets[row]);
            ASSERT_LT(source, a.row_offsets[row + 1]);
          }
        }
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), a.nnz());
      EXPECT_EQ(static_cast<std::int64_t>(vectors.starts.size()) - 1,
                (a.rows + kVectorRows - 1) / kVectorRows);
    }
  }
}

TEST(SpmmFormats, ColumnsOfABlockAreCondensed) {
  // Rows 0 to 7 name columns 2, 7 and 9: three vectors, and a fourth that is none.
  CsrMatrix<double> a{.rows = 8,
                      .cols = 10,
                      .row_offsets = {0, 2, 2, 3, 3, 3, 3, 3, 4},
                      .col_indices = {2, 9, 7, 2},
                      .values = {1, 2, 3, 4}};
  const ColumnVectors vectors = to_column_vectors(a.view(), 4);
  EXPECT_EQ(vectors.columns, (std::vector<std::int32_t>{2, 7, 9, -1}));
  EXPECT_EQ(vectors.sources[0], 0);          // row 0, column 2: lane 0
  EXPECT_EQ(vectors.sources[2], 1);          // row 0, column 9
  EXPECT_EQ(vectors.sources[2 * 4 + 1], 2);  // row 2, column 7
  EXPECT_EQ(vectors.sources[7 * 4 + 0], 3);  // row 7, column 2
}

TEST(SpmmFormats, RefuseWhatTheyCannotHold) {
  const CsrView<double> huge{.rows = std::int64_t{1} << 31, .cols = 1};
  expect_error([&] { split_rows(huge); }, ErrorCode::unsupported, {"2147483648 rows"});
  expect_error([&] { stage_rows(huge); }, ErrorCode::unsupported, {"2147483648 rows"});
  expect_error([&] { to_column_vectors(huge, 4); }, ErrorCode::unsupported, {"2147483648 rows"});
}

TEST(SpmmRungs, NeedAGpu) {
  const Stream stream(Device::cpu());
  const auto pattern = io::generate<double>("diagonal:5");
  const bench::SpmvMatrix matrix(stream, "diagonal", "", pattern);
  constexpr std::size_t kRungs = 6;
  for (std::size_t rung = 0; rung < kRungs; ++rung) {
    expect_error(
        [&] {
          spmm_rungs().at(rung).build(
              stream, {matrix, DType::f64, nullptr, {8, Layout::row}, nullptr, nullptr});
        },
        ErrorCode::no_device, {});
  }
}

// On a GPU.

bench::MeasureOptions single_launches() {
  return {.min_rounds = 1, .max_rounds = 1, .max_seconds = 0, .batch_ms = 0};
}

/// All rungs, on integers and on random data, by the checks of every benchmark.
TEST(SpmmRungs, AreRightOnAGpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  bench::Session session(device, single_launches());
  // Rows of X that are whole words, or not, of one strip and of several.
  constexpr std::int64_t kColumns[] = {2, 7, 16, 20, 32, 33, 130};
  for (const char* spec : {"stencil27:9", "fem:8", "rmat:11", "huge:3000:3:2000", "short:5000",
                           "empty:4000", "dense:70:300", "diagonal:1"}) {
    const auto pattern = io::generate<double>(spec);
    bench::SpmvMatrix matrix(session.stream, spec, "", pattern);
    for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
      for (const std::int64_t columns : kColumns) {
        const auto lines = climb_spmm(session, matrix, dtype, columns, {.vendors = false});
        ASSERT_EQ(lines.size(), 7U);
        for (const Json& line : lines) {
          SCOPED_TRACE(::testing::Message()
                       << spec << " " << to_string(dtype) << " " << columns << " " << line["rung"]
                       << " " << line.value("message", ""));
          const bool left_out = dtype == DType::f32 && line["rung"] == "tensor";
          EXPECT_EQ(line["status"], left_out ? "unsupported" : "ok");
          EXPECT_EQ(line["columns"], columns);
        }
      }
    }
  }
}

/// Every rung on small integers, whose sums are exact, and nothing else: for compute-sanitizer.
template <class T>
void expect_exact(const Stream& stream, const CsrMatrix<double>& pattern, std::int64_t columns) {
  const bench::SpmvMatrix matrix(stream, "a", "", pattern);
  const auto small = [](std::size_t number) {
    return static_cast<T>(static_cast<float>(static_cast<int>(number * 7 % 5) - 2));
  };
  std::vector<T> values(pattern.values.size());
  std::vector<T> x(static_cast<std::size_t>(pattern.cols * columns));
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = small(e);
  for (std::size_t e = 0; e < x.size(); ++e)
    x[e] = small(3 * e + e / 5);
  std::vector<float> expected;
  for (std::int64_t row = 0; row < pattern.rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      float sum = 0;
      for (std::int64_t e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e)
        sum += static_cast<float>(values[e]) *
               static_cast<float>(x[pattern.col_indices[e] * columns + column]);
      expected.push_back(static_cast<float>(static_cast<T>(sum)));  // rounded once
    }
  }
  const auto values_there = Buffer<T>::from(stream, values);
  const auto x_there = Buffer<T>::from(stream, x);
  for (const SparseRung& rung : spmm_rungs()) {
    if (kDType<T> == DType::f32 && rung.rung.name == "tensor") continue;
    auto y = Buffer<T>::from(stream, std::vector<T>(expected.size(), T(7.0F)));
    rung.build(stream, {matrix,
                        kDType<T>,
                        values_there.data(),
                        {columns, Layout::row},
                        x_there.data(),
                        y.data()})
        .run(stream);
    const std::vector<T> computed = y.to_host();
    EXPECT_EQ(std::vector<float>(computed.begin(), computed.end()), expected)
        << rung.rung.name << " " << to_string(kDType<T>) << " " << columns;
  }
}

TEST(SpmmRungs, ExactOnAGpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  for (const char* spec :
       {"stencil27:4", "huge:60:3:600", "mixed:60:40", "empty:40", "uniform:0"}) {
    SCOPED_TRACE(spec);
    const auto pattern = io::generate<double>(spec);
    for (const std::int64_t columns : {7, 16, 72}) {
      expect_exact<double>(stream, pattern, columns);
      expect_exact<float>(stream, pattern, columns);
      expect_exact<half>(stream, pattern, columns);
    }
  }
}

TEST(SpmmRungs, RefuseOtherTypesOnAGpu) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  bench::Session session(device, single_launches());
  const auto pattern = io::generate<double>("diagonal:5");
  bench::SpmvMatrix matrix(session.stream, "diagonal", "", pattern);
  const auto lines =
      climb_spmm(session, matrix, DType::bf16, 8, {.rungs = {"words"}, .vendors = false});
  EXPECT_EQ(lines.front()["status"], "unsupported");
  EXPECT_NE(lines.front()["message"].get<std::string>().find("bf16"), std::string::npos);
  expect_error([&] { climb_spmm(session, matrix, DType::f64, 8, {.rungs = {"leap"}}); },
               ErrorCode::invalid_argument, {"spmm", "leap", "row-split"});
}

}  // namespace
}  // namespace lanky::ladder
