#include <algorithm>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/ladder/climb.hpp"
#include "bench/records/json_line.hpp"
#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "core/text.hpp"

namespace lanky::ladder {

namespace {

using Json = nlohmann::ordered_json;
using report::fixed;
using report::html;
using report::significant;

// Pixels.
constexpr double kNames = 118;   // left of the bars
constexpr double kBars = 300;    // the longest
constexpr double kFigures = 70;  // right of them
constexpr double kRow = 16;
constexpr double kTitle = 30;
constexpr double kGap = 18;
constexpr double kPanel = kNames + kBars + kFigures;

constexpr char kStyle[] =
    "text{font:11px system-ui,sans-serif;fill:#57606a}.title{font-size:13px;font-weight:600}"
    ".rung{fill:#8c959f}.lanky{fill:#1f6feb}.vendor{fill:#d4761a}"
    ".limit{stroke:#57606a;stroke-dasharray:3 3}"
    "@media(prefers-color-scheme:dark){text{fill:#9da7b3}.lanky{fill:#58a6ff}.vendor{fill:#f0a35e}"
    ".limit{stroke:#9da7b3}}";

using Lines = std::vector<const Json*>;

/// "gemm-gpu, gemm-2048x2048x2048, f32, block 16x16", "spmm, wave, f64, 32 columns"
std::string title_of(const Json& line) {
  const std::string block = line.value("block", "");
  const auto columns = line.find("columns");
  return concat(line["ladder"].get<std::string>(), ", ", line["case"].get<std::string>(), ", ",
                line["dtype"].get<std::string>(), block.empty() ? "" : ", block ", block,
                columns != line.end() && columns->is_number()
                    ? concat(", ", columns->get<std::int64_t>(), " columns")
                    : "");
}

/// Lines of one case and type, in their order.
std::vector<Lines> by_case(std::span<const Json> lines) {
  std::vector<std::pair<std::string, Lines>> cases;
  for (const Json& line : lines) {
    if (line.value("kind", "") != "ladder") continue;
    const std::string key = title_of(line);
    if (cases.empty() || cases.back().first != key) cases.push_back({key, {}});
    cases.back().second.push_back(&line);
  }
  std::vector<Lines> all;
  all.reserve(cases.size());
  for (auto& [key, its] : cases)
    all.push_back(std::move(its));
  return all;
}

double gflops_of(const Json& line) {
  return line["gflops"].is_number() ? line["gflops"].get<double>() : 0;
}

/// GFLOP/s that neither memory nor the first rung's arithmetic allows to exceed.
double limit_of(const Json& line) {
  double limit = line["peak_gflops"].is_number() ? line["peak_gflops"].get<double>() : 0;
  if (line["floor_us"].is_number() && line["flops"].is_number()) {
    const double by_floor = line["flops"].get<double>() / line["floor_us"].get<double>() * 1e-3;
    limit = limit > 0 ? std::min(limit, by_floor) : by_floor;
  }
  return limit;
}

std::string kind_of(const Json& line) {
  const std::string contestant = line["contestant"].get<std::string>();
  if (contestant == "lanky") return "lanky";
  return contestant == line["ladder"].get<std::string>() ? "rung" : "vendor";
}

std::string text_at(double x, double y, const char* attributes, const std::string& text) {
  return concat("<text x=\"", fixed(x, 1), "\" y=\"", fixed(y, 1), "\"", attributes, ">",
                html(text), "</text>");
}

double height_of(const Lines& lines) {
  return kTitle + kRow * static_cast<double>(lines.size());
}

std::string panel(const Lines& lines, double left, double top) {
  const Json& first = *lines.front();
  const double limit = limit_of(first);
  double most = limit;
  for (const Json* line : lines)
    most = std::max(most, gflops_of(*line));
  const double scale = most > 0 ? kBars / most : 0;
  const double bars = left + kNames;
  std::string text = text_at(left, top + 16, " class=\"title\"", title_of(first) + ": GFLOP/s");
  double y = top + kTitle;
  for (const Json* line : lines) {
    const double gflops = gflops_of(*line);
    const bool ok = (*line)["status"] == "ok" && gflops > 0;
    text += text_at(bars - 6, y + 11, " text-anchor=\"end\"", (*line)["rung"].get<std::string>());
    if (ok) {
      text += concat("<rect class=\"", kind_of(*line), "\" x=\"", fixed(bars, 1), "\" y=\"",
                     fixed(y + 2, 1), "\" width=\"", fixed(gflops * scale, 1), "\" height=\"",
                     fixed(kRow - 4, 1), "\"><title>", html((*line)["idea"].get<std::string>()),
                     "</title></rect>");
    }
    text += text_at(bars + gflops * scale + 5, y + 11, "",
                    ok ? significant(gflops, 3) : (*line)["status"].get<std::string>());
    y += kRow;
  }
  const std::string x = fixed(bars + limit * scale, 1);
  text += concat("<line class=\"limit\" x1=\"", x, "\" x2=\"", x, "\" y1=\"",
                 fixed(top + kTitle - 4, 1), "\" y2=\"", fixed(y, 1),
                 "\"><title>what memory and IEEE arithmetic allow</title></line>");
  return text;
}

}  // namespace

Json drawn_fields(const Json& line) {
  constexpr double kLeast = 1e-18;  // GFLOP/s, microseconds, operations or rows: wide margins
  constexpr double kMost = 1e18;
  Json drawn = {{"kind", "ladder"}, {"block", text_of(line, "block")}};
  for (const char* field : {"ladder", "case", "dtype", "contestant", "rung", "idea", "status"}) {
    drawn[field] = text_of(line, field);
    if (drawn[field] == "")
      throw Error(ErrorCode::parse, concat("has no text \"", field, "\", as lines of a ladder do"));
  }
  for (const char* field : {"m", "n", "columns", "flops", "floor_us", "gflops", "peak_gflops"}) {
    const auto found = line.find(field);
    drawn[field] = found == line.end() ? Json(nullptr) : *found;
    if (drawn[field].is_null()) continue;
    const double value = found->is_number() ? found->get<double>() : -1;
    if (!(value >= kLeast && value <= kMost))
      throw Error(ErrorCode::parse,
                  concat(field, " is ",
                         found->dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 40),
                         ", which cannot be"));
  }
  return drawn;
}

std::string plot(std::span<const Json> lines) {
  const std::vector<Lines> cases = by_case(lines);
  const std::size_t columns = cases.size() > 1 ? 2 : 1;
  std::string panels;
  double top = kGap;
  for (std::size_t c = 0; c < cases.size(); c += columns) {
    double height = 0;
    for (std::size_t i = c; i < std::min(c + columns, cases.size()); ++i) {
      panels += panel(cases[i], kGap + static_cast<double>(i - c) * (kPanel + kGap), top);
      height = std::max(height, height_of(cases[i]));
    }
    top += height + kGap;
  }
  const double width = kGap + static_cast<double>(columns) * (kPanel + kGap);
  return concat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", fixed(width, 0), " ",
                fixed(top, 0), "\" role=\"img\"><style>", kStyle, "</style>", panels, "</svg>\n");
}

}  // namespace lanky::ladder
