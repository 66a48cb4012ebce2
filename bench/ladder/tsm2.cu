// C[m,n] = A[m,k] B[k,n], column-major and tight, m and k large, n skinny: the versions of TSM2
// (Chen et al., "TSM2: optimizing tall-and-skinny matrix-matrix multiplication on GPUs", ICS '19).
// A thread has a row of A and C throughout, a block t1 of them: neighbours read neighbours of A.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "bench/ladder/ladder.hpp"
#include "bench/ladder/launch.cuh"

namespace lanky::ladder {

namespace {

template <class T>
struct TallProduct {
  const T* a;  // [m, k]
  const T* b;  // [k, n]
  T* c;        // [m, n]
  std::int64_t m;
  int n;
  int k;

  /// Of a row that exists: rows beyond the last read the last, and are not stored.
  __device__ T load_a(std::int64_t row, int l) const { return a[row + l * m]; }
  __device__ T load_b(int l, int j) const {
    return l < k && j < n ? b[l + static_cast<std::int64_t>(j) * k] : T(0);
  }
  __device__ void store_c(std::int64_t row, int j, T value) const {
    if (row < m && j < n) c[row + j * m] = value;
  }
  __device__ std::int64_t my_row() const {
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  }
};

/// V0: an inner product a column of C. Row i of A is read n times.
template <class T>
__global__ void tsm2_inner_kernel(TallProduct<T> p) {
  const std::int64_t row = p.my_row();
  if (row >= p.m) return;
  for (int j = 0; j < p.n; ++j) {
    T sum = 0;
    for (int l = 0; l < p.k; ++l)
      sum += p.load_a(row, l) * p.load_b(l, j);
    p.store_c(row, j, sum);
  }
}

/// V1: an outer product a column of A: an element of A meets t2 columns of B, sums in registers. A
/// is read n / t2 times.
template <class T, int kT2>
__global__ void tsm2_outer_kernel(TallProduct<T> p) {
  const std::int64_t row = p.my_row();
  if (row >= p.m) return;
  for (int j0 = 0; j0 < p.n; j0 += kT2) {
    T sums[kT2] = {};
    for (int l = 0; l < p.k; ++l) {
      const T a = p.load_a(row, l);
#pragma unroll
      for (int j = 0; j < kT2; ++j)
        sums[j] += a * p.load_b(l, j0 + j);
    }
#pragma unroll
    for (int j = 0; j < kT2; ++j)
      p.store_c(row, j0 + j, sums[j]);
  }
}

extern __shared__ __align__(16) unsigned char tile_bytes[];

/// A tile [t1, t2] of B in shared memory. By columns a warp writes neighbouring words, by rows
/// words t2 apart, which share banks; all lanes read the same word either way.
template <class T, int kT2, bool kByRows>
struct TileOfB {
  T* elements = reinterpret_cast<T*>(tile_bytes);
  int t1;

