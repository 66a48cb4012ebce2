// Measuring on a GPU: times against a loop of CUDA events written by hand, the streaming kernel's
// traffic, the device's own data, and the vendors' products.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <lanky/lanky.hpp>
#include <memory>
#include <span>
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/cases/gemm_case.hpp"
#include "bench/cases/operand.hpp"
#include "bench/cases/sddmm_case.hpp"
#include "bench/cases/spmv_case.hpp"
#include "bench/harness/floor.hpp"
#include "bench/harness/gpu.hpp"
#include "bench/harness/oracle.hpp"
#include "bench/harness/spmv_oracle.hpp"
#include "bench/harness/stopwatch.hpp"
#include "bench/records/environment.hpp"
#include "support/executor.hpp"

namespace lanky::bench {
namespace {

MeasureOptions short_timing() {
  return {
      .target_noise = 0.05, .min_rounds = 6, .max_rounds = 12, .max_seconds = 0.2, .batch_ms = 0.2};
}

/// Microseconds per launch between two events, median of 11 batches, nothing of the harness used.
template <class Launch>
double by_hand_us(cudaStream_t stream, int count, Launch launch) {
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  EXPECT_EQ(cudaEventCreate(&start), cudaSuccess);
  EXPECT_EQ(cudaEventCreate(&end), cudaSuccess);
  std::vector<float> times;
  for (int batch = 0; batch < 13; ++batch) {
    cudaEventRecord(start, stream);
    for (int i = 0; i < count; ++i)
      launch();
    cudaEventRecord(end, stream);
    EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, end);
    if (batch >= 2) times.push_back(ms);  // two to warm up
  }
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return static_cast<double>(times[times.size() / 2]) * 1e3 / count;
}

struct Comparison {
  double batch;  // harness / by hand
  double graph;
};

/// Times one streaming kernel in the harness and by hand.
Comparison compare_times(Session& session, std::int64_t bytes) {
  const Buffer<char> source(session.stream, bytes);
  Buffer<char> target(session.stream, bytes);
  const auto product = [&](const Stream& stream, int /*slot*/) {
    gpu::stream_bytes(stream, {source.data(), bytes, target.data(), bytes, nullptr}, 4);
  };
  const Lap lap{.product = product, .cold = false};
  const Timing timing = time_laps(session, {&lap, 1}).front();
  EXPECT_TRUE(timing.graph.has_value()) << timing.graph_failure;

  cudaStream_t stream = session.stream.native();
  const int count = static_cast<int>(std::clamp(4000.0 / timing.warm.median_us, 1.0, 1000.0));
  const double batch = by_hand_us(stream, count, [&] { product(session.stream, 0); });
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  for (int i = 0; i < count; ++i)
    product(session.stream, 0);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  const double replay = by_hand_us(stream, 1, [&] { cudaGraphLaunch(executable, stream); }) / count;
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return {timing.warm.median_us / batch, timing.graph->median_us / replay};
}

TEST(BenchCuda, TimesAgreeWithALoopWrittenByHand) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, MeasureOptions());
  for (const std::int64_t bytes : {16LL << 20, 64LL << 20, 1LL << 30}) {
    Comparison ratio{};
    for (int attempt = 0; attempt < 3; ++attempt) {  // another user of the machine may disturb one
      ratio = compare_times(session, bytes);
      if (std::fabs(ratio.batch - 1) < 0.03 && std::fabs(ratio.graph - 1) < 0.03) break;
    }
    EXPECT_NEAR(ratio.batch, 1, 0.03) << bytes << " bytes, batch";
    EXPECT_NEAR(ratio.graph, 1, 0.03) << bytes << " bytes, graph";
  }
}

