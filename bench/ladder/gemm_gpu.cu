// C[m,n] = A[m,k] B[k,n], row-major and tight, in f32 or f64: from a thread an element to tensor
// cores. Each rung is the one before it with one idea more; rung_list() at the end names them.
// Tiles and register tiles as in Volkov and Demmel, SC '08, and in the CUDA C++ Programming Guide.
#include <mma.h>

#include <array>
#include <cstdint>
#include <type_traits>

#include "bench/ladder/ladder.hpp"
#include "bench/ladder/launch.cuh"
#include "bench/rivals/vendor.hpp"

namespace lanky::ladder {

namespace {

template <class T>
struct Product {
  const T* a;  // [m, k]
  const T* b;  // [k, n]
  T* c;        // [m, n]
  int m;
  int n;
  int k;

  // 0 beyond the edges: such elements add nothing.
  __device__ T load_a(int i, int l) const {
    return i < m && l < k ? a[static_cast<std::int64_t>(i) * k + l] : T(0);
  }
  __device__ T load_b(int l, int j) const {
    return l < k && j < n ? b[static_cast<std::int64_t>(l) * n + j] : T(0);
  }
  __device__ void store_c(int i, int j, T value) const {
    if (i < m && j < n) c[static_cast<std::int64_t>(i) * n + j] = value;
  }
};

extern __shared__ __align__(16) unsigned char shared_bytes[];

template <class T>
__device__ T* shared_memory() {
  return reinterpret_cast<T*>(shared_bytes);
}

/// A thread an element of C: it reads a row of A and a column of B.
template <class T>
__global__ void gemm_naive_kernel(Product<T> p) {
  const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= p.m || j >= p.n) return;
  T sum = 0;
  for (int l = 0; l < p.k; ++l)
    sum += p.load_a(i, l) * p.load_b(l, j);
  p.store_c(i, j, sum);
}

/// A block has column j = blockIdx.y of B in shared memory, [k]; a thread an element of column j of
/// C. Neighbouring threads read rows of A that lie k elements apart.
template <class T>
__global__ void gemm_column_buffered_kernel(Product<T> p) {
  T* const column = shared_memory<T>();
  const int j = static_cast<int>(blockIdx.y);
  for (int l = static_cast<int>(threadIdx.x); l < p.k; l += static_cast<int>(blockDim.x))
    column[l] = p.load_b(l, j);
  __syncthreads();  // the column is whole before anyone reads it
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= p.m) return;
  T sum = 0;
  for (int l = 0; l < p.k; ++l)
    sum += p.load_a(i, l) * column[l];
  p.store_c(i, j, sum);
}

/// The same with row i = blockIdx.y of A, [k]: neighbouring threads read neighbours of B.
template <class T>
__global__ void gemm_row_buffered_kernel(Product<T> p) {
  T* const row = shared_memory<T>();
  const int i = static_cast<int>(blockIdx.y);
  for (int l = static_cast<int>(threadIdx.x); l < p.k; l += static_cast<int>(blockDim.x))
    row[l] = p.load_a(i, l);
  __syncthreads();  // the row is whole before anyone reads it
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= p.n) return;
  T sum = 0;
  for (int l = 0; l < p.k; ++l)
    sum += row[l] * p.load_b(l, j);
  p.store_c(i, j, sum);
}

/// A block of Bm x Bn threads has a tile of C. It walks along k in steps of Bn: tiles [Bm, Bn] of A
/// and [Bn, Bn] of B in shared memory, of which a thread reads a row and a column.
template <class T, int kUnroll>
__global__ void gemm_tiles_kernel(Product<T> p) {
  const int bm = static_cast<int>(blockDim.y);
  const int bn = static_cast<int>(blockDim.x);
  T* const tile_a = shared_memory<T>();
  T* const tile_b = tile_a + bm * bn;
  const int ty = static_cast<int>(threadIdx.y);
  const int tx = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.y) * bm + ty;
  const int j = static_cast<int>(blockIdx.x) * bn + tx;
  T sum = 0;
  for (int l0 = 0; l0 < p.k; l0 += bn) {
    tile_a[ty * bn + tx] = p.load_a(i, l0 + tx);
    for (int l = ty; l < bn; l += bm)
      tile_b[l * bn + tx] = p.load_b(l0 + l, j);
    __syncthreads();  // the tiles are whole before anyone reads them
#pragma unroll kUnroll
    for (int l = 0; l < bn; ++l)
      sum += tile_a[ty * bn + l] * tile_b[l * bn + tx];
    __syncthreads();  // all have read the tiles before they are overwritten
  }
  p.store_c(i, j, sum);
}

