// The sparse side of the harness without a GPU: rivals' formats, the oracle, the set of matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/io.hpp>
#include <lanky/visit_dtype.hpp>
#include <limits>
#include <map>
#include <set>

#include "bench/cases/sddmm_case.hpp"
#include "bench/cases/spmv_case.hpp"
#include "bench/cases/spmv_set.hpp"
#include "bench/harness/spmv_oracle.hpp"
#include "bench/rivals/padded_formats.hpp"
#include "support/expect_error.hpp"

namespace lanky::bench {
namespace {

using Pattern = CsrMatrix<double>;

/// Every shape of row and edge: empty and full rows, sizes that are no multiple of a unit.
const char* const kShapes[] = {"mixed:101:40", "empty:333",  "huge:70:3",         "fem:3",
                               "dense:9:13",   "dense:13:9", "short:50:0,cols=7", "diagonal:1",
                               "empty:40:100", "uniform:0"};

std::vector<double> ones(std::int64_t size) {
  return std::vector<double>(static_cast<std::size_t>(size), 1.0);
}

/// y = A x of the pattern with x and the values of a matrix.
std::vector<double> multiply(const Pattern& a, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e)
      y[i] += a.values[e] * x[a.col_indices[e]];
  }
  return y;
}

/// Small whole numbers: sums are exact in any order.
Pattern with_integers(Pattern a) {
  for (std::size_t e = 0; e < a.values.size(); ++e)
    a.values[e] = static_cast<double>(e % 17) - 8;
  return a;
}
std::vector<double> integers(std::int64_t size) {
  std::vector<double> x = ones(size);
  for (std::size_t j = 0; j < x.size(); ++j)
    x[j] = static_cast<double>(j % 11) - 5;
  return x;
}

/// Each entry of CSR stands in exactly one slot.
void expect_all_entries_once(const Pattern& a, const PaddedPattern& padded) {
  std::vector<std::int32_t> found;
  for (const std::int32_t source : padded.sources) {
    if (source >= 0) found.push_back(source);
  }
  std::sort(found.begin(), found.end());
  ASSERT_EQ(static_cast<std::int64_t>(found.size()), a.nnz());
  for (std::size_t e = 0; e < found.size(); ++e)
    ASSERT_EQ(found[e], static_cast<std::int32_t>(e));
}

TEST(PaddedFormats, SlicedEllMultipliesAsCsrDoes) {
  for (const char* shape : kShapes) {
    SCOPED_TRACE(shape);
    const Pattern a = with_integers(io::generate<double>(shape));
    const std::vector<double> x = integers(a.cols);
    for (const int height : {1, 4, 32}) {
      const PaddedPattern sell = to_sliced_ell(a, height);
      ASSERT_EQ(static_cast<std::int64_t>(sell.offsets.size()), (a.rows + height - 1) / height + 1);
      ASSERT_EQ(sell.offsets.back(), sliced_ell_slots(a, height));
      ASSERT_EQ(sell.sources.size(), static_cast<std::size_t>(sell.offsets.back()));
      expect_all_entries_once(a, sell);
      // As cuSPARSE documents it: column-major slices, columns of -1 are padding.
      std::vector<double> y(static_cast<std::size_t>(a.rows), 0.0);
      for (std::size_t s = 0; s + 1 < sell.offsets.size(); ++s) {
        for (std::int32_t slot = sell.offsets[s]; slot < sell.offsets[s + 1]; ++slot) {
          const std::size_t row = s * height + (slot - sell.offsets[s]) % height;
          ASSERT_EQ(sell.col_indices[slot] < 0, sell.sources[slot] < 0);
          if (sell.col_indices[slot] < 0) continue;
          y.at(row) += a.values[sell.sources[slot]] * x[sell.col_indices[slot]];
        }
      }
      EXPECT_EQ(y, multiply(a, x));
    }
  }
}

