// A stencil on a box of nodes, 27 or 7 points wide, as a matrix of PETSc: the box is split into a
// grid of boxes, one a rank, whose nodes are numbered rank by rank, x fastest, as a DMDA does.
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
  Triple points{};      // of the whole box
  Triple grid{};        // boxes along x, y, z; their product is the number of ranks
  bool corners = true;  // 27 points; otherwise 7

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
    return (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
  }
};

/// The rows of one rank: columns are global and ascending within a row.
struct Rows {
  std::vector<PetscInt> offsets = {0};  // [rows + 1]
  std::vector<PetscInt> columns{};      // [nnz]
  std::vector<PetscScalar> values{};    // [nnz]
  PetscInt first = 0;                   // global number of the first row
};

/// Values are those of a Laplacian with Dirichlet boundaries: the matrix is positive definite.
inline Rows make_rows(const Stencil& stencil, PetscInt rank) {
  const PetscInt ranks = stencil.grid[0] * stencil.grid[1] * stencil.grid[2];
  std::vector<PetscInt> row_begin(ranks + 1, 0);
  for (PetscInt r = 0; r < ranks; ++r)
    row_begin[r + 1] = row_begin[r] + stencil.rows(r);
  const auto index = [&](const Triple& node) {
    Triple place{}, inside{}, size{};
    for (int d = 0; d < 3; ++d) {
      place[d] = part_of(stencil.points[d], stencil.grid[d], node[d]);
      const PetscInt low = part_begin(stencil.points[d], stencil.grid[d], place[d]);
      inside[d] = node[d] - low;
      size[d] = part_begin(stencil.points[d], stencil.grid[d], place[d] + 1) - low;
    }
    const PetscInt owner = place[0] + stencil.grid[0] * (place[1] + stencil.grid[1] * place[2]);
    return row_begin[owner] + inside[0] + size[0] * (inside[1] + size[1] * inside[2]);
  };

  Rows result;
  result.first = row_begin[rank];
  result.columns.reserve(stencil.rows(rank) * (stencil.corners ? 27 : 7));
  result.values.reserve(result.columns.capacity());
  const Triple low = stencil.begin(rank), high = stencil.end(rank);
  Triple node{};
  for (node[2] = low[2]; node[2] < high[2]; ++node[2]) {
    for (node[1] = low[1]; node[1] < high[1]; ++node[1]) {
      for (node[0] = low[0]; node[0] < high[0]; ++node[0]) {
        auto& columns = result.columns;
        const std::size_t row = columns.size();
        for (PetscInt k = 0; k < 27; ++k) {
          const Triple step = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
          const PetscInt distance = std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]);
          if (!stencil.corners && distance > 1) continue;
          const Triple other = {node[0] + step[0], node[1] + step[1], node[2] + step[2]};
          bool inside = true;
          for (int d = 0; d < 3; ++d) {
            inside = inside && other[d] >= 0 && other[d] < stencil.points[d];
          }
          if (inside) columns.push_back(index(other));
        }
        std::sort(columns.begin() + static_cast<std::ptrdiff_t>(row), columns.end());
        const PetscInt own = index(node);
        for (std::size_t k = row; k < columns.size(); ++k) {
          result.values.push_back(columns[k] != own ? -1.0 : stencil.corners ? 26.0 : 6.0);
        }
        result.offsets.push_back(static_cast<PetscInt>(columns.size()));
      }
    }
  }
  return result;
}

/// The matrix on `comm`, of the type that the options name (-mat_type, aij without it).
inline PetscErrorCode create_matrix(MPI_Comm comm, const Stencil& stencil, Mat* result) {
  PetscMPIInt rank = 0, ranks = 1;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCheck(stencil.grid[0] * stencil.grid[1] * stencil.grid[2] == ranks, comm, PETSC_ERR_ARG_SIZ,
             "the grid has not as many boxes as there are ranks");
  const PetscInt rows = stencil.rows(rank);
  const Rows own = make_rows(stencil, rank);
  Mat matrix = nullptr;
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
