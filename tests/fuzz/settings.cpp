// Small languages: tables of tuning, grids of products, generators and other words of the command
// line.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <lanky/dense.hpp>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <lanky/stream.hpp>
#include <lanky/tuning.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cases/gemm_case.hpp"
#include "bench/cases/grid.hpp"
#include "bench/records/record.hpp"
#include "collection/quantity.hpp"
#include "fuzz/memory_file.hpp"
#include "fuzz/target.hpp"

namespace lanky::fuzz {

namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// f(), of which an Error is as good as a value.
template <class F>
void attempt(F&& f) {
  try {
    f();
  } catch (const Error&) {
    return;
  }
}

/// Digits of each number in a text, without zeros that it begins with.
std::vector<std::ptrdiff_t> digits_of_numbers(std::string_view text) {
  std::vector<std::ptrdiff_t> numbers{0};
  for (const char c : text) {
    if (c < '0' || c > '9') {
      numbers.push_back(0);
    } else if (c != '0' || numbers.back() > 0) {
      ++numbers.back();
    }
  }
  return numbers;
}

void check_generated(std::string_view spec) {
  constexpr std::int64_t kMostEntries = 1 << 16;
  constexpr std::ptrdiff_t kSmall = 4;
  constexpr std::ptrdiff_t kRefused = 11;  // between the two a row may rightly take gigabytes
  const std::vector<std::ptrdiff_t> digits = digits_of_numbers(spec);
  if (std::ranges::any_of(digits, [](auto n) { return n > kSmall && n < kRefused; })) return;
  const std::int64_t estimate = io::estimated_entries(spec);
  require(estimate >= 0, "a negative number of entries");
  if (estimate > kMostEntries || std::ranges::max(digits) > kSmall) return;
  const CsrMatrix<float> a = io::generate<float>(spec);
  require(std::ssize(a.row_offsets) == a.rows + 1 &&
              std::is_sorted(a.row_offsets.begin(), a.row_offsets.end()) &&
              a.row_offsets.back() == std::ssize(a.col_indices),
          "offsets of no matrix");
  require(std::all_of(a.col_indices.begin(), a.col_indices.end(),
                      [&](std::int32_t column) { return column >= 0 && column < a.cols; }),
          "a column is out of range");
}

}  // namespace

void check_tuning(Bytes bytes) {
  const MemoryFile file(bytes);
  static const std::filesystem::path path = scratch_folder() / "gemm.jsonl";
  attempt([&] {
    const GemmTuning tuning = GemmTuning::read(file.path());
    tuning.write(path);
    const std::string text = content(path);
    const GemmTuning again = GemmTuning::read(path);
    require(again.size() == tuning.size(), "what was written has other choices");
    again.write(path);
    require(content(path) == text, "what was written reads as something else");
    const GemmPlan<float> plan(Stream(Device::cpu()), {.m = 300, .n = 4, .k = 5},
                               {.tuning = &tuning});
    require(!plan.explain().empty(), "a plan of which nothing is known");
  });
}

void check_grid(Bytes bytes) {
  attempt([&] {
    for (const bench::GemmCase& gemm : bench::parse_grid(text_of(bytes), "a grid")) {
      const auto again = bench::parse_grid(bench::to_grid(gemm), "a case");
      require(again.size() == 1, "a case is not one case");
      require(bench::head(again.front()) == bench::head(gemm), "a case reads as another");
    }
  });
}

void check_spec(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  attempt([&] { check_generated(text); });
  attempt(
      [&] { require(parse_dtype(to_string(parse_dtype(text))) == parse_dtype(text), "a type"); });
  attempt([&] {
    require(Device::parse(Device::parse(text).name()) == Device::parse(text), "a device");
  });
  attempt([&] { bench::parse_op(text); });
  attempt([&] { bench::parse_layout(text); });
  collection::parse_quantity(text);
}

}  // namespace lanky::fuzz
