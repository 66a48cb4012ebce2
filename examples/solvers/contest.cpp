#include "examples/solvers/contest.hpp"

#include <algorithm>
#include <lanky/error.hpp>
#include <utility>

#include "examples/support/timing.hpp"

namespace lanky::examples::solvers {

namespace {

/// A product of the contest, and the solve that uses it.
template <class T>
struct Side {
  std::string name;
  Prepared<T> prepared;
  std::unique_ptr<Solve<T>> solve;
};

template <class T>
Side<T> make_side(const std::string& name, const Stream& stream, const CsrView<T>& a,
                  const Method<T>& method, double tolerance) {
  Prepared<T> prepared = make_product(name, stream, a);
  std::unique_ptr<Solve<T>> solve = method.make(*prepared.product, tolerance);
  return {name, std::move(prepared), std::move(solve)};
}

/// Microseconds of a product in a row of them, each of the same vectors.
template <class T>
double product_us(const Stream& stream, const Product<T>& product, const CsrView<T>& a,
                  bool graph) {
  const int runs = stream.device().is_cuda() ? 20 : 2;
  Buffer<T> x(stream, a.cols);
  Buffer<T> y(stream, a.rows);
  x.copy_from(std::vector<T>(static_cast<std::size_t>(a.cols), T(1)));
  const auto row = [&] {
    for (int i = 0; i < runs; ++i)
      product.run(stream, std::as_const(x).view(), y.view());
  };
  row();  // loads what a first run loads, which could not be captured
  const std::unique_ptr<Replay> replay = graph ? capture(stream, row) : nullptr;
  const auto work = [&] {
    if (replay != nullptr) {
      replay->launch(stream);
    } else {
      row();
    }
  };
  return median_ms(stream, 7, {work}).front() * 1e3 / runs;
}

/// Microseconds of all work between two events.
class Lap {
 public:
  explicit Lap(const Stream& stream)
      : stream_(stream), start_(stream.device()), end_(stream.device()) {
    start_.record(stream_);
  }
  double us() {
    end_.record(stream_);
    end_.synchronize();
    return Event::elapsed_ms(start_, end_) * 1e3;
  }

 private:
  Stream stream_;
  Event start_;
  Event end_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int check_of(const Settings& settings) {
  return static_cast<int>(
      std::min<std::int64_t>(settings.check, std::max<std::int64_t>(1, settings.iterations)));
}

}  // namespace

template <class T>
Solved<T> solve(const Stream& stream, const Method<T>& method, const Settings& settings,
                const std::function<void(const Progress&)>& look) {
  const DeviceMatrix<T> matrix(stream, *method.matrix);
  const Side<T> side =
      make_side(settings.product, stream, matrix.view(), method, settings.tolerance);
  const Product<T>& product = *side.prepared.product;
  const double spmv_us = product_us(stream, product, matrix.view(), settings.graph);
  const Loop loop(*side.solve, check_of(settings), settings.graph);
  Lap lap(stream);
  const Progress progress = loop.run(settings.iterations, look);
  const double us = lap.us();
  const double each = us / static_cast<double>(std::max<std::int64_t>(1, progress.iterations));
  std::vector<T> x = side.solve->solution();
  const double residual = method.residual(x);
  return {{settings.product, product.about(), settings.graph, progress, each, spmv_us,
           side.prepared.setup_us, residual},
          std::move(x)};
}

template <class T>
std::vector<Outcome> compare(const Stream& stream, const Method<T>& method,
                             const Settings& settings, int rounds) {
  if (rounds < 1 || settings.iterations < 1) {
    throw Error(ErrorCode::invalid_argument,
                "a comparison of " + std::to_string(rounds) + " rounds of " +
                    std::to_string(settings.iterations) + " iterations; it needs 1 of each");
  }
  constexpr double kNever = -1;  // a tolerance that nothing meets
  const bool cuda = stream.device().is_cuda();
  const DeviceMatrix<T> matrix(stream, *method.matrix);
  std::vector<Side<T>> sides;
  sides.push_back(make_side<T>("lanky", stream, matrix.view(), method, kNever));
  if (cuda) sides.push_back(make_side<T>("cusparse", stream, matrix.view(), method, kNever));

  struct Contestant {
    Side<T>* side;
    Outcome outcome;
    Loop loop;
    std::vector<double> us;
  };
  std::vector<Contestant> contestants;
  for (Side<T>& side : sides) {
    side.solve->iterate();  // loads what a first run loads, which could not be captured
    for (const bool graph : {false, true}) {
      if (graph && !cuda) continue;
      const Product<T>& product = *side.prepared.product;
      const double spmv_us = product_us(stream, product, matrix.view(), graph);
      contestants.push_back(
          {&side,
           {side.name, product.about(), graph, {}, 0, spmv_us, side.prepared.setup_us, 0},
           Loop(*side.solve, check_of(settings), graph),
           {}});
    }
  }
  for (int round = -1; round < rounds; ++round) {
    for (Contestant& c : contestants) {
      c.side->solve->start();
      stream.synchronize();
      Lap lap(stream);
      c.outcome.progress = c.loop.run(settings.iterations);
      const double us = lap.us();
      if (c.outcome.progress.iterations != settings.iterations) {
        throw Error(ErrorCode::invalid_argument, "the iteration ends by itself after " +
                                                     std::to_string(c.outcome.progress.iterations) +
                                                     " iterations; compare " + "fewer than " +
                                                     std::to_string(settings.iterations));
      }
      if (round >= 0) c.us.push_back(us / static_cast<double>(settings.iterations));
      if (round == rounds - 1) c.outcome.residual = method.residual(c.side->solve->solution());
    }
  }
  std::vector<Outcome> outcomes;
  for (Contestant& c : contestants) {
    c.outcome.us_per_iteration = median(c.us);
    outcomes.push_back(c.outcome);
  }
  return outcomes;
}

template Solved<double> solve(const Stream&, const Method<double>&, const Settings&,
                              const std::function<void(const Progress&)>&);
template Solved<float> solve(const Stream&, const Method<float>&, const Settings&,
                             const std::function<void(const Progress&)>&);
template std::vector<Outcome> compare(const Stream&, const Method<double>&, const Settings&, int);
template std::vector<Outcome> compare(const Stream&, const Method<float>&, const Settings&, int);

}  // namespace lanky::examples::solvers