TEST(PaddedFormats, BlocksMultiplyAsCsrDoes) {
  for (const char* shape : kShapes) {
    SCOPED_TRACE(shape);
    const Pattern a = with_integers(io::generate<double>(shape));
    for (const int side : {2, 3, 4, 8}) {
      const PaddedPattern bsr = to_blocks(a, side);
      const std::int64_t block_rows = (a.rows + side - 1) / side;
      ASSERT_EQ(static_cast<std::int64_t>(bsr.offsets.size()), block_rows + 1);
      const auto slots = static_cast<double>(bsr.sources.size());
      EXPECT_DOUBLE_EQ(block_fill(a, side) * static_cast<double>(a.nnz()), slots);
      ASSERT_EQ(bsr.sources.size(), bsr.col_indices.size() * side * side);
      expect_all_entries_once(a, bsr);
      // Whole blocks read and write beyond the matrix.
      std::vector<double> x = integers(a.cols);
      x.resize(x.size() + side, 0.0);
      std::vector<double> y(static_cast<std::size_t>(block_rows * side), 0.0);
      for (std::int64_t b = 0; b < block_rows; ++b) {
        for (std::int32_t block = bsr.offsets[b]; block < bsr.offsets[b + 1]; ++block) {
          if (block > bsr.offsets[b]) {
            ASSERT_GT(bsr.col_indices[block], bsr.col_indices[block - 1]);
          }
          for (int k = 0; k < side * side; ++k) {
            const std::int32_t source = bsr.sources[std::int64_t{block} * side * side + k];
            const double value = source < 0 ? 0 : a.values[source];
            y[b * side + k / side] += value * x.at(bsr.col_indices[block] * side + k % side);
          }
        }
      }
      y.resize(static_cast<std::size_t>(a.rows));
      x.resize(static_cast<std::size_t>(a.cols));
      EXPECT_EQ(y, multiply(a, x));
    }
  }
}

TEST(PaddedFormats, FillOfALargeMatrixIsSampled) {
  const Pattern a = io::generate<double>("mesh:100000:2");
  const auto slots = static_cast<double>(to_blocks(a, 2).sources.size());
  EXPECT_DOUBLE_EQ(slots, static_cast<double>(a.nnz()));  // blocks of 2 are full
  EXPECT_DOUBLE_EQ(block_fill(a, 2), 1);
  const double fill = static_cast<double>(to_blocks(a, 3).sources.size()) / slots;
  EXPECT_NEAR(block_fill(a, 3), fill, 0.02 * fill);
}

TEST(SpmvMatrix, TriesOnlyFormatsThatCanWin) {
  const Stream stream(Device::cpu());
  const auto sides = [&](const char* spec) {
    const Pattern a = io::generate<double>(spec);
    return SpmvMatrix(stream, spec, "", a).dense_block_sides();
  };
  EXPECT_EQ(sides("mesh:500:3"), (std::vector<int>{3}));  // 3 unknowns a node
  EXPECT_EQ(sides("fem:10"), (std::vector<int>{2, 3}));   // and three nodes in a row
  EXPECT_EQ(sides("dense:64"), (std::vector<int>{2, 3, 4, 8}));
  EXPECT_EQ(sides("uniform:500"), std::vector<int>());

  const Pattern even = io::generate<double>("uniform:100:5");
  EXPECT_EQ(SpmvMatrix(stream, "even", "", even).sliced_ell().slots(), 128 * 5);
  const Pattern uneven = io::generate<double>("huge:1000:2");
  SpmvMatrix matrix(stream, "uneven", "", uneven);
  expect_error([&] { matrix.sliced_ell(); }, ErrorCode::unsupported, {"slots", "entries"});
}

/// Y = A X as an oracle of `data` has it, in elements of f64.
std::vector<double> product(const Pattern& pattern, const SpmvData& data, SpmvColumns columns) {
  const SpmvResult place{nullptr, pattern.rows, columns};
  std::vector<double> y(static_cast<std::size_t>(place.size()));
  for (std::int64_t k = 0; k < place.size(); ++k) {
    const std::int64_t i = k % pattern.rows;
    const std::int64_t c = k / pattern.rows;
    InnerProduct sum;
    for (std::int64_t e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e)
      sum.add(element(data.fill, 1, e, 53),
              element(data.fill, 2, pattern.col_indices[e] + c * pattern.cols, 53));
    y[place.offset(k)] = sum.result().value;
  }
  return y;
}