TEST(BenchCuda, ColdIsSlowerThanWarmForWhatTheCacheHolds) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, MeasureOptions());
  const std::int64_t bytes = static_cast<std::int64_t>(device.properties().l2_bytes) / 4;
  const Buffer<char> source(session.stream, bytes);
  const auto product = [&](const Stream& stream, int /*slot*/) {
    gpu::stream_bytes(stream, {source.data(), bytes, nullptr, 0, nullptr}, 4);
  };
  const Lap lap{.product = product};
  const Timing timing = time_laps(session, {&lap, 1}).front();
  ASSERT_TRUE(timing.graph && timing.cold);
  EXPECT_GT(timing.cold->median_us, 1.1 * timing.graph->median_us);
}

TEST(BenchCuda, AFailedCaptureIsSaidAndHarmsNothing) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, short_timing());
  const Lap lap{.product = [](const Stream& stream, int) { stream.synchronize(); }};
  const Timing timing = time_laps(session, {&lap, 1}).front();
  EXPECT_FALSE(timing.graph.has_value());
  EXPECT_FALSE(timing.graph_failure.empty());
  session.stream.synchronize();
  Buffer<int> after(session.stream, 3);
  after.fill_zero();
  EXPECT_EQ(after.to_host(), std::vector<int>(3));
}

TEST(BenchCuda, TheClockIsPlausible) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  const double mhz = gpu::sm_clock_mhz(stream);
  EXPECT_GT(mhz, 200);
  EXPECT_LT(mhz, 4000);
}

TEST(BenchCuda, MemoryOfAWhileIsSeen) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  constexpr std::int64_t kMegabyte = 1 << 20;
  Buffer<char> before(stream, 64 * kMegabyte);
  before = Buffer<char>(stream, 4 * kMegabyte);  // freed before the watch
  gpu::watch_memory(stream);
  EXPECT_EQ(gpu::transient_bytes(stream), 0);
  {
    const Buffer<char> held(stream, 8 * kMegabyte);
    EXPECT_EQ(gpu::transient_bytes(stream), 0);  // still in use
    const Buffer<char> above(stream, 24 * kMegabyte);
  }
  const Buffer<char> after(stream, 2 * kMegabyte);
  // 36 MB were in use, and 6 are; the pool rounds up.
  EXPECT_NEAR(static_cast<double>(gpu::transient_bytes(stream)), 30.0 * kMegabyte, kMegabyte);
}

/// Bytes that a streaming kernel of `write` bytes changed in a zeroed buffer of `size`.
std::int64_t bytes_written(const Stream& stream, std::int64_t write, std::int64_t size,
                           int unroll) {
  Buffer<unsigned char> target(stream, size);
  target.fill_zero();
  gpu::stream_bytes(stream, {nullptr, 0, target.data(), write, nullptr}, unroll);
  const std::vector<unsigned char> host = target.to_host();
  for (std::int64_t i = 0; i < size; ++i) {
    if ((host[static_cast<std::size_t>(i)] != 0) != (i < write)) return i;
  }
  return write;
}

TEST(BenchCuda, TheFloorWritesTheDeclaredBytes) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  for (const int unroll : gpu::kStreamingUnrolls) {
    for (const std::int64_t write : {16LL, 4096LL, 16384LL * 8 + 16, 1'000'000LL / 16 * 16})
      EXPECT_EQ(bytes_written(stream, write, write + 4096, unroll), write) << "unroll " << unroll;
  }
}

TEST(BenchCuda, TheFloorReadsTheDeclaredBytesAndNoMore) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  constexpr std::int64_t kVectors = 9001;  // 16 bytes each
  constexpr std::int64_t kWritten = 3000;  // 16-byte words written beside
  Buffer<char> target(stream, kWritten * 16);
  for (const int unroll : gpu::kStreamingUnrolls) {
    // A thread that loads the sentinel, and zeros elsewhere, reports it.
    for (const std::int64_t place :
         {0LL, 1LL, 255LL, 256LL, 2047LL, 2048LL, 4500LL, 8999LL, 9000LL}) {
      std::vector<std::uint32_t> host(kVectors * 4);
      std::fill_n(host.begin() + place * 4, 4, 0xa5a5a5a5U);
      const Buffer<std::uint32_t> source = Buffer<std::uint32_t>::from(stream, host);
      for (const std::int64_t read : {kVectors, place}) {  // up to and including, or up to it
        Buffer<std::uint32_t> seen(stream, 1);
        seen.fill_zero();
        gpu::stream_bytes(
            stream, {source.data(), read * 16, target.data(), kWritten * 16, seen.data()}, unroll);
        EXPECT_EQ(seen.to_host()[0], read > place ? 1U : 0U)
            << "unroll " << unroll << ", sentinel at " << place << ", " << read << " read";
      }
    }
  }
}

