// Times MatMult and conjugate gradients of a stencil on all ranks, or what a model needs to predict
// them. check.py runs it and compares. Times are in microseconds, medians of batches.
//
//   mpirun -n R lanky_petsc_check -points 128,128,128 -grid 2,2,2         MatMult, an iteration
//   mpirun -n 2 lanky_petsc_check -kernels -points .. -grid 2,2,2         the ranks' kernels alone
//   mpirun -n 2 lanky_petsc_check -ping_pong                              messages
#include <petscksp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "measuring.hpp"
#include "stencil.hpp"

namespace {

using lanky_scaling::median;
using lanky_scaling::now_us;
using lanky_scaling::Stencil;

/// Microseconds from the first rank's start to the last one's end. (Ranks leave a barrier one after
/// the other where they share cores, so that no rank's own clock tells how long all took.)
template <class Run>
double elapsed_us(Run run) {
  MPI_Barrier(PETSC_COMM_WORLD);
  double start = now_us();
  run();
  double end = now_us();
  MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MIN, PETSC_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return end - start;
}

/// Runs of about 200 ms, as many on every rank.
template <class Run>
int batch_size(Run run) {
  run();
  const double us = elapsed_us(run);
  return std::clamp(static_cast<int>(200e3 / us), 4, 5000);
}

template <class Run>
double time_us(Run run, int batches) {
  const int runs = batch_size(run);
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(batches));
  for (int b = 0; b < batches; ++b) {
    times.push_back(elapsed_us([&] {
                      for (int i = 0; i < runs; ++i)
                        run();
                    }) /
                    runs);
  }
  return median(times);
}

PetscErrorCode time_ranks(const Stencil& stencil, int batches) {
  Mat matrix = nullptr;
  Vec x = nullptr, y = nullptr;
  KSP solver = nullptr;
  PC preconditioner = nullptr;
  PetscFunctionBeginUser;
  PetscCall(lanky_scaling::create_matrix(PETSC_COMM_WORLD, stencil, &matrix));
  PetscCall(MatCreateVecs(matrix, &x, &y));
  PetscCall(VecSetRandom(x, nullptr));
  const double product = time_us([&] { (void)MatMult(matrix, x, y); }, batches);

  // Iterations alone: what 25 take more than 5, the start of a solve cancels out.
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, matrix, matrix));
  PetscCall(KSPSetType(solver, KSPCG));
  PetscCall(KSPGetPC(solver, &preconditioner));
  PetscCall(PCSetType(preconditioner, PCNONE));
  PetscCall(KSPSetConvergenceTest(solver, KSPConvergedSkip, nullptr, nullptr));
  const auto solve = [&](int iterations) {
    (void)KSPSetTolerances(solver, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, iterations);
    (void)KSPSolve(solver, x, y);
  };
  std::vector<double> iterations;
  solve(5);
  for (int b = 0; b < batches; ++b) {
    const double few = elapsed_us([&] { solve(5); });
    const double many = elapsed_us([&] { solve(25); });
    iterations.push_back((many - few) / 20);
  }
  MatType type = nullptr;
  PetscCall(MatGetType(matrix, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "{\"mat_type\": \"%s\", \"matmult_us\": %.2f, \"cg_us\": %.2f}\n", type,
                        product, median(iterations)));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(0);
}

/// The two blocks that MPIAIJ keeps on a rank: columns of its own, and those of ghosts, which are
/// numbered in the order of their global numbers.
PetscErrorCode create_blocks(const Stencil& stencil, PetscInt rank, Mat* diagonal, Mat* other) {
  const lanky_scaling::Rows own = lanky_scaling::make_rows(stencil, rank);
  const PetscInt rows = stencil.rows(rank), end = own.first + rows;
  std::vector<PetscInt> ghosts;
  for (const PetscInt column : own.columns) {
    if (column < own.first || column >= end) ghosts.push_back(column);
  }
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  lanky_scaling::Rows blocks[2];
  for (PetscInt row = 0; row < rows; ++row) {
    for (PetscInt k = own.offsets[row]; k < own.offsets[row + 1]; ++k) {
      const PetscInt column = own.columns[k];
      const bool is_ghost = column < own.first || column >= end;
      const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), column) - ghosts.begin();
      blocks[is_ghost].columns.push_back(is_ghost ? static_cast<PetscInt>(ghost)
                                                  : column - own.first);
      blocks[is_ghost].values.push_back(own.values[k]);
    }
    for (auto& block : blocks)
      block.offsets.push_back(static_cast<PetscInt>(block.columns.size()));
  }
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    Mat* block = k == 0 ? diagonal : other;
    const auto columns = k == 0 ? rows : static_cast<PetscInt>(ghosts.size());
    PetscCall(MatCreate(PETSC_COMM_SELF, block));
    PetscCall(MatSetSizes(*block, rows, columns, rows, columns));
    PetscCall(MatSetType(*block, MATSEQAIJ));
    PetscCall(MatSetFromOptions(*block));
    PetscCall(MatSeqAIJSetPreallocationCSR(*block, blocks[k].offsets.data(),
                                           blocks[k].columns.data(), blocks[k].values.data()));
  }
  PetscFunctionReturn(0);
}

/// What one rank has: its blocks, and the vectors of conjugate gradients.
struct Local {
  Mat diagonal = nullptr, other = nullptr;
  Vec x = nullptr, y = nullptr, ghosts = nullptr, residual = nullptr, direction = nullptr;
};

