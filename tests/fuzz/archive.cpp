// Archives and compressed streams, whatever their text: an Error, or all of the bytes.
#include <lanky/error.hpp>
#include <vector>

#include "collection/gzip_check.hpp"
#include "core/gunzip_file.hpp"
#include "fuzz/memory_file.hpp"
#include "fuzz/target.hpp"
#include "io/archive_reader.hpp"

namespace lanky::fuzz {

namespace {

/// A few bytes may stand for any number: more than these are not asked for.
constexpr std::size_t kMostBytes = std::size_t{1} << 24;

void read_archive(const std::filesystem::path& path, std::size_t size) {
  io::ArchiveReader reader(path);
  std::vector<char> buffer(1 << 16);
  std::size_t all = 0;
  std::size_t count = 1;
  while (count > 0 && all < kMostBytes) {
    count = reader.read(buffer.data(), buffer.size());
    require(count <= buffer.size(), "more bytes than there is room for");
    all += count;
  }
  if (count > 0) return;
  require(reader.read(buffer.data(), buffer.size()) == 0, "bytes behind the end");
  require(reader.plain_size().value_or(static_cast<std::int64_t>(all)) ==
              static_cast<std::int64_t>(all),
          "not as many bytes as the file was said to have");
  require(!reader.plain_size() || all == size, "a plain file of another size");
}

}  // namespace

void check_archive(Bytes bytes) {
  const MemoryFile file(bytes);
  try {
    read_archive(file.path(), bytes.size());
  } catch (const Error&) {  // as good as a text
  }
  GunzipFile gunzipped(file.path());
  std::size_t all = 0;
  while (all < kMostBytes) {
    const std::size_t count = gunzipped.next().size();
    if (count == 0) break;
    all += count;
  }
  if (all >= kMostBytes) return;
  require(gunzipped.next().empty(), "bytes behind the end");
  const bool is_whole = !gunzipped.plain() && gunzipped.fault().empty() && all > 0;
  require(collection::fault_of_gzip(file.path()).empty() == is_whole,
          "a gzip file that is whole for one reader alone");
}

}  // namespace lanky::fuzz
