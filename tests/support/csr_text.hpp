// Small matrices as text, so that tests compare and show them whole.
#pragma once

#include <charconv>
#include <complex>
#include <lanky/csr.hpp>
#include <string>
#include <type_traits>

namespace lanky::testing {

inline std::string number_text(double value) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}
template <class F>
std::string number_text(const std::complex<F>& value) {
  return number_text(value.real()) + "+" + number_text(value.imag()) + "i";
}

/// "2x3 (0,0)1 (1,2)-4.5": extents, then each entry in the order of storage, indices from 0.
template <class T>
std::string csr_text(const CsrMatrix<T>& a) {
  std::string text = std::to_string(a.rows) + "x" + std::to_string(a.cols);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++k) {
      text += " (" + std::to_string(i) + "," + std::to_string(a.col_indices[k]) + ")" +
              number_text(a.values[k]);
    }
  }
  return text;
}

}  // namespace lanky::testing
