#include "examples/abft/times.hpp"

#include <functional>
#include <lanky/buffer.hpp>
#include <memory>

#include "examples/abft/protected_gemm.hpp"
#include "examples/support/timing.hpp"

namespace lanky::examples::abft {

template <class T>
std::vector<ProtectionTimes> time_protection(const Stream& stream, std::int64_t m, std::int64_t n,
                                             std::int64_t k, int rounds) {
  std::vector<ProtectionTimes> times = {{.contestant = "lanky"}};
  std::vector<std::unique_ptr<ProtectedGemm<T>>> gemms;
  gemms.push_back(std::make_unique<ProtectedGemm<T>>(stream, m, n, k));
  if (stream.device().is_cuda()) {
    times.push_back({.contestant = "cublas"});
    gemms.push_back(std::make_unique<ProtectedGemm<T>>(stream, m, n, k, Encoder::vendor));
  }
  Matrix<T> a(stream, m, k);
  Matrix<T> b(stream, k, n);
  Matrix<T> c(stream, m, n);
  Buffer<Report> reports(stream, static_cast<std::int64_t>(gemms.size()));
  gemms[0]->elements().fill(stream, Data::uniform, 1, a.view());
  gemms[0]->elements().fill(stream, Data::uniform, 2, b.view());

  std::vector<std::function<void()>> works = {
      [&] { gemms[0]->multiply(a.view(), b.view(), c.view()); }};
  for (std::size_t g = 0; g < gemms.size(); ++g) {
    ProtectedGemm<T>* const gemm = gemms[g].get();
    Report* const report = reports.data() + g;
    works.emplace_back([&a, gemm] { gemm->encode_a(a.view()); });
    works.emplace_back([&b, gemm] { gemm->encode_b(b.view()); });
    works.emplace_back([&a, &b, gemm] { gemm->expect(a.view(), b.view()); });
    works.emplace_back([&a, &b, gemm] { gemm->bound(a.view(), b.view()); });
    works.emplace_back(
        [&a, &b, &c, gemm, report] { gemm->check(a.view(), b.view(), c.view(), report); });
    works.emplace_back([&a, &b, &c, gemm, report] {
      gemm->prepare(a.view(), b.view());
      gemm->multiply(a.view(), b.view(), c.view());
      gemm->check(a.view(), b.view(), c.view(), report);
      gemm->correct(c.view(), report);
    });
  }
  const std::vector<double> ms = median_ms(stream, rounds, works);
  const std::vector<Report> outcomes = reports.to_host();
  for (std::size_t g = 0; g < gemms.size(); ++g) {
    const double* const part = ms.data() + 1 + 6 * g;
    ProtectionTimes& t = times[g];
    t.gemm_ms = ms[0];
    t.encode_a_ms = part[0];
    t.encode_b_ms = part[1];
    t.expect_ms = part[2];
    t.bound_ms = part[3];
    t.check_ms = part[4];
    t.total_ms = part[5];
    t.overhead = t.total_ms / t.gemm_ms - 1;
    t.verdict = outcomes[g].verdict == Verdict::clean ? "clean" : "faulty";
    t.encoding = gemms[g]->explain_encoding();
  }
  return times;
}

template std::vector<ProtectionTimes> time_protection<double>(const Stream&, std::int64_t,
                                                              std::int64_t, std::int64_t, int);
template std::vector<ProtectionTimes> time_protection<float>(const Stream&, std::int64_t,
                                                             std::int64_t, std::int64_t, int);

}  // namespace lanky::examples::abft
