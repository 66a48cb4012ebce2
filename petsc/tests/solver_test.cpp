// Compares blocks of vectors of type lanky with SLEPc's own svec, operation by operation, and
// solvers of PETSc and SLEPc that use lanky with the same ones that do not. The options load both
// plug-ins; the status is not 0 where something failed.
//
//   mpirun -n 2 solver_test -dll_append .../liblankypetsc.so,.../liblankyslepc.so
#include <slepceps.h>
#include <slepcsvd.h>

#include <algorithm>
#include <functional>

#include "check.hpp"

namespace {

using namespace petsc_test;

using Block = Owned<BV, BVDestroy>;

bool brief = false;  // as much as has time to run under valgrind

/// A tridiagonal matrix with a larger diagonal, and entries far off it; symmetric, and positive
/// definite.
Matrix laplacian(PetscInt local, PetscInt rows, MatType type, PetscReal shift = 0.125) {
  Matrix a;
  PetscInt begin = 0, end = 0;
  OK(MatCreate(PETSC_COMM_WORLD, &a));
  OK(MatSetSizes(a, local, local, rows, rows));
  OK(MatSetType(a, type));
  OK(MatSeqAIJSetPreallocation(a, 5, nullptr));
  OK(MatMPIAIJSetPreallocation(a, 5, nullptr, 5, nullptr));
  OK(MatGetOwnershipRange(a, &begin, &end));
  constexpr PetscInt kSide = 14;
  for (PetscInt i = begin; i < end; ++i) {
    PetscReal sum = shift + static_cast<PetscReal>(i) / static_cast<PetscReal>(rows);
    for (PetscInt j : {i - kSide, i - 1, i + 1, i + kSide}) {
      if (j < 0 || j >= rows) continue;
      const PetscReal weight = 0.5 + 0.1 * static_cast<PetscReal>((i + j) % 3);
      OK(MatSetValue(a, i, j, -weight, INSERT_VALUES));
      sum += weight;
    }
    OK(MatSetValue(a, i, i, sum, INSERT_VALUES));
  }
  OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  OK(MatSetOption(a, MAT_HERMITIAN, PETSC_TRUE));
  OK(MatSetOption(a, MAT_SPD, PETSC_TRUE));
  return a;
}

struct Shape {
  std::string name;
  PetscInt local = PETSC_DECIDE, rows = 0;
  PetscInt columns = 0, constraints = 0;
  PetscInt l = 0, k = 0;  // the active columns
  bool inner_product = false;
};

/// Two blocks with the same entries: of type lanky, and SLEPc's own.
struct Pair {
  Block lanky, own;