/// 16 bytes from global or shared memory at once.
template <class T>
struct alignas(16) Word {
  static constexpr int kSize = 16 / sizeof(T);
  T elements[kSize];
};

/// Word of a matrix [rows, cols], row-major, that begins at (i, j); 0 beyond the edges, which no
/// word lies across: cols is a multiple of a word.
template <class T>
__device__ Word<T> load_word(const T* matrix, int rows, int cols, int i, int j) {
  if (i >= rows || j >= cols) return {};
  return *reinterpret_cast<const Word<T>*>(&matrix[static_cast<std::int64_t>(i) * cols + j]);
}

/// What register tiles are made of: a block of 256 threads has 128 x 128 elements of C, a thread 8
/// x 8 of them in registers, so that a value from shared memory is used eight times.
constexpr int kTile = 128;
constexpr int kDepth = 8;
constexpr int kSide = 16;             // threads along either side of the tile
constexpr int kEach = kTile / kSide;  // elements of a thread along either side
constexpr int kTileThreads = kSide * kSide;

/// Row or column of the tile that a thread's element e has: kSide apart, so that neighbouring
/// threads read neighbours; of words, words lie that far apart.
template <class T, bool kWords>
__device__ int place_in_tile(int thread, int e) {
  constexpr int kRun = kWords ? Word<T>::kSize : 1;
  return (e / kRun * kSide + thread) * kRun + e % kRun;
}

/// Shared memory: tiles [kDepth, kTile] of A, transposed, and of B.
template <class T, bool kWords>
__global__ void __launch_bounds__(kTileThreads) gemm_registers_kernel(Product<T> p) {
  constexpr int kRun = kWords ? Word<T>::kSize : 1;
  __shared__ __align__(16) T tile_a[kDepth][kTile];
  __shared__ __align__(16) T tile_b[kDepth][kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int ty = thread / kSide;
  const int tx = thread % kSide;
  const int i0 = static_cast<int>(blockIdx.y) * kTile;
  const int j0 = static_cast<int>(blockIdx.x) * kTile;
  T sums[kEach][kEach] = {};
  for (int l0 = 0; l0 < p.k; l0 += kDepth) {
#pragma unroll
    for (int run = thread; run < kTile * kDepth / kRun; run += kTileThreads) {
      const int i = run * kRun / kDepth;
      const int l = run * kRun % kDepth;
      const int row = run * kRun / kTile;
      const int j = run * kRun % kTile;
      if constexpr (kWords) {
        const Word<T> a = load_word(p.a, p.m, p.k, i0 + i, l0 + l);
        const Word<T> b = load_word(p.b, p.k, p.n, l0 + row, j0 + j);
        for (int e = 0; e < kRun; ++e)
          tile_a[l + e][i] = a.elements[e];
        *reinterpret_cast<Word<T>*>(&tile_b[row][j]) = b;
      } else {
        tile_a[l][i] = p.load_a(i0 + i, l0 + l);
        tile_b[row][j] = p.load_b(l0 + row, j0 + j);
      }
    }
    __syncthreads();  // the tiles are whole before anyone reads them
#pragma unroll
    for (int l = 0; l < kDepth; ++l) {
      T a[kEach];
      T b[kEach];
#pragma unroll
      for (int e = 0; e < kEach; e += kRun) {
        using Run = std::conditional_t<kWords, Word<T>, T>;
        reinterpret_cast<Run*>(a)[e / kRun] =
            *reinterpret_cast<const Run*>(&tile_a[l][place_in_tile<T, kWords>(ty, e)]);
        reinterpret_cast<Run*>(b)[e / kRun] =
            *reinterpret_cast<const Run*>(&tile_b[l][place_in_tile<T, kWords>(tx, e)]);
      }
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
#pragma unroll
        for (int c = 0; c < kEach; ++c)
          sums[r][c] += a[r] * b[c];
      }
    }
    __syncthreads();  // all have read the tiles before they are overwritten
  }
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
#pragma unroll
    for (int c = 0; c < kEach; ++c)
      p.store_c(i0 + place_in_tile<T, kWords>(ty, r), j0 + place_in_tile<T, kWords>(tx, c),
                sums[r][c]);
  }
}

