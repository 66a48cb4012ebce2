#include "io/mat5_check.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <lanky/error.hpp>
#include <string_view>
#include <vector>

#include "core/text.hpp"

namespace lanky::inline v1::io {

namespace {

constexpr std::int64_t kMatHeaderBytes = 128;
constexpr std::uint32_t kMatrixElement = 14;
constexpr std::uint32_t kCompressedElement = 15;
constexpr int kDeepest = 16;  // structs and cells within each other

/// Bytes of a number of each type, by its code in the file; 0 of what is no number.
constexpr std::array<std::uint32_t, 14> kNumberBytes = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};

[[noreturn]] void fail_at(const InputFile& file, std::int64_t at, std::string_view what) {
  throw Error(ErrorCode::parse, concat(file.name(), ": the variable at byte ", at, " ", what,
                                       "; fetch the whole file, or save it anew"));
}

/// The bytes of one variable in their order.
class Bytes {
 public:
  virtual ~Bytes() = default;
  /// Exactly so many.
  virtual void read(void* data, std::size_t count) = 0;

  void skip(std::uint64_t count) {
    std::array<std::byte, 4096> passed;
    while (count > 0) {
      const std::size_t step = std::min<std::uint64_t>(count, passed.size());
      read(passed.data(), step);
      count -= step;
    }
  }
};

class PlainBytes final : public Bytes {
 public:
  PlainBytes(const InputFile& file, std::int64_t at) : file_(file), start_(at), at_(at) {}

  void read(void* data, std::size_t count) override {
    if (!file_.read_all(data, count, at_)) fail_at(file_, start_, "was cut short");
    at_ += static_cast<std::int64_t>(count);
  }

 private:
  const InputFile& file_;
  std::int64_t start_;
  std::int64_t at_;
};

class InflatedBytes final : public Bytes {
 public:
  InflatedBytes(const InputFile& file, std::int64_t at, std::int64_t bytes)
      : file_(file), start_(at), at_(at), end_(at + bytes) {
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~InflatedBytes() override { inflateEnd(&stream_); }
  InflatedBytes(const InflatedBytes&) = delete;
  InflatedBytes& operator=(const InflatedBytes&) = delete;

  void read(void* data, std::size_t count) override {
    if (inflate_into(data, count) != count)
      fail_at(file_, start_, "has less data than its sizes say");
  }
  /// Throws unless all has been read and its checksum fits.
  void expect_end() {
    std::byte more{};
    if (inflate_into(&more, 1) != 0 || !ended_) fail_at(file_, start_, "is damaged at its end");
  }

 private:
  std::size_t inflate_into(void* data, std::size_t count) {
    stream_.next_out = static_cast<Bytef*>(data);
    stream_.avail_out = static_cast<uInt>(count);
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0) fill();
      const int status = inflate(&stream_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      if (!ended_ && status != Z_OK) fail_at(file_, start_, "has damaged compressed data");
    }
    return count - stream_.avail_out;
  }

  void fill() {
    const auto bytes = static_cast<std::size_t>(
        std::min<std::int64_t>(end_ - at_, static_cast<std::int64_t>(buffer_.size())));
    if (bytes == 0 || !file_.read_all(buffer_.data(), bytes, at_)) {
      fail_at(file_, start_, "has less compressed data than it should");
    }
    at_ += static_cast<std::int64_t>(bytes);
    stream_.next_in = buffer_.data();
    stream_.avail_in = static_cast<uInt>(bytes);
  }

  const InputFile& file_;
  std::int64_t start_;
  std::int64_t at_;
  std::int64_t end_;
  z_stream stream_{};
  std::vector<Bytef> buffer_ = std::vector<Bytef>(1 << 16);
  bool ended_ = false;
};

/// A data element whose tag has been read; `held` has the data of a small one, which its tag holds.
struct Element {
  std::uint32_t type = 0;
  std::uint32_t bytes = 0;
  std::array<std::byte, 4> held{};
  bool small = false;

