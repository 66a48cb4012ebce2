// The index of the SuiteSparse Matrix Collection, ssstats.csv: one line a matrix.
// Format and source: https://sparse.tamu.edu/files/ssstats.csv (T. A. Davis, Y. Hu, ACM TOMS 38(1),
// 2011).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lanky::collection {

/// A matrix as the index describes it.
struct Entry {
  std::int64_t id = 0;  // its place in the index, from 1
  std::string group;
  std::string name;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  bool real = false;         // else complex
  bool binary = false;       // all values are 1: a pattern
  bool nd = false;           // from a 2D or 3D discretization
  bool posdef = false;       // symmetric positive definite
  double psym = 0;           // share of entries whose mirror image is an entry too, 0 to 1
  double nsym = 0;           // share of entries whose mirror image is equal, 0 to 1
  std::string kind;          // "circuit simulation problem"
  std::int64_t entries = 0;  // nnz and the explicit zeros; nnz where the index does not tell

  /// "HB/west0479", the name by which users know it.
  std::string full_name() const { return group + "/" + name; }
};

struct Index {
  std::string date;  // as its second line has it
  std::vector<Entry> entries;
};

/// Reads an index. Error(parse) with FILE:LINE where a line is none of an index, or lines are
/// missing; Error(io) where the file cannot be read.
Index read_index(const std::filesystem::path& path);
/// The same of text; `source` stands for the file in messages.
Index parse_index(std::string_view text, const std::string& source);

}  // namespace lanky::collection
