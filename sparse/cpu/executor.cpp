// The CPU behind sparse::Backend: chunks of the cheapest shape, or of the fastest measured one.
#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "core/plan_types.hpp"
#include "sparse/backend.hpp"
#include "sparse/cpu/chunk_cost.hpp"
#include "sparse/cpu/chunk_info.hpp"
#include "sparse/cpu/chunk_product.hpp"
#include "sparse/cpu/pack_chunks.hpp"
#include "sparse/cpu/steps.hpp"
#include "sparse/plan_info.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse::cpu {

namespace {

/// Products of candidates in turn, timed.
template <class T, class TOut>
class Trials {
 public:
  explicit Trials(const ChunkMatrix<T>& a)
      : x_(a.header.cols, static_cast<T>(1.0F)), y_(a.header.rows), partials_(a.header.partials) {}

  /// Seconds of one product, the least of some samples of each.
  std::pair<double, double> least_of_both(const ChunkMatrix<T>& a, const ChunkMatrix<T>& b,
                                          int rounds) {
    std::pair<double, double> least = {kNone, kNone};
    for (int round = 0; round <= rounds; ++round) {
      const double of_a = seconds(a);
      const double of_b = seconds(b);
      if (round == 0) continue;  // brings both into the caches
      least = {std::min(least.first, of_a), std::min(least.second, of_b)};
    }
    return least;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  static constexpr double kBatchSeconds = 200e-6;

  double seconds(const ChunkMatrix<T>& a) {
    int products = 0;
    const auto begin = Clock::now();
    double passed = 0;
    do {
      run_chunks<T, TOut>(a, {{x_.data(), y_.data(), Sum{1}, Sum{0}}, partials_.data(), nullptr},
                          chunk_kernels());
      ++products;
      passed = Seconds(Clock::now() - begin).count();
    } while (passed < kBatchSeconds);
    return passed / products;
  }

  using Sum = Accumulator<T>;
  std::vector<T> x_;
  std::vector<TOut> y_;
  std::vector<Sum> partials_;
};

template <class T, class TOut>
class ChunkPlanMatrix final : public PlanMatrix<T, TOut> {
 public:
  ChunkPlanMatrix(const Stream& stream, const LoadedCsr<T>& a, const SparseOptions& options)
      : x_columns_(options.expected_columns > 1 ? std::min(options.expected_columns, kColumnsByRows)
                                                : 0),
        model_(choose_chunks(a.csr.pattern(), kDType<T>, machine_of(Device::cpu()),
                             options.expected_columns)),
        chunks_(pack(stream, a, model_.shape, options)) {
    if (options.tune) tune(stream, a, options);
  }

  std::int64_t rows() const noexcept override { return chunks_.header.rows; }
  std::int64_t cols() const noexcept override { return chunks_.header.cols; }
  std::int64_t nnz() const noexcept override { return chunks_.header.nnz; }
  std::int64_t bytes() const noexcept override { return chunks_.bytes(); }
  std::int64_t workspace_bytes() const noexcept override {
    return bytes_of_partials() +
           chunks_.header.cols * x_columns_ * static_cast<std::int64_t>(sizeof(T));
  }

  void update_values(const Stream& /*stream*/, const T* values) override {
    update_chunks(chunks_, values);
  }

  void run(const Stream& /*stream*/, const ProductOperands<T, TOut>& operands, std::byte* memory,
           Arrivals /*arrivals*/) const override {
    run_chunks<T, TOut>(chunks_, {operands, reinterpret_cast<Accumulator<T>*>(memory), nullptr},
                        chunk_kernels());
  }

  void run_columns(const Stream& /*stream*/, const ColumnsOperands<T, TOut>& operands,
                   std::byte* memory, Arrivals /*arrivals*/) const override {
    const auto columns =
        static_cast<double>(std::min<std::int64_t>(operands.columns, kColumnsAtOnce));
    run_chunks<T, TOut>(
        chunks_, operands, reinterpret_cast<Accumulator<T>*>(memory),
        worth_waking(model_.predicted_us * columns), chunk_kernels(),
        x_columns_ > 0 ? reinterpret_cast<T*>(memory + bytes_of_partials()) : nullptr, x_columns_);
  }

  bool columns_are_vectors() const noexcept override { return true; }