  std::uint64_t numbers() const {
    const std::uint32_t each = type < kNumberBytes.size() ? kNumberBytes[type] : 0;
    return each == 0 || bytes % each != 0 ? std::uint64_t{0} - 1 : bytes / each;
  }
};

/// Walks one variable.
class Walk {
 public:
  Walk(const InputFile& file, std::int64_t at, Bytes& bytes, bool swapped)
      : file_(file), at_(at), bytes_(bytes), swapped_(swapped) {}

  /// Its tag, which must say that it is a matrix, and all of it.
  void variable() {
    std::uint64_t left = std::uint64_t{1} << 33;
    const Element element = next(left);
    expect(element.type == kMatrixElement && !element.small, "is no matrix");
    matrix(element.bytes, 0);
  }

 private:
  enum MatClass : std::uint32_t {
    kCell = 1,
    kStruct = 2,
    kChar = 4,
    kSparse = 5,
    kDouble = 6,
    kUint64 = 15
  };

  void expect(bool condition, std::string_view otherwise) const {
    if (!condition) fail_at(file_, at_, otherwise);
  }

  std::uint32_t word(const std::byte* data) const {
    std::uint32_t value = 0;
    std::memcpy(&value, data, sizeof value);
    return swapped_ ? __builtin_bswap32(value) : value;
  }

  /// The next tag within `left` bytes, from which it is taken.
  Element next(std::uint64_t& left) {
    std::array<std::byte, 8> tag;
    expect(left >= tag.size(), "has less data than its sizes say");
    left -= tag.size();
    bytes_.read(tag.data(), tag.size());
    Element element;
    element.type = word(tag.data());
    element.bytes = word(tag.data() + 4);
    if (element.type >> 16 != 0) {
      element.small = true;
      element.bytes = element.type >> 16;
      element.type &= 0xffff;
      expect(element.bytes <= element.held.size(), "has a small element that is too large");
      std::memcpy(element.held.data(), tag.data() + 4, element.held.size());
    }
    return element;
  }

  /// Passes over the data of an element, which end at a multiple of 8 bytes.
  void pass(const Element& element, std::uint64_t& left) {
    if (element.small) return;
    take(element, left);
    bytes_.skip((std::uint64_t{element.bytes} + 7) / 8 * 8);
  }

  void take(const Element& element, std::uint64_t& left) {
    const std::uint64_t padded = (std::uint64_t{element.bytes} + 7) / 8 * 8;
    expect(padded <= left, "has an element that is larger than itself");
    left -= padded;
  }

  /// The next element as `least`..`most` words of 32 bits.
  std::vector<std::uint32_t> words(std::uint64_t& left, std::size_t least, std::size_t most) {
    const Element element = next(left);
    const std::size_t count = element.bytes / 4;
    expect(element.bytes % 4 == 0 && count >= least && count <= most,
           "has a header of a wrong size");
    std::vector<std::byte> data(element.held.begin(), element.held.end());
    if (!element.small) {
      take(element, left);
      data.resize((element.bytes + 7) / 8 * 8);
      bytes_.read(data.data(), data.size());
    }
    std::vector<std::uint32_t> all(count);
    for (std::size_t i = 0; i < count; ++i)
      all[i] = word(data.data() + 4 * i);
    return all;
  }

