// Prints what bench/scripts/fit_chunk_rates.py fits rates to: lanky_chunk_terms < LINES. A line of
// standard input is a matrix and a type, "FILE|SPEC f64|f32|f16"; each gives a line a candidate
// shape of the CPU: number of the line, shape, its terms, and which the plan would choose.
#include <cstdio>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "bench/regret/asked.hpp"
#include "bench/regret/matrix_of_ones.hpp"
#include "sparse/cpu/chunk_cost.hpp"

namespace lanky::sparse::cpu {
namespace {

template <class T>
void print_terms(int line, const CsrMatrix<double>& a) {
  const Machine& machine = machine_of(Device::cpu());
  const regret::MatrixOfOnes<T> ones(Stream(Device::cpu()), a);
  const CsrPattern pattern = ones.csr().pattern();
  const ChunkChoice chosen = choose_chunks(pattern, kDType<T>, machine);
  for (const ChunkShape& shape : chunk_candidates(a.rows)) {
    std::printf("%d\t%s\t%d", line, name_of(shape).c_str(), shape == chosen.shape ? 1 : 0);
    for (const double term :
         chunk_terms(sampled_counts(pattern, shape), pattern, kDType<T>, machine))
      std::printf("\t%.17g", term);
    std::printf("\n");
  }
}

void run() {
  regret::Matrices matrices;
  int number = 0;
  for (std::string line; std::getline(std::cin, line); ++number) {
    std::istringstream words(line);
    std::string source, type;
    words >> source >> type;
    const CsrMatrix<double>& a = matrices.read(source);
    regret::dispatch_fitted(type, [&]<class T>(std::type_identity<T>) {
      print_terms<T>(number, a);
      return 0;
    });
  }
}

}  // namespace
}  // namespace lanky::sparse::cpu

int main() {
  try {
    lanky::sparse::cpu::run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanky_chunk_terms: %s\n", error.what());
    return 2;
  }
}
