// Compares the matrix type aijlanky with PETSc's own aij: products, all that changes a matrix, and
// what PETSc makes of one. The options load the plug-in; the status is not 0 where something
// failed.
//
//   mpirun -n 2 matrix_test -dll_append .../liblankypetsc.so
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "check.hpp"

namespace {

using namespace petsc_test;

bool brief = false;  // as much as has time to run under valgrind

struct Family {
  std::string name;
  PetscInt rows = 0, cols = 0;
  PetscInt local_rows = PETSC_DECIDE, local_cols = PETSC_DECIDE;
  std::function<std::vector<PetscInt>(PetscInt)> columns_of;  // of a row; they may come twice
};

std::vector<PetscInt> irregular_row(PetscInt i, PetscInt cols) {
  std::vector<PetscInt> columns;
  if (i % 11 == 3) return columns;
  const auto count = static_cast<PetscInt>(i % 73 == 17 ? cols * 2 / 3 : mixed(i, 5) % 7);
  for (PetscInt k = 0; k < count; ++k) {
    columns.push_back(static_cast<PetscInt>(mixed(i, k, 3) % cols));
  }
  return columns;
}
std::function<std::vector<PetscInt>(PetscInt)> irregular(PetscInt cols) {
  return [cols](PetscInt i) { return irregular_row(i, cols); };
}

std::vector<PetscInt> stencil_row(PetscInt i) {
  constexpr PetscInt kSide = 13;
  std::vector<PetscInt> columns{i};
  if (i % kSide > 0) columns.push_back(i - 1);
  if (i % kSide < kSide - 1) columns.push_back(i + 1);
  if (i >= kSide) columns.push_back(i - kSide);
  if (i < kSide * (kSide - 1)) columns.push_back(i + kSide);
  return columns;
}

std::vector<Family> families() {
  const int rank = rank_of_process(), size = rank_count();
  // Rank 0 has no rows, and the last one no columns.
  const PetscInt with_rows = size == 1 ? 90 : rank == 0 ? 0 : rank == 1 ? 90 - 20 * (size - 2) : 20;
  const PetscInt with_cols = size == 1          ? 90
                             : rank == size - 1 ? 0
                             : rank == 0        ? 90 - 20 * (size - 2)
                                                : 20;
  return {
      {"irregular", 211, 211, PETSC_DECIDE, PETSC_DECIDE, irregular(211)},
      {"stencil", 169, 169, PETSC_DECIDE, PETSC_DECIDE, stencil_row},
      {"tall", 301, 23, PETSC_DECIDE, PETSC_DECIDE, irregular(23)},
      {"wide", 19, 257, PETSC_DECIDE, PETSC_DECIDE, irregular(257)},
      {"ranks without rows", 90, 90, with_rows, with_rows, irregular(90)},
      {"ranks without columns", 90, 90, with_rows, with_cols, irregular(90)},
      {"block diagonal", 30 * size, 30 * size, 30, 30,
       [](PetscInt i) {
         return std::vector<PetscInt>{i, i / 30 * 30 + (i * 7 + 3) % 30};
       }},
      {"one rank has ghosts", 30 * size, 30 * size, 30, 30,
       [size](PetscInt i) {
         return std::vector<PetscInt>{i, i < 30 ? (i * 41) % (30 * size) : i};
       }},
      {"without nonzeros", 50, 40, PETSC_DECIDE, PETSC_DECIDE,
       [](PetscInt) { return std::vector<PetscInt>{}; }},
      {"without rows", 0, 30, PETSC_DECIDE, PETSC_DECIDE,
       [](PetscInt) { return std::vector<PetscInt>{}; }},
      {"without columns", 30, 0, PETSC_DECIDE, PETSC_DECIDE,
       [](PetscInt) { return std::vector<PetscInt>{}; }},
  };
}

/// Whether a loop over families leaves one out.
bool left_out(const Family& family) {
  return brief && family.name != "ranks without rows" && family.name != "wide";
}

void insert(Mat a, const Family& family, std::uint64_t seed) {
  PetscInt begin = 0, end = 0;
  OK(MatGetOwnershipRange(a, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) {
    for (PetscInt j : family.columns_of(i))
      OK(MatSetValue(a, i, j, number(i, j, seed), ADD_VALUES));
  }
  OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
}

Matrix build(const Family& family, MatType type, std::uint64_t seed = 1) {
  Matrix a;
  OK(MatCreate(PETSC_COMM_WORLD, &a));
  OK(MatSetSizes(a, family.local_rows, family.local_cols, family.rows, family.cols));
  OK(MatSetType(a, type));
  OK(MatSeqAIJSetPreallocation(a, 8, nullptr));
  OK(MatMPIAIJSetPreallocation(a, 8, nullptr, 8, nullptr));
  OK(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  insert(a, family, seed);
  return a;
}

/// The blocks of a distributed matrix, or the matrix itself.
std::vector<Mat> blocks_of(Mat a) {
  PetscBool sequential = PETSC_FALSE;
  OK(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(a), MATSEQAIJ, &sequential));
  if (sequential) return {a};
  Mat diagonal = nullptr, off_diagonal = nullptr;
  OK(MatMPIAIJGetSeqAIJ(a, &diagonal, &off_diagonal, nullptr));
  return {diagonal, off_diagonal};
}

/// Changes the values of a sequential matrix through its array.
void change_array(Mat block, const std::function<PetscScalar(PetscScalar)>& change) {
  PetscScalar* values = nullptr;
  const PetscInt *offsets = nullptr, *columns = nullptr;
  PetscInt rows = 0;
  PetscBool done = PETSC_FALSE;
  OK(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &columns, &done));
  const PetscInt nnz = rows > 0 ? offsets[rows] : 0;
  OK(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &columns, &done));
  OK(MatSeqAIJGetArray(block, &values));
  for (PetscInt k = 0; k < nnz; ++k)
    values[k] = change(values[k]);
  OK(MatSeqAIJRestoreArray(block, &values));
}

