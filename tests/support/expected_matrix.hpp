// A matrix as a text of its own makes it known: "rows cols entries", then "row col real imaginary"
// a line, indices from 0.
#pragma once

#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/csr_text.hpp"

namespace lanky::testing {

/// The csr_text of that matrix.
inline std::string expected_matrix(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string rows, cols;
  std::size_t entries = 0;
  file >> rows >> cols >> entries;
  std::string text = rows + "x" + cols;
  for (std::size_t k = 0; k < entries; ++k) {
    std::string row, col, real, imag;
    file >> row >> col >> real >> imag;
    const std::complex<double> value(std::strtod(real.c_str(), nullptr),
                                     std::strtod(imag.c_str(), nullptr));
    text += " (" + row + "," + col + ")" + number_text(value);
  }
  return text;
}

}  // namespace lanky::testing