  void tell(PlanInfo& info) const override {
    info.chunks = ChunkInfo{chunks_.header, chunk_kernels().isa, model_, tuning_, x_columns_};
  }

 private:
  static constexpr std::int64_t kColumnsByRows = 16;  // of X in the workspace, at most

  /// Whole lines of a cache, so that what is behind them begins with one.
  std::int64_t bytes_of_partials() const {
    constexpr std::int64_t kLine = 64;
    return (chunks_.header.partials * kColumnsAtOnce *
                static_cast<std::int64_t>(sizeof(Accumulator<T>)) +
            kLine - 1) /
           kLine * kLine;
  }
  ChunkMatrix<T> pack(const Stream& stream, const LoadedCsr<T>& a, const ChunkShape& shape,
                      const SparseOptions& options) const {
    ChunkMatrix<T> chunks = pack_chunks(stream, a.csr, shape, options.allocator);
    chunks.header.threads = worth_waking(model_.predicted_us);
    return chunks;
  }

  /// The fastest of all candidates, where that takes less than kWorthwhile of the model's time.
  void tune(const Stream& stream, const LoadedCsr<T>& a, const SparseOptions& options) {
    constexpr int kRounds = 5;
    tuning_.emplace();
    if (a.csr.nnz == 0) return;
    Trials<T, TOut> trials(chunks_);
    tuning_->measured.push_back({model_.shape, 1});
    std::optional<ChunkMatrix<T>> fastest;
    double least = 1;
    for (const ChunkShape& shape : chunk_candidates(a.csr.rows, options.expected_columns)) {
      if (shape == model_.shape) continue;
      ChunkMatrix<T> other = pack(stream, a, shape, options);
      const auto [of_model, of_other] = trials.least_of_both(chunks_, other, kRounds);
      tuning_->measured.push_back({shape, of_other / of_model});
      tuning_->model_us = std::min(tuning_->model_us, of_model * 1e6);
      if (of_other / of_model >= least) continue;
      least = of_other / of_model;
      tuning_->kept = tuning_->measured.size() - 1;
      fastest = std::move(other);
    }
    if (!fastest) return;
    // Once more, and longer: the least of some ratios is too small by chance.
    const auto [of_model, of_other] = trials.least_of_both(chunks_, *fastest, 3 * kRounds);
    tuning_->measured[tuning_->kept].ratio = of_other / of_model;
    if (of_other / of_model < kWorthwhile) {
      chunks_ = std::move(*fastest);
    } else {
      tuning_->kept = 0;
    }
  }

  std::int64_t x_columns_;  // that the workspace has room for
  ChunkChoice model_;
  ChunkMatrix<T> chunks_;
  std::optional<ChunkTuning> tuning_;
};

template <class T, class TOut>
class CpuBackend final : public Backend<T, TOut> {
 public:
  explicit CpuBackend(const Stream& stream) : stream_(stream) {}

  LoadedCsr<T> load(const CsrView<T>& a) const override {
    return sparse::load(stream_, a, cpu::kExamination);
  }

  Arrangement transpose(const CsrPattern& a, Allocator* allocator) const override {
    return cpu::transpose(stream_, a, allocator);
  }
  Arrangement expand(const CsrPattern& a, const TriangleMarks& marks,
                     Allocator* allocator) const override {
    return cpu::expand(stream_, a, marks, allocator);
  }
  void gather_values(const Stream& /*stream*/, const ValueMap& map, const T* source,
                     T* target) const override {
    cpu::gather_values(map, source, target);
  }

  std::unique_ptr<PlanMatrix<T, TOut>> make_matrix(const LoadedCsr<T>& a,
                                                   const SparseOptions& options,
                                                   const PathChoice& /*choice*/) const override {
    return std::make_unique<ChunkPlanMatrix<T, TOut>>(stream_, a, options);
  }

 private:
  Stream stream_;
};

}  // namespace

template <class T, class TOut>
std::unique_ptr<const Backend<T, TOut>> make(const Stream& stream) {
  return std::make_unique<const CpuBackend<T, TOut>>(stream);
}

#define LANKY_INSTANTIATE(T, TOut) \
  template std::unique_ptr<const Backend<T, TOut>> make(const Stream&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
