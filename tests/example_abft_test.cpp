// The protected product of examples/abft: single faults of every kind are found and corrected,
// wrong checksums leave C alone, rounding raises no alarm.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <lanky/buffer.hpp>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "examples/abft/protected_gemm.hpp"
#include "examples/abft/times.hpp"
#include "examples/abft/trials.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/program.hpp"

namespace {

using lanky::Buffer;
using lanky::Device;
using lanky::DeviceKind;
using lanky::Matrix;
using lanky::Stream;
using lanky::examples::abft::Encoder;
using lanky::examples::abft::Fault;
using lanky::examples::abft::ProtectedGemm;
using lanky::examples::abft::Report;
using lanky::examples::abft::run_trials;
using lanky::examples::abft::TrialResult;
using lanky::examples::abft::Verdict;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// m x n x k operands on the device, multiplied. Where `decades` is not 0, rows of A and columns
/// of B are scaled by powers of ten of up to so many decades, either way.
template <class T>
struct Setting {
  Stream stream;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  ProtectedGemm<T> gemm;
  Matrix<T> a;
  Matrix<T> b;
  Matrix<T> c;
  Buffer<Report> report;

  Setting(const Device& device, std::int64_t rows, std::int64_t cols, std::int64_t depth,
          int decades = 0, std::uint64_t seed = 1)
      : stream(device),
        m(rows),
        n(cols),
        k(depth),
        gemm(stream, rows, cols, depth),
        a(stream, rows, depth),
        b(stream, depth, cols),
        c(stream, rows, cols),
        report(stream, 1) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::vector<T> host_a(static_cast<std::size_t>(m * k));
    std::vector<T> host_b(static_cast<std::size_t>(k * n));
    std::vector<double> scales(static_cast<std::size_t>(m + n));
    for (double& scale : scales)
      scale = std::pow(10.0, decades * unit(random));
    for (std::size_t e = 0; e < host_a.size(); ++e)
      host_a[e] = static_cast<T>(unit(random) * scales[e % static_cast<std::size_t>(m)]);
    for (std::size_t e = 0; e < host_b.size(); ++e)
      host_b[e] = static_cast<T>(
          unit(random) * scales[static_cast<std::size_t>(m) + e / static_cast<std::size_t>(k)]);
    a.buffer().copy_from(host_a);
    b.buffer().copy_from(host_b);
    gemm.prepare(a.view(), b.view());
    gemm.multiply(a.view(), b.view(), c.view());
  }

  Report check() {
    gemm.check(a.view(), b.view(), c.view(), report.data());
    gemm.correct(c.view(), report.data());
    return report.to_host()[0];
  }
  void inject(const Fault& fault) {
    gemm.elements().inject(stream, fault, c.view(), report.data());
  }
  /// The fault is located and corrected, and the next check finds nothing.
  void expect_corrected(const Fault& fault) {
    const std::vector<T> before = c.buffer().to_host();
    inject(fault);
    const Report found = check();
    ASSERT_EQ(found.verdict, Verdict::located) << found.wrong_columns << ' ' << found.wrong_rows;
    EXPECT_EQ(found.row, fault.row);
    EXPECT_EQ(found.col, fault.col);
    EXPECT_LE(std::fabs(found.recomputed - found.injected), found.rounding);
    std::vector<T> after = c.buffer().to_host();
    auto& element = after[static_cast<std::size_t>(fault.row + fault.col * m)];
    EXPECT_EQ(static_cast<double>(element), found.recomputed);
    element = static_cast<T>(found.injected);
    EXPECT_EQ(std::memcmp(after.data(), before.data(), after.size() * sizeof(T)), 0)
        << "another element was touched";
    EXPECT_EQ(check().verdict, Verdict::clean);
  }
};

class ExampleAbft : public ::testing::TestWithParam<DeviceKind> {};

