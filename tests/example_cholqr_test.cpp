// The factorization of examples/cholqr: Q orthogonal, R the one of Householder's, Q R = A, and a
// clear error where the method does not serve.
#include <gtest/gtest.h>

#include <cmath>
#include <lanky/buffer.hpp>
#include <lanky/cholesky_qr.hpp>
#include <memory>
#include <tuple>
#include <vector>

#include "examples/cholqr/cholqr.hpp"
#include "examples/cholqr/measure.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/program.hpp"

namespace {

using lanky::CholeskyQr;
using lanky::Device;
using lanky::DeviceKind;
using lanky::ErrorCode;
using lanky::Matrix;
using lanky::Stream;
using lanky::examples::cholqr::fill_conditioned;
using lanky::examples::cholqr::make_tall_work;
using lanky::examples::cholqr::TallWork;

template <class T>
struct Factored {
  Stream stream;
  std::unique_ptr<TallWork<T>> work;
  CholeskyQr<T> qr;
  Matrix<T> a;
  Matrix<T> q;
  Matrix<T> r;

  Factored(const Device& device, std::int64_t m, std::int64_t n, double condition,
           bool shifted = false)
      : stream(device),
        work(make_tall_work<T>(stream)),
        qr(stream, m, n, {.shifted = shifted}),
        a(stream, m, n),
        q(stream, m, n),
        r(stream, n, n) {
    fill_conditioned(stream, *work, condition, 3, q.view(), a.view());
    run();
  }
  void run() { qr.run(a.view(), q.view(), r.view()); }
  double orthogonality() { return work->orthogonality(stream, q.view()); }
  double residual() { return work->residual(stream, a.view(), q.view(), r.view()); }
};

/// R of Householder's QR of a[m, n], column major, in long double; its diagonal made positive.
std::vector<long double> householder_r(std::vector<long double> a, std::size_t m, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    long double square = 0;
    for (std::size_t i = j; i < m; ++i)
      square += a[i + j * m] * a[i + j * m];
    std::vector<long double> v(m);
    for (std::size_t i = j; i < m; ++i)
      v[i] = a[i + j * m];
    v[j] += std::copysign(std::sqrt(square), v[j]);
    long double v_square = 0;
    for (std::size_t i = j; i < m; ++i)
      v_square += v[i] * v[i];
    for (std::size_t c = j; c < n && v_square > 0; ++c) {
      long double product = 0;
      for (std::size_t i = j; i < m; ++i)
        product += v[i] * a[i + c * m];
      for (std::size_t i = j; i < m; ++i)
        a[i + c * m] -= 2 * product / v_square * v[i];
    }
  }
  std::vector<long double> r(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = i; c < n; ++c)
      r[i + c * n] = std::copysign(1.0L, a[i + i * m]) * a[i + c * m];
  }
  return r;
}

class ExampleCholqr : public ::testing::TestWithParam<DeviceKind> {};

TEST_P(ExampleCholqr, FactorsOfConditionsUpToAMillion) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const auto& [m, n] : {std::tuple{2000, 16}, {700, 1}, {333, 33}, {500, 128}, {1000, 64}}) {
    for (const double condition : {1.0, 1e3, 1e6}) {
      SCOPED_TRACE(::testing::Message() << m << " x " << n << ", " << condition);
      Factored<double> f(device, m, n, condition);
      f.qr.check();
      EXPECT_LT(f.orthogonality(), 5e-15 * std::sqrt(n));
      EXPECT_LT(f.residual(), 1e-14);
    }
  }
  Factored<float> f(device, 2000, 16, 100);
  f.qr.check();
  EXPECT_LT(f.orthogonality(), 2e-6);
  EXPECT_LT(f.residual(), 2e-6);
  Factored<double> square(device, 24, 24, 1);
  square.qr.check();
  EXPECT_LT(square.orthogonality(), 2e-14);
  EXPECT_LT(square.residual(), 1e-13);
}

TEST_P(ExampleCholqr, TheJudgementSeesWhatIsWrong) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  Factored<double> f(device, 100, 5, 10);
  std::vector<double> q = f.q.buffer().to_host();
  q[4 * 100 + 99] += 1e-3;  // the last element
  f.q.buffer().copy_from(q);
  EXPECT_GT(f.orthogonality(), 1e-5);
  EXPECT_GT(f.residual(), 1e-6);
  EXPECT_LT(f.residual(), 1e-2);
}

