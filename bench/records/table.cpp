#include "bench/records/table.hpp"

#include <cmath>
#include <cstdio>
#include <optional>

namespace lanky::bench {

namespace {

constexpr std::size_t kWidth = 120;
constexpr std::size_t kCaseWidth = 21;
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

/// A label differs from others at either end.
std::string shown_name(const SpmvCase& spmv) {
  if (spmv.label.size() <= kCaseWidth) return spmv.label.empty() ? spmv.name : spmv.label;
  constexpr std::size_t kEnd = kCaseWidth / 2 - 1;
  return spmv.label.substr(0, kCaseWidth - 2 - kEnd) + ".." +
         spmv.label.substr(spmv.label.size() - kEnd);
}
std::string shown_name(const GemmCase& gemm) {
  return gemm.name;
}

std::string size_of_case(const SpmvCase& spmv) {
  const std::string extents = count(spmv.m) + "x" + count(spmv.n);
  if (spmv.is_vector()) return extents + " " + count(spmv.nnz);
  return (extents + " x" + count(spmv.columns.count) + " ").append(to_string(spmv.columns.layout));
}

std::string size_of_case(const GemmCase& gemm) {
  std::string text = count(gemm.m) + "x" + count(gemm.n) + "x" + count(gemm.k) + " ";
  return text.append(to_string(gemm.op_a))
      .append(to_string(gemm.op_b))
      .append(" ")
      .append(to_string(gemm.layout));
}

std::string type_of_case(const SpmvCase& spmv) {
  return std::string(to_string(spmv.dtype));
}
/// "f16", or "f16>32" where the result is f32, "f16>64" where it is f64.
std::string type_of_case(const GemmCase& gemm) {
  const char* const result = gemm.type.in == gemm.type.out ? "" : gemm.type.wide() ? ">64" : ">32";
  return std::string(to_string(gemm.type)) + result;
}

std::string microseconds(const Estimate* time) {
  if (time == nullptr) return "-";
  return format(time->median_us < 1000 ? "%.2f" : "%.0f", time->median_us);
}

/// Whether a time is known too badly for a ratio.
bool noisy(const Estimate* time) {
  constexpr double kNoisy = 0.1;
  return time != nullptr && time->noise > kNoisy;
}

/// "ok", "ok, noisy", or who failed and how.
std::string verdict_text(const CaseReport& report, const Outcome* lanky, const Outcome* other) {
  bool any_noisy = noisy(report.counted(report.floor));
  for (const Outcome* best : {lanky, other})
    any_noisy = any_noisy || (best != nullptr && noisy(report.counted(best->timing)));
  std::string text;
  for (const Outcome& outcome : report.outcomes) {
    if (outcome.status == Status::ok || outcome.expected()) continue;
    text += (text.empty() ? "" : ", ") + outcome.contestant + " " +
            std::string(to_string(outcome.status));
  }
  if (!text.empty()) return text;
  return any_noisy ? "ok, noisy" : "ok";
}

/// "cusparse alg1", "gemmex": dense variants name their library themselves.
std::string other_name(const Outcome& outcome) {
  if (outcome.variant == "default") return outcome.contestant;
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
      "size: of A rows x columns, then nonzeros, or x columns of X and layout; of GEMM m x n x k,\n"
      "transposes, layout; times: medians, ";
  text += cuda ? "sparse in a replayed CUDA graph, dense and long ones in a batch of launches\n"
               : "in a batch\n";
  return text +
         "ratio: best other / lanky, above 1 where lanky is faster; %floor: time of a kernel\n"
         "that only moves the bytes / lanky, above 100 where lanky's packed matrix has fewer\n"
         "bytes than CSR, or where the operands stay in a cache and the floor bounds nothing\n"
         "noisy: some median is known to no better than 10 %, as on a machine that others use";
}

std::string table_line(const CaseReport& report) {
  const Outcome* const lanky = report.best(true);
  const Outcome* const other = report.best(false);
  const auto time_of = [&](const Outcome* outcome) {
    return outcome == nullptr ? nullptr : report.counted(outcome->timing);
  };
  const Estimate* const lanky_time = time_of(lanky);
  const Estimate* const other_time = time_of(other);
  const Estimate* const floor = report.counted(report.floor);
  const std::optional<double> speedup = report.speedup();
  std::string share = "-";
  std::string error = "-";
  if (lanky_time != nullptr && floor != nullptr)
    share = format("%.0f", 100 * floor->median_us / lanky_time->median_us);
  if (lanky != nullptr && lanky->verdict) {
    const Verdict& verdict = *lanky->verdict;
    error = verdict.bound > 0 ? format("%.2f", verdict.error / verdict.bound)
                              : format("%.0f", verdict.error);
  }
  const auto describe = [&](const auto& subject) {
    return line(
        shown_name(subject), type_of_case(subject), size_of_case(subject), microseconds(lanky_time),
        microseconds(other_time), other_time != nullptr ? shortened(other_name(*other), 13) : "-",
        speedup ? format("%.2f", *speedup) : "-", share, error, verdict_text(report, lanky, other));
  };
  return std::visit(describe, report.subject);
}

std::string failure_line(const FailedCase& failed) {
  return std::visit(
      [&](const auto& subject) {
        return failure_line(shown_name(subject), type_of_case(subject), to_string(failed.status),
                            failed.message);
      },
      failed.subject);
}

std::string failure_line(const std::string& name, const std::string& type, std::string_view status,
                         const std::string& message) {
  return format("%-21s %-7s %s: ", shortened(name, kCaseWidth).c_str(), type.c_str(),
                std::string(status).c_str()) +
         message;
}

}  // namespace lanky::bench
