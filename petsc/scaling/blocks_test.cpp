// The blocks that kernels.cpp makes from a local box alone against those that follow from the rows
// of the whole matrix, as MPIAIJ splits them: the same entries in the same places, for all ranks.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "local_stencil.hpp"
#include "stencil.hpp"

namespace {

using namespace lanky_scaling;

/// Whether both blocks of one rank have the columns of its rows; ghosts are numbered in order.
bool agrees(const Stencil& stencil, PetscInt rank) {
  const Rows rows = make_rows(stencil, rank);
  const PetscInt end = rows.first + stencil.rows(rank);
  const auto is_ghost = [&](PetscInt column) { return column < rows.first || column >= end; };
  std::vector<PetscInt> ghosts;
  std::copy_if(rows.columns.begin(), rows.columns.end(), std::back_inserter(ghosts), is_ghost);
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());

  const Triple low = stencil.begin(rank), high = stencil.end(rank);
  LocalBox box;
  box.unknowns = stencil.unknowns;
  for (std::size_t d = 0; d < 3; ++d) {
    box.size[d] = high[d] - low[d];
    box.below[d] = low[d] > 0;
    box.above[d] = high[d] < stencil.points[d];
  }
  const HostCsr blocks[] = {make_block(box, true), make_block(box, false)};
  if (blocks[1].cols != static_cast<std::int64_t>(ghosts.size())) return false;
  std::int32_t at[] = {0, 0};
  for (PetscInt row = 0; row < stencil.rows(rank); ++row) {
    for (PetscInt k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
      const PetscInt column = rows.columns[k];
      const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), column) - ghosts.begin();
      const bool outside = is_ghost(column);
      if (blocks[outside].columns[at[outside]++] != (outside ? ghost : column - rows.first)) {
        return false;
      }
    }
    for (int k = 0; k < 2; ++k) {
      if (blocks[k].offsets[row + 1] != at[k]) return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  for (const Triple& grid : {Triple{1, 1, 1}, Triple{3, 3, 3}, Triple{2, 2, 1}, Triple{1, 3, 2}}) {
    for (const PetscInt unknowns : {1, 3}) {
      const Stencil stencil = {{3 * grid[0], 4 * grid[1], 5 * grid[2]}, grid, true, unknowns};
      for (PetscInt rank = 0; rank < grid[0] * grid[1] * grid[2]; ++rank) {
        if (!agrees(stencil, rank)) {
          std::printf("rank %d of %d x %d x %d, %d unknowns a node, has other blocks\n",
                      static_cast<int>(rank), static_cast<int>(grid[0]), static_cast<int>(grid[1]),
                      static_cast<int>(grid[2]), static_cast<int>(unknowns));
          return 1;
        }
      }
    }
  }
  return 0;
}
