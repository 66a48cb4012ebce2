#include "examples/cholqr/measure.hpp"

#include <lanky/buffer.hpp>
#include <lanky/cholesky_qr.hpp>
#include <lanky/error.hpp>
#include <memory>
#include <string>

#include "examples/cholqr/cholqr.hpp"
#include "examples/cholqr/vendor_qr.hpp"
#include "examples/support/timing.hpp"

namespace lanky::examples::cholqr {

namespace {

template <class T>
struct Factors {
  MatrixView<const T> q;
  MatrixView<const T> r;
};

/// Runs `work` and judges its factors; what either throws becomes the outcome's status.
template <class T>
Outcome judged(const Stream& stream, const char* contestant, TallWork<T>& judge,
               MatrixView<const T> a, const std::function<Factors<T>()>& work) {
  Outcome outcome{.contestant = contestant};
  try {
    const Factors<T> factors = work();
    outcome.orthogonality = judge.orthogonality(stream, factors.q);
    outcome.residual = judge.residual(stream, a, factors.q, factors.r);
  } catch (const Error& error) {
    outcome.status = to_string(error.code());
    outcome.error = error.what();
  }
  return outcome;
}

}  // namespace

template <class T>
std::vector<Outcome> measure(const Stream& stream, const Case& tall) {
  if (tall.n > kMostColumns) {
    throw Error(ErrorCode::invalid_argument,
                "A is " + std::to_string(tall.m) + " x " + std::to_string(tall.n) + "; at most " +
                    std::to_string(kMostColumns) + " columns are judged");
  }
  CholeskyQr<T> qr(stream, tall.m, tall.n, {.shifted = tall.shifted});
  Matrix<T> a(stream, tall.m, tall.n);
  Matrix<T> q(stream, tall.m, tall.n);
  Matrix<T> r(stream, tall.n, tall.n);
  const std::unique_ptr<TallWork<T>> own = make_tall_work<T>(stream);
  TallWork<T>& work = *own;
  fill_conditioned(stream, work, tall.condition, tall.seed, q.view(), a.view());

  const std::function<void()> run = [&] { qr.run(a.view(), q.view(), r.view()); };
  run();  // loads what a capture may not load
  stream.synchronize();
  const std::function<void()> replayed = replay(stream, run);
  std::vector<Outcome> outcomes;
  std::vector<std::function<void()>> works;  // two of each outcome: one to time after another
  outcomes.push_back(judged<T>(stream, tall.shifted ? "lanky-shifted-cholqr3" : "lanky-cholqr2",
                               work, a.view(), [&]() -> Factors<T> {
                                 replayed();
                                 qr.check();
                                 return {q.view(), r.view()};
                               }));
  works.emplace_back([] {});
  works.push_back(replayed);

  std::unique_ptr<VendorQr<T>> vendor;
  const std::function<void()> restore = [&] { vendor->restore(a.view()); };
  const auto compete = [&](const char* contestant, const std::function<void()>& factorize) {
    outcomes.push_back(judged<T>(stream, contestant, work, a.view(), [&]() -> Factors<T> {
      if (vendor == nullptr) vendor = make_vendor_qr<T>(stream, tall.m, tall.n);
      restore();
      factorize();
      vendor->check();
      return {vendor->q(), vendor->r()};
    }));
    const bool usable = outcomes.back().status == "ok";
    works.push_back(usable ? restore : [] {});
    works.push_back(usable ? factorize : [] {});
  };
  if (stream.device().is_cuda()) {
    compete("cusolver", [&] { vendor->householder(); });
    compete("cublas-cholqr2", [&] { vendor->cholesky(); });
  }
  const std::vector<double> ms = median_ms(stream, tall.rounds, works);
  for (std::size_t c = 0; c < outcomes.size(); ++c)
    outcomes[c].ms = ms[2 * c + 1];
  return outcomes;
}

template std::vector<Outcome> measure<double>(const Stream&, const Case&);
template std::vector<Outcome> measure<float>(const Stream&, const Case&);

}  // namespace lanky::examples::cholqr