TEST(SpmvOracle, FindsOneWrongRowAmongAll) {
  const Stream stream(Device::cpu());
  const Pattern pattern = io::generate<double>("mixed:400:90");
  const SpmvMatrix matrix(stream, "a", "", pattern);
  SpmvOracle oracle(stream, matrix);
  for (const Fill fill : {Fill::integers, Fill::random}) {
    oracle.compute({fill, DType::f64});
    std::vector<double> y = product(pattern, {fill, DType::f64}, {});
    EXPECT_TRUE(oracle.check(y.data(), Math::ieee).right);
    y[399] += 1e-3;
    const Verdict verdict = oracle.check(y.data(), Math::ieee);
    EXPECT_FALSE(verdict.right);
    EXPECT_NE(verdict.message.find("element 399"), std::string::npos) << verdict.message;
    y[399] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(oracle.check(y.data(), Math::ieee).right);
  }
}

TEST(SpmvOracle, FindsOneWrongElementOfSeveralColumnsInEitherLayout) {
  const Stream stream(Device::cpu());
  const Pattern pattern = io::generate<double>("mixed:300:60");
  const SpmvMatrix matrix(stream, "a", "", pattern);
  SpmvOracle oracle(stream, matrix);
  for (const Fill fill : {Fill::integers, Fill::random}) {
    oracle.compute({fill, DType::f64}, 5);
    std::set<std::uint64_t> digests;
    for (const Layout layout : {Layout::row, Layout::col}) {
      for (const std::int64_t count : {5, 3}) {  // a column is the same among fewer
        const SpmvColumns columns{count, layout};
        std::vector<double> y = product(pattern, {fill, DType::f64}, columns);
        const Verdict right = oracle.check(y.data(), Math::ieee, columns);
        EXPECT_TRUE(right.right) << right.message;
        digests.insert(right.digest.value());
        y[SpmvResult{nullptr, pattern.rows, columns}.offset(2 * pattern.rows + 299)] += 1e-3;
        const Verdict wrong = oracle.check(y.data(), Math::ieee, columns);
        EXPECT_FALSE(wrong.right);
        EXPECT_NE(wrong.message.find("column 2, element 299"), std::string::npos) << wrong.message;
        EXPECT_NE(wrong.digest, right.digest);
      }
    }
    EXPECT_EQ(digests.size(), 2U);  // of 5 and of 3 columns, whatever the layout
  }
}

TEST(SpmvOracle, JudgesBothPartsOfComplexElements) {
  const Stream stream(Device::cpu());
  const Pattern pattern = io::generate<double>("mixed:300:60");
  const SpmvMatrix matrix(stream, "a", "", pattern);
  SpmvOracle oracle(stream, matrix);
  using Complex = std::complex<double>;
  const auto at = [](Fill fill, std::uint64_t seed, std::int64_t number) {
    return Complex(element(fill, seed, 2 * number, 53), element(fill, seed, 2 * number + 1, 53));
  };
  for (const Fill fill : {Fill::integers, Fill::random}) {
    oracle.compute({fill, DType::c128}, 3);
    for (const Layout layout : {Layout::row, Layout::col}) {
      const SpmvColumns columns{3, layout};
      std::vector<Complex> y(static_cast<std::size_t>(3 * pattern.rows));
      const auto place = [&](std::int64_t i, std::int64_t c) {
        return static_cast<std::size_t>(layout == Layout::row ? i * 3 + c : i + c * pattern.rows);
      };
      for (std::int64_t i = 0; i < pattern.rows; ++i) {
        for (std::int64_t c = 0; c < 3; ++c) {
          for (std::int64_t e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e)
            y[place(i, c)] +=
                at(fill, 1, e) * at(fill, 2, pattern.col_indices[e] + c * pattern.cols);
        }
      }
      const Verdict right = oracle.check(y.data(), Math::ieee, columns);
      EXPECT_TRUE(right.right) << right.message;
      for (const Complex error : {Complex(1e-3, 0), Complex(0, 1e-3)}) {
        Complex& wrong = y[place(299, 2)];
        const Complex kept = wrong;
        wrong += error;
        const Verdict verdict = oracle.check(y.data(), Math::ieee, columns);
        EXPECT_FALSE(verdict.right);
        const std::string named = "column 2, of real and imaginary parts, element " +
                                  std::to_string(2 * 299 + (error.real() == 0 ? 1 : 0));
        EXPECT_NE(verdict.message.find(named), std::string::npos) << verdict.message;
        wrong = kept;
      }
    }
  }
}

