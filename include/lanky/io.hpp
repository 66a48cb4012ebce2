// Sparse matrices from files and from generators, straight to CSR in host memory.
// Matrix Market: Boisvert, Pozo and Remington, NISTIR 5935, 1996.
#pragma once

#include <cstdint>
#include <filesystem>
#include <lanky/csr.hpp>
#include <lanky/dtype.hpp>
#include <lanky/symmetry.hpp>
#include <string>
#include <string_view>

namespace lanky::io {

/// What becomes of entries that a coordinate file gives more than once: added up in file order (in
/// double, rounded once), all kept in file order, or Error(parse) with the lines of both.
enum class Duplicates { sum, keep, reject };

struct ReadOptions {
  Duplicates duplicates = Duplicates::sum;
};

enum class Format : std::uint8_t { coordinate, array };
enum class Field : std::uint8_t { real, integer, pattern, complex };
using lanky::Symmetry;

/// What a Matrix Market file says of itself before its entries.
struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stored_entries = 0;  // entries in the file, symmetric ones counted once
};

/// Reads a Matrix Market file, plain or compressed (.gz .xz .zst .bz2), or SuiteSparse's
/// NAME.tar.gz (of which NAME/NAME.mtx is taken); docs/matrix_market.md lists all rules. Symmetric
/// storage is expanded, columns of a row are sorted, pattern entries get the value 1, entries of an
/// array file are kept if nonzero. T: double, float, half, bfloat16, complex<float>,
/// complex<double>. Throws Error: io, parse (with file, line, column and what to do), unsupported
/// (complex entries for a real T, more than 2^31 - 1 columns), out_of_memory.
template <class T>
CsrMatrix<T> read_csr(const std::filesystem::path& path, const ReadOptions& options = {});

/// The header alone.
Header read_header(const std::filesystem::path& path);

/// Writes coordinate general (real or complex; pattern is never guessed) such that read_csr gives
/// back the same bits. Compresses by the name's ending (.gz .xz .zst .bz2). Written beside the
/// target and renamed at the end: a failure leaves no half-written file.
template <class T>
void write_matrix_market(const std::filesystem::path& path, const CsrView<T>& matrix,
                         std::string_view comment = {});

/// Generates the matrix that `spec` names: "name:size[:size...][,key=value...]", such as
/// "stencil27:128" or "rmat:20,seed=7". generator_help() lists all. Equal specs give equal bits on
/// every machine. Values are uniform in (-1, 1), or with values=int, -1 and 1. Throws Error:
/// invalid_argument (a bad spec), unsupported (more than 2^31 - 1 columns), out_of_memory.
template <class T>
CsrMatrix<T> generate(std::string_view spec);

/// About how many entries generate() would make, from a sample of rows. Throws as generate does.
std::int64_t estimated_entries(std::string_view spec);

/// One line a generator: name, parameters with their defaults, what it makes.
std::string generator_help();

}  // namespace lanky::io
