// Workers that do one task after another for a batch, and what became of those that died of one.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/records/matrix_record.hpp"
#include "cli/options.hpp"
#include "cli/reporter.hpp"
#include "cli/worker_process.hpp"

namespace lanky::cli {

/// A signal from outside ends the batch: stop_signal().
struct Interrupted {};

/// How a worker died, or what it was killed for.
struct Death {
  bench::Status status = bench::Status::crash;
  std::string reason;
  int signal = 0;
};

class Workers {
 public:
  /// Results go to `reporter` as they come.
  Workers(const RunOptions& options, Reporter& reporter);

  /// The answer of a worker that did the task (see worker.hpp); nothing where it died of it, as
  /// death() tells. The time limit counts from `start` (steady_seconds()). Throws Interrupted.
  std::optional<nlohmann::ordered_json> run(nlohmann::ordered_json task, double start);
  /// The next task is another worker's.
  void dismiss();

  const Death& death() const { return death_; }
  /// Of the matrix that was read last; nothing where reading failed.
  const std::optional<bench::MatrixFacts>& facts() const { return facts_; }
  double read_seconds() const { return read_seconds_; }
  /// Faults that it may have although it was read.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Main memory that the last worker to end had, at its most.
  std::int64_t memory_bytes() const { return memory_bytes_; }

 private:
  void start();
  std::optional<nlohmann::ordered_json> wait(double start);
  std::optional<nlohmann::ordered_json> take(const std::string& line);
  void hear(const nlohmann::ordered_json& reply);
  void kill(bench::Status status, const std::string& why);
  void explain_death();

  const RunOptions& options_;
  Reporter& reporter_;
  std::int64_t memory_limit_;
  std::unique_ptr<WorkerProcess> worker_;
  std::string token_;  // that the worker's replies bear, and nothing else that is in its pipe
  std::string doing_;
  std::optional<bench::MatrixFacts> facts_;
  double read_seconds_ = 0;
  std::vector<std::string> warnings_;
  Death death_;
  std::int64_t memory_bytes_ = 0;
  std::int64_t kills_before_ = 0;  // by the system, for want of memory
  double clock_mhz_ = 0;           // the highest that a worker saw
};

}  // namespace lanky::cli
