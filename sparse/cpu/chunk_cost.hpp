// Which shape of chunks a plan takes: candidates, and the time that each is predicted to take.
#pragma once

#include <lanky/dtype.hpp>
#include <string>
#include <vector>

#include "core/machine.hpp"
#include "sparse/cpu/chunk_scopes.hpp"
#include "sparse/cpu/chunks.hpp"
#include "sparse/csr.hpp"

namespace lanky::sparse::cpu {

/// Shapes for `rows` rows, each once: rows alone (plain CSR with narrow columns), side by side as
/// they are, and sorted within scopes, of which threads get several each.
std::vector<ChunkShape> chunk_candidates(std::int64_t rows, std::int64_t columns = 1);

/// "alone", "beside scope 256", ...
std::string name_of(const ChunkShape& shape);

/// What a whole matrix in some shape is about made of, from scopes spread over its rows.
ChunkCounts sampled_counts(const CsrPattern& a, const ChunkShape& shape);

/// Terms of a product's time, in order: one rate each in kChunkRates.
inline constexpr int kChunkTerms = 7;
std::array<double, kChunkTerms> chunk_terms(const ChunkCounts& counts, const CsrPattern& a,
                                            DType dtype, const Machine& machine);

/// Microseconds of a product by one thread.
double predicted_us(const std::array<double, kChunkTerms>& terms);

struct ChunkChoice {
  ChunkShape shape;
  double predicted_us = 0;
  std::size_t of = 0;
};
/// The candidate of the least predicted time.
ChunkChoice choose_chunks(const CsrPattern& a, DType dtype, const Machine& machine,
                          std::int64_t columns = 1);

/// Whether a product of so long by one thread is shorter by several, which have to be woken first.
bool worth_waking(double one_thread_us);

}  // namespace lanky::sparse::cpu