PetscErrorCode create_local(const Stencil& stencil, PetscInt rank, Local* local) {
  PetscFunctionBeginUser;
  PetscCall(create_blocks(stencil, rank, &local->diagonal, &local->other));
  PetscCall(MatCreateVecs(local->diagonal, &local->x, &local->y));
  PetscCall(MatCreateVecs(local->other, &local->ghosts, nullptr));
  PetscCall(VecDuplicate(local->x, &local->residual));
  PetscCall(VecDuplicate(local->x, &local->direction));
  PetscCall(VecSetRandom(local->x, nullptr));
  for (Vec vector : {local->ghosts, local->residual, local->direction})
    PetscCall(VecSet(vector, 1));
  PetscFunctionReturn(0);
}

PetscErrorCode destroy_local(Local* local) {
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&local->diagonal));
  PetscCall(MatDestroy(&local->other));
  for (Vec* vector : {&local->x, &local->y, &local->ghosts, &local->residual, &local->direction}) {
    PetscCall(VecDestroy(vector));
  }
  PetscFunctionReturn(0);
}

constexpr const char* kParts[] = {"diagonal_us", "off_diagonal_us", "vectors_us"};

void run_part(const Local& local, int part) {
  PetscScalar dot = 0;
  PetscReal norm = 0;
  if (part == 0) (void)MatMult(local.diagonal, local.x, local.y);
  if (part == 1) (void)MatMultAdd(local.other, local.ghosts, local.y, local.y);
  if (part == 2) {  // those of KSPCG without a preconditioner
    (void)VecDot(local.x, local.y, &dot);
    (void)VecAXPY(local.residual, 1e-9, local.x);
    (void)VecAXPY(local.residual, -1e-9, local.y);
    (void)VecCopy(local.residual, local.direction);
    (void)VecNorm(local.direction, NORM_2, &norm);
    (void)VecDot(local.direction, local.residual, &dot);
    (void)VecAYPX(local.x, 1e-9, local.direction);
  }
}

/// The kernels of all ranks without any message: each process is a core, and runs those of its
/// ranks in turn, so that caches hold what they hold where ranks share cores. Times are the sums
/// over the ranks of a process, the largest of all processes.
PetscErrorCode time_kernels(const Stencil& stencil, int batches) {
  PetscMPIInt process = 0, processes = 1;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &process));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  const PetscInt ranks = stencil.grid[0] * stencil.grid[1] * stencil.grid[2];
  std::vector<Local> locals;
  for (PetscInt rank = process; rank < ranks; rank += processes) {
    PetscCall(create_local(stencil, rank, &locals.emplace_back()));
  }
  // MatMult alone, as its measurement repeats it: nothing but x and y comes between two products.
  const double product = time_us(
      [&] {
        for (const Local& local : locals) {
          for (int part = 0; part < 2; ++part)
            run_part(local, part);
        }
      },
      batches);
  // Parts in turn, as in a solver, so that no vector is kept in caches by repeating one part.
  std::vector<double> times[3];
  double sums[3] = {};
  const auto iteration = [&] {
    for (const Local& local : locals) {
      for (int part = 0; part < 3; ++part) {
        const double start = now_us();
        run_part(local, part);
        sums[part] += now_us() - start;
      }
    }
  };
  const int runs = batch_size(iteration);
  for (int b = 0; b < batches; ++b) {
    std::fill(sums, sums + 3, 0.0);
    (void)elapsed_us([&] {
      for (int i = 0; i < runs; ++i)
        iteration();
    });
    for (int part = 0; part < 3; ++part)
      times[part].push_back(sums[part] / runs);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "{\"processes\": %d, \"product_us\": %.2f", processes,
                        product));
  for (int part = 0; part < 3; ++part) {
    double us = median(times[part]);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", \"%s\": %.2f", kParts[part], us));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "}\n"));
  for (Local& local : locals)
    PetscCall(destroy_local(&local));
  PetscFunctionReturn(0);
}

/// Half of a round trip between two ranks, for messages of 8 bytes to 1 MiB.
PetscErrorCode time_messages(int batches) {
  PetscMPIInt rank = 0, ranks = 1;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCheck(ranks == 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "-ping_pong is for two ranks");
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "{\"bytes\": ["));
  std::vector<double> times;
  for (int bytes = 8; bytes <= 1 << 20; bytes *= 2) {
    std::vector<char> message(bytes);
    times.push_back(time_us(
                        [&] {
                          const auto send = [&] {
                            MPI_Send(message.data(), bytes, MPI_BYTE, 1 - rank, 0,
                                     PETSC_COMM_WORLD);
                          };
                          const auto receive = [&] {
                            MPI_Recv(message.data(), bytes, MPI_BYTE, 1 - rank, 0, PETSC_COMM_WORLD,
                                     MPI_STATUS_IGNORE);
                          };
                          if (rank == 0) send();
                          receive();
                          if (rank == 1) send();
                        },
                        batches) /
                    2);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%d", bytes == 8 ? "" : ", ", bytes));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "], \"one_way_us\": ["));
  for (std::size_t k = 0; k < times.size(); ++k) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%.3f", k == 0 ? "" : ", ", times[k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "]}\n"));
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscInt batches = 11;
  PetscBool kernels = PETSC_FALSE, ping_pong = PETSC_FALSE;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-kernels", &kernels));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-batches", &batches, nullptr));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ping_pong", &ping_pong));
  Stencil stencil;
  PetscCall(lanky_scaling::read_options(&stencil));
  if (ping_pong) {
    PetscCall(time_messages(batches));
  } else if (kernels) {
    PetscCall(time_kernels(stencil, batches));
  } else {
    PetscCall(time_ranks(stencil, batches));
  }
  PetscCall(PetscFinalize());
  return 0;
}
