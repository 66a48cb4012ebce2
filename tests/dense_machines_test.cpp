// Dense products on every machine: each has candidates for each product, and all that are listed
// are kernels that its code has, in blocks that it has shared memory for.
#include <gtest/gtest.h>

#include <cmath>
#include <lanky/lanky.hpp>
#include <set>
#include <variant>

#include "dense/cuda/cost.hpp"
#include "dense/cuda/routes.hpp"
#include "dense/policy.hpp"
#include "golden/draw_shapes.hpp"
#include "support/machines.hpp"

namespace lanky::dense {
namespace {

using testing::all_machines;
using testing::name_of;

constexpr DType kTypes[] = {DType::f64,  DType::f32, DType::f16,
                            DType::bf16, DType::c64, DType::c128};

std::int64_t shared_bytes(const Launch& launch, const Request& request) {
  if (const auto* const gram = std::get_if<GramLaunch>(&launch))
    return gram_shared_bytes(*gram, request.problem, request.types, request.machine.code);
  if (const auto* const update = std::get_if<UpdateLaunch>(&launch)) return update->shared_bytes;
  if (const auto* const panel = std::get_if<PanelLaunch>(&launch)) return panel->plan.shared_bytes;
  return 0;  // the tile kernel's is 48 KiB at most
}

bool needs_warp_groups(const Launch& launch, DType type) {
  if (const auto* const gram = std::get_if<GramLaunch>(&launch))
    return std::holds_alternative<GramWgmma>(gram->kernel);
  const auto* const panel = std::get_if<PanelLaunch>(&launch);
  return panel != nullptr &&
         panel_kernels(type)[static_cast<std::size_t>(panel->variant)].warp_groups;
}

void check_legal(const Launch& launch, const Request& request) {
  EXPECT_LE(shared_bytes(launch, request), request.machine.shared_bytes_per_block);
  EXPECT_TRUE(request.machine.has_warp_groups() || !needs_warp_groups(launch, request.types.in));
  if (const auto* const panel = std::get_if<PanelLaunch>(&launch)) {
    EXPECT_GE(panel->plan.stages, panel_least_slots(request.machine.code.capability));
  }
}

TEST(DenseMachines, HaveLegalCandidatesForEveryProduct) {
  const std::vector<GemmShape> shapes = golden::draw_shapes(250);
  for (const Machine& machine : all_machines()) {
    SCOPED_TRACE(name_of(machine));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const GemmShape& shape = shapes[i];
      const DType type = kTypes[i % std::size(kTypes)];
      const Math math =
          type == DType::f32 ? static_cast<Math>(i / std::size(kTypes) % 3) : Math::ieee;
      // Every other product of floats and halves has wider sums.
      const DType out =
          math == Math::ieee && has_wide_sums(type, DType::f64) && i / std::size(kTypes) % 2 == 0
              ? DType::f64
              : type;
      const Request request{
          canonical(shape, math), gemm_family(shape.m, shape.n, shape.k), {type, out}, machine};
      for (unsigned index = 0; index < RunKind::kCount; ++index) {
        const RunKind kind = RunKind::of(index);
        if (kind.same && !request.can_be_same()) continue;
        const std::vector<Candidate> all = candidates(request, kind, false);
        ASSERT_FALSE(all.empty());
        for (const Candidate& candidate : all) {
          EXPECT_TRUE(std::isfinite(candidate.us) && candidate.us > 0);
          check_legal(candidate.launch, request);
          if (HasFailure()) {
            FAIL() << algorithm_name(candidate.launch, request.types) << " for " << shape.m << " x "
                   << shape.n << " x " << shape.k << ", " << to_string(type);
          }
        }
      }
    }
  }
}

std::set<std::string> kernels_for(GemmShape shape, DType type, const Machine& machine) {
  const Request request{canonical(with_leading_dimensions(shape)),
                        gemm_family(shape.m, shape.n, shape.k),
                        {type, type},
                        machine};
  std::set<std::string> names;
  for (const Launch& launch : own_candidates(request, {.same = request.can_be_same()}))
    names.insert(kernel_name(launch));
  return names;
}

/// Code without bulk copies has the rings all the same, by copies of words; smaller blocks lack the
/// larger ones.
TEST(DenseMachines, HaveTheRingsThatTheirBlocksHaveRoomFor) {
  if (panel_kernels(DType::f64).empty()) GTEST_SKIP() << "needs a build with CUDA";
  const GemmShape panel{.m = 20'000, .n = 16, .k = 20'000};
  const GemmShape gram{.m = 32, .n = 32, .k = 1'000'000, .op_a = Op::trans};
  const GemmShape update{.m = 1'000'000, .n = 24, .k = 24, .lda = 1'000'001};
  for (const Machine& machine : all_machines()) {
    SCOPED_TRACE(name_of(machine));
    EXPECT_TRUE(kernels_for(panel, DType::f64, machine).contains("panel_ring_kernel<mma"));
    EXPECT_TRUE(kernels_for(update, DType::f64, machine).contains("update_ring_kernel by columns"));
    // Gram's are made for the blocks of their target.
    const bool fits = shared_bytes_for(machine.code.capability) <= machine.shared_bytes_per_block;
    EXPECT_EQ(kernels_for(gram, DType::f64, machine).contains("gram_staged_kernel"), fits);
    GemmShape wide = gram;
    wide.m = wide.n = 64;
    EXPECT_EQ(kernels_for(wide, DType::f32, machine).contains("gram_fma_kernel"), fits);
    EXPECT_EQ(kernels_for(gram, DType::f16, machine).contains("gram_wgmma_kernel"),
              machine.has_warp_groups());
  }
}

}  // namespace
}  // namespace lanky::dense
