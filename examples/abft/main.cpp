// abft: a dense product that finds and corrects a wrong element of its result. Faults at random,
// and what protection takes. `abft --help` lists the options, docs/applications.md the output.
#include <cstdio>
#include <lanky/dtype.hpp>
#include <string>
#include <utility>
#include <vector>

#include "examples/abft/times.hpp"
#include "examples/abft/trials.hpp"
#include "examples/support/command_line.hpp"
#include "examples/support/device.hpp"
#include "examples/support/json_lines.hpp"

namespace {

using lanky::examples::abft::Data;
using lanky::examples::abft::FaultClass;
using lanky::examples::abft::ProtectionTimes;
using lanky::examples::abft::TrialOptions;
using lanky::examples::abft::TrialResult;
using Json = nlohmann::ordered_json;

const std::vector<std::pair<std::string, Data>> kDataNames = {{"uniform", Data::uniform},
                                                              {"positive", Data::positive},
                                                              {"spread", Data::spread},
                                                              {"constant", Data::constant}};

struct Options {
  std::string device;
  std::vector<std::string> dtypes = {"f64", "f32"};
  TrialOptions trials{.m = 0, .n = 0, .k = 0};
  std::vector<std::int64_t> times;
  int rounds = 5;
  std::string json;
};

Json line_head(const lanky::Stream& stream, const char* part, const std::string& dtype,
               std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{"kind", "abft"}, {"part", part}, {"device", stream.device().properties().name},
          {"dtype", dtype}, {"m", m},       {"n", n},
          {"k", k}};
}

Json class_lines(const std::vector<FaultClass>& classes) {
  Json lines = Json::array();
  for (const FaultClass& c : classes) {
    Json line = {{"trials", c.trials}, {"detected", c.detected}, {"corrected", c.corrected}};
    if (&c != &classes.back()) line["most"] = c.below;
    lines.push_back(line);
  }
  return lines;
}

void print_classes(const char* measure, const std::vector<FaultClass>& classes) {
  std::printf("  fault / %-12s    trials  detected corrected\n", measure);
  for (const FaultClass& c : classes) {
    if (c.trials == 0) continue;
    if (&c == &classes.back())
      std::printf("    above, or not finite");
    else
      std::printf("    up to %-14g", c.below);
    std::printf("  %8lld  %8lld  %8lld\n", static_cast<long long>(c.trials),
                static_cast<long long>(c.detected), static_cast<long long>(c.corrected));
  }
}

/// Whether nothing went wrong.
template <class T>
bool try_faults(const lanky::Stream& stream, const Options& options, const std::string& dtype) {
  const TrialOptions& o = options.trials;
  const TrialResult r = lanky::examples::abft::run_trials<T>(stream, o);
  std::printf(
      "%s  m %lld  n %lld  k %lld: %lld faults, %lld detected, %lld corrected, %lld missed\n",
      dtype.c_str(), static_cast<long long>(o.m), static_cast<long long>(o.n),
      static_cast<long long>(o.k), static_cast<long long>(r.trials),
      static_cast<long long>(r.detected), static_cast<long long>(r.corrected),
      static_cast<long long>(r.missed));
  std::printf(
      "  %lld up to %g units of rounding; of the others %lld undetected; %lld marginal; "
      "%lld misplaced\n",
      static_cast<long long>(r.harmless), lanky::examples::abft::kHarmlessUnits,
      static_cast<long long>(r.hidden), static_cast<long long>(r.marginal),
      static_cast<long long>(r.misplaced));
  std::printf(
      "  %lld products without a fault: %lld false alarms; residuals took at most %.2g of "
      "their bounds\n",
      static_cast<long long>(r.fault_free), static_cast<long long>(r.false_alarms),
      r.largest_share);
  std::printf("  median bound %.3g, %.3g of the median element\n", r.median_bound,
              r.median_bound_per_element);
  print_classes("bound", r.by_bound);
  print_classes("unit", r.by_unit);
  print_classes("|C(i, j)|", r.by_element);
  Json line = line_head(stream, "trials", dtype, o.m, o.n, o.k);
  line["data"] = kDataNames.at(static_cast<std::size_t>(o.data)).first;
  line["seed"] = o.seed;
  line["trials"] = r.trials;
  line["detected"] = r.detected;
  line["corrected"] = r.corrected;
  line["missed"] = r.missed;
  line["marginal"] = r.marginal;
  line["hidden"] = r.hidden;
  line["harmless"] = r.harmless;
  line["one_sided"] = r.one_sided;
  line["misplaced"] = r.misplaced;
  line["ratio_right"] = r.ratio_right;
  line["restored"] = r.restored;
  line["fault_free"] = r.fault_free;
  line["false_alarms"] = r.false_alarms;
  line["largest_share"] = r.largest_share;
  line["median_bound"] = r.median_bound;
  line["median_bound_per_element"] = r.median_bound_per_element;
  line["by_bound"] = class_lines(r.by_bound);
  line["by_unit"] = class_lines(r.by_unit);
  line["by_element"] = class_lines(r.by_element);
  lanky::examples::append_line(options.json, line);
  return r.missed == 0 && r.misplaced == 0 && r.false_alarms == 0 && r.restored;
}

