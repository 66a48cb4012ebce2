// What the tests of the plug-in share: checks that count failures, and numbers that are the same on
// any number of ranks.
#pragma once

#include <petscmat.h>

#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace petsc_test {

// Errors end the program on all ranks.
#define OK(...) PetscCallAbort(PETSC_COMM_WORLD, __VA_ARGS__)

inline int failures = 0;  // of this rank
inline int checks = 0;

inline int rank_of_process() {
  PetscMPIInt rank = 0;
  OK(static_cast<PetscErrorCode>(MPI_Comm_rank(PETSC_COMM_WORLD, &rank)));
  return rank;
}
inline int rank_count() {
  PetscMPIInt size = 0;
  OK(static_cast<PetscErrorCode>(MPI_Comm_size(PETSC_COMM_WORLD, &size)));
  return size;
}

inline bool check(bool good, const std::string& label, const std::string& told = {}) {
  ++checks;
  if (good) return true;
  if (++failures <= 20) {
    std::fprintf(stderr, "[%d] FAILED: %s%s%s\n", rank_of_process(), label.c_str(),
                 told.empty() ? "" : ": ", told.c_str());
  }
  return false;
}

inline std::string text(PetscScalar value) {
  char buffer[96];
  std::snprintf(buffer, sizeof(buffer), "%.17g%+.3gi", static_cast<double>(PetscRealPart(value)),
                static_cast<double>(PetscImaginaryPart(value)));
  return buffer;
}

/// Numbers that follow from their indices alone, in [-1, 1], with an imaginary part where there can
/// be one.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
  std::uint64_t h = a * 0x9E3779B97F4A7C15u ^ (b + 0x632BE59BD9B4E019u) * 0xD6E8FEB86659FD93u;
  h ^= (c + 1) * 0xA0761D6478BD642Fu;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
  return h ^ (h >> 31);
}
inline PetscReal real_number(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
  return static_cast<PetscReal>(static_cast<double>(mixed(a, b, c) >> 11) * 0x1p-52 - 1.0);
}
inline PetscScalar number(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
#if defined(PETSC_USE_COMPLEX)
  return {real_number(a, b, c), real_number(b, a, c + 977)};
#else
  return real_number(a, b, c);
#endif
}

/// A handle that goes with its scope.
template <class Handle, PetscErrorCode (*kDestroy)(Handle*)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { OK(kDestroy(&handle_)); }
  operator Handle() const { return handle_; }
  Handle* operator&() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};
using Matrix = Owned<Mat, MatDestroy>;
using Vector = Owned<Vec, VecDestroy>;

inline void fill(Vec x, std::uint64_t seed) {
  PetscInt begin = 0, end = 0;
  PetscScalar* data = nullptr;
  OK(VecGetOwnershipRange(x, &begin, &end));
  OK(VecGetArrayWrite(x, &data));
  for (PetscInt i = begin; i < end; ++i)
    data[i - begin] = number(i, seed);
  OK(VecRestoreArrayWrite(x, &data));
}

/// Whether dense matrices and blocks of vectors are to be on the GPU (-on_device), as vectors of
/// lanky's matrices are wherever there is one.
inline bool on_device() {
  PetscBool asked = PETSC_FALSE;
  OK(PetscOptionsHasName(nullptr, nullptr, "-on_device", &asked));
  return asked == PETSC_TRUE;
}

