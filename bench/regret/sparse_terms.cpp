// Prints what shapes of sparse matrices ask of a machine, for fits: sparse_terms FROM, which is
// facts, locality or packed (sparse_cost_terms.hpp). A line of standard input is a matrix, a chip,
// a type and shapes, "FILE|SPEC CHIP f64|f32|f16 near|all|NAME;NAME..."; a line of output, fields
// between tabs, the number of the line, a shape's name, a kernel, its likelihood, and its terms.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/regret/asked.hpp"
#include "bench/regret/matrix_of_ones.hpp"
#include "bench/regret/sparse_cost_terms.hpp"
#include "core/machine.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/cpu/steps.hpp"
#include "sparse/policy.hpp"
#include "sparse/shapes.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {
namespace {

enum class From { facts, locality, packed };

void print_names() {
  std::string names;
#define LANKY_NAME(name) names += "\t" #name;
  LANKY_COST_TERMS(LANKY_NAME)
#undef LANKY_NAME
  std::printf("number\tshape\tkernel\tweight%s\n", names.c_str());
}

void print(const std::string& input, const regret::Expected& expected) {
  std::printf("%s\t%s\t%.4g", input.c_str(),
              regret::kRateKernels[static_cast<std::size_t>(expected.kernel)], expected.weight);
#define LANKY_PRINT(name) std::printf("\t%.6g", expected.terms.name);
  LANKY_COST_TERMS(LANKY_PRINT)
#undef LANKY_PRINT
  std::printf("\n");
}

RowFacts facts_of(const RowFacts& rows, const CsrPattern& a, DType type, const Machine& machine) {
  RowFacts facts = rows;
  const ReachFacts reach = cpu::reach_facts(a);
  const HotFacts hot = cpu::hot_facts(a, hot_columns_most(type, machine));
  facts.reach = reach.mean;
  facts.repeated = reach.repeated;
  facts.hot_least = hot.least;
  facts.hot_entries = hot.entries;
  return facts;
}

/// What a plan asks for before it chooses.
RowFacts facts_of_plan(RowFacts facts, const RowFacts& all, const Machine& machine) {
  const bool reads_hot = reads_hot_columns(facts, machine);
  if (reads_hot) return all;
  if (reads_reach(facts, machine)) {
    facts.reach = all.reach;
    facts.repeated = all.repeated;
  }
  return facts;
}

/// "near": the choice of a plan and the candidates of tune, also of plans that tuned by the facts
/// of rows alone, as older lines do; "all", or names between semicolons.
std::vector<Shape> shapes_asked(const std::string& text, const RowFacts& rows, const RowFacts& all,
                                DType type, const Machine& machine) {
  if (text == "all") return all_shapes(all, type, machine);
  if (text == "near") {
    const RowFacts facts = facts_of_plan(rows, all, machine);
    const Shape chosen = choose_shape(facts, type, machine);
    std::vector<Shape> shapes = candidates(chosen, facts, type, machine);
    for (const Shape& shape : candidates(chosen, rows, type, machine)) {
      if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
    }
    return shapes;
  }
  return regret::shapes_named(text);
}

template <class T>
void print_candidates(int number, const CsrMatrix<double>& a, const std::string& asked, From from,
                      const Machine& machine) {
  constexpr DType kType = kDType<T>;
  const Stream stream(Device::cpu());
  const regret::MatrixOfOnes<T> ones(stream, a);
  const RowFacts facts = facts_of(ones.facts(), ones.csr().pattern(), kType, machine);
  const regret::RowLengths lengths = regret::lengths_of(ones.csr().pattern());
  const regret::Locality locality =
      locality_of(cpu::column_samples(ones.csr().pattern(), sizeof(T)));
  for (const Shape& shape : shapes_asked(asked, ones.facts(), facts, kType, machine)) {
    const std::string input = concat(number, "	", name_of(shape));
    if (from == From::packed) {
      const PackedMatrix<T> packed = cpu::pack(stream, ones.csr(), shape, nullptr);
      const auto windows = static_cast<std::size_t>(packed.header.windows);
      print(input, regret::packed_terms(packed.header, {packed.windows.data(), windows},
                                        {packed.slices.data(), windows * packed.header.slices_most},
                                        facts, lengths, locality, kType, machine));
      continue;
    }
    const regret::Locality* const samples = from == From::locality ? &locality : nullptr;
    for (const regret::Expected& expected :
         regret::expected_terms(shape, facts, lengths, samples, kType, machine)) {
      if (expected.weight > 0) print(input, expected);
    }
  }
}

void print_line(int number, const std::string& line, From from, regret::Matrices& matrices) {
  std::istringstream words(line);
  std::string source, chip, type, asked;
  words >> source >> chip >> type >> std::ws;
  std::getline(words, asked);
  const CsrMatrix<double>& a = matrices.read(source);
  const Machine& machine = known_machine(chip);
  regret::dispatch_fitted(type, [&]<class T>(std::type_identity<T>) {
    print_candidates<T>(number, a, asked, from, machine);
  });
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
  try {
    const auto from = lanky::sparse::from_of(count == 2 ? words[1] : "");
    lanky::sparse::print_names();
    lanky::regret::Matrices matrices;
    std::string line;
    for (int number = 0; std::getline(std::cin, line); ++number)
      lanky::sparse::print_line(number, line, from, matrices);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanky_sparse_terms: %s\n", error.what());
    return 2;
  }
}
