// Prints what candidates of sparse matrices ask of a machine, for fits: sparse_terms FROM, which is
// facts, locality or packed (sparse_cost_terms.hpp). A line of standard input is a matrix and a
// chip, "FILE|SPEC CHIP"; a line of output, fields between tabs, the number of the matrix, the
// type, a shape as plan_info.cpp spells it, a kernel, its likelihood, and its terms.
#include <cstdio>
#include <iostream>
#include <lanky/half.hpp>
#include <lanky/io.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/machine.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "golden/sparse_cost_terms.hpp"
#include "sparse/cpu/host_csr.hpp"
#include "sparse/cpu/steps.hpp"
#include "sparse/plan_info.hpp"
#include "sparse/policy.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {
namespace {

enum class From { facts, locality, packed };

void print_names() {
  std::string names;
#define LANKY_NAME(name) names += "\t" #name;
  LANKY_COST_TERMS(LANKY_NAME)
#undef LANKY_NAME
  std::printf("number\ttype\tshape\tkernel\tweight%s\n", names.c_str());
}

void print(const std::string& input, const golden::Expected& expected) {
  std::printf("%s\t%s\t%.4g", input.c_str(),
              golden::kRateKernels[static_cast<std::size_t>(expected.kernel)], expected.weight);
#define LANKY_PRINT(name) std::printf("\t%.6g", expected.terms.name);
  LANKY_COST_TERMS(LANKY_PRINT)
#undef LANKY_PRINT
  std::printf("\n");
}

/// The facts that the choice of a plan knows, and all.
struct KnownFacts {
  RowFacts rows;
  RowFacts chosen_by;
  RowFacts all;
};

KnownFacts facts_of(const RowFacts& rows, const CsrPattern& a, DType type, const Machine& machine) {
  KnownFacts facts{rows, rows, rows};
  const ReachFacts reach = cpu::reach_facts(a);
  const HotFacts hot = cpu::hot_facts(a, hot_columns_most(type, machine));
  facts.all.reach = reach.mean;
  facts.all.repeated = reach.repeated;
  const bool reads_hot = reads_hot_columns(rows, machine);
  if (reads_hot || reads_reach(rows, machine)) facts.chosen_by = facts.all;
  facts.all.hot_least = hot.least;
  facts.all.hot_entries = hot.entries;
  if (reads_hot) facts.chosen_by = facts.all;
  return facts;
}

template <class T>
void print_candidates(int number, const CsrMatrix<double>& a, const golden::Locality& locality,
                      From from, const Machine& machine) {
  constexpr DType kType = kDType<T>;
  const Stream stream(Device::cpu());
  const std::vector<T> values(a.values.size(), T(1.0F));
  const CsrView<T> view{a.rows,        a.cols, a.nnz(), a.row_offsets.data(), a.col_indices.data(),
                        values.data(), 0};
  const CheckedCsr<T> checked(stream, view);
  const KnownFacts facts = facts_of(checked.facts(), checked.csr().pattern(), kType, machine);
  const Shape chosen = choose_shape(facts.chosen_by, kType, machine);
  for (const Shape& shape : candidates(chosen, facts.rows, kType, machine)) {
    const std::string input = concat(number, "\t", name(kType), "\t", name_of(shape));
    if (from == From::packed) {
      const PackedMatrix<T> packed = cpu::pack(stream, checked.csr(), shape, nullptr);
      const auto windows = static_cast<std::size_t>(packed.header.windows);
      print(input, golden::packed_terms(packed.header, {packed.windows.data(), windows},
                                        {packed.slices.data(), windows * packed.header.slices_most},
                                        facts.all, locality, kType, machine));
      continue;
    }
    for (const golden::Expected& expected : golden::expected_terms(
             shape, facts.all, from == From::locality ? &locality : nullptr, kType, machine)) {
      if (expected.weight > 0) print(input, expected);
    }
  }
}

void print_matrix(int number, const std::string& line, From from) {
  std::istringstream words(line);
  std::string source, chip;
  words >> source >> chip;
  const bool file = source.find(".mtx") != std::string::npos;
  const CsrMatrix<double> a = file ? io::read_csr<double>(source) : io::generate<double>(source);
  const golden::Locality locality = golden::locality_of({.rows = a.rows,
                                                         .cols = a.cols,
                                                         .nnz = a.nnz(),
                                                         .row_offsets = a.row_offsets.data(),
                                                         .columns = a.col_indices.data()});
  const Machine& machine = known_machine(chip);
  print_candidates<double>(number, a, locality, from, machine);
  print_candidates<float>(number, a, locality, from, machine);
  print_candidates<half>(number, a, locality, from, machine);
}

From from_of(const std::string& text) {
  if (text == "facts") return From::facts;
  if (text == "locality") return From::locality;
  if (text == "packed") return From::packed;
  throw std::invalid_argument("sparse_terms facts|locality|packed");
}

}  // namespace
}  // namespace lanky::sparse

int main(int count, char** words) {
  const auto from = lanky::sparse::from_of(count == 2 ? words[1] : "");
  lanky::sparse::print_names();
  std::string line;
  for (int number = 0; std::getline(std::cin, line); ++number)
    lanky::sparse::print_matrix(number, line, from);
}