template <class T>
bool time_size(const lanky::Stream& stream, const Options& options, const std::string& dtype,
               std::int64_t size) {
  bool clean = true;
  for (const ProtectionTimes& t :
       lanky::examples::abft::time_protection<T>(stream, size, size, size, options.rounds)) {
    std::printf(
        "%s  m = n = k = %-6lld checksums by %-6s: A^T W %8.3f  B V %8.3f  expected %8.3f  "
        "bounds %8.3f  check %8.3f | gemm %9.3f  protected %9.3f ms, %+.2f %%\n",
        dtype.c_str(), static_cast<long long>(size), t.contestant.c_str(), t.encode_a_ms,
        t.encode_b_ms, t.expect_ms, t.bound_ms, t.check_ms, t.gemm_ms, t.total_ms,
        100 * t.overhead);
    Json line = line_head(stream, "time", dtype, size, size, size);
    line["contestant"] = t.contestant;
    line["rounds"] = options.rounds;
    line["encode_a_ms"] = t.encode_a_ms;
    line["encode_b_ms"] = t.encode_b_ms;
    line["encode_ms"] = t.encode_a_ms + t.encode_b_ms;
    line["expect_ms"] = t.expect_ms;
    line["bound_ms"] = t.bound_ms;
    line["verify_ms"] = t.check_ms;
    line["gemm_ms"] = t.gemm_ms;
    line["total_ms"] = t.total_ms;
    line["overhead"] = t.overhead;
    line["verdict"] = t.verdict;
    line["encoding"] = t.encoding;
    lanky::examples::append_line(options.json, line);
    clean = clean && t.verdict == "clean";
  }
  return clean;
}

template <class T>
bool run(const lanky::Stream& stream, const Options& options, const std::string& dtype) {
  bool good = true;
  if (options.trials.trials > 0) good = try_faults<T>(stream, options, dtype);
  for (const std::int64_t size : options.times)
    good = time_size<T>(stream, options, dtype, size) && good;
  return good;
}

bool run_all(Options options) {
  const lanky::Stream stream(lanky::examples::device_of(options.device));
  for (std::int64_t* extent : {&options.trials.m, &options.trials.n, &options.trials.k}) {
    if (*extent == 0) *extent = stream.device().is_cuda() ? 1024 : 256;
  }
  bool good = true;
  for (const std::string& dtype : options.dtypes)
    good = (dtype == "f64" ? run<double>(stream, options, dtype)
                           : run<float>(stream, options, dtype)) &&
           good;
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A matrix product that finds and corrects a wrong element of its result", "abft");
  app.add_option("--device", options.device, "cpu, cuda or cuda:N (a GPU where there is one)");
  app.add_option("--dtype", options.dtypes, "f64, f32 or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"f64", "f32"}));
  app.add_option("--trials", options.trials.trials, "faults, one at a time; 0: none, times only")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--fault-free", options.trials.fault_free, "products without a fault")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("-m", options.trials.m, "rows of C (1024 on a GPU, 256 on the CPU)");
  app.add_option("-n", options.trials.n, "columns of C");
  app.add_option("-k", options.trials.k, "inner extent");
  app.add_option("--data", options.trials.data,
                 "of the product that faults are put in: uniform in (-1, 1), positive in (0, 1),\n"
                 "spread over magnitudes of 2^-12 to 2^12, or constant; fault-free products take "
                 "all in turns")
      ->transform(CLI::CheckedTransformer(kDataNames));
  app.add_option("--seed", options.trials.seed)->capture_default_str();
  app.add_option("--time", options.times, "sizes m = n = k to time, as in 10240,20480,30720")
      ->delimiter(',');
  app.add_option("--rounds", options.rounds, "of timing")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", options.json, "append results as JSON lines to this file");
  return lanky::examples::run_program(app, argc, argv, [&] { return run_all(options); });
}