TEST_P(ExampleAbft, EveryFaultBeyondTheBoundIsCorrected) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  for (const auto& [m, n, k] : {std::tuple{96, 80, 112}, {40, 300, 24}, {300, 1, 50}, {1, 1, 1}}) {
    for (const bool doubles : {true, false}) {
      SCOPED_TRACE(::testing::Message()
                   << m << " x " << n << " x " << k << (doubles ? " f64" : " f32"));
      const lanky::examples::abft::TrialOptions options{
          .m = m, .n = n, .k = k, .trials = 400, .fault_free = 20, .seed = 7};
      const TrialResult result =
          doubles ? run_trials<double>(stream, options) : run_trials<float>(stream, options);
      EXPECT_EQ(result.trials, 400);
      EXPECT_EQ(result.missed, 0);
      EXPECT_EQ(result.misplaced, 0);
      EXPECT_EQ(result.false_alarms, 0);
      EXPECT_LT(result.largest_share, 1);
      EXPECT_TRUE(result.restored);
      EXPECT_GE(result.corrected,
                150);  // half the faults are sizes over 15 decades, 12 of them large
      std::int64_t far_beyond = 0;
      std::int64_t in_classes = 0;
      for (const auto& fault_class : result.by_bound) {
        in_classes += fault_class.trials;
        if (fault_class.below <= 2) continue;
        EXPECT_EQ(fault_class.corrected, fault_class.trials) << fault_class.below;
        far_beyond += fault_class.trials;
      }
      EXPECT_EQ(in_classes, result.trials);
      EXPECT_GE(far_beyond, 150);
    }
  }
}

/// Eight units of rounding are far below what the bounds of sums can tell.
TEST_P(ExampleAbft, FaultsOfAFewUnitsOfRoundingAreCorrected) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  Setting<double> doubles(device, 150, 130, 170);
  Setting<float> floats(device, 150, 130, 170);
  const auto try_places = [](auto& setting, double roundoff) {
    ASSERT_EQ(setting.check().verdict, Verdict::clean);
    const auto bounds = setting.gemm.bounds();
    for (std::int64_t t = 0; t < 40; ++t) {
      const std::int64_t row = (t * 37 + 5) % setting.m;
      const std::int64_t col = (t * 53 + 2) % setting.n;
      const double unit = roundoff * std::sqrt(static_cast<double>(setting.k)) *
                          bounds.norms_of_a[static_cast<std::size_t>(row)] *
                          bounds.norms_of_b[static_cast<std::size_t>(col)];
      const double size = (t % 2 == 0 ? 9 : -9) * unit;
      ASSERT_LT(std::fabs(size), 0.5 * bounds.columns[static_cast<std::size_t>(col)]);
      SCOPED_TRACE(::testing::Message() << row << ' ' << col << ' ' << size);
      setting.expect_corrected({.row = row, .col = col, .value = size});
    }
  };
  try_places(doubles, 0x1p-53);
  try_places(floats, 0x1p-24);
}

TEST_P(ExampleAbft, HardlyAFaultAboveItsRoundingIsHidden) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  const lanky::examples::abft::TrialOptions options{
      .m = 128, .n = 128, .k = 128, .trials = 2000, .fault_free = 0, .seed = 3};
  for (const TrialResult& result :
       {run_trials<double>(stream, options), run_trials<float>(stream, options)}) {
    EXPECT_LE(result.hidden, 20);  // one in a hundred; by the bounds of sums alone some 200
    EXPECT_EQ(result.missed, 0);
    EXPECT_EQ(result.misplaced, 0);
    EXPECT_EQ(result.false_alarms, 0);
  }
}

/// Partial sums of waves rise far above where they end, and round accordingly.
TEST_P(ExampleAbft, SumsThatCancelRaiseNoAlarm) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const std::int64_t turns : {1, 2, 5}) {
    Setting<float> setting(device, 100, 120, 500);
    std::vector<float> a(static_cast<std::size_t>(setting.m * setting.k));
    std::vector<float> b(static_cast<std::size_t>(setting.k * setting.n));
    const auto angle = [&](std::int64_t l, std::int64_t line) {
      return 6.2831853 * static_cast<double>(l * (turns + line % 3)) /
             static_cast<double>(setting.k);
    };
    for (std::int64_t e = 0; e < setting.m * setting.k; ++e)
      a[static_cast<std::size_t>(e)] =
          static_cast<float>(std::sin(angle(e / setting.m, e % setting.m)));
    for (std::int64_t e = 0; e < setting.k * setting.n; ++e)
      b[static_cast<std::size_t>(e)] =
          static_cast<float>(std::cos(angle(e % setting.k, e / setting.k)));
    setting.a.buffer().copy_from(a);
    setting.b.buffer().copy_from(b);
    setting.gemm.prepare(setting.a.view(), setting.b.view());
    setting.gemm.multiply(setting.a.view(), setting.b.view(), setting.c.view());
    const Report report = setting.check();
    EXPECT_EQ(report.verdict, Verdict::clean) << turns << ' ' << report.share;
  }
}

