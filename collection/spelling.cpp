#include "collection/spelling.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lanky::collection {

namespace {

/// Letters to insert, delete, replace or swap with the next (Damerau, Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::size_t> row = {i + 1};
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t least =
          std::min({above[j] + (a[i] == b[j] ? 0 : 1), above[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        least = std::min(least, before[j - 1] + 1);
      row.push_back(least);
    }
    before = std::exchange(above, std::move(row));
  }
  return above.back();
}

}  // namespace

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string lower = lowered(word);
  std::size_t fewest = std::max<std::size_t>(lower.size() / 3, 1) + 1;
  std::string best;
  for (const std::string& candidate : known) {
    const std::size_t changes = distance(lower, lowered(candidate));
    if (changes >= fewest) continue;
    fewest = changes;
    best = candidate;
  }
  return best.empty() ? "" : "; did you mean " + best + "?";
}

}  // namespace lanky::collection
