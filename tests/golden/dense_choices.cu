// Prints what is chosen for dense products on a machine like an H200, a line a product: the kernel
// of every kind of run with every field of its launch. tests/golden/check.py compares the lines
// with those of tests/data/golden/dense_choices.txt.xz.
#include <cstdio>
#include <iterator>
#include <lanky/tuning.hpp>
#include <map>
#include <sstream>
#include <string>

#include "bench/full_grid.hpp"
#include "core/text.hpp"
#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/panel/executor.cuh"
#include "dense/cuda/update/policy.hpp"
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

std::string text_of(const GramConfiguration& c) {
  return Fields(concat("gram", static_cast<int>(c.kernel)))
      .add("tile", c.tile)
      .add("row_major", c.row_major)
      .add("vectors", c.vectors)
      .add("any", c.any)
      .add("a_turned", c.a_turned)
      .add("b_turned", c.b_turned)
      .add("mixed", c.mixed)
      .add("math", static_cast<int>(c.math))
      .add("strips", c.strips, 1)
      .add("blocks", c.blocks)
      .add("below", c.below_blocks)
      .add("diagonal", c.diagonal_blocks)
      .add("sum_log2", c.sum_columns_log2, 3)
      .add("prefetch", c.prefetch)
      .add("one_launch", c.one_launch)
      .add("stacked", c.stacked)
      .add("spread", c.spread)
      .add("run_log2", c.run_log2)
      .add("packed", c.packed, 1)
      .add("resident", c.resident)
      .text();
}

std::string text_of(const UpdateConfig& c) {
  return Fields(concat("update", static_cast<int>(c.kernel)))
      .add("variant", c.variant)
      .add("threads", c.threads)
      .add("passes", c.passes, 1)
      .add("rows", c.rows)
      .add("column_blocks", c.column_blocks, 1)
      .add("shared", c.shared_bytes)
      .add("alignment", c.alignment, 1)
      .add("warps_m", c.ring.warps_m)
      .add("warps_n", c.ring.warps_n)
      .add("warps_k", c.ring.warps_k, 1)
      .add("depth", c.ring.depth)
      .add("stages", c.ring.stages)
      .add("slot", c.ring.slot_bytes)
      .add("ring", c.ring.ring_bytes)
      .add("b_pitch", c.ring.b_pitch)
      .add("row_tiles", c.ring.row_tiles)
      .add("mapped", c.ring.mapped)
      .add("wide_c", c.ring.wide_c)
      .text();
}

