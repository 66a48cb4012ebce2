// Long runs: products of all kinds in a loop, plans made and destroyed, values updated. Results
// must keep their bits, and the memory of the device and of the process must stay flat.
//
//     endurance [--device cpu] [--seconds 60] [--json FILE] [--leak BYTES]
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <lanky/lanky.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "endurance/device_side.hpp"
#include "support/random_numbers.hpp"

namespace lanky::endurance {

namespace {

struct Options {
  std::string device = "cpu";
  double seconds = 60;
  std::string json;
  std::int64_t leak = 0;  // bytes that each round keeps on purpose: the check of the check
};

double now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

using testing::random_numbers;

/// A load of work: `run` gives it to the stream, `result` waits and fetches the last product.
struct Load {
  std::string name;
  std::int64_t products;  // of a run
  std::function<void()> run;
  std::function<std::vector<double>()> result;
  std::vector<double> expected = {};
  std::int64_t runs = 1;  // of a round
};

constexpr int kOfGraph = 100;  // products

void repeat(const std::function<void()>& work, int times) {
  for (int i = 0; i < times; ++i)
    work();
}

void add(std::vector<Load>& loads, const Stream& stream, const std::string& name,
         const std::function<void()>& once, const std::function<std::vector<double>()>& result) {
  once();  // loads what is loaded at first use
  stream.synchronize();
  loads.push_back({name + ", in a graph", kOfGraph,
                   replayed(stream, [once] { repeat(once, kOfGraph); }), result});
  loads.push_back({name, kOfGraph, [once] { repeat(once, kOfGraph); }, result});
}

void add_sparse(std::vector<Load>& loads, const Stream& stream, const std::string& spec,
                std::int64_t columns, SparseOptions options) {
  const auto a = std::make_shared<const CsrMatrix<double>>(io::generate<double>(spec));
  options.expected_columns = columns;
  options.updates = true;
  const auto plan = std::make_shared<SparsePlan<double>>(stream, a->view(), options);
  const auto x = std::make_shared<Buffer<double>>(
      Buffer<double>::from(stream, random_numbers(plan->cols() * columns, 1)));
  const auto y = std::make_shared<Buffer<double>>(stream, plan->rows() * columns);
  const auto values = std::make_shared<Buffer<double>>(Buffer<double>::from(stream, a->values));
  const std::string name = spec + " x " + std::to_string(columns);
  const auto result = [=] { return y->to_host(); };
  const auto once = [=] {
    plan->run(stream,
              MatrixView<const double>{x->data(), plan->cols(), columns, columns, Layout::row},
              MatrixView<double>{y->data(), plan->rows(), columns, columns, Layout::row});
  };
  add(loads, stream, name, once, result);
  add(
      loads, stream, name + " with new values",
      [=] {
        plan->update_values(stream, values->view());
        once();
      },
      result);
  loads.push_back({name + " with new values from host memory", 1,
                   [=] {
                     plan->update_values(a->values);
                     once();
                   },
                   result});
  loads.push_back(
      {name + ", made anew", 1,
       [=] {
         const SparsePlan<double> own(stream, a->view(), options);
         own.run(stream,
                 MatrixView<const double>{x->data(), own.cols(), columns, columns, Layout::row},
                 MatrixView<double>{y->data(), own.rows(), columns, columns, Layout::row});
       },
       result});
}

void add_sddmm(std::vector<Load>& loads, const Stream& stream) {
  const auto a = std::make_shared<const CsrMatrix<double>>(io::generate<double>("uniform:500:9"));
  const auto plan = std::make_shared<const SddmmPlan<double>>(stream, a->view());
  const auto x = std::make_shared<Matrix<double>>(stream, a->rows, 4, Layout::row);
  x->buffer().copy_from(random_numbers(a->rows * 4, 2));
  const auto values = std::make_shared<Buffer<double>>(stream, plan->nnz());
  const auto result = [=] { return values->to_host(); };
  add(
      loads, stream, "sddmm", [=] { plan->run(stream, *x, *x, *values); }, result);
  loads.push_back({"sddmm, made anew", 1,
                   [=] { SddmmPlan<double>(stream, a->view()).run(stream, *x, *x, *values); },
                   result});
}

void add_dense(std::vector<Load>& loads, const Stream& stream, const std::string& name,
               const GemmShape& shape) {
  const bool turned = shape.op_a != Op::none;
  const auto plan = std::make_shared<const GemmPlan<double>>(stream, shape);
  const auto a = std::make_shared<Matrix<double>>(stream, turned ? shape.k : shape.m,
                                                  turned ? shape.m : shape.k);
  a->buffer().copy_from(random_numbers(shape.m * shape.k, 3));
  const auto b = std::make_shared<Matrix<double>>(stream, shape.k, shape.n);
  b->buffer().copy_from(random_numbers(shape.k * shape.n, 4));
  const auto c = std::make_shared<Matrix<double>>(stream, shape.m, shape.n);
  const auto result = [=] { return c->buffer().to_host(); };
  add(
      loads, stream, name, [=] { plan->run(stream, *a, *b, *c); }, result);
  loads.push_back({name + ", made anew", 1,
                   [=] { GemmPlan<double>(stream, shape).run(stream, *a, *b, *c); }, result});
}

void add_solver(std::vector<Load>& loads, const Stream& stream) {
  auto a = std::make_shared<CsrMatrix<double>>(io::generate<double>("stencil5:20"));
  for (std::int64_t row = 0; row < a->rows; ++row)
    for (std::int64_t e = a->row_offsets[row]; e < a->row_offsets[row + 1]; ++e)
      a->values[e] = a->col_indices[e] == row ? 4.5 : -1;
  const auto plan = std::make_shared<const SparsePlan<double>>(stream, a->view());
  const auto b = std::make_shared<Matrix<double>>(stream, a->rows, 1, Layout::row);
  b->buffer().copy_from(random_numbers(a->rows, 5));
  const auto x = std::make_shared<Matrix<double>>(stream, a->rows, 1, Layout::row);
  loads.push_back({"cg", 16,
                   [=] {
                     x->buffer().fill_zero();
                     LinearOptions options;
                     options.max_iterations = 16;
                     options.tolerance = 1e-14;
                     cg<double>(stream, *plan, *b, x->view(), options);
                   },
                   [=] { return x->buffer().to_host(); }});
}

std::int64_t resident_bytes() {
  malloc_trim(0);
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

/// Memory by time, judged behind a warm-up: what it grows by in a straight line through the
/// samples.
class Growth {
 public:
  void add(double time, std::int64_t bytes) {
    times_.push_back(time);
    bytes_.push_back(static_cast<double>(bytes));
  }
  /// Bytes from the end of the warm-up, the first third of the samples, to the last sample.
  double bytes() const {
    const std::size_t first = times_.size() / 3;
    const auto count = static_cast<double>(times_.size() - first);
    double mean_t = 0;
    double mean_b = 0;
    for (std::size_t i = first; i < times_.size(); ++i) {
      mean_t += times_[i] / count;
      mean_b += bytes_[i] / count;
    }
    double tb = 0;
    double tt = 0;
    for (std::size_t i = first; i < times_.size(); ++i) {
      tb += (times_[i] - mean_t) * (bytes_[i] - mean_b);
      tt += (times_[i] - mean_t) * (times_[i] - mean_t);
    }
    return tb / tt * (times_.back() - times_[first]);
  }
  std::size_t samples() const { return times_.size(); }
  double last() const { return bytes_.back(); }

 private:
  std::vector<double> times_;
  std::vector<double> bytes_;
};

class Lines {
 public:
  Lines(std::string path, std::string device)
      : path_(std::move(path)), device_(std::move(device)) {}

  void write(const std::string& check, std::int64_t tried, const char* unit, std::int64_t failed,
             double seconds, std::optional<double> worst = {}) const {
    std::string of_limit;
    if (worst) of_limit = "\"worst\":" + std::to_string(*worst) + ",";
    char line[512];
    std::snprintf(
        line, sizeof line,
        "{\"kind\":\"reliability\",\"part\":\"endurance\",\"check\":\"%s\","
        "\"device\":\"%s\",\"dtype\":\"f64\",\"tried\":%lld,\"unit\":\"%s\",\"failed\":%lld,"
        "%s\"seconds\":%.1f}",
        check.c_str(), device_.c_str(), static_cast<long long>(tried), unit,
        static_cast<long long>(failed), of_limit.c_str(), seconds);
    std::printf("%s\n", line);
    if (path_.empty()) return;
    std::FILE* const file = std::fopen(path_.c_str(), "a");
    if (file == nullptr) throw std::runtime_error("cannot write " + path_);
    std::fprintf(file, "%s\n", line);
    std::fclose(file);
  }

 private:
  std::string path_;
  std::string device_;
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// Growth that is no leak: arenas of malloc, pages of the driver, both in steps of megabytes.
constexpr double kHostLimit = 8 << 20;
constexpr double kDeviceLimit = 4 << 20;

int run(const Options& options) {
  const Stream stream(Device::parse(options.device));
  std::vector<Load> loads;
  add_sparse(loads, stream, "uniform:500:9", 1, {});
  add_sparse(loads, stream, "huge:500:2,span=4000", 1, {});
  add_sparse(loads, stream, "uniform:400:9", 8, {});
  add_sparse(loads, stream, "band:400:3:4", 16, {});
  add_sparse(loads, stream, "uniform:400:7", 1, {.op = Op::trans});
  add_sddmm(loads, stream);
  add_dense(loads, stream, "panel", {.m = 300, .n = 4, .k = 300});
  add_dense(loads, stream, "update", {.m = 2000, .n = 4, .k = 4});
  add_dense(loads, stream, "gram", {.m = 8, .n = 8, .k = 2000, .op_a = Op::trans});
  add_dense(loads, stream, "regular", {.m = 160, .n = 160, .k = 160});
  add_solver(loads, stream);

  // Each has its share of a round: a fifth of a second in all.
  for (Load& load : loads) {
    load.run();
    load.expected = load.result();
    const double begin = now();
    load.run();
    load.result();
    const double seconds = now() - begin;
    const double share = 0.2 / static_cast<double>(loads.size());
    load.runs = std::clamp<std::int64_t>(static_cast<std::int64_t>(share / seconds), 1, 100'000);
  }

  std::vector<std::unique_ptr<std::vector<char>>> kept;
  Growth host;
  Growth device;
  std::int64_t products = 0;
  std::int64_t plans = 0;
  std::int64_t wrong_plans = 0;
  std::int64_t compared = 0;
  std::int64_t wrong = 0;
  const double begin = now();
  double told = begin;
  constexpr std::size_t kLeastRounds = 12;  // which tell a slope
  while (now() - begin < options.seconds || host.samples() < kLeastRounds) {
    for (const Load& load : loads) {
      for (std::int64_t run = 0; run < load.runs; ++run)
        load.run();
      products += load.products * load.runs;
      if (load.products == 1) plans += load.runs;
      ++compared;
      if (same_bits(load.result(), load.expected)) continue;
      wrong_plans += load.products == 1;
      if (++wrong <= 20) std::printf("other bits: %s\n", load.name.c_str());
    }
    if (options.leak > 0)
      kept.push_back(
          std::make_unique<std::vector<char>>(static_cast<std::size_t>(options.leak), 1));
    host.add(now() - begin, resident_bytes());
    device.add(now() - begin, device_bytes(stream));
    if (now() - told < 10) continue;
    told = now();
    std::printf("%.0f s: %lld products, %.1f MiB resident, %.1f MiB of the device in use\n",
                told - begin, static_cast<long long>(products), host.last() / (1 << 20),
                device.last() / (1 << 20));
    std::fflush(stdout);
  }

  const double seconds = now() - begin;
  const Lines lines(options.json, options.device);
  lines.write("products in a loop keep their bits", products, "products", wrong, seconds);
  lines.write("plans made and destroyed in a loop, values from host memory", plans, "plans",
              wrong_plans, seconds);
  int status = wrong == 0 ? 0 : 1;
  const auto judge = [&](const std::string& what, const Growth& growth, double limit) {
    const bool flat = growth.bytes() <= limit;
    std::printf("%s grew by %.0f bytes behind the warm-up, of %.0f allowed\n", what.c_str(),
                growth.bytes(), limit);
    lines.write(what + " stays flat", static_cast<std::int64_t>(growth.samples()), "samples",
                flat ? 0 : 1, seconds, growth.bytes() / limit);
    if (!flat) status = 1;
  };
  judge("host memory", host, kHostLimit);
  if (stream.device().is_cuda()) judge("device memory", device, kDeviceLimit);
  std::printf("%lld results compared, %lld wrong\n", static_cast<long long>(compared),
              static_cast<long long>(wrong));
  return status;
}

}  // namespace

}  // namespace lanky::endurance

int main(int argc, char** argv) {
  lanky::endurance::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* const value = argv[i + 1];
    if (name == "--device") options.device = value;
    if (name == "--seconds") options.seconds = std::atof(value);
    if (name == "--json") options.json = value;
    if (name == "--leak") options.leak = std::atoll(value);
  }
  try {
    return lanky::endurance::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "endurance: %s\n", error.what());
    return 2;
  }
}
