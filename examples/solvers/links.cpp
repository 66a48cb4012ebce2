#include "examples/solvers/links.hpp"

#include <cmath>
#include <sstream>

#include "examples/solvers/matrix.hpp"

namespace lanky::examples::solvers {

Links make_links(const CsrMatrix<double>& adjacency, double damping) {
  check_square(adjacency, "PageRank");
  if (adjacency.rows == 0) throw Error(ErrorCode::invalid_argument, "the graph has no nodes");
  if (!(damping >= 0 && damping < 1)) {
    std::ostringstream message;
    message << "the damping factor is " << damping << "; it must be at least 0 and below 1";
    throw Error(ErrorCode::invalid_argument, message.str());
  }
  const auto n = static_cast<std::size_t>(adjacency.rows);
  const std::vector<std::int64_t>& offsets = adjacency.row_offsets;
  Links links{damping, {}, std::vector<std::uint8_t>(n, 0)};
  CsrMatrix<double>& t = links.transposed;
  t.rows = adjacency.cols;
  t.cols = adjacency.rows;
  t.row_offsets.assign(n + 1, 0);
  t.col_indices.resize(adjacency.col_indices.size());
  t.values.resize(adjacency.col_indices.size());
  for (const std::int32_t column : adjacency.col_indices)
    ++t.row_offsets[static_cast<std::size_t>(column) + 1];
  for (std::size_t i = 0; i < n; ++i)
    t.row_offsets[i + 1] += t.row_offsets[i];
  std::vector<std::int64_t> next(t.row_offsets.begin(), t.row_offsets.end() - 1);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t count = offsets[i + 1] - offsets[i];
    if (count == 0) links.dangling[i] = 1;
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const auto j = static_cast<std::size_t>(adjacency.col_indices[static_cast<std::size_t>(k)]);
      const auto at = static_cast<std::size_t>(next[j]++);
      t.col_indices[at] = static_cast<std::int32_t>(i);
      t.values[at] = damping / static_cast<double>(count);
    }
  }
  return links;
}

double pagerank_residual(const Links& links, const std::vector<double>& x) {
  double dangling = 0;
  double all = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    all += x[i];
    if (links.dangling[i] != 0) dangling += x[i];
  }
  const double base = (all * (1 - links.damping) + links.damping * dangling) /
                      static_cast<double>(links.dangling.size());
  const std::vector<double> y = multiply(links.transposed, x);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += std::abs(y[i] + base - x[i]);
  return sum;
}

}  // namespace lanky::examples::solvers
