#include "bench/cases/grid.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "bench/cases/full_grid.hpp"
#include "bench/cases/scattered_grid.hpp"
#include "bench/records/record.hpp"
#include "core/json_line.hpp"

namespace lanky::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kKeys = {"family", "m",     "n",    "k",     "op_a", "op_b",   "layout",
                              "ld",     "alpha", "beta", "dtype", "out",  "comment"};

/// One entry of a grid, and where it stands for messages.
class Entry {
 public:
  Entry(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("must be an object such as {\"m\": 100, \"n\": 8, \"k\": 100}");
    for (const auto& [key, value] : json.items()) {
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
        fail("has the unknown key \"" + key + "\"");
    }
  }

  bool has(const char* key) const { return json_.contains(key); }

  std::vector<std::int64_t> sizes(const char* key) const {
    if (!has(key)) fail(std::string("needs the key \"") + key + "\"");
    std::vector<std::int64_t> all;
    for (const Json& value : values(key)) {
      if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
        fail(key, "a size such as 100000, or a list of sizes", value);
      all.push_back(value.get<std::int64_t>());
    }
    return all;
  }

  std::vector<double> numbers(const char* key, double absent) const {
    if (!has(key)) return {absent};
    std::vector<double> all;
    for (const Json& value : values(key)) {
      if (!value.is_number()) fail(key, "a number, or a list of numbers", value);
      all.push_back(value.get<double>());
    }
    return all;
  }

  /// The words of a key, each read by `parse`, which throws Error for what it does not know.
  template <class Parse>
  auto words(const char* key, const char* absent, Parse parse) const {
    std::vector<decltype(parse(std::string()))> all;
    for (const Json& value : has(key) ? values(key) : std::vector<Json>{absent}) {
      if (!value.is_string()) fail(key, "text", value);
      try {
        all.push_back(parse(value.get<std::string>()));
      } catch (const Error& error) {
        fail(std::string("has an unknown \"") + key + "\": " + error.what());
      }
    }
    return all;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::parse, where_ + " " + what);
  }

 private:
  std::vector<Json> values(const char* key) const {
    const Json& value = json_.at(key);
    if (!value.is_array()) return {value};
    return value.get<std::vector<Json>>();
  }
  [[noreturn]] void fail(const char* key, const char* wanted, const Json& found) const {
    fail(std::string("needs for \"") + key + "\" " + wanted + ", not " + found.dump());
  }

  const Json& json_;
  std::string where_;
};

std::string parse_family(const std::string& text) {
  for (const char* family : {"panel", "update", "gram", "syrk"}) {
    if (text == family) return text;
  }
  throw Error(ErrorCode::invalid_argument, "\"" + text + "\" is not panel, update, gram or syrk");
}

bool parse_padded(const std::string& text) {
  if (text == "tight" || text == "padded") return text == "padded";
  throw Error(ErrorCode::invalid_argument, "\"" + text + "\" is not tight or padded");
}

/// m, n, k of every combination; a family derives the size that an entry leaves out.
std::vector<std::array<std::int64_t, 3>> extents(const Entry& entry, const std::string& family) {
  const bool m_is_n = (family == "gram" && !entry.has("m")) || family == "syrk";
  const bool k_is_m = family == "panel" && !entry.has("k");
  const bool k_is_n = family == "update" && !entry.has("k");
  const std::vector<std::int64_t> none = {0};
  std::vector<std::array<std::int64_t, 3>> all;
  for (const std::int64_t k : k_is_m || k_is_n ? none : entry.sizes("k")) {
    for (const std::int64_t m : m_is_n ? none : entry.sizes("m")) {
      for (const std::int64_t n : entry.sizes("n"))
        all.push_back({m_is_n ? n : m, n, k_is_m ? m : k_is_n ? n : k});
    }
  }
  return all;
}

/// One case for each value of `values`, assigned by `set`, in the place of each case.
template <class Value, class Set>
void multiply(std::vector<GemmCase>& cases, const std::vector<Value>& values, Set set) {
  std::vector<GemmCase> all;
  for (const GemmCase& gemm : cases) {
    for (const Value& value : values) {
      all.push_back(gemm);
      set(all.back(), value);
    }
  }
  cases = std::move(all);
}