/// Sums of like numbers are rounded to one side again and again. C is what a plain loop makes of
/// them, which loses more than any library's kernel.
TEST_P(ExampleAbft, SumsOfLikeNumbersRaiseNoAlarm) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const float value : {0.01F, 0.1F, 1.F / 3, 3.3F}) {
    for (const std::int64_t k : {100, 1024, 4096, 20000}) {
      SCOPED_TRACE(::testing::Message() << value << ' ' << k);
      Setting<float> setting(device, 40, 30, k);
      setting.a.buffer().copy_from(std::vector<float>(static_cast<std::size_t>(40 * k), value));
      setting.b.buffer().copy_from(std::vector<float>(static_cast<std::size_t>(k * 30), value));
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum = std::fma(value, value, sum);
      setting.c.buffer().copy_from(std::vector<float>(std::size_t{40 * 30}, sum));
      setting.gemm.prepare(setting.a.view(), setting.b.view());
      const Report clean = setting.check();
      EXPECT_EQ(clean.verdict, Verdict::clean) << clean.share;
      // Of longer ones the drift alone is beyond the bounds of sums: a fault is told, not located.
      if (k <= 4096) setting.expect_corrected({.row = 7, .col = 11, .value = 0.1 * sum});
    }
  }
}

TEST_P(ExampleAbft, FaultsThatAreNoNumbersAreCorrected) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  Setting<double> doubles(device, 33, 47, 29);
  Setting<float> floats(device, 33, 47, 29);
  for (const double value : {kInfinity, -kInfinity, std::nan(""), 1e300, -1e38, 0.0}) {
    const Fault fault{.row = 30, .col = 2, .kind = Fault::Kind::set, .value = value};
    SCOPED_TRACE(value);
    doubles.expect_corrected(fault);
    floats.expect_corrected(fault);
  }
}

TEST_P(ExampleAbft, CornersOfTheMatrixAreCorrected) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  Setting<double> setting(device, 65, 130, 40);
  for (const std::int64_t row : {0, 64}) {
    for (const std::int64_t col : {0, 129})
      setting.expect_corrected({.row = row, .col = col, .value = 1e-6});
  }
}

TEST_P(ExampleAbft, WrongChecksumsLeaveTheResultAlone) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const double value : {1.0, kInfinity}) {
    Setting<double> setting(device, 50, 60, 70);
    const std::vector<double> before = setting.c.buffer().to_host();
    // An expected sum of one column; then an element of R, which all columns' sums depend on.
    const Fault fault{.row = 11, .col = 0, .value = value};
    setting.gemm.elements().inject(setting.stream, fault, setting.gemm.expected_columns(),
                                   setting.report.data());
    Report found = setting.check();
    EXPECT_EQ(found.verdict, Verdict::checksum);
    EXPECT_EQ(found.wrong_columns, 1);
    EXPECT_EQ(found.col, 11);
    EXPECT_EQ(found.wrong_rows, 0);

    setting.gemm.elements().inject(setting.stream, fault, setting.gemm.checksum_of_a(),
                                   setting.report.data());
    setting.gemm.expect(setting.a.view(), setting.b.view());
    found = setting.check();
    EXPECT_EQ(found.verdict, Verdict::checksum);
    EXPECT_GT(found.wrong_columns, 30);
    EXPECT_EQ(found.wrong_rows, 0);
    const std::vector<double> after = setting.c.buffer().to_host();
    EXPECT_EQ(std::memcmp(after.data(), before.data(), after.size() * sizeof(double)), 0);
  }
}

