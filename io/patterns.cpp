#include "io/patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "io/memory_limit.hpp"

namespace lanky::inline v1::io {

namespace {

using Columns = std::vector<std::int32_t>;
using Values = std::span<const std::int64_t>;

constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostRows = std::int64_t{1} << 40;

void append(Columns& columns, std::int64_t col) {
  columns.push_back(static_cast<std::int32_t>(col));
}

/// Every column with equal probability, in ascending order: takes column j with probability
/// (still wanted) / (still there).
void append_by_selection(RowRandom& random, std::int64_t count, std::int64_t cols,
                         Columns& columns) {
  for (std::int64_t j = 0; j < cols && count > 0; ++j) {
    if (random.below(cols - j) < count) {
      append(columns, j);
      --count;
    }
  }
}

/// `count` distinct columns of 0..cols-1, uniformly, ascending.
void append_distinct(RowRandom& random, std::int64_t count, std::int64_t cols, Columns& columns) {
  count = std::min(count, cols);
  if (count > cols / 8) return append_by_selection(random, count, cols, columns);
  const auto begin = static_cast<std::ptrdiff_t>(columns.size());
  while (static_cast<std::ptrdiff_t>(columns.size()) - begin < count) {
    while (static_cast<std::ptrdiff_t>(columns.size()) - begin < count)
      append(columns, random.below(cols));
    std::sort(columns.begin() + begin, columns.end());
    columns.erase(std::unique(columns.begin() + begin, columns.end()), columns.end());
  }
}

/// a * b for a, b >= 0, or a number that is beyond every limit.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

/// A grid of nx * ny * nz points, x fastest; one row a point.
struct Grid {
  std::int64_t nx, ny, nz;

  std::int64_t points() const { return product(product(nx, ny), nz); }