std::vector<GemmCase> cases_of(const Entry& entry) {
  std::string family;
  if (entry.has("family")) family = entry.words("family", "", parse_family).front();
  const bool reduces = family == "gram" || family == "syrk";
  std::vector<GemmCase> cases(1);
  cases[0].symmetric = family == "syrk";
  multiply(cases, entry.words("dtype", "f64", parse_gemm_type),
           [](GemmCase& gemm, const GemmType& type) { gemm.type = type; });
  if (entry.has("out")) {
    multiply(cases, entry.words("out", "", parse_dtype),
             [](GemmCase& gemm, DType out) { gemm.type.out = out; });
  }
  multiply(cases, entry.words("layout", "col", parse_layout),
           [](GemmCase& gemm, Layout layout) { gemm.layout = layout; });
  multiply(cases, entry.words("ld", "tight", parse_padded),
           [](GemmCase& gemm, bool padded) { gemm.padded = padded; });
  multiply(cases, entry.words("op_a", reduces ? "t" : "n", parse_op),
           [](GemmCase& gemm, Op op) { gemm.op_a = op; });
  multiply(cases, entry.words("op_b", "n", parse_op),
           [](GemmCase& gemm, Op op) { gemm.op_b = op; });
  multiply(cases, entry.numbers("alpha", 1),
           [](GemmCase& gemm, double alpha) { gemm.alpha = alpha; });
  multiply(cases, entry.numbers("beta", 0), [](GemmCase& gemm, double beta) { gemm.beta = beta; });
  multiply(cases, extents(entry, family), [](GemmCase& gemm, const auto& sizes) {
    gemm.m = sizes[0];
    gemm.n = sizes[1];
    gemm.k = sizes[2];
  });
  return cases;
}

}  // namespace

Op parse_op(std::string_view text) {
  if (text == "n") return Op::none;
  if (text == "t") return Op::trans;
  if (text == "c") return Op::conj_trans;
  throw Error(
      ErrorCode::invalid_argument,
      "\"" + std::string(text) + "\" is not n (as it is), t (transposed) or c (conjugated)");
}

Layout parse_layout(std::string_view text) {
  if (text == "col") return Layout::col;
  if (text == "row") return Layout::row;
  throw Error(ErrorCode::invalid_argument, "\"" + std::string(text) + "\" is not col or row");
}

std::vector<GemmCase> parse_grid(std::string_view json, const std::string& source) {
  if (json_depth(json) > kDeepestJson)
    throw Error(ErrorCode::parse, source + ": not a grid: it nests " +
                                      std::to_string(json_depth(json)) + " brackets deep");
  Json grid;
  try {
    grid = Json::parse(json);
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::parse, source + ": not JSON: " + error.what());
  }
  if (!grid.is_object() || !grid.contains("cases") || !grid["cases"].is_array())
    throw Error(ErrorCode::parse, source + ": a grid is {\"cases\": [...]}");
  std::vector<GemmCase> cases;
  const Json& entries = grid["cases"];
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto more = cases_of(Entry(entries[i], source + ": cases[" + std::to_string(i) + "]"));
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

std::vector<GemmCase> read_grid(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    throw Error(ErrorCode::io, path.string() +
                                   ": cannot be read as a grid of products; the named grids are "
                                   "core, sample, scattered, scattered-cpu, demo and small");
  return parse_grid(text.str(), path.string());
}

std::string to_grid(const GemmCase& gemm) {
  const nlohmann::ordered_json line = head(gemm);
  Json entry;
  for (const char* key :
       {"m", "n", "k", "op_a", "op_b", "layout", "ld", "alpha", "beta", "dtype", "out"})
    entry[key] = line.at(key);
  if (gemm.symmetric) entry["family"] = "syrk";
  return Json{{"cases", Json::array({entry})}}.dump();
}

namespace {

bool wanted(const GemmCase& gemm, const GridChoice& choice) {
  const auto has = [](const std::vector<std::string>& list, std::string_view word) {
    return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
  };
  return has(choice.families, family_name(gemm)) && has(choice.types, to_string(gemm.type));
}

}  // namespace

GridRun choose_cases(const GridChoice& choice) {
  GridRun run;
  if (choice.grid == "core") {
    run.cases = core_grid();
  } else if (choice.grid == "sample") {
    run.seed = choice.seed ? *choice.seed : draw_seed();
    run.cases = sample_grid(*run.seed, choice.share);
  } else if (choice.grid == "scattered" || choice.grid == "scattered-cpu") {
    constexpr std::size_t kScattered = 480;
    run.seed = choice.seed ? *choice.seed : draw_seed();
    run.cases = scattered_grid(*run.seed, kScattered,
                               choice.grid == "scattered" ? scale_of_gpus() : scale_of_cpus());
  } else if (const std::string_view text = named_grid(choice.grid); !text.empty()) {
    run.cases = parse_grid(text, choice.grid);
  } else {
    run.cases = read_grid(choice.grid);
  }
  std::erase_if(run.cases, [&](const GemmCase& gemm) { return !wanted(gemm, choice); });
  std::vector<GemmCase> mine;
  for (std::size_t i = choice.shard; i < run.cases.size(); i += choice.shards)
    mine.push_back(run.cases[i]);
  run.cases = std::move(mine);
  return run;
}

}  // namespace lanky::bench
