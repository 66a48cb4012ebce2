#include "sparse/packed_matrix.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "sparse/launch.hpp"
#include "sparse/plan_info.hpp"
#include "sparse/policy.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {

namespace {

/// The CSR copy is cut into the pieces of the packed form, whose sums have to fit in shared memory:
/// a plan that may have this copy chooses among shapes with few enough pieces.
template <class T>
RowFacts with_room(RowFacts facts, const SparseOptions& options, const Machine& machine) {
  if (options.expected_columns > word_columns_most(sizeof(T)))
    facts.pieces_most = part_pieces_most(kDType<T>, machine);
  return facts;
}

template <class T, class TOut>
class PackedPlanMatrix final : public PlanMatrix<T, TOut> {
 public:
  PackedPlanMatrix(const Executor<T, TOut>& executor, const LoadedCsr<T>& a,
                   const SparseOptions& options, const PathChoice& choice)
      : executor_(executor),
        choice_(choice),
        facts_(with_room<T>(facts_by(executor, a, choice.path), options, executor.machine())),
        model_(choose_shape(facts_, kDType<T>, executor.machine())),
        packed_(executor.pack(a.csr, model_.shape, options.allocator)) {
    if (options.tune) {
      const std::vector<Shape> shapes =
          shapes_near(model_.shape, facts_, kDType<T>, executor.machine());
      tuning_ = tune(executor, a.csr, shapes, options, packed_, choice_);
    }
    columns_at_once_ = columns_at_once(sizeof(T), options.expected_columns);
    if (options.expected_columns > 1) {
      rows_pitch_ = round_up(std::min<std::int64_t>(options.expected_columns, columns_at_once_),
                             word_columns(sizeof(T)));
    }
    launches_ = executor.prepare(choice_.path, packed_.header, facts_);
    copy_ = executor.copy_for_columns(a.csr, packed_, facts_, launches_.strips, options);
    if (options.tune && options.engine == Engine::automatic && options.expected_columns > 1)
      copy_ = faster_copy(executor, a.csr, packed_, facts_, launches_, options, std::move(copy_));
    executor.load_strips(launches_.strips, copy_);
  }

  std::int64_t rows() const noexcept override { return packed_.header.rows; }
  std::int64_t cols() const noexcept override { return packed_.header.cols; }
  std::int64_t nnz() const noexcept override { return packed_.header.nnz; }
  std::int64_t bytes() const noexcept override { return packed_.bytes() + copy_.bytes(); }
  std::int64_t workspace_bytes() const noexcept override {
    return rows_of_x() + cols() * rows_pitch_ * static_cast<std::int64_t>(sizeof(T));
  }

  void update_values(const Stream& stream, const T* values) override {
    executor_.update_values(stream, packed_.view(), values, packed_.values.data());
    executor_.update_copy(stream, copy_, values);
  }

  void run(const Stream& stream, const ProductOperands<T, TOut>& operands, std::byte* memory,
           Arrivals arrivals) const override {
    executor_.run(stream, launches_, packed_.view(),
                  {operands, reinterpret_cast<Accumulator<T>*>(memory),
                   counters_of(stream, memory, arrivals)});
  }
  void run_columns(const Stream& stream, const ColumnsOperands<T, TOut>& operands,
                   std::byte* memory, Arrivals arrivals) const override {
    executor_.run_columns(stream, launches_, packed_.view(), copy_,
                          {operands, reinterpret_cast<Accumulator<T>*>(memory), columns_at_once_,
                           counters_of(stream, memory, arrivals),
                           reinterpret_cast<T*>(memory + rows_of_x()), rows_pitch_});
  }

  bool columns_are_vectors() const noexcept override { return choice_.path == Path::cuda; }

  void tell(PlanInfo& info) const override {
    info.choice = choice_;
    info.header = packed_.header;
    info.launches = launches_;
    info.tuning = tuning_;
    info.model = model_;
    if (copy_.tiles) info.tiles = TileInfo{copy_.tiles->header, copy_.tiles->bytes()};
    if (copy_.rows) {
      std::uint32_t in_parts = 0;
      for (const RowShares& shares : copy_.rows->shares)
        in_parts = std::max(in_parts, shares.by_warps);
      info.rows_copy = RowsInfo{copy_.rows->bytes(), in_parts, copy_.rows->order.size() > 0};
    }
  }

 private:
  // The workspace holds the sums of split rows, then counters, then rows of X.
  std::int64_t partials_bytes() const noexcept {
    return packed_.header.partials * columns_at_once_ * std::int64_t{sizeof(Accumulator<T>)};
  }
  std::int64_t counters_bytes() const noexcept {
    return strip_counters(packed_.header) * std::int64_t{sizeof(unsigned)};
  }
  /// Where the rows of X begin.
  std::int64_t rows_of_x() const noexcept {
    constexpr std::int64_t kAligned = 256;
    return round_up(partials_bytes() + counters_bytes(), rows_pitch_ > 0 ? kAligned : 1);
  }

  /// The counters of a workspace, at zero.
  unsigned* counters_of(const Stream& stream, std::byte* memory, Arrivals arrivals) const {
    auto* const waiting = reinterpret_cast<unsigned*>(memory + partials_bytes());
    const std::int64_t bytes = counters_bytes();
    if (arrivals == Arrivals::unknown && bytes > 0)
      runtime::zero(waiting, bytes, stream.native(), stream.device().index());
    return waiting;
  }

  const Executor<T, TOut>& executor_;
  PathChoice choice_;
  std::int64_t columns_at_once_ = 0;
  std::int64_t rows_pitch_ = 0;  // columns of X that are made row-major at once, in whole words
  RowFacts facts_;
  ShapeChoice model_;  // packed_ has another shape where it was tuned
  PackedMatrix<T> packed_;
  ColumnsCopy<T> copy_;
  std::optional<Tuning> tuning_;
  Launches launches_;
};

}  // namespace

template <class T, class TOut>
std::unique_ptr<PlanMatrix<T, TOut>> make_packed_matrix(const Executor<T, TOut>& executor,
                                                        const LoadedCsr<T>& a,
                                                        const SparseOptions& options,
                                                        const PathChoice& choice) {
  return std::make_unique<PackedPlanMatrix<T, TOut>>(executor, a, options, choice);
}

template <class T, class TOut>
std::unique_ptr<PlanMatrix<T, TOut>> Executor<T, TOut>::make_matrix(
    const LoadedCsr<T>& a, const SparseOptions& options, const PathChoice& choice) const {
  return make_packed_matrix(*this, a, options, choice);
}

#define LANKY_INSTANTIATE(T, TOut)                                  \
  template class Executor<T, TOut>;                                 \
  template std::unique_ptr<PlanMatrix<T, TOut>> make_packed_matrix( \
      const Executor<T, TOut>&, const LoadedCsr<T>&, const SparseOptions&, const PathChoice&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