  void both(const std::function<void(BV)>& work) {
    work(lanky);
    work(own);
  }
};

void fill_block(BV bv, std::uint64_t seed) {
  PetscInt columns = 0;
  OK(BVGetSizes(bv, nullptr, nullptr, &columns));
  for (PetscInt j = 0; j < columns; ++j) {
    Vec v = nullptr;
    OK(BVGetColumn(bv, j, &v));
    fill(v, seed + 100 * static_cast<std::uint64_t>(j));
    OK(BVRestoreColumn(bv, j, &v));
  }
}

Pair blocks(const Shape& shape, Mat b, std::uint64_t seed) {
  Pair pair;
  for (BV* bv : {&pair.lanky, &pair.own}) {
    const char* type = bv == &pair.lanky ? "lanky" : BVSVEC;
    BV made = nullptr;
    OK(BVCreate(PETSC_COMM_WORLD, &made));
#if defined(PETSC_HAVE_CUDA)
    if (on_device()) OK(BVSetVecType(made, VECCUDA));
#endif
    OK(BVSetSizes(made, shape.local, shape.rows, shape.columns));
    OK(BVSetType(made, type));
    *bv = made;
    if (shape.inner_product) OK(BVSetMatrix(made, b, PETSC_FALSE));
    if (shape.constraints > 0) {
      std::vector<Vec> held(static_cast<std::size_t>(shape.constraints));
      PetscInt count = shape.constraints;
      std::uint64_t next = seed + 7;
      for (Vec& v : held) {
        OK(BVCreateVec(made, &v));
        fill(v, ++next);
      }
      OK(BVInsertConstraints(made, &count, held.data()));
      check(count == shape.constraints, shape.name + ": constraints");
      for (Vec& v : held)
        OK(VecDestroy(&v));
    }
    fill_block(made, seed);
    OK(BVSetActiveColumns(made, shape.l, shape.k));
  }
  return pair;
}

void check_numbers(const std::string& label, const std::vector<PetscScalar>& got,
                   const std::vector<PetscScalar>& want, PetscReal tolerance) {
  if (!check(got.size() == want.size(), label, "sizes")) return;
  PetscReal largest = 0;
  for (PetscScalar value : want)
    largest = std::max(largest, PetscAbsScalar(value));
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (PetscAbsScalar(got[i] - want[i]) <= tolerance * largest) continue;
    check(false, label,
          "number " + std::to_string(i) + " is " + text(got[i]) + ", not " + text(want[i]));
    return;
  }
  check(true, label);
}
constexpr PetscReal kRounding = 2000 * PETSC_MACHINE_EPSILON;
// What solvers are asked for, and how near to each other their results are then.
constexpr bool kDouble = sizeof(PetscReal) == 8;
constexpr PetscReal kAsked = kDouble ? 1e-10 : 1e-5;
constexpr PetscReal kReached = kDouble ? 1e-6 : 1e-3;
constexpr PetscReal kEigenvalues = kDouble ? 1e-7 : 1e-4;

void check_vec(const std::string& label, Vec got, Vec want, PetscReal tolerance = kRounding) {
  PetscReal norm = 0, difference = 0;
  Vec d = nullptr;
  OK(VecDuplicate(got, &d));
  OK(VecCopy(got, d));
  OK(VecNorm(want, NORM_2, &norm));
  OK(VecAXPY(d, -1.0, want));
  OK(VecNorm(d, NORM_2, &difference));
  OK(VecDestroy(&d));
  check(difference <= tolerance * norm, label,
        "they differ by " + text(difference) + " of " + text(norm));
}

void check_blocks(const std::string& label, const Pair& pair, PetscReal tolerance = kRounding) {
  PetscInt columns = 0, constraints = 0, l = 0, k = 0, l_of_own = 0, k_of_own = 0;
  OK(BVGetSizes(pair.lanky, nullptr, nullptr, &columns));
  OK(BVGetNumConstraints(pair.lanky, &constraints));
  OK(BVGetActiveColumns(pair.lanky, &l, &k));
  OK(BVGetActiveColumns(pair.own, &l_of_own, &k_of_own));
  check(l == l_of_own && k == k_of_own, label + ": active columns");
  for (PetscInt j = -constraints; j < columns; ++j) {
    Vec got = nullptr, want = nullptr;
    OK(BVGetColumn(pair.lanky, j, &got));
    OK(BVGetColumn(pair.own, j, &want));
    check_vec(label + ": column " + std::to_string(j), got, want, tolerance);
    OK(BVRestoreColumn(pair.lanky, j, &got));
    OK(BVRestoreColumn(pair.own, j, &want));
  }
}

/// A small matrix, the same on all ranks.
Matrix small(PetscInt rows, PetscInt columns, std::uint64_t seed) {
  Matrix q;
  PetscScalar* data = nullptr;
  OK(MatCreateSeqDense(PETSC_COMM_SELF, rows, columns, nullptr, &q));
  OK(MatDenseGetArrayWrite(q, &data));
  for (PetscInt j = 0; j < columns; ++j) {
    for (PetscInt i = 0; i < rows; ++i)
      data[i + j * rows] = number(i, seed, j);
  }
  OK(MatDenseRestoreArrayWrite(q, &data));
  return q;
}
std::vector<PetscScalar> entries(Mat q) {
  PetscInt rows = 0, columns = 0;
  const PetscScalar* data = nullptr;
  OK(MatGetSize(q, &rows, &columns));
  OK(MatDenseGetArrayRead(q, &data));
  std::vector<PetscScalar> copy(data, data + rows * columns);
  OK(MatDenseRestoreArrayRead(q, &data));
  return copy;
}

