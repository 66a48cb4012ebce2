// Multiplies sparse matrices in the shapes that are asked for, on a GPU, and prints the times as
// JSON lines that bench/scripts/fit_sparse_cost.py reads: lanky_sparse_trials OUT. A line of
// standard input is a matrix, a type and shapes, "FILE|SPEC f64|f32|f16 NAME;NAME...". Every
// product is compared with that of a CPU, exactly: entries and x are small whole numbers.
#include <cstdio>
#include <iostream>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/harness/session.hpp"
#include "bench/records/environment.hpp"
#include "bench/records/journal.hpp"
#include "bench/records/record.hpp"
#include "bench/regret/asked.hpp"
#include "core/text.hpp"
#include "sparse/backend.hpp"
#include "sparse/shapes.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {
namespace {

using Json = nlohmann::ordered_json;

/// Entries of 1 and 2, and x of 0 to 3: sums of any order are exact, and rounded to T once.
float entry(std::int64_t i) {
  return static_cast<float>(1 + i % 2);
}
float element(std::int64_t i) {
  return static_cast<float>(i % 4);
}

/// A matrix on the device, x, and A x.
template <class T>
class Problem {
 public:
  Problem(const Stream& stream, const CsrMatrix<double>& a)
      : stream_(stream), executor_(cuda::make<T, T>(stream)), x_(stream, 0), expected_(a.rows) {
    std::vector<T> values(a.values.size());
    std::vector<T> x(static_cast<std::size_t>(a.cols));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<T>(entry(static_cast<std::int64_t>(i)));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<T>(element(static_cast<std::int64_t>(i)));
    for (std::int64_t row = 0; row < a.rows; ++row) {
      double sum = 0;
      for (std::int64_t i = a.row_offsets[row]; i < a.row_offsets[row + 1]; ++i)
        sum += double{entry(i)} * element(a.col_indices[i]);
      expected_[row] = static_cast<T>(static_cast<Accumulator<T>>(sum));
    }
    x_ = Buffer<T>::from(stream, x);
    loaded_ = executor_->load(
        {a.rows, a.cols, a.nnz(), a.row_offsets.data(), a.col_indices.data(), values.data(), 0});
  }

  /// "right", "wrong", or why there is no product in this shape.
  std::string status_of(const Shape& shape) const {
    try {
      return is_right(packed(shape)) ? "right" : "wrong";
    } catch (const Error& error) {
      return error.what();
    }
  }

  /// The times of products in these shapes, each in turn with the first.
  Tuning times(const std::vector<Shape>& shapes) const {
    PackedMatrix<T> first = packed(shapes.front());
    PathChoice path{sparse::Path::cuda, ""};
    return tune(*executor_, loaded_.csr, shapes, {.engine = Engine::cuda_cores}, first, path);
  }

 private:
  PackedMatrix<T> packed(const Shape& shape) const {
    return executor_->pack(loaded_.csr, shape, nullptr);
  }

  bool is_right(const PackedMatrix<T>& packed) const {
    using Sum = Accumulator<T>;
    Buffer<T> y(stream_, packed.header.rows);
    Buffer<Sum> partials(stream_, packed.header.partials);
    Buffer<unsigned> arrivals(stream_, counters(packed.header));
    arrivals.fill_zero();
    executor_->run(stream_, executor_->prepare(sparse::Path::cuda, packed.header, {}),
                   packed.view(),
                   {x_.data(), y.data(), Sum{1}, Sum{0}, partials.data(), arrivals.data()});
    const std::vector<T> found = y.to_host();
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (static_cast<float>(found[i]) != static_cast<float>(expected_[i])) return false;
    }
    return true;
  }

  Stream stream_;
  std::unique_ptr<const Executor<T, T>> executor_;
  Buffer<T> x_;
  std::vector<T> expected_;
  LoadedCsr<T> loaded_;
};

template <class T>
Json trials_of(const Stream& stream, const CsrMatrix<double>& a, const std::vector<Shape>& shapes) {
  const Problem<T> problem(stream, a);
  Json trials = Json::array();
  std::vector<Shape> right;
  for (const Shape& shape : shapes) {
    const std::string status = problem.status_of(shape);
    if (status == "right") {
      right.push_back(shape);
    } else {
      trials.push_back({{"shape", name_of(shape)}, {"status", status}});
    }
  }
  if (right.empty()) return trials;
  const Tuning tuning = problem.times(right);
  for (const Measured& each : tuning.measured)
    trials.push_back({{"shape", name_of(each.shape)}, {"us", each.ratio * tuning.model_us}});
  return trials;
}

int run(const std::vector<std::string>& argv) {
  if (argv.size() != 2) throw std::invalid_argument("lanky_sparse_trials OUT");
  bench::Session session(Device::cuda(0), {});
  bench::Journal journal(argv[1]);
  journal.write(bench::to_json(bench::describe_environment(session, argv, false)));
  regret::Matrices matrices;
  bool all_right = true;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string source, type, names;
    words >> source >> type >> std::ws;
    std::getline(words, names);
    const CsrMatrix<double>& a = matrices.read(source);
    const std::vector<Shape> shapes = regret::shapes_named(names);
    if (shapes.empty()) throw std::invalid_argument("a line without shapes");
    const Json trials = regret::dispatch_fitted(type, [&]<class T>(std::type_identity<T>) {
      return trials_of<T>(session.stream, a, shapes);
    });
    for (const Json& trial : trials)
      all_right = all_right && !trial.contains("status");
    journal.write({{"kind", "spmv_trials"},
                   {"source", source},
                   {"m", a.rows},
                   {"n", a.cols},
                   {"nnz", a.nnz()},
                   {"dtype", type},
                   {"trials", trials}});
  }
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace lanky::sparse

int main(int count, char** words) {
  try {
    return lanky::sparse::run(std::vector<std::string>(words, words + count));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanky_sparse_trials: %s\n", error.what());
    return 2;
  }
}
