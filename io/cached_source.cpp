#include "io/cached_source.hpp"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <lanky/error.hpp>
#include <string>
#include <system_error>

#include "core/text.hpp"
#include "io/cache.hpp"
#include "io/checksum.hpp"

namespace lanky::inline v1::io {

namespace {

/// A file that changes twice within a tick of the clock of its file system has the same time after
/// both. Times tell only where the content was hashed so much later.
constexpr std::int64_t kSettledNs = 2'000'000'000;

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

std::string hexadecimal(std::uint64_t value) {
  constexpr std::size_t kDigits = 16;
  std::string digits(kDigits, '0');
  std::array<char, kDigits> used{};
  const auto [end, error] = std::to_chars(used.data(), used.data() + used.size(), value, 16);
  std::copy_backward(used.data(), end, digits.data() + kDigits);
  return digits;
}

/// NAME-HASH.lanky: the name for people, the hash of path, type and options to tell them apart.
std::string cache_name(const std::filesystem::path& path, const ContentHash& question) {
  constexpr std::size_t kLongestName = 120;
  return concat(path.filename().string().substr(0, kLongestName), "-", hexadecimal(question.high),
                hexadecimal(question.low), ".lanky");
}

}  // namespace

CachedSource::CachedSource(const std::filesystem::path& path, const ReadOptions& options,
                           DType dtype)
    : path_(path) {
  const std::string absolute = std::filesystem::absolute(path).lexically_normal().string();
  stamp_.question = hash_text(concat(absolute, "\n", to_string(dtype), "\n",
                                     static_cast<int>(options.duplicates), "\n", options.variable));
  cache_ = options.cache / cache_name(path, stamp_.question);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;  // who reads it will tell
  stamp_.bytes = status.st_size;
  stamp_.modified_ns = nanoseconds(status.st_mtim);
  stamp_.changed_ns = nanoseconds(status.st_ctim);
}

void CachedSource::note_content() {
  if (stamp_.confirmed_ns != 0) return;
  stamp_.confirmed_ns = now_ns();
  stamp_.content = hash_file(path_);
}

bool CachedSource::is_fresh(const SourceStamp& cached) {
  if (cached.question != stamp_.question || cached.bytes != stamp_.bytes) return false;
  const bool same_times =
      cached.modified_ns == stamp_.modified_ns && cached.changed_ns == stamp_.changed_ns;
  const std::int64_t last_change = std::max(cached.modified_ns, cached.changed_ns);
  if (same_times && cached.confirmed_ns > last_change + kSettledNs) return true;
  note_content();
  return cached.content == stamp_.content;
}

template <class T>
std::optional<CsrMatrix<T>> CachedSource::find() {
  try {
    const CacheFile file(cache_);
    if (file.header().dtype != static_cast<std::uint8_t>(kDType<T>)) return std::nullopt;
    if (!is_fresh(file.header().source)) return std::nullopt;
    CsrMatrix<T> matrix =
        file.read<T>(Duplicates::keep);  // as they were asked for when it was read
    if (stamp_.confirmed_ns != 0) restamp_cache(cache_, file.header(), stamp_);
    return matrix;
  } catch (const Error&) {
    return std::nullopt;
  }
}

template <class T>
void CachedSource::keep(const CsrMatrix<T>& matrix) const {
  try {
    if (hash_file(path_) != stamp_.content) return;
    std::error_code ignored;  // writing will tell
    std::filesystem::create_directories(cache_.parent_path(), ignored);
    write_stamped_cache(cache_, matrix.view(), stamp_);
  } catch (const Error&) {
    return;
  }
}

template std::optional<CsrMatrix<double>> CachedSource::find();
template std::optional<CsrMatrix<float>> CachedSource::find();
template std::optional<CsrMatrix<half>> CachedSource::find();
template std::optional<CsrMatrix<bfloat16>> CachedSource::find();
template std::optional<CsrMatrix<std::complex<float>>> CachedSource::find();
template std::optional<CsrMatrix<std::complex<double>>> CachedSource::find();
template void CachedSource::keep(const CsrMatrix<double>&) const;
template void CachedSource::keep(const CsrMatrix<float>&) const;
template void CachedSource::keep(const CsrMatrix<half>&) const;
template void CachedSource::keep(const CsrMatrix<bfloat16>&) const;
template void CachedSource::keep(const CsrMatrix<std::complex<float>>&) const;
template void CachedSource::keep(const CsrMatrix<std::complex<double>>&) const;

}  // namespace lanky::inline v1::io
