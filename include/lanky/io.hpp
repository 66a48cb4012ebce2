// Sparse matrices from files and from generators, straight to CSR in host memory.
// Matrix Market: Boisvert, Pozo and Remington, NISTIR 5935, 1996. Rutherford-Boeing: Duff, Grimes
// and Lewis, RAL-TR-97-031, 1997.
#pragma once

#include <cstdint>
#include <filesystem>
#include <lanky/csr.hpp>
#include <lanky/dtype.hpp>
#include <lanky/export.hpp>
#include <lanky/symmetry.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lanky::inline v1::io {

/// What becomes of entries that a coordinate file gives more than once: added up in file order (in
/// double, rounded once), all kept in file order, or Error(parse) with the lines of both.
enum class Duplicates { sum, keep, reject };

struct ReadOptions {
  Duplicates duplicates = Duplicates::sum;
  /// Of a .mat file, the matrix to read: "A", or "Problem.A" of a struct. "": the only sparse one,
  /// or else the only dense one.
  std::string variable = {};
  /// A folder for binary copies of what is read ("": none). A copy serves as long as the file has
  /// the same size and times, or the same content, and the same element type and options are asked
  /// for; it is made anew otherwise. It may be deleted at any time.
  std::filesystem::path cache = {};
  /// Where read_csr() appends what it accepts but what may be a fault, "FILE:LINE: ..."; nullptr:
  /// nowhere. Today that is a last line without a newline, which may have been cut in its number.
  /// A file with such a line is never kept in the cache, so that each reading tells.
  std::vector<std::string>* warnings = nullptr;
};

enum class Format : std::uint8_t { coordinate, array };
enum class Field : std::uint8_t { real, integer, pattern, complex };
using lanky::Symmetry;

/// What a matrix file says of itself before its entries.
struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stored_entries = 0;  // entries in the file, symmetric ones counted once
};

/// Reads a matrix file, whose content tells its format: Matrix Market, Rutherford-Boeing or
/// Harwell-Boeing, plain, compressed (.gz .xz .zst .bz2) or in SuiteSparse's NAME.tar.gz (of which
/// NAME/NAME.mtx or NAME/NAME.rb is taken); MATLAB's .mat by way of libmatio; a file of
/// write_cache(). docs/matrix_market.md and docs/matrix_files.md list all rules. Symmetric
/// storage is expanded, columns of a row are sorted, pattern entries get the value 1, entries of a
/// dense array are kept if nonzero. T: double, float, half, bfloat16, complex<float>,
/// complex<double>. Throws Error: io, parse (with file, line, column and what to do), unsupported
/// (complex entries for a real T, more than 2^31 - 1 columns, libmatio missing), out_of_memory.
template <class T>
LANKY_EXPORT CsrMatrix<T> read_csr(const std::filesystem::path& path,
                                   const ReadOptions& options = {});

/// The header alone (of a .mat file the whole matrix is read; `options` name it).
LANKY_EXPORT Header read_header(const std::filesystem::path& path, const ReadOptions& options = {});

/// Writes coordinate general (real or complex; pattern is never guessed) such that read_csr gives
/// back the same bits. Compresses by the name's ending (.gz .xz .zst .bz2). Written beside the
/// target and renamed at the end: a failure leaves no half-written file.
template <class T>
LANKY_EXPORT void write_matrix_market(const std::filesystem::path& path, const CsrView<T>& matrix,
                                      std::string_view comment = {});

/// Writes the matrix as it stands in memory, with checksums, for read_csr() to load at the speed of
/// memory: the bits of T, columns sorted within rows, no values where all are 1. Name it
/// NAME.lanky; written beside the target and renamed at the end, as above. Throws Error:
/// invalid_argument, io.
template <class T>
LANKY_EXPORT void write_cache(const std::filesystem::path& path, const CsrView<T>& matrix);

/// Generates the matrix that `spec` names: "name:size[:size...][,key=value...]", such as
/// "stencil27:128" or "rmat:20,seed=7". generator_help() lists all. Equal specs give equal bits on
/// every machine. Values are uniform in (-1, 1), or with values=int, -1 and 1. Throws Error:
/// invalid_argument (a bad spec), unsupported (more than 2^31 - 1 columns), out_of_memory.
template <class T>
LANKY_EXPORT CsrMatrix<T> generate(std::string_view spec);

/// About how many entries generate() would make, from a sample of rows. Throws as generate does.
LANKY_EXPORT std::int64_t estimated_entries(std::string_view spec);

/// One line a generator: name, parameters with their defaults, what it makes.
LANKY_EXPORT std::string generator_help();

}  // namespace lanky::inline v1::io