TEST(BenchCuda, TheReadFloorIsThatOfTheCard) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, MeasureOptions());
  const double tbs = read_floor_tbs(session);
  EXPECT_GT(tbs, 0.1);
  EXPECT_LT(tbs, 20);
  EXPECT_FALSE(floor_is_void(device.properties().name, tbs)) << tbs << " TB/s";
  const MemoryPeak peak = memory_peak(device);
  EXPECT_LT(tbs, peak.memory_bytes_per_us / 1e6) << "nothing reads faster than the memory's bus";
  EXPECT_GT(tbs, 0.6 * peak.memory_bytes_per_us / 1e6);
  EXPECT_GT(peak.processors_bytes_per_us, peak.memory_bytes_per_us);
}

std::complex<double> widened(std::complex<double> value) {
  return value;
}
std::complex<double> widened(std::complex<float> value) {
  return value;
}
template <class T>
std::complex<double> widened(T value) {
  return static_cast<double>(value);
}
bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

template <class T>
void expect_same_fill(Device device, Layout layout) {
  const Stream gpu_stream(device);
  const Stream cpu_stream(Device::cpu());
  for (const Fill fill : {Fill::integers, Fill::random}) {
    Matrix<T> there(gpu_stream, 37, 19, layout, 41);
    Matrix<T> here(cpu_stream, 37, 19, layout, 41);
    fill_matrix(gpu_stream, there.view(), fill, 5);
    fill_matrix(cpu_stream, here.view(), fill, 5);
    const std::vector<T> a = there.buffer().to_host();
    const std::vector<T> b = here.buffer().to_host();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::complex<double> x = widened(a[i]);
      const std::complex<double> y = widened(b[i]);
      ASSERT_TRUE(same(x.real(), y.real()) && same(x.imag(), y.imag()))
          << i << ": " << x << ", " << y;
    }
  }
}

TEST(BenchCuda, DataIsThatOfTheHost) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  for (const Layout layout : {Layout::col, Layout::row}) {
    expect_same_fill<double>(device, layout);
    expect_same_fill<float>(device, layout);
    expect_same_fill<half>(device, layout);
    expect_same_fill<bfloat16>(device, layout);
    expect_same_fill<std::complex<float>>(device, layout);
    expect_same_fill<std::complex<double>>(device, layout);
  }
}

void expect_ok(const CaseReport& report) {
  for (const Outcome& outcome : report.outcomes) {
    EXPECT_EQ(to_string(outcome.status), "ok")
        << outcome.contestant << " " << outcome.variant << ": " << outcome.message;
    if (!outcome.timing) continue;
    EXPECT_TRUE(outcome.timing->graph.has_value())
        << outcome.contestant << " " << outcome.variant << ": " << outcome.timing->graph_failure;
    EXPECT_GT(outcome.timing->warm.median_us, 0);
  }
  EXPECT_TRUE(report.floor && report.floor->graph);
}

