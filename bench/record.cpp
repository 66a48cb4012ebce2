#include "bench/record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>

#include "bench/gemm_case.hpp"

namespace lanky::bench {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity and no NaN.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json median_of(const std::optional<Estimate>& estimate) {
  return estimate ? number(estimate->median_us) : Json(nullptr);
}

Json head(const SpmvCase& spmv) {
  return {{"kind", "spmv"}, {"case", spmv.name}, {"class", spmv.matrix_class}, {"m", spmv.m},
          {"n", spmv.n},    {"nnz", spmv.nnz},   {"dtype", name(spmv.dtype)},  {"op", "n"}};
}

Json head(const GemmCase& gemm) {
  return {{"kind", "gemm"},
          {"case", gemm.name},
          {"family", family_name(gemm)},
          {"m", gemm.m},
          {"n", gemm.n},
          {"k", gemm.k},
          {"op_a", name(gemm.op_a)},
          {"op_b", name(gemm.op_b)},
          {"layout", name(gemm.layout)},
          {"ld", gemm.padded ? "padded" : "tight"},
          {"alpha", gemm.alpha},
          {"beta", gemm.beta},
          {"dtype", name(gemm.type)},
          {"out", name(gemm.type.out)}};
}

/// What says how far the times can be trusted: the worst of the estimates.
void add_quality(Json& line, const Timing& timing) {
  double noise = timing.warm.noise;
  int samples = timing.warm.samples;
  bool throttled = timing.warm.throttled;
  for (const auto& estimate : {timing.graph, timing.cold}) {
    if (!estimate) continue;
    noise = std::max(noise, estimate->noise);
    samples = std::min(samples, estimate->samples);
    throttled = throttled || estimate->throttled;
  }
  line["noise"] = number(noise);
  line["samples"] = samples;
  line["throttled"] = throttled;
  if (!timing.graph_failure.empty()) line["graph_failure"] = timing.graph_failure;
}

/// The rest of the line of `text` that begins with `head`; "" where there is none.
std::string rest_of_line(const std::string& text, const std::string& head) {
  const std::string lines = "\n" + text;
  const std::size_t start = lines.find("\n" + head);
  if (start == std::string::npos) return "";
  const std::size_t first = start + 1 + head.size();
  return lines.substr(first, lines.find('\n', first) - first);
}

Json outcome_line(Json line, const CaseReport& report, const Outcome& outcome) {
  line["contestant"] = outcome.contestant;
  line["variant"] = outcome.variant;
  line["status"] = name(outcome.status);
  const std::optional<Timing>& timing = outcome.timing;
  line["warm_us"] = timing ? number(timing->warm.median_us) : Json(nullptr);
  line["graph_us"] = timing ? median_of(timing->graph) : Json(nullptr);
  line["cold_us"] = timing ? median_of(timing->cold) : Json(nullptr);
  line["setup_us"] = timing ? number(outcome.setup_us) : Json(nullptr);
  if (std::holds_alternative<SpmvCase>(report.subject)) {
    line["update_us"] = timing && outcome.update_us ? number(*outcome.update_us) : Json(nullptr);
    line["setup_bytes"] = outcome.setup_bytes ? Json(*outcome.setup_bytes) : Json(nullptr);
  }
  line["floor_us"] = report.floor ? median_of(report.floor->graph) : Json(nullptr);
  line["floor_batch_us"] = report.floor ? number(report.floor->warm.median_us) : Json(nullptr);
  if (std::holds_alternative<GemmCase>(report.subject))
    line["peak_us"] = report.peak_us ? number(*report.peak_us) : Json(nullptr);
  line["bytes"] = report.footprint.bytes();
  line["flops"] = report.footprint.flops;
  line["plan_bytes"] = outcome.plan_bytes;
  line["error"] = outcome.verdict ? number(outcome.verdict->error) : Json(nullptr);
  line["bound"] = outcome.verdict ? number(outcome.verdict->bound) : Json(nullptr);
  if (timing) add_quality(line, *timing);
  const std::string kernel = rest_of_line(outcome.explanation, "kernel: ");
  if (!kernel.empty()) line["kernel"] = kernel;
  if (!outcome.message.empty()) line["message"] = outcome.message;
  return line;
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

/// Half a line at the end would spoil the next one.
void require_whole_lines(const std::filesystem::path& path, int descriptor) {
  const off_t size = lseek(descriptor, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && pread(descriptor, &last, 1, size - 1) == 1 && last != '\n')
    fail(path, "its last line is incomplete; remove that line, or write to another file");
}

}  // namespace

Json to_json(const Environment& e) {
  Json line = {{"kind", "env"},
               {"schema", 1},
               {"gpu", e.gpu},
               {"driver", e.driver},
               {"cuda", e.cuda},
               {"cublas", e.cublas},
               {"cusparse", e.cusparse},
               {"lanky", e.lanky},
               {"commit", e.commit},
               {"argv", e.argv},
               {"utc", e.utc},
               {"sm_clock_mhz", number(std::round(e.sm_clock_mhz))},
               {"l2_bytes", e.l2_bytes},
               {"read_floor_tbs", number(e.read_floor_tbs)},
               {"void", e.is_void},
               {"device", e.device},
               {"cpu", e.cpu},
               {"threads", e.threads},
               {"openblas", e.openblas},
               {"sources_hash", e.sources_hash},
               {"binary_hash", e.binary_hash}};
  if (e.seed) line["seed"] = *e.seed;
  return line;
}

std::vector<Json> to_json(const CaseReport& report) {
  const Json start = std::visit([](const auto& subject) { return head(subject); }, report.subject);
  std::vector<Json> lines;
  for (const Outcome& outcome : report.outcomes)
    lines.push_back(outcome_line(start, report, outcome));
  return lines;
}

Json to_json(const FailedCase& failed) {
  Json line = {{"kind", failed.kind}, {"case", failed.name}};
  if (!failed.dtype.empty()) line["dtype"] = failed.dtype;
  line["contestant"] = "lanky";
  line["status"] = name(failed.status);
  line["message"] = failed.message;
  return line;
}

std::string record_key(const GemmCase& gemm) {
  GemmCase named = gemm;
  if (named.name.empty()) named.name = gemm_case_name(gemm);
  return head(named).dump();
}

std::string record_key(const std::string& matrix, DType dtype) {
  return "spmv " + std::string(name(dtype)) + " " + matrix;
}

EarlierRuns earlier_runs(const std::filesystem::path& path, const std::string& binary_hash) {
  EarlierRuns earlier;
  const Json fields = head(GemmCase{});
  std::ifstream file(path, std::ios::binary);
  bool ours = false;
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) continue;
    if (line.value("kind", "") == "env") {
      ours = line.value("binary_hash", "") == binary_hash;
      if (ours && line.contains("seed")) earlier.seed = line["seed"].get<std::uint64_t>();
    }
    const bool counts = ours && line.value("contestant", "") == "lanky" &&
                        line.value("status", "") != name(Status::crash);
    if (!counts) continue;
    if (line.value("kind", "") == "spmv" && line.contains("dtype"))
      earlier.cases.insert(
          record_key(line.value("case", ""), parse_dtype(line.value("dtype", ""))));
    if (line.value("kind", "") != "gemm") continue;
    Json key;
    for (const auto& [field, unused] : fields.items())
      key[field] = line.contains(field) ? line[field] : Json(nullptr);
    earlier.cases.insert(key.dump());
  }
  return earlier;
}

RecordFile::RecordFile(const std::filesystem::path& path) : path_(path) {
  if (path == "-") {
    descriptor_ = dup(STDOUT_FILENO);
  } else {
    descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) fail(path, std::strerror(errno));
  if (path != "-") require_whole_lines(path, descriptor_);
}

RecordFile::~RecordFile() {
  close(descriptor_);
}

void RecordFile::write(const Json& line) {
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path_, std::strerror(errno));
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace lanky::bench
