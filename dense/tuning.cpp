#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <lanky/error.hpp>
#include <lanky/tuning.hpp>
#include <numbers>
#include <optional>
#include <sstream>
#include <utility>

#include "core/text.hpp"
#include "dense/backend.hpp"
#include "dense/measured_choices.hpp"
#include "dense/policy.hpp"
#include "dense/problem.hpp"

namespace lanky::inline v1 {

namespace {

namespace fs = std::filesystem;

constexpr char kFormat[] = "lanky gemm tuning 3";

/// Short sides as they are, above 16 rounded up to a multiple of 8; long ones by half a power of
/// two.
std::string class_of_side(std::int64_t side) {
  if (side <= 16) return concat(side);
  if (side <= dense::kSkinny) return concat((side + 7) / 8 * 8);
  const auto power = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(side))) - 1;
  const bool upper = static_cast<double>(side) >= std::numbers::sqrt2 * std::exp2(power);
  return concat("2^", power, upper ? ".5" : "");
}

/// " along " and the contiguous side of an operand, where that matters; " unaligned" where its
/// lines do not keep 16 bytes alignment.
std::string class_of_strides(dense::Strides strides, std::size_t bytes, const char* sides,
                             bool side_matters) {
  const char side = strides.row == 1 ? sides[0] : sides[1];
  return concat(side_matters ? concat(" along ", side) : "",
                dense::has_aligned_lines(strides, bytes) ? "" : " unaligned");
}

/// Halves of either kind take the same time, and small results in any type.
std::string class_of_types(DType in, DType out, bool result_is_small) {
  return concat(is_half(in) ? "half" : to_string(in),
                in == out || (result_is_small && !has_wide_sums(in, out))
                    ? ""
                    : concat(" to ", to_string(out)));
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

/// One line: {"name": "text", ...}, all values strings, as write() makes them.
std::optional<std::map<std::string, std::string>> parse_line(const std::string& line) {
  std::size_t at = 0;
  const auto skip = [&](char wanted) {
    while (at < line.size() && line[at] == ' ')
      ++at;
    if (at == line.size() || line[at] != wanted) return false;
    ++at;
    return true;
  };
  const auto text = [&]() -> std::optional<std::string> {
    if (!skip('"')) return std::nullopt;
    std::string result;
    for (; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\' && ++at == line.size()) return std::nullopt;
      result += line[at];
    }
    if (at == line.size()) return std::nullopt;
    ++at;
    return result;
  };
  std::map<std::string, std::string> values;
  if (!skip('{')) return std::nullopt;
  do {
    auto key = text();
    if (!key || !skip(':')) return std::nullopt;
    auto value = text();
    if (!value || !values.emplace(std::move(*key), std::move(*value)).second) return std::nullopt;
  } while (skip(','));
  if (!skip('}') || line.find_first_not_of(" \r", at) != std::string::npos) return std::nullopt;
  return values;
}

/// The choice of a line; nothing where it is none.
std::optional<std::pair<std::string, GemmChoice>> choice_of(const std::string& line) {
  auto values = parse_line(line);
  if (!values || values->count("class") == 0) return std::nullopt;
  const std::string kernel = (*values)["kernel"];
  if (kernel != "lanky" && kernel != "vendor") return std::nullopt;
  return std::pair{(*values)["class"], GemmChoice{kernel == "vendor", (*values)["algorithm"]}};
}

[[noreturn]] void fail(ErrorCode code, const fs::path& path, const std::string& what) {
  throw Error(code, concat(path.string(), ": ", what));
}

/// JSON lines as write() makes them. `from` names their source in errors.
std::map<std::string, GemmChoice> parse(std::istream& lines, const std::string& from) {
  std::map<std::string, GemmChoice> choices;
  std::string line;
  std::getline(lines, line);
  const auto head = parse_line(line);
  if (!head || head->count("format") == 0 || head->at("format") != kFormat)
    throw Error(
        ErrorCode::parse,
        concat(from, ": is no file of lanky tune: line 1 is not {\"format\": \"", kFormat, "\"}"));
  for (int number = 2; std::getline(lines, line); ++number) {
    auto choice = choice_of(line);
    if (!choice)
      throw Error(ErrorCode::parse, concat(from, ": line ", number, " is no choice of lanky tune"));
    choices.insert_or_assign(std::move(choice->first), std::move(choice->second));
  }
  return choices;
}

}  // namespace

}  // namespace lanky::inline v1

