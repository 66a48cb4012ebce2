#include "dense/policy.hpp"

#include "core/text.hpp"

namespace lanky::inline v1 {

GemmFamily gemm_family(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  if (std::min(m, n) > dense::kSkinny) return GemmFamily::regular;
  if (std::max(m, n) <= dense::kSkinny)
    return k > dense::kSkinny ? GemmFamily::gram : GemmFamily::update;
  return k > dense::kSkinny ? GemmFamily::panel : GemmFamily::update;
}

std::string_view to_string(GemmFamily family) noexcept {
  switch (family) {
    case GemmFamily::panel:
      return "panel";
    case GemmFamily::update:
      return "update";
    case GemmFamily::gram:
      return "gram";
    case GemmFamily::regular:
      return "regular";
  }
  return "unknown";
}

}  // namespace lanky::inline v1

namespace lanky::dense {

Bound predict(const Problem& problem, DType in, DType out, const Machine& machine) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  return {.bytes = (m * k + k * n) * static_cast<double>(size_of(in)) +
                   m * n * static_cast<double>(size_of(out)),
          .flops = (is_complex(in) ? 8 : 2) * m * n * k,
          .bandwidth = machine.bandwidth,
          .peak = in == DType::f64 || in == DType::c128 || has_wide_sums(in, out)
                      ? machine.peak_f64
                      : machine.peak_f32};
}

}  // namespace lanky::dense
