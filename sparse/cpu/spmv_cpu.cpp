// The cpu executor: y = alpha A x + beta y from the packed matrix, tile by tile as the kernels do.
// Threads take pieces, blocks and short tiles; no sum crosses threads, so their number is no
// matter.
#include <algorithm>

#include "core/plan_types.hpp"
#include "sparse/backend.hpp"

namespace lanky::sparse::cpu {

namespace {

template <class T, class TOut>
class Replay {
 public:
  using Sum = Accumulator<T>;

  Replay(const PackedView<T>& a, const Product<T, TOut>& product)
      : a_(a),
        x_(product.x),
        y_(product.y),
        alpha_(load(product.alpha)),
        beta_(load(product.beta)),
        partials_(product.partials) {}

  void run() const {
    const PackedHeader& header = a_.header;
    const bool threads = worth_threads<T>(header);
#pragma omp parallel if (threads)
    {
#pragma omp for schedule(dynamic, 8) nowait
      for (std::int64_t piece = 0; piece < header.pieces; ++piece)
        run_piece(piece);
#pragma omp for schedule(dynamic, 64) nowait
      for (std::int64_t block = 0; block < header.blocks; ++block)
        run_block(block);
      for (int length = 1; length <= kShortMost; ++length) {
#pragma omp for schedule(static) nowait
        for (std::int64_t tile = 0; tile < header.short_groups[length - 1].tiles; ++tile) {
          run_short_tile(length, tile);
        }
      }
#pragma omp for schedule(static) nowait
      for (std::int64_t i = 0; i < header.empty_rows; ++i)
        write(a_.empty_rows[i], Sum{});
      if (header.split_rows > 0) {  // the same for all threads, as a barrier must be
#pragma omp barrier                 // all partial sums are written before they are added up
#pragma omp for schedule(dynamic, 64) nowait
        for (std::int64_t row = 0; row < header.split_rows; ++row)
          finish_row(row);
      }
    }
  }

 private:
  static Sum load(const Scalar<Sum>& scalar) {
    return scalar.pointer() != nullptr ? *scalar.pointer() : scalar.value();
  }

  /// sum + the products of `count` slots from `slot` on.
  Sum add_slots(Sum sum, std::int64_t slot, int count) const {
    for (std::int64_t end = slot + count; slot < end; ++slot) {
      const std::int32_t column = a_.columns[slot];
      const Sum loaded = static_cast<Sum>(x_[std::max(column, 0)]);  // padding: no branch, any x
      const Sum factor = column < 0 ? Sum{} : loaded;
      sum += static_cast<Sum>(a_.values[slot]) * factor;
    }
    return sum;
  }

  void write(std::int32_t row, Sum sum) const {
    const Sum scaled = alpha_ * sum;
    y_[row] =
        static_cast<TOut>(beta_ == Sum{} ? scaled : scaled + beta_ * static_cast<Sum>(y_[row]));
  }

  void run_piece(std::int64_t piece) const {
    Sum total{};
    for (int i = 0; i < kTileRows; ++i) {
      Sum sum{};
      for (std::int64_t tile = a_.piece_tiles[piece]; tile < a_.piece_tiles[piece + 1]; ++tile) {
        sum = add_slots(sum, (tile * kTileRows + i) * kDepth<T>, kDepth<T>);
      }
      total += sum;
    }
    const PackedHeader& header = a_.header;
    if (piece < header.split_pieces) {
      partials_[piece] = total;
    } else {
      write(a_.long_rows[header.split_rows + piece - header.split_pieces], total);
    }
  }

  void finish_row(std::int64_t split_row) const {
    Sum sum{};
    for (std::int64_t p = a_.split_starts[split_row]; p < a_.split_starts[split_row + 1]; ++p) {
      sum += partials_[p];
    }
    write(a_.long_rows[split_row], sum);
  }

  void run_block(std::int64_t block) const {
    for (int i = 0; i < kTileRows; ++i) {
      const std::int32_t row = a_.medium_rows[block * kTileRows + i];
      if (row < 0) continue;
      Sum sum{};
      for (std::int64_t tile = a_.block_tiles[block]; tile < a_.block_tiles[block + 1]; ++tile) {
        sum = add_slots(sum, (tile * kTileRows + i) * kDepth<T>, kDepth<T>);
      }
      write(row, sum);
    }
  }

  void run_short_tile(int length, std::int64_t tile) const {
    const ShortGroup& group = a_.header.short_groups[length - 1];
    const std::int32_t* row =
        a_.short_rows + group.first_row + tile * short_rows_per_tile<T>(length);
    std::int64_t slot = (group.first_tile + tile) * kTileSlots<T>;
    for (int quad = 0; quad < kTileSlots<T> / kQuad; ++quad, slot += kQuad) {
      for (int begin = 0; begin < kQuad; begin += length, ++row) {
        if (*row >= 0) write(*row, add_slots(Sum{}, slot + begin, std::min(length, kQuad - begin)));
      }
    }
  }

  const PackedView<T>& a_;
  const T* x_;
  TOut* y_;
  Sum alpha_;
  Sum beta_;
  Sum* partials_;
};

}  // namespace

template <class T, class TOut>
void run(const PackedView<T>& a, const Product<T, TOut>& product) {
  Replay<T, TOut>(a, product).run();
}

#define LANKY_INSTANTIATE(T, TOut) template void run(const PackedView<T>&, const Product<T, TOut>&);
LANKY_FOR_EACH_REAL_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
