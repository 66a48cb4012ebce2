// A stencil on a box of nodes, 27 or 7 points wide, as a matrix of PETSc: the box is split into a
// grid of boxes, one a rank, whose nodes are numbered rank by rank, x fastest, as a DMDA does. With
// several unknowns a node, all of a node are coupled with all of its neighbours, as by finite
// elements.
#pragma once

#include <petscmat.h>

#include <algorithm>
#include <array>
#include <vector>

namespace lanky_scaling {

using Triple = std::array<PetscInt, 3>;

/// The first of `points` that part `part` of `parts` owns: sizes differ by one, larger ones first.
inline PetscInt part_begin(PetscInt points, PetscInt parts, PetscInt part) {
  return part * (points / parts) + std::min(part, points % parts);
}

inline PetscInt part_of(PetscInt points, PetscInt parts, PetscInt point) {
  const PetscInt small = points / parts, large = points % parts;
  const PetscInt first_small = large * (small + 1);
  return point < first_small ? point / (small + 1) : large + (point - first_small) / small;
}

struct Stencil {
  Triple points{};        // of the whole box
  Triple grid{};          // boxes along x, y, z; their product is the number of ranks
  bool corners = true;    // 27 points; otherwise 7
  PetscInt unknowns = 1;  // of each node

  Triple begin(PetscInt rank) const {
    const Triple place = {rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]};
    Triple result{};
    for (int d = 0; d < 3; ++d)
      result[d] = part_begin(points[d], grid[d], place[d]);
    return result;
  }
  Triple end(PetscInt rank) const {
    const Triple place = {rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]};
    Triple result{};
    for (int d = 0; d < 3; ++d)
      result[d] = part_begin(points[d], grid[d], place[d] + 1);
    return result;
  }
  PetscInt rows(PetscInt rank) const {
    const Triple low = begin(rank), high = end(rank);
    return (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]) * unknowns;
  }
};

/// Boxes along x, y and z, of all ways to have one a rank one with the fewest nodes on the faces
/// between them: process_grid() of messages.py.
inline Triple process_grid(PetscInt ranks, const Triple& points) {
  Triple best{};
  PetscInt fewest = -1;
  for (PetscInt x = ranks; x >= 1; --x) {
    for (PetscInt y = ranks / x; y >= 1; --y) {
      if (ranks % (x * y) != 0) continue;
      const Triple grid = {x, y, ranks / (x * y)};
      PetscInt faces = 0;
      for (int d = 0; d < 3; ++d)
        faces += (grid[d] - 1) * points[(d + 1) % 3] * points[(d + 2) % 3];
      if (fewest < 0 || faces < fewest) {
        fewest = faces;
        best = grid;
      }
    }
  }
  return best;
}

/// The rows of one rank: columns are global and ascending within a row.
struct Rows {
  std::vector<PetscInt> offsets = {0};  // [rows + 1]
  std::vector<PetscInt> columns{};      // [nnz]
  std::vector<PetscScalar> values{};    // [nnz]
  PetscInt first = 0;                   // global number of the first row
};

