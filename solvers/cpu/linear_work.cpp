#include "solvers/linear_work.hpp"

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "core/for_each.hpp"
#include "solvers/block_work.hpp"
#include "solvers/orthogonal_factor.hpp"

namespace lanky::solvers {

namespace {

template <class T>
class CpuLinearWork : public LinearWork<T> {
 public:
  using Real = RealOf<T>;

  CpuLinearWork(std::int64_t rows, std::int64_t columns)
      : rows_(rows),
        columns_(columns),
        partials_(static_cast<std::size_t>(chunks() * columns * kMostSums)) {}

#define LANKY_DEFINE(...)                      \
  void run(const __VA_ARGS__& work) override { \
    pass(work);                                \
  }
  LANKY_FOR_EACH_LINEAR_PASS(LANKY_DEFINE, Real)
#undef LANKY_DEFINE

  void run(const BlockStep<Real>& step) override {
    SmallMemory memory(columns_);
    block_step(OneThread{}, step, memory.parts);
  }
  void run(const BlockFactor<Real>& factor) override {
    SmallMemory memory(columns_);
    block_factor(OneThread{}, factor, memory.parts);
  }

 private:
  using Number = typename NumberOf<T>::Number;
  static constexpr int kMostSums = 3;
  /// Rows that are summed as one, whatever the number of threads, so that bits do not depend on it.
  static constexpr std::int64_t kChunkRows = 2048;
  static constexpr std::int64_t kFewColumns = 4;

  struct SmallMemory {
    explicit SmallMemory(std::int64_t k)
        : t(static_cast<std::size_t>(k * k)),
          vectors(static_cast<std::size_t>(3 * k)),
          parts{t.data(), vectors.data(), vectors.data() + k, vectors.data() + 2 * k} {}
    std::vector<Number> t;
    std::vector<double> vectors;
    FactorMemory<Number> parts;
  };

  std::int64_t chunks() const {
    return (rows_ + kChunkRows - 1) / kChunkRows;
  }

  template <class Pass>
  using Columns = std::vector<decltype(std::declval<const Pass&>().column(0))>;

  template <class Pass>
  void pass(const Pass& work) {
    Columns<Pass> columns;  // made here: memory that is short ends no parallel region
    for (std::int64_t j = 0; j < columns_; ++j)
      columns.push_back(work.column(static_cast<int>(j)));
    for_each(chunks(), rows_ * columns_ > 32768,
             [&](std::int64_t chunk) { pass_chunk(work, columns, chunk); });
    for (std::int64_t j = 0; j < columns_; ++j) {
      double sums[kMostSums] = {};
      for (std::int64_t chunk = 0; chunk < chunks(); ++chunk) {
        for (int s = 0; s < Pass::kSums; ++s)
          sums[s] += partials_[static_cast<std::size_t>((chunk * columns_ + j) * kMostSums + s)];
      }
      work.finish(static_cast<int>(j), sums);
    }
  }

  template <class Pass>
  void pass_chunk(const Pass& work, const Columns<Pass>& columns, std::int64_t chunk) {
    const std::int64_t begin = chunk * kChunkRows;
    const std::int64_t end = std::min(rows_, begin + kChunkRows);
    double* const sums = partials_.data() + chunk * columns_ * kMostSums;
    std::fill_n(sums, columns_ * kMostSums, 0.0);
    if (columns_ <= kFewColumns) {
      pass_by_columns(work, columns, begin, end, sums);
    } else {
      pass_by_rows(work, columns, begin, end, sums);
    }
  }

  /// Sums stay in registers.
  template <class Pass>
  void pass_by_columns(const Pass& work, const Columns<Pass>& columns, std::int64_t begin,
                       std::int64_t end, double* sums) {
    for (std::int64_t j = 0; j < columns_; ++j) {
      const auto column = columns[static_cast<std::size_t>(j)];
      if (!column.active) continue;
      double own[kMostSums] = {};
      for (std::int64_t i = begin; i < end; ++i)
        pass_element(work, column, i, j, own);
      std::copy_n(own, kMostSums, sums + j * kMostSums);
    }
  }

  /// Columns of a row share the lines of memory. A column is summed in the same order.
  template <class Pass>
  void pass_by_rows(const Pass& work, const Columns<Pass>& columns, std::int64_t begin,
                    std::int64_t end, double* sums) {
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        const auto& column = columns[static_cast<std::size_t>(j)];
        if (column.active) pass_element(work, column, i, j, sums + j * kMostSums);
      }
    }
  }

  template <class Pass, class Column>
  static void pass_element(const Pass& work, const Column& column, std::int64_t i, std::int64_t j,
                           double* sums) {
    constexpr int kP = kParts<T>;
    for (int part = 0; part < kP; ++part) {
      const int c = static_cast<int>(j) * kP + part;
      work.apply(column, work.load(column, i, c), i, c, sums);
    }
  }

  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<double> partials_;  // [chunks, columns, kMostSums]
};

}  // namespace

template <class T>
std::unique_ptr<LinearWork<T>> cpu::make_linear_work(const Stream& /*stream*/, std::int64_t rows,
                                                     std::int64_t columns,
                                                     Allocator* /*allocator*/) {
  return std::make_unique<CpuLinearWork<T>>(rows, columns);
}

#define LANKY_INSTANTIATE(T)                                                                 \
  template std::unique_ptr<LinearWork<T>> cpu::make_linear_work(const Stream&, std::int64_t, \
                                                                std::int64_t, Allocator*);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