TEST(SpmvOracle, TheDigestSeesEveryBitAndEveryPlace) {
  EXPECT_NE(digest_term(0, 0.0), digest_term(0, -0.0));
  EXPECT_NE(digest_term(0, 1.0F), digest_term(1, 1.0F));
  EXPECT_NE(digest_term(7, half(1)), digest_term(7, half(1.0009765625)));
  SeenBits bits;
  for (const int digest : {5, 5}) {
    bits.add(digest);
    EXPECT_FALSE(bits.equal().has_value());
  }
  bits.add(std::nullopt);
  EXPECT_FALSE(bits.equal().has_value());
  bits.add(5);
  EXPECT_EQ(bits.equal(), true);
  bits.add(6);
  bits.add(5);
  EXPECT_EQ(bits.equal(), false);
}

const Outcome* outcome_of(const CaseReport& report, const std::string& variant) {
  for (const Outcome& outcome : report.outcomes)
    if (outcome.variant == variant) return &outcome;
  return nullptr;
}

TEST(SpmmCase, ProductsOfAMatrixHaveAPlanForTheirColumnsAndAreAllRight) {
  Session session(Device::cpu(), MeasureOptions::quick());
  const Pattern pattern = io::generate<double>("mixed:400:90");
  SpmvMatrix matrix(session.stream, "a", "", pattern);
  for (const DType dtype : {DType::f64, DType::f16, DType::c64, DType::c128}) {
    const SpmvWorkloads workloads = spmv_workloads(session, matrix, dtype, SpmvSelection());
    std::set<double> of_vector;  // setups
    std::set<double> of_several;
    for (const SpmvColumns columns :
         {SpmvColumns{3, Layout::col}, {8, Layout::row}, {1, Layout::col}, {2, Layout::col}}) {
      const CaseReport report = run_workload(session, *workloads(columns));
      EXPECT_TRUE(report.all_ok());
      const bool by_columns = columns.count > 1 && columns.layout == Layout::col;
      EXPECT_EQ(outcome_of(report, "columns") != nullptr, by_columns);
      const bool looped = columns.count == 1 || (columns.layout == Layout::row && !is_half(dtype));
      EXPECT_EQ(outcome_of(report, "serial") != nullptr, looped);
      EXPECT_EQ(outcome_of(report, "guided") != nullptr, columns.count == 1);
      EXPECT_EQ(outcome_of(report, "mm") != nullptr, columns.count > 1);
      const Outcome& own = *outcome_of(report, "auto");
      EXPECT_EQ(own.status, Status::ok) << own.message;
      EXPECT_EQ(report.best(true), &own);
      EXPECT_EQ(own.reproducible, true);
      EXPECT_TRUE(own.update_us.has_value());
      (columns.count == 1 ? of_vector : of_several).insert(own.setup_us);
      const auto size = static_cast<std::int64_t>(size_of(dtype));
      EXPECT_EQ(report.footprint.bytes(),
                matrix.index_bytes() + pattern.nnz() * size + 800 * columns.count * size);
      EXPECT_EQ(report.footprint.flops, (is_complex(dtype) ? 8.0 : 2.0) *
                                            static_cast<double>(pattern.nnz() * columns.count));
    }
    EXPECT_EQ(of_vector.size(), 1U);
    EXPECT_EQ(of_several.size(), 3U);  // each told what to expect
  }
}

