// Generated matrices: the shape that each name promises, and equal bits for equal specs.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <limits>
#include <ostream>
#include <set>
#include <sstream>

#include "support/expect_error.hpp"

namespace lanky {
namespace {

using Matrix = CsrMatrix<double>;

std::int64_t row_length(const Matrix& a, std::int64_t row) {
  const auto i = static_cast<std::size_t>(row);
  return a.row_offsets[i + 1] - a.row_offsets[i];
}

std::int64_t longest_row(const Matrix& a) {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    longest = std::max(longest, row_length(a, i));
  return longest;
}

int rows_of_length(const Matrix& a, std::int64_t least, std::int64_t most) {
  int count = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    count += row_length(a, i) >= least && row_length(a, i) <= most;
  return count;
}

/// Largest distance of an entry from the diagonal, in rows of at most `longest` entries.
std::int64_t widest_reach(const Matrix& a, std::int64_t longest = 1 << 30) {
  std::int64_t widest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    if (row_length(a, i) > longest) continue;
    for (std::int64_t k = 0; k < row_length(a, i); ++k) {
      const auto at = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)] + k);
      widest = std::max(widest, std::abs(a.col_indices[at] - i));
    }
  }
  return widest;
}

/// Entries whose neighbour one row and one column on is an entry too.
std::int64_t entries_that_repeat_along_diagonals(const Matrix& a) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i + 1 < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const auto next = a.col_indices.begin() + a.row_offsets[row + 1];
    const auto end = a.col_indices.begin() + a.row_offsets[row + 2];
    for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
      count += std::binary_search(next, end, a.col_indices[static_cast<std::size_t>(k)] + 1);
  }
  return count;
}

/// Offsets rise to nnz; columns are in range, ascending and distinct; values are in (-1, 1).
void check_consistent(const Matrix& a) {
  ASSERT_EQ(a.row_offsets.size(), static_cast<std::size_t>(a.rows) + 1);
  ASSERT_EQ(a.row_offsets.front(), 0);
  ASSERT_EQ(a.row_offsets.back(), a.nnz());
  ASSERT_EQ(a.col_indices.size(), a.values.size());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    ASSERT_GE(row_length(a, i), 0);
    const auto begin = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
    const auto end = begin + static_cast<std::size_t>(row_length(a, i));
    for (std::size_t k = begin; k < end; ++k) {
      ASSERT_GT(a.col_indices[k], k == begin ? -1 : a.col_indices[k - 1]) << "row " << i;
      ASSERT_LT(a.col_indices[k], a.cols);
      ASSERT_LT(std::fabs(a.values[k]), 1.0);
      ASSERT_NE(a.values[k], 0.0);
    }
  }
}

/// The pattern is that of a symmetric matrix.
void check_symmetric_pattern(const Matrix& a) {
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < row_length(a, i); ++k) {
      const auto at = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)] + k);
      places.emplace(i, a.col_indices[at]);
    }
  }
  for (const auto& [row, col] : places)
    ASSERT_TRUE(places.contains({col, row})) << row << ", " << col;
}

struct Case {
  const char* spec;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;  // -1: random
  std::function<void(const Matrix&)> check;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.spec;
}

void nothing_more(const Matrix& /*a*/) {}

class Generated : public ::testing::TestWithParam<Case> {};

TEST_P(Generated, HasThePromisedShape) {
  const Matrix a = io::generate<double>(GetParam().spec);
  check_consistent(a);
  EXPECT_EQ(a.rows, GetParam().rows);
  EXPECT_EQ(a.cols, GetParam().cols);
  if (GetParam().nnz >= 0) {
    EXPECT_EQ(a.nnz(), GetParam().nnz);
  }
  GetParam().check(a);
}

