// lanky batch: one matrix or product after another, each result written when it is known.
#include <algorithm>
#include <csignal>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/cases/full_grid.hpp"
#include "bench/cases/gemm_case.hpp"
#include "bench/cases/grid.hpp"
#include "bench/records/content_hash.hpp"
#include "bench/records/journal.hpp"
#include "bench/records/record.hpp"
#include "cli/exit_code.hpp"
#include "cli/measurement.hpp"
#include "cli/reporter.hpp"
#include "cli/signals.hpp"
#include "cli/sources.hpp"
#include "cli/workers.hpp"

namespace lanky::cli {

namespace {

using Json = nlohmann::ordered_json;

/// All that figures depend on, as one word.
std::string configuration(const RunOptions& options, const Json& environment, const Json& peers) {
  Json key = {{"vendors", !options.no_vendor},
              {"paths", options.paths_of_rows},
              {"tuned", options.tuned},
              {"quick", options.quick},
              {"peers", peers}};
  Json columns = Json::array();
  for (const bench::SpmvColumns& each : columns_of(options))
    columns.push_back({each.count, bench::to_string(each.layout)});
  key["columns"] = columns;
  for (const char* field : {"binary_hash", "device", "gpu", "driver", "cuda", "cublas", "cusparse",
                            "cpu", "threads", "openblas"})
    key[field] = environment.at(field);
  return bench::text_hash(key.dump());
}

/// Entries that a matrix may have, as far as that is known without opening a file; 0 where it is
/// not.
double likely_entries(const Source& source) {
  constexpr double kBytesPerEntry = 8;  // between what is compressed and what is not
  try {
    if (source.generated) return static_cast<double>(io::estimated_entries(source.place));
  } catch (const Error&) {
    return 0;  // its turn will tell
  }
  const auto stamp = bench::file_stamp(source.place);
  return stamp ? static_cast<double>(stamp->bytes) / kBytesPerEntry : 0;
}

class Batch {
 public:
  Batch(const RunOptions& options, const Work& work)
      : options_(options),
        work_(work),
        start_(bench::steady_seconds()),
        dtypes_(dtypes_of(options)),
        reporter_(options.json, false),
        workers_(options, reporter_) {}

  int run() {
    std::optional<int> interrupted;
    begin();
    stop_on_signals();
    try {
      for (std::size_t i = 0; i < matrices_.size(); ++i) {
        ahead_ = matrices_.size() - i + products_.size();
        run_matrix(matrices_[i], work_of_[i]);
      }
      for (std::size_t i = 0; i < products_.size(); ++i) {
        ahead_ = products_.size() - i;
        run_product(products_[i]);
      }
      if (left_ > 0) reporter_.stop_early("time is up", left_);
    } catch (const Interrupted&) {
      interrupted = kSignalled + stop_signal();
      reporter_.stop_early("interrupted", ahead_ + left_);
    }
    reporter_.finish();
    return interrupted ? *interrupted : reporter_.failures() == 0 ? kOk : kFailed;
  }

 private:
  void begin() {
    const Json answer = ask_environment();
    Json line = answer.at("environment");
    line["config"] = configuration(options_, line, answer.at("peers"));
    if (options_.resume) read_earlier_runs(line["config"]);
    std::optional<std::uint64_t> seed = work_.grid.seed ? work_.grid.seed : earlier_.seed;
    if (!seed && work_.set.is_drawn()) seed = bench::draw_seed();
    const std::optional<std::uint64_t> grid_seed = choose_products(seed);
    if (!work_.set.is_drawn()) seed = grid_seed;
    if (seed) line["seed"] = *seed;
    reporter_.start(line);
    choose_matrices(seed.value_or(0));
    start_progress();
  }

  void read_earlier_runs(const std::string& config) {
    constexpr std::size_t kMostNotes = 5;
    earlier_ = bench::earlier_runs(options_.json, config);
    const std::vector<std::string>& notes = earlier_.notes;
    for (std::size_t i = 0; i < std::min(notes.size(), kMostNotes); ++i)
      reporter_.warn(notes[i]);
    if (notes.size() > kMostNotes)
      reporter_.warn(options_.json + ": " + std::to_string(notes.size() - kMostNotes) +
                     " more lines are passed over");
  }

  Json ask_environment() {
    std::optional<Json> answer = workers_.run({{"task", "environment"}}, bench::steady_seconds());
    if (!answer) throw Error(ErrorCode::device, "a first worker died: " + workers_.death().reason);
    if (answer->contains("error"))
      throw Error(static_cast<ErrorCode>((*answer)["error"].get<int>()),
                  (*answer)["message"].get<std::string>());
    return *std::move(answer);
  }

  /// Those of this shard that are still to be measured; the seed that they were drawn with.
  std::optional<std::uint64_t> choose_products(std::optional<std::uint64_t> seed) {
    if (work_.grid.grid.empty()) return std::nullopt;
    bench::GridChoice choice = work_.grid;
    choice.seed = seed;
    bench::GridRun grid = bench::choose_cases(choice);
    std::erase_if(grid.cases,
                  [&](const bench::GemmCase& gemm) { return done(bench::done_key(gemm)); });
    products_ = std::move(grid.cases);
    return grid.seed;
  }

  void choose_matrices(std::uint64_t seed) {
    const Sources sources = find_sources(work_, seed);
    for (bench::MatrixRecord failed : sources.failed) {
      failed.origin.content = absent(failed.origin.source);
      failed.dtypes = to_do(failed.origin.content);
      if (!failed.dtypes.empty()) reporter_.add(failed);
    }
    for (std::size_t i = work_.grid.shard; i < sources.matrices.size(); i += work_.grid.shards)
      matrices_.push_back(sources.matrices[i]);
  }

