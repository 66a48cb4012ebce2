// Chunks by AVX2 with FMA and F16C, which every processor with AVX2 has.
#include "sparse/cpu/chunk_halves_avx2.hpp"

namespace {

constexpr char kIsa[] = "AVX2";
constexpr int kVectorBytes = 32;
}  // namespace

#include "sparse/cpu/column_kernels_isa.hpp"

namespace lanky::sparse::cpu::avx2 {

const ChunkKernels chunk_kernels = kKernels;

}  // namespace lanky::sparse::cpu::avx2
