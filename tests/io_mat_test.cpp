// MATLAB's .mat files: those of SciPy, and of libmatio itself in both versions.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <limits>
#include <vector>

#include "support/csr_text.hpp"
#include "support/expect_error.hpp"
#include "support/expected_matrix.hpp"
#include "support/mat_writer.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;
using testing::csr_text;
using testing::TemporaryDirectory;

const fs::path kFormatsFolder = "tests/data/formats";

/// Skips where libmatio or its header is missing.
class MatFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::can_write_mat()) GTEST_SKIP() << "there is no libmatio";
  }
};

TEST_F(MatFile, OfSciPyIsRead) {
  using C128 = std::complex<double>;
  const auto real = testing::expected_matrix(kFormatsFolder / "real.txt");
  for (const char* name : {"scipy_sparse.mat", "scipy_problem.mat"})
    EXPECT_EQ(csr_text(io::read_csr<C128>(kFormatsFolder / name)), real) << name;
  EXPECT_EQ(csr_text(io::read_csr<C128>(kFormatsFolder / "scipy_complex.mat")),
            testing::expected_matrix(kFormatsFolder / "complex.txt"));
}

TEST_F(MatFile, LogicalIsAPattern) {
  const fs::path path = kFormatsFolder / "scipy_logical.mat";
  EXPECT_EQ(io::read_header(path).field, io::Field::pattern);
  const auto a = io::read_csr<double>(path);
  const auto b = io::read_csr<double>(kFormatsFolder / "scipy_sparse.mat");
  EXPECT_EQ(a.row_offsets, b.row_offsets);
  EXPECT_EQ(a.col_indices, b.col_indices);
  EXPECT_EQ(a.values, std::vector<double>(b.values.size(), 1.0));
}

TEST_F(MatFile, DenseKeepsWhatIsNotZero) {
  const fs::path path = kFormatsFolder / "scipy_dense.mat";
  EXPECT_EQ(csr_text(io::read_csr<double>(path)), "2x3 (0,0)1.5 (0,2)nan (1,1)-2");
  EXPECT_EQ(io::read_header(path).format, io::Format::array);
}

TEST_F(MatFile, OfSeveralMatricesOneMustBeNamed) {
  const fs::path path = kFormatsFolder / "scipy_two.mat";
  expect_error([&] { io::read_csr<double>(path); }, ErrorCode::parse,
               {"scipy_two.mat: holds several matrices: A, B", "variable"});
  EXPECT_EQ(io::read_csr<double>(path, {.variable = "A"}).values[1] * 2,
            io::read_csr<double>(path, {.variable = "B"}).values[1]);
  expect_error([&] { io::read_csr<double>(path, {.variable = "C"}); }, ErrorCode::parse,
               {"holds no matrix C, but A, B"});
  EXPECT_EQ(
      io::read_csr<double>(kFormatsFolder / "scipy_problem.mat", {.variable = "Problem.A"}).nnz(),
      19);
}

class MatOfVersion : public ::testing::TestWithParam<testing::MatVersion> {
 protected:
  void SetUp() override {
    if (!testing::can_write_mat()) GTEST_SKIP() << "there is no libmatio";
  }
  fs::path path() const { return directory_.path() / "a.mat"; }
  testing::MatWriter writer() const { return {path(), GetParam()}; }

