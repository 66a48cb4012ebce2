// .mat files for tests, written by libmatio, which is opened as the library opens it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lanky::testing {

enum class MatVersion { v5, v73 };

/// Whether libmatio can be opened.
bool can_write_mat();

class MatWriter {
 public:
  /// Begins a file; what is written before close(), or the end of the writer's life, is in it.
  MatWriter(const std::filesystem::path& path, MatVersion version);
  ~MatWriter();
  MatWriter(MatWriter&&) noexcept;

  /// Column pointers jc[cols + 1], row indices ir, values; with imaginary parts a complex matrix.
  void sparse(const char* name, std::size_t rows, std::size_t cols, std::vector<std::uint32_t> jc,
              std::vector<std::uint32_t> ir, std::vector<double> real,
              std::vector<double> imaginary = {});
  /// A real one as the field A of a struct, behind a field that is none.
  void problem(const char* name, std::size_t rows, std::size_t cols, std::vector<std::uint32_t> jc,
               std::vector<std::uint32_t> ir, std::vector<double> real);
  /// By columns.
  void dense(const char* name, std::size_t rows, std::size_t cols, std::vector<double> values);
  void text(const char* name, std::string value);
  void close();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace lanky::testing