  /// A matrix is as much work as its entries are, and some more for what each costs.
  void start_progress() {
    constexpr double kEach = 2e6;
    work_of_.assign(matrices_.size(), kEach);
    for (std::size_t i = 0; StatusLine::possible() && i < matrices_.size(); ++i)
      work_of_[i] += likely_entries(matrices_[i]);
    double all = kEach * static_cast<double>(products_.size());
    for (const double work : work_of_)
      all += work;
    reporter_.progress().start(matrices_.size() + products_.size(), all);
  }

  bool done(const std::string& key) const {
    return earlier_.cases.count(key) == 1 && !(options_.retry && earlier_.failed.count(key) == 1);
  }

  /// Types that a matrix is still to be multiplied in.
  std::vector<DType> to_do(const std::string& content) const {
    std::vector<DType> dtypes = dtypes_;
    std::erase_if(dtypes, [&](DType dtype) { return done(bench::done_key(content, dtype)); });
    return dtypes;
  }

  bool time_is_up() const {
    return options_.seconds > 0 && bench::steady_seconds() - start_ > options_.seconds;
  }

  /// Stands for the content of what has none that is known, so that it is told once.
  static std::string absent(const std::string& source) { return "absent:" + source; }

  void run_matrix(const Source& source, double work) {
    const double start = bench::steady_seconds();
    bench::MatrixRecord record = record_of(source);
    const bool readable = identify(source, record, start);
    record.dtypes = to_do(record.origin.content);
    if (time_is_up()) {
      left_ += record.dtypes.size();
    } else if (!record.dtypes.empty()) {
      if (readable) measure(source, record, start);
      record.seconds = bench::steady_seconds() - start;
      reporter_.add(record);
    }
    reporter_.progress().finish_task(work);
  }

  /// What tells the matrix from others, wherever it stands. A worker reads the file; false where
  /// that ended badly, as the record then says.
  bool identify(const Source& source, bench::MatrixRecord& record, double start) {
    if (source.generated) {
      record.origin.content = content_of(source);
      return true;
    }
    record.origin.content = absent(source.place);
    Json task = {{"task", "identify"},
                 {"source", to_json(source)},
                 {"known", nullptr},
                 {"hash", !time_is_up()}};
    const auto known = earlier_.contents.find(source.place);
    if (known != earlier_.contents.end())
      task["known"] = {{"stamp", bench::to_json(known->second.first)},
                       {"content", known->second.second}};
    const std::optional<Json> answer = workers_.run(std::move(task), start);
    if (!answer) {
      tell_death(record);
      return false;
    }
    if (answer->contains("refused")) {
      record.status = bench::Status::invalid;
      record.reason = answer->at("refused");
      return false;
    }
    if (answer->contains("stamp")) record.stamp = bench::stamp_of(answer->at("stamp"));
    const std::string content = answer->at("content");
    if (!content.empty()) record.origin.content = content;
    return true;
  }

  /// In a worker of its own.
  void measure(const Source& source, bench::MatrixRecord& record, double start) {
    Json task = {{"task", "spmv"},
                 {"source", to_json(source)},
                 {"content", record.origin.content},
                 {"dtypes", Json::array()}};
    for (const DType dtype : record.dtypes)
      task["dtypes"].push_back(lanky::to_string(dtype));
    const std::optional<Json> answer = workers_.run(std::move(task), start);
    record.facts = workers_.facts();
    record.read_seconds = workers_.read_seconds();
    record.warnings = workers_.warnings();
    if (!answer) return tell_death(record);
    workers_.dismiss();
    record.memory_bytes = workers_.memory_bytes();
    if (answer->contains("error")) {  // of the device, which had been there before
      record.status = bench::Status::crash;
      record.reason = answer->at("message");
    } else {
      record.status = static_cast<bench::Status>(answer->at("status").get<int>());
      record.reason = answer->at("reason");
    }
  }

  void tell_death(bench::MatrixRecord& record) const {
    record.status = workers_.death().status;
    record.reason = workers_.death().reason;
    record.signal = workers_.death().signal;
    record.memory_bytes = workers_.memory_bytes();
  }

  /// All in one worker, as long as it lives.
  void run_product(const bench::GemmCase& gemm) {
    if (time_is_up()) {
      ++left_;
      return;
    }
    const auto answer =
        workers_.run({{"task", "gemm"}, {"grid", bench::to_grid(gemm)}}, bench::steady_seconds());
    const bool failed = answer && answer->contains("error");
    if (!answer || failed) {
      bench::GemmCase named = gemm;
      named.name = bench::gemm_case_name(gemm);
      reporter_.add(result_of(
          failed ? bench::FailedCase{named, bench::Status::crash, answer->at("message")}
                 : bench::FailedCase{named, workers_.death().status, workers_.death().reason}));
    }
    reporter_.progress().finish_task(1);
  }

  const RunOptions& options_;
  const Work& work_;
  double start_;
  std::vector<DType> dtypes_;
  Reporter reporter_;
  Workers workers_;
  bench::EarlierRuns earlier_;
  std::vector<Source> matrices_;  // of this shard
  std::vector<double> work_of_;   // of each, in entries
  std::vector<bench::GemmCase> products_;
  std::size_t ahead_ = 0;  // matrices and products that are not done
  std::size_t left_ = 0;   // cases that there was no time for
};

}  // namespace

int run_batch(const RunOptions& options, const Work& work) {
  std::signal(SIGPIPE, SIG_IGN);  // what a worker does not take any more, its end tells
  return Batch(options, work).run();
}

}  // namespace lanky::cli