TEST(SpmmCase, WhoeverIsAskedForIsMeasured) {
  Session session(Device::cpu(), MeasureOptions::quick());
  const Pattern pattern = io::generate<double>("mixed:400:90");
  SpmvMatrix matrix(session.stream, "a", "", pattern);
  const auto workload = make_spmv_workload(
      session, matrix, DType::f32, {.paths = {SparsePath{Engine::cuda_cores}}, .vendors = false},
      {4, Layout::col});
  const CaseReport report = run_workload(session, *workload);
  ASSERT_EQ(report.outcomes.size(), 1U);  // column after column is auto's alone
  EXPECT_EQ(report.outcomes[0].variant, "cuda");
}

TEST(SddmmOracle, FindsOneWrongValueInEitherPart) {
  const Stream stream(Device::cpu());
  const Pattern pattern = io::generate<double>("mixed:300:60");
  const SpmvMatrix matrix(stream, "a", "", pattern);
  SddmmOracle oracle(stream, matrix);
  using Complex = std::complex<double>;
  for (const Fill fill : {Fill::integers, Fill::random}) {
    const auto at = [&](std::uint64_t seed, std::int64_t number) {
      return Complex(element(fill, seed, 2 * number, 53), element(fill, seed, 2 * number + 1, 53));
    };
    for (const std::int64_t columns : {1, 5}) {
      oracle.compute({fill, DType::c128}, columns);
      std::vector<Complex> values(static_cast<std::size_t>(pattern.nnz()));
      for (std::int64_t i = 0; i < pattern.rows; ++i) {
        for (std::int64_t e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e) {
          for (std::int64_t c = 0; c < columns; ++c)
            values[e] +=
                at(1, i + c * pattern.rows) * at(2, pattern.col_indices[e] + c * pattern.cols);
        }
      }
      const Verdict right = oracle.check(values.data());
      EXPECT_TRUE(right.right) << right.message;
      for (const std::int64_t e : {std::int64_t{0}, std::int64_t{77}, pattern.nnz() - 1}) {
        const Complex kept = values[e];
        for (const Complex error : {Complex(1e-3, 0), Complex(0, 1e-3), Complex(NAN, 0)}) {
          values[e] = kept + error;
          const Verdict wrong = oracle.check(values.data());
          EXPECT_FALSE(wrong.right);
          EXPECT_NE(wrong.digest, right.digest);
          const std::string named =
              "element " + std::to_string(2 * e + (error.real() == 0 ? 1 : 0)) + " is ";
          EXPECT_NE(wrong.message.find(named), std::string::npos) << wrong.message;
        }
        values[e] = kept;
      }
    }
  }
}