  /// visit(point) for each neighbour that `reach(dx, dy, dz)` admits, ascending.
  template <class Reach, class Visit>
  void neighbours(std::int64_t point, Reach reach, Visit visit) const {
    const std::int64_t x = point % nx;
    const std::int64_t y = point / nx % ny;
    const std::int64_t z = point / nx / ny;
    for (int dz = -1; dz <= 1; ++dz) {
      if (z + dz < 0 || z + dz >= nz) continue;
      for (int dy = -1; dy <= 1; ++dy) {
        if (y + dy < 0 || y + dy >= ny) continue;
        for (int dx = -1; dx <= 1; ++dx) {
          if (x + dx < 0 || x + dx >= nx || !reach(dx, dy, dz)) continue;
          visit(((z + dz) * ny + y + dy) * nx + x + dx);
        }
      }
    }
  }
};

bool along_axes(int dx, int dy, int dz) {
  return dx * dx + dy * dy + dz * dz <= 1;
}
bool everywhere(int /*dx*/, int /*dy*/, int /*dz*/) {
  return true;
}

template <class Reach>
Pattern stencil(Grid grid, Reach reach) {
  return {grid.points(), grid.points(),
          [grid, reach](std::int64_t row, RowRandom& /*random*/, Columns& columns) {
            grid.neighbours(row, reach, [&](std::int64_t point) { append(columns, point); });
          }};
}

/// Extents of a grid; those that are 0 equal the first.
Grid box(Values v) {
  return {v[0], v[1] == 0 ? v[0] : v[1], v[2] == 0 ? v[0] : v[2]};
}

Pattern make_stencil5(Values v) {
  return stencil({v[0], v[1] == 0 ? v[0] : v[1], 1}, along_axes);
}
Pattern make_stencil7(Values v) {
  return stencil(box(v), along_axes);
}
Pattern make_stencil27(Values v) {
  return stencil(box(v), everywhere);
}

Pattern make_fem(Values v) {
  const Grid grid = box(v);
  constexpr std::int64_t kUnknowns = 3;  // a node
  const std::int64_t n = product(kUnknowns, grid.points());
  return {n, n, [grid](std::int64_t row, RowRandom& /*random*/, Columns& columns) {
            grid.neighbours(row / kUnknowns, everywhere, [&](std::int64_t node) {
              for (std::int64_t d = 0; d < kUnknowns; ++d)
                append(columns, kUnknowns * node + d);
            });
          }};
}

/// An unstructured mesh, numbered plane by plane: each node has up to 29 neighbours, near itself,
/// near its place in the plane before and in the plane after. All unknowns of neighbours are
/// coupled.
Pattern make_mesh(Values v) {
  constexpr std::int64_t kNear = 32;
  constexpr std::int64_t kLargestPlane = 3000;
  const std::int64_t nodes = v[0];
  const std::int64_t unknowns = v[1];
  std::int64_t side = 1;  // of a cube of as many nodes
  while (side * side < kLargestPlane && (side + 1) * (side + 1) * (side + 1) <= nodes)
    ++side;
  const std::int64_t plane = std::min(side * side, kLargestPlane);
  const std::int64_t n = product(unknowns, nodes);
  const auto draw = [=](std::int64_t row, RowRandom& random, Columns& columns) {
    const std::int64_t node = row / unknowns;
    const std::int64_t drawn = 11 + random.below(19);
    Columns neighbours;
    append(neighbours, node);
    for (std::int64_t k = 0; k < drawn; ++k) {
      const std::int64_t middle = node + (random.below(3) - 1) * plane;
      const std::int64_t neighbour = middle + random.below(2 * kNear + 1) - kNear;
      if (neighbour >= 0 && neighbour < nodes) append(neighbours, neighbour);
    }
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    for (const std::int32_t neighbour : neighbours) {
      for (std::int64_t d = 0; d < unknowns; ++d)
        append(columns, unknowns * neighbour + d);
    }
  };
  return {n, n, draw, unknowns};
}

Pattern make_banded(Values v) {
  const std::int64_t n = v[0];
  const std::int64_t half = v[1];
  return {n, n, [n, half](std::int64_t row, RowRandom& /*random*/, Columns& columns) {
            const std::int64_t end = std::min(n, row + half + 1);
            for (std::int64_t j = std::max<std::int64_t>(0, row - half); j < end; ++j)
              append(columns, j);
          }};
}

/// Rows whose lengths `length(row, random)` are filled with distinct columns, uniformly from those
/// within `span` of the diagonal (of a matrix scaled to be square), as many as there are; from all
/// columns where span is 0, and for rows that are longer than 2 span + 1.
template <class Length>
Pattern scattered(std::int64_t rows, std::int64_t cols, std::int64_t span, Length length) {
  return {rows, cols, [=](std::int64_t row, RowRandom& random, Columns& columns) {
            const std::int64_t count = length(row, random);
            if (span == 0 || count > 2 * span + 1)
              return append_distinct(random, count, cols, columns);
            const auto scale = static_cast<double>(cols) / static_cast<double>(rows);
            const auto middle = static_cast<std::int64_t>(static_cast<double>(row) * scale);
            const std::int64_t first = std::max<std::int64_t>(0, middle - span);
            append_distinct(random, count, std::min(cols, middle + span + 1) - first, columns);
            for (std::int32_t& column : columns)
              column += static_cast<std::int32_t>(first);
          }};
}

std::int64_t or_equal(std::int64_t cols, std::int64_t rows) {
  return cols == 0 ? rows : cols;
}

Pattern make_uniform(Values v) {
  const std::int64_t count = v[1];
  return scattered(v[0], or_equal(v[2], v[0]), 0, [count](auto, RowRandom&) { return count; });
}

Pattern make_band(Values v) {
  const std::int64_t count = std::min(v[2], 2 * v[1] + 1);
  return scattered(v[0], v[0], v[1], [count](auto, RowRandom&) { return count; });
}

Pattern make_short(Values v) {
  const std::int64_t length = v[1];
  return scattered(v[0], or_equal(v[2], v[0]), v[3], [length](auto, RowRandom& random) {
    return length == 0 ? 1 + random.below(4) : length;
  });
}

Pattern make_mixed(Values v) {
  const std::int64_t most = v[1];
  return scattered(v[0], or_equal(v[2], v[0]), v[3],
                   [most](auto, RowRandom& random) { return random.below(most + 1); });
}

/// `count` rows at equal distances are huge, the others have 1..4 entries.
Pattern make_huge(Values v) {
  const std::int64_t rows = v[0];
  const std::int64_t cols = or_equal(v[3], rows);
  const std::int64_t count = std::min(v[1], rows);
  const std::int64_t length = v[2] == 0 ? (cols + 1) / 2 : v[2];
  const std::int64_t distance = count == 0 ? 0 : rows / count;
  return scattered(rows, cols, v[4], [=](std::int64_t row, RowRandom& random) {
    const bool huge = count > 0 && row % distance == 0 && row / distance < count;
    return huge ? length : 1 + random.below(4);
  });
}

Pattern make_empty(Values v) {
  const std::int64_t percent = v[1];
  return scattered(v[0], or_equal(v[2], v[0]), v[3], [percent](auto, RowRandom& random) {
    return random.below(100) < percent ? 0 : 1 + random.below(16);
  });
}

/// Rows of `least` to 2 least - 1 entries, lengthened by a factor of 2 with `tail` % chance, again
/// and again, up to half of the columns: as good as a Pareto distribution, in whole numbers.
/// Columns are drawn from all or, with `hubs` % chance, from half of those, again and again.
Pattern make_pareto(Values v) {
  const std::int64_t cols = or_equal(v[3], v[0]);
  return {v[0], cols,
          [=, least = v[1], tail = v[2], hubs = v[4]](auto, RowRandom& random, Columns& columns) {
            std::int64_t length = least + random.below(least);
            while (4 * length <= cols && random.below(100) < tail)
              length *= 2;
            const auto begin = static_cast<std::ptrdiff_t>(columns.size());
            for (std::int64_t k = 0; k < length; ++k) {
              std::int64_t range = cols;
              while (range > 1 && random.below(100) < hubs)
                range /= 2;
              append(columns, random.below(range));
            }
            std::sort(columns.begin() + begin, columns.end());
            columns.erase(std::unique(columns.begin() + begin, columns.end()), columns.end());
          }};
}

/// median * 2^(z deviation / 100), z of a normal distribution (twelve uniform numbers), in
/// sixteenths of an octave: products of exact constants, so equal on every machine.
double log_normal(RowRandom& random, std::int64_t median, std::int64_t deviation) {
  constexpr std::array<double, 4> kRoots = {1.4142135623730951, 1.1892071150027210,
                                            1.0905077326652577, 1.0442737824274138};
  constexpr std::int64_t kUniform = 1 << 16;
  std::int64_t z = -6 * kUniform;
  for (int i = 0; i < 12; ++i)
    z += random.below(kUniform);
  const std::int64_t sixteenths = z * deviation * 16 / 100 / kUniform + 16 * 64;  // above 0
  double length = std::ldexp(static_cast<double>(median), static_cast<int>(sixteenths / 16) - 64);
  for (std::size_t bit = 0; bit < kRoots.size(); ++bit) {
    if ((sixteenths >> (3 - bit) & 1) != 0) length *= kRoots[bit];
  }
  return length;
}

/// Rows of log-normal lengths; each column is drawn within `span` of the diagonal with `near` %
/// chance, otherwise from all or, as in make_pareto, from hubs. An adversary for choices by
/// classes: lengths, places and extents vary independently of each other.
Pattern make_irregular(Values v) {
  const std::int64_t rows = v[0];
  const std::int64_t cols = or_equal(v[3], rows);
  return {rows, cols,
          [=, median = v[1], deviation = v[2], span = v[4], near = v[5], hubs = v[6]](
              std::int64_t row, RowRandom& random, Columns& columns) {
            const double drawn = log_normal(random, median, deviation) + random.fraction();
            const std::int64_t most = (cols + 1) / 2;
            const auto length =
                static_cast<std::int64_t>(std::min(drawn, static_cast<double>(most)));
            const auto scale = static_cast<double>(cols) / static_cast<double>(rows);
            const auto middle = static_cast<std::int64_t>(static_cast<double>(row) * scale);
            const std::int64_t first = std::max<std::int64_t>(0, middle - span);
            const std::int64_t reach = std::min(cols, middle + span + 1) - first;
            const auto begin = static_cast<std::ptrdiff_t>(columns.size());
            for (std::int64_t k = 0; k < length; ++k) {
              std::int64_t range = cols;
              if (random.below(100) < near) {
                append(columns, first + random.below(reach));
                continue;
              }
              while (range > 1 && random.below(100) < hubs)
                range /= 2;
              append(columns, random.below(range));
            }
            std::sort(columns.begin() + begin, columns.end());
            columns.erase(std::unique(columns.begin() + begin, columns.end()), columns.end());
          }};
}

Pattern make_diagonal(Values v) {
  return {v[0], v[0],
          [](std::int64_t row, RowRandom& /*random*/, Columns& columns) { append(columns, row); }};
}

Pattern make_dense(Values v) {
  const std::int64_t cols = or_equal(v[1], v[0]);
  return {v[0], cols, [cols](std::int64_t /*row*/, RowRandom& /*random*/, Columns& columns) {
            columns.resize(static_cast<std::size_t>(cols));
            std::iota(columns.begin(), columns.end(), 0);
          }};
}

/// R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004) with Graph500's probabilities, drawn row by
/// row: given the bits of the row, each bit of a column is independent of the others, and the
/// expected degree is the product of the probabilities of the row's bits.
Pattern make_rmat(Values v) {
  constexpr double kRowZero = 0.76;  // a + b = 0.57 + 0.19
  // Probability that a bit of the column is 1, given that of the row, in units of 2^-32.
  constexpr std::uint32_t kOneAfterZero = 1'073'741'824;  // b / (a + b) = 0.25
  constexpr std::uint32_t kOneAfterOne = 894'784'853;     // d / (c + d) = 0.05 / 0.24
  const int scale = static_cast<int>(v[0]);
  const std::int64_t n = std::int64_t{1} << scale;
  const double entries = static_cast<double>(n) * static_cast<double>(v[1]);
  const auto degree = [=](std::int64_t row) {
    double product = entries;
    for (int bit = 0; bit < scale; ++bit)
      product *= ((row >> bit) & 1) == 0 ? kRowZero : 1 - kRowZero;
    return product;
  };
  MemoryLimit(sizeof(std::int32_t), "row 0 of an R-MAT graph")
      .check(static_cast<std::int64_t>(degree(0)));
  return {n, n,
          [=](std::int64_t row, RowRandom& random, Columns& columns) {
            const auto drawn = static_cast<std::int64_t>(degree(row) + random.fraction());
            const auto begin = static_cast<std::ptrdiff_t>(columns.size());
            for (std::int64_t k = 0; k < drawn; ++k) {
              std::int64_t col = 0;
              std::uint64_t word = 0;  // gives two bits of the column
              for (int bit = 0; bit < scale; ++bit, word >>= 32) {
                if (bit % 2 == 0) word = random.bits();
                const std::uint32_t one = ((row >> bit) & 1) == 0 ? kOneAfterZero : kOneAfterOne;
                col |= std::int64_t{static_cast<std::uint32_t>(word) < one} << bit;
              }
              append(columns, col);
            }
            std::sort(columns.begin() + begin, columns.end());
            columns.erase(std::unique(columns.begin() + begin, columns.end()), columns.end());
          },
          1, entries};
}

constexpr std::int64_t kRequired = Parameter::kRequired;

}  // namespace

const std::vector<Generator>& generators() {
  const Parameter nx{"nx", kRequired, 1, kMostColumns};
  const Parameter ny{"ny", 0, 0, kMostColumns};
  const Parameter nz{"nz", 0, 0, kMostColumns};
  const Parameter rows{"rows", kRequired, 0, kMostRows};
  const Parameter n{"n", kRequired, 0, kMostColumns};
  const Parameter cols{"cols", 0, 0, kMostColumns};
  const Parameter span{"span", 0, 0, kMostColumns};
  static const std::vector<Generator> table = {
      {"stencil5", {nx, ny}, "2-D grid, 5 points; ny 0: as nx", make_stencil5},
      {"stencil7", {nx, ny, nz}, "3-D grid, 7 points; ny, nz 0: as nx", make_stencil7},
      {"stencil27", {nx, ny, nz}, "3-D grid, 27 points; ny, nz 0: as nx", make_stencil27},
      {"fem", {nx, ny, nz}, "3-D grid, 27 nodes of 3 unknowns: up to 81 a row", make_fem},
      {"mesh",
       {{"nodes", kRequired, 1, kMostColumns}, {"unknowns", 1, 1, 16}},
       "unstructured 3-D mesh: up to 30 nodes of `unknowns` a row",
       make_mesh},
      {"banded",
       {n, {"half_width", 5, 0, kMostColumns}},
       "all columns within half_width of the diagonal",
       make_banded},
      {"band",
       {n, {"half_width", 1000, 0, kMostColumns}, {"per_row", 16, 0, kMostColumns}},
       "per_row random columns near the diagonal",
       make_band},
      {"uniform",
       {rows, {"per_row", 16, 0, kMostColumns}, cols},
       "per_row random columns in each row; cols 0: as rows",
       make_uniform},
      {"rmat",
       {{"scale", kRequired, 0, 30}, {"per_row", 16, 0, 1 << 20}},
       "power law: R-MAT graph of 2^scale vertices, about per_row a row",
       make_rmat},
      {"short",
       {rows, {"length", 0, 0, 4}, cols, span},
       "rows of exactly `length`; 0: of 1..4, mixed",
       make_short},
      {"mixed",
       {rows, {"most", 64, 0, kMostColumns - 1}, cols, span},
       "rows of 0..most entries",
       make_mixed},
      {"huge",
       {rows, {"count", 4, 0, kMostRows}, {"length", 0, 0, kMostColumns}, cols, span},
       "`count` rows of `length` (0: half), others of 1..4",
       make_huge},
      {"empty",
       {rows, {"percent", 90, 0, 100}, cols, span},
       "`percent` % of the rows empty, others of 1..16",
       make_empty},
      {"pareto",
       {rows, {"least", 2, 1, 1 << 20}, {"tail", 40, 0, 99}, cols, {"hubs", 0, 0, 99}},
       "rows of `least` or more, doubled with `tail` % chance, repeatedly",
       make_pareto},
      {"irregular",
       {rows,
        {"median", 8, 1, 1 << 20},
        {"deviation", 100, 0, 400},
        cols,
        span,
        {"near", 0, 0, 100},
        {"hubs", 0, 0, 99}},
       "log-normal rows, `near` % within span",
       make_irregular},
      {"diagonal", {n}, "one entry a row, on the diagonal", make_diagonal},
      {"dense", {rows, cols}, "every entry; cols 0: as rows", make_dense},
  };
  return table;
}

}  // namespace lanky::inline v1::io