void expect_sparse_ok(Session& session, const std::string& spec, std::size_t contestants) {
  const CsrMatrix<double> pattern = io::generate<double>(spec);
  SpmvMatrix matrix(session.stream, spec, "", pattern);
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const auto workload = make_spmv_workload(session, matrix, dtype, SpmvSelection());
    const CaseReport report = run_workload(session, *workload);
    ASSERT_EQ(report.outcomes.size(), contestants) << spec;
    EXPECT_EQ(report.outcomes[3].variant, "sell");
    for (const Outcome& outcome : report.outcomes) {
      if (outcome.variant == "sell" || outcome.variant.starts_with("bsr")) {
        EXPECT_TRUE(outcome.status == Status::ok || outcome.status == Status::unsupported)
            << outcome.variant << " " << to_string(dtype) << ": " << to_string(outcome.status)
            << ", " << outcome.message;
      } else {
        EXPECT_EQ(to_string(outcome.status), "ok") << outcome.contestant << " " << outcome.message;
      }
      EXPECT_EQ(outcome.update_us.has_value(), outcome.contestant == "lanky");
      EXPECT_EQ(outcome.setup_bytes.has_value(), outcome.contestant == "lanky");
    }
    EXPECT_GT(report.outcomes[0].update_us.value_or(0), 0);
  }
}

TEST(BenchCuda, SparseVendorsAreRightInEveryType) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, short_timing());
  expect_sparse_ok(session, "mixed:3000", 4);    // lanky, ALG1, ALG2, sliced ELL
  expect_sparse_ok(session, "dense:61:45", 8);   // and blocks of every side, some over the edge
  expect_sparse_ok(session, "huge:70000:3", 4);  // rows for a block of the oracle
}

/// lanky's product, but for the calls of which `works` is false.
SpmvEntrant sparing(const char* name, std::function<bool(cudaStream_t stream, int call)> works) {
  return {name, "", [works](const Stream& stream, const SpmvOperands& operands) {
            const SpmvRows rows = operands.matrix.on_device();
            const CsrView<double> a{rows.rows,
                                    operands.matrix.cols(),
                                    operands.matrix.nnz(),
                                    rows.offsets,
                                    rows.columns,
                                    static_cast<const double*>(operands.values),
                                    0};
            auto plan = std::make_shared<SparsePlan<double>>(stream, a);
            auto calls = std::make_shared<int>(0);
            BuiltSpmv built;
            built.run = [=](const Stream& on) {
              if (!works(on.native(), (*calls)++)) return;
              plan->run(on,
                        VectorView<const double>{static_cast<const double*>(operands.x), a.cols},
                        VectorView<double>{static_cast<double*>(operands.y), a.rows});
            };
            return built;
          }};
}

TEST(BenchCuda, WhoSparesTheWorkIsFoundInEachWayOfTiming) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, short_timing());
  const CsrMatrix<double> pattern = io::generate<double>("mixed:3000");
  SpmvMatrix matrix(session.stream, "mixed:3000", "varying", pattern);
  const auto captured = [](cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    cudaStreamIsCapturing(stream, &status);
    return status == cudaStreamCaptureStatusActive;
  };
  SpmvSelection selection{.paths = {}, .vendors = false};
  selection.entrants = {
      sparing("honest", [](cudaStream_t, int) { return true; }),
      sparing("three-calls", [](cudaStream_t, int call) { return call < 3; }),
      sparing("not-each-seventh", [](cudaStream_t, int call) { return call % 7 != 6; }),
      sparing("not-in-graphs", [=](cudaStream_t stream, int) { return !captured(stream); })};
  const CaseReport report =
      run_workload(session, *make_spmv_workload(session, matrix, DType::f64, selection));
  ASSERT_EQ(report.outcomes.size(), 4U);
  EXPECT_EQ(report.outcomes[0].status, Status::ok) << report.outcomes[0].message;
  EXPECT_TRUE(report.outcomes[0].timing.has_value());
  for (std::size_t i = 1; i < report.outcomes.size(); ++i) {
    const Outcome& outcome = report.outcomes[i];
    EXPECT_EQ(outcome.status, Status::wrong) << outcome.contestant;
    EXPECT_FALSE(outcome.timing.has_value()) << outcome.contestant;
    EXPECT_NE(outcome.message.find("timed: element "), std::string::npos) << outcome.message;
  }
}