TEST(SddmmCase, LankyAndTheLoopAreRightInEveryTypeAndLayout) {
  Session session(Device::cpu(), MeasureOptions::quick());
  for (const char* const spec : {"mixed:400:90", "short:50:3,cols=7", "uniform:0"}) {
    const Pattern pattern = io::generate<double>(spec);
    const SpmvMatrix matrix(session.stream, spec, "", pattern);
    for (const DType dtype :
         {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
      for (const SpmvColumns columns :
           {SpmvColumns{1, Layout::col}, {9, Layout::row}, {9, Layout::col}, {32, Layout::row}}) {
        SCOPED_TRACE(std::string(spec) + " " + std::string(to_string(dtype)) + " x " +
                     std::to_string(columns.count) + " " + std::string(to_string(columns.layout)));
        const auto workload = make_sddmm_workload(session, matrix, dtype, columns);
        const CaseReport report = run_workload(session, *workload);
        ASSERT_EQ(report.outcomes.size(), 2U);
        for (const Outcome& outcome : report.outcomes) {
          EXPECT_EQ(to_string(outcome.status), "ok")
              << outcome.contestant << ": " << outcome.message;
          EXPECT_TRUE(outcome.timing.has_value());
          EXPECT_EQ(outcome.reproducible, true);
          ASSERT_TRUE(outcome.verdict.has_value());
          EXPECT_LE(outcome.verdict->error, outcome.verdict->bound);
        }
        EXPECT_EQ(report.outcomes[0].contestant, "lanky");
        EXPECT_EQ(report.outcomes[1].contestant, "cpu-csr");
        const auto size = static_cast<std::int64_t>(size_of(dtype));
        EXPECT_EQ(report.footprint.bytes(),
                  matrix.index_bytes() +
                      (pattern.nnz() + (pattern.rows + pattern.cols) * columns.count) * size);
        EXPECT_EQ(report.footprint.flops, (is_complex(dtype) ? 8.0 : 2.0) *
                                              static_cast<double>(pattern.nnz() * columns.count));
      }
    }
  }
}

/// A workload where two more take part: who writes nothing, and who is right at first.
class WithIdlers final : public Workload {
 public:
  explicit WithIdlers(std::unique_ptr<Workload> workload) : workload_(std::move(workload)) {}

  std::variant<SpmvCase, GemmCase> subject() const override { return workload_->subject(); }
  Footprint footprint() const override { return workload_->footprint(); }
  int slots() const override { return workload_->slots(); }
  void fill(Fill fill) override { workload_->fill(fill); }
  void poison(int slot) override { workload_->poison(slot); }
  Verdict check(Fill fill, const Contestant& contestant, int slot) override {
    return workload_->check(fill, contestant, slot);
  }
  std::vector<Contestant> contestants() override {
    std::vector<Contestant> all = workload_->contestants();
    Contestant idle = all.front();
    idle.name = "idle";
    idle.run = [](const Stream&, int) {};
    Contestant tired = all.front();
    tired.name = "tired";
    tired.run = [run = tired.run, calls = std::make_shared<int>(0)](const Stream& stream,
                                                                    int slot) {
      if ((*calls)++ == 0) run(stream, slot);
    };
    all.push_back(std::move(idle));
    all.push_back(std::move(tired));
    return all;
  }

 private:
  std::unique_ptr<Workload> workload_;
};

TEST(SddmmCase, AWrongResultIsReportedAsWrongAndHasNoTime) {
  Session session(Device::cpu(), MeasureOptions::quick());
  const Pattern pattern = io::generate<double>("mixed:400:90");
  const SpmvMatrix matrix(session.stream, "a", "", pattern);
  WithIdlers workload(make_sddmm_workload(session, matrix, DType::f32, {8, Layout::row}, false));
  const CaseReport report = run_workload(session, workload);
  ASSERT_EQ(report.outcomes.size(), 3U);
  EXPECT_EQ(report.outcomes[0].status, Status::ok) << report.outcomes[0].message;
  EXPECT_FALSE(report.all_ok());
  for (const std::size_t wrong : {1U, 2U}) {
    const Outcome& outcome = report.outcomes[wrong];
    EXPECT_EQ(outcome.status, Status::wrong) << outcome.contestant;
    EXPECT_FALSE(outcome.timing.has_value()) << outcome.contestant;
    EXPECT_NE(outcome.message.find(" is nan, not "), std::string::npos) << outcome.message;
  }
  EXPECT_NE(report.outcomes[2].message.find("while timed: "), std::string::npos)
      << report.outcomes[2].message;
}

TEST(SpmvCase, ThePlanAloneTakesNewValues) {
  Session session(Device::cpu(), MeasureOptions::quick());
  const Pattern pattern = io::generate<double>("mixed:400:90");
  SpmvMatrix matrix(session.stream, "a", "", pattern);
  for (const DType dtype : {DType::f64, DType::f16}) {
    const auto workload = make_spmv_workload(session, matrix, dtype, SpmvSelection());
    const CaseReport report = run_workload(session, *workload);
    EXPECT_TRUE(report.all_ok());
    for (const Outcome& outcome : report.outcomes) {
      EXPECT_EQ(outcome.update_us.has_value(), outcome.contestant == "lanky");
      EXPECT_FALSE(outcome.setup_bytes.has_value());  // memory of a CPU is not watched
    }
  }
}

TEST(SpmvSet, EveryGeneratorHasItsShareOfEverySize) {
  const std::vector<std::string> specs = drawn_matrices(9);
  std::map<std::string, int> shares;
  for (const std::string& spec : specs) {
    ++shares[spec.substr(0, spec.find(':'))];
    EXPECT_NE(matrix_class(spec), "") << spec;
  }
  EXPECT_GE(specs.size(), 60U);
  for (const auto& [generator, count] : shares)
    EXPECT_EQ(count, kDrawnOfEach) << generator;
  EXPECT_EQ(specs, drawn_matrices(9));
  EXPECT_NE(specs, drawn_matrices(10));
}

TEST(SpmvSet, SizesAreWhatWasDrawn) {
  std::map<int, int> of_fifth;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<std::string> specs = drawn_matrices(seed);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (i % kDrawnOfEach > 1) continue;  // larger ones take too long for a test
      const auto entries = static_cast<double>(io::generate<double>(specs[i]).nnz());
      const double fifth = std::log(entries / 1e4) / std::log(2e4) * kDrawnOfEach;
      EXPECT_GT(fifth, static_cast<double>(i % kDrawnOfEach) - 0.35) << specs[i];
      EXPECT_LT(fifth, static_cast<double>(i % kDrawnOfEach) + 1.35) << specs[i];
    }
  }
}

