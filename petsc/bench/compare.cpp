// Times PETSc's matrix types beside each other on one rank: MatMult, MatMatMult with 16 columns,
// an iteration of KSPCG, of EPSKRYLOVSCHUR and of EPSLOBPCG. Contestants take turns in one process.
//
//   lanky_petsc_compare -matrices "stencil7:100;build/mats/wave.mtx.xz" -out petsc.jsonl
//     -dll_append liblankypetsc.so,liblankyslepc.so
//
// -contestants aijlanky,aijcusparse   -tasks matmult,matmatmult,cg,krylovschur,lobpcg
//
// Matrices are Laplacians of a pattern P made symmetric, D - P + 0.01 I, so that all solvers have
// work to do. Each result is compared with that of PETSc's own AIJ matrix on the host.
#include <slepceps.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <lanky/io.hpp>
#include <lanky/lanky.hpp>
#include <lanky/version.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "../compat.hpp"

namespace {

constexpr PetscInt kColumns = 16;
constexpr PetscInt kEigenpairs = 8;
constexpr int kBatches = 9;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    parts.push_back(part);
  return parts;
}

/// All that was given to the device is done.
PetscErrorCode wait() {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (!lanky::Device::best().is_cuda()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscDeviceContext context = nullptr;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

double now_us() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The pattern of P + P^T, columns sorted.
lanky::CsrMatrix<double> symmetric_pattern(const lanky::CsrMatrix<double>& p) {
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(p.rows));
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t k = p.row_offsets[row]; k < p.row_offsets[row + 1]; ++k) {
      const std::int32_t j = p.col_indices[static_cast<std::size_t>(k)];
      rows[row].push_back(j);
      rows[static_cast<std::size_t>(j)].push_back(static_cast<std::int32_t>(i));
    }
  }
  lanky::CsrMatrix<double> both{p.rows, p.cols};
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    both.col_indices.insert(both.col_indices.end(), row.begin(), row.end());
    both.row_offsets.push_back(static_cast<std::int64_t>(both.col_indices.size()));
  }
  return both;
}

