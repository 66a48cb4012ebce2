// Specs ("stencil27:128,seed=7") to matrices, in two passes over the rows: count, then fill.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <complex>
#include <exception>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <limits>
#include <string>

#include "io/element.hpp"
#include "io/memory_limit.hpp"
#include "io/patterns.hpp"

namespace lanky::inline v1::io {

namespace {

enum class ValueKind { uniform, integer };

/// What a spec says, checked.
struct Spec {
  const Generator* generator = nullptr;
  std::vector<std::int64_t> parameters;
  std::uint64_t seed = 1;
  ValueKind values = ValueKind::uniform;
};

/// Reads a spec from left to right; each failure names the spec and the part at fault.
class SpecParser {
 public:
  explicit SpecParser(std::string_view text) : text_(text) {}

  Spec parse() {
    std::string_view positional = text_.substr(0, text_.find(','));
    std::string_view keys = text_.substr(positional.size());
    const std::string_view name = take(positional, ':');
    spec_.generator = find(name);
    for (const Parameter& p : spec_.generator->parameters)
      spec_.parameters.push_back(p.by_default);
    for (std::size_t i = 0; !positional.empty(); ++i) {
      positional.remove_prefix(1);
      set(i, take(positional, ':'));
    }
    while (!keys.empty()) {
      keys.remove_prefix(1);
      set_key(take(keys, ','));
    }
    check_required();
    return spec_;
  }

 private:
  /// Cuts off what stands before `separator`, which stays.
  static std::string_view take(std::string_view& rest, char separator) {
    const std::string_view part = rest.substr(0, rest.find(separator));
    rest.remove_prefix(part.size());
    return part;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::invalid_argument, concat("generator \"", text_, "\": ", why));
  }

  const Generator* find(std::string_view name) const {
    std::string known;
    for (const Generator& g : generators()) {
      if (g.name == name) return &g;
      known += concat(known.empty() ? "" : ", ", g.name);
    }
    fail(concat("\"", name, "\" is unknown; known are ", known));
  }

  template <class Integer>
  Integer number(std::string_view name, std::string_view digits) const {
    Integer value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end) {
      fail(concat(name, " \"", digits, "\" is not a whole number"));
    }
    return value;
  }

  void set(std::size_t i, std::string_view digits) {
    const auto& parameters = spec_.generator->parameters;
    if (i >= parameters.size()) {
      fail(concat("has more than its ", parameters.size(), " sizes"));
    }
    const Parameter& p = parameters[i];
    const auto value = number<std::int64_t>(p.name, digits);
    if (value < p.least || value > p.most) {
      fail(concat(p.name, " is ", value, ", outside ", p.least, "..", p.most));
    }
    spec_.parameters[i] = value;
  }

  void set_key(std::string_view assignment) {
    const std::string_view key = take(assignment, '=');
    if (assignment.empty()) fail(concat("\"", key, "\" should be key=value"));
    const std::string_view value = assignment.substr(1);
    if (key == "seed") {
      spec_.seed = number<std::uint64_t>(key, value);
    } else if (key == "values") {
      set_values(value);
    } else {
      const auto& parameters = spec_.generator->parameters;
      const auto at = std::ranges::find(parameters, key, &Parameter::name);
      if (at == parameters.end()) fail(concat("key \"", key, "\" is unknown"));
      set(static_cast<std::size_t>(at - parameters.begin()), value);
    }
  }

  void set_values(std::string_view kind) {
    if (kind != "uniform" && kind != "int") {
      fail(concat("values \"", kind, "\" are unknown; known are uniform (-1, 1), int (-1 or 1)"));
    }
    spec_.values = kind == "int" ? ValueKind::integer : ValueKind::uniform;
  }

  void check_required() const {
    for (std::size_t i = 0; i < spec_.parameters.size(); ++i) {
      if (spec_.parameters[i] == Parameter::kRequired) {
        fail(concat("needs ", spec_.generator->parameters[i].name));
      }
    }
  }

  std::string_view text_;
  Spec spec_;
};