std::vector<Shape> shapes() {
  const int rank = rank_of_process(), size = rank_count();
  const PetscInt uneven = size == 1 ? 120 : rank == 0 ? 0 : rank == 1 ? 120 - 20 * (size - 2) : 20;
  std::vector<Shape> all;
  for (bool inner_product : {false, true}) {
    const std::string kind = inner_product ? ", x^H B y" : "";
    all.push_back({"all columns" + kind, PETSC_DECIDE, 196, 7, 0, 0, 7, inner_product});
    all.push_back({"active columns" + kind, PETSC_DECIDE, 196, 9, 0, 2, 7, inner_product});
    all.push_back({"constraints" + kind, PETSC_DECIDE, 196, 8, 3, 0, 8, inner_product});
    all.push_back({"both" + kind, PETSC_DECIDE, 196, 8, 2, 3, 6, inner_product});
    all.push_back({"a rank without rows" + kind, uneven, 120, 6, 1, 1, 5, inner_product});
    all.push_back({"one active column" + kind, PETSC_DECIDE, 196, 5, 0, 2, 3, inner_product});
    all.push_back({"no active column" + kind, PETSC_DECIDE, 196, 5, 0, 2, 2, inner_product});
  }
  if (brief) all = {all[3], all[4], all[8]};
  return all;
}

