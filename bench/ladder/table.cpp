#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

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

/// One of two fields over the other, times scale.
std::string ratio(const Json& line, const char* part, const char* whole, double scale) {
  if (!line.contains(part) || !line[part].is_number() || !line[whole].is_number()) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.1f",
                scale * line[part].get<double>() / line[whole].get<double>());
  return text;
}

/// A column of figures, right-aligned.
struct Column {
  const char* heading;
  int width;
  std::function<std::string(const Json& line)> figure;
};

/// A row: the rung's name, figures, then what fits of the text.
std::string row(const std::string& rung, const std::vector<Column>& columns,
                const std::function<std::string(const Column&)>& figure_of,
                const std::string& what) {
  constexpr std::size_t kWidth = 120;
  char text[64];
  std::snprintf(text, sizeof text, "%-16s", rung.c_str());
  std::string line = text;
  for (const Column& column : columns) {
    std::snprintf(text, sizeof text, "%*s", column.width, figure_of(column).c_str());
    line += text;
  }
  line += "  ";
  const std::size_t space = kWidth - line.size();
  line += what.size() <= space ? what : what.substr(0, space - 2) + "..";
  return line + "\n";
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

/// Those that every ladder has, and those that some line has figures for.
std::vector<Column> columns_of(std::span<const Json> lines) {
  const auto figures = [](const char* pattern, const char* field, double scale = 1) {
    return [=](const Json& line) { return cell(pattern, line, field, scale); };
  };
  // Per cent, unless told otherwise.
  const auto ratios = [](const char* part, const char* whole, double scale = 100) {
    return [=](const Json& line) { return ratio(line, part, whole, scale); };
  };
  std::vector<Column> columns = {{"ms", 9, figures("%.4g", "us", 1e-3)},
                                 {"GFLOP/s", 9, figures("%.5g", "gflops")},
                                 {"%peak", 6, ratios("gflops", "peak_gflops")},
                                 {"GB/s", 8, ratios("bytes", "us", 1e-3)},
                                 {"%floor", 7, ratios("floor_us", "us")},
                                 {"xfirst", 8, figures("%.2f", "speedup_first")},
                                 {"xvend", 7, figures("%.2f", "speedup_vendor")}};
  const auto add = [&](const char* field, Column column) {
    const bool any = std::any_of(lines.begin(), lines.end(), [field](const Json& line) {
      return line.contains(field) && line[field].is_number();
    });
    if (any) columns.push_back(std::move(column));
  };
  add("reads", {"reads", 10, figures("%.3g", "reads")});
  add("reads_by_warps", {"by warps", 10, figures("%.3g", "reads_by_warps")});
  add("reads_from_l2", {"from L2", 10, figures("%.3g", "reads_from_l2")});
  add("predicted_us", {"model ms", 10, figures("%.4g", "predicted_us", 1e-3)});
  add("gathers_us", {"%gathers", 10, ratios("gathers_us", "us")});
  add("arithmetic_us", {"%arith", 8, ratios("arithmetic_us", "us")});
  return columns;
}

}  // namespace

std::string table(std::span<const Json> lines) {
  if (lines.empty()) return "";
  const Json& first = lines.front();
  std::string text =
      concat(first["ladder"].get<std::string>(), " ", first["case"].get<std::string>(), " ",
             first["dtype"].get<std::string>());
  if (first.contains("columns"))
    text += concat(", ", first["columns"].get<std::int64_t>(), " columns");
  if (first.contains("block")) text += concat(", block ", first["block"].get<std::string>());
  const bool transfers = first["transfer_us"].is_number();
  if (transfers) {
    text += concat(", times include ", cell("%.3f", first, "transfer_us", 1e-3),
                   " ms for copies to the device and back");
  }
  if (const auto card = lines.back().find("card"); card != lines.back().end()) {
    text += concat("\nthe model's card: ", cell("%.0f", *card, "memory_latency_clocks"),
                   " clocks a load, ", cell("%.1f", *card, "arithmetic_latency_clocks"),
                   " an FMA; ", cell("%.2f", *card, "tb_per_second"), " TB/s, ",
                   cell("%.1f", *card, "tflops"), " TFLOP/s; a pass is bound by memory below ",
                   cell("%.1f", *card, "t2_threshold"), " columns");
  }
  text += '\n';
  const std::vector<Column> columns = columns_of(lines);
  text += row(
      "rung", columns, [](const Column& column) { return column.heading; }, "");
  for (const Json& line : lines) {
    Json shown = line;
    if (transfers && line["us"].is_number()) add_transfers(shown);
    text += row(
        line["rung"].get<std::string>(), columns,
        [&](const Column& column) { return column.figure(shown); }, what_of(line));
  }
  return text;
}

}  // namespace lanky::ladder