TEST(BenchCuda, TheSparseOracleIsThatOfTheHost) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream there(device);
  const Stream here(Device::cpu());
  const CsrMatrix<double> pattern = io::generate<double>("huge:12000:2");
  const SpmvMatrix a(there, "a", "", pattern);
  const SpmvMatrix b(here, "b", "", pattern);
  SpmvOracle gpu(there, a);
  SpmvOracle host(here, b);
  // T: of the components.
  const auto check = [&]<class T>(std::type_identity<T>, DType dtype, Fill fill,
                                  SpmvColumns columns) {
    const SpmvData data{fill, dtype};
    gpu.compute(data, columns.count);
    host.compute(data, columns.count);
    const int parts = components(dtype);
    const SpmvResult place{nullptr, pattern.rows, columns, parts};
    std::vector<T> y(static_cast<std::size_t>(place.size()));
    for (std::int64_t k = 0; k < place.size(); ++k) {
      const std::int64_t i = k / parts % pattern.rows;
      const std::int64_t of_x = k / parts / pattern.rows * pattern.cols;
      InnerProduct sum;
      for (auto e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e)
        data.add_term(sum, e, pattern.col_indices[e] + of_x, static_cast<int>(k % parts));
      y[place.offset(k)] = static_cast<T>(sum.result().value);
    }
    const auto both = [&] {
      const Verdict found = gpu.check(Buffer<T>::from(there, y).data(), Math::ieee, columns);
      const Verdict expected = host.check(y.data(), Math::ieee, columns);
      EXPECT_EQ(found.right, expected.right);
      EXPECT_EQ(found.digest, expected.digest);
      // "element 7"; the sums of long rows may differ in their last bit.
      EXPECT_EQ(found.message.substr(0, found.message.find(" is ")),
                expected.message.substr(0, expected.message.find(" is ")));
      if (found.right) {
        EXPECT_NEAR(found.error, expected.error, 1e-15);
      }
      return found.right;
    };
    EXPECT_TRUE(both());
    const std::int64_t last = (columns.count - 1) * place.column_size();
    for (const std::int64_t wrong : {last + 6000, last + 11999, std::int64_t{0}}) {
      T& element = y[place.offset(wrong)];
      const auto value = static_cast<double>(element);
      element = static_cast<T>(value * 1.02 + (value < 0 ? -0.5 : 0.5));
      EXPECT_FALSE(both());
    }
    y[place.offset(77)] = static_cast<T>(std::nan(""));
    EXPECT_FALSE(both());
  };
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
    for (const Fill fill : {Fill::integers, Fill::random}) {
      for (const SpmvColumns columns : {SpmvColumns{}, {3, Layout::row}, {3, Layout::col}}) {
        SCOPED_TRACE(std::string(to_string(dtype)) + " " + std::to_string(columns.count) + " " +
                     std::string(to_string(columns.layout)));
        visit_real_dtype(component_type(dtype), [&]<class T>(std::type_identity<T> type) {
          check(type, dtype, fill, columns);
        });
      }
    }
  }
}

TEST(BenchCuda, TheSddmmOracleIsThatOfTheHost) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream there(device);
  const Stream here(Device::cpu());
  const CsrMatrix<double> pattern = io::generate<double>("mixed:3000");
  const SpmvMatrix a(there, "a", "", pattern);
  const SpmvMatrix b(here, "b", "", pattern);
  SddmmOracle gpu(there, a);
  SddmmOracle host(here, b);
  // T: of the components.
  const auto check = [&]<class T>(std::type_identity<T>, const SpmvData& data,
                                  std::int64_t columns) {
    gpu.compute(data, columns);
    host.compute(data, columns);
    const int parts = components(data.dtype);
    std::vector<T> values;
    for (std::int64_t i = 0; i < pattern.rows; ++i) {
      for (auto k = parts * pattern.row_offsets[i]; k < parts * pattern.row_offsets[i + 1]; ++k) {
        InnerProduct sum;
        for (std::int64_t c = 0; c < columns; ++c)
          data.add_term(sum, i + c * pattern.rows,
                        pattern.col_indices[k / parts] + c * pattern.cols,
                        static_cast<int>(k % parts));
        values.push_back(static_cast<T>(sum.result().value));
      }
    }
    const auto both = [&] {
      const Verdict found = gpu.check(Buffer<T>::from(there, values).data());
      const Verdict expected = host.check(values.data());
      EXPECT_EQ(found.right, expected.right);
      EXPECT_EQ(found.digest, expected.digest);
      EXPECT_EQ(found.message, expected.message);
      EXPECT_EQ(found.error, expected.error);
      return found.right;
    };
    EXPECT_TRUE(both());
    for (const std::size_t wrong : {values.size() / 2, values.size() - 1, std::size_t{0}}) {
      const auto value = static_cast<double>(values[wrong]);
      values[wrong] = static_cast<T>(value * 1.02 + (value < 0 ? -0.5 : 0.5));
      EXPECT_FALSE(both());
    }
    values[77] = static_cast<T>(std::nan(""));
    EXPECT_FALSE(both());
  };
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
    for (const Fill fill : {Fill::integers, Fill::random}) {
      for (const std::int64_t columns : {1, 9}) {
        SCOPED_TRACE(std::string(to_string(dtype)) + " x " + std::to_string(columns));
        visit_real_dtype(component_type(dtype), [&]<class T>(std::type_identity<T> type) {
          check(type, {fill, dtype}, columns);
        });
      }
    }
  }
}

