#include "collection/index.hpp"

#include <array>
#include <charconv>
#include <lanky/error.hpp>
#include <optional>
#include <type_traits>

#include "collection/text_file.hpp"
#include "core/text.hpp"

namespace lanky::collection {

namespace {

constexpr std::size_t kPlainFields = 11;  // those before the kind

/// All of `text` as a number.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The line up to `separator`, which is taken off `rest` with it.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Names become paths and addresses: nothing in them may lead elsewhere.
bool is_plain_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.";
  return !name.empty() && name.front() != '.' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// Parses the lines of one index.
class IndexParser {
 public:
  IndexParser(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  Index parse() {
    Index index;
    const auto count = whole_number<std::int64_t>(next_line());
    if (!count || *count < 0) fail("the first line of an index is its number of matrices");
    index.date = next_line();
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (line.empty()) continue;
      index.entries.push_back(parse_entry(line));
      index.entries.back().id = static_cast<std::int64_t>(index.entries.size());
    }
    if (static_cast<std::int64_t>(index.entries.size()) < *count)
      fail(concat("the index ends after ", index.entries.size(), " matrices of ", *count,
                  "; fetch it again"));
    return index;
  }

 private:
  std::string_view next_line() {
    ++line_;
    return trimmed(take_until(rest_, '\n'));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::parse, concat(source_, ":", line_, ": ", what));
  }

  Entry parse_entry(std::string_view line) const {
    std::array<std::string_view, kPlainFields> fields;
    for (std::size_t i = 0; i < kPlainFields; ++i) {
      if (line.empty()) fail(concat(i, " fields; a matrix has 12 or 13"));
      fields[i] = trimmed(take_until(line, ','));
    }
    Entry entry;
    entry.group = plain_name(fields[0], "group");
    entry.name = plain_name(fields[1], "name");
    entry.rows = size(fields[2], "nrows");
    entry.cols = size(fields[3], "ncols");
    entry.nnz = size(fields[4], "nnz");
    entry.real = flag(fields[5], "isReal");
    entry.binary = flag(fields[6], "isBinary");
    entry.nd = flag(fields[7], "isND");
    entry.posdef = flag(fields[8], "posdef");
    entry.psym = number<double>(fields[9], "psym");
    entry.nsym = number<double>(fields[10], "nsym");
    set_kind(entry, line);
    return entry;
  }

  /// `rest` is KIND[,ENTRIES]; a kind may hold commas.
  void set_kind(Entry& entry, std::string_view rest) const {
    entry.entries = entry.nnz;
    const std::size_t comma = rest.rfind(',');
    if (comma != std::string_view::npos) {
      const auto entries = whole_number<std::int64_t>(trimmed(rest.substr(comma + 1)));
      if (entries) {
        if (*entries < 0) fail(concat("entries ", *entries, " is negative"));
        entry.entries = *entries;
        rest = rest.substr(0, comma);
      }
    }
    entry.kind = trimmed(rest);
  }

  std::string plain_name(std::string_view text, const char* field) const {
    if (!is_plain_name(text))
      fail(concat(field, " \"", text, "\": letters, digits and _ - + . make a name"));
    return std::string(text);
  }
  std::int64_t size(std::string_view text, const char* field) const {
    const auto value = number<std::int64_t>(text, field);
    if (value < 0) fail(concat(field, " ", value, " is negative"));
    return value;
  }
  /// -1, which stands for "not known" in SuiteSparse, is no.
  bool flag(std::string_view text, const char* field) const {
    return number<std::int64_t>(text, field) > 0;
  }
  template <class Number>
  Number number(std::string_view text, const char* field) const {
    const std::optional<Number> value = whole_number<Number>(text);
    if (!value)
      fail(concat(field, " \"", text, "\" is no ",
                  std::is_same_v<Number, double> ? "number" : "whole number"));
    return *value;
  }

  std::string_view rest_;
  const std::string& source_;
  std::int64_t line_ = 0;
};

}  // namespace

Index parse_index(std::string_view text, const std::string& source) {
  return IndexParser(text, source).parse();
}

Index read_index(const std::filesystem::path& path) {
  return parse_index(read_text(path), path.string());
}

}  // namespace lanky::collection