INSTANTIATE_TEST_SUITE_P(
    Names, Generated,
    ::testing::Values(
        Case{"stencil5:7", 49, 49, 5 * 49 - 4 * 7, check_symmetric_pattern},
        Case{"stencil5:7:3", 21, 21, 5 * 21 - 2 * 3 - 2 * 7, check_symmetric_pattern},
        Case{"stencil7:5", 125, 125, 7 * 125 - 6 * 25, check_symmetric_pattern},
        Case{"stencil27:6", 216, 216, 16 * 16 * 16, check_symmetric_pattern},
        Case{"stencil27:6:1:2", 12, 12, 16 * 1 * 4, check_symmetric_pattern},
        Case{"fem:4", 192, 192, 9 * 10 * 10 * 10,
             [](const Matrix& a) {
               check_symmetric_pattern(a);
               EXPECT_EQ(longest_row(a), 81);
             }},
        Case{"mesh:5000", 5000, 5000, -1,
             [](const Matrix& a) {
               EXPECT_EQ(rows_of_length(a, 1, 30), 5000);
               EXPECT_NEAR(static_cast<double>(a.nnz()) / 5000, 20, 2);
               EXPECT_LE(widest_reach(a), 289 + 32);  // a plane of 17 x 17, and near there
               EXPECT_LT(entries_that_repeat_along_diagonals(a), a.nnz() / 3);
             }},
        Case{"mesh:300:3", 900, 900, -1,
             [](const Matrix& a) {
               for (std::int64_t row = 0; row < a.rows; ++row)
                 ASSERT_EQ(row_length(a, row), row_length(a, row / 3 * 3)) << row;
               EXPECT_EQ(a.nnz() % 9, 0);
               EXPECT_LE(widest_reach(a), 3 * (36 + 32) + 2);
             }},
        Case{"mesh:1:2", 2, 2, 4, nothing_more},
        Case{"band:3000:50:16", 3000, 3000, 48000,
             [](const Matrix& a) {
               EXPECT_LE(widest_reach(a), 50);
               EXPECT_LT(entries_that_repeat_along_diagonals(a), a.nnz() / 3);
             }},
        Case{"band:40:1:9", 40, 40, 3 * 40 - 2, check_symmetric_pattern},
        Case{"banded:100:3", 100, 100, 7 * 100 - 2 * (1 + 2 + 3), check_symmetric_pattern},
        Case{"banded:3:9", 3, 3, 9, nothing_more},
        Case{"uniform:500:16", 500, 500, 8000,
             [](const Matrix& a) { EXPECT_EQ(rows_of_length(a, 16, 16), 500); }},
        Case{"uniform:100:90,cols=100", 100, 100, 9000, nothing_more},
        Case{"uniform:50:99:20", 50, 20, 1000, nothing_more},
        Case{"rmat:12:8", 4096, 4096, -1,
             [](const Matrix& a) {
               EXPECT_GT(a.nnz(), 6 * 4096);
               EXPECT_LT(a.nnz(), 8 * 4096 + 1);
               EXPECT_GT(longest_row(a), 500);                  // a power law has hubs
               EXPECT_GT(rows_of_length(a, 0, 4), a.rows / 3);  // and many poor rows
             }},
        Case{"short:4000", 4000, 4000, -1,
             [](const Matrix& a) {
               for (int length = 1; length <= 4; ++length)
                 EXPECT_NEAR(rows_of_length(a, length, length), 1000, 150) << length;
             }},
        Case{"short:1000:3", 1000, 1000, 3000,
             [](const Matrix& a) { EXPECT_EQ(rows_of_length(a, 3, 3), 1000); }},
        Case{"mixed:6500", 6500, 6500, -1,
             [](const Matrix& a) {
               EXPECT_EQ(longest_row(a), 64);
               EXPECT_GT(rows_of_length(a, 0, 0), 50);
               EXPECT_NEAR(rows_of_length(a, 0, 31), 3200, 250);
             }},
        Case{"huge:1000:5", 1000, 1000, -1,
             [](const Matrix& a) {
               EXPECT_EQ(rows_of_length(a, 500, 500), 5);
               EXPECT_EQ(rows_of_length(a, 1, 4), 995);
             }},
        Case{"huge:3:1:100000:100000", 3, 100000, -1,
             [](const Matrix& a) { EXPECT_EQ(row_length(a, 0), 100000); }},
        Case{"short:1000:2,span=20", 1000, 1000, 2000,
             [](const Matrix& a) { EXPECT_LE(widest_reach(a), 20); }},
        Case{"mixed:1000:30:500:90", 1000, 500, -1,
             [](const Matrix& a) { EXPECT_EQ(longest_row(a), 30); }},
        Case{"empty:5000,span=30", 5000, 5000, -1,
             [](const Matrix& a) { EXPECT_LE(widest_reach(a), 30); }},
        Case{"huge:1000:5,span=10", 1000, 1000, -1,
             [](const Matrix& a) {
               EXPECT_EQ(rows_of_length(a, 500, 500), 5);
               EXPECT_LE(widest_reach(a, 4), 10);
             }},
        Case{"huge:10:0", 10, 10, -1, [](const Matrix& a) { EXPECT_LE(longest_row(a), 4); }},
        Case{"empty:5000", 5000, 5000, -1,
             [](const Matrix& a) { EXPECT_NEAR(rows_of_length(a, 0, 0), 4500, 110); }},
        Case{"empty:300:100", 300, 300, 0, nothing_more},
        Case{"pareto:8000:4:50", 8000, 8000, -1,
             [](const Matrix& a) {
               EXPECT_NEAR(rows_of_length(a, 4, 7), 4000, 150);
               EXPECT_NEAR(rows_of_length(a, 8, 15), 2000, 150);
               EXPECT_GT(longest_row(a), 1000);
               EXPECT_LE(longest_row(a), 4000);
             }},
        Case{"pareto:4000:4:30:1600:50", 4000, 1600, -1,
             [](const Matrix& a) {
               const auto hubs = std::ranges::count_if(a.col_indices, [](auto c) { return c < 100; });
               EXPECT_GT(hubs, a.nnz() / 8);  // of all columns a sixteenth
             }},
        Case{"irregular:20000:8:100", 20000, 20000, -1,
             [](const Matrix& a) {
               EXPECT_NEAR(rows_of_length(a, 0, 8), 10700, 250);  // half, and what is rounded down
               EXPECT_NEAR(rows_of_length(a, 16, 20000), 3400, 250);    // beyond an octave
               EXPECT_NEAR(rows_of_length(a, 32, 20000), 500, 100);     // and beyond two
             }},
        Case{"irregular:5000:10:0:5000,span=50,near=100", 5000, 5000, -1,
             [](const Matrix& a) {
               EXPECT_LE(widest_reach(a), 50);
               EXPECT_EQ(rows_of_length(a, 11, 5000), 0);
               EXPECT_GT(a.nnz(), 9 * 5000);  // columns that are drawn twice count once
             }},
        Case{"irregular:3000:12:60:900,hubs=50", 3000, 900, -1,
             [](const Matrix& a) {
               const auto hubs = std::ranges::count_if(a.col_indices, [](auto c) { return c < 57; });
               EXPECT_GT(hubs, a.nnz() / 8);  // of all columns a sixteenth
             }},
        Case{"irregular:40:8:400:12", 40, 12, -1,
             [](const Matrix& a) { EXPECT_LE(longest_row(a), 6); }},
        Case{"diagonal:9", 9, 9, 9, check_symmetric_pattern},
        Case{"diagonal:0", 0, 0, 0, nothing_more}, Case{"dense:20:30", 20, 30, 600, nothing_more},
        Case{"dense:7", 7, 7, 49, nothing_more}, Case{"uniform:0:5", 0, 0, 0, nothing_more},
        Case{"short:5:2:1", 5, 1, 5, nothing_more}),
    [](const auto& test) {
      std::string name = test.param.spec;
      std::ranges::replace_if(
          name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
      return name;
    });

/// FNV-1a of all arrays: changes with any bit.
template <class T>
std::uint64_t fingerprint(const CsrMatrix<T>& a) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3U;
  };
  add(a.row_offsets.data(), a.row_offsets.size() * sizeof(a.row_offsets[0]));
  add(a.col_indices.data(), a.col_indices.size() * sizeof(a.col_indices[0]));
  add(a.values.data(), a.values.size() * sizeof(a.values[0]));
  return hash;
}