  __device__ T& at(int l, int j) const { return elements[kByRows ? l * kT2 + j : l + j * t1]; }
};

/// V2: the block's part of B comes by way of shared memory, a thread loading a row of a tile.
template <class T, int kT2, bool kByRows>
__global__ void tsm2_shared_kernel(TallProduct<T> p) {
  const int t1 = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const TileOfB<T, kT2, kByRows> tile{.t1 = t1};
  const std::int64_t row = p.my_row();
  const std::int64_t read_row = row < p.m ? row : p.m - 1;
  for (int j0 = 0; j0 < p.n; j0 += kT2) {
    T sums[kT2] = {};
    for (int l0 = 0; l0 < p.k; l0 += t1) {
#pragma unroll
      for (int j = 0; j < kT2; ++j)
        tile.at(thread, j) = p.load_b(l0 + thread, j0 + j);
      __syncthreads();  // the tile is whole before anyone reads it
      const int rows = min(t1, p.k - l0);
      for (int l = 0; l < rows; ++l) {
        const T a = p.load_a(read_row, l0 + l);
#pragma unroll
        for (int j = 0; j < kT2; ++j)
          sums[j] += a * tile.at(l, j);
      }
      __syncthreads();  // all have read the tile before it is overwritten
    }
#pragma unroll
    for (int j = 0; j < kT2; ++j)
      p.store_c(row, j0 + j, sums[j]);
  }
}

/// V3: the next tile of B and the next t3 elements of A are loaded into registers while the present
/// ones are worked on. Two sets of elements of A take turns: a copy from the next to the present
/// would wait for what is on its way. t1 is a multiple of 2 t3.
template <class T, int kT2, int kT3, bool kByRows>
__global__ void tsm2_prefetch_kernel(TallProduct<T> p) {
  const int t1 = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const TileOfB<T, kT2, kByRows> tile{.t1 = t1};
  const std::int64_t row = p.my_row();
  const std::int64_t read_row = row < p.m ? row : p.m - 1;
  for (int j0 = 0; j0 < p.n; j0 += kT2) {
    T sums[kT2] = {};
    T next_b[kT2];
    const auto load_b = [&](int l0) {
#pragma unroll
      for (int j = 0; j < kT2; ++j)
        next_b[j] = p.load_b(l0 + thread, j0 + j);
    };
    T even_a[kT3];
    T odd_a[kT3];
    const T* next = p.a + read_row;
    int columns = p.k;  // from next on: beyond them A is 0, as B is in its tile
    const auto load_a = [&](T(&a)[kT3]) {
      if (columns >= kT3) {  // loads without a condition each stand together, ahead of their uses
#pragma unroll
        for (int q = 0; q < kT3; ++q, next += p.m)
          a[q] = *next;
      } else {
#pragma unroll
        for (int q = 0; q < kT3; ++q, next += p.m)
          a[q] = q < columns ? *next : T(0);
      }
      columns -= kT3;
    };
    const auto multiply = [&](const T(&a)[kT3], int l) {
#pragma unroll
      for (int q = 0; q < kT3; ++q) {
#pragma unroll
        for (int j = 0; j < kT2; ++j)
          sums[j] += a[q] * tile.at(l + q, j);
      }
    };
    load_b(0);
    load_a(even_a);
    for (int l0 = 0; l0 < p.k; l0 += t1) {
#pragma unroll
      for (int j = 0; j < kT2; ++j)
        tile.at(thread, j) = next_b[j];
      __syncthreads();  // the tile is whole before anyone reads it
      load_b(l0 + t1);
      const int rows = min(t1, p.k - l0);
      for (int l = 0; l < rows; l += 2 * kT3) {
        load_a(odd_a);
        multiply(even_a, l);
        load_a(even_a);
        multiply(odd_a, l + kT3);
      }
      __syncthreads();  // all have read the tile before it is overwritten
    }
#pragma unroll
    for (int j = 0; j < kT2; ++j)
      p.store_c(row, j0 + j, sums[j]);
  }
}

// ---- The rungs
// -----------------------------------------------------------------------------------

template <class T>
using TallKernel = void (*)(TallProduct<T>);

/// visit(std::integral_constant) of the one of kValues that `value` is.
template <int... kValues, class Visit>
void visit_constant(int value, Visit visit) {
  ((value == kValues ? visit(std::integral_constant<int, kValues>{}) : void()), ...);
}

/// The versions of TSM2.
enum class Version { inner, outer, shared, prefetch };

template <class T>
TallKernel<T> kernel_of(Version version, const Tsm2Choice& choice, bool by_rows) {
  if (version == Version::inner) return tsm2_inner_kernel<T>;
  TallKernel<T> kernel = nullptr;
  visit_constant<2, 4, 8, 16>(choice.t2, [&](auto t2) {
    constexpr int kT2 = t2;
    if (version == Version::outer) kernel = tsm2_outer_kernel<T, kT2>;
    if (version == Version::shared)
      kernel = by_rows ? tsm2_shared_kernel<T, kT2, true> : tsm2_shared_kernel<T, kT2, false>;
    if (version != Version::prefetch) return;
    visit_constant<1, 2, 4, 8>(choice.t3, [&](auto t3) {
      constexpr int kT3 = t3;
      kernel = by_rows ? tsm2_prefetch_kernel<T, kT2, kT3, true>
                       : tsm2_prefetch_kernel<T, kT2, kT3, false>;
    });
  });
  if (kernel != nullptr) return kernel;
  throw Error(ErrorCode::invalid_argument, concat("t2 = ", choice.t2, ", t3 = ", choice.t3,
                                                  ": t2 is one of 2, 4, 8, 16, t3 of 1, 2, 4, 8"));
}

template <class T>
bench::BuiltGemm launched(const Stream& stream, Version version, const Tsm2Choice& choice,
                          bool by_rows, const GemmShape& shape) {
  const std::size_t shared =
      version < Version::shared ? 0 : static_cast<std::size_t>(choice.t1 * choice.t2) * sizeof(T);
  const Launch launch(
      stream, kernel_of<T>(version, choice, by_rows),
      dim3(static_cast<unsigned>(device::ceil_div<std::int64_t>(shape.m, choice.t1))),
      dim3(static_cast<unsigned>(choice.t1)), shared);
  return {[launch, shape](const Stream& on, const bench::GemmOperands& operands) {
            launch(on,
                   TallProduct<T>{static_cast<const T*>(operands.a),
                                  static_cast<const T*>(operands.b), static_cast<T*>(operands.c),
                                  shape.m, static_cast<int>(shape.n), static_cast<int>(shape.k)});
          },
          concat("t1 = ", choice.t1, ", t2 = ", choice.t2, ", t3 = ", choice.t3)};
}

double run_ms(const Stream& stream, const bench::GemmRun& run,
              const bench::GemmOperands& operands) {
  Event start(stream.device());
  Event end(stream.device());
  start.record(stream);
  run(stream, operands);
  end.record(stream);
  end.synchronize();
  return Event::elapsed_ms(start, end);
}

/// t1 by trial, as the paper has it: the model's time hardly depends on it.
template <class T>
bench::BuiltGemm fastest_t1(const Stream& stream, Version version, Tsm2Choice choice, bool by_rows,
                            const GemmShape& shape, std::span<const bench::GemmOperands> sets) {
  bench::BuiltGemm fastest;
  double least_ms = 0;
  for (const int t1 : kTsm2T1) {
    choice.t1 = t1;
    bench::BuiltGemm built;
    try {
      built = launched<T>(stream, version, choice, by_rows, shape);
    } catch (const Error& error) {
      // More registers than a block of so many threads has: the smallest block is always possible.
      if (error.code() != ErrorCode::unsupported || !fastest.run) throw;
      break;
    }
    run_ms(stream, built.run, sets[0]);  // the first loads the kernel
    const double ms = run_ms(stream, built.run, sets[0]);
    if (fastest.run && ms >= least_ms) continue;
    fastest = std::move(built);
    least_ms = ms;
  }
  return fastest;
}

/// t2 that a version has where nobody chose: all columns, if there are kernels for as many.
int all_columns(std::int64_t n) {
  const auto* const enough = std::lower_bound(std::begin(kTsm2T2), std::end(kTsm2T2), n);
  return enough == std::end(kTsm2T2) ? enough[-1] : *enough;
}

template <class T>
std::vector<GemmRung> rung_list(const bench::GemmCase& gemm, const Settings& settings) {
  constexpr int kT1 = 128;  // where neither a user nor a trial chooses
  const Tsm2Product product{gemm.m, gemm.n, gemm.k, sizeof(T)};
  Tsm2Choice given = settings.tsm2;
  if (given.t2 == 0) given.t2 = all_columns(gemm.n);
  if (given.t3 == 0) given.t3 = 4;
  Tsm2Choice modelled = given;
  if (settings.card) {
    const Tsm2Choice found = descend_tsm2(*settings.card, product, given.t1 == 0 ? kT1 : given.t1);
    if (settings.tsm2.t2 == 0) modelled.t2 = found.t2;
    if (settings.tsm2.t3 == 0) modelled.t3 = found.t3;
  }
  const double mk = static_cast<double>(gemm.m) * static_cast<double>(gemm.k);
  const auto n = static_cast<double>(gemm.n);

  std::vector<GemmRung> rungs;
  const auto add = [&](const char* name, std::string idea, Version version,
                       const Tsm2Choice& choice, bool by_rows) {
    const double passes = version == Version::inner ? n : std::ceil(n / choice.t2);
    // Of B, a thread reads all it needs, or a block does once.
    const double b_reads = static_cast<double>(gemm.k) * n *
                           (version < Version::shared ? static_cast<double>(gemm.m)
                                                      : static_cast<double>(gemm.m) / kT1);
    GemmRung rung{{.name = name, .idea = std::move(idea), .reads = mk * passes + b_reads}, {}};
    rung.build = [=](const Stream& stream, const bench::GemmCall& call,
                     std::span<const bench::GemmOperands> sets) {
      if (choice.t1 != 0) return launched<T>(stream, version, choice, by_rows, call.shape);
      return fastest_t1<T>(stream, version, choice, by_rows, call.shape, sets);
    };
    // The model is of the last version.
    if (settings.card && version == Version::prefetch) {
      rung.rung.predicted_us =
          1e6 * estimate_tsm2(*settings.card, product, choice.t1 == 0 ? kT1 : choice.t1, choice.t2,
                              choice.t3)
                    .seconds();
    }
    rungs.push_back(std::move(rung));
  };
  const auto chosen = [](const Tsm2Choice& choice) {
    return concat("t2 = ", choice.t2, ", t3 = ", choice.t3);
  };
  add("v0", "an inner product a row and column: A is read n times", Version::inner, given, false);
  add("v1", concat("outer products, t2 = ", given.t2, " columns a pass"), Version::outer, given,
      false);
  add("v2", "B by way of shared memory, stored by columns", Version::shared, given, false);
  add("v2-rows", "the same, stored by rows: writes share banks, but a read takes 16 bytes",
      Version::shared, given, true);
  add("v3", "the next A and B loaded ahead, " + chosen(given), Version::prefetch, given, false);
  add("v3-rows", "the same, B stored by rows", Version::prefetch, given, true);
  add("v3-model", "t2 and t3 by the paper's model: " + chosen(modelled), Version::prefetch,
      modelled, false);
  return rungs;
}

}  // namespace

std::vector<GemmRung> tsm2_rungs(const bench::GemmCase& gemm, const Settings& settings) {
  return gemm.type.in == DType::f64 ? rung_list<double>(gemm, settings)
                                    : rung_list<float>(gemm, settings);
}

}  // namespace lanky::ladder