/// A warp has kShuffleRows x 32 elements of C, a lane a column of them. A lane loads an element of
/// each row of A, and gets those of the others by shuffles: no shared memory. Warps of a block have
/// rows below each other, and read the same part of B.
constexpr int kWarp = 32;
constexpr int kShuffleRows = 16;
constexpr int kShuffleWarps = 8;

template <class T, bool kPaced>
__global__ void __launch_bounds__(kWarp* kShuffleWarps) gemm_shuffle_kernel(Product<T> p) {
  const int lane = static_cast<int>(threadIdx.x);
  const int i0 = static_cast<int>(blockIdx.y * kShuffleWarps + threadIdx.y) * kShuffleRows;
  const int j = static_cast<int>(blockIdx.x) * kWarp + lane;
  T sums[kShuffleRows] = {};
  for (int l0 = 0; l0 < p.k; l0 += kWarp) {
    T a[kShuffleRows];
#pragma unroll
    for (int r = 0; r < kShuffleRows; ++r)
      a[r] = p.load_a(i0 + r, l0 + lane);
#pragma unroll 8
    for (int l = 0; l < kWarp; ++l) {
      const T b = p.load_b(l0 + l, j);
#pragma unroll
      for (int r = 0; r < kShuffleRows; ++r)
        sums[r] += __shfl_sync(0xffffffffU, a[r], l) * b;
    }
    // No hazard: it keeps the warps at the same rows of B, which the first cache then has.
    if constexpr (kPaced) __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kShuffleRows; ++r)
    p.store_c(i0 + r, j, sums[r]);
}

namespace wmma = nvcuda::wmma;

/// The tensor core's product of a warp: tf32 of floats, f64 of doubles.
template <class T>
struct Tensor;

template <>
struct Tensor<float> {
  static constexpr int kM = 16;
  static constexpr int kN = 16;
  static constexpr int kK = 8;
  using Operand = wmma::precision::tf32;
  static __device__ float rounded(float value) { return wmma::__float_to_tf32(value); }
};

template <>
struct Tensor<double> {
  static constexpr int kM = 8;
  static constexpr int kN = 8;
  static constexpr int kK = 4;
  using Operand = double;
  static __device__ double rounded(double value) { return value; }
};

/// Eight warps have 128 x kN elements of C, each kWarpM x 32 of them in fragments. Shared memory:
/// tiles [128, kK] of A and [kK, kN] of B, rows padded by 16 bytes against bank conflicts; then a
/// fragment of C a warp on its way to memory.
template <class T>
struct TensorTile {
  static constexpr int kM = 128;
  static constexpr int kN = 512 / sizeof(T);  // twice as much of doubles took twice the time
  static constexpr int kK = 128 / sizeof(T);  // a row of A is a line of memory
  static constexpr int kWarps = 8;
  static constexpr int kWarpM = 256 / sizeof(T);
  static constexpr int kWarpN = 32;
  static constexpr int kRun = Word<T>::kSize;
  static constexpr int kLdA = kK + kRun;
  static constexpr int kLdB = kN + kRun;
};