TEST(Generate, GivesTheBitsOfTheFirstVersion) {
  // Recorded with this code on x86-64. A benchmark names a matrix by its spec: these must not move.
  const std::vector<std::pair<const char*, std::uint64_t>> recorded = {
      {"stencil5:9:4", 0x56a47136269b7b2cU},
      {"stencil7:5", 0xf07a29f974d35325U},
      {"stencil27:4", 0x2e92fc92a9f47b92U},
      {"fem:3", 0x196f116a7128c46eU},
      {"banded:50:4", 0xa2039c44b37e0454U},
      {"uniform:200:7", 0x3d88949fa4a2501aU},
      {"rmat:9:6", 0xabc1a69b932683dcU},
      {"short:300", 0x5c72ba2d837f830cU},
      {"mixed:200:30", 0xc967d1a32d87004cU},
      {"huge:300:2", 0x5ba3eeb28c119d11U},
      {"empty:400", 0x5757afa7b7719ff7U},
      {"pareto:300:2:45:90:30", 0x5501501abc7efa98U},
      {"irregular:200:6:150:300,span=20,near=50,hubs=30", 0x8beeabdbed65f1e2U},
      {"diagonal:33", 0x522b0e843dc5bbd6U},
      {"mesh:300:2", 0xf49c5dbcf41b8393U},
      {"band:200:40:5", 0xba1a4cffdc24c419U},
      {"mixed:200:30,span=50", 0x365efbcbcf5b21c8U},
      {"dense:9:5", 0xd4ee6e2f7d7bf1feU},
      {"uniform:40:30,seed=5,values=int", 0x21bb8ad8826ebde0U}};
  for (const auto& [spec, hash] : recorded) {
    EXPECT_EQ(fingerprint(io::generate<double>(spec)), hash) << spec;
  }
}

