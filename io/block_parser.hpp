// Whole lines of a coordinate file to entries.
#pragma once

#include <string>

#include "io/entry_block.hpp"
#include "io/entry_parser.hpp"
#include "io/ordinary_line.hpp"

namespace lanky::inline v1::io {

/// How far a coordinate file has been read.
struct Progress {
  std::int64_t lines = 0;
  std::int64_t entries = 0;
  std::int64_t open_end = 0;  // line of the last entry, where it lacks its newline
  Triangle triangle;
};

template <class V>
class BlockParser {
 public:
  BlockParser(const std::string& name, const Header& header)
      : name_(name), header_(header), exact_(header) {}

  /// Appends the entries of `text`, whole lines that follow what `progress` tells of. Throws the
  /// first fault; its line is right, and so is the verdict, if `progress` is.
  void parse(std::string_view text, Progress& progress, EntryList<V>& list) const {
    const char* position = text.data();
    const char* end = position + text.size();
    const char* last_newline = position + (text.rfind('\n') + 1);
    while (position != end) {
      position = ordinary_lines(position, last_newline, progress, list);
      if (position != end) position = any_line(position, end, progress, list);
    }
  }

 private:
  /// Reads up to a line that needs a closer look, and returns its start.
  const char* ordinary_lines(const char* position, const char* end, Progress& progress,
                             EntryList<V>& list) const {
    const Header header = header_;
    Progress now = progress;
    while (position < end && now.entries < header.stored_entries) {
      Entry<V> entry;
      const char* next = ordinary_entry(position, end, header, entry);
      if (next == nullptr || !fits(entry, now)) break;
      list.append(entry, ++now.lines);
      ++now.entries;
      position = next;
    }
    progress = now;
    return position;
  }

  /// False where the entry breaks a rule of symmetric matrices.
  bool fits(const Entry<V>& entry, Progress& progress) const {
    if (header_.symmetry == Symmetry::general) return true;
    if (!progress.triangle.holds(entry.row, entry.col, progress.lines + 1)) return false;
    return entry.row != entry.col || on_diagonal_allowed(entry.value);
  }
  bool on_diagonal_allowed(const V& value) const {
    if (header_.symmetry == Symmetry::skew_symmetric) return value == V{};
    if constexpr (kIsComplex<V>) {
      return header_.symmetry != Symmetry::hermitian || value.imag() == 0;
    }
    return true;
  }

  /// Reads the next entry with all that the rules allow around it; the start of the line behind.
  const char* any_line(const char* position, const char* end, Progress& progress,
                       EntryList<V>& list) const {
    TextCursor cursor(name_, {position, static_cast<std::size_t>(end - position)}, progress.lines);
    if (!cursor.next_content_line()) {
      progress.lines = cursor.line() - 1;
      return end;
    }
    if (progress.entries == header_.stored_entries) exact_.fail_too_many(cursor);
    Entry<V> entry;
    exact_.coordinate_entry(cursor, progress.triangle, entry);
    progress.lines = cursor.line();
    if (cursor.at_open_end()) progress.open_end = progress.lines;
    list.append(entry, progress.lines);
    ++progress.entries;
    return cursor.rest().data();
  }

  const std::string& name_;
  const Header& header_;
  EntryParser<V> exact_;
};

}  // namespace lanky::inline v1::io
