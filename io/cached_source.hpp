// A matrix file with a copy of what it reads as in a folder of caches, used as long as the file is
// the same.
#pragma once

#include <lanky/io.hpp>
#include <optional>

#include "io/cache_layout.hpp"

namespace lanky::inline v1::io {

class CachedSource {
 public:
  /// Takes the file's times, then its content's hash where that is needed. `options.cache` is the
  /// folder.
  CachedSource(const std::filesystem::path& path, const ReadOptions& options, DType dtype);

  /// The cached copy; nothing where there is none, or none to be trusted.
  template <class T>
  std::optional<CsrMatrix<T>> find();
  /// Notes what the file holds before it is read.
  void note_content();
  /// Keeps what was read after note_content(), unless the file has changed since. That it cannot be
  /// written is no failure.
  template <class T>
  void keep(const CsrMatrix<T>& matrix) const;

 private:
  bool is_fresh(const SourceStamp& cached);

  std::filesystem::path path_;
  std::filesystem::path cache_;
  SourceStamp stamp_;  // of the file as it is now; its content is 0 until it has been hashed
};

}  // namespace lanky::inline v1::io
