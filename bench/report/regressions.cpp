#include "bench/report/regressions.hpp"

#include <algorithm>
#include <cmath>
#include <lanky/error.hpp>
#include <map>
#include <set>
#include <unordered_map>

#include "bench/report/figures.hpp"

namespace lanky::report {

namespace {

constexpr double kUnknownNoise = 0.05;

/// One contestant's line on a case.
struct Run {
  const Case* product;
  const Line* line;
};

bool is_chosen(const Line& line, const std::string& contestant) {
  return line.contestant == contestant || line.name() == contestant;
}

std::string shown_name(const Run& run) {
  std::string name = run.product->name;
  // The fields of a sampled product are those of a product of several columns.
  const bool sampled = run.product->product == Product::sddmm;
  for (const std::string& part : {std::string(sampled ? "sampled" : ""), run.product->way,
                                  run.product->dtype, run.line->name()})
    if (!part.empty()) name += " " + part;
  return name;
}

/// Matrices by their names, as "case" has them.
using Namesakes = std::map<std::string, std::map<std::string, MatrixIdentity>>;

Namesakes namesakes_of(const Results& results) {
  Namesakes found;
  for (const Case& product : results.cases)
    if (is_sparse(product.product))
      found[product.which.name].emplace(product.which.key(), product.which);
  return found;
}

/// A matrix that one side knows by its name alone is the other side's, where either has one of that
/// name.
void complete_identities(Results& results, const Namesakes& own, const Namesakes& others) {
  for (Case& product : results.cases) {
    const auto namesakes = others.find(product.which.name);
    if (!is_sparse(product.product) || !product.which.content.empty() ||
        namesakes == others.end() || namesakes->second.size() > 1 ||
        own.at(product.which.name).size() > 1)
      continue;
    product.which = namesakes->second.begin()->second;
    product.identity = case_identity(product);
  }
}

void note_other_matrices(const Namesakes& before, const Namesakes& after, Comparison& comparison) {
  for (const auto& [name, olds] : before) {
    const auto news = after.find(name);
    if (news == after.end()) continue;
    const bool joined = std::any_of(olds.begin(), olds.end(), [&](const auto& each) {
      return news->second.count(each.first) > 0;
    });
    if (joined) continue;
    const auto listed = [](const std::map<std::string, MatrixIdentity>& namesakes) {
      std::string text;
      for (const auto& [key, matrix] : namesakes)
        text += (text.empty() ? "" : ", ") + (matrix.content.empty() ? "unknown" : matrix.content);
      return text;
    };
    comparison.notes.push_back(name + ": is another matrix before (content " + listed(olds) +
                               ") than after (" + listed(news->second) + "), and is not compared");
  }
}

struct Runs {
  std::vector<std::pair<std::string, Run>> ordered;
  std::unordered_map<std::string, Run> by_key;
  std::set<std::string> dtypes;
  std::set<std::string> devices;
};

Runs runs_of(const Results& results, const std::string& contestant) {
  Runs runs;
  for (const Case& product : results.cases) {
    if (product.dtype.empty()) continue;
    for (const Line& line : product.lines) {
      if (!is_chosen(line, contestant)) continue;
      const std::string key = product.identity + "\n" + product.dtype + "\n" + line.name();
      const Run run{&product, &line};
      if (!runs.by_key.insert_or_assign(key, run).second) continue;
      runs.ordered.emplace_back(key, run);
      runs.dtypes.insert(product.dtype);
      runs.devices.insert(product.device);
    }
  }
  return runs;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + (name.empty() ? "unknown" : name);
  return text;
}

/// Throws where two sets differ; where that is allowed, says so.
void require_equal(const std::string& what, const std::set<std::string>& before,
                   const std::set<std::string>& after, bool allowed, Comparison& comparison) {
  if (before == after && (what != "devices" || before.size() == 1)) return;
  const std::string message =
      what + " differ: " + joined(before) + " before, " + joined(after) + " after";
  if (!allowed)
    throw Error(ErrorCode::unsupported, message + "; --any-hardware compares them nevertheless");
  comparison.notes.push_back(message);
}

Quantity change_of(const Quantity& before, const Quantity& after) {
  return before && after ? Quantity(*after / *before) : Quantity();
}

/// By graphs if both sides have them, their floors likewise.
void compare_times(const Run& before, const Run& after, const CompareOptions& options,
                   Difference& difference) {
  const Line& a = *before.line;
  const Line& b = *after.line;
  const auto times = comparable_times(before.product->product, a, b);
  if (!times) {
    difference.change = Change::no_time;
    difference.reason = "no times that compare";
    return;
  }
  difference.before_us = times->own_us;
  difference.after_us = times->other_us;
  difference.ratio = times->other_us / times->own_us;
  const bool graphs = is_sparse(before.product->product) && a.graph_us && b.graph_us;
  const Quantity floor =
      graphs ? change_of(a.floor_us, b.floor_us) : change_of(a.floor_batch_us, b.floor_batch_us);
  if (floor && !options.absolute) difference.over_floor = difference.ratio / *floor;
  const double noise = std::hypot(a.noise.value_or(kUnknownNoise), b.noise.value_or(kUnknownNoise));
  difference.margin = std::max(noise, options.tolerance);
  const double over_floor = difference.over_floor.value_or(difference.ratio);
  const double least = std::min(difference.ratio, over_floor);
  const double most = std::max(difference.ratio, over_floor);
  if (least > 1 + difference.margin) difference.change = Change::slower;
  if (most < 1 / (1 + difference.margin)) difference.change = Change::faster;
}

std::string status_text(const Line& line) {
  return line.message.empty() ? line.status : line.status + ": " + line.message;
}

Difference difference_of(const Run& before, const Run& after, const CompareOptions& options) {
  Difference difference;
  difference.name = shown_name(before);
  if (before.line->ok() && after.line->ok()) {
    compare_times(before, after, options, difference);
  } else if (before.line->ok()) {
    difference.change = Change::failed;
    difference.reason = status_text(*after.line);
  } else if (after.line->ok()) {
    difference.change = Change::repaired;
    difference.reason = "was " + status_text(*before.line);
  } else {
    difference.change = Change::no_time;
    difference.reason = status_text(*after.line);
  }
  return difference;
}

/// Why a case is not there any more, if the file says so.
std::string fate_of(const Case& product, const Results& after) {
  for (const Matrix& matrix : after.matrices)
    if (matrix.which.key() == product.which.key() && matrix.status != "ok")
      return matrix.reason.empty() ? matrix.status : matrix.status + ": " + matrix.reason;
  for (const Case& other : after.cases)
    if (other.dtype.empty() && other.which.key() == product.which.key() && !other.lines.empty())
      return status_text(other.lines.front());
  return "";
}

void add_differences(const Runs& old_runs, const Runs& new_runs, const Results& after,
                     const CompareOptions& options, Comparison& comparison) {
  for (const auto& [key, run] : old_runs.ordered) {
    if (options.any_hardware && new_runs.dtypes.count(run.product->dtype) == 0) continue;
    const auto found = new_runs.by_key.find(key);
    if (found != new_runs.by_key.end()) {
      comparison.differences.push_back(
          difference_of(old_runs.by_key.at(key), found->second, options));
      continue;
    }
    Difference gone;
    gone.name = shown_name(run);
    gone.change = run.line->ok() ? Change::gone : Change::no_time;
    gone.reason = fate_of(*run.product, after);
    comparison.differences.push_back(gone);
  }
  for (const auto& [key, run] : new_runs.ordered) {
    if (old_runs.by_key.count(key) > 0) continue;
    if (options.any_hardware && old_runs.dtypes.count(run.product->dtype) == 0) continue;
    Difference fresh;
    fresh.name = shown_name(run);
    fresh.change = Change::fresh;
    comparison.differences.push_back(fresh);
  }
}

}  // namespace

std::size_t Comparison::count(Change change) const {
  return static_cast<std::size_t>(
      std::count_if(differences.begin(), differences.end(),
                    [change](const Difference& each) { return each.change == change; }));
}

bool Comparison::worse() const {
  return count(Change::gone) + count(Change::failed) + count(Change::slower) > 0;
}

Comparison compare(Results before, Results after, const CompareOptions& options) {
  const Namesakes olds = namesakes_of(before);
  const Namesakes news = namesakes_of(after);
  complete_identities(before, olds, news);
  complete_identities(after, news, olds);
  const Runs old_runs = runs_of(before, options.contestant);
  const Runs new_runs = runs_of(after, options.contestant);
  Comparison comparison;
  for (const auto* notes : {&before.notes, &after.notes})
    comparison.notes.insert(comparison.notes.end(), notes->begin(), notes->end());
  for (const auto& [runs, which] : {std::pair{&old_runs, "first"}, {&new_runs, "second"}})
    if (runs->ordered.empty())
      throw Error(ErrorCode::parse, "the " + std::string(which) + " file has no line of \"" +
                                        options.contestant + "\"; nothing can be compared");
  note_other_matrices(olds, news, comparison);
  require_equal("devices", old_runs.devices, new_runs.devices, options.any_hardware, comparison);
  require_equal("element types", old_runs.dtypes, new_runs.dtypes, options.any_hardware,
                comparison);
  const bool joined_somewhere =
      std::any_of(old_runs.ordered.begin(), old_runs.ordered.end(),
                  [&new_runs](const auto& each) { return new_runs.by_key.count(each.first) > 0; });
  if (!joined_somewhere)
    throw Error(ErrorCode::parse, "no case of \"" + options.contestant +
                                      "\" is in both files; nothing can be compared");
  add_differences(old_runs, new_runs, after, options, comparison);
  return comparison;
}

}  // namespace lanky::report