template <class T>
__global__ void __launch_bounds__(TensorTile<T>::kWarps* kWarp) gemm_tensor_kernel(Product<T> p) {
  using Tile = TensorTile<T>;
  using Core = Tensor<T>;
  using Operand = typename Core::Operand;
  constexpr int kThreads = Tile::kWarps * kWarp;
  constexpr int kRows = Tile::kWarpM / Core::kM;
  constexpr int kCols = Tile::kWarpN / Core::kN;
  constexpr int kRun = Tile::kRun;
  __shared__ __align__(32) T tile_a[Tile::kM * Tile::kLdA];
  __shared__ __align__(32) T tile_b[Tile::kK * Tile::kLdB];
  __shared__ __align__(32) T staged[Tile::kWarps][Core::kM * Core::kN];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / kWarp;
  const int i0 = static_cast<int>(blockIdx.y) * Tile::kM;
  const int j0 = static_cast<int>(blockIdx.x) * Tile::kN;
  const int warp_i = warp % (Tile::kM / Tile::kWarpM) * Tile::kWarpM;
  const int warp_j = warp / (Tile::kM / Tile::kWarpM) * Tile::kWarpN;
  const auto store_rounded = [](T* target, Word<T> word) {
    for (T& element : word.elements)
      element = Core::rounded(element);
    *reinterpret_cast<Word<T>*>(target) = word;
  };
  wmma::fragment<wmma::accumulator, Core::kM, Core::kN, Core::kK, T> sums[kRows][kCols];
#pragma unroll
  for (auto& row : sums) {
#pragma unroll
    for (auto& sum : row)
      wmma::fill_fragment(sum, T(0));
  }
  for (int l0 = 0; l0 < p.k; l0 += Tile::kK) {
#pragma unroll
    for (int e = thread * kRun; e < Tile::kM * Tile::kK; e += kThreads * kRun) {
      const int i = e / Tile::kK;
      const int l = e % Tile::kK;
      store_rounded(&tile_a[i * Tile::kLdA + l], load_word(p.a, p.m, p.k, i0 + i, l0 + l));
    }
#pragma unroll
    for (int e = thread * kRun; e < Tile::kK * Tile::kN; e += kThreads * kRun) {
      const int l = e / Tile::kN;
      const int j = e % Tile::kN;
      store_rounded(&tile_b[l * Tile::kLdB + j], load_word(p.b, p.k, p.n, l0 + l, j0 + j));
    }
    __syncthreads();  // the tiles are whole before anyone reads them
#pragma unroll
    for (int l = 0; l < Tile::kK; l += Core::kK) {
      wmma::fragment<wmma::matrix_a, Core::kM, Core::kN, Core::kK, Operand, wmma::row_major>
          a[kRows];
      wmma::fragment<wmma::matrix_b, Core::kM, Core::kN, Core::kK, Operand, wmma::row_major>
          b[kCols];
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        wmma::load_matrix_sync(a[r], &tile_a[(warp_i + r * Core::kM) * Tile::kLdA + l], Tile::kLdA);
#pragma unroll
      for (int c = 0; c < kCols; ++c)
        wmma::load_matrix_sync(b[c], &tile_b[l * Tile::kLdB + warp_j + c * Core::kN], Tile::kLdB);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int c = 0; c < kCols; ++c)
          wmma::mma_sync(sums[r][c], a[r], b[c], sums[r][c]);
      }
    }
    __syncthreads();  // all have read the tiles before they are overwritten
  }
  T* const mine = staged[warp];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int c = 0; c < kCols; ++c) {
      wmma::store_matrix_sync(mine, sums[r][c], Core::kN, wmma::mem_row_major);
      __syncwarp();  // the fragment is whole before its elements are read
      for (int e = thread % kWarp; e < Core::kM * Core::kN; e += kWarp)
        p.store_c(i0 + warp_i + r * Core::kM + e / Core::kN,
                  j0 + warp_j + c * Core::kN + e % Core::kN, mine[e]);
      __syncwarp();  // all have read it before the next one comes
    }
  }
}

