// The table of all cases. Tags that HTML lets one omit are omitted: with 12,000 cases they would be
// a third of the page; and the facts of a matrix stand with its first type alone, from where
// report.js takes them.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/section.hpp"

namespace lanky::report {

namespace {

constexpr std::size_t kLongestNote = 160;

struct Column {
  const char* heading;
  const char* hint;
  bool number;
};

std::vector<Column> columns_of(Product product) {
  std::vector<Column> columns;
  if (product == Product::spmv) {
    columns = {{"Matrix", "", false},
               {"Class", "", false},
               {"Type", "", false},
               {"Rows", "", true},
               {"Entries", "", true}};
  } else if (has_columns(product)) {
    columns = {{"Matrix", "", false},  {"Class", "", false},
               {"Type", "", false},    {"Way", "columns of X and Y, and their layout", false},
               {"Rows", "of A", true}, {"Columns", "of A", true},
               {"Entries", "", true}};
  } else {
    columns = {{"Case", "", false},
               {"Family", "", false},
               {"Type", "", false},
               {"Way", "layout, operations, and what differs from tight, alpha 1, beta 0", false},
               {"m", "", true},
               {"n", "", true},
               {"k", "", true}};
  }
  const std::vector<Column> figures = {
      {"Time, µs", "of lanky", true},
      {"Best rival", "", false},
      {"Rival, µs", "", true},
      {"Speed-up", "rival’s time over lanky’s", true},
      {"GFLOP/s", "of lanky", true},
      {"GB/s", "declared bytes over lanky’s time", true},
      {"Of floor, %", "share of the streaming floor’s speed", true},
      {"Setup, µs", "of lanky", true},
      {"Break-even", "products after which lanky’s longer setup has paid", true}};
  columns.insert(columns.end(), figures.begin(), figures.end());
  return columns;
}

std::string head(const std::vector<Column>& columns) {
  std::string row = "<thead><tr>";
  for (const Column& column : columns) {
    row += std::string("<th scope=\"col\"") + (column.number ? " class=\"n\"" : "") +
           "><button type=\"button\"" +
           (*column.hint != 0 ? " title=\"" + std::string(column.hint) + "\"" : "") + ">" +
           column.heading + "</button></th>";
  }
  return row + "</tr></thead>\n";
}

std::string cell(const Quantity& value, int digits) {
  return "<td>" + (value ? significant(*value, digits) : std::string("–"));
}

std::string count_cell(const Quantity& value) {
  return "<td>" + (value ? grouped(*value) : std::string("–"));
}

/// `data-v`: what the column is sorted by, where the text is no number.
std::string break_even_cell(const Quantity& products) {
  if (!products) return "<td>–";
  if (*products <= 0) return "<td data-v=0>at once";
  if (break_even_text(*products) == "never") return "<td data-v=1e99>never";
  return "<td>" + break_even_text(*products);
}

std::string verdict(const Figures& figures) {
  if (!figures.speedup) return "";
  return figures.within_noise ? "tie" : *figures.speedup > 1 ? "win" : "loss";
}

std::string first_row(const Section& section, const Measured& each) {
  const Case& product = *each.product;
  const Figures& figures = each.figures;
  std::string row = "<tr><th><button>" + html(product.name) + "</button><td>" +
                    html(product.group) + "<td>" + html(product.dtype);
  if (section.product == Product::spmv)
    row += count_cell(product.m) + count_cell(product.nnz);
  else
    row += "<td>" + html(product.way) + count_cell(product.m) + count_cell(product.n) +
           count_cell(has_columns(section.product) ? product.nnz : product.k);
  row += cell(figures.time_us, 4) + "<td>" +
         (figures.rival == nullptr ? "–" : html(figures.rival->name())) + cell(figures.rival_us, 4);
  row += figures.speedup ? "<td class=" + verdict(figures) + ">" + fixed(*figures.speedup, 2)
                         : "<td>–";
  const std::string share = figures.floor_share ? fixed(100 * *figures.floor_share, 1) : "–";
  return row + cell(figures.gflops, 4) + cell(figures.gbs, 4) + "<td>" + share +
         cell(figures.lanky->setup_us, 4) + break_even_cell(figures.break_even);
}

std::string note_of(const Line& line) {
  std::string note = line.message.empty() ? line.kernel : line.message;
  note.resize(std::min(note.find(';'), note.size()));
  if (note.size() <= kLongestNote) return note;
  std::size_t end = kLongestNote;  // of a whole character of UTF-8
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xC0) == 0x80)
    --end;
  return note.substr(0, end) + "…";
}

bool any(const Case& product, Quantity Line::*member) {
  for (const Line& line : product.lines)
    if (line.*member) return true;
  return false;
}

