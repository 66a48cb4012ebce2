// lanky convert: a matrix file into another format.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <lanky/visit_dtype.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/report/output_file.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/warnings.hpp"

namespace lanky::cli {

namespace {

namespace fs = std::filesystem;

struct Conversion {
  fs::path in;
  fs::path out;
  std::string dtype;  // "" for the widest that the file's field needs
  io::ReadOptions options;
  bool force = false;
};

bool is_cache_name(const fs::path& path) {
  return path.extension() == ".lanky";
}

bool is_matrix_market_name(const fs::path& path) {
  for (const char* wrapping : {".gz", ".xz", ".zst", ".bz2"}) {
    if (path.extension() == wrapping) return path.stem().extension() == ".mtx";
  }
  return path.extension() == ".mtx";
}

void check_target(const Conversion& conversion) {
  const fs::path& out = conversion.out;
  if (!is_cache_name(out) && !is_matrix_market_name(out)) {
    throw Error(ErrorCode::invalid_argument,
                out.string() +
                    ": the name should end with .mtx, .mtx.gz, .mtx.xz, .mtx.zst, "
                    ".mtx.bz2 or .lanky");
  }
  report::check_outputs({out.string()}, {conversion.in.string()}, conversion.force);
}

/// A pipe, which can be read only once, is taken for real.
DType type_of(const Conversion& conversion) {
  if (!conversion.dtype.empty()) return parse_dtype(conversion.dtype);
  std::error_code unknown;
  if (!fs::is_regular_file(conversion.in, unknown)) return DType::f64;
  const io::Header header = io::read_header(conversion.in, conversion.options);
  return header.field == io::Field::complex ? DType::c128 : DType::f64;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// "0.250 s, 480 MB/s of 120 MB".
std::string speed(double seconds, const fs::path& path) {
  std::error_code unknown;
  const auto bytes = fs::is_regular_file(path, unknown) ? fs::file_size(path, unknown) : 0;
  const double megabytes = static_cast<double>(bytes) / 1e6;
  char text[80];
  std::snprintf(text, sizeof text, "%.3f s, %.4g MB/s of %.4g MB", seconds, megabytes / seconds,
                megabytes);
  return text;
}

void print_step(const char* what, const fs::path& path, const std::string& facts) {
  std::printf("%-8s %s\n         %s\n", what, path.c_str(), facts.c_str());
}

template <class T>
void convert_as(const Conversion& conversion) {
  auto start = std::chrono::steady_clock::now();
  io::ReadOptions options = conversion.options;
  std::vector<std::string> warnings;
  options.warnings = &warnings;
  const CsrMatrix<T> matrix = io::read_csr<T>(conversion.in, options);
  print_warnings(warnings);
  print_step("read", conversion.in,
             std::to_string(matrix.rows) + " rows, " + std::to_string(matrix.cols) + " columns, " +
                 std::to_string(matrix.nnz()) + " entries in " + std::string(to_string(kDType<T>)) +
                 ": " + speed(seconds_since(start), conversion.in));
  start = std::chrono::steady_clock::now();
  if (is_cache_name(conversion.out)) {
    io::write_cache(conversion.out, matrix.view());
  } else {
    io::write_matrix_market(conversion.out, matrix.view());
  }
  print_step("written", conversion.out, speed(seconds_since(start), conversion.out));
}

int convert(const Conversion& conversion) {
  check_target(conversion);
  visit_dtype(type_of(conversion),
              [&]<class T>(std::type_identity<T>) { convert_as<T>(conversion); });
  return kOk;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  const auto conversion = std::make_shared<Conversion>();
  CLI::App& command = *app.add_subcommand("convert", "A matrix file into another format");
  command
      .add_option("in", conversion->in,
                  "Matrix Market, Rutherford-Boeing, Harwell-Boeing, .mat or .lanky")
      ->required();
  command
      .add_option("out", conversion->out,
                  "NAME.mtx, also .gz .xz .zst .bz2, or NAME.lanky, the binary cache")
      ->required();
  command
      .add_option("--dtype", conversion->dtype,
                  "f64, f32, f16, bf16, c64, c128 (default: f64, or c128 of complex entries)")
      ->check(CLI::IsMember({"f64", "f32", "f16", "bf16", "c64", "c128"}), "");
  const std::map<std::string, io::Duplicates> duplicates = {{"sum", io::Duplicates::sum},
                                                            {"keep", io::Duplicates::keep},
                                                            {"reject", io::Duplicates::reject}};
  command
      .add_option("--duplicates", conversion->options.duplicates,
                  "entries given more than once: sum (default), keep, reject")
      ->transform(CLI::Transformer(duplicates), "")
      ->type_name("WHAT");
  command.add_option("--variable", conversion->options.variable,
                     "of a .mat file, where it holds several matrices: A, or Problem.A");
  command.add_flag("--force", conversion->force, "replace a file that is there already");
  command.callback(
      [conversion, &action] { action = [conversion] { return convert(*conversion); }; });
}

}  // namespace lanky::cli
