#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/ladder/climb.hpp"
#include "core/text.hpp"

namespace lanky::ladder {

namespace {

using Json = nlohmann::ordered_json;

/// The field by the pattern, or "-" where there is none.
std::string cell(const char* pattern, const Json& line, const char* field, double scale = 1) {
  const auto found = line.find(field);
  if (found == line.end() || !found->is_number()) return "-";
  char text[64];
  std::snprintf(text, sizeof text, pattern, found->get<double>() * scale);
  return text;
}

/// One of two fields over the other, in per cent.
std::string share(const Json& line, const char* part, const char* whole) {
  if (!line[part].is_number() || !line[whole].is_number()) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.1f",
                100 * line[part].get<double>() / line[whole].get<double>());
  return text;
}

std::string row(const std::string& rung, const std::string& ms, const std::string& gflops,
                const std::string& peak, const std::string& floor, const std::string& first,
                const std::string& vendor, const std::string& reads, const std::string& predicted,
                const std::string& what) {
  char text[256];
  std::snprintf(text, sizeof text, "%-17s %9s %9s %6s %6s %7s %7s %9s %9s  ", rung.c_str(),
                ms.c_str(), gflops.c_str(), peak.c_str(), floor.c_str(), first.c_str(),
                vendor.c_str(), reads.c_str(), predicted.c_str());
  return concat(text, what, "\n");
}

/// Times and what follows from them with the copies counted.
void add_transfers(Json& line) {
  const double us = line["us"].get<double>();
  const double transfer_us = line["transfer_us"].get<double>();
  const double total_us = us + transfer_us;
  line["us"] = total_us;
  line["gflops"] = line["flops"].get<double>() / total_us * 1e-3;
  for (const char* field : {"speedup_first", "speedup_vendor"}) {
    if (line[field].is_number())
      line[field] = (line[field].get<double>() * us + transfer_us) / total_us;
  }
}

std::string what_of(const Json& line) {
  if (line["status"] == "ok")
    return concat(line["idea"].get<std::string>(),
                  line["checked"].get<bool>() ? "" : " (not checked)");
  return concat(line["status"].get<std::string>(), ": ", line.value("message", ""));
}

}  // namespace

std::string table(std::span<const Json> lines) {
  if (lines.empty()) return "";
  const Json& first = lines.front();
  std::string text =
      concat(first["ladder"].get<std::string>(), " ", first["case"].get<std::string>(), " ",
             first["dtype"].get<std::string>());
  const bool transfers = first["transfer_us"].is_number();
  if (transfers) {
    text += concat(", times include ", cell("%.3f", first, "transfer_us", 1e-3),
                   " ms for copies to the device and back");
  }
  const bool measured = std::any_of(
      lines.begin(), lines.end(), [](const Json& line) { return line.contains("reads_measured"); });
  text += '\n';
  text += row("rung", "ms", "GFLOP/s", "%peak", "%floor", "x first", "x vend", "reads",
              measured ? "measured" : "model ms", "");
  for (const Json& line : lines) {
    Json shown = line;
    if (transfers && line["us"].is_number()) add_transfers(shown);
    text += row(
        line["rung"].get<std::string>(), cell("%.4g", shown, "us", 1e-3),
        cell("%.4g", shown, "gflops"), share(shown, "gflops", "peak_gflops"),
        share(shown, "floor_us", "us"), cell("%.2f", shown, "speedup_first"),
        cell("%.2f", shown, "speedup_vendor"), cell("%.3g", line, "reads"),
        measured ? cell("%.3g", line, "reads_measured") : cell("%.4g", line, "predicted_us", 1e-3),
        what_of(line));
  }
  return text;
}

}  // namespace lanky::ladder
