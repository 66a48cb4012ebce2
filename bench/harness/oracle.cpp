#include "bench/harness/oracle.hpp"

#include "bench/harness/gpu.hpp"

namespace lanky::bench {

std::vector<Reference> references(const Stream& stream, const DenseData& data,
                                  std::span<const Place> places) {
  if (stream.device().is_cuda()) return gpu::references(stream, data, places);
  constexpr std::int64_t kWorthSharing = 1 << 16;  // products
  const std::int64_t work = static_cast<std::int64_t>(places.size()) * data.terms();
  std::vector<Reference> all(places.size());
#pragma omp parallel for schedule(dynamic, 4) if (work > kWorthSharing)
  for (std::size_t p = 0; p < places.size(); ++p) {
    InnerProduct sum;
    for (std::int64_t t = 0; t < data.terms(); ++t)
      data.add_term(sum, places[p], t);
    all[p] = data.finish(sum, places[p]);
  }
  return all;
}

}  // namespace lanky::bench
