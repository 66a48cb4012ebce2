#include "dense/cuda/launch.hpp"

#include "core/overloaded.hpp"

namespace lanky::dense {

std::string kernel_name(const Launch& launch) {
  return std::visit(Overloaded{[](const TiledLaunch&) { return std::string("gemm_tile_kernel"); },
                               [](const PanelLaunch& l) { return kernel_name(l); },
                               [](const UpdateLaunch& l) { return kernel_name(l.kernel); },
                               [](const GramLaunch& l) { return kernel_name(l.kernel); },
                               [](const VendorLaunch&) { return std::string("cuBLASLt"); }},
                    launch);
}

std::string algorithm_name(const Launch& launch, Types types) {
  return std::visit(Overloaded{[](const VendorLaunch& l) { return l.algorithm; },
                               [&](const GramLaunch& l) { return algorithm_name(l, types); },
                               [](const auto& l) { return algorithm_name(l); }},
                    launch);
}

std::string describe(const Launch& launch, Types types) {
  return std::visit(Overloaded{[&](const TiledLaunch& l) { return describe(l, types.sum_bytes()); },
                               [](const PanelLaunch& l) { return describe(l); },
                               [](const UpdateLaunch& l) { return describe(l); },
                               [&](const GramLaunch& l) { return describe(l, types); },
                               [](const VendorLaunch& l) {
                                 return "cuBLASLt, algorithm " +
                                        (l.algorithm.empty() ? "of its heuristic" : l.algorithm);
                               }},
                    launch);
}

std::int64_t workspace_bytes(const Launch& launch, const Problem& problem, Types types) {
  const auto sum = static_cast<std::int64_t>(types.sum_bytes());
  return std::visit(
      Overloaded{[&](const TiledLaunch& l) { return partial_bytes(problem, l.split, sum); },
                 [&](const PanelLaunch& l) { return workspace_bytes(l, problem, sum); },
                 [](const UpdateLaunch&) { return std::int64_t{0}; },
                 [&](const GramLaunch& l) { return workspace_bytes(l, problem, sum); },
                 [](const VendorLaunch&) { return std::int64_t{0}; }},
      launch);
}

}  // namespace lanky::dense
