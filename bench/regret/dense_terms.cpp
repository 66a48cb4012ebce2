// Prints the terms of the candidates of dense products on a machine, for fits. A line of standard
// input is a product, "M N K OP_A OP_B LAYOUT PAD MATH IN OUT SAME ADDS CHIP". Lines of output have
// tabs between fields and begin with the number of the product: one has "class" and its class, each
// other a candidate (there is none where C is empty), the words that its rates depend on, its
// predicted time in us, its terms as CostTerms has them, and its configuration.
#include <cstdio>
#include <iostream>
#include <lanky/tuning.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/machine.hpp"
#include "core/text.hpp"
#include "dense/cuda/cost.hpp"
#include "dense/cuda/routes.hpp"
#include "dense/measured_choices.hpp"
#include "dense/policy.hpp"

namespace lanky::dense {
namespace {

DType dtype_of(const std::string& text) {
  for (const DType type :
       {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128})
    if (to_string(type) == text) return type;
  throw std::invalid_argument(text);
}

void print(int number, const std::string& line) {
  std::istringstream words(line);
  GemmShape shape;
  std::string op_a, op_b, layout, math, in, out, chip;
  std::int64_t pad = 0;
  RunKind kind;
  words >> shape.m >> shape.n >> shape.k >> op_a >> op_b >> layout >> pad >> math >> in >> out >>
      kind.same >> kind.adds >> chip;
  const auto op = [](const std::string& text) {
    return text == "n" ? Op::none : text == "t" ? Op::trans : Op::conj_trans;
  };
  shape.op_a = op(op_a);
  shape.op_b = op(op_b);
  shape.layout = layout == "col" ? Layout::col : Layout::row;
  shape = with_leading_dimensions(shape);
  shape.lda += pad;
  shape.ldb += pad;
  shape.ldc += pad;
  const Math allowed = math == "tf32" ? Math::tf32 : math == "tf32x3" ? Math::tf32x3 : Math::ieee;
  const Request request{canonical(shape, allowed),
                        gemm_family(shape.m, shape.n, shape.k),
                        {dtype_of(in), dtype_of(out)},
                        known_machine(chip)};
  const GemmQuery query{Device::cpu(), shape,     request.types.in, request.types.out,
                        kind.same,     kind.adds, allowed};
  std::printf("%d\tclass\t%s\n", number, gemm_class_on(concat("NVIDIA ", chip), query).c_str());
  if (shape.m == 0 || shape.n == 0) return;  // nothing is launched
  std::vector<Launch> all = own_candidates(request, kind);
  all.push_back(VendorLaunch{});
  for (const Launch& launch : all) {
    const CostKey key = cost_key(launch, request, kind);
    const CostTerms t = cost_terms(launch, request, kind);
    std::printf(
        "%d\t%s\t%s\t%s\t%s\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%d\t%.6g\t%.6g\t%.6g\t%s\n",
        number, key.kernel.c_str(), std::string(key.arithmetic).c_str(), key.layout.c_str(),
        key.algorithm.c_str(), predict_us(launch, request, kind), t.memory, t.l2, t.flops, t.steps,
        t.fill, t.launches, t.side, t.ends, t.lines, describe(launch, request.types).c_str());
  }
}

}  // namespace
}  // namespace lanky::dense

int main() {
  std::string line;
  for (int number = 0; std::getline(std::cin, line); ++number)
    lanky::dense::print(number, line);
}
