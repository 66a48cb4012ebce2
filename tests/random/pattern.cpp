// Patterns are those of the tests and of the generators, and op(A) is sorted by counting.
#include "random/pattern.hpp"

#include <algorithm>
#include <lanky/io.hpp>

#include "core/text.hpp"

namespace lanky::random_cases {

namespace {

using testing::cut_lengths;
using testing::random_lengths;

Pattern pattern_of(CsrMatrix<float> a, std::string text) {
  return {a.rows, a.cols, std::move(a.row_offsets), std::move(a.col_indices), std::move(text)};
}

/// The tests' matrices: random columns, a band, or rows alike.
Pattern of_lengths(const std::vector<std::int64_t>& lengths, Random& random, std::string text) {
  const std::int64_t cols = log_uniform(random, 1, one_in(random, 4) ? 40000 : 400);
  auto a = testing::matrix_of<float>(lengths, cols, random, [](Random&) { return 0.0F; });
  testing::draw_columns(a, random);
  return pattern_of(std::move(a), std::move(text));
}

/// A generator's matrix of about so many entries.
Pattern generated(Random& random, std::int64_t entries) {
  const auto n = [&](std::int64_t of_a_row) {
    return std::max<std::int64_t>(1, entries / of_a_row);
  };
  const auto root = [&](double power, std::int64_t of_a_row) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::pow(static_cast<double>(n(of_a_row)), 1 / power)));
  };
  const std::int64_t span = one_in(random, 2) ? 0 : random_int(random, 1, 3000);
  const std::int64_t of_a_row = random_int(random, 1, 40);
  const std::int64_t cols = one_in(random, 2) ? 0 : log_uniform(random, 1, 100000);
  std::string spec;
  switch (random() % 14) {
    case 0:
      spec = concat("stencil5:", root(2, 5));
      break;
    case 1:
      spec = concat("stencil27:", root(3, 27));
      break;
    case 2:
      spec = concat("fem:", root(3, 243));
      break;
    case 3:
      spec = concat("banded:", n(2 * of_a_row + 1), ":", of_a_row);
      break;
    case 4:
      spec = concat("uniform:", n(of_a_row), ":", of_a_row, ":", cols);
      break;
    case 5:
      spec = concat("rmat:",
                    std::max<std::int64_t>(
                        1, static_cast<std::int64_t>(std::log2(static_cast<double>(n(of_a_row))))),
                    ":", of_a_row);
      break;
    case 6:
      spec = concat("short:", n(2), ":", random_int(random, 0, 4), ":", cols, ":", span);
      break;
    case 7:
      spec = concat("mixed:", n(of_a_row), ":", 2 * of_a_row, ":", cols, ":", span);
      break;
    case 8:
      spec = concat("huge:", n(8), ":", random_int(random, 1, 4), ":", n(2), ":", cols, ":", span);
      break;
    case 9:
      spec = concat("empty:", n(1), ":", random_int(random, 50, 100), ":", cols, ":", span);
      break;
    case 10:
      spec = concat("pareto:", n(8), ":", random_int(random, 1, 8), ":", random_int(random, 1, 45),
                    ":", cols);
      break;
    case 11:
      spec = concat("irregular:", n(of_a_row), ":", of_a_row, ":", random_int(random, 10, 200));
      break;
    case 12:
      spec = concat("diagonal:", n(1));
      break;
    default:
      spec = concat("dense:", root(2, 1), ":", root(2, 2));
  }
  spec += concat(",seed=", random() % 1000000);
  return pattern_of(io::generate<float>(spec), spec);
}

}  // namespace