TEST(Generate, DoesNotDependOnTheThreads) {
  const int threads = omp_get_max_threads();
  for (const char* spec : {"rmat:12", "huge:20000", "mixed:9000,seed=3"}) {
    omp_set_num_threads(1);
    const auto alone = fingerprint(io::generate<float>(spec));
    omp_set_num_threads(5);
    EXPECT_EQ(fingerprint(io::generate<float>(spec)), alone) << spec;
  }
  omp_set_num_threads(threads);
}

TEST(Generate, SeedsDiffer) {
  const auto one = io::generate<double>("uniform:100");
  EXPECT_EQ(fingerprint(io::generate<double>("uniform:100:16,seed=1")), fingerprint(one));
  const auto two = io::generate<double>("uniform:100,seed=2");
  EXPECT_NE(one.col_indices, two.col_indices);
  EXPECT_NE(one.values, two.values);
}

TEST(Generate, ValuesSpreadOverTheInterval) {
  const auto a = io::generate<double>("dense:300");
  double sum = 0;
  double squares = 0;
  for (const double value : a.values) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 90000, 0, 0.01);
  EXPECT_NEAR(squares / 90000, 1.0 / 3, 0.01);
}

TEST(Generate, IntegerValuesAreExactInEveryType) {
  const auto a = io::generate<half>("stencil7:6,values=int,seed=9");
  const auto b = io::generate<double>("stencil7:6,seed=9,values=int");
  ASSERT_EQ(a.col_indices, b.col_indices);
  std::int64_t positive = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    ASSERT_EQ(std::fabs(b.values[k]), 1.0);
    ASSERT_EQ(static_cast<float>(a.values[k]), static_cast<float>(b.values[k]));
    positive += b.values[k] > 0;
  }
  EXPECT_NEAR(static_cast<double>(positive), static_cast<double>(b.nnz()) / 2, 100);
  const auto c = io::generate<std::complex<float>>("diagonal:50,values=int");
  for (const auto& value : c.values)
    ASSERT_EQ(std::norm(value), 2.0F);
}

