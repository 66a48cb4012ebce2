// Files of results as the report reads them: cases, each with the lines of its contestants.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/report/matrix_identity.hpp"

namespace lanky::report {

/// Empty where a file does not tell it, or tells it as null, as text or as a number that cannot be.
using Quantity = std::optional<double>;

/// One call of the program that measured.
struct Environment {
  std::string file;    // that it stands in
  std::string device;  // the GPU's name, or the processor's where there is none
  std::vector<std::pair<std::string, std::string>> facts;  // (label, value)
  std::string argv;
  Quantity read_floor_tbs;
  bool is_void = false;   // nothing of it counts (docs/measuring.md)
  std::size_t lines = 0;  // of results that follow it
};

constexpr std::size_t kNoEnvironment = static_cast<std::size_t>(-1);

/// One contestant on one case. Times in microseconds, sizes in bytes, noise and padding as shares.
struct Line {
  std::string contestant;
  std::string variant;
  std::string status;  // "ok", or why there are no times; "unknown" where the file has none
  std::string message;
  std::string kernel;
  std::string path;
  Quantity warm_us, graph_us, cold_us, setup_us, update_us;
  Quantity floor_us, floor_batch_us, peak_us;
  Quantity bytes, flops, plan_bytes;
  Quantity noise, padding;
  std::size_t environment = kNoEnvironment;

  bool ok() const { return status == "ok"; }
  /// "cusparse/alg1"
  std::string name() const { return variant.empty() ? contestant : contestant + "/" + variant; }
};

/// Sparse times a vector, or several; dense sampled at the entries of a sparse pattern; dense.
enum class Product { spmv, spmm, sddmm, gemm };
constexpr Product kProducts[] = {Product::spmv, Product::spmm, Product::sddmm, Product::gemm};
constexpr bool is_sparse(Product product) {
  return product != Product::gemm;
}
/// Whether its cases differ by columns and layout, too.
constexpr bool has_columns(Product product) {
  return product == Product::spmm || product == Product::sddmm;
}
/// "spmv", "spmm", "sddmm", "gemm": the kind of its lines.
std::string to_string(Product product);

/// One product in one element type, with every contestant's latest line.
struct Case {
  Product product = Product::spmv;
  std::string name;      // as it is shown: unlike that of any other matrix
  MatrixIdentity which;  // of sparse products
  std::string group;     // class of the matrix, or family of the dense product
  std::string dtype;     // "" where the matrix could not be read
  /// Of dense products, what differs from plain: "row tn padded beta 0.5"; of sparse ones with
  /// has_columns(), how many these are: "8 columns, row".
  std::string way;
  std::string identity;  // all that tells it from other cases, its type and device aside
  std::string device;
  Quantity m, n, k, nnz;
  std::vector<Line> lines;
  std::optional<std::size_t> matrix;  // of Results::matrices
};

/// What `lanky batch` says of a matrix after all of its lines.
struct Matrix {
  std::string name;  // as it is shown: unlike that of any other matrix
  MatrixIdentity which;
  std::string group;
  std::string status;
  std::string reason;
  std::string device;
  std::vector<std::string> dtypes;
  Quantity signal, seconds, memory_bytes, max_row;
  std::optional<std::vector<double>> rows;  // empty, short, medium, long
};

struct Results {
  std::vector<Environment> environments;
  std::vector<Case> cases;       // in the order of the files
  std::vector<Matrix> matrices;  // likewise
  std::vector<std::string> notes;

  /// Of all lines of results, without repetition, in the order of the files.
  std::vector<std::string> devices() const;
};

/// What Case::identity is made of.
std::string case_identity(const Case& product);

/// JSON lines (docs/measuring.md) of all files; a later line for the same contestant of the same
/// case takes the place of an earlier one. What is no such line is passed over with a note, and a
/// figure that cannot be (docs/report.md) left out with one.
/// Error(io) where a file cannot be read, Error(parse) where no file holds a line of results.
Results read_results(const std::vector<std::string>& paths);

}  // namespace lanky::report
