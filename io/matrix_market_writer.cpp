#include <algorithm>
#include <charconv>
#include <complex>
#include <lanky/io.hpp>
#include <string>

#include "core/text.hpp"
#include "io/archive_writer.hpp"
#include "io/check_view.hpp"
#include "io/element.hpp"

namespace lanky::inline v1::io {

namespace {

constexpr std::size_t kFlushBytes = std::size_t{1} << 18;

/// Text on its way to the file.
class Output {
 public:
  explicit Output(const std::filesystem::path& path) : file_(path) {}

  void text(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kFlushBytes) flush();
  }
  /// The shortest decimal that reads back to the same bits.
  template <class Number>
  void number(Number value) {
    char digits[64];
    const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
    text({digits, end});
  }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }

  ArchiveWriter file_;
  std::string buffer_;
};

void write_value(Output& out, double value) {
  out.number(value);
}
void write_value(Output& out, float value) {  // half and bfloat16 too: exactly a float
  out.number(value);
}
template <class F>
void write_value(Output& out, std::complex<F> value) {
  write_value(out, value.real());
  out.text(" ");
  write_value(out, value.imag());
}

void write_comment(Output& out, std::string_view comment) {
  while (!comment.empty()) {
    const std::size_t end = std::min(comment.find('\n'), comment.size());
    out.text("% ");
    out.text(comment.substr(0, end));
    out.text("\n");
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
}

}  // namespace

template <class T>
void write_matrix_market(const std::filesystem::path& path, const CsrView<T>& matrix,
                         std::string_view comment) {
  check_view(matrix);
  Output out(path);
  out.text("%%MatrixMarket matrix coordinate ");
  out.text(kIsComplex<T> ? "complex general\n" : "real general\n");
  write_comment(out, comment);
  out.text(concat(matrix.rows, " ", matrix.cols, " ", matrix.nnz, "\n"));
  const std::int64_t base = matrix.index_base;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t k = matrix.row_offsets[i] - base; k < matrix.row_offsets[i + 1] - base; ++k) {
      out.number(i + 1);
      out.text(" ");
      out.number(matrix.col_indices[k] - base + 1);
      out.text(" ");
      write_value(out, matrix.values[k]);
      out.text("\n");
    }
  }
  out.commit();
}

template void write_matrix_market(const std::filesystem::path&, const CsrView<double>&,
                                  std::string_view);
template void write_matrix_market(const std::filesystem::path&, const CsrView<float>&,
                                  std::string_view);
template void write_matrix_market(const std::filesystem::path&, const CsrView<half>&,
                                  std::string_view);
template void write_matrix_market(const std::filesystem::path&, const CsrView<bfloat16>&,
                                  std::string_view);
template void write_matrix_market(const std::filesystem::path&, const CsrView<std::complex<float>>&,
                                  std::string_view);
template void write_matrix_market(const std::filesystem::path&,
                                  const CsrView<std::complex<double>>&, std::string_view);

}  // namespace lanky::inline v1::io
