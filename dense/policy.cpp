#include "dense/policy.hpp"

#include "core/text.hpp"
#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/panel/policy.hpp"
#include "dense/cuda/update/policy.hpp"

namespace lanky {

GemmFamily gemm_family(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  if (std::min(m, n) > dense::kSkinny) return GemmFamily::regular;
  if (std::max(m, n) <= dense::kSkinny)
    return k > dense::kSkinny ? GemmFamily::gram : GemmFamily::update;
  return k > dense::kSkinny ? GemmFamily::panel : GemmFamily::update;
}

std::string_view name(GemmFamily family) noexcept {
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

namespace dense {

namespace {

struct Machine {
  double bandwidth;
  double peak_f64;
  double peak_f32;
};

/// Data sheet figures of the CUDA cores of H200 and A100; a CPU core is taken as 10 GB/s.
Machine machine(DeviceKind device, const DeviceProperties& properties) {
  if (device == DeviceKind::cpu) {
    const double cores = properties.multiprocessors;
    return {10e9 * cores, 16e9 * cores, 32e9 * cores};
  }
  return properties.compute_capability >= 90 ? Machine{4.8e12, 34e12, 67e12}
                                             : Machine{2.0e12, 9.7e12, 19.5e12};
}

}  // namespace

bool prefers_vendor(const Problem& problem, GemmFamily family, DType in) noexcept {
  switch (family) {
    case GemmFamily::panel:
      return vendor_beats_panel(problem, in);
    case GemmFamily::update:
      return vendor_beats_update(problem, in);
    case GemmFamily::gram:
      return vendor_beats_gram(problem, in);
    case GemmFamily::regular:
      break;
  }
  return true;
}

bool has_symmetric_kernel(const Problem& problem, GemmFamily family, DType in,
                          const DeviceProperties& properties) {
  return family == GemmFamily::gram &&
         choose_symmetric_gram(problem, in, properties.multiprocessors,
                               properties.compute_capability)
                 .kernel != GramKernel::none;
}

Bound predict(const Problem& problem, DType in, DType out, DeviceKind device,
              const DeviceProperties& properties) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  const Machine nominal = machine(device, properties);
  return {.bytes = (m * k + k * n) * static_cast<double>(size_of(in)) +
                   m * n * static_cast<double>(size_of(out)),
          .flops = (is_complex(in) ? 8 : 2) * m * n * k,
          .bandwidth = nominal.bandwidth,
          .peak = in == DType::f64 || in == DType::c128 ? nominal.peak_f64 : nominal.peak_f32};
}

std::string describe(const Bound& bound) {
  return concat("bound: ", bound.bytes, " bytes at ", bound.bandwidth, " B/s, ", bound.flops,
                " flops at ", bound.peak, " flop/s: ", bound.seconds() * 1e6, " us, ",
                bound.memory_bound() ? "memory" : "compute");
}

}  // namespace dense

}  // namespace lanky