TEST(BenchCuda, SddmmVendorsAreRight) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, short_timing());
  for (const char* const spec : {"mixed:3000", "dense:61:45", "short:500:3,cols=70"}) {
    const CsrMatrix<double> pattern = io::generate<double>(spec);
    const SpmvMatrix matrix(session.stream, spec, "", pattern);
    for (const DType dtype :
         {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
      for (const SpmvColumns columns : {SpmvColumns{8, Layout::row},
                                        {8, Layout::col},
                                        {33, Layout::row},
                                        {33, Layout::col},
                                        {1, Layout::col}}) {
        SCOPED_TRACE(std::string(spec) + " " + std::string(to_string(dtype)) + " x " +
                     std::to_string(columns.count) + " " + std::string(to_string(columns.layout)));
        const auto workload = make_sddmm_workload(session, matrix, dtype, columns);
        const CaseReport report = run_workload(session, *workload);
        ASSERT_EQ(report.outcomes.size(), 3U);
        const Outcome& own = report.outcomes[0];
        EXPECT_EQ(to_string(own.status), "ok") << own.message;
        EXPECT_EQ(own.reproducible, true);
        EXPECT_TRUE(own.setup_bytes.has_value());
        for (const Outcome& rival : std::span(report.outcomes).subspan(1)) {
          EXPECT_EQ(rival.contestant, "cusparse");
          // Halves may be summed in halves, and are told to be wrong, as of SpMM.
          const bool loose = is_half(dtype) && rival.status == Status::wrong;
          EXPECT_TRUE(rival.status == Status::ok || rival.expected() || loose)
              << rival.variant << ": " << rival.message;
          if (rival.variant == "default" && (dtype == DType::f64 || dtype == DType::f32)) {
            EXPECT_EQ(to_string(rival.status), "ok") << rival.message;
          }
        }
      }
    }
  }
}

TEST(BenchCuda, SparseVendorsAreRightForSeveralColumns) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, short_timing());
  for (const char* const spec : {"mixed:3000", "dense:60:48", "dense:61:45"}) {
    const CsrMatrix<double> pattern = io::generate<double>(spec);
    SpmvMatrix matrix(session.stream, spec, "", pattern);
    for (const DType dtype :
         {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
      const SpmvWorkloads workloads = spmv_workloads(session, matrix, dtype, SpmvSelection());
      for (const SpmvColumns columns :
           {SpmvColumns{2, Layout::row}, {7, Layout::col}, {32, Layout::row}, {1, Layout::col}}) {
        SCOPED_TRACE(std::string(spec) + " " + std::string(to_string(dtype)) + " x " +
                     std::to_string(columns.count) + " " + std::string(to_string(columns.layout)));
        const CaseReport report = run_workload(session, *workloads(columns));
        EXPECT_GE(report.outcomes.size(), 4U);
        for (const Outcome& outcome : report.outcomes) {
          // cuSPARSE 12.6 adds up some rows of halves in halves, and is told to be wrong.
          const bool loose =
              is_half(dtype) && outcome.contestant == "cusparse" && outcome.status == Status::wrong;
          EXPECT_TRUE(outcome.status == Status::ok || outcome.expected() || loose)
              << outcome.contestant << " " << outcome.variant << ": " << outcome.message;
          if (columns.count > 1 && outcome.variant == "alg2" && !loose) {
            EXPECT_EQ(to_string(outcome.status), "ok") << outcome.message;
          }
          if (outcome.contestant == "lanky" || outcome.variant == "alg3") {
            EXPECT_TRUE(outcome.reproducible.value_or(true)) << outcome.variant;
          }
        }
      }
    }
  }
}

