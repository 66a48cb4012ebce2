// Equal bits, for docs/guide/reproducibility.md.
#include "expect.hpp"

#include <cstddef>
#include <lanky/lanky.hpp>
#include <vector>

int main() {
  const lanky::Stream stream(lanky::Device::best());
  const auto A = lanky::io::generate<float>("irregular:2000:20");
  const lanky::SparsePlan<float> plan(stream, A.view());
  std::vector<float> host(2000);
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = 0.1F * static_cast<float>(i);
  const auto x = lanky::Buffer<float>::from(stream, host);
  // begin fingerprint
  const lanky::SparsePlan<float> again(stream, A.view());
  lanky::Buffer<float> y(stream, plan.rows());
  lanky::Buffer<float> z(stream, plan.rows());
  plan.run(stream, x, y);
  again.run(stream, x, z);
  if (plan.fingerprint() == again.fingerprint()) {
    expect(y.to_host() == z.to_host());  // to the last bit
  }
  // end fingerprint
  expect(plan.fingerprint() == again.fingerprint());
}