Matrix absolute(Mat aij) {
  Matrix a;
  OK(MatDuplicate(aij, MAT_COPY_VALUES, &a));
  for (Mat block : blocks_of(a)) {
    change_array(block, [](PetscScalar v) { return PetscScalar(PetscAbsScalar(v)); });
  }
  return a;
}
Vector absolute(Vec x) {
  Vector y;
  OK(VecDuplicate(x, &y));
  OK(VecCopy(x, y));
  OK(VecAbs(y));
  return y;
}

/// What A x adds up, entry by entry: |A| |x|, or |A^T| |x|. A vector like `product`.
Vector bound_of(Mat absolute_a, Vec x, bool transposed, Vec product) {
  Vector y;
  const Vector absolute_x = absolute(x);
  OK(VecDuplicate(product, &y));
  OK(transposed ? MatMultTranspose(absolute_a, absolute_x, y) : MatMult(absolute_a, absolute_x, y));
  return y;
}

enum class Op { none, trans, conj_trans };
constexpr std::pair<Op, const char*> kOps[] = {
    {Op::none, "A x"}, {Op::trans, "A^T x"}, {Op::conj_trans, "A^H x"}};

PetscErrorCode apply(Mat a, Op op, Vec x, Vec y) {
  return op == Op::none    ? MatMult(a, x, y)
         : op == Op::trans ? MatMultTranspose(a, x, y)
                           : MatMultHermitianTranspose(a, x, y);
}
PetscErrorCode apply_add(Mat a, Op op, Vec x, Vec y, Vec z) {
  return op == Op::none    ? MatMultAdd(a, x, y, z)
         : op == Op::trans ? MatMultTransposeAdd(a, x, y, z)
                           : MatMultHermitianTransposeAdd(a, x, y, z);
}

void check_vectors(const std::string& label, Mat lanky, Mat aij) {
  const Matrix sizes = absolute(aij);
  for (const auto& [op, name] : kOps) {
    Vector x, y, got, want;
    const bool flip = op != Op::none;
    OK(MatCreateVecs(lanky, flip ? &y : &x, flip ? &x : &y));
    OK(VecDuplicate(y, &got));
    OK(VecDuplicate(y, &want));
    fill(x, 11);
    fill(y, 12);
    const std::string which = label + ": " + name;
    const Vector bound = bound_of(sizes, x, flip, y);
    OK(VecSet(got, 7.0));  // nothing may be left of this
    OK(apply(lanky, op, x, got));
    OK(apply(aij, op, x, want));
    check_close(which, got, want, bound);

    OK(VecAXPY(bound, 1.0, absolute(y)));
    OK(apply_add(aij, op, x, y, want));
    OK(VecSet(got, 7.0));
    OK(apply_add(lanky, op, x, y, got));
    check_close(which + " + y", got, want, bound);
    OK(apply_add(lanky, op, x, y, y));
    check_close(which + " + y into y", y, want, bound);
  }
}

/// Each column of C is the product with that of X, as aij multiplies vectors.
void check_columns(const std::string& label, Mat aij, Mat sizes, bool transposed, Mat x, Mat c) {
  PetscInt columns = 0, columns_of_c = 0;
  OK(MatGetSize(x, nullptr, &columns));
  OK(MatGetSize(c, nullptr, &columns_of_c));
  if (!check(columns == columns_of_c, label, "columns")) return;
  for (PetscInt j = 0; j < columns; ++j) {
    Vec from = nullptr, got = nullptr;
    Vector want;
    OK(MatCreateVecs(aij, transposed ? &want : nullptr, transposed ? nullptr : &want));
    OK(MatDenseGetColumnVecRead(x, j, &from));
    OK(MatDenseGetColumnVecRead(c, j, &got));
    OK(transposed ? MatMultTranspose(aij, from, want) : MatMult(aij, from, want));
    check_close(label + " column " + std::to_string(j), got, want,
                bound_of(sizes, from, transposed, want));
    OK(MatDenseRestoreColumnVecRead(c, j, &got));
    OK(MatDenseRestoreColumnVecRead(x, j, &from));
  }
}

/// X for A X, or for A^T X.
Matrix operand(Mat a, bool transposed, PetscInt columns, PetscInt padding, std::uint64_t seed) {
  PetscInt rows = 0, all_rows = 0;
  OK(MatGetLocalSize(a, transposed ? &rows : nullptr, transposed ? nullptr : &rows));
  OK(MatGetSize(a, transposed ? &all_rows : nullptr, transposed ? nullptr : &all_rows));
  return dense(rows, all_rows, columns, padding, seed);
}

PetscErrorCode multiply_dense(Mat a, bool transposed, Mat x, MatReuse reuse, Mat* c) {
  return transposed ? MatTransposeMatMult(a, x, reuse, PETSC_DEFAULT, c)
                    : MatMatMult(a, x, reuse, PETSC_DEFAULT, c);
}

