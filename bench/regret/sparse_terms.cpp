// Prints what shapes of sparse matrices ask of a machine, for fits (sparse/cost.hpp). A line of
// standard input is a matrix, a chip, a type and shapes, "FILE|SPEC CHIP f64|f32|f16
// near|single|candidates|NAME;NAME..."; a line of output, fields between tabs, the number of the
// line, a shape's name, a kernel, its likelihood, and its terms.
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/regret/asked.hpp"
#include "bench/regret/matrix_of_ones.hpp"
#include "core/machine.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/cost.hpp"
#include "sparse/policy.hpp"
#include "sparse/shapes.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {
namespace {

void print_names() {
  std::string names;
#define LANKY_NAME(name) names += "\t" #name;
  LANKY_COST_TERMS(LANKY_NAME)
#undef LANKY_NAME
  std::printf("number\tshape\tkernel\tweight%s\n", names.c_str());
}

void print(const std::string& input, const KernelTerms& expected) {
  std::printf("%s\t%s\t%.4g", input.c_str(),
              kCostKernels[static_cast<std::size_t>(expected.kernel)], expected.weight);
#define LANKY_PRINT(name) std::printf("\t%.6g", expected.terms.name);
  LANKY_COST_TERMS(LANKY_PRINT)
#undef LANKY_PRINT
  std::printf("\n");
}

/// "near": the choice of a plan, and what `tune` measures; "single": single_shape(); "candidates";
/// or names between semicolons.
std::vector<Shape> shapes_asked(const std::string& text, const RowFacts& facts, DType type,
                                const Machine& machine) {
  if (text == "single") {
    const std::optional<Shape> single = single_shape(facts, type, machine);
    return single ? std::vector{*single} : std::vector<Shape>{};
  }
  if (text == "candidates") return candidates(facts, type, machine);
  if (text != "near") return regret::shapes_named(text);
  return shapes_near(choose_shape(facts, type, machine).shape, facts, type, machine);
}

template <class T>
void print_shapes(int number, const CsrMatrix<double>& a, const std::string& asked,
                  const Machine& machine) {
  const Stream stream(Device::cpu());
  const RowFacts facts = regret::MatrixOfOnes<T>(stream, a).facts();
  for (const Shape& shape : shapes_asked(asked, facts, kDType<T>, machine)) {
    for (const KernelTerms& expected : expected_terms(shape, facts, kDType<T>, machine)) {
      if (expected.weight > 0) print(concat(number, "\t", name_of(shape)), expected);
    }
  }
}

void print_line(int number, const std::string& line, regret::Matrices& matrices) {
  std::istringstream words(line);
  std::string source, chip, type, asked;
  words >> source >> chip >> type >> std::ws;
  std::getline(words, asked);
  const CsrMatrix<double>& a = matrices.read(source);
  const Machine& machine = known_machine(chip);
  regret::dispatch_fitted(
      type, [&]<class T>(std::type_identity<T>) { print_shapes<T>(number, a, asked, machine); });
}

}  // namespace
}  // namespace lanky::sparse

int main() {
  try {
    lanky::sparse::print_names();
    lanky::regret::Matrices matrices;
    std::string line;
    for (int number = 0; std::getline(std::cin, line); ++number)
      lanky::sparse::print_line(number, line, matrices);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanky_sparse_terms: %s\n", error.what());
    return 2;
  }
}
