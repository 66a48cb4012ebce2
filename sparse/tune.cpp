#include "sparse/tune.hpp"

#include <algorithm>
#include <cmath>
#include <lanky/error.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "core/plan_types.hpp"
#include "sparse/shapes.hpp"

namespace lanky::sparse {

namespace {

/// The shapes to measure, made from the model's.
class Neighbours {
 public:
  Neighbours(const Shape& chosen, const RowFacts& facts, DType dtype, const Machine& machine)
      : facts_(facts), dtype_(dtype), machine_(machine), shapes_{chosen} {}

  /// Adds a shape that no other equals and every matrix of the facts can be packed in.
  void add(Shape shape) {
    limit_windows(shape, facts_);
    const bool known = std::find(shapes_.begin(), shapes_.end(), shape) != shapes_.end();
    if (!known && fits(shape, facts_, dtype_, machine_)) shapes_.push_back(shape);
  }

  /// `shape` with `times` as many rows, or as much work, in a window.
  Shape with_windows(Shape shape, double times) const {
    const double cost = shape.window_cost * times;
    shape.window_cost = static_cast<std::int32_t>(std::min<double>(cost, kWindowCostMost));
    if (shape.granule == 1) return shape;
    const double rows = shape.granule * times;
    return aligned(shape, static_cast<std::int64_t>(
                              rows < kLanes ? rows : std::floor(rows / kLanes) * kLanes));
  }

  /// Pieces of `most` entries; as it is where no row is cut before or after.
  Shape with_pieces(Shape shape, int most) const {
    most = std::clamp(most, kPieceMostLeast, kPieceMostLimit);
    if (facts_.longest <= std::min(most, shape.piece_most)) return shape;
    shape.piece_most = most;
    return shape.granule == 1 ? shape : aligned(shape, shape.granule);
  }

  std::vector<Shape> take() { return std::move(shapes_); }

 private:
  static constexpr int kPieceMostLeast = 4;

  Shape aligned(Shape shape, std::int64_t rows) const {
    align_windows(shape, facts_, rows);
    return shape;
  }

  const RowFacts& facts_;
  DType dtype_;
  const Machine& machine_;
  std::vector<Shape> shapes_;
};

/// Where the products that are measured run, and what they multiply.
template <class T, class TOut>
struct Track {
  Track(Device device, const PackedHeader& a)
      : stream(device),
        x(Buffer<T>::from(stream, std::vector<T>(a.cols, static_cast<T>(1.0F)))),
        y(stream, a.rows) {}

  Stream stream;  // one that can be captured, whatever the caller's is
  Buffer<T> x;
  Buffer<TOut> y;
};

/// Products of a packed matrix by one path.
template <class T, class TOut>
struct Trial {
  using Sum = Accumulator<T>;

  Trial(const Executor<T, TOut>& executor, Track<T, TOut>& track, const PackedMatrix<T>& packed,
        Path path)
      : launches(executor.prepare(path, packed.header, RowFacts{})),
        partials(track.stream, packed.header.partials),
        arrivals(zeros(track.stream, counters(packed.header))),
        runs(track.stream, [this, &executor, &track, &packed] {
          executor.run(
              track.stream, launches, packed.view(),
              {{track.x.data(), track.y.data(), Sum{1}, Sum{0}}, partials.data(), arrivals.data()});
        }) {}

  static Buffer<unsigned> zeros(const Stream& stream, std::int64_t count) {
    Buffer<unsigned> buffer(stream, count);
    buffer.fill_zero();
    return buffer;
  }

  Launches launches;
  Buffer<Sum> partials;
  Buffer<unsigned> arrivals;
  TimedRuns runs;
};

/// One tuning: the model's choice against each candidate, of which the fastest is kept at hand.
template <class T, class TOut>
class Contest {
 public:
  Contest(const Executor<T, TOut>& executor, PackedMatrix<T>& model, Path path)
      : executor_(executor),
        model_(model),
        track_(model.values.stream().device(), model.header),
        trial_(executor, track_, model, path),
        tuning_{.measured = {{model.header.shape, path}}} {}

  void enter(const Csr<T>& a, const Shape& shape, const std::vector<Path>& paths,
             Allocator* allocator) {
    if (shape == model_.header.shape) {
      for (const Path path : paths) {
        const bool known = path == tuning_.measured.front().path;
        if (!known && multiplies(path, shape) && measure(model_, path)) fastest_.reset();
      }
      return;
    }
    PackedMatrix<T> packed = executor_.pack(a, shape, allocator);
    packed.values.stream().synchronize();  // the track's stream does not wait for it
    bool fastest = false;
    for (const Path path : paths)
      fastest = (multiplies(path, shape) && measure(packed, path)) || fastest;
    if (fastest) fastest_ = std::move(packed);
  }