void check_dense(const std::string& label, Mat lanky, Mat aij,
                 const std::vector<PetscInt>& widths) {
  const Matrix sizes = absolute(aij);
  for (bool transposed : {false, true}) {
    for (PetscInt columns : widths) {
      const std::string which =
          label + (transposed ? ": A^T X of " : ": A X of ") + std::to_string(columns) + " columns";
      Matrix c;
      const Matrix x = operand(lanky, transposed, columns, 0, 21);
      OK(multiply_dense(lanky, transposed, x, MAT_INITIAL_MATRIX, &c));
      check_columns(which, aij, sizes, transposed, x, c);
      OK(MatScale(x, -0.75));
      OK(multiply_dense(lanky, transposed, x, MAT_REUSE_MATRIX, &c));
      check_columns(which + ", again", aij, sizes, transposed, x, c);
      // On one rank alone the leading dimension is another one.
      for (PetscInt padding : {5, 5 * (rank_of_process() % 2)}) {
        const Matrix other = operand(lanky, transposed, columns, padding, 22 + padding);
        OK(multiply_dense(lanky, transposed, other, MAT_REUSE_MATRIX, &c));
        check_columns(which + ", another X", aij, sizes, transposed, other, c);
        Matrix first;
        OK(multiply_dense(lanky, transposed, other, MAT_INITIAL_MATRIX, &first));
        check_columns(which + ", padded", aij, sizes, transposed, other, first);
      }
      // Into a matrix of the user's, twice.
      Matrix mine = operand(lanky, !transposed, columns, 3, 23);
      const Matrix y = operand(lanky, transposed, columns, 2, 24);
      OK(MatProductCreateWithMat(lanky, y, nullptr, mine));
      OK(MatProductSetType(mine, transposed ? MATPRODUCT_AtB : MATPRODUCT_AB));
      OK(MatProductSetFromOptions(mine));
      OK(MatProductSymbolic(mine));
      OK(MatProductNumeric(mine));
      check_columns(which + ", the user's C", aij, sizes, transposed, y, mine);
      OK(MatScale(y, 3.0));
      OK(MatProductNumeric(mine));
      check_columns(which + ", the user's C again", aij, sizes, transposed, y, mine);
    }
  }
}

/// |got - want| is small beside |want|, for what PETSc's own functions computed both times.
void check_same(const std::string& label, Mat got, Mat want) {
  Matrix a, b;
  PetscReal difference = 0, norm = 0;
  OK(MatConvert(got, MATDENSE, MAT_INITIAL_MATRIX, &a));
  OK(MatConvert(want, MATDENSE, MAT_INITIAL_MATRIX, &b));
  OK(MatNorm(b, NORM_FROBENIUS, &norm));
  OK(MatAXPY(a, -1.0, b, SAME_NONZERO_PATTERN));
  OK(MatNorm(a, NORM_FROBENIUS, &difference));
  check(difference <= 200 * PETSC_MACHINE_EPSILON * norm, label,
        "they differ by " + text(difference) + " of " + text(norm));
}