/// f(row, columns of the row) for all rows, in parallel; exceptions leave it as they would a loop.
template <class F>
void for_each_row(const Pattern& pattern, std::uint64_t seed, F&& f) {
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
  const bool small = pattern.rows < 4096 && pattern.cols < 4096;  // drawn before threads have met
  const std::int64_t rows_at_once = std::min<std::int64_t>(1024, pattern.rows / 64 + 1);
#pragma omp parallel if (!small)
  {
    std::vector<std::int32_t> columns;
#pragma omp for schedule(dynamic, rows_at_once)
    for (std::int64_t row = 0; row < pattern.rows; ++row) {
      if (failed) continue;
      try {
        columns.clear();
        RowRandom random(seed, row / pattern.rows_a_draw);
        pattern.draw_row(row, random, columns);
        f(row, columns);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

template <class T>
T draw_value(RowRandom& random, ValueKind kind) {
  const double real = kind == ValueKind::integer ? random.sign() : random.symmetric();
  if constexpr (kIsComplex<T>) {
    const double imag = kind == ValueKind::integer ? random.sign() : random.symmetric();
    return T(std::complex<double>(real, imag));
  } else {
    return static_cast<T>(real);
  }
}

void check_columns(const Pattern& pattern, const std::string& what) {
  constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max();
  if (pattern.cols <= kMostColumns) return;
  throw Error(ErrorCode::unsupported, concat(what, ": has ", pattern.cols, " columns, but at most ",
                                             kMostColumns, " are supported"));
}

std::int64_t rounded(double entries) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return entries < static_cast<double>(kMost) ? std::llround(entries) : kMost;
}

/// From some rows at equal distances, and from fewer where these have many entries, where the
/// pattern does not know.
std::int64_t estimate(const Spec& spec, const Pattern& pattern) {
  if (pattern.entries) {
    const double places = static_cast<double>(pattern.rows) * static_cast<double>(pattern.cols);
    return rounded(std::min(*pattern.entries, places));
  }
  constexpr std::int64_t kSample = 100;                    // rows
  constexpr std::int64_t kEnough = std::int64_t{1} << 24;  // entries
  const std::int64_t rows = std::min(kSample, pattern.rows);
  std::vector<std::int32_t> columns;
  std::int64_t entries = 0;
  std::int64_t drawn = 0;
  for (; drawn < rows && entries < kEnough; ++drawn) {
    const std::int64_t row = pattern.rows / rows * drawn;
    RowRandom random(spec.seed, row / pattern.rows_a_draw);
    columns.clear();
    pattern.draw_row(row, random, columns);
    entries += std::ssize(columns);
  }
  if (drawn == 0) return 0;
  const double share = static_cast<double>(pattern.rows) / static_cast<double>(drawn);
  return rounded(static_cast<double>(entries) * share);
}

template <class T>
CsrMatrix<T> fill(const Spec& spec, const Pattern& pattern, const std::string& what) {
  CsrMatrix<T> matrix;
  matrix.rows = pattern.rows;
  matrix.cols = pattern.cols;
  MemoryLimit(sizeof(std::int64_t), what).check(pattern.rows);
  auto& offsets = matrix.row_offsets;
  offsets.assign(static_cast<std::size_t>(pattern.rows) + 1, 0);
  const MemoryLimit limit(sizeof(std::int32_t) + sizeof(T), what);
  std::atomic<std::int64_t> entries = 0;  // so far: dense:1000000 should not count for an hour
  for_each_row(pattern, spec.seed, [&](std::int64_t row, const std::vector<std::int32_t>& columns) {
    const auto length = static_cast<std::int64_t>(columns.size());
    offsets[static_cast<std::size_t>(row) + 1] = length;
    limit.check(entries.fetch_add(length, std::memory_order_relaxed) + length);
  });
  for (std::size_t i = 1; i < offsets.size(); ++i)
    offsets[i] += offsets[i - 1];

  matrix.col_indices.resize(static_cast<std::size_t>(offsets.back()));
  matrix.values.resize(static_cast<std::size_t>(offsets.back()));
  for_each_row(pattern, spec.seed, [&](std::int64_t row, const std::vector<std::int32_t>& columns) {
    const std::int64_t begin = offsets[static_cast<std::size_t>(row)];
    std::ranges::copy(columns, matrix.col_indices.begin() + begin);
    RowRandom random(~spec.seed, row);  // apart from the stream of the pattern
    for (std::size_t k = 0; k < columns.size(); ++k)
      matrix.values[static_cast<std::size_t>(begin) + k] = draw_value<T>(random, spec.values);
  });
  return matrix;
}

}  // namespace

template <class T>
CsrMatrix<T> generate(std::string_view text) {
  const Spec spec = SpecParser(text).parse();
  const std::string what = concat("generator \"", text, "\"");
  const Pattern pattern = spec.generator->make(spec.parameters);
  check_columns(pattern, what);
  return or_out_of_memory(what, [&] { return fill<T>(spec, pattern, what); });
}

std::int64_t estimated_entries(std::string_view text) {
  const Spec spec = SpecParser(text).parse();
  const std::string what = concat("generator \"", text, "\"");
  const Pattern pattern = spec.generator->make(spec.parameters);
  check_columns(pattern, what);
  return or_out_of_memory(what, [&] { return estimate(spec, pattern); });
}

std::string generator_help() {
  std::string help;
  for (const Generator& g : generators()) {
    std::string usage(g.name);
    for (const Parameter& p : g.parameters) {
      usage += p.by_default == Parameter::kRequired ? concat(":", p.name)
                                                    : concat("[:", p.name, "=", p.by_default, "]");
    }
    usage.resize(std::max<std::size_t>(usage.size(), 49), ' ');
    help += concat(usage, "  ", g.help, "\n");
  }
  return help +
         "each takes ,seed=1 and ,values=uniform|int, and its sizes by name: "
         "uniform:1000,cols=50\n"
         "span: columns are drawn within so many of the diagonal; 0: from all\n";
}

template CsrMatrix<double> generate(std::string_view);
template CsrMatrix<float> generate(std::string_view);
template CsrMatrix<half> generate(std::string_view);
template CsrMatrix<bfloat16> generate(std::string_view);
template CsrMatrix<std::complex<float>> generate(std::string_view);
template CsrMatrix<std::complex<double>> generate(std::string_view);

}  // namespace lanky::inline v1::io
