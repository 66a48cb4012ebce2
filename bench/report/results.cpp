#include "bench/report/results.hpp"

#include <algorithm>
#include <lanky/error.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "bench/report/number_text.hpp"
#include "core/json_line.hpp"
#include "core/text.hpp"

namespace lanky::report {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kNotesAFile = 3;  // of a kind

/// Figures between which something may have been measured.
struct Plausible {
  double least;
  double most;
};
constexpr Plausible kTime{1e-3, 1e12};      // microseconds: no product is shorter; eleven days
constexpr Plausible kSetup{0, 1e12};        // microseconds
constexpr Plausible kCount{0, 0x1p63};      // rows, entries, bytes: 64-bit integers
constexpr Plausible kSize{1, 0x1p63};       // likewise, of what is there
constexpr Plausible kFlops{1, 1e24};        // of one product: eleven days at 1e18 a second
constexpr Plausible kShare{0, 1};           // of a whole
constexpr Plausible kNoise{0, 1e3};         // relative
constexpr Plausible kSeconds{0, 1e9};       // thirty years
constexpr Plausible kSignal{1, 64};         // as the system numbers them
constexpr Plausible kBandwidth{1e-6, 1e3};  // TB/s: a megabyte to a petabyte a second

/// Reads the figures of a line, and remembers what it leaves out.
class Figure {
 public:
  explicit Figure(const Json& line) : line_(line) {}

  /// Empty where the field is absent, null, no number, or none that can be.
  Quantity read(const char* name, const Plausible& plausible) {
    const auto found = line_.find(name);
    if (found == line_.end() || found->is_null()) return {};
    const double value = found->is_number() ? found->get<double>() : -1;
    if (found->is_number() && value >= plausible.least && value <= plausible.most) return value;
    std::string text = found->dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > kLongest) text = text.substr(0, kLongest) + "..";
    left_out_ += (left_out_.empty() ? "" : ", ") + concat(name, " is ", text);
    return {};
  }
  /// "warm_us is 1e+308, nnz is -1".
  const std::string& left_out() const { return left_out_; }

 private:
  static constexpr std::size_t kLongest = 40;
  const Json& line_;
  std::string left_out_;
};

/// "0.5", "" where the field is absent or has its usual value.
std::string unusual(const Json& line, const char* name, double usual) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number() || found->get<double>() == usual) return "";
  return std::string(" ") + name + " " + shortest(found->get<double>());
}

/// Text that a line of JSON gives for a fact of the environment; "" where there is nothing to say.
std::string fact_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return significant(value.get<double>(), 4);
  return "";
}

