#include "bench/table.hpp"

#include <cmath>
#include <cstdio>
#include <optional>

namespace lanky::bench {

namespace {

constexpr std::size_t kWidth = 120;
constexpr int kCaseWidth = 21;
constexpr int kSizeWidth = 24;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

/// "12.3k", "4.56M": three digits of a count; the thresholds keep 999,999 from becoming 1e+03k.
std::string count(std::int64_t value) {
  const auto wide = static_cast<double>(value);
  if (value < 10'000) return std::to_string(value);
  if (value < 999'500) return format("%.3gk", wide / 1e3);
  if (value < 999'500'000) return format("%.3gM", wide / 1e6);
  return format("%.3gG", wide / 1e9);
}

std::string size_of_case(const SpmvCase& spmv) {
  return count(spmv.m) + "x" + count(spmv.n) + " " + count(spmv.nnz);
}

std::string size_of_case(const GemmCase& gemm) {
  std::string text = count(gemm.m) + "x" + count(gemm.n) + "x" + count(gemm.k) + " ";
  return text.append(name(gemm.op_a)).append(name(gemm.op_b)).append(" ").append(name(gemm.layout));
}

std::string type_of_case(const SpmvCase& spmv) {
  return std::string(name(spmv.dtype));
}
/// "f16", or "f16>32" where the result is f32.
std::string type_of_case(const GemmCase& gemm) {
  return std::string(name(gemm.type)) + (gemm.type.in == gemm.type.out ? "" : ">32");
}

std::string microseconds(std::optional<double> us) {
  if (!us) return "-";
  return *us < 1000 ? format("%.2f", *us) : format("%.0f", *us);
}

/// The time that counts for this kind of case: by graph where `by_graph`, else by batch.
std::optional<double> counted_us(const std::optional<Timing>& timing, bool by_graph) {
  if (!timing) return std::nullopt;
  if (!by_graph) return timing->warm.median_us;
  return timing->graph ? std::optional<double>(timing->graph->median_us) : std::nullopt;
}

/// Whether the time that counts is known too badly for a ratio.
bool noisy(const std::optional<Timing>& timing, bool by_graph) {
  constexpr double kNoisy = 0.1;
  if (!timing || (by_graph && !timing->graph)) return false;
  return (by_graph ? *timing->graph : timing->warm).noise > kNoisy;
}

struct Best {
  const Outcome* outcome = nullptr;
  std::optional<double> us;
};

Best best_of(const CaseReport& report, bool lanky, bool by_graph) {
  Best best;
  for (const Outcome& outcome : report.outcomes) {
    if ((outcome.contestant == "lanky") != lanky) continue;
    const std::optional<double> us = counted_us(outcome.timing, by_graph);
    if (best.outcome == nullptr || (us && (!best.us || *us < *best.us))) best = {&outcome, us};
  }
  return best;
}

/// "ok", "ok, noisy", or who failed and how.
std::string verdict_text(const CaseReport& report, const Best& lanky, const Best& other,
                         bool by_graph) {
  bool any_noisy = noisy(report.floor, by_graph);
  for (const Best& best : {lanky, other})
    any_noisy = any_noisy || (best.us && noisy(best.outcome->timing, by_graph));
  std::string text;
  for (const Outcome& outcome : report.outcomes) {
    if (outcome.status == Status::ok || outcome.expected()) continue;
    text +=
        (text.empty() ? "" : ", ") + outcome.contestant + " " + std::string(name(outcome.status));
  }
  if (!text.empty()) return text;
  return any_noisy ? "ok, noisy" : "ok";
}

/// "cusparse alg1", "gemmex": dense variants name their library themselves.
std::string other_name(const Outcome& outcome) {
  if (outcome.contestant == "cusparse") return outcome.contestant + " " + outcome.variant;
  if (outcome.contestant == "cublas") return outcome.variant;
  return outcome.contestant;
}

std::string line(const std::string& name, const std::string& type, const std::string& size,
                 const std::string& lanky, const std::string& other, const std::string& who,
                 const std::string& ratio, const std::string& floor, const std::string& error,
                 const std::string& status) {
  const std::string figures =
      format("%-21s %-7s %-24s %8s %8s %-13s %5s %6s %7s  ", shortened(name, kCaseWidth).c_str(),
             type.c_str(), shortened(size, kSizeWidth).c_str(), lanky.c_str(), other.c_str(),
             who.c_str(), ratio.c_str(), floor.c_str(), error.c_str());
  return figures + shortened(status, kWidth - figures.size());
}

}  // namespace

std::string table_heading() {
  return line("case", "type", "size", "lanky us", "best us", "best other", "ratio", "%floor",
              "err/bnd", "status");
}

std::string table_legend(bool cuda) {
  std::string text =
      "size: rows x columns nonzeros, or m x n x k, transposes, layout; times: medians, ";
  text += cuda ? "SpMV in a replayed CUDA graph, GEMM in a batch of launches\n" : "in a batch\n";
  return text +
         "ratio: best other / lanky; %floor: time of a kernel that only moves the bytes / lanky\n"
         "noisy: some median is known to no better than 10 %, as on a machine that others use";
}

std::string table_line(const CaseReport& report) {
  const auto* spmv = std::get_if<SpmvCase>(&report.subject);
  const bool by_graph = spmv != nullptr && report.floor && report.floor->graph;
  const Best lanky = best_of(report, true, by_graph);
  const Best other = best_of(report, false, by_graph);
  const std::optional<double> floor = counted_us(report.floor, by_graph);
  std::string ratio = "-";
  std::string share = "-";
  std::string error = "-";
  if (lanky.us && other.us) ratio = format("%.2f", *other.us / *lanky.us);
  if (lanky.us && floor) share = format("%.0f", 100 * *floor / *lanky.us);
  if (lanky.outcome != nullptr && lanky.outcome->verdict) {
    const Verdict& verdict = *lanky.outcome->verdict;
    error = verdict.bound > 0 ? format("%.2f", verdict.error / verdict.bound)
                              : format("%.0f", verdict.error);
  }
  const auto describe = [&](const auto& subject) {
    return line(subject.name, type_of_case(subject), size_of_case(subject), microseconds(lanky.us),
                microseconds(other.us), other.us ? shortened(other_name(*other.outcome), 13) : "-",
                ratio, share, error, verdict_text(report, lanky, other, by_graph));
  };
  return std::visit(describe, report.subject);
}

std::string failure_line(const FailedCase& failed) {
  return format("%-21s %-7s %s: ", shortened(failed.name, kCaseWidth).c_str(), failed.dtype.c_str(),
                std::string(name(failed.status)).c_str()) +
         failed.message;
}

}  // namespace lanky::bench