TEST(Generate, PatternDoesNotDependOnTheType) {
  EXPECT_EQ(io::generate<bfloat16>("rmat:8").col_indices,
            io::generate<std::complex<double>>("rmat:8").col_indices);
}

struct Refused {
  const char* spec;
  const char* fragment;
  ErrorCode code = ErrorCode::invalid_argument;
};

TEST(Generate, RefusesWhatItCannotMake) {
  const std::vector<Refused> cases = {
      {"", "\"\" is unknown; known are stencil5, "},
      {"poisson:3", "\"poisson\" is unknown; known are stencil5, stencil7"},
      {"stencil5", "needs nx"},
      {"stencil5:", "nx \"\" is not a whole number"},
      {"stencil5:x", "nx \"x\" is not a whole number"},
      {"stencil5:3.5", "nx \"3.5\" is not a whole number"},
      {"stencil5:-3", "nx is -3, outside 1..2147483647"},
      {"stencil5:0", "nx is 0, outside 1.."},
      {"stencil5:3:3:3", "has more than its 2 sizes"},
      {"diagonal:99999999999999999999", "is not a whole number"},
      {"diagonal:5,speed=3", "key \"speed\" is unknown"},
      {"diagonal:5,seed", "\"seed\" should be key=value"},
      {"diagonal:5,seed=-1", "seed \"-1\" is not a whole number"},
      {"diagonal:5,values=big", "values \"big\" are unknown; known are uniform (-1, 1), int"},
      {"short:5:7", "length is 7, outside 0..4"},
      {"empty:5:101", "percent is 101, outside 0..100"},
      {"rmat:31", "scale is 31, outside 0..30"},
      {"stencil27:100000", "columns, but at most 2147483647", ErrorCode::unsupported},
      {"stencil27:2147483647", "columns, but at most 2147483647", ErrorCode::unsupported},
      {"fem:1000", "has 3000000000 columns", ErrorCode::unsupported},
      {"uniform:3000000000", "has 3000000000 columns", ErrorCode::unsupported},
      {"dense:1000000", "bytes, but this machine has", ErrorCode::out_of_memory},
      {"uniform:1099511627776:1:1", "bytes, but this machine has", ErrorCode::out_of_memory},
  };
  for (const Refused& c : cases) {
    try {
      io::generate<double>(c.spec);
      ADD_FAILURE() << c.spec << " was made";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), c.code) << error.what();
      EXPECT_NE(std::string(error.what()).find(c.fragment), std::string::npos) << error.what();
    }
  }
}

TEST(Generate, EstimatesOfAbsurdSpecsAreRefusedOrEnd) {
  for (const char* spec : {"dense:12147483647", "huge:5491082748:4", "uniform:3000000000"})
    expect_error([&] { io::estimated_entries(spec); }, ErrorCode::unsupported, {"columns"});
  EXPECT_EQ(io::estimated_entries("dense:1099511627776,cols=20000000"),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(io::estimated_entries("dense:1000,cols=300000"), 300'000'000);
  EXPECT_EQ(io::estimated_entries("dense:0"), 0);
  EXPECT_EQ(io::estimated_entries("rmat:28:975"), 975 * (std::int64_t{1} << 28));
  EXPECT_EQ(io::estimated_entries("rmat:3:1000"), 64);
  expect_error([] { io::generate<float>("rmat:30:1048576"); }, ErrorCode::out_of_memory,
               {"row 0 of an R-MAT graph", "e+12 bytes"});
}

TEST(Generate, HelpHasOneLineEach) {
  const std::string help = io::generator_help();
  EXPECT_EQ(std::ranges::count(help, '\n'), 19);
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 120U) << line;
  EXPECT_NE(help.find("stencil27:nx[:ny=0][:nz=0]"), std::string::npos) << help;
  EXPECT_NE(help.find("values=uniform|int"), std::string::npos) << help;
}

}  // namespace
}  // namespace lanky