TEST(SpmvSet, TheCommittedSetDoesNotMove) {
  const std::vector<std::string> specs = core_matrices();
  EXPECT_EQ(specs.size(), 95U);
  EXPECT_EQ(std::set<std::string>(specs.begin(), specs.end()).size(), specs.size());
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::string& spec : specs) {
    for (const char c : spec + "\n")
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  EXPECT_EQ(hash, 14719786274136341170U);
}

TEST(SpmvSet, IrregularMatricesFollowFromTheSeed) {
  const std::vector<std::string> specs = irregular_matrices(9);
  EXPECT_EQ(specs.size(), 90U);
  EXPECT_EQ(std::set<std::string>(specs.begin(), specs.end()).size(), specs.size());
  EXPECT_EQ(specs, irregular_matrices(9));
  EXPECT_NE(specs, irregular_matrices(10));
  int near = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    near += specs[i].find(",near=") != std::string::npos ? 1 : 0;
    const auto entries = static_cast<double>(io::estimated_entries(specs[i]));
    EXPECT_LT(entries, 1e8) << specs[i];
    if (i < 30) {  // small ones
      EXPECT_GT(entries, 3e2) << specs[i];
      EXPECT_LT(entries, 1e6) << specs[i];
    }
  }
  EXPECT_GT(near, 30);
  EXPECT_LT(near, 80);
}

TEST(SpmvSet, ClassesGoByWhatBoundsAProduct) {
  EXPECT_EQ(matrix_class("stencil7:9"), "stencil");
  EXPECT_EQ(matrix_class("mesh:9:3"), "regular");
  EXPECT_EQ(matrix_class("short:9:2,span=3"), "short");
  EXPECT_EQ(matrix_class("short:9:2"), "uniform");
  EXPECT_EQ(matrix_class("huge:9"), "varying");
  EXPECT_EQ(matrix_class("rmat:9,seed=3"), "power");
  EXPECT_EQ(matrix_class("poisson:9"), "");
  expect_error([] { choose_matrices({.set = "all"}); }, ErrorCode::invalid_argument, {"all"});
  EXPECT_TRUE(choose_matrices({}).empty());
}

}  // namespace
}  // namespace lanky::bench