void test_block_operations() {
  for (const Shape& shape : shapes()) {
    const std::string& name = shape.name;
    const PetscInt m = shape.columns, l = shape.l, k = shape.k;
    const Matrix b = laplacian(shape.local, shape.rows, "aijlanky");
    Pair x = blocks(shape, b, 1);
    const Pair y = blocks(shape, b, 2);
    check_blocks(name + ": filled", x);

    {
      const Matrix got = small(m, m, 3), want = small(m, m, 3);
      OK(BVDot(x.lanky, y.lanky, got));
      OK(BVDot(x.own, y.own, want));
      check_numbers(name + ": BVDot", entries(got), entries(want), kRounding);
      OK(BVDot(x.lanky, x.lanky, got));
      OK(BVDot(x.own, x.own, want));
      check_numbers(name + ": BVDot of X and X", entries(got), entries(want), kRounding);
    }
    {
      Pair wide = blocks(shape, b, 2);
      const Matrix q = small(m, m, 4);
      for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {-2.0, 1.0}, {0.5, -0.25}}) {
        OK(BVMult(wide.lanky, alpha, beta, x.lanky, q));
        OK(BVMult(wide.own, alpha, beta, x.own, q));
        check_blocks(name + ": BVMult", wide);
        OK(BVMult(wide.lanky, alpha, beta, x.lanky, nullptr));
        OK(BVMult(wide.own, alpha, beta, x.own, nullptr));
        check_blocks(name + ": BVMult without Q", wide);
      }
      // Of as many columns as X has not.
      if (k - l > 1) {
        OK(BVSetActiveColumns(wide.lanky, l + 1, k));
        OK(BVSetActiveColumns(wide.own, l + 1, k));
        OK(BVMult(wide.lanky, 1.0, 2.0, x.lanky, q));
        OK(BVMult(wide.own, 1.0, 2.0, x.own, q));
        check_blocks(name + ": BVMult of other columns", wide);
      }
    }
    if (k > l) {
      const Matrix q = small(m, m, 5);
      for (auto [s, e] : {std::pair{l, k}, {l, l + 1}, {k - 1, k}, {(l + k) / 2, k}}) {
        Pair v = blocks(shape, b, 6);
        OK(BVMultInPlace(v.lanky, q, s, e));
        OK(BVMultInPlace(v.own, q, s, e));
        check_blocks(name + ": BVMultInPlace", v);
        OK(BVMultInPlaceHermitianTranspose(v.lanky, q, s, e));
        OK(BVMultInPlaceHermitianTranspose(v.own, q, s, e));
        check_blocks(name + ": BVMultInPlaceHermitianTranspose", v);
      }
    }
    {
      Vec v = nullptr, w = nullptr;
      OK(BVCreateVec(x.lanky, &v));
      fill(v, 8);
      OK(VecDuplicate(v, &w));
      OK(VecCopy(v, w));
      std::vector<PetscScalar> got(static_cast<std::size_t>(m), 1.0), want = got;
      OK(BVDotVec(x.lanky, v, got.data()));
      OK(BVDotVec(x.own, v, want.data()));
      check_numbers(name + ": BVDotVec", got, want, kRounding);
      if (k > l) {  // SLEPc ends with an error where there is nothing to reduce
        OK(BVDotVecBegin(x.lanky, v, got.data()));
        OK(BVDotVecEnd(x.lanky, v, got.data()));
        OK(BVDotVecBegin(x.own, v, want.data()));
        OK(BVDotVecEnd(x.own, v, want.data()));
      }
      check_numbers(name + ": BVDotVecBegin, BVDotVecEnd", got, want, kRounding);
      for (PetscScalar& value : want)
        value = number(static_cast<std::uint64_t>(&value - want.data()), 9);
      for (auto [alpha, beta] : {std::pair{1.0, 0.0}, {-0.75, 1.0}, {0.5, 2.0}}) {
        OK(BVMultVec(x.lanky, alpha, beta, v, want.data()));
        if (k > l) {
          OK(BVMultVec(x.own, alpha, beta, w, want.data()));
        } else {
          OK(VecScale(w, beta));  // svec leaves it as it is
        }
        check_vec(name + ": BVMultVec", v, w);
      }
      OK(VecDestroy(&v));
      OK(VecDestroy(&w));
    }
    for (PetscInt j = l + 1; j < k; ++j) {  // as Arnoldi does it
      std::vector<PetscScalar> got(static_cast<std::size_t>(m), 0.0), want = got;
      OK(BVDotColumn(x.lanky, j, got.data()));
      OK(BVDotColumn(x.own, j, want.data()));
      check_numbers(name + ": BVDotColumn", got, want, kRounding);
      OK(BVMultColumn(x.lanky, -1e-3, 1.0, j, want.data()));
      OK(BVMultColumn(x.own, -1e-3, 1.0, j, want.data()));
      check_blocks(name + ": BVMultColumn", x);
    }
    for (NormType norm : {NORM_FROBENIUS, NORM_1, NORM_INFINITY}) {
      if (k == l || (shape.inner_product && norm != NORM_FROBENIUS)) continue;
      if (shape.inner_product) continue;  // SLEPc has none
      PetscReal got = 0, want = 0;
      OK(BVNorm(x.lanky, norm, &got));
      OK(BVNorm(x.own, norm, &want));
      check_numbers(name + ": BVNorm", {got}, {want}, kRounding);
    }
  }
}

