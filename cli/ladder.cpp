// lanky ladder: each step of the way from the naive product to the fastest, checked and timed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <lanky/error.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/cases/spmv_matrix.hpp"
#include "bench/ladder/climb.hpp"
#include "bench/ladder/profile.hpp"
#include "bench/records/environment.hpp"
#include "bench/records/journal.hpp"
#include "bench/records/json_line.hpp"
#include "bench/records/record.hpp"
#include "bench/report/output_file.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/progress.hpp"
#include "cli/sources.hpp"
#include "cli/warnings.hpp"

namespace lanky::cli {

namespace {

using Json = nlohmann::ordered_json;

struct LadderOptions {
  std::string ladder;
  Work work;  // spmv, spmm: their matrices
  std::vector<std::int64_t> columns = {32};
  std::vector<std::int64_t> m;
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;
  std::vector<std::string> dtypes = {"f32"};
  int iterations = 0;  // 0: until the median is known
  std::string device;
  std::string block = "16x16";
  bool validate = true;
  bool quick = false;
  ladder::Settings settings;
  ladder::ClimbOptions climb;
  bool no_vendor = false;
  bool profile = false;
  std::string json;
  std::string plot;
  bool force = false;
  std::string from;
  std::vector<std::string> argv;
};

/// "16" or "8x32": rows x columns.
ladder::Block parse_block(const std::string& text) {
  int rows = 0;
  int cols = 0;
  char rest = 0;
  const int found = std::sscanf(text.c_str(), "%dx%d%c", &rows, &cols, &rest);
  if (found == 1 && std::to_string(rows) == text) cols = rows;
  if ((found != 2 && cols == 0) || rows < 1 || cols < 1 || rows > 1024 || cols > 1024) {
    throw Error(ErrorCode::invalid_argument,
                "--block: \"" + text + "\" is no shape such as 16 or 8x32, of at most 1024 a side");
  }
  return {rows, cols};
}

/// Null for the ladders of sparse products.
const ladder::GemmLadder* ladder_of(const std::string& name) {
  if (name == ladder::kSpmvLadder || name == ladder::kSpmmLadder) return nullptr;
  std::string known = std::string(ladder::kSpmvLadder) + ", " + std::string(ladder::kSpmmLadder);
  for (const ladder::GemmLadder& ladder : ladder::gemm_ladders()) {
    if (ladder.name == name) return &ladder;
    known += ", " + std::string(ladder.name);
  }
  throw Error(ErrorCode::invalid_argument, "there is no ladder \"" + name + "\", but " + known);
}

int print_ladders() {
  std::printf("%-9s %s\n", std::string(ladder::kSpmvLadder).c_str(),
              "sparse times vector on a GPU: CSR, DASP as published, lanky, cuSPARSE");
  std::printf("%-9s %s\n", std::string(ladder::kSpmmLadder).c_str(),
              "sparse times several columns on a GPU: a thread an element, up to tensor cores");
  for (const ladder::GemmLadder& ladder : ladder::gemm_ladders())
    std::printf("%-9s %s\n", std::string(ladder.name).c_str(), std::string(ladder.about).c_str());
  return kOk;
}

/// Of the ladder and the sizes asked for, if any are.
bool is_wanted(const Json& line, const LadderOptions& options) {
  if (!options.ladder.empty() && text_of(line, "ladder") != options.ladder) return false;
  for (const auto& [field, sizes] : {std::pair{"m", &options.m}, {"n", &options.n}}) {
    if (!sizes->empty() && std::find(sizes->begin(), sizes->end(), line[field]) == sizes->end())
      return false;
  }
  return true;
}

/// The lines of ladders that an earlier run has written. A line that is none is named and left out.
std::vector<Json> read_lines(const LadderOptions& options) {
  std::vector<Json> lines;
  for (LineReader reader(options.from); reader.next();) {
    try {
      const Json line = bench::parse_line(reader.text());
      if (!line.is_object()) throw Error(ErrorCode::parse, "is no JSON object");
      if (text_of(line, "kind") != "ladder") continue;
      Json drawn = ladder::drawn_fields(line);
      if (is_wanted(drawn, options)) lines.push_back(std::move(drawn));
    } catch (const Error& error) {
      std::fprintf(stderr, "lanky: %s: %s, and is left out\n", reader.place().c_str(),
                   error.what());
    }
  }
  if (lines.empty())
    throw Error(ErrorCode::parse, options.from + " holds no lines of such a ladder");
  return lines;
}

Device ladder_device(const LadderOptions& options, bool on_gpu) {
  if (!options.device.empty()) {
    const Device device = Device::parse(options.device);
    if (device.is_cuda() == on_gpu) return device;
    throw Error(ErrorCode::invalid_argument, "ladder " + options.ladder + " runs on " +
                                                 (on_gpu ? "a GPU" : "the CPU") + ", not " +
                                                 device.name());
  }
  return on_gpu ? Device::cuda() : Device::cpu();
}

bench::MeasureOptions timing_of(const LadderOptions& options) {
  // Contestants are many, and matrices as a rule.
  const bool many = options.ladder == ladder::kSpmvLadder || options.ladder == ladder::kSpmmLadder;
  bench::MeasureOptions timing = options.quick ? bench::MeasureOptions::quick()
                                 : many        ? bench::MeasureOptions::grid()
                                               : bench::MeasureOptions();
  if (options.iterations > 0) {
    constexpr double kForever = 1e9;
    timing.min_rounds = timing.max_rounds = options.iterations;
    timing.max_seconds = kForever;
    timing.batch_ms = 0;  // a launch is a sample
  }
  return timing;
}

std::vector<bench::GemmCase> cases_of(const LadderOptions& options,
                                      const ladder::GemmLadder& ladder) {
  std::vector<bench::GemmCase> cases;
  for (const std::string& dtype : options.dtypes) {
    for (const std::int64_t m : options.m.empty() ? ladder.m : options.m) {
      const std::vector<std::int64_t> as_m = {m};
      for (const std::int64_t k : options.k.empty() ? as_m : options.k) {
        const std::vector<std::int64_t>& usual = ladder.n.empty() ? as_m : ladder.n;
        for (const std::int64_t n : options.n.empty() ? usual : options.n) {
          cases.push_back({.m = m,
                           .n = n,
                           .k = k,
                           .layout = ladder.layout,
                           .type = bench::GemmType::same(parse_dtype(dtype)),
                           .positive = ladder.positive});
        }
      }
    }
  }
  return cases;
}

/// What the rung of `line` reads, as ncu counts it, beside what the formula says.
void add_profile(Json& line, const LadderOptions& options) {
  if (!line["reads"].is_number() || line["status"] != "ok") return;
  const auto size = [&](const char* field) { return std::to_string(line[field].get<int>()); };
  const std::string dtype = line["dtype"];
  std::vector<std::string> arguments = {
      "ladder",  options.ladder, "-M",          size("m"),       "-N", size("n"),
      "-K",      size("k"),      "--dtype",     dtype,           "-k", line["rung"],
      "--block", options.block,  "--no-vendor", "--no-validate", "-i", "1"};
  const ladder::Tsm2Choice& tsm2 = options.settings.tsm2;
  for (const auto& [name, value] :
       {std::pair{"--t1", tsm2.t1}, {"--t2", tsm2.t2}, {"--t3", tsm2.t3}}) {
    if (value != 0) arguments.insert(arguments.end(), {name, std::to_string(value)});
  }
  const ladder::ReadBytes bytes = ladder::profile_reads(arguments);
  const auto size_of_element = static_cast<double>(size_of(parse_dtype(dtype)));
  line["reads_by_warps"] = bytes.by_warps / size_of_element;
  line["reads_from_l2"] = bytes.from_l2 / size_of_element;
  line["reads_from_dram"] = bytes.from_dram / size_of_element;
}

void write_plot(const LadderOptions& options, const std::vector<Json>& lines) {
  if (!options.plot.empty()) report::write_whole(options.plot, ladder::plot(lines));
}

/// On a terminal: that a case has begun, since three loops on a CPU may take minutes.
void announce(const bench::GemmCase& gemm) {
  if (!StatusLine::possible()) return;
  std::fprintf(stderr, "measuring %lld x %lld x %lld (m, n, k), %s\n",
               static_cast<long long>(gemm.m), static_cast<long long>(gemm.n),
               static_cast<long long>(gemm.k), std::string(bench::to_string(gemm.type)).c_str());
}

/// Measures what was asked for, case by case.
void climb_all(bench::Session& session, const LadderOptions& options,
               const ladder::GemmLadder* ladder,
               const std::function<void(const std::vector<Json>&)>& add) {
  if (ladder != nullptr) {
    for (const bench::GemmCase& gemm : cases_of(options, *ladder)) {
      announce(gemm);
      std::vector<Json> lines =
          ladder::climb(session, *ladder, gemm, options.settings, options.climb);
      if (options.profile) {
        for (Json& line : lines)
          add_profile(line, options);
      }
      add(lines);
    }
    return;
  }
  const Sources sources = find_sources(options.work, 0);
  for (const Source& source : sources.matrices) {
    std::vector<std::string> warnings;
    const CsrMatrix<double> pattern = source.read(warnings);
    print_warnings(warnings);
    bench::SpmvMatrix matrix(session.stream, source.name, source.matrix_class, pattern);
    for (const std::string& text : options.dtypes) {
      const DType dtype = parse_dtype(text);
      if (options.ladder == ladder::kSpmvLadder) {
        add(ladder::climb_spmv(session, matrix, dtype, options.climb));
        continue;
      }
      for (const std::int64_t columns : options.columns)
        add(ladder::climb_spmm(session, matrix, dtype, columns, options.climb));
    }
  }
}

int run_ladder(LadderOptions options) {
  if (options.ladder.empty() && options.from.empty()) return print_ladders();
  report::check_outputs({options.plot}, {options.from, options.json}, options.force);
  if (!options.from.empty()) {
    write_plot(options, read_lines(options));
    return kOk;
  }
  const ladder::GemmLadder* const ladder = ladder_of(options.ladder);
  if (ladder == nullptr && !options.work.any()) {
    throw Error(ErrorCode::invalid_argument,
                "ladder " + options.ladder + " needs a matrix: a file, or --generate SPEC");
  }
  options.settings.block = parse_block(options.block);
  options.climb.vendors = !options.no_vendor;
  const bool on_gpu = ladder == nullptr || ladder->on_gpu;
  options.climb.checks = !options.validate ? bench::Checks::none
                         : on_gpu          ? bench::Checks::all
                                           : bench::Checks::random;
  bench::Session session(ladder_device(options, on_gpu), timing_of(options));
  std::unique_ptr<bench::Journal> journal;
  if (!options.json.empty()) {
    journal = std::make_unique<bench::Journal>(options.json);
    journal->write(
        bench::to_json(bench::describe_environment(session, options.argv, !options.no_vendor)));
  }
  std::FILE* const out = options.json == "-" || options.plot == "-" ? stderr : stdout;
  std::vector<Json> all;
  bool wrong = false;
  climb_all(session, options, ladder, [&](const std::vector<Json>& lines) {
    if (journal) journal->write_all(lines);
    std::fprintf(out, "%s\n", ladder::table(lines).c_str());
    std::fflush(out);
    for (const Json& line : lines) {
      const std::string status = line["status"];
      wrong = wrong || (status != "ok" && status != "unsupported" && status != "timeout");
      all.push_back(line);
    }
  });
  write_plot(options, all);
  return wrong ? kFailed : kOk;
}

}  // namespace

void add_ladder(CLI::App& app, Action& action, int argc, char** argv) {
  CLI::App& command =
      *app.add_subcommand("ladder", "Each step from the naive product to the fastest (ladders.md)");
  const auto options = std::make_shared<LadderOptions>();
  options->argv.assign(argv, argv + argc);
  LadderOptions& o = *options;
  command.add_option("ladder", o.ladder,
                     "tsm2, gemm-gpu, gemm-cpu, spmv, spmm; without it, what there is");
  command.add_option("matrices", o.work.files, "spmv, spmm: matrix files, or folders of them");
  command
      .add_option("--generate", o.work.generators,
                  "spmv, spmm: a generated matrix such as stencil27:64")
      ->allow_extra_args(false)
      ->type_name("SPEC");
  const auto add_sizes = [&](const char* name, std::vector<std::int64_t>& sizes, const char* what) {
    command.add_option(name, sizes, what)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
        ->type_name("SIZES");
  };
  add_sizes("-M", o.m, "rows of A and C, commas between; usually 2048");
  add_sizes("-K", o.k, "columns of A, rows of B; usually as M");
  add_sizes("-N", o.n, "columns of B and C; usually as M, of tsm2 2,4,8,16");
  command.add_option("--columns", o.columns, "spmm: columns of X and Y; commas between")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 20))
      ->type_name("LIST")
      ->capture_default_str();
  command.add_option("--dtype", o.dtypes, "f32, f64, of spmv and spmm also f16; commas between")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"f32", "f64", "f16"}), "")
      ->capture_default_str();
  command
      .add_option("-i,--iterations", o.iterations,
                  "time so many launches of each (default: until the median is known to 1 %)")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("-k,--kernel", o.climb.rungs, "these rungs alone, by name; commas between")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  command.add_option("-d,--device", o.device, "cpu, cuda or cuda:INDEX");
  command.add_flag("-v,--validate,!--no-validate", o.validate,
                   "check every result (on unless --no-validate)");
  command.add_flag("--transfers", o.climb.transfers,
                   "count the copies to the device and back in all times of the table");
  command.add_option("--block", o.block, "gemm-gpu: threads of a block, ROWSxCOLUMNS or one side")
      ->capture_default_str();
  command.add_option("--t1", o.settings.tsm2.t1, "tsm2: threads of a block (default: by trial)")
      ->check(CLI::IsMember({64, 128, 256, 512}), "");
  command.add_option("--t2", o.settings.tsm2.t2, "tsm2: columns of B at a time")
      ->check(CLI::IsMember({2, 4, 8, 16}), "");
  command.add_option("--t3", o.settings.tsm2.t3, "tsm2: elements of A loaded ahead")
      ->check(CLI::IsMember({1, 2, 4, 8}), "");
  command.add_flag("--profile", o.profile, "have ncu count what each rung reads (on a GPU)");
  command.add_flag("--no-vendor", o.no_vendor, "without cuBLAS, OpenBLAS or cuSPARSE");
  command.add_flag("--quick", o.quick, "short timing: trust no third digit");
  command.add_option("--json", o.json, "append JSON lines to this file; - is standard output");
  command.add_option("--plot", o.plot, "draw the ladder as SVG; - is standard output");
  command.add_flag("--force", o.force, "replace a drawing that is there already");
  command.add_option("--from", o.from,
                     "draw the lines of this file (of -M and -N, if given) and measure nothing");
  command.callback([options, &action] { action = [options] { return run_ladder(*options); }; });
}

}  // namespace lanky::cli