TEST_P(ExampleAbft, SeveralFaultsAreToldAndNotTouched) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const std::int64_t second_col : {5, 6}) {  // in one column, and in two
    Setting<float> setting(device, 50, 60, 70);
    setting.inject({.row = 3, .col = 5, .value = 10});
    setting.inject({.row = 4, .col = second_col, .value = 20});
    const std::vector<float> before = setting.c.buffer().to_host();
    EXPECT_EQ(setting.check().verdict, Verdict::several);
    const std::vector<float> after = setting.c.buffer().to_host();
    EXPECT_EQ(std::memcmp(after.data(), before.data(), after.size() * sizeof(float)), 0);
  }
}

TEST_P(ExampleAbft, ScalesThatSpanDecadesRaiseNoAlarm) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Setting<double> doubles(device, 90, 70, 64, 60, seed);
    const Report found = doubles.check();
    EXPECT_EQ(found.verdict, Verdict::clean) << found.share;
    EXPECT_GT(found.share, 0);
    Setting<float> floats(device, 90, 70, 64, 8, seed);
    EXPECT_EQ(floats.check().verdict, Verdict::clean);
    // A fault of ten times the larger bound there is still found, small as the element may be.
    const auto bounds = doubles.gemm.bounds();
    doubles.expect_corrected(
        {.row = 17, .col = 23, .value = 10 * std::max(bounds.rows[17], bounds.columns[23])});
  }
}

TEST_P(ExampleAbft, ZerosRaiseNoAlarm) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  Setting<double> setting(device, 20, 30, 10);
  setting.a.buffer().fill_zero();
  setting.gemm.prepare(setting.a.view(), setting.b.view());
  setting.gemm.multiply(setting.a.view(), setting.b.view(), setting.c.view());
  EXPECT_EQ(setting.check().verdict, Verdict::clean);
  setting.expect_corrected({.row = 7, .col = 8, .value = 1e-30});
}

TEST_P(ExampleAbft, TimesEveryContestant) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  const auto times = lanky::examples::abft::time_protection<double>(stream, 64, 48, 80, 1);
  EXPECT_EQ(times.size(), device.is_cuda() ? 2U : 1U);
  for (const auto& t : times) {
    EXPECT_EQ(t.verdict, "clean") << t.contestant;
    EXPECT_GT(t.total_ms, 0);
  }
}

TEST_P(ExampleAbft, RefusesWhatItCannotDo) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  lanky::expect_error([&] { ProtectedGemm<float>(stream, 4, 0, 4); },
                      lanky::ErrorCode::invalid_argument, {"n is 0"});
  if (device.is_cuda()) return;
  lanky::expect_error([&] { ProtectedGemm<float>(stream, 4, 4, 4, Encoder::vendor); },
                      lanky::ErrorCode::unsupported, {"GPU"});
}

INSTANTIATE_TEST_SUITE_P(OnExecutor, ExampleAbft,
                         ::testing::Values(DeviceKind::cpu, DeviceKind::cuda),
                         [](const auto& executor) {
                           return executor.param == DeviceKind::cpu ? "cpu" : "cuda";
                         });

using ExampleAbftProgram = lanky::testing::ProgramTest;

TEST_F(ExampleAbftProgram, WritesItsLines) {
  const auto ran = shell("'" + lanky::testing::beside_the_test("abft") +
                         "' --device cpu --trials 60 --fault-free 3 -m 30 -n 40 -k 50 --time 32 "
                         "--rounds 1 --json '" +
                         json() + "'");
  EXPECT_EQ(ran.exit_code, 0) << ran.err << ran.out;
  const auto written = of_kind("abft");
  ASSERT_EQ(written.size(), 4U);  // trials and times of two types
  EXPECT_EQ(written[0]["trials"], 60);
  EXPECT_EQ(written[0]["fault_free"], 4);
  EXPECT_EQ(written[0]["missed"], 0);
  EXPECT_EQ(written[1]["contestant"], "lanky");
  EXPECT_EQ(written[3]["dtype"], "f32");
}

}  // namespace
