#include <algorithm>
#include <complex>
#include <cstring>
#include <exception>
#include <lanky/error.hpp>
#include <lanky/visit_dtype.hpp>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "io/cache.hpp"
#include "io/checksum.hpp"
#include "io/element.hpp"
#include "io/memory_limit.hpp"
#include "io/prefault.hpp"
#include "io/supported.hpp"

namespace lanky::inline v1::io {

namespace {

/// Rows or entries from which on threads are woken.
constexpr std::size_t kWorthThreads = 1 << 18;

/// What is wrong with a header in a file of `bytes` bytes; null where nothing is.
const char* fault_of(const CacheHeader& header, std::int64_t bytes) {
  if (!std::equal(header.magic.begin(), header.magic.end(), kCacheMagic.begin())) {
    return "is no cache of lanky";
  }
  if (header.byte_order != kByteOrder) return "was written on a machine of another byte order";
  if (header.version != kCacheVersion) return "is of another version of the cache";
  if (header.checksum != header_checksum(header)) return "has a damaged header";
  const bool known = header.dtype <= static_cast<std::uint8_t>(DType::c128) &&
                     (header.offset_bytes == 4 || header.offset_bytes == 8) && header.all_ones <= 1;
  const std::int64_t most = bytes / 4;  // of offsets and of columns
  if (!known || header.rows < 0 || header.rows >= most || header.nnz < 0 || header.nnz > most ||
      header.cols < 0 || header.cols > std::numeric_limits<std::int32_t>::max()) {
    return "has an impossible header, or was cut short";
  }
  const SectionPlace last = places_of(header).back();
  if (last.begin + last.bytes != bytes) return "was cut short, or holds more than it should";
  return nullptr;
}

bool is_monotone(const std::vector<std::int64_t>& offsets, std::int64_t nnz) {
  if (offsets.front() != 0 || offsets.back() != nnz) return false;
  bool falls = false;
#pragma omp parallel for schedule(static) reduction(|| : falls) if (offsets.size() > kWorthThreads)
  for (std::size_t i = 1; i < offsets.size(); ++i)
    falls = falls || offsets[i] < offsets[i - 1];
  return !falls;
}

/// What a look at all columns finds.
struct ColumnFacts {
  bool bad = false;       // out of range, or not sorted within their row
  bool repeated = false;  // one twice in a row
};

template <class T>
ColumnFacts look_at_columns(const CsrMatrix<T>& a) {
  bool bad = false;
  bool repeated = false;
#pragma omp parallel for schedule(static) \
    reduction(||                          \
              : bad, repeated) if (a.values.size() > kWorthThreads)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int32_t* first = a.col_indices.data() + a.row_offsets[static_cast<std::size_t>(i)];
    const std::int32_t* last =
        a.col_indices.data() + a.row_offsets[static_cast<std::size_t>(i) + 1];
    if (first == last) continue;
    bool falls = false;
    bool stays = false;
    for (const std::int32_t* col = first + 1; col < last; ++col) {
      falls |= col[0] < col[-1];
      stays |= col[0] == col[-1];
    }
    bad = bad || falls || *first < 0 || last[-1] >= a.cols;
    repeated = repeated || stays;
  }
  return {bad, repeated};
}

template <class T>
void reject_repeated(const CsrMatrix<T>& a, const std::string& name) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    const auto first = a.col_indices.begin() + a.row_offsets[i];
    const auto last = a.col_indices.begin() + a.row_offsets[i + 1];
    const auto found = std::adjacent_find(first, last);
    if (found == last) continue;
    throw Error(ErrorCode::parse,
                concat(name, ": holds entry (", i + 1, ", ", *found + 1,
                       ") more than once; read with Duplicates::sum or Duplicates::keep"));
  }
}

/// Adds up neighbours of one column, in double, rounded once.
template <class T>
void add_repeated(CsrMatrix<T>& a) {
  std::size_t out = 0;
  std::size_t k = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    const auto last = static_cast<std::size_t>(a.row_offsets[i + 1]);
    while (k < last) {
      const std::int32_t col = a.col_indices[k];
      auto sum = static_cast<Wide<T>>(a.values[k++]);
      for (; k < last && a.col_indices[k] == col; ++k)
        sum += static_cast<Wide<T>>(a.values[k]);
      a.col_indices[out] = col;
      a.values[out++] = static_cast<T>(sum);
    }
    a.row_offsets[i + 1] = static_cast<std::int64_t>(out);
  }
  a.col_indices.resize(out);
  a.values.resize(out);
}

/// The same matrix with values of another type, each rounded once. Complex ones become real only
/// where all are 1: others have been refused.
template <class T, class S>
CsrMatrix<T> converted(CsrMatrix<S> a) {
  if constexpr (std::is_same_v<T, S>) {
    return a;
  } else {
    CsrMatrix<T> b{a.rows, a.cols, std::move(a.row_offsets), std::move(a.col_indices), {}};
    b.values.resize(a.values.size(), static_cast<T>(1.0F));
    if constexpr (kIsComplex<T> || !kIsComplex<S>) {
      std::ranges::transform(a.values, b.values.begin(), [](const S& value) {
        return static_cast<T>(static_cast<Wide<T>>(static_cast<Wide<S>>(value)));
      });
    }
    return b;
  }
}

}  // namespace