/// D - P + 0.01 I of the symmetric pattern P, without P's own diagonal.
PetscErrorCode make_laplacian(const std::string& source, Mat* a) {
  PetscFunctionBegin;
  lanky::CsrMatrix<double> p = std::filesystem::exists(source)
                                   ? lanky::io::read_csr<double>(source)
                                   : lanky::io::generate<double>(source);
  PetscCheck(p.rows == p.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s is not square",
             source.c_str());
  p = symmetric_pattern(p);
  std::vector<PetscInt> offsets = {0};
  std::vector<PetscInt> columns;
  std::vector<PetscScalar> values;
  columns.reserve(p.col_indices.size() + static_cast<std::size_t>(p.rows));
  values.reserve(columns.capacity());
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const auto begin = p.col_indices.begin() + p.row_offsets[static_cast<std::size_t>(i)];
    const auto end = p.col_indices.begin() + p.row_offsets[static_cast<std::size_t>(i) + 1];
    const auto degree = std::count_if(begin, end, [&](auto j) { return j != i; });
    bool placed = false;
    for (auto j = begin; j != end; ++j) {
      if (!placed && *j >= i) {
        columns.push_back(static_cast<PetscInt>(i));
        values.push_back(static_cast<double>(degree) + 0.01);
        placed = true;
      }
      if (*j == i) continue;
      columns.push_back(*j);
      values.push_back(-1.0);
    }
    if (!placed) {
      columns.push_back(static_cast<PetscInt>(i));
      values.push_back(static_cast<double>(degree) + 0.01);
    }
    offsets.push_back(static_cast<PetscInt>(columns.size()));
  }
  Mat wrapped = nullptr;
  const auto n = static_cast<PetscInt>(p.rows);
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, offsets.data(), columns.data(),
                                      values.data(), &wrapped));
  PetscCall(MatDuplicate(wrapped, MAT_COPY_VALUES, a));
  PetscCall(MatDestroy(&wrapped));
  PetscCall(MatSetOption(*a, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Random numbers that are the same for all contestants.
PetscErrorCode fill(Vec x, unsigned seed) {
  PetscScalar* data = nullptr;
  PetscInt n = 0;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &data));
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
  for (PetscInt i = 0; i < n; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    data[i] = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
  }
  PetscCall(VecRestoreArrayWrite(x, &data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// |a - b| / |b| of vectors that may be on two devices.
PetscErrorCode distance(Vec a, Vec b, double* relative) {
  const PetscScalar* pa = nullptr;
  const PetscScalar* pb = nullptr;
  PetscInt n = 0;
  double difference = 0, norm = 0;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(a, &n));
  PetscCall(VecGetArrayRead(a, &pa));
  PetscCall(VecGetArrayRead(b, &pb));
  for (PetscInt i = 0; i < n; ++i) {
    difference += PetscSqr(PetscAbsScalar(pa[i] - pb[i]));
    norm += PetscSqr(PetscAbsScalar(pb[i]));
  }
  PetscCall(VecRestoreArrayRead(a, &pa));
  PetscCall(VecRestoreArrayRead(b, &pb));
  *relative = std::sqrt(difference / norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Outcome {
  double us = 0;       // of a product, or of an iteration
  PetscInt count = 1;  // iterations
  double error = 0;
  double bound = 0;
  bool checked = true;  // not where no eigenpair has converged within the run's iterations
};

/// One matrix type, ready to run a task again and again.
class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual PetscErrorCode set_up(Mat host, const std::string& type) = 0;
  virtual PetscErrorCode run(PetscInt times) = 0;
  virtual PetscErrorCode check(Mat host, Outcome* outcome) = 0;
  virtual PetscInt iterations() { return 1; }
  virtual PetscErrorCode tear_down() = 0;
};

class MatMultRun : public Contestant {
 public:
  PetscErrorCode set_up(Mat host, const std::string& type) override {
    PetscFunctionBegin;
    PetscCall(MatConvert(host, type.c_str(), MAT_INITIAL_MATRIX, &a_));
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
  PetscErrorCode check(Mat host, Outcome* outcome) override {
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
    PetscCall(MatDestroy(&a_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  Mat a_ = nullptr;
  Vec x_ = nullptr, y_ = nullptr;
};

class MatMatMultRun : public Contestant {
 public:
  PetscErrorCode set_up(Mat host, const std::string& type) override {
    PetscInt n = 0;
    PetscFunctionBegin;
    PetscCall(MatConvert(host, type.c_str(), MAT_INITIAL_MATRIX, &a_));
    PetscCall(MatGetSize(a_, &n, nullptr));
    PetscCall(dense(n, &x_));
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
  PetscErrorCode check(Mat host, Outcome* outcome) override {
    Mat x = nullptr, c = nullptr;
    PetscInt n = 0;
    PetscFunctionBegin;
    PetscCall(MatGetSize(host, &n, nullptr));
    PetscCall(dense(n, &x));
    PetscCall(MatMatMult(host, x, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &c));
    for (PetscInt j = 0; j < kColumns; ++j) {
      Vec found = nullptr, wanted = nullptr;
      double error = 0;
      PetscCall(MatDenseGetColumnVecRead(c_, j, &found));
      PetscCall(MatDenseGetColumnVecRead(c, j, &wanted));
      PetscCall(distance(found, wanted, &error));
      outcome->error = std::max(outcome->error, error);
      PetscCall(MatDenseRestoreColumnVecRead(c, j, &wanted));
      PetscCall(MatDenseRestoreColumnVecRead(c_, j, &found));
    }
    outcome->bound = 1e-13;
    PetscCall(MatDestroy(&x));
    PetscCall(MatDestroy(&c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode tear_down() override {
    PetscFunctionBegin;
    PetscCall(MatDestroy(&c_));
    PetscCall(MatDestroy(&x_));
    PetscCall(MatDestroy(&a_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  static PetscErrorCode dense(PetscInt n, Mat* x) {
    PetscFunctionBegin;
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, kColumns, nullptr, x));
    for (PetscInt j = 0; j < kColumns; ++j) {
      Vec column = nullptr;
      PetscCall(MatDenseGetColumnVecWrite(*x, j, &column));
      PetscCall(fill(column, static_cast<unsigned>(j + 1)));
      PetscCall(MatDenseRestoreColumnVecWrite(*x, j, &column));
    }
    PetscCall(MatAssemblyBegin(*x, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*x, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Mat a_ = nullptr, x_ = nullptr, c_ = nullptr;
};

class CgRun : public Contestant {
 public:
  PetscErrorCode set_up(Mat host, const std::string& type) override {
    PetscFunctionBegin;
    PetscCall(MatConvert(host, type.c_str(), MAT_INITIAL_MATRIX, &a_));
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
  PetscErrorCode check(Mat host, Outcome* outcome) override {
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
    PetscCall(MatDestroy(&a_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  static constexpr PetscInt kIterations = 200;

  static PetscErrorCode make(Mat a, PetscInt iterations, KSP* ksp) {
    PC pc = nullptr;
    PetscFunctionBegin;
    PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
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

  PetscErrorCode set_up(Mat host, const std::string& type) override {
    ST st = nullptr;
    KSP ksp = nullptr;
    PC pc = nullptr;
    BV bv = nullptr;
    PetscFunctionBegin;
    PetscCall(MatConvert(host, type.c_str(), MAT_INITIAL_MATRIX, &a_));
    PetscCall(EPSCreate(PETSC_COMM_SELF, &eps_));
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
  /// Residuals of the pairs that have converged, by the matrix on the host.
  PetscErrorCode check(Mat host, Outcome* outcome) override {
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
    outcome->checked = converged > 0;
    PetscCall(VecDestroy(&on_device));
    PetscCall(VecDestroy(&v));
    PetscCall(VecDestroy(&av));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode tear_down() override {
    PetscFunctionBegin;
    PetscCall(EPSDestroy(&eps_));
    PetscCall(MatDestroy(&a_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  EPSType method_;
  PetscInt most_;
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

PetscErrorCode compare(const std::string& source, Mat host, const std::string& task,
                       const std::vector<std::string>& types, std::FILE* out) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<std::vector<double>> times(types.size());
  std::vector<PetscInt> repeats;
  MatInfo info;
  PetscInt n = 0;
  PetscFunctionBegin;
  PetscCall(MatGetInfo(host, MAT_LOCAL, &info));
  PetscCall(MatGetSize(host, &n, nullptr));
  for (const std::string& type : types) {
    contestants.push_back(make_contestant(task));
    PetscCheck(contestants.back(), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "no task \"%s\"",
               task.c_str());
    Contestant& contestant = *contestants.back();
    PetscCall(contestant.set_up(host, type));
    PetscCall(contestant.run(1));
    PetscCall(contestant.run(1));
    PetscCall(wait());
    const double begin = now_us();
    PetscCall(contestant.run(1));
    PetscCall(wait());
    constexpr double kBatchUs = 20000;
    repeats.push_back(
        std::clamp<PetscInt>(static_cast<PetscInt>(kBatchUs / (now_us() - begin)), 1, 200));
  }
  for (int batch = 0; batch < kBatches; ++batch) {
    for (std::size_t c = 0; c < types.size(); ++c) {
      PetscCall(wait());
      const double begin = now_us();
      PetscCall(contestants[c]->run(repeats[c]));
      PetscCall(wait());
      const auto runs =
          static_cast<double>(repeats[c]) * static_cast<double>(contestants[c]->iterations());
      times[c].push_back((now_us() - begin) / runs);
    }
  }
  for (std::size_t c = 0; c < types.size(); ++c) {
    Outcome outcome;
    const PetscInt iterations = contestants[c]->iterations();
    PetscCall(contestants[c]->check(host, &outcome));
    const std::string name = std::filesystem::exists(source)
                                 ? std::filesystem::path(source).stem().stem().string()
                                 : source;
    std::fprintf(out,
                 "{\"kind\":\"petsc\",\"task\":\"%s\",\"case\":\"%s\",\"n\":%lld,\"nnz\":%.0f,"
                 "\"contestant\":\"%s\",\"status\":\"%s\",\"us\":%.3f,\"fastest_us\":%.3f,"
                 "\"iterations\":%lld,\"converged\":%lld,\"error\":%.3g,\"bound\":%.3g}\n",
                 task.c_str(), name.c_str(), static_cast<long long>(n), info.nz_used,
                 types[c].c_str(),
                 !outcome.checked                 ? "unchecked"
                 : outcome.error <= outcome.bound ? "ok"
                                                  : "wrong",
                 median(times[c]), *std::min_element(times[c].begin(), times[c].end()),
                 static_cast<long long>(iterations), static_cast<long long>(outcome.count),
                 outcome.error, outcome.bound);
    std::fflush(out);
    PetscCall(contestants[c]->tear_down());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run(int argc, char** argv) {
  char matrices[4096] = "stencil7:40";
  char types[256] = "aijlanky,aijcusparse";
  char tasks[256] = "matmult,matmatmult,cg,krylovschur,lobpcg";
  char path[PETSC_MAX_PATH_LEN] = "-";
  char petsc[256], slepc[256], utc[64];
  PetscFunctionBegin;
  PetscCall(
      PetscOptionsGetString(nullptr, nullptr, "-matrices", matrices, sizeof(matrices), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-contestants", types, sizeof(types), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-tasks", tasks, sizeof(tasks), nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-out", path, sizeof(path), nullptr));
  std::FILE* out = std::string(path) == "-" ? stdout : std::fopen(path, "w");
  PetscCheck(out, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", path);
  PetscCall(PetscGetVersion(petsc, sizeof(petsc)));
  PetscCall(SlepcGetVersion(slepc, sizeof(slepc)));
  const std::time_t seconds = std::time(nullptr);
  std::strftime(utc, sizeof(utc), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
  std::string arguments;
  for (int i = 1; i < argc; ++i)
    arguments += std::string(i > 1 ? " " : "") + argv[i];
  std::fprintf(out,
               "{\"kind\":\"env\",\"schema\":1,\"gpu\":\"%s\",\"lanky\":\"%s\",\"petsc\":\"%s\","
               "\"slepc\":\"%s\",\"argv\":\"%s\",\"utc\":\"%s\"}\n",
               lanky::Device::best().properties().name.c_str(), lanky::build_description(), petsc,
               slepc, arguments.c_str(), utc);
  for (const std::string& source : split(matrices, ';')) {
    Mat host = nullptr;
    PetscCall(make_laplacian(source, &host));
    for (const std::string& task : split(tasks, ',')) {
      PetscCall(compare(source, host, task, split(types, ','), out));
    }
    PetscCall(MatDestroy(&host));
  }
  if (out != stdout) std::fclose(out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscCall(SlepcInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(run(argc, argv));
  PetscCall(SlepcFinalize());
  return 0;
}