/// Every contestant's times; columns that no line tells are left out.
std::string contestants(const Measured& each) {
  static constexpr std::pair<const char*, Quantity Line::*> kTimes[] = {
      {"graph", &Line::graph_us}, {"batch", &Line::warm_us},    {"cold", &Line::cold_us},
      {"setup", &Line::setup_us}, {"update", &Line::update_us}, {"noise, %", &Line::noise}};
  std::string table = "<table><tr><th>µs";
  for (const auto& [name, member] : kTimes)
    if (any(*each.product, member)) table += std::string("<th>") + name;
  table += "<th>memory";
  for (const Line& line : each.product->lines) {
    const bool counted = &line == each.figures.lanky || &line == each.figures.rival;
    table += std::string(counted ? "<tr class=c>" : "<tr>") + "<td>" + html(line.name());
    for (const auto& [name, member] : kTimes) {
      if (!any(*each.product, member)) continue;
      const Quantity value = line.*member;
      const bool share = member == &Line::noise;
      table += value ? "<td>" + (share ? fixed(100 * *value, 1) : significant(*value, 4)) : "<td>–";
    }
    table += "<td>" + (line.plan_bytes ? byte_text(*line.plan_bytes) : std::string("–"));
    const std::string note = html(note_of(line));
    if (!line.ok())
      table += "<td class=note><em>" + html(line.status) + "</em> " + note;
    else if (!note.empty())
      table += "<td class=note>" + note;
  }
  return table + "</table>";
}

/// Rows of the matrix by length, as a stacked bar: report.css draws it from the shares' ends.
std::string row_lengths(const Matrix& matrix) {
  static constexpr const char* kNames[] = {"0", "1–4", "5–255", "≥ 256"};
  const std::vector<double>& counts = *matrix.rows;
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (sum <= 0) return "";
  std::string ends;
  std::string legend;
  double end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    end += 100 * counts[i] / sum;
    if (i + 1 < counts.size()) ends += "--r" + std::to_string(i) + ":" + significant(end, 3) + "%;";
    if (counts[i] > 0)
      legend += " <i class=r" + std::to_string(i) + "></i>" + kNames[i] + ": " + grouped(counts[i]);
  }
  return "<div>Rows by entries <b class=rows style=\"" + ends + "\"></b>" + legend + "</div>";
}

void add_fact(std::string& facts, const std::string& fact) {
  facts += (facts.empty() ? "" : " · ") + fact;
}

/// What is true of the case in this type.
std::string facts(const Section& section, const Measured& each) {
  const Line& lanky = *each.figures.lanky;
  std::string text;
  if (lanky.bytes) add_fact(text, byte_text(*lanky.bytes) + " declared");
  const bool graphs = is_sparse(section.product) && lanky.graph_us;
  const Quantity floor = graphs ? lanky.floor_us : lanky.floor_batch_us;
  if (floor) add_fact(text, "floor " + significant(*floor, 4) + " µs");
  if (!lanky.path.empty()) add_fact(text, "path " + html(lanky.path));
  if (lanky.padding) add_fact(text, "padding " + percent(*lanky.padding, 1));
  if (section.several_devices) add_fact(text, html(each.product->device));
  return text.empty() ? "" : "<p>" + text;
}

/// What is true of the matrix in every type.
std::string matrix_facts(const Section& section, const Case& product) {
  std::string text;
  std::string bar;
  if (product.m && product.n) add_fact(text, grouped(*product.m) + " × " + grouped(*product.n));
  if (product.matrix) {
    const Matrix& matrix = section.results.matrices[*product.matrix];
    if (matrix.max_row) add_fact(text, "longest row " + grouped(*matrix.max_row));
    if (!matrix.which.source.empty()) add_fact(text, html(matrix.which.source));
    if (matrix.rows) bar = row_lengths(matrix);
  }
  return "<div class=matrix>" + text + bar + "</div>";
}

std::string filter_controls(const Section& section) {
  const std::string what =
      section.product == Product::spmv ? "matrix, class or rival" : "case, family, way or rival";
  return "<form class=\"filter\" role=\"search\"><label>Filter <input type=\"search\" "
         "placeholder=\"" +
         what +
         "\" autocomplete=\"off\" spellcheck=\"false\"></label> <label>Show "
         "<select><option value=\"\">all</option><option value=\"win\">lanky faster</option>"
         "<option value=\"tie\">within the noise</option><option value=\"loss\">rival faster"
         "</option></select></label> <output></output></form>\n";
}

}  // namespace

std::string case_table(const Section& section) {
  const std::vector<Column> columns = columns_of(section.product);
  const std::string span = std::to_string(columns.size());
  std::string table = "<div class=\"cases\" id=\"" + section.id + "-cases\" data-section=\"" +
                      section.id + "\">\n<h3>All cases</h3>\n" + filter_controls(section) +
                      "<div class=\"wide\"><table>" + head(columns);
  std::unordered_map<std::string, std::size_t> told;  // in which row the facts of a matrix stand
  for (const Measured& each : section.cases) {
    const Case& product = *each.product;
    const std::size_t row = section.row_of(each);
    table += "<tbody id=" + section.id + "-" + std::to_string(row) + " data-type=\"" +
             html(product.dtype) + "\"";
    std::string of_matrix;
    if (is_sparse(section.product)) {
      const auto [first, is_new] = told.try_emplace(product.identity + "\n" + product.device, row);
      if (is_new)
        of_matrix = matrix_facts(section, product);
      else
        table += " data-of=" + std::to_string(first->second);
    }
    table += ">";
    table += first_row(section, each);
    table += "<tr class=more><td colspan=" + span + ">";
    table += contestants(each);
    table += facts(section, each);
    table += of_matrix;
    table += "\n";
  }
  return table +
         "</table></div>\n<p class=\"rest\"><button type=\"button\" hidden>Show all"
         "</button></p></div>\n";
}

}  // namespace lanky::report