Pattern draw_pattern(Random& random) {
  const auto share = random() % 1000;
  if (share < 350) return of_lengths(random_lengths(random), random, "random_lengths");
  if (share < 400) {
    const auto piece_most = static_cast<int>(log_uniform(random, 4, 64));
    return of_lengths(cut_lengths(piece_most, random), random, "cut_lengths");
  }
  if (share < 405) return of_lengths(testing::boundary_lengths(), random, "boundary_lengths");
  if (share < 450) {
    const auto scale = static_cast<int>(random_int(random, 1, 11));
    return pattern_of(testing::power_law_matrix<float>(scale, log_uniform(random, 1, 8000), random),
                      "power_law");
  }
  if (share < 560) {  // so few entries that each counts
    std::vector<std::int64_t> lengths(random_int(random, 1, 9));
    for (std::int64_t& length : lengths)
      length = random_int(random, 0, 3);
    return of_lengths(lengths, random, "tiny");
  }
  if (share < 570) {  // one long row, cut and split
    std::vector<std::int64_t> lengths(random_int(random, 1, 5));
    lengths[random() % lengths.size()] = log_uniform(random, 1000, 40000);
    return of_lengths(lengths, random, "long");
  }
  if (share < 980) return generated(random, log_uniform(random, 10, 4000));
  if (share < 998) return generated(random, log_uniform(random, 4000, 60000));
  return generated(random, log_uniform(random, 60000, 1000000));
}

void make_triangle(Pattern& pattern, Random& random) {
  pattern.cols = pattern.rows;
  const bool lower = one_in(random, 2);
  const bool strict = one_in(random, 4);  // without a diagonal
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t i = 0; i < pattern.rows; ++i) {
    for (std::int64_t e = pattern.offsets[i]; e < pattern.offsets[i + 1]; ++e) {
      const std::int64_t room = (lower ? i + 1 : pattern.rows - i) - (strict ? 1 : 0);
      if (room <= 0) continue;
      const std::int64_t step = pattern.columns[e] % room;
      columns.push_back(static_cast<std::int32_t>(lower ? step : i + (strict ? 1 : 0) + step));
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  pattern.columns = std::move(columns);
  pattern.offsets = std::move(offsets);
  pattern.text += lower ? ", lower triangle" : ", upper triangle";
}

Expanded::Expanded(const Pattern& pattern, Symmetry symmetry, Op op)
    : rows(op == Op::none ? pattern.rows : pattern.cols),
      cols(op == Op::none ? pattern.cols : pattern.rows),
      offsets(static_cast<std::size_t>(rows + 1)) {
  struct Entry {
    std::int64_t row;
    std::int64_t column;
    Source source;
  };
  std::vector<Entry> entries;
  const auto place = [&](std::int64_t i, std::int64_t j, Source source) {
    if (op != Op::none) std::swap(i, j);
    if (op == Op::conj_trans) source.conjugated = !source.conjugated;
    entries.push_back({i, j, source});
    ++offsets[static_cast<std::size_t>(i + 1)];
  };
  for (std::int64_t i = 0; i < pattern.rows; ++i) {
    for (std::int64_t e = pattern.offsets[i]; e < pattern.offsets[i + 1]; ++e) {
      const std::int64_t j = pattern.columns[e];
      place(i, j, {e, false, false});
      if (symmetry == Symmetry::general || i == j) continue;
      place(j, i, {e, symmetry == Symmetry::skew_symmetric, symmetry == Symmetry::hermitian});
    }
  }
  for (std::int64_t i = 0; i < rows; ++i)
    offsets[i + 1] += offsets[i];
  columns.resize(entries.size());
  sources_.resize(entries.size());
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  for (const Entry& entry : entries) {
    const auto at = static_cast<std::size_t>(next[entry.row]++);
    columns[at] = static_cast<std::int32_t>(entry.column);
    sources_[at] = entry.source;
  }
}

void Expanded::set_values(const std::vector<std::complex<double>>& values) {
  real.resize(sources_.size());
  imag.resize(sources_.size());
  for (std::size_t e = 0; e < sources_.size(); ++e) {
    const Source& source = sources_[e];
    const std::complex<double> value = values[source.entry];
    real[e] = source.negated ? -value.real() : value.real();
    imag[e] = source.negated != source.conjugated ? -value.imag() : value.imag();
  }
}

}  // namespace lanky::random_cases
