// Dense matrices in files, for other programs: eigenvectors, singular vectors, solutions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanky::cli {

/// Error(invalid_argument) for a name that ends neither with .mtx nor with .npy; "" is none.
/// `option`: "--vectors".
void check_dense_name(const std::string& option, const std::string& path);

/// `values` [rows, cols] by rows: as a Matrix Market array or, by the name's ending, as .npy. Every
/// number is told so that reading gives back its bits. Error(io) as report::write_whole().
template <class T>
void write_dense(const std::string& path, std::int64_t rows, std::int64_t cols,
                 const std::vector<T>& values);

/// [rows, cols] by rows, of any matrix file. Throws as io::read_csr, and Error(unsupported) where
/// the file has other than `rows` rows, more than 65,536 columns, or an element that is not finite.
template <class T>
std::vector<T> read_dense(const std::string& path, std::int64_t rows, std::int64_t& cols);

}  // namespace lanky::cli