CacheFile::CacheFile(const std::filesystem::path& path) : file_(path) {
  if (!file_.read_all(&header_, sizeof header_, 0)) fail("was cut short");
  if (const char* fault = fault_of(header_, file_.size())) fail(fault);
}

void CacheFile::fail(std::string_view what) const {
  throw Error(ErrorCode::parse,
              concat(file_.name(), ": ", what, "; write it anew from the matrix file"));
}

Header CacheFile::description() const {
  Header header;
  header.field = header_.all_ones == 1                           ? Field::pattern
                 : is_complex(static_cast<DType>(header_.dtype)) ? Field::complex
                                                                 : Field::real;
  header.rows = header_.rows;
  header.cols = header_.cols;
  header.stored_entries = header_.nnz;
  return header;
}

/// Blocks are read and checked side by side, in the order that threads come to them.
template <class T>
void CacheFile::read_section(CacheSection section, std::vector<T>& out) const {
  const SectionPlace place = places_of(header_)[section];
  const auto bytes = static_cast<std::size_t>(place.bytes);
  resize_prefaulted(out, bytes / sizeof(T));
  auto* data = reinterpret_cast<std::byte*>(out.data());
  std::vector<std::uint64_t> blocks(count_of_blocks(bytes));
  std::exception_ptr failure;
  bool whole = true;
#pragma omp parallel for schedule(dynamic) reduction(&& : whole) if (blocks.size() > 1)
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t at = i * kBlockOfChecksum;
    const std::size_t size = std::min(kBlockOfChecksum, bytes - at);
    try {
      whole = file_.read_all(data + at, size, place.begin + static_cast<std::int64_t>(at)) && whole;
      blocks[i] = block_checksum(data + at, size);
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  if (!whole) fail("was cut short while it was read");
  if (checksum_of_blocks(blocks.data(), blocks.size()) != header_.checksums[section]) {
    fail(concat("has damaged bytes within ", place.begin, "..", place.begin + place.bytes));
  }
}

void CacheFile::read_offsets(std::vector<std::int64_t>& offsets) const {
  if (header_.offset_bytes == sizeof(std::int64_t)) {
    read_section(kOffsets, offsets);
  } else {
    std::vector<std::uint32_t> narrow;
    read_section(kOffsets, narrow);
    resize_prefaulted(offsets, narrow.size());
#pragma omp parallel for schedule(static) if (narrow.size() > kWorthThreads)
    for (std::size_t i = 0; i < narrow.size(); ++i)
      offsets[i] = narrow[i];
  }
  if (!is_monotone(offsets, header_.nnz)) fail("has row offsets that fall");
}

template <class T>
CsrMatrix<T> CacheFile::read_stored() const {
  CsrMatrix<T> matrix{header_.rows, header_.cols, {}, {}, {}};
  read_offsets(matrix.row_offsets);
  read_section(kColumns, matrix.col_indices);
  if (header_.all_ones == 1) {
    resize_prefaulted(matrix.values, static_cast<std::size_t>(header_.nnz), static_cast<T>(1.0F));
  } else {
    read_section(kValues, matrix.values);
  }
  return matrix;
}

template <class T>
CsrMatrix<T> CacheFile::read_as() const {
  return visit_dtype(static_cast<DType>(header_.dtype), [&]<class S>(std::type_identity<S>) {
    return converted<T>(read_stored<S>());
  });
}

template <class T>
CsrMatrix<T> CacheFile::read(Duplicates duplicates) const {
  check_readable_as<T>(description(), file_.name());
  const std::string what =
      concat(file_.name(), " (", header_.rows, " rows, ", header_.nnz, " entries)");
  MemoryLimit(sizeof(T) + sizeof(std::int32_t), what).check(header_.nnz);
  return or_out_of_memory(what, [&] {
    CsrMatrix<T> matrix = read_as<T>();
    const ColumnFacts facts = look_at_columns(matrix);
    if (facts.bad) fail("has columns that are out of range or not sorted");
    if (facts.repeated && duplicates == Duplicates::reject) reject_repeated(matrix, file_.name());
    if (facts.repeated && duplicates == Duplicates::sum) add_repeated(matrix);
    return matrix;
  });
}

template CsrMatrix<double> CacheFile::read(Duplicates) const;
template CsrMatrix<float> CacheFile::read(Duplicates) const;
template CsrMatrix<half> CacheFile::read(Duplicates) const;
template CsrMatrix<bfloat16> CacheFile::read(Duplicates) const;
template CsrMatrix<std::complex<float>> CacheFile::read(Duplicates) const;
template CsrMatrix<std::complex<double>> CacheFile::read(Duplicates) const;

}  // namespace lanky::inline v1::io