  /// Once more, and longer, against the model's choice: the least of many ratios is too small by
  /// chance.
  void decide() {
    const std::size_t best = std::exchange(tuning_.kept, 0);
    if (best == 0) return;
    Measured& measured = tuning_.measured[best];
    Trial<T, TOut> trial(executor_, track_, fastest_ ? *fastest_ : model_, measured.path);
    measured.ratio = Race(trial.runs, trial_.runs, 3 * kRounds).ratio();
    if (measured.ratio < kWorthwhile) tuning_.kept = best;
  }

  const Tuning& tuning() const { return tuning_; }
  /// The matrix in the shape that is kept; none where that is the model's.
  std::optional<PackedMatrix<T>>& fastest() { return fastest_; }

 private:
  static constexpr int kRounds = 5;

  /// Tensor cores know of no hot columns.
  static bool multiplies(Path path, const Shape& shape) {
    return path == Path::cuda || shape.hot_least == 0;
  }

  /// True where none was faster.
  bool measure(const PackedMatrix<T>& packed, Path path) {
    double ratio = 0;
    const bool ran = within_memory([&] {
      Trial<T, TOut> trial(executor_, track_, packed, path);
      const Race race(trial.runs, trial_.runs, kRounds);
      ratio = race.ratio();
      tuning_.model_us = std::min(tuning_.model_us, race.model_us);
    });
    if (!ran) return false;
    const bool fastest = ratio < tuning_.measured[tuning_.kept].ratio;
    if (fastest) tuning_.kept = tuning_.measured.size();
    tuning_.measured.push_back({packed.header.shape, path, ratio});
    return fastest;
  }

  const Executor<T, TOut>& executor_;
  PackedMatrix<T>& model_;
  Track<T, TOut> track_;
  Trial<T, TOut> trial_;
  Tuning tuning_;
  std::optional<PackedMatrix<T>> fastest_;
};

/// Products of several columns by one copy, of ones.
template <class T, class TOut>
class CopyTrial {
  using Sum = Accumulator<T>;

 public:
  CopyTrial(const Executor<T, TOut>& executor, const Stream& stream, const PackedMatrix<T>& packed,
            const ColumnsCopy<T>& copy, const Launches& vector, const SparseOptions& options)
      : launches_(vector),
        pitch_(round_up(options.expected_columns, word_columns(sizeof(T)))),
        x_(Buffer<T>::from(stream, std::vector<T>(packed.header.cols * options.expected_columns,
                                                  static_cast<T>(1.0F)))),
        y_(stream, packed.header.rows * options.expected_columns),
        rows_of_x_(stream, packed.header.cols * pitch_),
        columns_at_once_(columns_at_once(sizeof(T), options.expected_columns)),
        partials_(stream, packed.header.partials * columns_at_once_),
        arrivals_(stream, strip_counters(packed.header)) {
    arrivals_.fill_zero();
    executor.load_strips(launches_.strips, copy);
    const PackedHeader& header = packed.header;
    const std::int64_t columns = options.expected_columns;
    const auto strides = [&](std::int64_t rows) -> Strides {
      if (options.expected_layout == Layout::col) return {.row = 1, .column = rows};
      return {.row = columns, .column = 1};
    };
    const ColumnsProduct<T, TOut> product{
        {x_.data(), strides(header.cols), y_.data(), strides(header.rows), columns, Sum{1}, Sum{0}},
        partials_.data(),
        columns_at_once_,
        arrivals_.data(),
        rows_of_x_.data(),
        pitch_};
    runs_.emplace(stream, [this, &executor, &packed, &copy, stream, product] {
      executor.run_columns(stream, launches_, packed.view(), copy, product);
    });
  }

  TimedRuns& runs() { return *runs_; }

