#include "bench/report/results.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "bench/report/number_text.hpp"
#include "core/text.hpp"

namespace lanky::report {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kNotesAFile = 3;

std::string text_field(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Zero counts.
Quantity amount(const Json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number() || !(found->get<double>() >= 0)) return {};
  return found->get<double>();
}

/// Zero is no time, size or count that was measured.
Quantity positive(const Json& line, const char* name) {
  const Quantity value = amount(line, name);
  return value && *value > 0 ? value : Quantity();
}

/// "0.5", "" where the field is absent or has its usual value.
std::string unusual(const Json& line, const char* name, double usual) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number() || found->get<double>() == usual) return "";
  return std::string(" ") + name + " " + shortest(found->get<double>());
}

/// Text that a line of JSON gives for a fact of the environment; "" where there is nothing to say.
std::string fact_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_number()) return significant(value.get<double>(), 4);
  return "";
}

Environment environment_of(const Json& line, const std::string& file) {
  static constexpr std::pair<const char*, const char*> kFacts[] = {
      {"gpu", "GPU"},
      {"driver", "Driver"},
      {"cuda", "CUDA"},
      {"cublas", "cuBLAS"},
      {"cusparse", "cuSPARSE"},
      {"openblas", "OpenBLAS"},
      {"cpu", "Processor"},
      {"threads", "Hardware threads"},
      {"sm_clock_mhz", "SM clock (MHz)"},
      {"l2_bytes", "L2 (bytes)"},
      {"read_floor_tbs", "Read bandwidth (TB/s)"},
      {"lanky", "lanky"},
      {"commit", "Commit"},
      {"sources_hash", "Hash of the sources"},
      {"binary_hash", "Hash of the program"},
      {"seed", "Seed"},
      {"utc", "Begun (UTC)"}};
  Environment environment;
  environment.file = file;
  environment.device = text_field(line, "gpu");
  if (environment.device.empty()) environment.device = text_field(line, "cpu");
  environment.argv = text_field(line, "argv");
  environment.read_floor_tbs = positive(line, "read_floor_tbs");
  environment.is_void = line.value("void", Json()) == Json(true);
  for (const auto& [name, label] : kFacts) {
    const auto found = line.find(name);
    const std::string text = found == line.end() ? "" : fact_text(*found);
    if (!text.empty() && text != "0") environment.facts.emplace_back(label, text);
  }
  return environment;
}

Line line_of(const Json& json) {
  Line line;
  line.contestant = text_field(json, "contestant");
  line.variant = text_field(json, "variant");
  line.status = text_field(json, "status");
  if (line.status.empty()) line.status = "unknown";
  line.message = text_field(json, "message");
  line.kernel = text_field(json, "kernel");
  line.path = text_field(json, "path");
  line.warm_us = positive(json, "warm_us");
  line.graph_us = positive(json, "graph_us");
  line.cold_us = positive(json, "cold_us");
  line.setup_us = amount(json, "setup_us");
  line.update_us = positive(json, "update_us");
  line.floor_us = positive(json, "floor_us");
  line.floor_batch_us = positive(json, "floor_batch_us");
  line.peak_us = positive(json, "peak_us");
  line.bytes = positive(json, "bytes");
  line.flops = positive(json, "flops");
  line.plan_bytes = amount(json, "plan_bytes");
  line.noise = amount(json, "noise");
  line.padding = amount(json, "padding");
  return line;
}

/// What tells a dense product from the plain one of its sizes: column-major, tight, alpha 1, beta
/// 0.
std::string way_of(const Json& line) {
  std::string way = text_field(line, "layout");
  if (way.empty()) return way;  // of a case that was never set up
  way += " " + text_field(line, "op_a") + text_field(line, "op_b");
  if (text_field(line, "ld") == "padded") way += " padded";
  way += unusual(line, "alpha", 1) + unusual(line, "beta", 0);
  const std::string dtype = text_field(line, "dtype");
  const bool half = dtype == "f16" || dtype == "bf16";
  if (half && text_field(line, "out") == "f32") way += " > f32";
  return way;
}

Case case_of(const Json& line) {
  Case product;
  const bool gemm = text_field(line, "kind") == "gemm";
  product.product = gemm ? Product::gemm : Product::spmv;
  product.name = text_field(line, "case");
  product.group = text_field(line, gemm ? "family" : "class");
  product.dtype = text_field(line, "dtype");
  if (gemm && !product.dtype.empty()) product.way = way_of(line);
  const std::string op = gemm ? "" : text_field(line, "op");
  if (op != "n") product.way += op;
  product.identity =
      (gemm ? "gemm\n" + product.group : "spmv") + "\n" + product.name + "\n" + product.way;
  product.m = amount(line, "m");
  product.n = amount(line, "n");
  product.k = amount(line, "k");
  product.nnz = amount(line, "nnz");
  return product;
}

Matrix matrix_of_line(const Json& line) {
  Matrix matrix;
  matrix.name = text_field(line, "case");
  matrix.group = text_field(line, "class");
  matrix.source = text_field(line, "source");
  matrix.status = text_field(line, "status");
  matrix.reason = text_field(line, "reason");
  matrix.signal = positive(line, "signal");
  matrix.seconds = positive(line, "seconds");
  matrix.memory_bytes = positive(line, "memory_bytes");
  matrix.max_row = amount(line, "max_row");
  if (const auto types = line.find("dtypes"); types != line.end() && types->is_array()) {
    for (const Json& type : *types)
      if (type.is_string()) matrix.dtypes.push_back(type.get<std::string>());
  }
  const auto rows = line.find("rows");
  if (rows == line.end() || !rows->is_object()) return matrix;
  std::vector<double> counts;
  for (const char* length : {"empty", "short", "medium", "long"}) {
    const Quantity count = amount(*rows, length);
    if (!count) return matrix;
    counts.push_back(*count);
  }
  matrix.rows = counts;
  return matrix;
}

