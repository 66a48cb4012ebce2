#include "cli/workers.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string_view>
#include <utility>

#include "bench/harness/measure.hpp"
#include "bench/records/json_line.hpp"
#include "cli/case_result.hpp"
#include "cli/quantity_text.hpp"
#include "cli/signals.hpp"

namespace lanky::cli {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t memory_limit(std::int64_t asked) {
  if (asked > 0) return asked;
  constexpr double kShare = 0.9;
  double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  double of_group = 0;  // "max" where there is no limit
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> of_group) bytes = std::min(bytes, of_group);
  return static_cast<std::int64_t>(kShare * bytes);
}

/// Processes that the system has killed for want of memory, since it was started.
std::int64_t killed_for_memory() {
  std::ifstream file("/proc/vmstat");
  std::int64_t count = 0;
  for (std::string key; file >> key >> count;) {
    if (key == "oom_kill") return count;
  }
  return 0;
}

/// 32 hexadecimal digits.
std::string random_word() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string word;
  for (int i = 0; i < 32; ++i)
    word += kDigits[random() % kDigits.size()];
  return word;
}

/// A line in the worker's pipe that the worker did not write.
struct Forged {};

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", value);
  return text;
}

}  // namespace

Workers::Workers(const RunOptions& options, Reporter& reporter)
    : options_(options), reporter_(reporter), memory_limit_(memory_limit(options.memory_bytes)) {}

std::optional<Json> Workers::run(Json task, double start) {
  if (!worker_) this->start();
  task["token"] = token_;
  task["clock_mhz"] = clock_mhz_;
  doing_ = "its start";
  facts_.reset();
  read_seconds_ = 0;
  warnings_.clear();
  worker_->send(task.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::optional<Json> answer = wait(start);
  if (answer) clock_mhz_ = answer->value("clock_mhz", clock_mhz_);
  return answer;
}

void Workers::dismiss() {
  constexpr int kPatience = 10'000;  // milliseconds
  if (worker_)
    memory_bytes_ = worker_->finish(kPatience, [] { return stop_signal() != 0; }).memory_bytes;
  worker_.reset();
}

void Workers::start() {
  std::vector<std::string> arguments = options_.argv;
  arguments.emplace_back("--worker");
  kills_before_ = killed_for_memory();
  token_ = random_word();
  worker_ = std::make_unique<WorkerProcess>(std::move(arguments));
}

std::optional<Json> Workers::wait(double start) {
  constexpr int kLookEvery = 20;  // milliseconds
  while (true) {
    std::string line;
    const WorkerProcess::Event event = worker_->next(kLookEvery, line);
    if (stop_signal() != 0) throw Interrupted();
    if (event == WorkerProcess::Event::ended) {
      explain_death();
      return std::nullopt;
    }
    try {
      if (event == WorkerProcess::Event::endless) throw Forged();
      std::optional<Json> answer = event == WorkerProcess::Event::line ? take(line) : std::nullopt;
      if (answer) return answer;
    } catch (const Forged&) {
      kill(bench::Status::crash, "something other than lanky wrote into the worker's pipe");
      return std::nullopt;
    }
    const std::int64_t bytes = worker_->resident_bytes();
    if (bytes > memory_limit_) {
      kill(bench::Status::oom, "took " + bytes_text(bytes) + " of main memory, more than " +
                                   bytes_text(memory_limit_) + ",");
      return std::nullopt;
    }
    if (bench::steady_seconds() - start > options_.timeout) {
      kill(bench::Status::timeout, "took longer than " + seconds(options_.timeout));
      return std::nullopt;
    }
  }
}

/// The answer, where the line is the last of its task. Throws Forged where it is none of the
/// worker's.
std::optional<Json> Workers::take(const std::string& line) {
  Json reply = bench::parse_line(line);
  if (!reply.is_object() || !reply.contains("token") || reply["token"] != token_) throw Forged();
  if (reply.at("reply") == "done") return reply;
  hear(reply);
  return std::nullopt;
}

void Workers::hear(const Json& reply) {
  const std::string kind = reply.at("reply");
  if (kind == "begin") {
    doing_ = reply.at("text");
    reporter_.progress().begin(doing_);
  } else if (kind == "facts") {
    facts_ = bench::matrix_facts(reply.at("facts"));
    read_seconds_ = reply.at("read_seconds");
    warnings_ = reply.at("warnings").get<std::vector<std::string>>();
  } else {
    reporter_.add(case_result(reply.at("result")));
  }
}

void Workers::kill(bench::Status status, const std::string& why) {
  worker_->kill();
  dismiss();
  death_ = {status, why + " during " + doing_, 0};
}

void Workers::explain_death() {
  constexpr int kPatience = 1000;  // milliseconds; longer where it closed its pipe and lives on
  const Ending ending = worker_->finish(kPatience, [] { return stop_signal() != 0; });
  memory_bytes_ = ending.memory_bytes;
  worker_.reset();
  death_ = {bench::Status::crash, "", ending.signal};
  if (ending.signal == SIGKILL && killed_for_memory() > kills_before_) {
    death_.status = bench::Status::oom;
    death_.reason = "killed by the system for want of memory";
  } else if (ending.killed) {
    death_.reason = "the worker closed its pipe and went on";
  } else if (ending.signal != 0) {
    death_.reason =
        "signal " + std::to_string(ending.signal) + " (" + strsignal(ending.signal) + ")";
  } else {
    death_.reason = "the worker ended with code " + std::to_string(ending.exit_code);
  }
  death_.reason += " during " + doing_;
}

}  // namespace lanky::cli
