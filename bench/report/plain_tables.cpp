#include "bench/report/plain_tables.hpp"

#include <cmath>
#include <functional>

#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/section.hpp"

namespace lanky::report {

namespace {

constexpr std::size_t kWorstRows = 10;

std::string number_cell(const Quantity& value) {
  if (!value) return "";
  return std::isfinite(*value) ? shortest(*value) : "inf";
}

using Field = std::pair<const char*, std::function<std::string(const Case&, const Figures&)>>;

template <class Member>
Field figure_field(const char* name, Member member) {
  return {name, [member](const Case&, const Figures& f) { return number_cell(f.*member); }};
}

template <class Member>
Field case_field(const char* name, Member member) {
  return {name, [member](const Case& c, const Figures&) { return number_cell(c.*member); }};
}

/// Of lanky's line, or of the rival's.
Field line_field(const char* name, const Line* Figures::*whose, Quantity Line::*member) {
  return {name, [whose, member](const Case&, const Figures& f) {
            return f.*whose == nullptr ? "" : number_cell(f.*whose->*member);
          }};
}

std::string status_of(const Case& product) {
  const Line* counted = counted_line(product);
  return counted == nullptr ? "no line" : counted->status;
}

std::vector<Field> fields() {
  return {
      {"product", [](const Case& c, const Figures&) { return to_string(c.product); }},
      {"case", [](const Case& c, const Figures&) { return c.name; }},
      {"class", [](const Case& c, const Figures&) { return c.group; }},
      {"dtype", [](const Case& c, const Figures&) { return c.dtype; }},
      {"way", [](const Case& c, const Figures&) { return c.way; }},
      case_field("m", &Case::m),
      case_field("n", &Case::n),
      case_field("k", &Case::k),
      case_field("nnz", &Case::nnz),
      {"device", [](const Case& c, const Figures&) { return c.device; }},
      {"status", [](const Case& c, const Figures&) { return status_of(c); }},
      {"variant",
       [](const Case&, const Figures& f) { return f.lanky == nullptr ? "" : f.lanky->variant; }},
      figure_field("time_us", &Figures::time_us),
      {"rival",
       [](const Case&, const Figures& f) { return f.rival == nullptr ? "" : f.rival->name(); }},
      figure_field("rival_us", &Figures::rival_us),
      figure_field("speedup", &Figures::speedup),
      {"within_noise",
       [](const Case&, const Figures& f) {
         return f.rival == nullptr ? "" : f.within_noise ? "1" : "0";
       }},
      line_field("noise", &Figures::lanky, &Line::noise),
      line_field("rival_noise", &Figures::rival, &Line::noise),
      figure_field("gflops", &Figures::gflops),
      figure_field("gbs", &Figures::gbs),
      figure_field("floor_share", &Figures::floor_share),
      line_field("setup_us", &Figures::lanky, &Line::setup_us),
      line_field("rival_setup_us", &Figures::rival, &Line::setup_us),
      figure_field("break_even", &Figures::break_even),
      line_field("plan_bytes", &Figures::lanky, &Line::plan_bytes),
      {"source", [](const Case& c, const Figures&) { return c.which.source; }},
      {"content", [](const Case& c, const Figures&) { return c.which.content; }},
  };
}

std::string ratio_cell(const Quantity& ratio) {
  return ratio ? fixed(*ratio, 2) : "-";
}

std::string summary_row(const std::string& name, const std::string& dtype, const Cases& cases) {
  const Summary summary = summarize(cases);
  std::string interval = "-";
  if (summary.interval)
    interval = fixed(summary.interval->low, 2) + " to " + fixed(summary.interval->high, 2);
  return "| " + markdown_cell(name) + " | " + markdown_cell(dtype) + " | " +
         std::to_string(summary.cases) + " | " + ratio_cell(summary.speedup) + " | " + interval +
         " | " + std::to_string(summary.wins) + " | " + std::to_string(summary.losses) + " | " +
         std::to_string(summary.within_noise) + " | " +
         (summary.floor_share ? percent(*summary.floor_share, 0) : "-") + " |\n";
}

std::string summary_table(const Section& section) {
  std::string table =
      "| class | type | cases | speed-up | 95 % interval | faster | slower | within noise | of the "
      "floor |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  const Cases all = of_type(section.cases, "");
  for (const auto& [name, members] : by_group(all)) {
    for (const std::string& dtype : section.dtypes) {
      Cases chosen;
      for (const Measured* each : members)
        if (each->product->dtype == dtype) chosen.push_back(each);
      if (!chosen.empty()) table += summary_row(name, dtype, chosen);
    }
  }
  for (const std::string& dtype : section.dtypes)
    table += summary_row("all", dtype, of_type(section.cases, dtype));
  if (section.dtypes.size() > 1) table += summary_row("all", "all", all);
  return table;
}

std::string worst_table(const Section& section) {
  std::string table;
  for (const Measured* each : worst_cases(of_type(section.cases, ""), kWorstRows)) {
    const std::string way = each->product->way.empty() ? "" : " " + each->product->way;
    table += "| " + markdown_cell(each->product->name + way) + " | " +
             markdown_cell(each->product->dtype) + " | " + ratio_cell(each->figures.speedup) +
             " | " + markdown_cell(each->figures.rival->name()) + " |\n";
  }
  if (table.empty()) return "";
  return "\nLeast speed-ups:\n\n| case | type | speed-up | best rival |\n"
         "| --- | --- | ---: | --- |\n" +
         table;
}

std::string markdown_heading(Product product) {
  switch (product) {
    case Product::spmv:
      return "### Sparse products\n\n";
    case Product::spmm:
      return "### Sparse products of several columns\n\n";
    case Product::sddmm:
      return "### Sampled dense products\n\n";
    case Product::gemm:
      break;
  }
  return "### Dense products\n\n";
}

}  // namespace

std::string csv_table(const Results& results) {
  std::string table;
  const std::vector<Field> columns = fields();
  for (const auto& [name, value] : columns)
    table += (table.empty() ? "" : ",") + std::string(name);
  table += "\r\n";
  for (const Case& product : results.cases) {
    if (product.dtype.empty()) continue;
    const Figures figures = figures_of(product);
    std::string row;
    for (const auto& [name, value] : columns)
      row += (row.empty() ? "" : ",") + csv_cell(value(product, figures));
    table += row + "\r\n";
  }
  return table;
}

std::string markdown_tables(const Results& results) {
  std::string text;
  for (const Product product : kProducts) {
    const Section section(results, product);
    if (section.cases.empty()) continue;
    text += (text.empty() ? "" : "\n") + markdown_heading(product) + summary_table(section) +
            worst_table(section);
  }
  return text;
}

}  // namespace lanky::report
