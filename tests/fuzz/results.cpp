// Files of results, which anybody may have written: the report, and runs that are taken up again.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/ladder/climb.hpp"
#include "bench/records/journal.hpp"
#include "bench/records/json_line.hpp"
#include "bench/report/page.hpp"
#include "bench/report/plain_tables.hpp"
#include "bench/report/regressions.hpp"
#include "bench/report/results.hpp"
#include "fuzz/memory_file.hpp"
#include "fuzz/target.hpp"

namespace lanky::fuzz {

namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The page has the scripts of an empty one: no text of a file is taken for HTML.
void check_page(const std::string& page) {
  static const std::string empty = report::html_page({});
  for (const std::string_view tag : {"<script", "<style", "<img", "<iframe"})
    require(count_of(page, tag) == count_of(empty, tag), "text of a file became a tag");
}

/// RFC 4180: every record has the fields of the first.
void check_csv(const std::string& text) {
  std::size_t fields = 1;
  std::size_t wanted = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ',') ++fields;
    if (c != '\n') continue;
    if (wanted == 0) wanted = fields;
    require(fields == wanted, "a record with other fields than the header");
    fields = 1;
  }
  require(!quoted, "a quote is left open");
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Lines of ladders are drawn as they stand in their file; others are left out.
void check_drawing(const std::filesystem::path& path) {
  std::vector<nlohmann::ordered_json> drawn;
  for (LineReader reader(path); reader.next();) {
    const nlohmann::ordered_json line = bench::parse_line(reader.text());
    try {
      if (line.is_object()) drawn.push_back(ladder::drawn_fields(line));
    } catch (const Error&) {
      continue;
    }
  }
  if (!drawn.empty())
    require(count_of(ladder::plot(drawn), "<script") == 0, "text of a file became a tag");
}

/// What a killed program left at the end, and nothing else, may be gone once a line is appended.
void check_append(const std::filesystem::path& path, std::string_view before) {
  const nlohmann::ordered_json line = {{"kind", "fuzz"}};
  {
    bench::Journal journal(path);
    journal.write(line);
  }
  const std::string after = content(path);
  const std::string appended = line.dump() + "\n";
  require(after.ends_with(appended), "the line is not at the end");
  const std::string_view kept = std::string_view(after).substr(0, after.size() - appended.size());
  require(kept.empty() || kept.ends_with('\n'), "the line does not begin one");
  const std::size_t newline = before.rfind('\n');
  require(kept.starts_with(before.substr(0, newline == before.npos ? 0 : newline + 1)),
          "a line that was there is gone");
}

}  // namespace

void check_report(Bytes bytes) {
  const MemoryFile file(bytes);
  const MemoryFile beginning(bytes.first(bytes.size() / 2));
  try {
    check_drawing(file.path());
    const report::Results results = report::read_results({file.path()});
    check_page(report::html_page(results));
    check_csv(report::csv_table(results));
    report::markdown_tables(results);
    const report::Comparison same = report::compare(results, results, {.any_hardware = true});
    report::comparison_text(same, true);
    require(same.count(report::Change::gone) == 0 && same.count(report::Change::slower) == 0,
            "results are worse than themselves");
    const report::Results fewer = report::read_results({beginning.path()});
    report::comparison_text(report::compare(fewer, results, {.any_hardware = true}), true);
    report::comparison_text(report::compare(results, fewer, {.absolute = true}), false);
  } catch (const Error&) {
    return;
  }
}

void check_journal(Bytes bytes) {
  const MemoryFile file(bytes);
  try {
    bench::earlier_runs(file.path(), "the configuration");
    check_append(file.path(), text_of(bytes));
  } catch (const Error&) {
    return;
  }
}

}  // namespace lanky::fuzz