/// Takes lines in, one file after another.
class Reader {
 public:
  void read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path))
      throw Error(ErrorCode::io, path + ": cannot be opened for reading");
    file_ = path;
    environment_ = kNoEnvironment;
    std::size_t number = 0;
    std::size_t strange = 0;
    for (std::string text; std::getline(file, text);) {
      const bool whole = !file.eof();
      if (++number == 1 && text.rfind("\xef\xbb\xbf", 0) == 0) text.erase(0, 3);
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      const std::string reason = take(text, whole);
      if (reason.empty() || ++strange > kNotesAFile) continue;
      results_.notes.push_back(concat(path, ":", number, ": ", reason));
    }
    if (file.bad()) throw Error(ErrorCode::io, path + ": reading failed");
    if (strange > kNotesAFile) {
      results_.notes.push_back(path + ": " + std::to_string(strange - kNotesAFile) +
                               " more such lines were passed over");
    }
  }

  Results finish() {
    for (Case& product : results_.cases) {
      const auto found = matrices_.find(product.name + "\n" + product.device);
      if (product.product == Product::spmv && found != matrices_.end())
        product.matrix = found->second;
    }
    return std::move(results_);
  }

 private:
  /// "" where the line was taken, else why not.
  std::string take(const std::string& text, bool whole) {
    const Json line = Json::parse(text, nullptr, false);
    if (line.is_discarded()) {
      return whole ? "no JSON, passed over"
                   : "half a line at the end, passed over: what wrote it was ended";
    }
    if (!line.is_object()) return "no JSON object, passed over";
    const std::string kind = text_field(line, "kind");
    if (kind == "env") {
      environment_ = results_.environments.size();
      results_.environments.push_back(environment_of(line, file_));
    } else if (kind == "spmv" || kind == "gemm" || kind == "matrix") {
      if (text_field(line, "case").empty()) return kind + " line without a case, passed over";
      if (kind == "matrix") {
        add_matrix(line);
        return "";
      }
      if (text_field(line, "contestant").empty())
        return kind + " line without a contestant, passed over";
      add(line);
    }
    return "";  // other kinds are of later versions
  }

  std::string device() const {
    return environment_ == kNoEnvironment ? "" : results_.environments[environment_].device;
  }

  void add(const Json& json) {
    Case fresh = case_of(json);
    fresh.device = device();
    const std::string key = fresh.identity + "\n" + fresh.dtype + "\n" + fresh.device;
    const auto [position, is_new] = index_.try_emplace(key, results_.cases.size());
    if (is_new) results_.cases.push_back(std::move(fresh));
    if (environment_ != kNoEnvironment) ++results_.environments[environment_].lines;
    Line line = line_of(json);
    line.environment = environment_;
    std::vector<Line>& lines = results_.cases[position->second].lines;
    const auto earlier = std::find_if(lines.begin(), lines.end(), [&line](const Line& other) {
      return other.contestant == line.contestant && other.variant == line.variant;
    });
    if (earlier == lines.end())
      lines.push_back(std::move(line));
    else
      *earlier = std::move(line);
  }

  void add_matrix(const Json& json) {
    Matrix fresh = matrix_of_line(json);
    fresh.device = device();
    const auto [position, is_new] =
        matrices_.try_emplace(fresh.name + "\n" + fresh.device, results_.matrices.size());
    if (is_new)
      results_.matrices.push_back(std::move(fresh));
    else
      results_.matrices[position->second] = std::move(fresh);
  }

  Results results_;
  std::string file_;
  std::size_t environment_ = kNoEnvironment;
  std::unordered_map<std::string, std::size_t> index_;     // of cases
  std::unordered_map<std::string, std::size_t> matrices_;  // by name and device
};

void note_what_spoils(Results& results) {
  for (const Environment& environment : results.environments) {
    if (!environment.is_void) continue;
    results.notes.push_back(
        environment.file +
        ": a run is void, its device did not reach its own bandwidth: no figure "
        "of it counts; measure again");
  }
  if (const auto devices = results.devices(); devices.size() > 1) {
    std::string names;
    for (const std::string& device : devices)
      names += (names.empty() ? "" : ", ") + (device.empty() ? "an unknown one" : device);
    results.notes.push_back("results of several devices stand together: " + names);
  }
}

}  // namespace

std::vector<std::string> Results::devices() const {
  std::vector<std::string> found;
  for (const Case& product : cases)
    if (std::find(found.begin(), found.end(), product.device) == found.end())
      found.push_back(product.device);
  return found;
}

Results read_results(const std::vector<std::string>& paths) {
  Reader reader;
  for (const std::string& path : paths)
    reader.read(path);
  Results results = reader.finish();
  if (results.cases.empty() && results.matrices.empty()) {
    std::string message = "no line of results in";
    for (const std::string& path : paths)
      message += " " + path;
    if (!results.notes.empty()) message += " (" + results.notes.front() + ")";
    throw Error(ErrorCode::parse, message + "; lanky batch --json FILE writes such lines");
  }
  note_what_spoils(results);
  return results;
}

}  // namespace lanky::report