 private:
  Launches launches_;
  std::int64_t pitch_;
  Buffer<T> x_;
  Buffer<TOut> y_;
  Buffer<T> rows_of_x_;
  std::int64_t columns_at_once_;
  Buffer<Sum> partials_;
  Buffer<unsigned> arrivals_;
  std::optional<TimedRuns> runs_;
};

}  // namespace

std::vector<Shape> shapes_near(const Shape& chosen, const RowFacts& facts, DType dtype,
                               const Machine& machine) {
  if (facts.rows == 0) return {chosen};
  constexpr std::int32_t kStaged = 8192;
  Neighbours all(chosen, facts, dtype, machine);
  const auto staging = [](Shape shape, std::int32_t columns) {
    shape.stage_most = columns;
    shape.hot_least = 0;
    return shape;
  };
  const Shape larger = all.with_windows(chosen, 2);
  Shape other_lanes = chosen;
  other_lanes.hot_least = 0;
  other_lanes.lane_pieces = chosen.lane_pieces > 1 ? 1 : lane_pieces_most(size_of(dtype));

  all.add(all.with_windows(chosen, 0.5));
  all.add(larger);
  all.add(staging(chosen, 0));
  all.add(staging(chosen, kStaged));
  all.add(staging(chosen, 2 * kStaged));
  all.add(staging(larger, 2 * kStaged));
  all.add(all.with_pieces(chosen, chosen.piece_most / 2));
  all.add(all.with_pieces(chosen, chosen.piece_most * 2));
  all.add(other_lanes);
  if (const auto single = single_shape(facts, dtype, machine)) all.add(*single);
  std::vector<Shape> of_another_kind = candidates(facts, dtype, machine);
  std::erase_if(of_another_kind, [&](const Shape& shape) {
    return has_wide_slices(shape) == has_wide_slices(chosen);
  });
  if (!of_another_kind.empty())
    all.add(least_predicted(of_another_kind, facts, dtype, machine).shape);
  return all.take();
}

template <class T, class TOut>
Tuning tune(const Executor<T, TOut>& executor, const Csr<T>& a, const std::vector<Shape>& shapes,
            const SparseOptions& options, PackedMatrix<T>& packed, PathChoice& choice) {
  if (packed.header.windows == 0) return {};
  std::vector<Path> paths = {choice.path};
  if (options.engine == Engine::automatic && has_mma(kDType<T>)) paths = {Path::cuda, Path::mma};
  std::optional<Contest<T, TOut>> contest;
  within_memory([&] {
    packed.values.stream().synchronize();  // as in Contest::enter()
    contest.emplace(executor, packed, choice.path);
    for (const Shape& shape : shapes)
      within_memory([&] { contest->enter(a, shape, paths, options.allocator); });
    contest->decide();
  });
  if (!contest) return {};
  Tuning tuning = contest->tuning();
  if (tuning.kept == 0) return tuning;
  choice = {tuning.measured[tuning.kept].path, "the fastest measured"};
  if (contest->fastest()) packed = std::move(*contest->fastest());
  return tuning;
}

template <class T, class TOut>
ColumnsCopy<T> faster_copy(const Executor<T, TOut>& executor, const Csr<T>& a,
                           const PackedMatrix<T>& packed, const RowFacts& facts,
                           const Launches& vector, const SparseOptions& options,
                           ColumnsCopy<T> modelled) {
  constexpr int kRounds = 15;
  SparseOptions asked = options;
  asked.engine = modelled.tiles ? Engine::cuda_cores : Engine::tensor_cores;
  bool faster = false;
  ColumnsCopy<T> other;
  within_memory([&] {
    other = executor.copy_for_columns(a, packed, facts, vector.strips, asked);
    const bool differs = modelled.tiles ? other.rows.has_value() : other.tiles.has_value();
    if (!differs) return;
    packed.values.stream().synchronize();                  // both copies are there for every stream
    const Stream stream(packed.values.stream().device());  // one that can be captured
    CopyTrial<T, TOut> of_other(executor, stream, packed, other, vector, options);
    CopyTrial<T, TOut> of_model(executor, stream, packed, modelled, vector, options);
    faster = Race(of_other.runs(), of_model.runs(), kRounds).ratio() < kWorthwhile;
  });
  return faster ? std::move(other) : std::move(modelled);
}

#define LANKY_INSTANTIATE(T, TOut)                                                                 \
  template Tuning tune<T, TOut>(const Executor<T, TOut>&, const Csr<T>&,                           \
                                const std::vector<Shape>&, const SparseOptions&, PackedMatrix<T>&, \
                                PathChoice&);                                                      \
  template ColumnsCopy<T> faster_copy<T, TOut>(                                                    \
      const Executor<T, TOut>&, const Csr<T>&, const PackedMatrix<T>&, const RowFacts&,            \
      const Launches&, const SparseOptions&, ColumnsCopy<T>);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