void test_orthogonalization() {
  for (const Shape& shape : shapes()) {
    if (shape.k == shape.l) continue;
    const Matrix b = laplacian(shape.local, shape.rows, "aijlanky");
    for (BVOrthogType type : {BV_ORTHOG_CGS, BV_ORTHOG_MGS}) {
      Pair x = blocks(shape, b, 11);
      x.both([&](BV bv) {
        OK(BVSetOrthogonalization(bv, type, BV_ORTHOG_REFINE_IFNEEDED, PETSC_DEFAULT,
                                  BV_ORTHOG_BLOCK_GS));
      });
      const std::string label = shape.name + (type == BV_ORTHOG_CGS ? ": CGS" : ": MGS");
      for (PetscInt j = 0; j < shape.k; ++j) {
        std::vector<PetscScalar> got(static_cast<std::size_t>(shape.columns + shape.constraints)),
            want = got;
        PetscReal norm = 0, norm_of_own = 0;
        PetscBool dependent = PETSC_FALSE;
        OK(BVOrthogonalizeColumn(x.lanky, j, got.data(), &norm, &dependent));
        OK(BVOrthogonalizeColumn(x.own, j, want.data(), &norm_of_own, &dependent));
        got.push_back(norm);
        want.push_back(norm_of_own);
        check_numbers(label, got, want, kRounding);
        OK(BVScaleColumn(x.lanky, j, 1.0 / norm));
        OK(BVScaleColumn(x.own, j, 1.0 / norm_of_own));
      }
      check_blocks(label, x, 10 * kRounding);
    }
    if (shape.constraints > 0) continue;  // SLEPc has no BVOrthogonalize() for them
    for (BVOrthogBlockType type : {BV_ORTHOG_BLOCK_GS, BV_ORTHOG_BLOCK_CHOL, BV_ORTHOG_BLOCK_TSQR,
                                   BV_ORTHOG_BLOCK_TSQRCHOL, BV_ORTHOG_BLOCK_SVQB}) {
      const bool tall = type == BV_ORTHOG_BLOCK_TSQR || type == BV_ORTHOG_BLOCK_TSQRCHOL;
      if (tall && (shape.inner_product || shape.local != PETSC_DECIDE)) continue;
      // SVQB's vectors are its Gram matrix's, which rounding may turn.
      const bool turns = type == BV_ORTHOG_BLOCK_SVQB;
      Pair x = blocks(shape, b, 12);
      const std::string label = shape.name + ": BVOrthogonalize by " + BVOrthogBlockTypes[type];
      Matrix got = small(shape.columns, shape.columns, 13),
             want = small(shape.columns, shape.columns, 13);
      x.both([&](BV bv) {
        OK(BVSetOrthogonalization(bv, BV_ORTHOG_CGS, BV_ORTHOG_REFINE_IFNEEDED, PETSC_DEFAULT,
                                  type));
        if (shape.l > 0) {  // the columns before have to be orthonormal
          OK(BVSetActiveColumns(bv, 0, shape.l));
          OK(BVOrthogonalize(bv, nullptr));
          OK(BVSetActiveColumns(bv, shape.l, shape.k));
        }
        const Mat r = bv == x.lanky ? got : want;
        OK(BVOrthogonalize(bv, turns ? nullptr : r));
      });
      if (!turns) {
        check_blocks(label, x, 100 * kRounding);
        check_numbers(label + ": R", entries(got), entries(want), 100 * kRounding);
      }
      OK(BVSetActiveColumns(x.lanky, 0, shape.k));
      OK(BVDot(x.lanky, x.lanky, got));
      std::vector<PetscScalar> is = entries(got), identity = is;
      for (PetscInt i = 0; i < shape.k; ++i) {
        for (PetscInt j = 0; j < shape.k; ++j) {
          identity[static_cast<std::size_t>(j) * shape.columns + i] = i == j ? 1.0 : 0.0;
        }
      }
      check_numbers(label + ": orthonormal", is, identity, 100 * kRounding);
    }
  }
}

void test_block_with_matrix() {
  for (const Shape& shape : shapes()) {
    if (shape.k == shape.l) continue;
    const std::string& name = shape.name;
    const Matrix b = laplacian(shape.local, shape.rows, "aijlanky");
    const Matrix a = laplacian(shape.local, shape.rows, "aijlanky", 2.0);
    const Matrix aij = laplacian(shape.local, shape.rows, MATAIJ, 2.0);
    for (BVMatMultType method : {BV_MATMULT_VECS, BV_MATMULT_MAT}) {
      const std::string label = name + ", by " + BVMatMultTypes[method];
      Pair x = blocks(shape, b, 21), y = blocks(shape, b, 22);
      x.both([&](BV bv) { OK(BVSetMatMultMethod(bv, method)); });
      y.both([&](BV bv) { OK(BVSetMatMultMethod(bv, method)); });
      for (int round = 0; round < 2; ++round) {
        OK(BVMatMult(x.lanky, a, y.lanky));
        OK(BVMatMult(x.own, aij, y.own));
        check_blocks(label + ": BVMatMult", y);
        OK(BVMatMultTranspose(x.lanky, a, y.lanky));
        OK(BVMatMultTranspose(x.own, aij, y.own));
        check_blocks(label + ": BVMatMultTranspose", y);
        x.both([](BV bv) { OK(BVScale(bv, 1.5)); });
      }
      OK(BVMatMultColumn(x.lanky, a, shape.l));
      OK(BVMatMultColumn(x.own, aij, shape.l));
      check_blocks(label + ": BVMatMultColumn", x);
      for (bool symmetric : {true, false}) {
        const Matrix got = small(shape.columns, shape.columns, 23),
                     want = small(shape.columns, shape.columns, 23);
        OK(BVMatProject(x.lanky, a, symmetric ? x.lanky : y.lanky, got));
        OK(BVMatProject(x.own, aij, symmetric ? x.own : y.own, want));
        check_numbers(label + ": BVMatProject", entries(got), entries(want), kRounding);
      }
    }
  }
}