namespace lanky::dense {

/// What is small beside A says little of itself: B not which side is contiguous, C not its type or
/// whether it is read. C's side decides who is transposed, and says nothing where that changes
/// nothing. Nor do conjugates, but where C is one column: the vendor's kernels for that conjugate
/// nothing.
std::string gemm_class_on(std::string_view card, const GemmQuery& query) {
  constexpr std::int64_t kSmall = 16;  // times smaller than A
  const Problem p = canonical(with_leading_dimensions(query.shape), query.math);
  const bool small_b = p.n * kSmall <= p.m;
  const bool small_c = p.n * kSmall <= p.k;
  const bool conjugated = is_complex(query.in) && p.n == 1 && (p.conj_a || p.conj_b);
  const bool on_gpu = card != "cpu";
  const bool adds = query.adds && !small_c && on_gpu;
  const bool alike = small_c && p.m == p.n && (p.a.row == 1) == (p.b.col == 1);
  return concat(card, ": ", class_of_types(query.in, query.out, small_c), " ", to_string(p.math),
                ", m ", class_of_side(p.m), " n ", class_of_side(p.n), " k ", class_of_side(p.k),
                ", A", class_of_strides(p.a, size_of(query.in), "mk", true), ", B",
                class_of_strides(p.b, size_of(query.in), "kn", !small_b), ", C",
                class_of_strides(p.c, size_of(query.out), "mn", !alike),
                conjugated ? ", conjugated" : "", query.same_operands && on_gpu ? ", B is A" : "",
                adds ? ", beta" : "");
}

}  // namespace lanky::dense

namespace lanky::inline v1 {

std::string gemm_class(const GemmQuery& query) {
  dense::checked(query.shape, query.in, query.out, query.math);
  return dense::gemm_class_on(query.device.is_cuda() ? query.device.properties().name : "cpu",
                              query);
}

std::vector<GemmChoice> gemm_choices(const GemmQuery& query, int most_algorithms) {
  if (most_algorithms < 0) {
    throw Error(ErrorCode::invalid_argument,
                concat("up to ", most_algorithms, " of the vendor's algorithms; at least 0"));
  }
  const GemmShape s = dense::checked(query.shape, query.in, query.out, query.math);
  if (s.m == 0 || s.n == 0) return {{}};  // no kernel runs, and none has a cost
  const dense::Problem problem = dense::canonical(s, query.math);
  const GemmFamily family = gemm_family(s.m, s.n, s.k);
  if (!query.device.is_cuda()) return dense::cpu::choices(problem, family, query.in, query.out);
  return dense::cuda::choices(query, problem, family, most_algorithms);
}

GemmTuning GemmTuning::read(const fs::path& path) {
  GemmTuning tuning;
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return tuning;
  std::ifstream file(path);
  if (!file || file.peek() == std::ifstream::traits_type::eof())
    fail(ErrorCode::io, path, "cannot be read");
  tuning.choices_ = parse(file, path.string());
  if (file.bad()) fail(ErrorCode::io, path, "cannot be read to its end");
  return tuning;
}

const GemmTuning& GemmTuning::of_lanky() {
  static const GemmTuning instance = [] {
    std::istringstream lines{std::string(dense::measured_choices())};
    lines.exceptions(std::ios::badbit);  // short memory throws, and cuts no table
    GemmTuning tuning;
    tuning.choices_ = parse(lines, "choices compiled in");
    return tuning;
  }();
  return instance;
}

fs::path GemmTuning::default_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string own = variable("LANKY_TUNE_CACHE"); !own.empty()) return own;
  const std::string cache = variable("XDG_CACHE_HOME");
  const fs::path base = cache.empty() ? fs::path(variable("HOME")) / ".cache" : fs::path(cache);
  return base / "lanky" / "gemm.jsonl";
}

const GemmTuning& GemmTuning::of_this_user() {
  static const GemmTuning instance = [] {
    try {
      return read(default_path());
    } catch (const Error& error) {
      GemmTuning ignored;
      ignored.note_ = concat("ignored: ", error.what());
      return ignored;
    }
  }();
  return instance;
}

void GemmTuning::write(const fs::path& path) const {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) fail(ErrorCode::io, path, concat("its folder cannot be made: ", error.message()));
  fs::path fresh = path;
  fresh += concat(".", getpid());
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << "{\"format\": \"" << kFormat << "\"}\n";
    for (const auto& [key, choice] : choices_) {
      file << "{\"class\": " << quoted(key)
           << ", \"kernel\": " << (choice.vendor ? "\"vendor\"" : "\"lanky\"")
           << ", \"algorithm\": " << quoted(choice.algorithm) << "}\n";
    }
    file.flush();
    if (!file) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(fresh, path, error);
  if (!error) return;
  std::error_code unknown;
  fs::remove(fresh, unknown);
  fail(ErrorCode::io, path, concat("cannot be written: ", error.message()));
}

void GemmTuning::set(const GemmQuery& query, GemmChoice choice) {
  choices_.insert_or_assign(gemm_class(query), std::move(choice));
}

const GemmChoice* GemmTuning::find(const GemmQuery& query) const {
  return choices_.empty() ? nullptr : find(gemm_class(query));
}

const GemmChoice* GemmTuning::find(const std::string& product_class) const {
  const auto found = choices_.find(product_class);
  return found == choices_.end() ? nullptr : &found->second;
}

}  // namespace lanky::inline v1
