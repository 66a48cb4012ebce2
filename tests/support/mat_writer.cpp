#include "support/mat_writer.hpp"

#include <array>
#include <lanky/error.hpp>

#include "io/matio.hpp"

namespace lanky::testing {

namespace {

template <class Function>
Function* matio_function(const char* name) {
  return io::matio().library.function<Function>(name);
}

}  // namespace

bool can_write_mat() {
  try {
    io::matio();
    return true;
  } catch (const Error&) {
    return false;
  }
}

struct MatWriter::File {
  mat_t* file;
  /// In version 5 every other variable is compressed, so that both ways are met.
  bool compressed = true;

  void write(const char* name, matio_classes kind, matio_types type, std::size_t rows,
             std::size_t cols, void* data, int flags) {
    std::array<std::size_t, 2> dims = {rows, cols};
    matvar_t* variable = matio_function<decltype(Mat_VarCreate)>("Mat_VarCreate")(
        name, kind, type, 2, dims.data(), data, flags | MAT_F_DONT_COPY_DATA);
    matio_function<decltype(Mat_VarWrite)>("Mat_VarWrite")(
        file, variable, compressed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE);
    io::matio().free(variable);
    compressed = !compressed;
  }
};

MatWriter::MatWriter(const std::filesystem::path& path, MatVersion version)
    : file_(new File{matio_function<decltype(Mat_CreateVer)>("Mat_CreateVer")(
          path.c_str(), nullptr, version == MatVersion::v5 ? MAT_FT_MAT5 : MAT_FT_MAT73)}) {}

MatWriter::~MatWriter() {
  close();
}
MatWriter::MatWriter(MatWriter&&) noexcept = default;

void MatWriter::close() {
  if (file_) io::matio().close(file_->file);
  file_.reset();
}

void MatWriter::sparse(const char* name, std::size_t rows, std::size_t cols,
                       std::vector<std::uint32_t> jc, std::vector<std::uint32_t> ir,
                       std::vector<double> real, std::vector<double> imaginary) {
  const auto entries = static_cast<std::uint32_t>(ir.size());
  mat_complex_split_t split{real.data(), imaginary.data()};
  void* data = imaginary.empty() ? static_cast<void*>(real.data()) : &split;
  mat_sparse_t sparse{entries, ir.data(), entries, jc.data(), static_cast<std::uint32_t>(jc.size()),
                      entries, data};
  file_->write(name, MAT_C_SPARSE, MAT_T_DOUBLE, rows, cols, &sparse,
               imaginary.empty() ? 0 : MAT_F_COMPLEX);
}

void MatWriter::problem(const char* name, std::size_t rows, std::size_t cols,
                        std::vector<std::uint32_t> jc, std::vector<std::uint32_t> ir,
                        std::vector<double> real) {
  const auto create = matio_function<decltype(Mat_VarCreate)>("Mat_VarCreate");
  const auto set =
      matio_function<decltype(Mat_VarSetStructFieldByName)>("Mat_VarSetStructFieldByName");
  std::array<const char*, 2> fields = {"title", "A"};
  std::array<std::size_t, 2> one = {1, 1};
  std::array<std::size_t, 2> dims = {rows, cols};
  const auto entries = static_cast<std::uint32_t>(ir.size());
  mat_sparse_t sparse{
      entries, ir.data(),  entries, jc.data(), static_cast<std::uint32_t>(jc.size()),
      entries, real.data()};
  char title[] = "x";
  matvar_t* problem = matio_function<decltype(Mat_VarCreateStruct)>("Mat_VarCreateStruct")(
      name, 2, one.data(), fields.data(), 2);
  set(problem, "title", 0, create(nullptr, MAT_C_CHAR, MAT_T_UTF8, 2, one.data(), title, 0));
  set(problem, "A", 0,
      create(nullptr, MAT_C_SPARSE, MAT_T_DOUBLE, 2, dims.data(), &sparse, MAT_F_DONT_COPY_DATA));
  matio_function<decltype(Mat_VarWrite)>("Mat_VarWrite")(file_->file, problem,
                                                         MAT_COMPRESSION_ZLIB);
  io::matio().free(problem);
}

void MatWriter::dense(const char* name, std::size_t rows, std::size_t cols,
                      std::vector<double> values) {
  file_->write(name, MAT_C_DOUBLE, MAT_T_DOUBLE, rows, cols, values.data(), 0);
}

void MatWriter::text(const char* name, std::string value) {
  file_->write(name, MAT_C_CHAR, MAT_T_UTF8, 1, value.size(), value.data(), 0);
}

}  // namespace lanky::testing
