// Sampled products on the CPU: threads share the entries, and a row of X is multiplied with a few
// rows of Y at a time. Operands that stand by columns are made row-major in the workspace, or else
// a strip of a few rows at a time on the stack.
#include <algorithm>
#include <complex>
#include <limits>

#include "core/for_each.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/buffer_bytes.hpp"
#include "sparse/cpu/chunk_cost.hpp"
#include "sparse/cpu/kernel_operands.hpp"
#include "sparse/cpu/steps.hpp"
#include "sparse/load_pattern.hpp"
#include "sparse/sampler.hpp"

namespace lanky::sparse::cpu {

namespace {

// A sum is that of strips of so many columns, added up in their order; entries of a row go through
// a strip so many at a time, or fewer where their rows of Y are gathered first.
constexpr std::int64_t kStripColumns = 256;
constexpr std::int64_t kEntriesAtOnce = 32;
constexpr std::int64_t kGatheredAtOnce = 8;
constexpr std::int64_t kPartEntries = 2048;  // of what a thread takes at once

/// The plain formula.
template <class Sum>
Sum times(Sum a, Sum b) {
  return a * b;
}
template <class Real>
std::complex<Real> times(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
T conjugate(T value) {
  if constexpr (is_complex(kDType<T>)) {
    return std::conj(value);
  } else {
    return value;
  }
}

/// X or Y of a product.
template <class T>
struct Operand {
  const T* data;
  Strides strides;

  const T* at(std::int64_t row, std::int64_t column) const {
    return data + row * strides.row + column * strides.column;
  }
};

/// An operand made row-major in the workspace at `to`, where it stands by columns and there is
/// room.
template <class T>
Operand<T> by_rows(const Operand<T>& given, std::int64_t rows, std::int64_t columns,
                   std::int64_t pitch, bool threads, T* to) {
  if (given.strides.column == 1 || pitch == 0) return given;
  set_by_rows(given.data, given.strides.column, rows, columns, threads, to);
  return {to, {.row = columns, .column = 1}};
}

/// The sums of up to kEntriesAtOnce entries of a row.
template <class T>
class RowSums {
 public:
  using Sum = Accumulator<T>;

  RowSums(AddDots add_dots, const Operand<T>& x, const Operand<T>& y, std::int64_t length,
          bool conjugates)
      : add_dots_(add_dots), x_(x), y_(y), length_(length), conjugates_(conjugates) {}

  /// sums[i] = sum_c X(row, c) Y(columns[i], c).
  void find(std::int64_t row, const std::int32_t* columns, std::int64_t entries, Sum* sums) {
    if (length_ == 0) std::fill(sums, sums + entries, Sum{});
    for (std::int64_t first = 0; first < length_; first += kStripColumns) {
      const std::int64_t length = std::min(length_ - first, kStripColumns);
      DotsArguments task{.x = row_of_x(row, first, length),
                         .y = y_.at(0, first),
                         .y_pitch = y_.strides.row,
                         .columns = columns,
                         .entries = entries,
                         .length = length,
                         .sums = sums,
                         .adds = first > 0};
      if (y_.strides.column == 1) {
        add_dots_(task);
      } else {
        add_gathered(task, first);
      }
    }
    if (!conjugates_) return;
    for (std::int64_t i = 0; i < entries; ++i)
      sums[i] = conjugate(sums[i]);  // of conj(X) Y
  }

 private:
  static constexpr std::int32_t kInOrder[kGatheredAtOnce] = {0, 1, 2, 3, 4, 5, 6, 7};

  const T* row_of_x(std::int64_t row, std::int64_t first, std::int64_t length) {
    const T* const from = x_.at(row, first);
    if (x_.strides.column == 1 && !conjugates_) return from;
    for (std::int64_t c = 0; c < length; ++c) {
      const T value = from[c * x_.strides.column];
      row_of_x_[c] = conjugates_ ? conjugate(value) : value;
    }
    return row_of_x_;
  }
  void add_gathered(DotsArguments task, std::int64_t first) {
    const std::int32_t* const columns = task.columns;
    const std::int64_t entries = task.entries;
    Sum* const sums = static_cast<Sum*>(task.sums);
    task.y = rows_of_y_;
    task.y_pitch = kStripColumns;
    task.columns = kInOrder;
    for (std::int64_t i = 0; i < entries; i += kGatheredAtOnce) {
      task.entries = std::min(entries - i, kGatheredAtOnce);
      task.sums = sums + i;
      gather_y(columns + i, task.entries, first, task.length);
      add_dots_(task);
    }
  }
  void gather_y(const std::int32_t* columns, std::int64_t entries, std::int64_t first,
                std::int64_t length) {
    for (std::int64_t i = 0; i < entries; ++i) {
      const T* const from = y_.at(columns[i], first);
      for (std::int64_t c = 0; c < length; ++c)
        rows_of_y_[i * kStripColumns + c] = from[c * y_.strides.column];
    }
  }

  AddDots add_dots_;
  Operand<T> x_;
  Operand<T> y_;
  std::int64_t length_;
  bool conjugates_;
  T row_of_x_[kStripColumns];
  T rows_of_y_[kGatheredAtOnce * kStripColumns];
};

template <class T, class TOut>
class CpuSampler final : public Sampler<T, TOut> {
 public:
  using Sum = Accumulator<T>;

  CpuSampler(const Stream& stream, const CsrView<T>& a, const SddmmOptions& options)
      : nnz_(a.nnz),
        conjugates_(options.conjugate_y && is_complex(kDType<T>)),
        offsets_(stream, 0),
        columns_(stream, 0),
        room_(0, 0, 0, 1) {
    const LoadedPattern loaded =
        load_pattern(stream, extents_of(a), a.row_offsets, a.col_indices, kExamination);
    const CsrPattern& pattern = loaded.pattern;
    room_ = {pattern.rows, pattern.cols, options.expected_columns, 1};
    offsets_ = Buffer<std::int64_t>(stream, pattern.rows + 1, options.allocator);
    std::copy_n(pattern.row_offsets, pattern.rows + 1, offsets_.data());
    columns_ = Buffer<std::int32_t>(stream, pattern.nnz, options.allocator);
    std::transform(pattern.columns, pattern.columns + pattern.nnz, columns_.data(),
                   [&](std::int32_t column) { return column - pattern.index_base; });
  }

  std::int64_t bytes() const noexcept override { return bytes_of(offsets_, columns_); }
  std::int64_t workspace_bytes() const noexcept override {
    return room_.elements() * static_cast<std::int64_t>(sizeof(T));
  }
  std::string tell() const override { return concat("CSR, multiplied by ", chunk_kernels().isa); }

  void run(const Stream& /*stream*/, const SampleOperands<T, TOut>& operands,
           std::byte* workspace) const override {
    const bool threads = worth_waking(predicted_us(operands.columns));
    const std::int64_t pitch = room_.pitch(operands.columns);
    T* const copies = reinterpret_cast<T*>(workspace);
    const auto x = by_rows<T>({operands.x, operands.x_strides}, room_.rows, operands.columns, pitch,
                              threads, copies);
    const auto y = by_rows<T>({operands.y, operands.y_strides}, room_.cols, operands.columns, pitch,
                              threads, copies + room_.rows * pitch);
    const Scale scale{load(operands.alpha), load(operands.beta)};
    const AddDots add_dots = kernel_of<T, TOut>(chunk_kernels()).add_dots;
    const std::int64_t parts = (nnz_ + kPartEntries - 1) / kPartEntries;
    for_each_task(parts, threads, [&](std::int64_t part) {
      RowSums<T> sums(add_dots, x, y, operands.columns, conjugates_);
      run_part(part, sums, scale, operands.values);
    });
  }

 private:
  struct Scale {
    Sum alpha;
    Sum beta;
  };

  /// Of one thread, about.
  double predicted_us(std::int64_t columns) const {
    constexpr double kEntryUs = 0.01;
    constexpr double kProductUs = 0.0003;
    return static_cast<double>(nnz_) * (kEntryUs + kProductUs * static_cast<double>(columns));
  }

  void run_part(std::int64_t part, RowSums<T>& row_sums, const Scale& scale, TOut* values) const {
    std::int64_t entry = part * kPartEntries;
    const std::int64_t end = std::min(nnz_, entry + kPartEntries);
    const std::int64_t* const offsets = offsets_.data();
    std::int64_t row = std::upper_bound(offsets, offsets + room_.rows + 1, entry) - offsets - 1;
    while (entry < end) {
      while (offsets[row + 1] <= entry)
        ++row;
      const std::int64_t count = std::min({end, offsets[row + 1], entry + kEntriesAtOnce}) - entry;
      Sum sums[kEntriesAtOnce];
      row_sums.find(row, columns_.data() + entry, count, sums);
      write(values + entry, count, scale, sums);
      entry += count;
    }
  }

  static void write(TOut* values, std::int64_t count, const Scale& scale, const Sum* sums) {
    if (scale.beta == Sum{0}) {
      for (std::int64_t i = 0; i < count; ++i)
        values[i] = static_cast<TOut>(times(scale.alpha, sums[i]));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      Sum result = times(scale.alpha, sums[i]);
      result += times(scale.beta, static_cast<Sum>(values[i]));
      values[i] = static_cast<TOut>(result);
    }
  }

  std::int64_t nnz_;
  bool conjugates_;
  Buffer<std::int64_t> offsets_;  // [rows + 1]
  Buffer<std::int32_t> columns_;  // [nnz], zero-based
  CopiesRoom room_;
};

}  // namespace

template <class T, class TOut>
std::unique_ptr<const Sampler<T, TOut>> make_sampler(const Stream& stream, const CsrView<T>& a,
                                                     const SddmmOptions& options) {
  return std::make_unique<const CpuSampler<T, TOut>>(stream, a, options);
}

#define LANKY_INSTANTIATE(T, TOut)                                                                \
  template std::unique_ptr<const Sampler<T, TOut>> make_sampler(const Stream&, const CsrView<T>&, \
                                                                const SddmmOptions&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
