#include "io/rutherford_boeing_header.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <lanky/error.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"

namespace lanky::inline v1::io {

namespace {

constexpr std::size_t kTypeLetters = 3;
constexpr std::int64_t kMostCounted = std::int64_t{1} << 60;  // twice as many can be counted too
/// Where line 4 has its formats: of pointers, of row indices, of values.
constexpr std::array kFormatColumns = {std::pair<std::size_t, std::size_t>{0, 16},
                                       std::pair<std::size_t, std::size_t>{16, 16},
                                       std::pair<std::size_t, std::size_t>{32, 20}};

/// The whole numbers that a line consists of; nothing where it holds anything else.
std::optional<std::vector<std::int64_t>> counts_of(std::string_view line) {
  std::vector<std::int64_t> counts;
  while (true) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) return counts;
    line.remove_prefix(start);
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || value < 0 || value > kMostCounted) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(stop - line.data()));
    if (!line.empty() && std::string_view(" \t\r").find(line.front()) == line.npos) {
      return std::nullopt;
    }
    counts.push_back(value);
  }
}

bool is_type(std::string_view line) {
  if (line.size() <= kTypeLetters) return false;
  const auto one_of = [&](std::size_t i, std::string_view letters) {
    return letters.find(line[i]) != std::string_view::npos;
  };
  return one_of(0, "rcpiqRCPIQ") && one_of(1, "sughzrSUGHZR") && one_of(2, "aepAEP") &&
         line[kTypeLetters] == ' ';
}

std::string_view text_at(std::string_view line, std::size_t first, std::size_t length) {
  return line.substr(std::min(first, line.size()), length);
}

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

void next_header_line(FortranRecords& records) {
  if (records.next()) return;
  records.fail(records.number() + 1, 1, "the file ends within its header; fetch the whole file");
}

std::vector<std::int64_t> take_counts(const FortranRecords& records, std::size_t column,
                                      std::size_t least, std::string_view what) {
  auto counts = counts_of(text_at(records.line(), column, std::string_view::npos));
  if (counts && counts->size() >= least) return *std::move(counts);
  records.fail_here(column + 1, concat("there should be ", what,
                                       ", whole numbers with blanks between; correct the line"));
}

Field field_of(char letter) {
  switch (letter) {
    case 'c':
      return Field::complex;
    case 'i':
      return Field::integer;
    case 'p':
    case 'q':  // the values stand in a file of their own
      return Field::pattern;
    default:
      return Field::real;
  }
}

Symmetry symmetry_of(char letter) {
  switch (letter) {
    case 's':
      return Symmetry::symmetric;
    case 'h':
      return Symmetry::hermitian;
    case 'z':
      return Symmetry::skew_symmetric;
    default:
      return Symmetry::general;
  }
}

/// Line 3: "rua", rows, columns, entries.
Header take_type_and_extents(const FortranRecords& records) {
  const std::string_view line = records.line();
  if (!is_type(line)) {
    records.fail_here(1,
                      "the line should begin with a type such as rua or psa; is it a "
                      "Rutherford-Boeing file?");
  }
  Header header;
  header.field = field_of(lower(line[0]));
  header.symmetry = symmetry_of(lower(line[1]));
  if (lower(line[2]) == 'e') {
    throw Error(ErrorCode::unsupported,
                concat(records.name(), ": holds unassembled element matrices (type ",
                       line.substr(0, kTypeLetters), "), which are not read; assemble them first"));
  }
  const auto counts = take_counts(records, kTypeLetters, 3, "rows, columns and entries");
  header.rows = counts[0];
  header.cols = counts[1];
  header.stored_entries = counts[2];
  if (header.symmetry != Symmetry::general && header.rows != header.cols) {
    records.fail_here(1,
                      concat("a matrix of ", header.rows, " rows and ", header.cols,
                             " columns is not square, so not symmetric in any sense; correct the "
                             "line, or make its type ru"));
  }
  if (header.field == Field::pattern &&
      (header.symmetry == Symmetry::skew_symmetric || header.symmetry == Symmetry::hermitian)) {
    records.fail_here(2,
                      "a pattern cannot be skew-symmetric or hermitian; make its type psa or pua");
  }
  return header;
}

FortranFormat take_format(const FortranRecords& records, std::size_t which, bool integral) {
  const auto [first, length] = kFormatColumns[which];
  const std::string_view text = text_at(records.line(), first, length);
  const auto format = parse_fortran_format(text);
  if (format && (format->integral || !integral)) return *format;
  records.fail_here(first + 1,
                    concat("\"", text, "\" is no format that is understood; one such as ",
                           integral ? "(13I6)" : "(3E26.18)", " should stand here"));
}

void check_counts(const FortranRecords& records, const RutherfordBoeingHeader& header) {
  const Header& matrix = header.matrix;
  if (records.may_hold(matrix.cols, header.pointers) &&
      records.may_hold(matrix.stored_entries, header.indices))
    return;
  records.fail(3, 1,
               concat("the header promises ", matrix.cols, " columns and ", matrix.stored_entries,
                      " entries, for which the file is too short; "
                      "correct it, or fetch the whole file"));
}

}  // namespace

bool is_rutherford_boeing(std::string_view text) {
  std::array<std::string_view, 3> lines;
  for (std::string_view& line : lines) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    line = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  const auto counts = counts_of(lines[1]);
  if (!counts || counts->empty() || !is_type(lines[2])) return false;
  const auto extents = counts_of(lines[2].substr(kTypeLetters));
  return extents && !extents->empty();
}

RutherfordBoeingHeader parse_rutherford_boeing_header(FortranRecords& records) {
  constexpr std::size_t kRightHandSides = 4;  // where line 2 counts the lines of these
  next_header_line(records);
  next_header_line(records);
  const auto lines = take_counts(records, 0, 3, "counts of lines");
  next_header_line(records);
  RutherfordBoeingHeader header;
  header.matrix = take_type_and_extents(records);
  next_header_line(records);
  header.pointers = take_format(records, 0, true);
  header.indices = take_format(records, 1, true);
  if (header.matrix.field != Field::pattern) header.values = take_format(records, 2, false);
  check_counts(records, header);
  if (lines.size() > kRightHandSides && lines[kRightHandSides] > 0) next_header_line(records);
  return header;
}

}  // namespace lanky::inline v1::io
