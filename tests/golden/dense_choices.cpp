// Prints what is chosen for dense products on a machine like an H200, a line a product: the kernel
// of every kind of run with every field of its launch. tests/golden/check.py compares the lines
// with those of tests/data/golden/dense_choices.txt.xz.
#include <cstdio>
#include <lanky/tuning.hpp>
#include <map>
#include <string>
#include <variant>

#include "bench/cases/full_grid.hpp"
#include "core/machine.hpp"
#include "core/text.hpp"
#include "dense/cuda/routes.hpp"
#include "dense/measured_choices.hpp"
#include "dense/policy.hpp"
#include "golden/draw_shapes.hpp"

namespace lanky::dense {
namespace {

const Machine kMachine = known_machine("H200");

/// "name=value" of each field that is not at its default.
class Fields {
 public:
  explicit Fields(std::string kernel) : text_(std::move(kernel)) {}
  template <class Value>
  Fields& add(const char* name, const Value& value, const Value& standard = Value()) {
    if (value != standard) text_ += concat(" ", name, "=", value);
    return *this;
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

std::string text_of(const GramLaunch& c) {
  const auto fields = [&c](const auto& kernel) {
    Fields text(concat(c.exchanged ? "exchanged " : "", "gram", c.kernel.index() + 1));
    if constexpr (requires { kernel.tile; }) text.add("tile", kernel.tile);
    text.add("row_major", is_row_major(c.kernel)).add("vectors", is_wide(c.kernel));
    if constexpr (requires { kernel.any; })
      text.add("any", kernel.any).add("a_turned", kernel.a_turned).add("b_turned", kernel.b_turned);
    if constexpr (requires { kernel.layout; })
      text.add("mixed", kernel.layout == GramLayout::mixed);
    if constexpr (requires { kernel.math; }) text.add("math", static_cast<int>(kernel.math));
    text.add("strips", c.strips, 1).add("blocks", c.blocks);
    if constexpr (requires { kernel.below_blocks; })
      text.add("below", kernel.below_blocks).add("diagonal", kernel.diagonal_blocks);
    text.add("sum_log2", c.sum_columns_log2, 3);
    if constexpr (requires { kernel.prefetch; }) text.add("prefetch", kernel.prefetch);
    text.add("one_launch", c.one_launch);
    if constexpr (requires { kernel.stacked; })
      text.add("stacked", kernel.stacked).add("spread", kernel.spread);
    if constexpr (requires { kernel.run_log2; }) text.add("run_log2", kernel.run_log2);
    return text.add("packed", packed_rows(c.kernel), 1).add("resident", c.resident).text();
  };
  return std::visit(fields, c.kernel);
}

std::string text_of(const UpdateLaunch& c) {
  const UpdateRingPlan ring = c.ring.value_or(UpdateRingPlan());
  const bool takes_any = std::holds_alternative<UpdateStaged>(c.kernel) ||
                         std::holds_alternative<UpdateStream>(c.kernel) ||
                         (c.ring && !ring.mapped && !ring.wide_c);
  return Fields(algorithm_name(c))
      .add("threads", c.threads)
      .add("passes", c.passes, 1)
      .add("rows", c.rows)
      .add("column_blocks", c.column_blocks, 1)
      .add("shared", c.shared_bytes)
      .add("alignment", takes_any ? 1 : 16, 1)
      .add("warps_m", ring.warps_m)
      .add("warps_n", ring.warps_n)
      .add("warps_k", ring.warps_k, 1)
      .add("depth", ring.depth)
      .add("stages", ring.stages)
      .add("slot", ring.slot_bytes)
      .add("ring", ring.ring_bytes)
      .add("b_pitch", ring.b_pitch)
      .add("row_tiles", ring.row_tiles)
      .add("mapped", ring.mapped)
      .add("wide_c", ring.wide_c)
      .text();
}

std::string text_of(const PanelLaunch& launch) {
  const PanelPlan& p = launch.plan;
  return Fields(concat("panel<", launch.name, ">"))
      .add("packs", launch.packs)
      .add("warps_m", p.warps_m)
      .add("warps_k", p.warps_k)
      .add("warps_n", p.warps_n)
      .add("group_columns", p.group_columns)
      .add("stages", p.stages)
      .add("blocks", p.blocks)
      .add("tile_rows", p.tile_rows)
      .add("step", p.step)
      .add("steps", p.steps)
      .add("tiles", p.tiles)
      .add("slot", p.slot_bytes)
      .add("small", p.small_bytes)
      .add("small_width", p.small_width)
      .add("sum", p.sum_bytes)
      .add("shared", p.shared_bytes)
      .add("sum_parts", p.sum_parts, 1)
      .add("sum_pieces", p.sum_pieces)
      .add("classes_log2", p.classes.log2)
      .add("of_k", p.classes.of_k)
      .add("room", p.classes.room)
      .add("kept", p.kept, 2)
      .text();
}

std::string text_of(const TiledLaunch& launch) {
  return concat("tiled", launch.tile, " split=", launch.split.count,
                " length=", launch.split.length);
}

std::string text_of(const VendorLaunch& launch) {
  return concat("vendor[", launch.algorithm, "]");
}

std::string text_of(const Routes& routes, RunKind kind) {
  const auto text = [&](std::uint8_t index) {
    return std::visit([](const auto& launch) { return text_of(launch); }, routes.launches[index]);
  };
  const Routes::Route route = routes.of[kind.index()];
  return route.launch == route.own ? text(route.launch)
                                   : concat(text(route.launch), " or ", text(route.own));
}

/// Whether cuBLASLt, were it there, has words for a product.
bool vendor_can(const Problem& problem, Types types) {
  const DType in = types.in;
  return problem.k > 0 && !types.wide() &&
         (!is_complex(in) || blas_call(problem).conjugates_transposed_only());
}

/// The choices that measured_choices.jsonl has for an H200.
MeasuredChoices measured_for(const GemmShape& shape, DType in, DType out, Math math) {
  GemmQuery query{Device::cpu(), shape, in, out};
  query.math = math;
  const auto find = [](const GemmQuery& q) {
    return GemmTuning::of_lanky().find(gemm_class_on("NVIDIA H200", q));
  };
  MeasuredChoices found;
  found.general = find(query);
  query.adds = true;
  found.adds = find(query);
  query.adds = false;
  query.same_operands = true;
  found.same = find(query);
  return found;
}

void print(const std::string& name, const GemmShape& given, Types types, Math math = Math::ieee) {
  const GemmShape shape = with_leading_dimensions(given);
  const Request request{canonical(shape, math), gemm_family(shape.m, shape.n, shape.k), types,
                        kMachine};
  const Routes routes = choose_routes(request, measured_for(shape, types.in, types.out, math),
                                      vendor_can(request.problem, types));
  const bool in_off = size_of(types.in) < 16;  // elements of 16 bytes are never off
  const bool out_off = size_of(types.out) < 16;
  std::map<std::string, unsigned> runs;  // by what they take: a bit for each kind of run
  for (unsigned index = 0; index < RunKind::kCount; ++index) {
    const RunKind kind = RunKind::of(index);
    if (kind.same && (!request.can_be_same() || kind.a_off != kind.b_off)) continue;
    if (((kind.a_off || kind.b_off) && !in_off) || (kind.c_off && !out_off)) continue;
    runs[text_of(routes, kind)] |= 1U << index;
  }
  std::string line = name;
  for (const auto& [text, bits] : runs) {
    char mask[16];
    std::snprintf(mask, sizeof mask, "%08x", bits);
    line += concat(" | ", mask, " ", text);
  }
  std::puts(line.c_str());
}

void print_all_types(const std::string& name, const GemmShape& shape) {
  for (const Math math : {Math::ieee, Math::tf32, Math::tf32x3}) {
    print(concat("f32 math", static_cast<int>(math), " ", name), shape, {DType::f32, DType::f32},
          math);
  }
  print("f64 " + name, shape, {DType::f64, DType::f64});
  print("f16 " + name, shape, {DType::f16, DType::f16});
  print("f16>f32 " + name, shape, {DType::f16, DType::f32});
  if (gemm_family(shape.m, shape.n, shape.k) == GemmFamily::gram) {  // others have the tile kernel
    print("f32>f64 " + name, shape, {DType::f32, DType::f64});
    print("f16>f64 " + name, shape, {DType::f16, DType::f64});
  }
  print("bf16 " + name, shape, {DType::bf16, DType::bf16});
  print("c64 " + name, shape, {DType::c64, DType::c64});
  print("c128 " + name, shape, {DType::c128, DType::c128});
}

std::string name_of(const GemmShape& s) {
  return concat(s.m, "x", s.n, "x", s.k, " ", "ntc"[static_cast<int>(s.op_a)],
                "ntc"[static_cast<int>(s.op_b)], s.layout == Layout::col ? " col" : " row", " ",
                s.lda, " ", s.ldb, " ", s.ldc);
}

void print_grid() {
  std::map<std::string, GemmShape> shapes;  // each once, whatever its type
  for (const bench::GemmCase& gemm : bench::core_grid()) {
    GemmShape shape{.m = gemm.m,
                    .n = gemm.n,
                    .k = gemm.k,
                    .op_a = gemm.op_a,
                    .op_b = gemm.op_b,
                    .layout = gemm.layout};
    for (const std::int64_t padding : {0, 8}) {
      shape = with_leading_dimensions(shape);
      shape.lda += padding;
      shape.ldb += padding;
      shape.ldc += padding;
      shapes.emplace(name_of(shape), shape);
    }
  }
  for (const auto& [name, shape] : shapes)
    print_all_types(name, shape);
}

}  // namespace
}  // namespace lanky::dense

int main() {
  lanky::dense::print_grid();
  for (const lanky::GemmShape& shape : lanky::golden::draw_shapes(2000))
    lanky::dense::print_all_types(lanky::dense::name_of(shape), shape);
}