/// Values are those of a Laplacian with Dirichlet boundaries, and `shift` on the diagonal: the
/// matrix is positive definite.
inline Rows make_rows(const Stencil& stencil, PetscInt rank, double shift = 0) {
  const PetscInt ranks = stencil.grid[0] * stencil.grid[1] * stencil.grid[2];
  const PetscInt unknowns = stencil.unknowns;
  std::vector<PetscInt> row_begin(ranks + 1, 0);
  for (PetscInt r = 0; r < ranks; ++r)
    row_begin[r + 1] = row_begin[r] + stencil.rows(r);
  // For each coordinate along each dimension: which box it is in, where, and how long that is.
  std::vector<Triple> along[3];
  for (int d = 0; d < 3; ++d) {
    for (PetscInt point = 0; point < stencil.points[d]; ++point) {
      const PetscInt place = part_of(stencil.points[d], stencil.grid[d], point);
      const PetscInt low = part_begin(stencil.points[d], stencil.grid[d], place);
      along[d].push_back(
          {place, point - low, part_begin(stencil.points[d], stencil.grid[d], place + 1) - low});
    }
  }
  const auto first_row_of = [&](const Triple& node) {
    const Triple &x = along[0][node[0]], &y = along[1][node[1]], &z = along[2][node[2]];
    const PetscInt owner = x[0] + stencil.grid[0] * (y[0] + stencil.grid[1] * z[0]);
    return row_begin[owner] + unknowns * (x[1] + x[2] * (y[1] + y[2] * z[1]));
  };

  const double points = stencil.corners ? 27 : 7;
  Rows result;
  result.first = row_begin[rank];
  result.columns.reserve(stencil.rows(rank) * unknowns * static_cast<PetscInt>(points));
  result.values.reserve(result.columns.capacity());
  const Triple low = stencil.begin(rank), high = stencil.end(rank);
  std::vector<PetscInt> neighbours;
  Triple node{};
  for (node[2] = low[2]; node[2] < high[2]; ++node[2]) {
    for (node[1] = low[1]; node[1] < high[1]; ++node[1]) {
      for (node[0] = low[0]; node[0] < high[0]; ++node[0]) {
        neighbours.clear();
        for (PetscInt k = 0; k < 27; ++k) {
          const Triple step = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
          const PetscInt distance = std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]);
          if (!stencil.corners && distance > 1) continue;
          const Triple other = {node[0] + step[0], node[1] + step[1], node[2] + step[2]};
          bool inside = true;
          for (int d = 0; d < 3; ++d) {
            inside = inside && other[d] >= 0 && other[d] < stencil.points[d];
          }
          if (inside) neighbours.push_back(first_row_of(other));
        }
        std::sort(neighbours.begin(), neighbours.end());
        const PetscInt own = first_row_of(node);
        for (PetscInt row = own; row < own + unknowns; ++row) {
          for (const PetscInt first : neighbours) {
            for (PetscInt column = first; column < first + unknowns; ++column) {
              result.columns.push_back(column);
              result.values.push_back(column != row ? -1.0 : points * unknowns - 1 + shift);
            }
          }
          result.offsets.push_back(static_cast<PetscInt>(result.columns.size()));
        }
      }
    }
  }
  return result;
}

/// A square matrix on `comm` of these rows, of the type that the options name (-mat_type, aij
/// without it).
inline PetscErrorCode create_matrix(MPI_Comm comm, const Rows& own, Mat* result) {
  Mat matrix = nullptr;
  PetscFunctionBeginUser;
  const auto rows = static_cast<PetscInt>(own.offsets.size()) - 1;
  PetscCall(MatCreate(comm, &matrix));
  PetscCall(MatSetSizes(matrix, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(matrix, MATAIJ));
  PetscCall(MatSetFromOptions(matrix));
  PetscCall(MatSeqAIJSetPreallocationCSR(matrix, own.offsets.data(), own.columns.data(),
                                         own.values.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(matrix, own.offsets.data(), own.columns.data(),
                                         own.values.data()));
  *result = matrix;
  PetscFunctionReturn(0);
}

inline PetscErrorCode create_matrix(MPI_Comm comm, const Stencil& stencil, Mat* result) {
  PetscMPIInt rank = 0, ranks = 1;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCheck(stencil.grid[0] * stencil.grid[1] * stencil.grid[2] == ranks, comm, PETSC_ERR_ARG_SIZ,
             "the grid has not as many boxes as there are ranks");
  PetscCall(create_matrix(comm, make_rows(stencil, rank), result));
  PetscFunctionReturn(0);
}

/// Reads -points X,Y,Z, -grid X,Y,Z and -stencil 27|7.
inline PetscErrorCode read_options(Stencil* stencil) {
  PetscInt width = 27, three = 3;
  PetscFunctionBeginUser;
  stencil->grid = {1, 1, 1};
  PetscCall(PetscOptionsGetIntArray(nullptr, nullptr, "-points", stencil->points.data(), &three,
                                    nullptr));
  three = 3;
  PetscCall(
      PetscOptionsGetIntArray(nullptr, nullptr, "-grid", stencil->grid.data(), &three, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-stencil", &width, nullptr));
  PetscCheck(width == 27 || width == 7, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-stencil is 27 or 7");
  stencil->corners = width == 27;
  PetscFunctionReturn(0);
}

}  // namespace lanky_scaling