TEST(BenchCuda, DenseVendorsAreRightInEveryTypeLayoutAndTranspose) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, short_timing());
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (const Op op_a : {Op::none, Op::trans}) {
        const GemmCase gemm{.m = 300,
                            .n = 8,
                            .k = 200,
                            .op_a = op_a,
                            .op_b = op_a == Op::none ? Op::trans : Op::none,
                            .layout = layout,
                            .padded = true,
                            .alpha = 2,
                            .beta = 0.5,
                            .type = GemmType::same(dtype)};
        SCOPED_TRACE(std::string(to_string(dtype)) + " " + std::string(to_string(layout)) + " " +
                     std::string(to_string(op_a)));
        const auto workload = make_gemm_workload(session, gemm);
        expect_ok(run_workload(session, *workload));
      }
    }
  }
}

/// Every contestant but lanky is right.
void expect_vendors_ok(Session& session, const GemmCase& gemm) {
  SCOPED_TRACE(gemm_case_name(gemm) + " " + std::string(to_string(gemm.type)) + " " +
               std::string(to_string(gemm.layout)) + " " + std::string(to_string(gemm.op_a)) +
               std::string(to_string(gemm.op_b)));
  const auto workload = make_gemm_workload(session, gemm);
  const CaseReport report = run_workload(session, *workload);
  for (const Outcome& outcome : report.outcomes) {
    if (outcome.contestant == "lanky") continue;
    EXPECT_EQ(to_string(outcome.status), "ok")
        << outcome.contestant << " " << outcome.variant << ": " << outcome.message;
  }
}

TEST(BenchCuda, VectorTriangleComplexAndTensorRivalsAreRight) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Session session(device, short_timing());
  const GemmType types[] = {GemmType::same(DType::f64),
                            GemmType::same(DType::c64),
                            GemmType::same(DType::c128),
                            {DType::f32, DType::f32, Math::tf32},
                            {DType::f32, DType::f32, Math::tf32x3},
                            {DType::f16, DType::f32, Math::ieee}};
  for (const GemmType& type : types) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const Op across = is_complex(type.in) ? Op::conj_trans : Op::trans;
      GemmCase gemm{.m = 1, .n = 300, .k = 200, .op_a = across, .layout = layout, .type = type};
      expect_vendors_ok(session, gemm);
      std::swap(gemm.m, gemm.n);
      gemm.alpha = 2;
      gemm.beta = 0.5;
      gemm.padded = true;
      expect_vendors_ok(session, gemm);
      gemm = {.m = 13, .n = 13, .k = 5000, .op_a = across, .layout = layout, .type = type};
      gemm.symmetric = true;
      expect_vendors_ok(session, gemm);
      std::swap(gemm.op_a, gemm.op_b);
      expect_vendors_ok(session, gemm);
    }
  }
}

