// Chunks by AVX-512, whose vectors hold eight doubles or two times eight floats; eight are a chunk.
#include "sparse/cpu/chunk_halves_avx2.hpp"

namespace {

constexpr char kIsa[] = "AVX-512";
constexpr int kVectorBytes = 64;
}  // namespace

#include "sparse/cpu/column_kernels_isa.hpp"

namespace lanky::sparse::cpu::avx512 {

const ChunkKernels chunk_kernels = kKernels;

}  // namespace lanky::sparse::cpu::avx512