// ---- The rungs
// -----------------------------------------------------------------------------------

unsigned blocks(std::int64_t size, int tile) {
  return static_cast<unsigned>(device::ceil_div<std::int64_t>(size, tile));
}

/// What runs a kernel of Product<T> in that shape.
template <class T>
bench::BuiltGemm launched(const Stream& stream, void (*kernel)(Product<T>), const GemmShape& shape,
                          dim3 grid, dim3 block, std::size_t shared = 0) {
  return {[launch = Launch(stream, kernel, grid, block, shared), shape](
              const Stream& on, const bench::GemmOperands& operands) {
    launch(on, Product<T>{static_cast<const T*>(operands.a), static_cast<const T*>(operands.b),
                          static_cast<T*>(operands.c), static_cast<int>(shape.m),
                          static_cast<int>(shape.n), static_cast<int>(shape.k)});
  }};
}

template <class T>
void require_whole_words(const GemmShape& shape) {
  constexpr int kSize = Word<T>::kSize;
  if (shape.n % kSize == 0 && shape.k % kSize == 0) return;
  throw Error(ErrorCode::unsupported,
              concat("words of ", kSize, " elements need N and K to be ", "multiples of ", kSize,
                     ": N = ", shape.n, ", K = ", shape.k));
}

/// cuBLAS on tensor cores, of f32: what the tensor-core rung is to be compared with.
bench::BuiltGemm build_cublas_tf32(const Stream& stream, const bench::GemmCall& gemm,
                                   std::span<const bench::GemmOperands> sets) {
  bench::GemmCall call = gemm;
  call.type.math = Math::tf32;
  std::shared_ptr<bench::VendorGemmProduct> product = bench::gpu_vendor().gemm(
      {stream.native(), stream.device().index()}, call, bench::VendorRoutine::gemmex, sets);
  return {[product](const Stream& on, const bench::GemmOperands& operands) {
    product->run(on.native(), operands);
  }};
}

/// A rung whose block is a tile of C, one thread an element.
using Build = bench::BuiltGemm (*)(const Stream& stream, const GemmShape& shape,
                                   const Block& block);

