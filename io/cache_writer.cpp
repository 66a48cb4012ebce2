#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <lanky/error.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "io/archive_writer.hpp"
#include "io/cache.hpp"
#include "io/check_view.hpp"
#include "io/checksum.hpp"

namespace lanky::inline v1::io {

namespace {

/// Whether the arrays can be written as they stand: base 0, columns sorted within rows.
template <class T>
bool is_canonical(const CsrView<T>& a) {
  if (a.index_base != 0) return false;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    if (!std::is_sorted(a.col_indices + a.row_offsets[i], a.col_indices + a.row_offsets[i + 1])) {
      return false;
    }
  }
  return true;
}

/// The same matrix, base 0, columns sorted; repeated ones keep their order.
template <class T>
CsrMatrix<T> canonical(const CsrView<T>& a) {
  CsrMatrix<T> matrix{a.rows, a.cols, {0}, {}, {}};
  matrix.row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
  matrix.col_indices.reserve(static_cast<std::size_t>(a.nnz));
  matrix.values.reserve(static_cast<std::size_t>(a.nnz));
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t first = a.row_offsets[i] - a.index_base;
    const std::int64_t last = a.row_offsets[i + 1] - a.index_base;
    order.resize(static_cast<std::size_t>(last - first));
    std::iota(order.begin(), order.end(), first);
    std::ranges::stable_sort(order, {}, [&](std::int64_t k) { return a.col_indices[k]; });
    for (const std::int64_t k : order) {
      matrix.col_indices.push_back(a.col_indices[k] - a.index_base);
      matrix.values.push_back(a.values[k]);
    }
    matrix.row_offsets.push_back(last);
  }
  return matrix;
}

/// Bit for bit: 1 - 0i is not 1.
template <class T>
bool are_all_ones(const CsrView<T>& a) {
  using Bits = std::array<std::byte, sizeof(T)>;
  const auto one = std::bit_cast<Bits>(static_cast<T>(1.0F));
  return std::all_of(a.values, a.values + a.nnz,
                     [&](const T& value) { return std::bit_cast<Bits>(value) == one; });
}

/// The row offsets as the file holds them.
template <class Offset, class T>
std::vector<Offset> stored_offsets(const CsrView<T>& a) {
  std::vector<Offset> offsets(static_cast<std::size_t>(a.rows) + 1);
  for (std::int64_t i = 0; i <= a.rows && a.rows > 0; ++i)
    offsets[static_cast<std::size_t>(i)] = static_cast<Offset>(a.row_offsets[i]);
  return offsets;
}

/// Writes header and sections in their order.
void write_sections(const std::filesystem::path& path, CacheHeader header,
                    const std::array<const void*, kSections>& data) {
  const auto places = places_of(header);
  for (std::size_t i = 0; i < kSections; ++i)
    header.checksums[i] = section_checksum(data[i], static_cast<std::size_t>(places[i].bytes));
  header.checksum = header_checksum(header);
  ArchiveWriter file(path);
  file.write({reinterpret_cast<const char*>(&header), sizeof header});
  std::int64_t end = kHeaderBytes;
  for (std::size_t i = 0; i < kSections; ++i) {
    file.write(std::string(static_cast<std::size_t>(places[i].begin - end), '\0'));
    file.write({static_cast<const char*>(data[i]), static_cast<std::size_t>(places[i].bytes)});
    end = places[i].begin + places[i].bytes;
  }
  file.commit();
}

template <class T>
void write_canonical(const std::filesystem::path& path, const CsrView<T>& a,
                     const SourceStamp& source) {
  CacheHeader header;
  std::copy(kCacheMagic.begin(), kCacheMagic.end(), header.magic.begin());
  header.dtype = static_cast<std::uint8_t>(kDType<T>);
  header.all_ones = are_all_ones(a) ? 1 : 0;
  header.rows = a.rows;
  header.cols = a.cols;
  header.nnz = a.nnz;
  header.source = source;
  if (a.nnz <= std::numeric_limits<std::uint32_t>::max()) {
    header.offset_bytes = sizeof(std::uint32_t);
    const auto offsets = stored_offsets<std::uint32_t>(a);
    write_sections(path, header, {offsets.data(), a.col_indices, a.values});
  } else {
    const auto offsets = stored_offsets<std::uint64_t>(a);
    write_sections(path, header, {offsets.data(), a.col_indices, a.values});
  }
}

/// A folder that others write to may hold a second name of somebody's file in place of a copy.
bool is_own(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
         status.st_uid == ::geteuid();
}

void refuse_compression(const std::filesystem::path& path) {
  for (const char* ending : {".gz", ".xz", ".zst", ".bz2"}) {
    if (path.extension() != ending) continue;
    throw Error(ErrorCode::invalid_argument,
                concat(path.string(), ": a cache is not compressed; end its name with .lanky"));
  }
}

}  // namespace

template <class T>
void write_stamped_cache(const std::filesystem::path& path, const CsrView<T>& matrix,
                         const SourceStamp& source) {
  refuse_compression(path);
  check_view(matrix);
  if (is_canonical(matrix)) {
    write_canonical(path, matrix, source);
  } else {
    write_canonical(path, canonical(matrix).view(), source);
  }
}

template <class T>
void write_cache(const std::filesystem::path& path, const CsrView<T>& matrix) {
  write_stamped_cache(path, matrix, {});
}

void restamp_cache(const std::filesystem::path& path, CacheHeader header,
                   const SourceStamp& source) {
  header.source = source;
  header.checksum = header_checksum(header);
  const int file = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  if (is_own(file)) {
    [[maybe_unused]] const ssize_t written = ::pwrite(file, &header, sizeof header, 0);
  }
  ::close(file);
}

template void write_stamped_cache(const std::filesystem::path&, const CsrView<double>&,
                                  const SourceStamp&);
template void write_stamped_cache(const std::filesystem::path&, const CsrView<float>&,
                                  const SourceStamp&);
template void write_stamped_cache(const std::filesystem::path&, const CsrView<half>&,
                                  const SourceStamp&);
template void write_stamped_cache(const std::filesystem::path&, const CsrView<bfloat16>&,
                                  const SourceStamp&);
template void write_stamped_cache(const std::filesystem::path&, const CsrView<std::complex<float>>&,
                                  const SourceStamp&);
template void write_stamped_cache(const std::filesystem::path&,
                                  const CsrView<std::complex<double>>&, const SourceStamp&);
template void write_cache(const std::filesystem::path&, const CsrView<double>&);
template void write_cache(const std::filesystem::path&, const CsrView<float>&);
template void write_cache(const std::filesystem::path&, const CsrView<half>&);
template void write_cache(const std::filesystem::path&, const CsrView<bfloat16>&);
template void write_cache(const std::filesystem::path&, const CsrView<std::complex<float>>&);
template void write_cache(const std::filesystem::path&, const CsrView<std::complex<double>>&);

}  // namespace lanky::inline v1::io
