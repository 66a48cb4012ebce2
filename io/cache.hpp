// Files of the binary cache, which io/cache_layout.hpp draws. Nothing in them is believed before it
// has been checked: they may be cut short, altered or made to harm.
#pragma once

#include <lanky/io.hpp>

#include "io/cache_layout.hpp"
#include "io/input_file.hpp"

namespace lanky::inline v1::io {

class CacheFile {
 public:
  /// Opens the file and checks its header, with the file's size. Throws Error: io, parse.
  explicit CacheFile(const std::filesystem::path& path);

  const CacheHeader& header() const noexcept { return header_; }
  /// What read_header() tells: coordinate, general, a pattern where all values are 1.
  Header description() const;
  /// The matrix, checked in full; values of another type are rounded once. Throws Error: io, parse,
  /// unsupported (complex values of a real T), out_of_memory.
  template <class T>
  CsrMatrix<T> read(Duplicates duplicates) const;

 private:
  template <class T>
  CsrMatrix<T> read_as() const;
  template <class T>
  CsrMatrix<T> read_stored() const;
  template <class T>
  void read_section(CacheSection section, std::vector<T>& out) const;
  void read_offsets(std::vector<std::int64_t>& offsets) const;
  [[noreturn]] void fail(std::string_view what) const;

  InputFile file_;
  CacheHeader header_;
};

/// write_cache() of a matrix read from a file of that stamp.
template <class T>
void write_stamped_cache(const std::filesystem::path& path, const CsrView<T>& matrix,
                         const SourceStamp& source);

/// Writes a header with another stamp over that of a cache file, if it can be written and is the
/// user's own, under one name and no link. A reader that meets half of it refuses the file.
void restamp_cache(const std::filesystem::path& path, CacheHeader header,
                   const SourceStamp& source);

}  // namespace lanky::inline v1::io