std::string text_of(const PanelPlan& p, const char* name, bool packs) {
  return Fields(concat("panel<", name, ">"))
      .add("packs", packs)
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

/// What a run brings that a plan cannot know.
struct Run {
  bool same;   // B is A
  bool adds;   // beta may be other than 0
  bool a_off;  // 16 bytes
  bool b_off;
  bool c_off;
};

template <class T, class TOut>
class Choices {
 public:
  Choices(const Problem& problem, GemmFamily family, MeasuredChoices measured)
      : p_(problem), family_(family), measured_(measured) {}

  std::string of(const Run& run) const {
    return chosen(run, run.adds ? measured_.adds : measured_.general);
  }
  bool can_be_same() const { return p_.m == p_.n && p_.a == p_.b.transposed(); }

 private:
  bool vendor_can() const {
    return p_.k > 0 && (!is_complex(kDType<T>) || blas_call(p_).conjugates_transposed_only());
  }
  std::string chosen(const Run& run, const GemmChoice* choice) const {
    const GemmChoice* same = measured_.same;
    const bool same_by_vendor =
        same != nullptr && same->vendor && vendor_can() && p_.a == p_.b.transposed();
    if (same_by_vendor && run.same) return vendor(run, same);
    return general(run, choice, !same_by_vendor);
  }
  std::string general(const Run& run, const GemmChoice* choice, bool symmetric) const {
    if (choice != nullptr ? !choice->vendor : !prefers_vendor(p_, family_, kDType<T>, kMachine))
      return own(run, symmetric);
    if (!vendor_can()) return own(run, symmetric);
    if (symmetric && has_symmetric() && run.same && !run.a_off) return text_of(symmetric_gram());
    return vendor(run, choice);
  }
  std::string vendor(const Run& run, const GemmChoice* choice) const {
    return concat("vendor[", choice != nullptr ? choice->algorithm : "", "] or ", own(run, true));
  }
  std::string own(const Run& run, bool symmetric) const {
    if (family_ == GemmFamily::update) return update(run);
    if (std::string by_panel = panel(run); !by_panel.empty()) return by_panel;
    if (symmetric && has_symmetric() && run.same && !run.a_off) return text_of(symmetric_gram());
    return gram(run);
  }
  std::string update(const Run& run) const {
    const UpdateConfig c = choose_update(p_, kDType<T>, kDType<TOut>, kMachine);
    const bool aligned = c.alignment == 1 || !(run.a_off || run.c_off);
    return text_of(aligned ? c : unaligned_update(p_, kDType<T>, kDType<TOut>, kMachine));
  }
  std::string panel(const Run& run) const {
    if (family_ != GemmFamily::panel) return "";
    const cuda::PanelVariant<T>* const v = cuda::find_panel_variant<T>(p_);
    if (v == nullptr) return "";
    const cuda::PanelPlans<T> plans(p_, *v, kMachine);
    if (!plans.exist()) return "";
    const PanelPlan& plan = plans.aligned.blocks == 0 || run.a_off ? plans.off : plans.aligned;
    return text_of(plan, v->name, packs(*v, plan) || (v->maps_b && run.b_off));
  }
  bool packs(const cuda::PanelVariant<T>& v, const PanelPlan& plan) const {
    if (plan.classes.room > 0) return true;
    if (v.maps_b) return !(p_.n == 1 && p_.b.row == 1) && !has_aligned_lines(p_.b, sizeof(T));
    return v.always_packed || p_.n > 8;
  }
  std::string gram(const Run& run) const {
    const GramConfiguration c =
        family_ == GemmFamily::gram ? choose_gram(p_, kDType<T>, kMachine) : GramConfiguration{};
    if (c.kernel == GramKernel::none) return tiled(p_);
    const bool turned = c.mixed && p_.a.col != 1;
    const Problem problem = turned ? exchanged(p_) : p_;
    const std::string before = turned ? "exchanged " : "";
    if (!run.a_off && !run.b_off) return before + text_of(c);
    const auto off = unaligned_gram(c, problem, kDType<T>, kMachine);
    return before + (off.kernel != GramKernel::none ? text_of(off) : tiled(problem));
  }
  bool has_symmetric() const { return has_symmetric_kernel(p_, family_, kDType<T>, kMachine); }
  GramConfiguration symmetric_gram() const {
    return choose_symmetric_gram(p_, kDType<T>, kMachine);
  }
  std::string tiled(const Problem& p) const {
    const int index = choose_tile(p.m, p.n);
    const Tile tile = tile_for(index, sizeof(Accumulator<T>));
    const Split split =
        choose_split(ceil_div(p.m, std::int64_t{tile.m}) * ceil_div(p.n, std::int64_t{tile.n}), p.k,
                     4 * kMachine.multiprocessors, tile.k, 4 * tile.k);
    return concat("tiled", index, " split=", split.count, " length=", split.length);
  }

  Problem p_;
  GemmFamily family_;
  MeasuredChoices measured_;
};

/// The choices that measured_choices.jsonl has for an H200.
MeasuredChoices measured_for(const GemmShape& shape, DType in, DType out) {
  GemmQuery query{Device::cpu(), shape, in, out};
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

template <class T, class TOut>
void print(const std::string& name, const GemmShape& given) {
  const GemmShape shape = with_leading_dimensions(given);
  const Choices<T, TOut> choices(canonical(shape), gemm_family(shape.m, shape.n, shape.k),
                                 measured_for(shape, kDType<T>, kDType<TOut>));
  std::map<std::string, unsigned> runs;  // by what they take: a bit for each kind of run
  for (unsigned bits = 0; bits < 32; ++bits) {
    const Run run{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                  (bits & 16) != 0};
    if (run.same && (!choices.can_be_same() || run.a_off != run.b_off)) continue;
    constexpr bool kIn = sizeof(T) == 16;  // elements that are never off 16 bytes
    constexpr bool kOut = sizeof(TOut) == 16;
    if ((kIn && (run.a_off || run.b_off)) || (kOut && run.c_off)) continue;
    runs[choices.of(run)] |= 1U << bits;
  }
  std::string line = name;
  for (const auto& [text, bits] : runs) {
    char mask[16];
    std::snprintf(mask, sizeof mask, "%08x", bits);
    line += concat(" | ", mask, " ", text);
  }
  std::puts(line.c_str());
}

void print_all_types(const std::string& name, GemmShape shape) {
  for (const Math math : {Math::ieee, Math::tf32, Math::tf32x3}) {
    shape.math = math;
    print<float, float>(concat("f32 math", static_cast<int>(math), " ", name), shape);
  }
  shape.math = Math::ieee;
  print<double, double>("f64 " + name, shape);
  print<half, half>("f16 " + name, shape);
  print<half, float>("f16>f32 " + name, shape);
  print<bfloat16, bfloat16>("bf16 " + name, shape);
  print<std::complex<float>, std::complex<float>>("c64 " + name, shape);
  print<std::complex<double>, std::complex<double>>("c128 " + name, shape);
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
