// Matrix files, caches and generators, for docs/guide/files.md.
#include "expect.hpp"

#include <filesystem>
#include <lanky/lanky.hpp>
#include <string>
#include <vector>

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "lanky_snippet_files";
  std::filesystem::create_directories(folder);
  const auto path = folder / "rmat.mtx.gz";
  // begin generate
  const auto made = lanky::io::generate<double>("rmat:10:8,seed=7");  // 2^10 rows, some 8 a row
  // end generate
  lanky::io::write_matrix_market(path, made.view(), "a power law");
  // begin read
  std::vector<std::string> warnings;
  const auto A = lanky::io::read_csr<double>(path, {.cache = folder, .warnings = &warnings});
  // end read
  expect(warnings.empty() && A.nnz() == made.nnz() && A.values == made.values);

  // begin header
  const lanky::io::Header header = lanky::io::read_header(path);
  // end header
  expect(header.rows == A.rows && header.symmetry == lanky::Symmetry::general);

  // begin write
  lanky::io::write_cache(folder / "rmat.lanky", A.view());  // loads at the speed of memory
  lanky::io::write_matrix_market(folder / "rmat.mtx.xz", A.view());
  const auto again = lanky::io::read_csr<double>(folder / "rmat.lanky");
  // end write
  expect(again.values == A.values && again.col_indices == A.col_indices);
  std::filesystem::remove_all(folder);
}