/// A dense matrix with `rows` local rows (of `all_rows`), with a leading dimension that is larger
/// by `padding`.
inline Matrix dense(PetscInt rows, PetscInt all_rows, PetscInt columns, PetscInt padding,
                    std::uint64_t seed) {
  Matrix x;
  OK(MatCreate(PETSC_COMM_WORLD, &x));
  OK(MatSetSizes(x, rows, PETSC_DECIDE, all_rows, columns));
#if defined(PETSC_HAVE_CUDA)
  OK(MatSetType(x, on_device() ? MATDENSECUDA : MATDENSE));
#else
  OK(MatSetType(x, MATDENSE));
#endif
  if (padding > 0) OK(MatDenseSetLDA(x, rows + padding));
  OK(MatSetUp(x));
  PetscInt begin = 0, end = 0, leading = 0;
  PetscScalar* data = nullptr;
  OK(MatGetOwnershipRange(x, &begin, &end));
  OK(MatDenseGetLDA(x, &leading));
  OK(MatDenseGetArrayWrite(x, &data));
  for (PetscInt j = 0; j < columns; ++j) {
    for (PetscInt i = begin; i < end; ++i)
      data[i - begin + j * leading] = number(i, seed, j);
  }
  OK(MatDenseRestoreArrayWrite(x, &data));
  OK(MatAssemblyBegin(x, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(x, MAT_FINAL_ASSEMBLY));
  return x;
}

/// Every entry of `got` differs from that of `want` by rounding alone: by a little of `bound`, the
/// sum of what was added up.
inline void check_close(const std::string& label, Vec got, Vec want, Vec bound) {
  const PetscScalar *g = nullptr, *w = nullptr, *b = nullptr;
  PetscInt size = 0, size_of_want = 0, begin = 0, wrong = 0;
  OK(VecGetLocalSize(got, &size));
  OK(VecGetLocalSize(want, &size_of_want));
  if (!check(size == size_of_want, label, "sizes")) return;
  OK(VecGetOwnershipRange(got, &begin, nullptr));
  OK(VecGetArrayRead(got, &g));
  OK(VecGetArrayRead(want, &w));
  OK(VecGetArrayRead(bound, &b));
  std::string told;
  for (PetscInt i = 0; i < size; ++i) {
    const PetscReal allowed = 100 * PETSC_MACHINE_EPSILON * PetscRealPart(b[i]);
    if (PetscAbsScalar(g[i] - w[i]) <= allowed) continue;  // false where there is no number, too
    if (++wrong > 1) continue;
    told = "entry " + std::to_string(begin + i) + " is " + text(g[i]) + ", not " + text(w[i]);
  }
  OK(VecRestoreArrayRead(bound, &b));
  OK(VecRestoreArrayRead(want, &w));
  OK(VecRestoreArrayRead(got, &g));
  if (wrong > 1) told += " (and " + std::to_string(wrong - 1) + " more)";
  check(wrong == 0, label, told);
}

inline void check_type(const std::string& label, Mat a, const char* sequential,
                       const char* distributed) {
  MatType type = nullptr;
  PetscMPIInt size = 0;
  OK(MatGetType(a, &type));
  OK(static_cast<PetscErrorCode>(
      MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(a)), &size)));
  const std::string want = size == 1 ? sequential : distributed;
  check(want == type, label, std::string("the type is ") + type + ", not " + want);
}
inline void check_lanky(const std::string& label, Mat a) {
  check_type(label, a, "seqaijlanky", "mpiaijlanky");
}

/// How often this rank has begun an event so far, and its flops.
struct Logged {
  int count = 0;
  double flops = 0;
};
inline Logged logged(const char* name) {
  PetscLogEvent event = -1;
  OK(PetscLogEventGetId(name, &event));
  if (event < 0) return {};
  PetscEventPerfInfo info{};
  OK(PetscLogEventGetPerfInfo(0, event, &info));
  return {info.count, info.flops};
}
inline int on_all_ranks(int value, MPI_Op op) {
  int sum = value;
  OK(static_cast<PetscErrorCode>(MPI_Allreduce(&value, &sum, 1, MPI_INT, op, PETSC_COMM_WORLD)));
  return sum;
}

/// Tells how it went; the status of the program.
inline int verdict(const char* program) {
  const int all_checks = on_all_ranks(checks, MPI_SUM);
  const int all_failures = on_all_ranks(failures, MPI_SUM);
  OK(PetscPrintf(PETSC_COMM_WORLD, "%s: %d checks on %d ranks, %d failed\n", program, all_checks,
                 rank_count(), all_failures));
  return all_failures == 0 ? 0 : 1;
}

}  // namespace petsc_test
