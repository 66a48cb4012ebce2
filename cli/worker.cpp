#include "cli/worker.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <lanky/lanky.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/cases/grid.hpp"
#include "bench/records/environment.hpp"
#include "bench/records/record.hpp"
#include "cli/device.hpp"
#include "cli/exit_code.hpp"
#include "cli/measurement.hpp"
#include "cli/signals.hpp"
#include "cli/worker_process.hpp"

namespace lanky::cli {

namespace {

using Json = nlohmann::ordered_json;

class Replies final : public Listener {
 public:
  void begin(const std::string& task) override { send({{"reply", "begin"}, {"text", task}}); }
  void read(const bench::MatrixRecord& record) override {
    send({{"reply", "facts"},
          {"facts", to_json(*record.facts)},
          {"warnings", record.warnings},
          {"read_seconds", record.read_seconds}});
  }
  void add(const CaseResult& result) override {
    send({{"reply", "case"}, {"result", to_json(result)}});
  }
  void done(Json answer) {
    answer["reply"] = "done";
    send(std::move(answer));
  }
  /// Of the task that is answered from now on.
  void set_token(const Json& token) { token_ = token; }

 private:
  void send(Json reply) {
    reply["token"] = token_;
    const std::string text =
        reply.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t count = ::write(kReplyDescriptor, text.data() + written, text.size() - written);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) _exit(kBroken);  // nobody listens any more
      written += static_cast<std::size_t>(count);
    }
  }

  Json token_;
};

/// What tells the matrix of a file from others: its stamp and its content; what stands there
/// instead of a file that can be read twice.
Json identify(const Json& task, const Source& source) {
  const std::optional<bench::FileStamp> stamp = bench::file_stamp(source.place);
  if (!stamp) return {{"content", ""}};  // reading it will tell
  if (!std::filesystem::is_regular_file(source.place))
    return {{"refused", source.place + ": is no regular file, and is not read"}};
  Json answer = {{"stamp", to_json(*stamp)}};
  const Json& known = task.at("known");
  const bool is_known = known.is_object() && known.at("stamp") == answer["stamp"];
  answer["content"] = is_known                      ? known.at("content")
                      : task.at("hash").get<bool>() ? Json(content_of(source))
                                                    : Json("");
  return answer;
}

/// What a worker keeps between tasks.
class Worker {
 public:
  Worker(const RunOptions& options, const Work& work, Replies& replies)
      : options_(options),
        replies_(replies),
        session_(device_of(options.device), timing_of(options, work)),
        measurement_(options, session_, replies_) {}

  void run(const Json& task) {
    const std::string kind = task.at("task");
    if (kind == "environment") return environment();
    session_.clock.expect(task.at("clock_mhz"));
    if (kind == "spmv") return multiply(task);
    const auto cases = bench::parse_grid(task.at("grid").get<std::string>(), "task");
    measurement_.multiply_dense(cases.at(0));
    replies_.done({{"clock_mhz", session_.clock.highest_mhz()}});
  }

 private:
  void environment() {
    bench::Environment environment =
        bench::describe_environment(session_, options_.argv, !options_.no_vendor);
    environment.gpu_absence = gpu_absence(options_.device);
    replies_.done({{"environment", bench::to_json(environment)}, {"peers", measurement_.peers()}});
  }

  void multiply(const Json& task) {
    std::vector<DType> dtypes;
    for (const Json& dtype : task.at("dtypes"))
      dtypes.push_back(parse_dtype(dtype.get<std::string>()));
    const bench::MatrixRecord record =
        measurement_.multiply(source_of(task.at("source")), task.at("content"), dtypes);
    replies_.done({{"status", static_cast<int>(record.status)},
                   {"reason", record.reason},
                   {"clock_mhz", session_.clock.highest_mhz()}});
  }

  const RunOptions& options_;
  Replies& replies_;
  bench::Session session_;
  Measurement measurement_;
};

}  // namespace

int run_worker(const RunOptions& options, const Work& work) {
  restore_signals();  // the supervisor tells what they mean
  // A process that a contestant forks ends with the worker, also where it has left its group and
  // where the supervisor was killed.
  pthread_atfork(nullptr, nullptr, [] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
  Replies replies;
  std::optional<Worker> worker;
  for (std::string line; std::getline(std::cin, line);) {
    const Json task = Json::parse(line);
    replies.set_token(task.at("token"));
    if (task.at("task") == "identify") {  // which needs no device
      const Source source = source_of(task.at("source"));
      replies.begin("reading " + source.shown());
      replies.done(identify(task, source));
      continue;
    }
    try {
      if (!worker) worker.emplace(options, work, replies);
    } catch (const Error& error) {  // no such device, say: no task can be done
      replies.done({{"error", static_cast<int>(error.code())}, {"message", error.what()}});
      continue;
    }
    worker->run(task);
  }
  _exit(kOk);  // taking down what a device holds takes long, and may fail
}

}  // namespace lanky::cli