Environment environment_of(const Json& line, const std::string& file, Figure& figure) {
  static constexpr std::pair<const char*, const char*> kFacts[] = {
      {"gpu", "GPU"},
      {"driver", "Driver"},
      {"cuda", "CUDA"},
      {"cublas", "cuBLAS"},
      {"cusparse", "cuSPARSE"},
      {"openblas", "OpenBLAS"},
      {"cpu", "Processor"},
      {"threads", "Threads"},
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
  environment.device = text_of(line, "gpu");
  if (environment.device.empty()) environment.device = text_of(line, "cpu");
  environment.argv = text_of(line, "argv");
  environment.read_floor_tbs = figure.read("read_floor_tbs", kBandwidth);
  environment.is_void = line.value("void", Json()) == Json(true);
  for (const auto& [name, label] : kFacts) {
    const auto found = line.find(name);
    const std::string text = found == line.end() ? "" : fact_text(*found);
    if (!text.empty() && text != "0") environment.facts.emplace_back(label, text);
  }
  return environment;
}

Line line_of(const Json& json, Figure& figure) {
  Line line;
  line.contestant = text_of(json, "contestant");
  line.variant = text_of(json, "variant");
  line.status = text_of(json, "status");
  if (line.status.empty()) line.status = "unknown";
  line.message = text_of(json, "message");
  line.kernel = text_of(json, "kernel");
  line.path = text_of(json, "path");
  line.warm_us = figure.read("warm_us", kTime);
  line.graph_us = figure.read("graph_us", kTime);
  line.cold_us = figure.read("cold_us", kTime);
  line.setup_us = figure.read("setup_us", kSetup);
  line.update_us = figure.read("update_us", kTime);
  line.floor_us = figure.read("floor_us", kTime);
  line.floor_batch_us = figure.read("floor_batch_us", kTime);
  line.peak_us = figure.read("peak_us", kSetup);
  line.bytes = figure.read("bytes", kSize);
  line.flops = figure.read("flops", kFlops);
  line.plan_bytes = figure.read("plan_bytes", kCount);
  line.noise = figure.read("noise", kNoise);
  line.padding = figure.read("padding", kShare);
  return line;
}

/// What tells a dense product from the plain one of its sizes: column-major, tight, alpha 1, beta
/// 0.
std::string way_of(const Json& line) {
  std::string way = text_of(line, "layout");
  if (way.empty()) return way;  // of a case that was never set up
  way += " " + text_of(line, "op_a") + text_of(line, "op_b");
  if (text_of(line, "ld") == "padded") way += " padded";
  way += unusual(line, "alpha", 1) + unusual(line, "beta", 0);
  const std::string dtype = text_of(line, "dtype");
  const bool half = dtype == "f16" || dtype == "bf16";
  if (half && text_of(line, "out") == "f32") way += " > f32";
  return way;
}

MatrixIdentity identity_of(const Json& line) {
  return {.name = text_of(line, "case"),
          .collection = text_of(line, "collection"),
          .source = text_of(line, "source"),
          .content = text_of(line, "content")};
}

/// Nothing where `kind` is no product's.
std::optional<Product> product_of(const std::string& kind) {
  for (const Product product : kProducts)
    if (kind == to_string(product)) return product;
  return std::nullopt;
}

/// "8 columns, row"
std::string columns_text(const Json& line, Figure& figure) {
  const Quantity columns = figure.read("columns", kSize);
  const std::string layout = text_of(line, "layout");
  return (columns ? shortest(*columns) : "unknown") + " columns" +
         (layout.empty() ? "" : ", " + layout);
}

Case case_of(const Json& line, Figure& figure) {
  Case product;
  product.product = product_of(text_of(line, "kind")).value_or(Product::spmv);
  const bool gemm = product.product == Product::gemm;
  product.name = text_of(line, "case");
  product.group = text_of(line, gemm ? "family" : "class");
  product.dtype = text_of(line, "dtype");
  if (gemm && !product.dtype.empty()) product.way = way_of(line);
  if (has_columns(product.product)) product.way = columns_text(line, figure);
  const std::string op = gemm ? "" : text_of(line, "op");
  if (op != "n") product.way += op;
  if (!gemm) product.which = identity_of(line);
  product.identity = case_identity(product);
  product.m = figure.read("m", kCount);
  product.n = figure.read("n", kCount);
  product.k = figure.read("k", kCount);
  product.nnz = figure.read("nnz", kCount);
  return product;
}

Matrix matrix_of_line(const Json& line, Figure& figure) {
  Matrix matrix;
  matrix.name = text_of(line, "case");
  matrix.which = identity_of(line);
  matrix.group = text_of(line, "class");
  matrix.status = text_of(line, "status");
  matrix.reason = text_of(line, "reason");
  matrix.signal = figure.read("signal", kSignal);
  matrix.seconds = figure.read("seconds", kSeconds);
  matrix.memory_bytes = figure.read("memory_bytes", kCount);
  matrix.max_row = figure.read("max_row", kCount);
  if (const auto types = line.find("dtypes"); types != line.end() && types->is_array()) {
    for (const Json& type : *types)
      if (type.is_string()) matrix.dtypes.push_back(type.get<std::string>());
  }
  const auto rows = line.find("rows");
  if (rows == line.end() || !rows->is_object()) return matrix;
  std::vector<double> counts;
  Figure of_rows(*rows);
  for (const char* length : {"empty", "short", "medium", "long"}) {
    const Quantity count = of_rows.read(length, kCount);
    if (!count) return matrix;
    counts.push_back(*count);
  }
  matrix.rows = counts;
  return matrix;
}

/// Matrices of which a file tells more than the name, by their names.
class KnownMatrices {
 public:
  void add(const MatrixIdentity& matrix) {
    if (is_known(matrix)) by_name_[matrix.name].emplace(matrix.key(), matrix);
  }
  /// A line with a name alone, as files of 0.1 before 2026-11-24 have them, is of the only matrix
  /// of that name, if there is one. False where there are several.
  bool complete(MatrixIdentity& matrix) const {
    const auto found = by_name_.find(matrix.name);
    if (is_known(matrix) || found == by_name_.end()) return true;
    if (found->second.size() > 1) return false;
    matrix = found->second.begin()->second;
    return true;
  }

 private:
  static bool is_known(const MatrixIdentity& matrix) {
    return !matrix.content.empty() || !matrix.source.empty();
  }

  std::map<std::string, std::map<std::string, MatrixIdentity>> by_name_;
};

/// A contestant's line takes the place of its earlier one.
void put(std::vector<Line>& lines, Line line) {
  const auto earlier = std::find_if(lines.begin(), lines.end(), [&line](const Line& other) {
    return other.contestant == line.contestant && other.variant == line.variant;
  });
  if (earlier == lines.end())
    lines.push_back(std::move(line));
  else
    *earlier = std::move(line);
}

/// Takes lines in, one file after another.
class Reader {
 public:
  void read(const std::string& path) {
    LineReader lines(path);
    file_ = path;
    environment_ = kNoEnvironment;
    std::size_t strange = 0;
    std::size_t incomplete = 0;
    while (lines.next()) {
      left_out_.clear();
      const std::string reason = take(lines);
      if (!reason.empty() && ++strange <= kNotesAFile)
        results_.notes.push_back(concat(lines.place(), ": ", reason));
      if (!left_out_.empty() && ++incomplete <= kNotesAFile)
        results_.notes.push_back(
            concat(lines.place(), ": ", left_out_, ", which cannot be, and is left out"));
    }
    note_more(strange, " more such lines were passed over");
    note_more(incomplete, " more line(s) have figures that cannot be, which are left out");
  }

  Results finish() {
    complete_identities();
    join_cases();
    name_matrices();
    for (Case& product : results_.cases) {
      const auto found = matrices_.find(product.which.key() + "\n" + product.device);
      if (is_sparse(product.product) && found != matrices_.end()) product.matrix = found->second;
    }
    return std::move(results_);
  }

 private:
  void note_more(std::size_t count, const char* what) {
    if (count > kNotesAFile)
      results_.notes.push_back(concat(file_, ": ", count - kNotesAFile, what));
  }

  /// "" where the line was taken, else why not.
  std::string take(const LineReader& reader) {
    const Json line = parse_json_line<Json>(reader.text());
    if (line.is_discarded()) {
      return reader.is_whole() ? "no JSON, passed over"
                               : "half a line at the end, passed over: what wrote it was ended";
    }
    if (!line.is_object()) return "no JSON object, passed over";
    const std::string kind = text_of(line, "kind");
    Figure figure(line);
    if (kind == "env") {
      environment_ = results_.environments.size();
      results_.environments.push_back(environment_of(line, file_, figure));
    } else if (kind == "matrix" || product_of(kind)) {
      if (text_of(line, "case").empty()) return kind + " line without a case, passed over";
      if (kind == "matrix") {
        add_matrix(matrix_of_line(line, figure));
      } else if (text_of(line, "contestant").empty()) {
        return kind + " line without a contestant, passed over";
      } else {
        Case product = case_of(line, figure);
        add(std::move(product), line_of(line, figure));
      }
    }
    left_out_ = figure.left_out();
    return "";  // other kinds are of later versions
  }

  std::string device() const {
    return environment_ == kNoEnvironment ? "" : results_.environments[environment_].device;
  }

  void add(Case fresh, Line line) {
    fresh.device = device();
    const std::string key = fresh.identity + "\n" + fresh.dtype + "\n" + fresh.device;
    const auto [position, is_new] = index_.try_emplace(key, results_.cases.size());
    if (is_new) results_.cases.push_back(std::move(fresh));
    if (environment_ != kNoEnvironment) ++results_.environments[environment_].lines;
    line.environment = environment_;
    put(results_.cases[position->second].lines, std::move(line));
  }

  void add_matrix(Matrix fresh) {
    fresh.device = device();
    const std::string key = fresh.which.key() + "\n" + fresh.device;
    const auto [position, is_new] = matrices_.try_emplace(key, results_.matrices.size());
    if (is_new)
      results_.matrices.push_back(std::move(fresh));
    else
      results_.matrices[position->second] = std::move(fresh);
  }

  /// What lines with a name alone are of.
  void complete_identities() {
    KnownMatrices known;
    for (const Case& product : results_.cases)
      known.add(product.which);
    for (const Matrix& matrix : results_.matrices)
      known.add(matrix.which);
    std::set<std::string> ambiguous;
    for (Case& product : results_.cases) {
      if (!is_sparse(product.product)) continue;
      if (!known.complete(product.which)) ambiguous.insert(product.name);
      product.identity = case_identity(product);
    }
    for (const std::string& name : ambiguous)
      results_.notes.push_back(
          name + ": several matrices have this name, and some lines do not tell which they are of");
  }

  /// Cases that have become the same: what tells its content is of a later version.
  void join_cases() {
    std::vector<Case> joined;
    std::unordered_map<std::string, std::size_t> index;
    for (Case& product : results_.cases) {
      const std::string key = product.identity + "\n" + product.dtype + "\n" + product.device;
      const auto [position, is_new] = index.try_emplace(key, joined.size());
      if (is_new) {
        joined.push_back(std::move(product));
        continue;
      }
      for (Line& line : product.lines)
        put(joined[position->second].lines, std::move(line));
    }
    results_.cases = std::move(joined);
  }

  void name_matrices() {
    std::vector<MatrixIdentity> all;
    for (const Case& product : results_.cases)
      if (is_sparse(product.product)) all.push_back(product.which);
    for (const Matrix& matrix : results_.matrices)
      all.push_back(matrix.which);
    const std::map<std::string, std::string> shown = shown_names(all);
    for (Case& product : results_.cases)
      if (is_sparse(product.product)) product.name = shown.at(product.which.key());
    for (Matrix& matrix : results_.matrices)
      matrix.name = shown.at(matrix.which.key());
  }

  Results results_;
  std::string file_;
  std::size_t environment_ = kNoEnvironment;
  std::unordered_map<std::string, std::size_t> index_;     // of cases
  std::unordered_map<std::string, std::size_t> matrices_;  // by identity and device
  std::string left_out_;                                   // figures of the line at hand
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

std::string to_string(Product product) {
  switch (product) {
    case Product::spmv:
      return "spmv";
    case Product::spmm:
      return "spmm";
    case Product::sddmm:
      return "sddmm";
    case Product::gemm:
      break;
  }
  return "gemm";
}

std::string case_identity(const Case& product) {
  const std::string which =
      is_sparse(product.product) ? product.which.key() : product.group + "\n" + product.name;
  return to_string(product.product) + "\n" + which + "\n" + product.way;
}

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