template <class T>
std::vector<GemmRung> rung_list(const bench::GemmCase& gemm, const Settings& settings) {
  const Block block = settings.block;
  const double mnk =
      static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
  const auto read_by_tiles = [mnk](double rows, double cols) {
    return mnk * (1 / rows + 1 / cols);
  };
  const double threads = block.threads();
  std::vector<GemmRung> rungs;
  const auto add = [&](const char* name, const char* idea, double reads, Build build,
                       std::optional<Math> math = std::nullopt) {
    rungs.push_back({.rung = {.name = name, .idea = idea, .reads = reads},
                     .build = [build, block](const Stream& stream, const bench::GemmCall& call,
                                             auto) { return build(stream, call.shape, block); },
                     .math = math});
  };

  add("naive", "a thread an element of C", 2 * mnk,
      [](const Stream& stream, const GemmShape& s, const Block& b) {
        return launched(stream, gemm_naive_kernel<T>, s, {blocks(s.n, b.cols), blocks(s.m, b.rows)},
                        dim3(b.cols, b.rows));
      });
  add("column-buffered", "a column of B in shared memory", mnk * (1 + 1 / threads),
      [](const Stream& stream, const GemmShape& s, const Block& b) {
        return launched(stream, gemm_column_buffered_kernel<T>, s,
                        {blocks(s.m, b.threads()), static_cast<unsigned>(s.n)}, dim3(b.threads()),
                        static_cast<std::size_t>(s.k) * sizeof(T));
      });
  add("row-buffered", "a row of A in shared memory: neighbours read neighbours of B",
      mnk * (1 + 1 / threads), [](const Stream& stream, const GemmShape& s, const Block& b) {
        return launched(stream, gemm_row_buffered_kernel<T>, s,
                        {blocks(s.n, b.threads()), static_cast<unsigned>(s.m)}, dim3(b.threads()),
                        static_cast<std::size_t>(s.k) * sizeof(T));
      });

  const auto add_tiles = [&]<int kUnroll>(std::integral_constant<int, kUnroll>, const char* name,
                                          const char* idea) {
    add(name, idea, read_by_tiles(block.rows, block.cols),
        [](const Stream& stream, const GemmShape& s, const Block& b) {
          const auto elements = static_cast<std::size_t>(b.cols * (b.rows + b.cols));
          return launched(stream, gemm_tiles_kernel<T, kUnroll>, s,
                          {blocks(s.n, b.cols), blocks(s.m, b.rows)}, dim3(b.cols, b.rows),
                          elements * sizeof(T));
        });
  };
  add_tiles(std::integral_constant<int, 1>{}, "tiles", "tiles of A and B in shared memory");
  add_tiles(std::integral_constant<int, 2>{}, "tiles-unroll2", "two steps of k in one turn");
  add_tiles(std::integral_constant<int, 4>{}, "tiles-unroll4", "four");
  add_tiles(std::integral_constant<int, 8>{}, "tiles-unroll8", "eight");

  constexpr double kWarpRows = kShuffleRows;
  add("shuffle", "A from the other lanes of the warp, not from shared memory; 16 rows a lane",
      read_by_tiles(kWarpRows, kWarp), [](const Stream& stream, const GemmShape& s, const Block&) {
        return launched(stream, gemm_shuffle_kernel<T, false>, s,
                        {blocks(s.n, kWarp), blocks(s.m, kShuffleRows * kShuffleWarps)},
                        dim3(kWarp, kShuffleWarps));
      });
  add("shuffle-paced", "a barrier keeps the warps of a block at the same rows of B",
      read_by_tiles(kWarpRows, kWarp), [](const Stream& stream, const GemmShape& s, const Block&) {
        return launched(stream, gemm_shuffle_kernel<T, true>, s,
                        {blocks(s.n, kWarp), blocks(s.m, kShuffleRows * kShuffleWarps)},
                        dim3(kWarp, kShuffleWarps));
      });
  add("registers", "tiles of 128 x 128 x 8, a thread has 8 x 8 of C in registers",
      read_by_tiles(kTile, kTile), [](const Stream& stream, const GemmShape& s, const Block&) {
        return launched(stream, gemm_registers_kernel<T, false>, s,
                        {blocks(s.n, kTile), blocks(s.m, kTile)}, dim3(kTileThreads));
      });
  add("registers-words", "16 bytes a load, from global and from shared memory",
      read_by_tiles(kTile, kTile), [](const Stream& stream, const GemmShape& s, const Block&) {
        require_whole_words<T>(s);
        return launched(stream, gemm_registers_kernel<T, true>, s,
                        {blocks(s.n, kTile), blocks(s.m, kTile)}, dim3(kTileThreads));
      });
  constexpr bool kSingle = std::is_same_v<T, float>;
  using Tile = TensorTile<T>;
  add(
      "tensor", kSingle ? "tensor cores, in tf32" : "tensor cores, in f64",
      read_by_tiles(Tile::kM, Tile::kN),
      [](const Stream& stream, const GemmShape& s, const Block&) {
        require_whole_words<T>(s);
        return launched(stream, gemm_tensor_kernel<T>, s,
                        {blocks(s.n, Tile::kN), blocks(s.m, Tile::kM)}, dim3(Tile::kWarps * kWarp));
      },
      kSingle ? std::optional(Math::tf32) : std::nullopt);
  if (kSingle) {
    rungs.push_back({.rung = {.name = "cublas-tf32", .idea = "the vendor's, in tf32"},
                     .build = build_cublas_tf32,
                     .math = Math::tf32});
  }
  return rungs;
}

}  // namespace

std::vector<GemmRung> gemm_gpu_rungs(const bench::GemmCase& gemm, const Settings& settings) {
  return gemm.type.in == DType::f64 ? rung_list<double>(gemm, settings)
                                    : rung_list<float>(gemm, settings);
}

}  // namespace lanky::ladder