void check_dense_first(const std::string& label, Mat lanky, Mat aij) {
  PetscInt rows = 0, all_rows = 0;
  OK(MatGetLocalSize(lanky, &rows, nullptr));
  OK(MatGetSize(lanky, &all_rows, nullptr));
  // D A of a D with A's rows as columns.
  Matrix d, got, want;
  OK(MatCreate(PETSC_COMM_WORLD, &d));
  OK(MatSetSizes(d, PETSC_DECIDE, rows, 6, all_rows));
  OK(MatSetType(d, MATDENSE));
  OK(MatSetUp(d));
  OK(MatSetRandom(d, nullptr));
  OK(MatAssemblyBegin(d, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(d, MAT_FINAL_ASSEMBLY));
  OK(MatMatMult(d, lanky, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &got));
  OK(MatMatMult(d, aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &want));
  check_same(label + ": D A", got, want);
  OK(MatMatMult(d, lanky, MAT_REUSE_MATRIX, PETSC_DEFAULT, &got));
  check_same(label + ": D A, again", got, want);
}

/// The diagonal block alone, which solvers multiply with themselves.
void check_diagonal_block(const std::string& label, Mat lanky, Mat aij) {
  Mat block = nullptr, want = nullptr;
  PetscInt rows = 0, cols = 0;
  OK(MatGetLocalSize(aij, &rows, &cols));
  const bool square = rows == cols;
  if (on_all_ranks(square ? 0 : 1, MPI_SUM) > 0) return;
  OK(MatGetDiagonalBlock(lanky, &block));
  OK(MatGetDiagonalBlock(aij, &want));
  check_type(label + ": the diagonal block", block, "seqaijlanky", "seqaijlanky");
  check_vectors(label + ": the diagonal block", block, want);
}

/// All of it in short.
void check_products(const std::string& label, Mat lanky, Mat aij) {
  check_lanky(label, lanky);
  check_diagonal_block(label, lanky, aij);
  check_vectors(label, lanky, aij);
  check_dense(label, lanky, aij, {3});
  check_diagonal_block(label + ", after it", lanky, aij);
}

struct Counts {
  int plans = 0, updates = 0;
};
Counts counts() {
  return {on_all_ranks(logged("LankyPlan").count, MPI_SUM),
          on_all_ranks(logged("LankyUpdate").count, MPI_SUM)};
}

void test_products() {
  for (const Family& family : families()) {
    if (left_out(family)) continue;
    const Matrix aij = build(family, MATAIJ);
    const Matrix lanky = build(family, "aijlanky");
    check_lanky(family.name, lanky);
    check_vectors(family.name, lanky, aij);
    check_dense(family.name, lanky, aij,
                brief ? std::vector<PetscInt>{1, 5} : std::vector<PetscInt>{1, 2, 16, 33});
    if (family.rows > 0 && family.cols > 0) check_dense_first(family.name, lanky, aij);
    check_products(family.name + ", in short", lanky, aij);
    const Counts before = counts();
    const double flops = logged("LankyMult").flops;
    check_products(family.name + ", unchanged", lanky, aij);
    const Counts after = counts();
    check(after.plans == before.plans && after.updates == before.updates,
          family.name + ": plans of an unchanged matrix are used again",
          std::to_string(after.plans - before.plans) + " plans and " +
              std::to_string(after.updates - before.updates) + " updates more");
    MatInfo info;
    OK(MatGetInfo(lanky, MAT_LOCAL, &info));
    check(info.nz_used == 0 || logged("LankyMult").flops > flops,
          family.name + ": flops are logged");
  }
}

enum class Effect { values, pattern, either };
struct Change {
  const char* name;
  Effect effect;
  std::function<void(Mat)> apply;
};

/// The columns of the first entry of each local row that has one.
std::map<PetscInt, PetscInt> first_entries(Mat a) {
  std::map<PetscInt, PetscInt> first;
  PetscInt begin = 0, end = 0;
  OK(MatGetOwnershipRange(a, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    OK(MatGetRow(a, i, &count, &columns, nullptr));
    if (count > 0) first[i] = columns[0];
    OK(MatRestoreRow(a, i, &count, &columns, nullptr));
  }
  return first;
}
void assemble(Mat a) {
  OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
}

std::vector<Change> changes(const Family& family) {
  auto another = [family](Mat a, std::uint64_t seed) {
    Family shifted = family;
    const PetscInt cols = family.cols;
    shifted.columns_of = [family, cols](PetscInt i) {
      std::vector<PetscInt> columns = family.columns_of(i);
      for (PetscInt& j : columns)
        j = (j + cols / 2 + 1) % cols;
      return columns;
    };
    MatType type = nullptr;
    OK(MatGetType(a, &type));
    return build(shifted, type, seed);
  };
  return {
      {"MatSetValues", Effect::values,
       [](Mat a) {
         for (auto [i, j] : first_entries(a))
           OK(MatSetValue(a, i, j, number(i, j, 9), INSERT_VALUES));
         assemble(a);
       }},
      {"MatSetValues into another rank's rows", Effect::values,
       [](Mat a) {
         PetscInt rows = 0;
         OK(MatGetSize(a, &rows, nullptr));
         // The diagonal entry of row 0 and of the last row, which every rank adds to.
         auto first = first_entries(a);
         for (PetscInt row : {PetscInt(0), rows - 1}) {
           int column = first.count(row) ? static_cast<int>(first[row]) : -1;
           column = on_all_ranks(column, MPI_MAX);
           if (column >= 0) OK(MatSetValue(a, row, column, 0.25, ADD_VALUES));
         }
         assemble(a);
       }},
      {"MatScale", Effect::values, [](Mat a) { OK(MatScale(a, 2.5)); }},
      {"MatDiagonalScale", Effect::values,
       [](Mat a) {
         Vector left, right;
         OK(MatCreateVecs(a, &right, &left));
         fill(left, 31);
         fill(right, 32);
         OK(MatDiagonalScale(a, left, right));
       }},
      {"MatDiagonalScale from the right", Effect::values,
       [](Mat a) {
         Vector right;
         OK(MatCreateVecs(a, &right, nullptr));
         fill(right, 33);
         OK(MatDiagonalScale(a, nullptr, right));
       }},
      {"MatSeqAIJGetArray", Effect::values,
       [](Mat a) {
         for (Mat block : blocks_of(a)) {
           change_array(block, [](PetscScalar v) { return v * PetscScalar(1.5); });
         }
       }},
      {"MatConjugate", PetscDefined(USE_COMPLEX) ? Effect::values : Effect::either,
       [](Mat a) { OK(MatConjugate(a)); }},
      {"MatStoreValues, MatRetrieveValues", Effect::either,
       [](Mat a) {
         OK(MatSetOption(a, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
         OK(MatStoreValues(a));
         OK(MatScale(a, 3.0));
         Vector x, y;
         OK(MatCreateVecs(a, &x, &y));
         fill(x, 34);
         OK(MatMult(a, x, y));
         OK(MatRetrieveValues(a));
         OK(MatSetOption(a, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
       }},
      {"MatCopy of the same pattern", Effect::values,
       [family](Mat a) {
         MatType type = nullptr;
         OK(MatGetType(a, &type));
         OK(MatCopy(build(family, type, 5), a, SAME_NONZERO_PATTERN));
       }},
      {"MatAXPY of the same pattern", Effect::values,
       [family](Mat a) {
         MatType type = nullptr;
         OK(MatGetType(a, &type));
         OK(MatAXPY(a, -0.5, build(family, type, 6), SAME_NONZERO_PATTERN));
       }},
      {"MatShift", Effect::either, [](Mat a) { OK(MatShift(a, 4.0)); }},
      {"MatDiagonalSet", Effect::either,
       [](Mat a) {
         Vector d;
         OK(MatCreateVecs(a, nullptr, &d));
         fill(d, 35);
         OK(MatDiagonalSet(a, d, ADD_VALUES));
       }},
      {"new nonzeros", Effect::pattern,
       [](Mat a) {
         PetscInt begin = 0, end = 0, rows = 0, cols = 0;
         OK(MatGetOwnershipRange(a, &begin, &end));
         OK(MatGetSize(a, &rows, &cols));
         for (PetscInt i = begin; i < end; ++i) {
           for (PetscInt k = 1; k < 4; ++k) {
             OK(MatSetValue(a, i, (i * 5 + k * cols / 4) % cols, number(i, k, 8), ADD_VALUES));
           }
         }
         assemble(a);
       }},
      {"MatAXPY of another pattern", Effect::pattern,
       [another](Mat a) { OK(MatAXPY(a, 0.5, another(a, 7), DIFFERENT_NONZERO_PATTERN)); }},
      {"MatAXPY of another type", Effect::pattern,
       [family](Mat a) {
         OK(MatAXPY(a, 0.5, build(family, MATAIJ, 15), DIFFERENT_NONZERO_PATTERN));
         Family other = family;
         other.columns_of = [family](PetscInt i) {
           return std::vector<PetscInt>{(i * 3 + 1) % family.cols};
         };
         OK(MatAXPY(a, 0.5, build(other, MATAIJ, 16), DIFFERENT_NONZERO_PATTERN));
       }},
      {"MatCopy of another pattern", Effect::either,
       [another](Mat a) {
         const Matrix other = another(a, 3);
         OK(MatAXPY(a, 1.0, other, DIFFERENT_NONZERO_PATTERN));  // a holds that pattern
         OK(MatCopy(other, a, DIFFERENT_NONZERO_PATTERN));
       }},
      {"MatZeroRows", Effect::either,
       [](Mat a) {
         OK(MatShift(
             a, 1.0));  // PETSc 3.18 writes into freed memory where a diagonal entry is missing
         PetscInt begin = 0, end = 0;
         OK(MatGetOwnershipRange(a, &begin, &end));
         std::vector<PetscInt> rows;
         for (PetscInt i = begin; i < end; i += 5)
           rows.push_back(i);
         OK(MatZeroRows(a, static_cast<PetscInt>(rows.size()), rows.data(), 2.0, nullptr, nullptr));
       }},
      {"MatZeroRowsColumns", Effect::either,
       [](Mat a) {
         PetscInt begin = 0, end = 0;
         OK(MatGetOwnershipRange(a, &begin, &end));
         std::vector<PetscInt> rows;
         for (PetscInt i = begin + 2; i < end; i += 7)
           rows.push_back(i);
         OK(MatShift(a, 1.0));
         OK(MatZeroRowsColumns(a, static_cast<PetscInt>(rows.size()), rows.data(), 2.0, nullptr,
                               nullptr));
       }},
      {"a new preallocation", Effect::pattern,
       [family](Mat a) {
         OK(MatSeqAIJSetPreallocation(a, 8, nullptr));
         OK(MatMPIAIJSetPreallocation(a, 8, nullptr, 8, nullptr));
         OK(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
         Family other = family;
         other.columns_of = [family](PetscInt i) {  // as many entries, elsewhere
           std::vector<PetscInt> columns = family.columns_of(i);
           for (PetscInt& j : columns)
             j = (family.cols - 1) - j;
           return columns;
         };
         insert(a, other, 4);
       }},
      {"MatTranspose in place", Effect::pattern,
       [](Mat a) { OK(MatTranspose(a, MAT_INPLACE_MATRIX, &a)); }},
      {"MatZeroEntries", Effect::values, [](Mat a) { OK(MatZeroEntries(a)); }},
  };
}

void test_changes() {
  for (const Family& family : families()) {
    if (left_out(family)) continue;
    if (family.name != "irregular" && family.name != "stencil" &&
        family.name != "ranks without rows") {
      continue;
    }
    for (const Change& change : changes(family)) {
      const std::string label = family.name + ", " + change.name;
      if (brief && change.effect != Effect::pattern) continue;
      const Matrix aij = build(family, MATAIJ);
      const Matrix lanky = build(family, "aijlanky");
      check_products(label + ", before", lanky, aij);
      change.apply(aij);
      change.apply(lanky);
      const Counts before = counts();
      check_products(label, lanky, aij);
      const Counts after = counts();
      const int plans = after.plans - before.plans, updates = after.updates - before.updates;
      const std::string told =
          std::to_string(plans) + " plans and " + std::to_string(updates) + " updates";
      if (change.effect == Effect::values) check(plans == 0 && updates > 0, label, told);
      if (change.effect == Effect::pattern) check(plans > 0, label, told);
    }
  }
}

/// The blocks first: their state must tell of a change of the whole matrix, too.
void test_block_after_change() {
  const Family family = families()[0];
  for (const Change& change : changes(family)) {
    if (change.effect != Effect::values) continue;
    const Matrix aij = build(family, MATAIJ);
    const Matrix lanky = build(family, "aijlanky");
    check_diagonal_block(std::string("block alone, before ") + change.name, lanky, aij);
    change.apply(aij);
    change.apply(lanky);
    check_diagonal_block(std::string("block alone, after ") + change.name, lanky, aij);
  }
}

void test_coordinates() {
  const Family family = families()[0];
  Matrix aij, lanky;
  for (Mat* a : {&aij, &lanky}) {
    OK(MatCreate(PETSC_COMM_WORLD, a));
    OK(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, family.rows, family.cols));
    OK(MatSetType(*a, a == &aij ? MATAIJ : "aijlanky"));
  }
  PetscInt begin = 0, end = 0;
  OK(MatGetOwnershipRange(build(family, MATAIJ), &begin, &end));
  for (std::uint64_t pattern : {1, 2}) {
    std::vector<PetscInt> rows, columns;
    for (PetscInt i = begin; i < end; ++i) {
      for (PetscInt j : family.columns_of(i)) {
        rows.push_back((i + (pattern == 2 ? 3 : 0)) % family.rows);  // some are of another rank
        columns.push_back(pattern == 1 ? j : family.cols - 1 - j);
      }
    }
    for (Mat a : {static_cast<Mat>(aij), static_cast<Mat>(lanky)}) {
      std::vector<PetscInt> i = rows, j = columns;  // PETSc overwrites them
      OK(MatSetPreallocationCOO(a, static_cast<PetscCount>(i.size()), i.data(), j.data()));
    }
    for (std::uint64_t seed : {1, 2}) {
      std::vector<PetscScalar> values;
      for (std::size_t k = 0; k < rows.size(); ++k)
        values.push_back(number(k, seed, begin));
      const std::string label =
          "coordinates " + std::to_string(pattern) + ", values " + std::to_string(seed);
      OK(MatSetValuesCOO(aij, values.data(), INSERT_VALUES));
      OK(MatSetValuesCOO(lanky, values.data(), INSERT_VALUES));
      const Counts before = counts();
      check_products(label, lanky, aij);
      const Counts after = counts();
      if (seed == 2) {
        check(after.plans == before.plans && after.updates > before.updates, label + ": updates");
      }
      OK(MatSetValuesCOO(aij, values.data(), ADD_VALUES));
      OK(MatSetValuesCOO(lanky, values.data(), ADD_VALUES));
      check_products(label + ", added", lanky, aij);
    }
  }
}

void test_copies() {
  for (const Family& family : families()) {
    if (left_out(family)) continue;
    const Matrix aij = build(family, MATAIJ);
    Matrix copy;
    {
      const Matrix lanky = build(family, "aijlanky");
      check_products(family.name, lanky, aij);
      OK(MatDuplicate(lanky, MAT_COPY_VALUES, &copy));
      const Counts before = counts();
      check_products(family.name + ", a copy", copy, aij);
      MatInfo info;
      OK(MatGetInfo(lanky, MAT_GLOBAL_SUM, &info));
      check(info.nz_used == 0 || counts().plans > before.plans,
            family.name + ", a copy: own plans");
      OK(MatScale(copy, 2.0));
      check_products(family.name + ", the first of a changed copy", lanky, aij);
      OK(MatScale(copy, 0.5));
      Matrix pattern;
      OK(MatDuplicate(lanky, MAT_DO_NOT_COPY_VALUES, &pattern));
      check_lanky(family.name + ", a copy of the pattern", pattern);
      OK(MatCopy(lanky, pattern, SAME_NONZERO_PATTERN));
      check_products(family.name + ", values for a copied pattern", pattern, aij);
      Matrix shared;
      OK(MatDuplicate(lanky, MAT_SHARE_NONZERO_PATTERN, &shared));
      OK(MatCopy(lanky, shared, SAME_NONZERO_PATTERN));
      check_products(family.name + ", values for a shared pattern", shared, aij);
    }
    check_products(family.name + ", a copy that outlives the first", copy, aij);
  }
}

void test_conversions() {
  for (const Family& family : families()) {
    if (left_out(family)) continue;
    const std::string& name = family.name;
    const Matrix aij = build(family, MATAIJ);
    const Matrix other = build(family, MATAIJ, 2);
    Matrix lanky, back;
    OK(MatConvert(aij, "aijlanky", MAT_INITIAL_MATRIX, &lanky));
    check_type(name + ": converted from", aij, MATSEQAIJ, MATMPIAIJ);
    check_products(name + ", converted", lanky, aij);
    OK(MatConvert(other, "aijlanky", MAT_REUSE_MATRIX, &lanky));
    check_products(name + ", converted into what is there", lanky, other);
    OK(MatConvert(lanky, MATAIJ, MAT_INITIAL_MATRIX, &back));
    check_type(name + ", back", back, MATSEQAIJ, MATMPIAIJ);
    check_vectors(name + ", back", back, other);
    for (Mat block : blocks_of(back))
      check_type(name + ", back", block, MATSEQAIJ, MATMPIAIJ);
    check_products(name + ", after that", lanky, other);
    OK(MatScale(lanky, 2.0));
    OK(MatScale(other, 2.0));
    OK(MatConvert(lanky, MATAIJ, MAT_REUSE_MATRIX, &back));
    check_vectors(name + ", back into what is there", back, other);
    Mat same = back;
    OK(MatConvert(back, "aijlanky", MAT_INPLACE_MATRIX, &same));
    check(same == back, name + ", in place: the same matrix");
    check_products(name + ", in place", back, other);
    OK(MatConvert(back, MATAIJ, MAT_INPLACE_MATRIX, &same));
    check_type(name + ", in place and back", back, MATSEQAIJ, MATMPIAIJ);
    check_vectors(name + ", in place and back", back, other);
    const Matrix x = operand(back, false, 2, 0, 25);
    Matrix y;
    OK(MatMatMult(back, x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &y));
    check_columns(name + ", in place and back: A X", other, absolute(other), false, x, y);
    OK(MatSetType(back, "aijlanky"));
    check_products(name + ", MatSetType()", back, other);
    Matrix duplicate;
    OK(MatConvert(back, MATSAME, MAT_INITIAL_MATRIX, &duplicate));
    check_products(name + ", MATSAME", duplicate, other);
  }
}

/// On one rank a matrix can be of the distributed type.
void test_distributed_on_one_rank() {
  if (rank_count() > 1) return;
  const Family family = families()[0];
  const Matrix aij = build(family, MATMPIAIJ);
  const Matrix lanky = build(family, "mpiaijlanky");
  check_vectors("mpiaijlanky on one rank", lanky, aij);
  OK(MatSetType(aij, "aijlanky"));
  check_type("aijlanky of mpiaij on one rank", aij, "mpiaijlanky", "mpiaijlanky");
  check_vectors("aijlanky of mpiaij on one rank", aij, build(family, MATMPIAIJ));
}

void test_options() {
  const Family family = families()[1];
  const Matrix aij = build(family, MATAIJ);
  Matrix lanky;
  OK(PetscOptionsSetValue(nullptr, "-mine_mat_type", "aijlanky"));
  OK(MatCreate(PETSC_COMM_WORLD, &lanky));
  OK(MatSetSizes(lanky, PETSC_DECIDE, PETSC_DECIDE, family.rows, family.cols));
  OK(MatSetOptionsPrefix(lanky, "mine_"));
  OK(MatSetFromOptions(lanky));
  OK(MatSetUp(lanky));
  OK(MatSetOption(lanky, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  insert(lanky, family, 1);
  check_products("-mine_mat_type aijlanky", lanky, aij);
  OK(PetscOptionsClearValue(nullptr, "-mine_mat_type"));
}

void test_files() {
  for (const Family& family : families()) {
    if (left_out(family)) continue;
    if (family.rows == 0 || family.cols == 0 || family.local_rows != PETSC_DECIDE) continue;
    const Matrix aij = build(family, MATAIJ);
    const Matrix lanky = build(family, "aijlanky");
    char path[PETSC_MAX_PATH_LEN] = "matrix_test.bin";
    OK(PetscOptionsGetString(nullptr, nullptr, "-file", path, sizeof(path), nullptr));
    PetscViewer viewer = nullptr;
    OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_WRITE, &viewer));
    OK(MatView(lanky, viewer));
    OK(PetscViewerDestroy(&viewer));
    Matrix loaded;
    OK(MatCreate(PETSC_COMM_WORLD, &loaded));
    OK(MatSetType(loaded, "aijlanky"));
    OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
    OK(MatLoad(loaded, viewer));
    OK(PetscViewerDestroy(&viewer));
    check_products(family.name + ", loaded", loaded, aij);
  }
}

/// What PETSc makes of matrices: the same as of aij, and of lanky's type.
void test_derived() {
  const Family square = families()[1], wide = families()[3];
  const Matrix aij = build(square, MATAIJ), lanky = build(square, "aijlanky");
  Matrix want, got;
  OK(MatTranspose(build(wide, MATAIJ), MAT_INITIAL_MATRIX, &want));
  OK(MatTranspose(build(wide, "aijlanky"), MAT_INITIAL_MATRIX, &got));
  check_products("MatTranspose", got, want);

  Family rectangle = square;
  rectangle.cols = 40;
  rectangle.columns_of = [](PetscInt i) { return std::vector<PetscInt>{i % 40, (i * 7) % 40}; };
  for (MatType type : {"aijlanky", MATAIJ}) {  // of one type, and mixed
    const std::string label = std::string(" with ") + type;
    const Matrix p = build(rectangle, type), p_aij = build(rectangle, MATAIJ);
    Matrix triple, triple_aij, product, product_aij;
    OK(MatPtAP(lanky, p, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &triple));
    OK(MatPtAP(aij, p_aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &triple_aij));
    check_vectors("MatPtAP" + label, triple, triple_aij);
    if (std::strcmp(type, MATAIJ) != 0) check_lanky("MatPtAP" + label, triple);
    OK(MatScale(lanky, 2.0));
    OK(MatPtAP(lanky, p, MAT_REUSE_MATRIX, PETSC_DEFAULT, &triple));
    OK(MatScale(triple_aij, 2.0));
    check_vectors("MatPtAP again" + label, triple, triple_aij);
    OK(MatScale(lanky, 0.5));
    OK(MatMatMult(lanky, p, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &product));
    OK(MatMatMult(aij, p_aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &product_aij));
    check_vectors("A P" + label, product, product_aij);
    Matrix left, left_aij;
    OK(MatTransposeMatMult(p, lanky, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &left));
    OK(MatTransposeMatMult(p_aij, aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &left_aij));
    check_vectors("P^T A" + label, left, left_aij);
  }

  PetscInt begin = 0, end = 0;
  IS rows = nullptr;
  OK(MatGetOwnershipRange(aij, &begin, &end));
  OK(ISCreateStride(PETSC_COMM_WORLD, (end - begin + 1) / 2, begin, 2, &rows));
  Matrix sub, sub_aij;
  OK(MatCreateSubMatrix(lanky, rows, rows, MAT_INITIAL_MATRIX, &sub));
  OK(MatCreateSubMatrix(aij, rows, rows, MAT_INITIAL_MATRIX, &sub_aij));
  check_products("MatCreateSubMatrix", sub, sub_aij);
  OK(MatScale(lanky, 3.0));
  OK(MatScale(aij, 3.0));
  OK(MatCreateSubMatrix(lanky, rows, rows, MAT_REUSE_MATRIX, &sub));
  OK(MatCreateSubMatrix(aij, rows, rows, MAT_REUSE_MATRIX, &sub_aij));
  check_products("MatCreateSubMatrix again", sub, sub_aij);
  Mat *subs = nullptr, *subs_aij = nullptr;
  OK(MatCreateSubMatrices(lanky, 1, &rows, &rows, MAT_INITIAL_MATRIX, &subs));
  OK(MatCreateSubMatrices(aij, 1, &rows, &rows, MAT_INITIAL_MATRIX, &subs_aij));
  check_vectors("MatCreateSubMatrices", subs[0], subs_aij[0]);
  OK(MatDestroySubMatrices(1, &subs));
  OK(MatDestroySubMatrices(1, &subs_aij));
  OK(ISDestroy(&rows));

  Matrix to_dense, to_dense_aij;
  OK(MatConvert(lanky, MATDENSE, MAT_INITIAL_MATRIX, &to_dense));
  OK(MatConvert(aij, MATDENSE, MAT_INITIAL_MATRIX, &to_dense_aij));
  check_same("MatConvert to dense", to_dense, to_dense_aij);
  const Matrix again = build(square, "aijlanky", 3);
  PetscBool equal = PETSC_FALSE;
  OK(MatEqual(again, build(square, "aijlanky", 3), &equal));
  check(equal == PETSC_TRUE, "MatEqual");
  OK(MatMultEqual(again, build(square, MATAIJ, 3), 3, &equal));
  check(equal == PETSC_TRUE, "MatMultEqual");
}

/// A block that is held outlives its matrix.
void test_order_of_destruction() {
  const Family family = families()[0];
  Mat lanky = nullptr, block = nullptr;
  {
    Matrix made = build(family, "aijlanky");
    check_products("before its destruction", made, build(family, MATAIJ));
    OK(MatGetDiagonalBlock(made, &block));
    OK(PetscObjectReference(reinterpret_cast<PetscObject>(block)));
    lanky = made;
    OK(PetscObjectReference(reinterpret_cast<PetscObject>(lanky)));
  }
  OK(MatDestroy(&lanky));
  const Matrix aij = build(family, MATAIJ);
  Mat want = nullptr;
  OK(MatGetDiagonalBlock(aij, &want));
  check_vectors("a block without its matrix", block, want);
  OK(MatDestroy(&block));
  // Types that never came to have entries.
  Matrix never_set_up;
  OK(MatCreate(PETSC_COMM_WORLD, &never_set_up));
  OK(MatSetSizes(never_set_up, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE));
  OK(MatSetType(never_set_up, "aijlanky"));
  Matrix changed;
  OK(MatCreate(PETSC_COMM_WORLD, &changed));
  OK(MatSetSizes(changed, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE));
  OK(MatSetType(changed, "aijlanky"));
  OK(MatSetType(changed, MATDENSE));
  OK(MatSetType(changed, "aijlanky"));
}

/// An error on the last rank alone: a column that is not there, written past all of PETSc's checks.
/// Nothing is destroyed, as in a program in C.
PetscErrorCode fail_on_one_rank() {
  Mat lanky = nullptr;
  Vec x = nullptr, y = nullptr;
  PetscReal norm = 0;
  PetscFunctionBeginUser;
  {
    Matrix made = build(families()[1], "aijlanky");
    lanky = made;
    PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(lanky)));
  }
  if (rank_of_process() == rank_count() - 1) {
    const PetscInt* columns = nullptr;
    PetscCall(MatSeqAIJGetCSRAndMemType(blocks_of(lanky)[0], nullptr, &columns, nullptr, nullptr));
    const_cast<PetscInt*>(columns)[3] = 1000000;
  }
  PetscCall(MatCreateVecs(lanky, &x, &y));
  fill(x, 1);
  PetscCall(MatMult(lanky, x, y));
  PetscCall(VecNorm(y, NORM_2, &norm));  // where the other ranks wait
  PetscFunctionReturn(PETSC_ERR_PLIB);   // the error was not found
}

/// Vectors of lanky's matrices, which are on the GPU where there is one, beside vectors of PETSc on
/// the host: inner products and norms.
void test_inner_products() {
  constexpr double kLargest = sizeof(PetscReal) == 8 ? 1e200 : 1e30;
  for (const Family& family : families()) {
    const Matrix lanky = build(family, "aijlanky");
    const Matrix aij = build(family, MATAIJ);
    for (double scale : {1.0, kLargest, 1 / kLargest, 0.0, std::nan("")}) {
      const std::string label = std::string(family.name) + " times " + std::to_string(scale);
      Vector ours[2], theirs[2];
      PetscScalar got[2] = {}, want[2] = {};
      for (int v : {0, 1}) {
        OK(MatCreateVecs(lanky, &ours[v], nullptr));
        OK(MatCreateVecs(aij, &theirs[v], nullptr));
        for (Vec x : {Vec(ours[v]), Vec(theirs[v])}) {
          fill(x, 41 + v);
          OK(VecScale(x, v == 0 ? scale : 1.0));
        }
      }
      PetscReal bound = 0;
      OK(VecNorm(theirs[0], NORM_1, &bound));  // entries of the other vector are at most sqrt(2)
      const PetscReal allowed = 100 * PETSC_MACHINE_EPSILON * bound;
      OK(VecDot(ours[0], ours[1], &got[0]));
      OK(VecDot(theirs[0], theirs[1], &want[0]));
      OK(VecTDot(ours[0], ours[1], &got[1]));
      OK(VecTDot(theirs[0], theirs[1], &want[1]));
      for (int p : {0, 1}) {
        check(PetscAbsScalar(got[p] - want[p]) <= allowed ||
                  (std::isnan(scale) && std::isnan(PetscAbsScalar(got[p]))),
              label + (p == 0 ? ": VecDot" : ": VecTDot"), text(got[p]) + ", not " + text(want[p]));
      }
      for (NormType type : {NORM_1, NORM_2, NORM_FROBENIUS, NORM_INFINITY}) {
        const bool of_lanky = type == NORM_2 || type == NORM_FROBENIUS;
        if (std::isnan(scale) && !of_lanky) continue;  // MPI's largest of NaN is any number
        PetscReal norm = -1, split = -1, own = -1;
        OK(VecNorm(ours[0], type, &norm));
        split = norm;
        if (type != NORM_FROBENIUS) {  // of which VecNormEnd() adds up no squares
          OK(VecNormBegin(ours[0], type, &split));
          OK(VecNormEnd(ours[0], type, &split));
        }
        OK(VecNorm(theirs[0], type, &own));
        // Squares are summed as they are, by PETSc as by lanky.
        const bool no_number = std::isnan(scale) || std::isinf(own);
        for (PetscReal value : {norm, split}) {
          check(std::abs(value - own) <= 100 * PETSC_MACHINE_EPSILON * own ||
                    (no_number && !std::isfinite(value)),
                label + ": norm " + NormTypes[type], text(value) + ", not " + text(own));
        }
      }
    }
  }
}

/// So many rows, of which so few have entries, that these alone are added to y, also on a GPU.
void test_few_rows() {
  const PetscInt rows = 3000000 * rank_count(), cols = 1000 * rank_count();
  const Family family{"few rows", rows, cols, PETSC_DECIDE, PETSC_DECIDE, [cols](PetscInt i) {
                        if (i % 1000 != 7) return std::vector<PetscInt>{};
                        return std::vector<PetscInt>{i / 1000 % cols, i / 1000 * 31 % cols};
                      }};
  const Matrix lanky = build(family, "aijlanky");
  check_vectors(family.name, lanky, build(family, MATAIJ));
}

void test_all() {
  if (!brief) test_few_rows();
  test_inner_products();
  test_products();
  test_changes();
  if (!brief) test_block_after_change();
  test_coordinates();
  test_copies();
  test_conversions();
  test_distributed_on_one_rank();
  test_options();
  test_files();
  test_derived();
  test_order_of_destruction();
}

}  // namespace

int main(int argc, char** argv) {
  OK(static_cast<PetscErrorCode>(MPI_Init(&argc, &argv)));
  int status = 0;
  // PETSc may come and go in one process: the plug-in registers its types anew.
  for (int round = 0; round < 2; ++round) {
    PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
    PetscBool provoke = PETSC_FALSE, asked = PETSC_FALSE;
    PetscCall(PetscOptionsHasName(nullptr, nullptr, "-fail_on_one_rank", &provoke));
    PetscCall(PetscOptionsHasName(nullptr, nullptr, "-brief", &asked));
    brief = asked == PETSC_TRUE;
    if (provoke) PetscCall(fail_on_one_rank());
    PetscCall(PetscLogDefaultBegin());
    if (round == 0) {
      test_all();
    } else {
      test_options();
      if (!brief) test_coordinates();
      test_order_of_destruction();
    }
    status |= verdict("matrix_test");
    PetscCall(PetscFinalize());
  }
  OK(static_cast<PetscErrorCode>(MPI_Finalize()));
  return status;
}