TEST_P(ExampleCholqr, RIsThatOfHouseholder) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  constexpr std::size_t kRows = 150;
  constexpr std::size_t kCols = 40;
  for (const double condition : {1.0, 1e4}) {
    Factored<double> f(device, kRows, kCols, condition);
    const std::vector<double> a = f.a.buffer().to_host();
    const std::vector<double> r = f.r.buffer().to_host();
    const auto expected = householder_r({a.begin(), a.end()}, kRows, kCols);
    for (std::size_t c = 0; c < kCols; ++c) {
      EXPECT_GT(r[c + c * kCols], 0);
      for (std::size_t i = 0; i < kCols; ++i) {
        const std::size_t e = i + c * kCols;
        if (i > c)
          EXPECT_EQ(r[e], 0);
        else
          EXPECT_NEAR(r[e], static_cast<double>(expected[e]), 1e-13 * condition * 10);
      }
    }
  }
}

TEST_P(ExampleCholqr, DependentColumnsAreAnError) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  Factored<double> f(device, 300, 6, 1);
  const std::vector<double> good = f.a.buffer().to_host();
  std::vector<double> dependent = good;
  for (std::size_t i = 0; i < 300; ++i)
    dependent[4 * 300 + i] = dependent[i] - dependent[300 + i];
  f.a.buffer().copy_from(dependent);
  f.run();
  lanky::expect_error([&] { f.qr.check(); }, ErrorCode::unsupported,
                      {"pass 1", "pivot 5 of 6", "a shift may do"});
  EXPECT_TRUE(std::isnan(f.q.buffer().to_host()[0]));
  EXPECT_TRUE(std::isnan(f.r.buffer().to_host()[0]));
  f.a.buffer().copy_from(good);
  f.run();
  f.qr.check();
  EXPECT_LT(f.orthogonality(), 1e-14);
}

TEST_P(ExampleCholqr, AShiftServesLargerConditions) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  Factored<double> plain(device, 3000, 20, 1e12);
  lanky::expect_error([&] { plain.qr.check(); }, ErrorCode::unsupported, {"pass 1"});
  Factored<double> shifted(device, 3000, 20, 1e12, true);
  shifted.qr.check();
  EXPECT_LT(shifted.orthogonality(), 3e-14);
  EXPECT_LT(shifted.residual(), 1e-13);
}

TEST_P(ExampleCholqr, AReplayGivesTheSameBits) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  Factored<float> f(device, 5000, 12, 10);
  const std::vector<float> q = f.q.buffer().to_host();
  const std::vector<float> r = f.r.buffer().to_host();
  const auto replay = lanky::examples::cholqr::replay(f.stream, [&] { f.run(); });
  f.q.buffer().fill_zero();
  f.r.buffer().fill_zero();
  replay();
  EXPECT_EQ(f.q.buffer().to_host(), q);
  EXPECT_EQ(f.r.buffer().to_host(), r);
}

TEST_P(ExampleCholqr, MeasuresEveryContestant) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const auto outcomes = lanky::examples::cholqr::measure<double>(
      Stream(device), {.m = 4000, .n = 24, .condition = 100, .rounds = 2});
  ASSERT_EQ(outcomes.size(), device.is_cuda() ? 3U : 1U);
  for (const auto& outcome : outcomes) {
    SCOPED_TRACE(outcome.contestant);
    EXPECT_EQ(outcome.status, "ok") << outcome.error;
    EXPECT_GT(outcome.ms, 0);
    EXPECT_LT(outcome.orthogonality, 1e-13);
    EXPECT_LT(outcome.residual, 1e-13);
  }
}

TEST_P(ExampleCholqr, RefusesWhatItCannotDo) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  lanky::expect_error(
      [&] { lanky::examples::cholqr::measure<double>(stream, {.m = 1000, .n = 129}); },
      ErrorCode::invalid_argument, {"1000 x 129", "128"});
}

INSTANTIATE_TEST_SUITE_P(OnExecutor, ExampleCholqr,
                         ::testing::Values(DeviceKind::cpu, DeviceKind::cuda),
                         [](const auto& executor) {
                           return executor.param == DeviceKind::cpu ? "cpu" : "cuda";
                         });

using ExampleCholqrProgram = lanky::testing::ProgramTest;

TEST_F(ExampleCholqrProgram, WritesItsLinesAndTellsOfABreakdown) {
  const std::string program = "'" + lanky::testing::beside_the_test("cholqr") +
                              "' --device cpu -m 500 --rounds 1 --json '" + json() + "' ";
  EXPECT_EQ(shell(program + "-n 8,16").exit_code, 0);
  auto written = of_kind("cholqr");
  ASSERT_EQ(written.size(), 4U);
  EXPECT_EQ(written[3]["n"], 16);
  EXPECT_EQ(written[3]["dtype"], "f32");
  EXPECT_EQ(written[3]["contestant"], "lanky-cholqr2");
  EXPECT_LT(written[0]["orthogonality"], 1e-13);
  EXPECT_EQ(shell(program + "-n 8 --condition 1e12 --dtype f64").exit_code, 1);
  written = of_kind("cholqr");
  EXPECT_EQ(written.back()["status"], "unsupported");
  EXPECT_FALSE(written.back().contains("ms"));
}

}  // namespace
