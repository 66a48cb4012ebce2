// A graph as PageRank multiplies with it.
#pragma once

#include <cstdint>
#include <lanky/csr.hpp>
#include <vector>

namespace lanky::examples::solvers {

struct Links {
  double damping = 0;                  // d
  CsrMatrix<double> transposed;        // d P^T [n, n]: (j, i) is d / links of i, for each link
  std::vector<std::uint8_t> dangling;  // [n]; 1: node i has no links
};

/// The graph of an adjacency matrix, in which each entry (i, j) is a link from i to j whatever its
/// value. Throws Error: size_mismatch (not square), invalid_argument (no nodes; damping outside
/// [0, 1)).
Links make_links(const CsrMatrix<double>& adjacency, double damping);

/// Sum over the nodes of |G x - x|, G being the Google matrix, in double on the host.
double pagerank_residual(const Links& links, const std::vector<double>& x);

}  // namespace lanky::examples::solvers