  const TemporaryDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(Versions, MatOfVersion,
                         ::testing::Values(testing::MatVersion::v5, testing::MatVersion::v73),
                         [](const auto& test) {
                           return std::string(test.param == testing::MatVersion::v5 ? "v5" : "v73");
                         });

TEST_P(MatOfVersion, SparseIsRead) {
  writer().sparse("A", 3, 2, {0, 2, 3}, {0, 2, 1}, {1.5, -2, 0.1});
  EXPECT_EQ(csr_text(io::read_csr<double>(path())), "3x2 (0,0)1.5 (1,1)0.1 (2,0)-2");
  EXPECT_EQ(io::read_csr<float>(path()).values.at(1), 0.1F);
  const io::Header header = io::read_header(path());
  EXPECT_EQ(header.rows, 3);
  EXPECT_EQ(header.cols, 2);
  EXPECT_EQ(header.stored_entries, 3);
  EXPECT_EQ(header.field, io::Field::real);
}

TEST_P(MatOfVersion, ComplexSparseIsRead) {
  writer().sparse("A", 2, 2, {0, 1, 2}, {1, 0}, {1, 2}, {-3, 4});
  EXPECT_EQ(csr_text(io::read_csr<std::complex<float>>(path())), "2x2 (0,1)2+4i (1,0)1+-3i");
  expect_error([&] { io::read_csr<double>(path()); }, ErrorCode::unsupported, {"complex", "f64"});
}

TEST_P(MatOfVersion, TheSparseOneIsTakenAmongOthers) {
  testing::MatWriter file = writer();
  file.dense("x", 2, 1, {1, 2});
  file.sparse("A", 2, 1, {0, 1}, {1}, {5});
  file.dense("y", 1, 1, {3});
  file.close();
  EXPECT_EQ(csr_text(io::read_csr<double>(path())), "2x1 (1,0)5");
  EXPECT_EQ(csr_text(io::read_csr<double>(path(), {.variable = "x"})), "2x1 (0,0)1 (1,0)2");
}

TEST_P(MatOfVersion, ThatOfSuiteSparsesStructIsRead) {
  writer().problem("Problem", 3, 2, {0, 2, 3}, {0, 2, 1}, {1.5, -2, 0.1});
  const char* expected = "3x2 (0,0)1.5 (1,1)0.1 (2,0)-2";
  EXPECT_EQ(csr_text(io::read_csr<double>(path())), expected);
  EXPECT_EQ(csr_text(io::read_csr<double>(path(), {.variable = "Problem.A"})), expected);
}

TEST_P(MatOfVersion, DenseIsRead) {
  writer().dense("x", 2, 2, {1, 0, -3, 4});
  EXPECT_EQ(csr_text(io::read_csr<double>(path())), "2x2 (0,0)1 (0,1)-3 (1,1)4");
}

TEST_P(MatOfVersion, EmptyMatricesAreRead) {
  writer().sparse("A", 3, 2, {0, 0, 0}, {}, {});
  EXPECT_EQ(csr_text(io::read_csr<double>(path())), "3x2");
}

TEST_P(MatOfVersion, WithoutAMatrixIsAnError) {
  writer().text("note", "hello");
  expect_error([&] { io::read_csr<double>(path()); }, ErrorCode::parse,
               {"a.mat: holds no matrix, but note"});
}

TEST_P(MatOfVersion, IndicesOutOfRangeAreRefused) {
  writer().sparse("A", 3, 2, {0, 2, 3}, {0, 3, 1}, {1, 2, 3});
  expect_error([&] { io::read_csr<double>(path()); }, ErrorCode::parse,
               {"variable A has row indices out of range"});
  writer().sparse("A", 3, 2, {0, 4, 3}, {0, 2, 1}, {1, 2, 3});
  EXPECT_THROW(io::read_csr<double>(path()), Error);
}

TEST_P(MatOfVersion, RepeatedEntriesFollowTheOption) {
  writer().sparse("A", 2, 1, {0, 2}, {1, 1}, {1, 2});
  EXPECT_EQ(csr_text(io::read_csr<double>(path())), "2x1 (1,0)3");
  EXPECT_EQ(io::read_csr<double>(path(), {.duplicates = io::Duplicates::keep}).nnz(), 2);
  expect_error([&] { io::read_csr<double>(path(), {.duplicates = io::Duplicates::reject}); },
               ErrorCode::parse, {"holds entry (2, 1) more than once"});
}

TEST_P(MatOfVersion, CutFilesAreErrorsOrWhole) {
  writer().sparse("A", 3, 2, {0, 2, 3}, {0, 2, 1}, {1.5, -2, 0.1});
  const std::string whole = testing::content(path());
  const std::size_t step = whole.size() / 97 + 1;
  for (std::size_t length = 0; length < whole.size(); length += step) {
    try {
      const auto a = io::read_csr<double>(directory_.file("cut.mat", whole.substr(0, length)));
      EXPECT_EQ(csr_text(a), "3x2 (0,0)1.5 (1,1)0.1 (2,0)-2") << length;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::parse || error.code() == ErrorCode::io)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace lanky