TEST(BenchCuda, TheOracleIsThatOfTheHost) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  for (const DType dtype : {DType::f64, DType::bf16, DType::c64}) {
    for (const std::int64_t k : {3, 100, 50'000}) {
      const DenseData data{.fill = Fill::random,
                           .in = dtype,
                           .out = dtype,
                           .op_a = Op::conj_trans,
                           .k = k,
                           .a_rows = k,
                           .b_rows = k,
                           .c_rows = 7,
                           .alpha = 2,
                           .beta = 0.5};
      std::vector<Place> places;
      for (std::int64_t i = 0; i < 7; ++i)
        places.push_back({i, 2 * i, is_complex(dtype) ? static_cast<int>(i % 2) : 0});
      const auto there = references(Stream(device), data, places);
      const auto here = references(Stream(Device::cpu()), data, places);
      for (std::size_t p = 0; p < places.size(); ++p) {
        // Summed in another order: the correction holds to far below fp64's roundoff.
        EXPECT_NEAR(there[p].value, here[p].value, 1e-16 * (1 + std::fabs(here[p].value)) * 2);
        EXPECT_NEAR(there[p].magnitude, here[p].magnitude, 1e-12 * here[p].magnitude);
        EXPECT_EQ(there[p].terms, here[p].terms);
        EXPECT_EQ(there[p].rounded != 0, here[p].rounded != 0);
      }
    }
  }
}

TEST(BenchCuda, GatherAndCountReadWhatTheHostReads) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  for (const Layout layout : {Layout::col, Layout::row}) {
    Matrix<std::complex<float>> c(stream, 700, 90, layout, 710);
    fill_matrix(stream, c.view(), Fill::random, 3);
    const StoredArray array = StoredArray::of(c.view());
    const std::vector<std::complex<float>> host = c.buffer().to_host();
    const std::vector<std::int64_t> offsets = {0, 1, 2 * 65 + 1, 2 * (710 * 89 + 80)};
    const std::vector<double> values = gather(stream, array, offsets);
    EXPECT_EQ(values[0], static_cast<double>(host[0].real()));
    EXPECT_EQ(values[1], static_cast<double>(host[0].imag()));
    EXPECT_EQ(values[2], static_cast<double>(host[65].imag()));
    EXPECT_EQ(values[3], static_cast<double>(host[710 * 89 + 80].real()));
    EXPECT_EQ(count_nan(stream, array, false), 0);  // the padding does not count
    fill_matrix(stream, c.view(), Fill::nan, 3);
    EXPECT_EQ(count_nan(stream, array, false), 700 * 90);
    EXPECT_EQ(count_nan(stream, array, true), 700 * 90 - 90 * 89 / 2);
  }
}

TEST(BenchCuda, CopiesFollowEachOther) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  Buffer<int> data(stream, 7 * 3);
  data.fill_zero();
  data.copy_from(std::vector<int>{5, 6, 7});
  replicate(stream, data.data(), 3 * sizeof(int), 7);
  const std::vector<int> host = data.to_host();
  for (std::size_t i = 0; i < host.size(); ++i)
    EXPECT_EQ(host[i], 5 + static_cast<int>(i % 3));
}

TEST(BenchCuda, PeaksAreInTheOrderOfTheCard) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  const double f32 = gpu::peak_flops(stream, GemmType::same(DType::f32));
  const double f16 = gpu::peak_flops(stream, GemmType::same(DType::f16));
  const double tf32 = gpu::peak_flops(stream, {DType::f32, DType::f32, Math::tf32});
  EXPECT_GT(f32, 1e12);
  EXPECT_LT(f16, 1e16);
  EXPECT_GT(f16, 2 * f32);
  EXPECT_GT(tf32, f32);
  if (device.properties().name.find("H200") == std::string::npos) return;
  EXPECT_NEAR(f32 / 66.9e12, 1, 0.15);  // 132 SMs x 128 lanes x 2 at 1.98 GHz
  EXPECT_GT(f16, 400e12);
  EXPECT_LT(f16, 1100e12);  // dense, by the fastest instruction
  EXPECT_LT(tf32, 550e12);
  const double f64 = gpu::peak_flops(stream, GemmType::same(DType::f64));
  EXPECT_GT(f64, 45e12);
  EXPECT_LT(f64, 75e12);
}

}  // namespace
}  // namespace lanky::bench
