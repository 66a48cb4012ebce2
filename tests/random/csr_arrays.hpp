// The arrays of a CSR matrix in every form that plans take: 32- or 64-bit offsets, index base 0 or
// 1, in host memory or on the device.
#pragma once

#include <optional>

#include "random/operand.hpp"
#include "random/pattern.hpp"

namespace lanky::random_cases {

struct CsrForm {
  bool wide = true;
  int base = 0;
  bool on_device = false;
};

inline CsrForm draw_form(Random& random) {
  return {one_in(random, 2), one_in(random, 3) ? 1 : 0, one_in(random, 3)};
}

template <class T>
class CsrArrays {
 public:
  CsrArrays(const Stream& stream, const Pattern& pattern, const std::vector<T>& values,
            const CsrForm& form)
      : pattern_(pattern), form_(form), values_(values), columns_(pattern.columns) {
    for (std::int32_t& column : columns_)
      column += form.base;
    for (const std::int64_t offset : pattern.offsets) {
      if (form.wide) wide_.push_back(offset + form.base);
      if (!form.wide) narrow_.push_back(static_cast<std::int32_t>(offset + form.base));
    }
    if (!form.on_device) return;
    device_values_ = Buffer<T>::from(stream, values_);
    device_columns_ = Buffer<std::int32_t>::from(stream, columns_);
    device_wide_ = Buffer<std::int64_t>::from(stream, wide_);
    device_narrow_ = Buffer<std::int32_t>::from(stream, narrow_);
    stream.synchronize();
  }

  CsrView<T> view() const {
    CsrView<T> a{.rows = pattern_.rows, .cols = pattern_.cols, .nnz = pattern_.nnz()};
    a.index_base = form_.base;
    if (form_.on_device) {
      a.row_offsets =
          form_.wide ? RowOffsets(device_wide_->data()) : RowOffsets(device_narrow_->data());
      a.col_indices = device_columns_->data();
      a.values = device_values_->data();
    } else {
      a.row_offsets = form_.wide ? RowOffsets(wide_.data()) : RowOffsets(narrow_.data());
      a.col_indices = columns_.data();
      a.values = values_.data();
    }
    return a;
  }

 private:
  const Pattern& pattern_;
  CsrForm form_;
  const std::vector<T>& values_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int64_t> wide_{};
  std::vector<std::int32_t> narrow_{};
  std::optional<Buffer<T>> device_values_{};
  std::optional<Buffer<std::int32_t>> device_columns_{};
  std::optional<Buffer<std::int64_t>> device_wide_{};
  std::optional<Buffer<std::int32_t>> device_narrow_{};
};

inline std::string text_of(const CsrForm& form) {
  return concat(form.wide ? "64" : "32", "-bit offsets, base ", form.base,
                form.on_device ? ", on the device" : "");
}

}  // namespace lanky::random_cases
