// cholqr: A = Q R of tall matrices by CholeskyQR2, beside cuSOLVER's Householder factorization.
// `cholqr --help` lists the options, docs/applications.md the output.
#include <cstdio>
#include <lanky/dtype.hpp>
#include <string>
#include <vector>

#include "examples/cholqr/measure.hpp"
#include "examples/support/command_line.hpp"
#include "examples/support/device.hpp"
#include "examples/support/json_lines.hpp"

namespace {

using lanky::examples::cholqr::Case;
using lanky::examples::cholqr::Outcome;

struct Options {
  std::string device;
  std::vector<std::string> dtypes = {"f64", "f32"};
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> cols = {8, 16, 32, 64};
  Case tall;
  std::string json;
};

/// A result whose columns are not orthogonal to this is no factorization.
constexpr double kMostRoundoffs = 1e4;

void write(const lanky::Stream& stream, const Options& options, const std::string& dtype,
           const Case& tall, const Outcome& o) {
  const bool broken = o.status != "ok";
  const double bytes = 6.0 * static_cast<double>(tall.m * tall.n) *
                       static_cast<double>(lanky::size_of(lanky::parse_dtype(dtype)));
  std::printf("%s  m %-9lld n %-3lld condition %-6g %-22s ", dtype.c_str(),
              static_cast<long long>(tall.m), static_cast<long long>(tall.n), tall.condition,
              o.contestant.c_str());
  if (broken) {
    std::printf("%s\n", o.error.c_str());
  } else {
    std::printf("%10.3f ms  |Q^T Q - I| %.2e  |A - Q R| / |A| %.2e\n", o.ms, o.orthogonality,
                o.residual);
  }
  nlohmann::ordered_json line = {
      {"kind", "cholqr"},   {"device", stream.device().properties().name},
      {"dtype", dtype},     {"m", tall.m},
      {"n", tall.n},        {"condition", tall.condition},
      {"seed", tall.seed},  {"contestant", o.contestant},
      {"status", o.status}, {"rounds", tall.rounds}};
  if (broken) {
    line["error"] = o.error;
  } else {
    line["ms"] = o.ms;
    line["bytes"] = bytes;  // of two passes: A thrice read or written, twice
    line["orthogonality"] = o.orthogonality;
    line["residual"] = o.residual;
  }
  lanky::examples::append_line(options.json, line);
}

/// Whether lanky's factors are those of A.
template <class T>
bool run(const lanky::Stream& stream, const Options& options, const std::string& dtype, Case tall) {
  const std::vector<Outcome> outcomes = lanky::examples::cholqr::measure<T>(stream, tall);
  for (const Outcome& outcome : outcomes)
    write(stream, options, dtype, tall, outcome);
  const Outcome& ours = outcomes.front();
  const double roundoff = lanky::unit_roundoff(lanky::kDType<T>);
  return ours.status == "ok" && ours.orthogonality <= kMostRoundoffs * roundoff;
}

bool run_all(const Options& options) {
  const lanky::Stream stream(lanky::examples::device_of(options.device));
  std::vector<std::int64_t> all_rows = options.rows;
  if (all_rows.empty()) all_rows = {stream.device().is_cuda() ? 1'000'000 : 20'000};
  bool good = true;
  for (const std::string& dtype : options.dtypes) {
    for (const std::int64_t m : all_rows) {
      for (const std::int64_t n : options.cols) {
        Case tall = options.tall;
        tall.m = m;
        tall.n = n;
        good = (dtype == "f64" ? run<double>(stream, options, dtype, tall)
                               : run<float>(stream, options, dtype, tall)) &&
               good;
      }
    }
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A = Q R of a tall matrix by CholeskyQR2", "cholqr");
  app.add_option("--device", options.device, "cpu, cuda or cuda:N (a GPU where there is one)");
  app.add_option("--dtype", options.dtypes, "f64, f32 or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"f64", "f32"}));
  app.add_option("-m,--rows", options.rows, "rows (1000000 on a GPU, 20000 on the CPU)")
      ->delimiter(',');
  app.add_option("-n,--cols", options.cols, "columns, at most 128")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--condition", options.tall.condition, "condition number of A, about")
      ->check(CLI::Range(1.0, 1e300))
      ->capture_default_str();
  app.add_flag("--shifted", options.tall.shifted,
               "three passes, the first shifted: for larger condition numbers");
  app.add_option("--rounds", options.tall.rounds, "of timing")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.tall.seed)->capture_default_str();
  app.add_option("--json", options.json, "append results as JSON lines to this file");
  return lanky::examples::run_program(app, argc, argv, [&] { return run_all(options); });
}
