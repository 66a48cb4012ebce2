#include "bench/report/markup.hpp"

namespace lanky::report {

namespace {

constexpr char kReplacement[] = "\uFFFD";

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f;
}

std::string html_character(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return is_control(c) ? kReplacement : std::string(1, c);
  }
}

}  // namespace

std::string html(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text)
    safe += html_character(c);
  return safe;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string markdown_cell(std::string_view text) {
  static constexpr std::string_view kMarks = "\\`*_{}[]<>#|~&";
  std::string safe;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || is_control(c)) {
      safe += ' ';
      continue;
    }
    if (kMarks.find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string terminal_text(std::string text) {
  for (char& c : text)
    if (is_control(c) || c == '\n' || c == '\t') c = '?';
  return text;
}

}  // namespace lanky::report
