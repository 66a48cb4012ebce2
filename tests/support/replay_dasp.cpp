// The product by DASP's layout on the host: 32 lanes, each with the fragments that it has on a GPU.
// Kernels and replay share their shape, so that lanes, masks and targets are tested without a GPU.
#include <lanky/half.hpp>

#include "support/dasp_oracle.hpp"

namespace lanky::ladder {

namespace {

constexpr int kLanes = 32;

/// What the lanes hold of one 8 x W operand: lane 4 g + t has its row g, columns t W / 4 on.
template <class T>
struct Fragments {
  T of[kLanes][2];
};

/// c[8,8] of a warp, as mma leaves it: lane 4 g + t has c[g][2t] and c[g][2t + 1].
template <class T>
struct TileSum {
  Accumulator<T> of[kLanes][2] = {};

  /// c += a b, with row n of `x` as column n of b.
  void add(const Fragments<T>& a, const Fragments<T>& x, int width) {
    const int each = width / 4;
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < 2; ++i) {
        const int g = lane / 4;
        const int n = 2 * (lane % 4) + i;
        for (int k = 0; k < width; ++k)
          of[lane][i] += static_cast<Accumulator<T>>(a.of[4 * g + k / each][k % each]) *
                         static_cast<Accumulator<T>>(x.of[4 * n + k / each][k % each]);
      }
    }
  }

  /// The lane that has c[g][g], and its value.
  static int diagonal_lane(int g) { return 4 * g + g / 2; }
  Accumulator<T> diagonal(int g) const { return of[diagonal_lane(g)][g % 2]; }
};

template <class T>
class DaspReplay {
 public:
  DaspReplay(const DaspPattern& dasp, const T* values, const T* x)
      : dasp_(dasp),
        values_(values),
        x_(x),
        y_(static_cast<std::size_t>(dasp.rows), T(std::numeric_limits<float>::quiet_NaN())) {}

  std::vector<T> run() {
    run_long_rows();
    for (std::size_t b = 0; b + 1 < dasp_.medium_tiles.size(); ++b)
      run_block(b);
    for (std::int64_t tile = 0; tile < dasp_.short_tiles(); ++tile)
      run_pieced(tile);
    run_others();
    return std::move(y_);
  }

 private:
  using Acc = Accumulator<T>;

  T value(std::int64_t slot) const {
    const std::int32_t source = dasp_.sources[static_cast<std::size_t>(slot)];
    return source < 0 ? T(0) : values_[source];
  }
  T factor(std::int64_t slot) const {
    const std::int32_t column = dasp_.columns[static_cast<std::size_t>(slot)];
    return column < 0 ? T(0) : x_[column];
  }
  Acc product(std::int64_t slot) const {
    return static_cast<Acc>(value(slot)) * static_cast<Acc>(factor(slot));
  }
  void store(std::int32_t row, Acc sum) { y_[static_cast<std::size_t>(row)] = static_cast<T>(sum); }

  void load(std::int64_t tile, Fragments<T>& a, Fragments<T>& x) const {
    const int each = dasp_.tile_width / 4;
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < each; ++i) {
        const std::int64_t slot = (tile * kLanes + lane) * each + i;
        a.of[lane][i] = value(slot);
        x.of[lane][i] = factor(slot);
      }
    }
  }

  void add_tile(TileSum<T>& sum, std::int64_t tile) const {
    Fragments<T> a;
    Fragments<T> x;
    load(tile, a, x);
    sum.add(a, x, dasp_.tile_width);
  }

  void run_long_rows() {
    std::vector<Acc> partials;
    for (std::int64_t group = 0; group < dasp_.groups(); ++group) {
      TileSum<T> sum;
      for (int i = 0; i < kDaspGroupTiles; ++i)
        add_tile(sum, group * kDaspGroupTiles + i);
      Acc total = 0;
      for (int g = 0; g < kDaspTileRows; ++g)
        total += sum.diagonal(g);
      partials.push_back(total);
    }
    for (std::size_t i = 0; i < dasp_.long_rows.size(); ++i) {
      Acc total = 0;
      for (std::int32_t group = dasp_.long_groups[i]; group < dasp_.long_groups[i + 1]; ++group)
        total += partials[static_cast<std::size_t>(group)];
      store(dasp_.long_rows[i], total);
    }
  }

  void run_block(std::size_t b) {
    TileSum<T> sum;
    for (std::int32_t tile = dasp_.medium_tiles[b]; tile < dasp_.medium_tiles[b + 1]; ++tile)
      add_tile(sum, tile);
    for (int g = 0; g < kDaspTileRows; ++g) {
      const std::size_t m = b * kDaspTileRows + static_cast<std::size_t>(g);
      if (m >= dasp_.medium_rows.size()) break;
      Acc tail = 0;
      for (std::int32_t e = dasp_.tail_offsets[m]; e < dasp_.tail_offsets[m + 1]; ++e)
        tail += product(dasp_.first_loose() + e);
      store(dasp_.medium_rows[m], sum.diagonal(g) + tail);
    }
  }

  /// One product for each part of the tile's pieced rows: the others are zero in it.
  void run_pieced(std::int64_t tile) {
    const std::int64_t tiles_13 = dasp_.pieced_tiles(dasp_.pieced_13);
    const std::int64_t split_tiles = dasp_.split_tiles();
    const int split = tile < tiles_13 ? 1 : tile < split_tiles ? 2 : 4;
    const int each = dasp_.tile_width / 4;
    Fragments<T> a;
    Fragments<T> x;
    load(dasp_.first_short_tile() + tile, a, x);
    for (int half_row = 0; half_row < each; ++half_row) {
      for (int part = 0; part < (split < 4 ? 2 : 1); ++part) {
        Fragments<T> part_a{};
        Fragments<T> part_x{};
        for (int lane = 0; lane < kLanes; ++lane) {
          for (int i = 0; i < each; ++i) {
            const int k = lane % 4 * each + i;
            if (k / 4 != half_row || (k % 4 >= split ? 1 : 0) != part) continue;
            part_a.of[lane][i] = a.of[lane][i];
            part_x.of[lane][i] = x.of[lane][i];
          }
        }
        TileSum<T> sum;
        sum.add(part_a, part_x, dasp_.tile_width);
        for (int g = 0; g < kDaspTileRows; ++g) {
          const std::int64_t pieced = (tile * kDaspTileRows + g) * each + half_row;
          const std::int64_t first_whole = split_tiles * dasp_.pieced_per_tile();
          const std::int64_t name = split < 4 ? 2 * pieced + part : first_whole + pieced;
          const std::int32_t row = dasp_.pieced_rows[static_cast<std::size_t>(name)];
          if (row >= 0) store(row, sum.diagonal(g));
        }
      }
    }
  }

  void run_others() {
    const std::int64_t first = dasp_.first_loose() + dasp_.tail_offsets.back();
    for (std::size_t i = 0; i < dasp_.other_rows.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i);
      store(dasp_.other_rows[i], number < dasp_.single_rows ? product(first + number) : Acc(0));
    }
  }

  const DaspPattern& dasp_;
  const T* values_;
  const T* x_;
  std::vector<T> y_;
};

}  // namespace

template <class T>
std::vector<T> replay_dasp(const DaspPattern& dasp, const T* values, const T* x) {
  return DaspReplay<T>(dasp, values, x).run();
}

template std::vector<double> replay_dasp(const DaspPattern&, const double*, const double*);
template std::vector<half> replay_dasp(const DaspPattern&, const half*, const half*);

}  // namespace lanky::ladder