void test_block_shapes() {
  for (const Shape& shape : shapes()) {
    const Matrix b = laplacian(shape.local, shape.rows, "aijlanky");
    if (shape.constraints == 0) {
      Pair x = blocks(shape, b, 31);
      for (PetscInt columns : {shape.columns + 4, shape.columns + 1}) {
        x.both([&](BV bv) { OK(BVResize(bv, columns, PETSC_TRUE)); });
        check_blocks(shape.name + ": BVResize", x);
        x.both([&](BV bv) { fill_block(bv, 33); });
        check_blocks(shape.name + ": BVResize, filled", x);
      }
    }
    Pair x = blocks(shape, b, 34);
    if (shape.l > 0 && shape.k > shape.l) {
      BV parts[2][2] = {};
      OK(BVGetSplit(x.lanky, &parts[0][0], &parts[0][1]));
      OK(BVGetSplit(x.own, &parts[1][0], &parts[1][1]));
      for (const auto& part : parts) {
        const Matrix q = small(shape.columns, shape.columns, 35);
        PetscInt active = 0, size = 0;
        OK(BVGetActiveColumns(part[1], &active, &size));
        OK(BVMultInPlace(part[1], q, active, size));
        OK(BVGetActiveColumns(part[0], &active, &size));
        OK(BVMultInPlace(part[0], q, active, size));
        OK(BVSetActiveColumns(part[1], 0, std::min<PetscInt>(1, shape.k - shape.l)));
        OK(BVMult(part[1], 0.5, 1.0, part[0], q));
      }
      OK(BVRestoreSplit(x.lanky, &parts[0][0], &parts[0][1]));
      OK(BVRestoreSplit(x.own, &parts[1][0], &parts[1][1]));
      check_blocks(shape.name + ": BVGetSplit", x);
    }
    Pair copy;
    OK(BVDuplicate(x.lanky, &copy.lanky));
    OK(BVDuplicate(x.own, &copy.own));
    BVType type = nullptr;
    OK(BVGetType(copy.lanky, &type));
    check(std::string(type) == "lanky", shape.name + ": BVDuplicate");
    OK(BVCopy(x.lanky, copy.lanky));
    OK(BVCopy(x.own, copy.own));
    OK(BVSetRandom(x.lanky));
    Mat dense = nullptr;
    OK(BVGetMat(copy.lanky, &dense));
    OK(BVRestoreMat(copy.lanky, &dense));
  }
}

