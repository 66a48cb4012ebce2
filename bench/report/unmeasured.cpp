#include "bench/report/unmeasured.hpp"

#include <algorithm>
#include <set>

#include "bench/report/figures.hpp"
#include "bench/report/number_text.hpp"

namespace lanky::report {

namespace {

Unmeasured of_case(const Case& product, const Line* counted) {
  Unmeasured found;
  found.name = product.name;
  if (!product.way.empty()) found.name += " " + product.way;
  found.dtype = product.dtype;
  if (counted == nullptr) {
    found.status = "no line";
    found.reason = "the files have no line of lanky";
    return found;
  }
  found.status = counted->status;
  found.reason = counted->message;
  if (counted->ok()) found.reason = "ok, but the line has no time";
  return found;
}

Unmeasured of_matrix(const Matrix& matrix) {
  Unmeasured found;
  found.name = matrix.name;
  for (const std::string& dtype : matrix.dtypes)
    found.dtype += (found.dtype.empty() ? "" : " ") + dtype;
  found.status = matrix.status;
  found.reason = matrix.reason;
  if (matrix.signal) found.status += ", signal " + fixed(*matrix.signal, 0);
  found.seconds = matrix.seconds;
  found.memory_bytes = matrix.memory_bytes;
  return found;
}

}  // namespace

std::vector<Unmeasured> unmeasured_cases(const Results& results) {
  std::vector<Unmeasured> found;
  std::set<std::string> told;
  for (const Case& product : results.cases) {
    const Line* counted = counted_line(product);
    if (counted != nullptr && time_of(product.product, *counted)) continue;
    found.push_back(of_case(product, counted));
    told.insert(product.which.key());
  }
  for (const Matrix& matrix : results.matrices)
    if (matrix.status != "ok" && told.count(matrix.which.key()) == 0)
      found.push_back(of_matrix(matrix));
  return found;
}

std::vector<RivalFailure> rival_failures(const Results& results) {
  std::vector<RivalFailure> found;
  for (const Case& product : results.cases) {
    for (const Line& line : product.lines) {
      if (line.ok() || line.contestant == kLanky) continue;
      const auto same = std::find_if(found.begin(), found.end(), [&line](const RivalFailure& f) {
        return f.rival == line.name() && f.status == line.status;
      });
      if (same != found.end())
        ++same->cases;
      else
        found.push_back({line.name(), line.status, line.message, 1});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RivalFailure& a, const RivalFailure& b) { return a.cases > b.cases; });
  return found;
}

}  // namespace lanky::report
