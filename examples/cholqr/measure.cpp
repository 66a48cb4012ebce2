#include "examples/cholqr/measure.hpp"

#include <lanky/buffer.hpp>
#include <lanky/error.hpp>

#include "examples/cholqr/cholqr.hpp"
#include "examples/cholqr/vendor_qr.hpp"
#include "examples/support/timing.hpp"

namespace lanky::examples::cholqr {

namespace {

/// What `check` throws of a breakdown, as text; the accuracy where it throws nothing.
template <class T, class Check>
Outcome judged(const Stream& stream, const char* contestant, TallWork<T>& work,
               MatrixView<const T> a, MatrixView<const T> q, MatrixView<const T> r,
               const Check& check) {
  Outcome outcome{.contestant = contestant};
  try {
    check();
    outcome.orthogonality = work.orthogonality(stream, q);
    outcome.residual = work.residual(stream, a, q, r);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    outcome.error = error.what();
  }
  return outcome;
}

}  // namespace

template <class T>
std::vector<Outcome> measure(const Stream& stream, const Case& tall) {
  CholeskyQr<T> qr(stream, tall.m, tall.n, tall.shifted);
  Matrix<T> a(stream, tall.m, tall.n);
  Matrix<T> q(stream, tall.m, tall.n);
  Matrix<T> r(stream, tall.n, tall.n);
  TallWork<T>& work = qr.work();
  fill_conditioned(stream, work, tall.condition, tall.seed, q.view(), a.view());

  const std::function<void()> run = [&] { qr.run(a.view(), q.view(), r.view()); };
  run();  // loads what a capture may not load
  stream.synchronize();
  std::vector<Outcome> outcomes;
  std::vector<std::function<void()>> works = {replay(stream, run)};
  works[0]();
  outcomes.push_back(judged<T>(stream, tall.shifted ? "lanky-shifted-cholqr3" : "lanky-cholqr2",
                               work, a.view(), q.view(), r.view(), [&] { qr.check(); }));

  const auto vendor = make_vendor_qr<T>(stream, tall.m, tall.n);
  if (vendor != nullptr) {
    const auto restore = [&] { vendor->restore(a.view()); };
    const auto check = [&] { vendor->check(); };
    restore();
    vendor->householder();
    outcomes.push_back(
        judged<T>(stream, "cusolver", work, a.view(), vendor->q(), vendor->r(), check));
    works.emplace_back(restore);
    works.emplace_back([&] { vendor->householder(); });
    restore();
    vendor->cholesky(work);
    outcomes.push_back(
        judged<T>(stream, "cublas-cholqr2", work, a.view(), vendor->q(), vendor->r(), check));
    works.emplace_back(restore);
    works.emplace_back([&] { vendor->cholesky(work); });
  }
  const std::vector<double> ms = median_ms(stream, tall.rounds, works);
  for (std::size_t c = 0; c < outcomes.size(); ++c)
    outcomes[c].ms = ms[2 * c];  // a restore stands before each of the vendor's
  return outcomes;
}

template std::vector<Outcome> measure<double>(const Stream&, const Case&);
template std::vector<Outcome> measure<float>(const Stream&, const Case&);

}  // namespace lanky::examples::cholqr
