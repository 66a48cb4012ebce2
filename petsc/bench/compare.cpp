// Times PETSc's matrix types beside each other, on one rank or several: MatMult, MatMatMult with 16
// columns, an iteration of KSPCG, of EPSKRYLOVSCHUR and of EPSLOBPCG. Contestants take turns in one
// process; a time is that of the slowest rank.
//
//   lanky_petsc_compare -matrices "stencil7:100;box:154,154,154;wave.mtx.xz" -out petsc.jsonl
//     -dll_append liblankypetsc.so,liblankyslepc.so
//
// -contestants aijlanky,aijcusparse   -tasks matmult,matmatmult,cg,krylovschur,lobpcg
//
// A matrix is a file or what io::generate() makes, split into equal blocks of rows, or "box:X,Y,Z"
// or "box:X,Y,Z,UNKNOWNS": a 27-point stencil on so many nodes, which the ranks share as boxes. All
// are Laplacians of a symmetric pattern P, D - P + 0.01 I, so that all solvers have work to do.
// Results are compared with those of PETSc's own AIJ matrix on the host.
#include <slepceps.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <lanky/io.hpp>
#include <lanky/lanky.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "../compat.hpp"
#include "../scaling/measuring.hpp"
#include "../scaling/stencil.hpp"

namespace {

using namespace lanky_scaling;

constexpr PetscInt kColumns = 16;
constexpr PetscInt kEigenpairs = 8;
constexpr std::size_t kBatches = 9;
constexpr std::size_t kBatchesOfLong = 3;  // of runs that take more than a second

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    parts.push_back(part);
  return parts;
}

/// All that was given to the device is done, on all ranks.
PetscErrorCode wait() {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (lanky::Device::best().is_cuda()) {
    PetscDeviceContext context = nullptr;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
#endif
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// This rank's rows of D - (P + P^T) + 0.01 I, where P has no values and no diagonal.
Rows laplacian_of(const lanky::CsrMatrix<double>& p, PetscInt begin, PetscInt end) {
  const auto for_all = [&](auto&& visit) {
    for (std::int64_t i = 0; i < p.rows; ++i) {
      for (std::int64_t k = p.row_offsets[static_cast<std::size_t>(i)];
           k < p.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        const std::int64_t j = p.col_indices[static_cast<std::size_t>(k)];
        if (begin <= i && i < end) visit(static_cast<std::size_t>(i - begin), j);
        if (begin <= j && j < end) visit(static_cast<std::size_t>(j - begin), i);
      }
    }
  };
  const auto rows = static_cast<std::size_t>(end - begin);
  std::vector<std::size_t> next(rows + 1, 0);
  for_all([&](std::size_t row, std::int64_t) { ++next[row + 1]; });
  for (std::size_t row = 0; row < rows; ++row)
    next[row + 1] += next[row];
  std::vector<PetscInt> both(next[rows]);
  for_all([&](std::size_t row, std::int64_t column) {
    both[next[row]++] = static_cast<PetscInt>(column);
  });  // now next[row] is where the row ends

  Rows result;
  result.first = begin;
  std::vector<PetscInt> columns;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto from = both.begin() + static_cast<std::ptrdiff_t>(row == 0 ? 0 : next[row - 1]);
    columns.assign(from, both.begin() + static_cast<std::ptrdiff_t>(next[row]));
    const PetscInt own = begin + static_cast<PetscInt>(row);
    columns.push_back(own);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const PetscInt column : columns) {
      result.columns.push_back(column);
      const auto others = static_cast<double>(columns.size() - 1);
      result.values.push_back(column == own ? others + 0.01 : -1.0);
    }
    result.offsets.push_back(static_cast<PetscInt>(result.columns.size()));
  }
  return result;
}