  void matrix(std::uint64_t left, int depth) {
    expect(depth < kDeepest, "has structs or cells too deep within each other");
    if (left == 0) return;  // an empty field
    constexpr std::size_t kMostDimensions = 32;
    const std::uint32_t flags = words(left, 2, 2)[0];
    const std::vector<std::uint32_t> dims = words(left, 2, kMostDimensions);
    pass(next(left), left);  // the name
    std::uint64_t count = 1;
    for (const std::uint32_t dim : dims) {
      const bool beyond = __builtin_mul_overflow(count, std::uint64_t{dim}, &count);
      expect(!beyond && dim <= 0x7fffffff && count <= std::uint64_t{1} << 62,
             "has impossible extents");
    }
    const bool is_complex = (flags & 0x0800) != 0;
    const std::uint32_t kind = flags & 0xff;
    if (kind == kSparse) {
      sparse(left, dims, is_complex);
    } else if (kind >= kDouble && kind <= kUint64) {
      dense(left, count, is_complex);
    } else if (kind == kChar) {
      pass(next(left), left);
    } else if (kind == kCell || kind == kStruct) {
      nested(left, count, kind == kStruct, depth);
    } else {
      fail_at(file_, at_, "is or holds an object or a function, which are not read");
    }
    expect(left == 0, "has more data than its extents say");
  }

  void sparse(std::uint64_t& left, const std::vector<std::uint32_t>& dims, bool is_complex) {
    expect(dims.size() == 2, "is a sparse matrix of more than two dimensions");
    const Element rows = next(left);
    pass(rows, left);
    const Element columns = next(left);
    pass(columns, left);
    expect(rows.type == columns.type && (rows.type == 5 || rows.type == 6) &&
               rows.numbers() != std::uint64_t{0} - 1 &&
               columns.numbers() == std::uint64_t{dims[1]} + 1,
           "has not one column pointer a column");
    for (int part = 0; part < (is_complex ? 2 : 1); ++part) {
      const Element values = next(left);
      pass(values, left);
      expect(values.numbers() <= rows.numbers(), "has not one value a row index");
    }
  }

  void dense(std::uint64_t& left, std::uint64_t count, bool is_complex) {
    for (int part = 0; part < (is_complex ? 2 : 1); ++part) {
      const Element values = next(left);
      pass(values, left);
      expect(values.numbers() == count, "has not as many values as its extents say");
    }
  }

  /// Cells, or the fields of each struct.
  void nested(std::uint64_t& left, std::uint64_t count, bool is_struct, int depth) {
    if (is_struct) {
      const std::uint32_t length = words(left, 1, 1)[0];
      const Element names = next(left);
      pass(names, left);
      expect(length > 0 && names.bytes % length == 0, "has field names of a wrong length");
      count *= std::min<std::uint64_t>(names.bytes / length, left / 8 + 1);
    }
    expect(count <= left / 8, "has fewer fields or cells than its extents say");
    for (std::uint64_t i = 0; i < count; ++i) {
      const Element element = next(left);
      expect(element.type == kMatrixElement && !element.small && element.bytes <= left,
             "has a field or cell that is no matrix");
      left -= element.bytes;
      matrix(element.bytes, depth + 1);
    }
  }

  const InputFile& file_;
  std::int64_t at_;
  Bytes& bytes_;
  bool swapped_;
};

}  // namespace

void check_mat5(const InputFile& file) {
  std::array<char, 2> order{};
  file.read_all(order.data(), order.size(), kMatHeaderBytes - 2);
  const bool little = order == std::array{'I', 'M'};
  const bool swapped = little != (std::endian::native == std::endian::little);
  const auto word = [&](std::uint32_t value) { return swapped ? __builtin_bswap32(value) : value; };
  for (std::int64_t at = kMatHeaderBytes; at < file.size();) {
    std::array<std::uint32_t, 2> tag{};
    if (!file.read_all(tag.data(), sizeof tag, at)) fail_at(file, at, "was cut short");
    const std::int64_t begin = at + static_cast<std::int64_t>(sizeof tag);
    const std::int64_t bytes = word(tag[1]);
    if (bytes > file.size() - begin) fail_at(file, at, "was cut short");
    if (word(tag[0]) == kCompressedElement) {
      InflatedBytes inflated(file, begin, bytes);
      Walk(file, at, inflated, swapped).variable();
      inflated.expect_end();
    } else {
      PlainBytes plain(file, at);
      Walk(file, at, plain, swapped).variable();
    }
    at = begin + bytes;
  }
}

}  // namespace lanky::inline v1::io