/// x of A x = b, and how many iterations it took.
std::pair<Vector, PetscInt> solve(Mat a, const char* method, const char* preconditioner) {
  KSP solver = nullptr;
  PC pc = nullptr;
  PetscInt iterations = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  Vector x, b;
  OK(MatCreateVecs(a, &x, &b));
  fill(b, 41);
  OK(KSPCreate(PETSC_COMM_WORLD, &solver));
  OK(KSPSetOperators(solver, a, a));
  OK(KSPSetType(solver, method));
  OK(KSPGetPC(solver, &pc));
  OK(PCSetType(pc, preconditioner));
  OK(KSPSetTolerances(solver, kAsked, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  OK(KSPSolve(solver, b, x));
  OK(KSPGetConvergedReason(solver, &reason));
  OK(KSPGetIterationNumber(solver, &iterations));
  check(reason > 0, std::string(method) + " with " + preconditioner + ": converged");
  OK(KSPDestroy(&solver));
  return {std::move(x), iterations};
}

void test_linear_solvers() {
  const Matrix lanky = laplacian(PETSC_DECIDE, 900, "aijlanky");
  const Matrix aij = laplacian(PETSC_DECIDE, 900, MATAIJ);
  for (auto [method, preconditioner] : {std::pair{KSPCG, PCJACOBI},
                                        {KSPCG, PCBJACOBI},
                                        {KSPCG, PCGAMG},
                                        {KSPCG, PCSOR},
                                        {KSPGMRES, PCJACOBI},
                                        {KSPGMRES, PCBJACOBI},
                                        {KSPGMRES, PCASM},
                                        {KSPBCGS, PCNONE},
                                        {KSPPIPECG, PCJACOBI},
                                        {KSPLSQR, PCNONE}}) {
    const std::string label = std::string(method) + " with " + preconditioner;
    if (brief && std::string(method) != KSPGMRES) continue;
    auto [got, iterations] = solve(lanky, method, preconditioner);
    auto [want, iterations_of_own] = solve(aij, method, preconditioner);
    check_vec(label, got, want, kReached);
    check(std::abs(iterations - iterations_of_own) <= 1 + iterations_of_own / 10, label,
          std::to_string(iterations) + " iterations, not " + std::to_string(iterations_of_own));
  }
}

std::vector<PetscScalar> eigenvalues(Mat a, Mat b, const char* method, const char* block,
                                     EPSWhich which) {
  EPS solver = nullptr;
  BV bv = nullptr;
  PetscInt converged = 0;
  OK(EPSCreate(PETSC_COMM_WORLD, &solver));
  OK(EPSSetOperators(solver, a, b));
  OK(EPSSetProblemType(solver, b ? EPS_GHEP : EPS_HEP));
  OK(EPSSetType(solver, method));
  if (b && std::string(method) != EPSLOBPCG && std::string(method) != EPSGD) {
    // These invert B: on several ranks a factorization would need another library.
    ST transformation = nullptr;
    KSP inverse = nullptr;
    PC jacobi = nullptr;
    OK(EPSGetST(solver, &transformation));
    OK(STGetKSP(transformation, &inverse));
    OK(KSPSetType(inverse, KSPCG));
    OK(KSPGetPC(inverse, &jacobi));
    OK(PCSetType(jacobi, PCJACOBI));
    OK(KSPSetTolerances(inverse, kAsked / 100, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  }
  OK(EPSGetBV(solver, &bv));
  OK(BVSetType(bv, block));
  OK(EPSSetDimensions(solver, 4, PETSC_DEFAULT, PETSC_DEFAULT));
  OK(EPSSetWhichEigenpairs(solver, which));
  OK(EPSSetTolerances(solver, kDouble ? 1e-8 : 1e-5, 500));
  OK(EPSSolve(solver));
  OK(EPSGetConverged(solver, &converged));
  check(converged >= 4, std::string(method) + " with " + block + ": converged");
  std::vector<PetscScalar> values;
  for (PetscInt i = 0; i < std::min<PetscInt>(4, converged); ++i) {
    PetscScalar value = 0;
    PetscReal error = 0;
    OK(EPSGetEigenvalue(solver, i, &value, nullptr));
    OK(EPSComputeError(solver, i, EPS_ERROR_RELATIVE, &error));
    check(error < kReached, std::string(method) + " with " + block + ": the residual is small",
          std::to_string(error));
    values.push_back(PetscRealPart(value));
  }
  OK(EPSDestroy(&solver));
  return values;
}

void test_eigensolvers() {
  const Matrix lanky = laplacian(PETSC_DECIDE, 196, "aijlanky");
  const Matrix aij = laplacian(PETSC_DECIDE, 196, MATAIJ);
  const Matrix mass = laplacian(PETSC_DECIDE, 196, "aijlanky", 3.0);
  const Matrix mass_aij = laplacian(PETSC_DECIDE, 196, MATAIJ, 3.0);
  for (const char* method : {EPSKRYLOVSCHUR, EPSLOBPCG, EPSGD, EPSSUBSPACE}) {
    const bool smallest = std::string(method) == EPSLOBPCG || std::string(method) == EPSGD;
    if (brief && std::string(method) != EPSKRYLOVSCHUR) continue;
    const EPSWhich which = smallest ? EPS_SMALLEST_REAL : EPS_LARGEST_MAGNITUDE;
    const std::string label = std::string("eigenvalues by ") + method;
    check_numbers(label, eigenvalues(lanky, nullptr, method, "lanky", which),
                  eigenvalues(aij, nullptr, method, BVSVEC, which), kEigenvalues);
    if (std::string(method) == EPSSUBSPACE) continue;  // it solves with B thousands of times
    check_numbers(label + ", generalized", eigenvalues(lanky, mass, method, "lanky", which),
                  eigenvalues(aij, mass_aij, method, BVSVEC, which), kEigenvalues);
  }
}

std::vector<PetscScalar> singular_values(Mat a, const char* block) {
  SVD solver = nullptr;
  BV left = nullptr, right = nullptr;
  PetscInt converged = 0;
  OK(SVDCreate(PETSC_COMM_WORLD, &solver));
  OK(SVDSetOperators(solver, a, nullptr));
  OK(SVDSetType(solver, SVDTRLANCZOS));
  OK(SVDGetBV(solver, &right, &left));
  OK(BVSetType(left, block));
  OK(BVSetType(right, block));
  OK(SVDSetDimensions(solver, 3, PETSC_DEFAULT, PETSC_DEFAULT));
  OK(SVDSolve(solver));
  OK(SVDGetConverged(solver, &converged));
  check(converged >= 3, std::string("singular values with ") + block + ": converged");
  std::vector<PetscScalar> values;
  for (PetscInt i = 0; i < std::min<PetscInt>(3, converged); ++i) {
    PetscReal value = 0;
    OK(SVDGetSingularTriplet(solver, i, &value, nullptr, nullptr));
    values.push_back(value);
  }
  OK(SVDDestroy(&solver));
  return values;
}

void test_singular_values() {
  Matrix tall[2];
  for (int i = 0; i < 2; ++i) {
    PetscInt begin = 0, end = 0;
    Mat a = nullptr;
    OK(MatCreate(PETSC_COMM_WORLD, &a));
    OK(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, 260, 40));
    OK(MatSetType(a, i == 0 ? "aijlanky" : MATAIJ));
    OK(MatSeqAIJSetPreallocation(a, 3, nullptr));
    OK(MatMPIAIJSetPreallocation(a, 3, nullptr, 3, nullptr));
    OK(MatGetOwnershipRange(a, &begin, &end));
    for (PetscInt row = begin; row < end; ++row) {
      for (PetscInt j = 0; j < 3; ++j) {
        OK(MatSetValue(a, row, (row * 3 + j * 11) % 40, number(row, j), ADD_VALUES));
      }
    }
    OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    tall[i] = Matrix(a);
  }
  check_numbers("singular values", singular_values(tall[0], "lanky"),
                singular_values(tall[1], BVSVEC), kEigenvalues);
}

}  // namespace

int main(int argc, char** argv) {
  OK(static_cast<PetscErrorCode>(MPI_Init(&argc, &argv)));
  int status = 0;
  for (int round = 0; round < 2; ++round) {
    PetscCall(SlepcInitialize(&argc, &argv, nullptr, nullptr));
    PetscBool asked = PETSC_FALSE;
    PetscCall(PetscOptionsHasName(nullptr, nullptr, "-brief", &asked));
    brief = asked == PETSC_TRUE;
    PetscCall(PetscLogDefaultBegin());
    test_block_operations();
    if (round == 0) {
      test_orthogonalization();
      test_block_with_matrix();
      test_block_shapes();
      test_linear_solvers();
      test_eigensolvers();
      test_singular_values();
    }
    check(logged("LankyGemm").count > 0 && (logged("LankyGemm").flops > 0), "LankyGemm is logged");
    status |= verdict("solver_test");
    PetscCall(SlepcFinalize());
  }
  OK(static_cast<PetscErrorCode>(MPI_Finalize()));
  return status;
}