PetscErrorCode make_laplacian(const std::string& source, Mat* a) {
  PetscMPIInt rank = 0, ranks = 1;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  Rows rows;
  if (source.rfind("box:", 0) == 0) {
    Stencil box;
    const std::vector<std::string> sizes = split(source.substr(4), ',');
    PetscCheck(sizes.size() == 3 || sizes.size() == 4, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "\"%s\" is not box:X,Y,Z or box:X,Y,Z,UNKNOWNS", source.c_str());
    for (std::size_t d = 0; d < 3; ++d)
      box.points[d] = std::stoi(sizes[d]);
    if (sizes.size() == 4) box.unknowns = std::stoi(sizes[3]);
    box.grid = process_grid(ranks, box.points);
    rows = make_rows(box, rank, 0.01);
  } else {
    const lanky::CsrMatrix<double> p = std::filesystem::exists(source)
                                           ? lanky::io::read_csr<double>(source)
                                           : lanky::io::generate<double>(source);
    PetscCheck(p.rows == p.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s is not square",
               source.c_str());
    const auto n = static_cast<PetscInt>(p.rows);
    rows = laplacian_of(p, part_begin(n, ranks, rank), part_begin(n, ranks, rank + 1));
  }
  PetscCall(create_matrix(PETSC_COMM_WORLD, rows, a));
  PetscCall(MatSetOption(*a, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Entry i of vector `seed`, between -1 and 1, on however many ranks.
double number(PetscInt i, unsigned seed) {
  std::uint64_t bits = (static_cast<std::uint64_t>(seed) << 40) + static_cast<std::uint64_t>(i);
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) / 4503599627370496.0 - 1.0;
}

/// Random numbers that are the same for all contestants.
PetscErrorCode fill(Vec x, PetscInt begin, unsigned seed) {
  PetscScalar* data = nullptr;
  PetscInt n = 0;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &data));
  for (PetscInt i = 0; i < n; ++i)
    data[i] = number(begin + i, seed);
  PetscCall(VecRestoreArrayWrite(x, &data));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode fill(Vec x, unsigned seed) {
  PetscInt begin = 0;
  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &begin, nullptr));
  PetscCall(fill(x, begin, seed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// |a - b| / |b| of vectors that may be on two devices.
PetscErrorCode distance(Vec a, Vec b, double* relative) {
  const PetscScalar* pa = nullptr;
  const PetscScalar* pb = nullptr;
  PetscInt n = 0;
  double sums[2] = {0, 0};
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(a, &n));
  PetscCall(VecGetArrayRead(a, &pa));
  PetscCall(VecGetArrayRead(b, &pb));
  for (PetscInt i = 0; i < n; ++i) {
    sums[0] += PetscSqr(PetscAbsScalar(pa[i] - pb[i]));
    sums[1] += PetscSqr(PetscAbsScalar(pb[i]));
  }
  PetscCall(VecRestoreArrayRead(a, &pa));
  PetscCall(VecRestoreArrayRead(b, &pb));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  *relative = std::sqrt(sums[0] / sums[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Outcome {
  PetscInt count = 1;  // eigenpairs that have converged
  double error = 0;
  double bound = 0;
};

/// One matrix type, ready to run a task again and again.
class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual PetscErrorCode set_up(Mat a, const std::string& type) = 0;
  virtual PetscErrorCode run(PetscInt times) = 0;
  /// Compares with the matrix on the host, and what that cannot tell with the first contestant.
  virtual PetscErrorCode check(Mat host, Contestant& first, Outcome* outcome) = 0;
  virtual PetscInt iterations() { return 1; }
  virtual PetscErrorCode tear_down() = 0;
};

class MatMultRun : public Contestant {
 public:
  PetscErrorCode set_up(Mat a, const std::string&) override {
    PetscFunctionBegin;
    a_ = a;
    PetscCall(MatCreateVecs(a_, &x_, &y_));
    PetscCall(fill(x_, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode run(PetscInt times) override {
    PetscFunctionBegin;
    for (PetscInt i = 0; i < times; ++i)
      PetscCall(MatMult(a_, x_, y_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode check(Mat host, Contestant&, Outcome* outcome) override {
    Vec x = nullptr, y = nullptr;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(host, &x, &y));
    PetscCall(fill(x, 1));
    PetscCall(MatMult(host, x, y));
    PetscCall(distance(y_, y, &outcome->error));
    outcome->bound = 1e-13;
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode tear_down() override {
    PetscFunctionBegin;
    PetscCall(VecDestroy(&x_));
    PetscCall(VecDestroy(&y_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  Mat a_ = nullptr;
  Vec x_ = nullptr, y_ = nullptr;
};

class MatMatMultRun : public Contestant {
 public:
  PetscErrorCode set_up(Mat a, const std::string&) override {
    PetscInt local = 0, n = 0, begin = 0;
    PetscFunctionBegin;
    a_ = a;
    PetscCall(MatGetLocalSize(a_, &local, nullptr));
    PetscCall(MatGetSize(a_, &n, nullptr));
    PetscCall(MatGetOwnershipRange(a_, &begin, nullptr));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, n, kColumns, nullptr, &x_));
    for (PetscInt j = 0; j < kColumns; ++j) {
      Vec column = nullptr;
      PetscCall(MatDenseGetColumnVecWrite(x_, j, &column));
      PetscCall(fill(column, begin, static_cast<unsigned>(j + 1)));
      PetscCall(MatDenseRestoreColumnVecWrite(x_, j, &column));
    }
    PetscCall(MatAssemblyBegin(x_, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(x_, MAT_FINAL_ASSEMBLY));
#if defined(PETSC_HAVE_CUDA)
    if (lanky::Device::best().is_cuda())
      PetscCall(MatConvert(x_, MATDENSECUDA, MAT_INPLACE_MATRIX, &x_));
#endif
    PetscCall(MatMatMult(a_, x_, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &c_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode run(PetscInt times) override {
    PetscFunctionBegin;
    for (PetscInt i = 0; i < times; ++i) {
      PetscCall(MatMatMult(a_, x_, MAT_REUSE_MATRIX, PETSC_DETERMINE, &c_));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// C w = A (X w) for random w, which a wrong column of C satisfies with probability 0.
  PetscErrorCode check(Mat host, Contestant&, Outcome* outcome) override {
    Vec xw = nullptr, axw = nullptr, cw = nullptr;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(host, &xw, &axw));
    PetscCall(VecDuplicate(axw, &cw));
    PetscCall(combine(x_, xw));
    PetscCall(combine(c_, cw));
    PetscCall(MatMult(host, xw, axw));
    PetscCall(distance(cw, axw, &outcome->error));
    outcome->bound = 1e-13;
    PetscCall(VecDestroy(&xw));
    PetscCall(VecDestroy(&axw));
    PetscCall(VecDestroy(&cw));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode tear_down() override {
    PetscFunctionBegin;
    PetscCall(MatDestroy(&c_));
    PetscCall(MatDestroy(&x_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  /// `sum` = the columns of `dense`, each times a random number.
  static PetscErrorCode combine(Mat dense, Vec sum) {
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    PetscInt n = 0, leading = 0;
    PetscFunctionBegin;
    PetscCall(VecSet(sum, 0));
    PetscCall(VecGetLocalSize(sum, &n));
    PetscCall(MatDenseGetLDA(dense, &leading));
    PetscCall(MatDenseGetArrayRead(dense, &from));
    PetscCall(VecGetArray(sum, &to));
    for (PetscInt j = 0; j < kColumns; ++j) {
      const PetscScalar* column = from + std::ptrdiff_t{j} * leading;
      for (PetscInt i = 0; i < n; ++i)
        to[i] += number(j, 99) * column[i];
    }
    PetscCall(VecRestoreArray(sum, &to));
    PetscCall(MatDenseRestoreArrayRead(dense, &from));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Mat a_ = nullptr, x_ = nullptr, c_ = nullptr;
};

class CgRun : public Contestant {
 public:
  PetscErrorCode set_up(Mat a, const std::string&) override {
    PetscFunctionBegin;
    a_ = a;
    PetscCall(MatCreateVecs(a_, &x_, &b_));
    PetscCall(fill(b_, 1));
    PetscCall(make(a_, kIterations, &ksp_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode run(PetscInt times) override {
    PetscFunctionBegin;
    for (PetscInt i = 0; i < times; ++i)
      PetscCall(KSPSolve(ksp_, b_, x_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt iterations() override { return kIterations; }
  /// The solution after few iterations: later ones differ by roundings that CG makes larger.
  PetscErrorCode check(Mat host, Contestant&, Outcome* outcome) override {
    Vec x = nullptr, b = nullptr;
    KSP few = nullptr, few_on_host = nullptr;
    PetscFunctionBegin;
    PetscCall(make(a_, 10, &few));
    PetscCall(KSPSolve(few, b_, x_));
    PetscCall(MatCreateVecs(host, &x, &b));
    PetscCall(fill(b, 1));
    PetscCall(make(host, 10, &few_on_host));
    PetscCall(KSPSolve(few_on_host, b, x));
    PetscCall(distance(x_, x, &outcome->error));
    outcome->bound = 1e-10;
    PetscCall(KSPDestroy(&few));
    PetscCall(KSPDestroy(&few_on_host));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode tear_down() override {
    PetscFunctionBegin;
    PetscCall(KSPDestroy(&ksp_));
    PetscCall(VecDestroy(&x_));
    PetscCall(VecDestroy(&b_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  static constexpr PetscInt kIterations = 200;

  static PetscErrorCode make(Mat a, PetscInt iterations, KSP* ksp) {
    PC pc = nullptr;
    PetscFunctionBegin;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
    PetscCall(KSPSetOperators(*ksp, a, a));
    PetscCall(KSPSetType(*ksp, KSPCG));
    PetscCall(KSPGetPC(*ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPSetTolerances(*ksp, 1e-300, 1e-300, 1e300, iterations));
    PetscCall(KSPSetUp(*ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Mat a_ = nullptr;
  Vec x_ = nullptr, b_ = nullptr;
  KSP ksp_ = nullptr;
};

class EpsRun : public Contestant {
 public:
  EpsRun(EPSType method, PetscInt most) : method_(method), most_(most) {}

  PetscErrorCode set_up(Mat a, const std::string& type) override {
    ST st = nullptr;
    KSP ksp = nullptr;
    PC pc = nullptr;
    BV bv = nullptr;
    PetscFunctionBegin;
    a_ = a;
    PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps_));
    PetscCall(EPSMonitorSet(eps_, remember, &ritz_value_, nullptr));
    PetscCall(EPSSetOperators(eps_, a_, nullptr));
    PetscCall(EPSSetProblemType(eps_, EPS_HEP));
    PetscCall(EPSSetType(eps_, method_));
    PetscCall(EPSSetDimensions(eps_, kEigenpairs, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(EPSSetTolerances(eps_, 1e-8, most_));
    const bool lobpcg = std::string(method_) == EPSLOBPCG;
    PetscCall(EPSSetWhichEigenpairs(eps_, lobpcg ? EPS_SMALLEST_REAL : EPS_LARGEST_REAL));
    if (lobpcg) {
      PetscCall(EPSGetST(eps_, &st));
      PetscCall(STSetType(st, STPRECOND));
      PetscCall(STGetKSP(st, &ksp));
      PetscCall(KSPSetType(ksp, KSPPREONLY));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, PCJACOBI));
    }
    PetscCall(EPSGetBV(eps_, &bv));
    if (type == "aijlanky") PetscCall(BVSetType(bv, "lanky"));
    PetscCall(EPSSetFromOptions(eps_));
    PetscCall(EPSSetUp(eps_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode run(PetscInt times) override {
    Vec start = nullptr;
    PetscFunctionBegin;
    for (PetscInt i = 0; i < times; ++i) {  // from the same vector each time
      PetscCall(MatCreateVecs(a_, &start, nullptr));
      PetscCall(fill(start, 7));
      PetscCall(EPSSetInitialSpace(eps_, 1, &start));
      PetscCall(VecDestroy(&start));
      PetscCall(EPSSolve(eps_));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt iterations() override {
    PetscInt count = 1;
    if (EPSGetIterationNumber(eps_, &count) != PETSC_SUCCESS) return 1;
    return std::max<PetscInt>(1, count);
  }
  /// Residuals of the pairs that have converged, by the matrix on the host. Where none has within
  /// the run's iterations: the first Ritz value beside that of the first contestant, which had the
  /// same start.
  PetscErrorCode check(Mat host, Contestant& first, Outcome* outcome) override {
    Vec on_device = nullptr, v = nullptr, av = nullptr;
    PetscInt converged = 0;
    PetscReal norm = 0;
    PetscFunctionBegin;
    PetscCall(EPSGetConverged(eps_, &converged));
    PetscCall(MatCreateVecs(a_, &on_device, nullptr));
    PetscCall(MatCreateVecs(host, &v, &av));
    PetscCall(MatNorm(host, NORM_INFINITY, &norm));
    for (PetscInt i = 0; i < std::min(converged, kEigenpairs); ++i) {
      PetscScalar value = 0;
      PetscReal residual = 0;
      PetscCall(EPSGetEigenpair(eps_, i, &value, nullptr, on_device, nullptr));
      const PetscScalar* from = nullptr;
      PetscScalar* to = nullptr;
      PetscInt n = 0;
      PetscCall(VecGetLocalSize(v, &n));
      PetscCall(VecGetArrayRead(on_device, &from));
      PetscCall(VecGetArrayWrite(v, &to));
      std::copy_n(from, n, to);
      PetscCall(VecRestoreArrayWrite(v, &to));
      PetscCall(VecRestoreArrayRead(on_device, &from));
      PetscCall(MatMult(host, v, av));
      PetscCall(VecAXPY(av, -value, v));
      PetscCall(VecNorm(av, NORM_2, &residual));
      outcome->error = std::max(outcome->error, static_cast<double>(residual / norm));
    }
    outcome->bound = 1e-7;
    outcome->count = converged;
    if (converged == 0) {
      const PetscScalar wanted = dynamic_cast<EpsRun&>(first).ritz_value_;
      outcome->error = PetscAbsScalar(ritz_value_ - wanted) / PetscAbsScalar(wanted);
      outcome->bound = 1e-6;
    }
    PetscCall(VecDestroy(&on_device));
    PetscCall(VecDestroy(&v));
    PetscCall(VecDestroy(&av));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode tear_down() override {
    PetscFunctionBegin;
    PetscCall(EPSDestroy(&eps_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  static PetscErrorCode remember(EPS, PetscInt, PetscInt, PetscScalar* values, PetscScalar*,
                                 PetscReal*, PetscInt count, void* ritz_value) {
    if (count > 0) *static_cast<PetscScalar*>(ritz_value) = values[0];
    return PETSC_SUCCESS;
  }

  EPSType method_;
  PetscInt most_;
  PetscScalar ritz_value_ = 0;  // the first one, of the last iteration
  Mat a_ = nullptr;
  EPS eps_ = nullptr;
};

std::unique_ptr<Contestant> make_contestant(const std::string& task) {
  if (task == "matmult") return std::make_unique<MatMultRun>();
  if (task == "matmatmult") return std::make_unique<MatMatMultRun>();
  if (task == "cg") return std::make_unique<CgRun>();
  if (task == "krylovschur") return std::make_unique<EpsRun>(EPSKRYLOVSCHUR, 10);
  if (task == "lobpcg") return std::make_unique<EpsRun>(EPSLOBPCG, 40);
  return nullptr;
}

/// A matrix of one type.
struct Typed {
  std::string type;
  Mat matrix = nullptr;
};

PetscErrorCode compare(const std::string& name, Mat host, const std::vector<Typed>& matrices,
                       const std::string& task, std::FILE* out) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<double> times;  // contestant after contestant
  std::vector<PetscInt> repeats;
  std::size_t batches = kBatches;
  MatInfo info;
  PetscInt n = 0;
  PetscMPIInt ranks = 1;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(MatGetInfo(host, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(host, &n, nullptr));
  for (const Typed& typed : matrices) {
    contestants.push_back(make_contestant(task));
    PetscCheck(contestants.back(), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "no task \"%s\"",
               task.c_str());
    Contestant& contestant = *contestants.back();
    PetscCall(contestant.set_up(typed.matrix, typed.type));
    PetscCall(contestant.run(1));
    PetscCall(wait());
    const double begin = now_us();
    PetscCall(contestant.run(1));
    PetscCall(wait());
    double us = now_us() - begin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    if (us > 1e6) batches = kBatchesOfLong;
    constexpr double kBatchUs = 20000;
    repeats.push_back(std::clamp<PetscInt>(static_cast<PetscInt>(kBatchUs / us), 1, 200));
  }
  times.resize(matrices.size() * batches);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    for (std::size_t c = 0; c < matrices.size(); ++c) {
      PetscCall(wait());
      const double begin = now_us();
      PetscCall(contestants[c]->run(repeats[c]));
      PetscCall(wait());
      const auto runs =
          static_cast<double>(repeats[c]) * static_cast<double>(contestants[c]->iterations());
      times[c * batches + batch] = (now_us() - begin) / runs;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE,
                             MPI_MAX, PETSC_COMM_WORLD));
  for (std::size_t c = 0; c < matrices.size(); ++c) {
    Outcome outcome;
    const PetscInt iterations = contestants[c]->iterations();
    PetscCall(contestants[c]->check(host, *contestants[0], &outcome));
    const auto first = times.begin() + static_cast<std::ptrdiff_t>(c * batches);
    const std::vector<double> own(first, first + static_cast<std::ptrdiff_t>(batches));
    PetscCall(PetscFPrintf(
        PETSC_COMM_WORLD, out,
        "{\"kind\":\"petsc\",\"task\":\"%s\",\"case\":\"%s\",\"ranks\":%d,\"n\":%lld,\"nnz\":%.0f,"
        "\"contestant\":\"%s\",\"status\":\"%s\",\"us\":%.3f,\"fastest_us\":%.3f,"
        "\"iterations\":%lld,\"converged\":%lld,\"error\":%.3g,\"bound\":%.3g}\n",
        task.c_str(), name.c_str(), ranks, static_cast<long long>(n), info.nz_used,
        matrices[c].type.c_str(), outcome.error <= outcome.bound ? "ok" : "wrong", median(own),
        *std::min_element(own.begin(), own.end()), static_cast<long long>(iterations),
        static_cast<long long>(outcome.count), outcome.error, outcome.bound));
    if (out) std::fflush(out);
  }
  for (auto& contestant : contestants)
    PetscCall(contestant->tear_down());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compare_all(const std::string& source, const std::vector<std::string>& types,
                           const std::vector<std::string>& tasks, std::FILE* out) {
  Mat host = nullptr;
  std::vector<Typed> matrices;
  PetscFunctionBegin;
  PetscCall(make_laplacian(source, &host));
  for (const std::string& type : types) {
    matrices.push_back({type});
    PetscCall(MatConvert(host, type.c_str(), MAT_INITIAL_MATRIX, &matrices.back().matrix));
  }
  const std::string name = std::filesystem::exists(source)
                               ? std::filesystem::path(source).stem().stem().string()
                               : source;
  for (const std::string& task : tasks)
    PetscCall(compare(name, host, matrices, task, out));
  for (Typed& typed : matrices)
    PetscCall(MatDestroy(&typed.matrix));
  PetscCall(MatDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What this machine and these libraries are: the first line of the results.
PetscErrorCode write_environment(int argc, char** argv, std::FILE* out) {
  char petsc[256], slepc[256], mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  PetscFunctionBegin;
  PetscCall(PetscGetVersion(petsc, sizeof(petsc)));
  PetscCall(SlepcGetVersion(slepc, sizeof(slepc)));
  PetscCallMPI(MPI_Get_library_version(mpi, &length));
  std::string arguments;
  for (int i = 1; i < argc; ++i)
    arguments += std::string(i > 1 ? " " : "") + argv[i];
  const lanky::Device device = lanky::Device::best();
  PetscCall(PetscFPrintf(
      PETSC_COMM_WORLD, out,
      "{\"kind\":\"env\",\"schema\":1,\"gpu\":\"%s\",\"gpus\":%d,\"lanky\":\"%s\",\"commit\":\"%"
      "s\","
      "\"petsc\":\"%s\",\"slepc\":\"%s\",\"mpi\":\"%s\",\"gpu_aware_mpi\":%s,\"argv\":\"%s\","
      "\"utc\":\"%s\"}\n",
      device.properties().name.c_str(), lanky::Device::cuda_count(), lanky::build_description(),
      commit().c_str(), petsc, slepc, split(split(mpi, '\n')[0], ',')[0].c_str(),
      use_gpu_aware_mpi ? "true" : "false", arguments.c_str(), utc().c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run(int argc, char** argv) {
  char matrices[4096] = "stencil7:40";
  char types[256] = "aijlanky,aijcusparse";
  char tasks[256] = "matmult,matmatmult,cg,krylovschur,lobpcg";
  char path[PETSC_MAX_PATH_LEN] = "-";
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCall(
      PetscOptionsGetString(nullptr, nullptr, "-matrices", matrices, sizeof(matrices), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-contestants", types, sizeof(types), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-tasks", tasks, sizeof(tasks), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-out", path, sizeof(path), nullptr));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  std::FILE* out = nullptr;
  if (rank == 0) {
    out = std::string(path) == "-" ? stdout : std::fopen(path, "w");
    PetscCheck(out, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", path);
  }
  PetscCall(write_environment(argc, argv, out));
  for (const std::string& source : split(matrices, ';')) {
    PetscCall(compare_all(source, split(types, ','), split(tasks, ','), out));
  }
  if (out && out != stdout) std::fclose(out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscCall(SlepcInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(run(argc, argv));
  PetscCall(SlepcFinalize());
  return 0;
}
