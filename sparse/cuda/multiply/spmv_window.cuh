// y = alpha A x + beta y on a packed matrix: a block for each window, a warp for each slice. Shared
// memory: a sum for each cell of the window, and the columns of x that it stages.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/arrival.cuh"
#include "device/element.cuh"
#include "device/grid_dependency.cuh"
#include "device/guarded_load.cuh"
#include "device/matrix_copy.cuh"
#include "device/memory.cuh"
#include "device/warp_group.cuh"
#include "sparse/cuda/multiply/arguments.cuh"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/gather.cuh"
#include "sparse/cuda/multiply/slice_product.cuh"
#include "sparse/product.hpp"

namespace lanky::sparse::cuda {

template <int kWide, Slices kSlices>
inline constexpr int kThreadsMost = kLanes*(kWide > 1             ? kWarpsMost
                                            : one_a_warp(kSlices) ? kSingleWarps
                                                                  : kOtherWarps);
// Registers of small matrices leave 36 warps resident, or 32 of elements of 8 bytes, 32 and 24 of
// few slices, 24 of deep ones; for 36, blocks of nine warps are what the bound is told.
template <int kWide, Slices kSlices, class T>
inline constexpr int kBlocks = kWide > 1                                     ? 1
                               : !one_a_warp(kSlices)                        ? 6
                               : kSlices == Slices::single && sizeof(T) <= 8 ? 4
                               : kSlices == Slices::few && sizeof(T) < 8     ? 4
                                                                             : 3;
template <int kWide, Slices kSlices, class T>
inline constexpr int kThreadsBound = kSlices == Slices::single && sizeof(T) < 8
                                         ? 9 * kLanes
                                         : kThreadsMost<kWide, kSlices>;
// Of tensor cores 24 of any, of 80 registers a thread.
template <int kWide>
inline constexpr int kMmaWarps = kWide > 1 ? kSharingWarps : kOtherWarps;
inline constexpr int kGroup = 4;           // shallow slices that a warp multiplies at once
inline constexpr int kCellsOfThread = 16;  // that one thread adds up, for a row

/// Writes rows of a window's with alpha and beta.
template <class T, class TOut>
class RowWriter {
 public:
  using Sum = device::DeviceAccumulator<T>;
  using Cell = sparse::cuda::Cell<device::DeviceElement<T>>;
  using Out = device::DeviceElement<TOut>;

  RowWriter() = default;
  __device__ RowWriter(Out* y, Sum alpha, Sum beta) : y_(y), alpha_(alpha), beta_(beta) {}

  __device__ void scale_by(Sum alpha, Sum beta) {
    alpha_ = alpha;
    beta_ = beta;
  }

  /// y[row] = alpha sum + beta y[row]; with beta = 0, y is not read.
  __device__ void write(int row, Cell sum) const { write(row, sum, read(row)); }
  /// The same where `held` is what read(row) returned.
  __device__ void write(int row, Cell sum, Out held) const { y_[row] = row_of(sum, held); }
  /// y[row], if it is wanted.
  __device__ Out read(int row) const {
    Out held{};
    if (adds()) held = y_[row];
    return held;
  }

  /// The same for kCount rows, none of which is written before all of them are read.
  template <int kCount>
  __device__ void write(const int (&rows)[kCount], const Cell (&sums)[kCount]) const {
    Out held[kCount] = {};
    if (adds()) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        held[i] = y_[rows[i]];
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      y_[rows[i]] = row_of(sums[i], held[i]);
  }

  /// The same for kCount rows side by side, a word of y.
  template <int kCount>
  __device__ void write_word(int first, const Cell (&sums)[kCount]) const {
    Out word[kCount] = {};
    if (adds()) device::load_wide(word, y_ + first);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      word[i] = row_of(sums[i], word[i]);
    device::store_wide(y_ + first, word);
  }

 private:
  __device__ bool adds() const {
    return !(beta_ == Sum{0});
  }
  __device__ Out row_of(Cell sum, Out held) const {
    const Sum scaled = alpha_ * sum.sum;
    return device::narrow<Out>(adds() ? fma(beta_, static_cast<Sum>(device::widen(held)), scaled)
                                      : scaled);
  }

  Out* y_;  // of the window's first row
  Sum alpha_;
  Sum beta_;
};

/// The threads that share a window: those of a block.
struct WholeBlock {
  static constexpr Nearby kNearby = Nearby::staged;
  static constexpr int kTeams = 1;  // of a block

  static __device__ unsigned team() { return 0; }
  static __device__ unsigned thread() { return threadIdx.x; }
  static __device__ unsigned threads() { return blockDim.x; }
  static __device__ void sync() { __syncthreads(); }
};

/// Or, where the matrix has hot columns, one of several teams of a block, which share these.
struct HotTeam {
  static constexpr Nearby kNearby = Nearby::hot;
  static constexpr int kTeams = kHotTeams;
  static constexpr unsigned kThreads = kHotTeamWarps * kLanes;

  static __device__ unsigned team() { return threadIdx.x / kThreads; }
  static __device__ unsigned thread() { return threadIdx.x % kThreads; }
  static __device__ unsigned threads() { return kThreads; }
  static __device__ void sync() { device::warps_barrier(static_cast<int>(1 + team()), kThreads); }
};

/// One window, by one team. kWide: pieces of a lane in wide slices.
template <class Walk, class Team, int kWide, Slices kSlices, class T, class TOut>
class WindowProduct {
 public:
  using E = device::DeviceElement<T>;
  using Cell = sparse::cuda::Cell<E>;
  using Sum = device::DeviceAccumulator<T>;
  using Out = device::DeviceElement<TOut>;

  /// `shared` is the team's: slices and cells; `staged` is what x of its columns is staged in.
  __device__ WindowProduct(const DeviceMatrix<E>& a, const DeviceProduct<T, TOut>& product,
                           const DeviceWorkspace<T>& workspace, unsigned number,
                           unsigned char* shared, E* staged)
      : a_(a),
        product_(product),
        workspace_(workspace),
        number_(number),
        window_(a.windows[number_]),
        slices_(reinterpret_cast<Slice*>(shared)),
        cells_(reinterpret_cast<Cell*>(shared + slice_bytes<T>(a))),
        staged_(staged) {}

  /// What the plan owns may be read ahead of the wait for kernels before this one; x, y and partial
  /// sums after it.
  __device__ void run() {
    CellRange range;
    if constexpr (one_a_warp(kSlices)) {
      range = run_single();
    } else {
      range = run_slices();
    }
    if (has_no_cells()) return;
    Team::sync();  // all cells are written before they are added up
    if (window_.partial >= 0) {
      write_partial();
    } else if (window_.first_row_cell >= 0) {
      write_cut_rows(range);
    } else {
      write_rows();
    }
  }

 private:
  // Rows whose sums are a word of shared memory, and whose y one of at most that.
  static constexpr int kRowWord = kWordBytes / static_cast<int>(sizeof(Cell));
  // Slices wait for staged columns when they have read all else: elsewhere that gained nothing.
  static constexpr bool kLate = kSlices == Slices::straight;
  static constexpr bool kKept = kKeepsSlices<T> && !one_a_warp(kSlices);  // slices
  static constexpr int kTeamWarps =
      Team::kTeams > 1 ? HotTeam::kThreads / kLanes : kThreadsMost<kWide, kSlices> / kLanes;

  static __device__ int thread() { return static_cast<int>(Team::thread()); }
  static __device__ int lane() { return lane_of_warp(); }
  static __device__ int threads() { return static_cast<int>(Team::threads()); }
  static __device__ int warps() { return static_cast<int>(Team::threads() / kLanes); }
  static __device__ int warp() { return static_cast<int>(Team::thread() / kLanes); }

  /// Where the window's first row stands in its word of y.
  __device__ int first_in_word() const {
    return device::place_in_word<kRowWord>(product_.y + window_.first_row);
  }

  /// Once slices are asked for, which wait for nothing of the window.
  __device__ void place_cells() { cells_ += first_in_word(); }

  /// To the window's rows; after the wait.
  __device__ RowWriter<T, TOut> writer() const {
    if constexpr (one_a_warp(kSlices)) return writer_;
    return {product_.y + window_.first_row, product_.alpha.load(), product_.beta.load()};
  }

  /// Whether sums go to y as they are.
  __device__ bool has_no_cells() const {
    return kSlices == Slices::straight || window_.direct != 0;
  }

  /// From here on x may be read, and cells be written.
  __device__ void prepare() {
    device::wait_for_kernel_ahead();
    prepare_shared();
  }
  /// The same behind the wait.
  __device__ void prepare_shared() {
    const bool stages = window_.columns != 0;
    if (stages)
      staged_ = stage_columns<Team>(product_.x + window_.first_column, window_.columns, staged_);
    if (kSlices == Slices::straight && window_.gaps != 0) clear_rows();
    if (kKept || stages || window_.gaps != 0)
      Team::sync();  // cells or rows are clear; slices, the barrier and single columns are there
    if (stages && !kLate) device::mbarrier_wait(staged_barrier(), 0);
  }

  /// Rows without entries have no piece that would write their cell.
  __device__ void clear_cells() {
    const Cell zeros[kRowWord] = {};
    const int rows = window_.rows;
    for (int row = thread() * kRowWord - first_in_word(); row < rows; row += threads() * kRowWord)
      device::store_wide(cells_ + row, zeros);
  }

  __device__ SliceView<E> view_of(const Slice& slice) const {
    return {device::opaque(a_.values + window_.first_slot + slice.first_slot * kSlotUnit),
            device::opaque(a_.indices + (window_.first_index + slice.first_index) * kIndexUnit),
            device::opaque(a_.bases + window_.first_base + slice.first_base * kBaseUnit),
            slice.width,
            slice.depth,
            slice.shortest};
  }

  __device__ auto factors() const {
    return Gather < E, kLate ? Nearby::arriving : Team::kNearby > (product_.x, staged_);
  }

  /// Has the L2 fetch the block's Shares; one thread.
  __device__ void fetch_shares() const {
    const auto fetch = [&](const auto* all, int share) {
      const auto* const begin = reinterpret_cast<const unsigned char*>(all);
      if (share > 0)
        device::prefetch_bytes(begin + static_cast<std::int64_t>(number_) * share, share);
    };
    fetch(a_.values, a_.shares.values);
    fetch(a_.indices, a_.shares.indices);
    fetch(product_.x, a_.shares.x);
  }

  /// At most one slice for each warp, and none wide: of a small matrix, of whose few steps only x
  /// is left to read after the wait. Returns the cells of the thread's row.
  __device__ CellRange run_single() {
    const std::int64_t told =
        (static_cast<std::int64_t>(number_) * a_.slices_most + warp()) * kLanes + lane();
    std::uint32_t length;
    device::load_widened_if<Stay::normally>(length, a_.lengths + told, a_.lengths != nullptr);
    const Slice slice = load_slice(warp());
    if (a_.shares.values > 0 && thread() == 0) fetch_shares();
    place_cells();
    if (window_.gaps != 0) clear_cells();
    const CellRange range = cut_rows().cells_of(first_row());
    const LanePiece piece = piece_of_lane(slice, told, [&] { return static_cast<int>(length); });
    // Of what follows, only the sum waits for x, and in most products there is nothing special.
    const std::uint32_t zero = slice.unused;
    device::AheadOfWait ahead(zero);
    const Gather<E, Nearby::staged> factors(ahead.hold(product_.x), staged_);
    writer_ = {product_.y + window_.first_row + zero, ahead.hold(product_.alpha.value), Sum{0}};
    const bool direct = piece.exists && has_no_cells();
    const std::uint32_t special = ahead.hold(window_.columns | window_.gaps | product_.special);
    Out row{};
    const Cell sum = Walk::template sum_at_once<kSlices == Slices::deep>(
        view_of(slice), slice.kind, factors, lane(), piece.length, [&](std::uint32_t columns) {
          ahead.hold(columns);
          ahead.wait();
          if (special == 0) return false;
          prepare_shared();
          writer_.scale_by(product_.alpha.load(), product_.beta.load());
          if (direct) row = writer_.read(piece.cell);
          return true;
        });
    if (direct) {
      writer_.write(piece.cell, sum, row);
    } else if (piece.exists) {
      cells_[piece.cell] = sum;
    }
    return range;
  }

  /// All slices that the warp has. Returns the cells of the thread's first row.
  __device__ CellRange run_slices() {
    const int slices = a_.slices_most;
    Slice first{};  // of the warp
    if constexpr (kKept) {
      device::prefetch(&window_);  // nothing reads it until slices are asked for
      for (int i = thread(); i < slices; i += threads())
        device::store_wide<1>(slices_ + i, {load_slice(i)});
    } else {
      first = load_slice(warp());
    }
    place_cells();
    if (a_.fetch_ahead) fetch_ahead();
    if (kSlices != Slices::straight && window_.gaps != 0) clear_cells();
    prepare();
    if constexpr (kSlices == Slices::shallow) {
      for (int number = warp(); number < slices; number += kGroup * warps())
        run_group(slice(number + lane() % kGroup * warps()));
    } else if constexpr (kKept) {
      for (Turn turn(warp(), warps()); turn.number < slices; turn.advance())
        run_slice(slice(turn.number));
    } else {
      Turn turn(warp(), warps());
      for (Slice own = first; own.width > 0;) {
        turn.advance();
        const Slice next = load_slice(turn.number);
        run_slice(own);
        own = next;
      }
    }
    return cut_rows().cells_of(first_row());
  }

  /// The slices of a warp: forth and back over the warps, as slices get shorter.
  struct Turn {
    int number;
    int ahead;  // from this one to the next
    int both;   // from it to the one after that

    __device__ Turn(int warp, int warps)
        : number(warp), ahead(2 * (warps - warp) - 1), both(2 * warps) {}
    __device__ void advance() {
      number += ahead;
      ahead = both - ahead;
    }
  };

  /// Has the L2 nearby fetch the beginning of the window, for all warps at once.
  __device__ void fetch_ahead() const {
    const bool last = number_ + 1 == a_.window_count;
    const Window& next = a_.windows[number_ + (last ? 0 : 1)];
    const std::int64_t slots = (last ? a_.slots : next.first_slot) - window_.first_slot;
    const std::int64_t units = (last ? a_.index_units : next.first_index) - window_.first_index;
    fetch_ahead(a_.values + window_.first_slot, slots * static_cast<int>(sizeof(E)));
    fetch_ahead(a_.indices + window_.first_index * kIndexUnit, units * kIndexUnit);
  }
  __device__ void fetch_ahead(const void* begin, std::int64_t bytes) const {
    constexpr int kLine = 128;
    const auto* const line = static_cast<const unsigned char*>(begin);
    const auto end = static_cast<int>(min(bytes, std::int64_t{kAheadBytes}));
    for (int at = thread() * kLine; at < end; at += threads() * kLine)
      device::prefetch(line + at);
  }

  /// kGroup slices of the warp, the j-th of which lane j has.
  __device__ void run_group(const Slice& group) {
    if (run_shallow(group)) return;
#pragma unroll 1
    for (int j = 0; j < kGroup; ++j)
      run_slice(of_lane(group, j));
  }

  /// The slice that lane `j` has.
  static __device__ Slice of_lane(const Slice& group, int j) {
    Slice slices[1] = {group};
    device::exchange(slices, j);
    return slices[0];
  }

  __device__ void run_slice(const Slice& slice) {
    if (kWide > 1 && is_wide(slice)) {
      run_wide(slice);
    } else if (slice.width > 0) {
      run_narrow(slice);
    }
  }

  /// Multiplies a group of full wide slices of a step or two, stored alike; false where they are
  /// not.
  __device__ bool run_shallow(const Slice& group) {
    const Slice first = of_lane(group, 0);
    const bool alike = group.width == kWide * kLanes && group.depth == first.depth &&
                       group.shortest == first.depth && group.kind == first.kind &&
                       !is_repeated(first.kind) && first.depth <= 2;
    if (!__all_sync(kAllLanes, alike || group.width == 0)) return false;
    with_kind<true>(first.kind, [&](auto kind) {
      if constexpr (!is_repeated(kind.value)) {
        if (first.depth == 1) {
          run_joined<kind.value, 1>(group, 0);
        } else {
          run_joined<kind.value, 2>(group, 0);
          run_joined<kind.value, 2>(group, kGroup / 2);
        }
      }
    });
    return true;
  }

  /// Those from slice `first` of the group on.
  template <IndexKind kKind, int kDepth>
  __device__ void run_joined(const Slice& group, int first) {
    ShallowWalk<E, kWide, kKind, kDepth> walk;
    const unsigned existing = __ballot_sync(kAllLanes, group.width > 0) >> first;
    if ((existing & 1U) == 0) return;
    const auto exists = [&](int j) { return (existing >> j & 1U) != 0; };
    // In place of one that does not exist, the first one once more.
#pragma unroll
    for (int j = 0; j < walk.kSlices; ++j)
      walk.load(j, view_of(of_lane(group, exists(j) ? first + j : first)), lane());
    Cell sums[walk.kSlices][kWide];
    walk.multiply(factors(), sums);
#pragma unroll
    for (int j = 0; j < walk.kSlices; ++j) {
      if (!exists(j)) break;
      int cells[kWide];
      cells_of_wide(of_lane(group, first + j), cells);
      leave(cells, sums[j]);
    }
  }

  /// A lane's piece of a slice that is not wide.
  struct LanePiece {
    bool exists;
    int length;
    int cell;
  };
  /// length(): where pieces differ in length. `told`: the lane's place in lengths[] and cells[].
  template <class Length>
  __device__ LanePiece piece_of_lane(const Slice& slice, std::int64_t told, Length length) const {
    const bool exists = lane() < slice.width;
    LanePiece piece{exists, exists ? slice.depth : 0, slice.first_cell + lane()};
    if (exists && slice.shortest != slice.depth) piece.length = length();
    if (exists && slice.listed != 0) piece.cell = a_.cells[told];
    return piece;
  }

  __device__ void run_narrow(const Slice& slice) {
    const std::int64_t told = window_.first_piece + slice.first_piece + lane();
    const LanePiece piece =
        piece_of_lane(slice, told, [&] { return static_cast<int>(a_.lengths[told]); });
    const Cell sum = Walk::sum(view_of(slice), slice.kind, factors(), lane(), piece.length);
    if (piece.exists) leave({piece.cell}, {sum});
  }

  /// Of the lane's pieces of a wide slice; -1 of those that do not exist.
  __device__ void cells_of_wide(const Slice& slice, int (&cells)[kWide]) const {
    const auto exists = [&](int r) { return r * kLanes + lane() < slice.width; };
#pragma unroll
    for (int r = 0; r < kWide; ++r)
      cells[r] = exists(r) ? slice.first_cell + r * kLanes + lane() : -1;
    if (slice.listed == 0) return;
    const std::uint16_t* const listed =
        device::opaque(a_.cells + window_.first_piece + slice.first_piece + lane());
#pragma unroll
    for (int r = 0; r < kWide; ++r) {
      if (exists(r)) cells[r] = __ldg(listed + r * kLanes);
    }
  }

  /// The lengths of pieces 4 lane .. 4 lane + 3 of a slice that lists them, a byte each.
  __device__ std::uint32_t lengths_of_four(const Slice& slice) const {
    const auto* const words = reinterpret_cast<const std::uint32_t*>(
        a_.lengths + window_.first_piece + slice.first_piece);
    std::uint32_t lengths;
    device::load_if<Stay::briefly>(lengths, words + lane(), 4 * lane() < slice.width);
    return lengths;
  }

  __device__ void run_wide(const Slice& slice) {
    int cells[kWide];
    cells_of_wide(slice, cells);
    Cell sums[kWide];
#pragma unroll
    for (int r = 0; r < kWide; ++r)
      sums[r] = Cell{};
    Walk::add_wide(
        view_of(slice), slice.kind, factors(), lane(), [&] { return lengths_of_four(slice); },
        sums);
    const bool full = cells[kWide - 1] >= 0;  // written without a condition for each piece
    if (has_no_cells()) {
      const RowWriter<T, TOut> writer = this->writer();
      if (full) return writer.write(cells, sums);
#pragma unroll
      for (int r = 0; r < kWide - 1; ++r) {
        if (cells[r] >= 0) writer.write(cells[r], sums[r]);
      }
    } else {
#pragma unroll
      for (int r = 0; r < kWide; ++r) {
        if (full || cells[r] >= 0) cells_[cells[r]] = sums[r];
      }
    }
  }

  /// Slice `number` of the window's; zeros beyond them. Waits for nothing of the window.
  __device__ Slice load_slice(int number) const {
    const std::int64_t first = static_cast<std::int64_t>(number_) * a_.slices_most;
    Slice slice[1];
    constexpr Stay kStay = one_a_warp(kSlices) ? Stay::normally : Stay::briefly;
    device::load_if<kStay>(slice, a_.slices + first + number, number < a_.slices_most);
    return slice[0];
  }

  /// The same, from shared memory where they are kept.
  __device__ Slice slice(int number) const {
    if constexpr (!kKept) return load_slice(number);
    Slice slice[1] = {};
    if (number < a_.slices_most) device::load_wide(slice, slices_ + number);
    return slice[0];
  }

  /// Sums of the lane's pieces to their cells or, where no row has another piece, to y.
  template <int kCount>
  __device__ void leave(const int (&cells)[kCount], const Cell (&sums)[kCount]) {
    if (has_no_cells()) {
      writer().write(cells, sums);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        cells_[cells[i]] = sums[i];
      }
    }
  }

  /// Each row has one cell.
  __device__ void write_rows() const {
    const RowWriter<T, TOut> writer = this->writer();
    const int rows = window_.rows;
    for (int first = thread() * kRowWord - first_in_word(); first < rows;
         first += threads() * kRowWord) {
      if (first >= 0 && first + kRowWord <= rows) {
        Cell sums[kRowWord];
        device::load_wide(sums, cells_ + first);
        writer.write_word(first, sums);
      } else {
        for (int row = max(first, 0); row < min(first + kRowWord, rows); ++row)
          writer.write(row, cells_[row]);
      }
    }
  }

  /// Every row gets what rows without entries do.
  __device__ void clear_rows() const {
    const RowWriter<T, TOut> writer = this->writer();
    for (int row = thread(); row < window_.rows; row += threads())
      writer.write(row, Cell{});
  }

  /// Which cells are whose, where rows are cut; of no rows where none is.
  struct CutRows {
    const std::uint16_t* first_cells;  // [rows + 1]
    int rows;

    __device__ CellRange cells_of(int row) const {
      if (row >= rows) return {0, 0};
      return {__ldg(first_cells + row), __ldg(first_cells + row + 1)};
    }
  };
  __device__ CutRows cut_rows() const {
    const std::int64_t first = window_.first_row_cell;
    return {a_.row_cells + first, first < 0 ? 0 : window_.rows};
  }

  /// The first of the rows that the thread adds up, where rows are cut; of a few rows, all warps
  /// have some.
  __device__ int first_row() const {
    return window_.rows <= kLanes ? lane() * warps() + warp() : thread();
  }

  /// A thread for each row; the warp together for each row of many cells. `range`: of the thread's
  /// first row.
  __device__ void write_cut_rows(CellRange range) const {
    const RowWriter<T, TOut> writer = this->writer();
    const CutRows cut = cut_rows();
    for (int row = first_row(); __any_sync(kAllLanes, row < cut.rows); row += threads()) {
      const bool many = range.end - range.begin > kCellsOfThread;
      Cell sum{};
      if (!many) {
        for (int cell = range.begin; cell < range.end; ++cell)
          sum = sum + cells_[cell];
      }
      for (unsigned left = __ballot_sync(kAllLanes, many); left != 0; left &= left - 1) {
        const int owner = __ffs(static_cast<int>(left)) - 1;
        const int end = __shfl_sync(kAllLanes, range.end, owner);
        Cell part{};
        for (int cell = __shfl_sync(kAllLanes, range.begin, owner) + lane(); cell < end;
             cell += kLanes)
          part = part + cells_[cell];
        part = sum_of_warp(part);
        if (lane() == owner) sum = part;
      }
      if (row < cut.rows) writer.write(row, sum);
      range = cut.cells_of(row + threads());
    }
  }

  /// All cells belong to one row, of which this is a part. The last window of the row to end adds
  /// the parts up, in their order.
  __device__ void write_partial() const {
    __shared__ bool last_of_teams[Team::kTeams];
    bool& last = last_of_teams[Team::team()];
    Cell sum = sum_of_team(cells_, window_.pieces);
    const std::int64_t first = a_.split_starts[window_.split];
    const auto parts = static_cast<unsigned>(a_.split_starts[window_.split + 1] - first);
    if (thread() == 0) {
      workspace_.partials[window_.partial] = sum;
      last = device::arrive_at(workspace_.arrivals + window_.split, parts);
    }
    Team::sync();  // `last` is there, and what other windows wrote is visible
    if (!last) return;
    sum = sum_of_team(workspace_.partials + first, static_cast<int>(parts));
    if (thread() == 0) writer().write(0, sum);
  }

  /// For thread 0: thread i adds sums i, i + threads(), ...; then lanes, then warps.
  __device__ Cell sum_of_team(const Cell* sums, int count) const {
    __shared__ Cell sums_of_teams[Team::kTeams][kTeamWarps];
    Cell* const warp_sums = sums_of_teams[Team::team()];
    Cell sum{};
    for (int i = thread(); i < count; i += threads())
      sum = sum + sums[i];
    sum = sum_of_warp(sum);
    if (lane() == 0) warp_sums[warp()] = sum;
    Team::sync();  // every warp's sum is stored before thread 0 reads it
    for (int w = 1; w < warps(); ++w)
      sum = sum + warp_sums[w];
    return sum;
  }

  const DeviceMatrix<E>& a_;
  const DeviceProduct<T, TOut>& product_;
  const DeviceWorkspace<T>& workspace_;
  unsigned number_;
  // A slice for each warp: read at once. Otherwise in device memory, its fields are read where
  // needed.
  std::conditional_t<one_a_warp(kSlices), const Window, const Window&> window_;
  RowWriter<T, TOut> writer_;  // of one_a_warp()
  // In shared memory:
  Slice* slices_;  // [slices_most], where they are kept
  Cell* cells_;    // [cells_most]
  E* staged_;      // [window.columns]
};

template <class Walk, int kWide, Slices kSlices, class T, class TOut>
__device__ void run_window(const DeviceMatrix<device::DeviceElement<T>>& a,
                           const DeviceProduct<T, TOut>& product,
                           const DeviceWorkspace<T>& workspace) {
  extern __shared__ __align__(16) unsigned char shared[];
  device::let_next_kernel_start();
  const bool ordered = !one_a_warp(kSlices) && a.order != nullptr;
  const unsigned number = ordered ? a.order[blockIdx.x] : blockIdx.x;
  auto* const staged = reinterpret_cast<device::DeviceElement<T>*>(
      shared + slice_bytes<T>(a) + (kSlices == Slices::straight ? 0 : cell_bytes<T>(a)));
  WindowProduct<Walk, WholeBlock, kWide, kSlices, T, TOut>(a, product, workspace, number, shared,
                                                           staged)
      .run();
}

template <int kWide, Slices kSlices, class T, class TOut>
__global__ void __launch_bounds__(kThreadsBound<kWide, kSlices, T>, kBlocks<kWide, kSlices, T>)
    spmv_cuda_kernel(const __grid_constant__ DeviceProduct<T, TOut> product,
                     const __grid_constant__ DeviceMatrix<device::DeviceElement<T>> a,
                     const __grid_constant__ DeviceWorkspace<T> workspace) {
  run_window<ByCudaCores, kWide, kSlices>(a, product, workspace);
}

/// Of a matrix with hot columns: as many blocks as are resident at once. Each copies x of these,
/// then its teams take windows, one after another, from a counter that ends as it began.
template <int kWide, class T, class TOut>
__global__ void __launch_bounds__(kHotTeams* HotTeam::kThreads, 1)
    spmv_hot_kernel(const __grid_constant__ DeviceProduct<T, TOut> product,
                    const __grid_constant__ DeviceMatrix<device::DeviceElement<T>> a,
                    const __grid_constant__ DeviceWorkspace<T> workspace) {
  using E = device::DeviceElement<T>;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ unsigned taken[kHotTeams];
  const unsigned of_block = blockDim.x / HotTeam::kThreads;
  const unsigned teams = gridDim.x * of_block;
  const bool first = HotTeam::thread() == 0;
  unsigned char* const own = shared + HotTeam::team() * team_bytes<T>(a);
  auto* const hot = reinterpret_cast<E*>(shared + of_block * team_bytes<T>(a));
  unsigned* const counter = workspace.arrivals + a.split_rows;

  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  copy_hot_columns(product.x, a.hot_columns, static_cast<unsigned>(a.hot), hot);
  __syncthreads();  // x of the hot columns is there
  unsigned turn = HotTeam::team() * gridDim.x + blockIdx.x;
  while (turn < a.window_count) {
    const unsigned ahead = first ? atomicAdd(counter, 1U) : 0;
    if (first && ahead + 1 == a.window_count) *counter = 0;  // nobody adds any more
    const unsigned number = a.order != nullptr ? a.order[turn] : turn;
    WindowProduct<ByCudaCores, HotTeam, kWide, Slices::any, T, TOut>(a, product, workspace, number,
                                                                     own, hot)
        .run();
    HotTeam::sync();  // cells and slices are read before they are those of the next window
    if (first) taken[HotTeam::team()] = teams + ahead;
    HotTeam::sync();  // the next turn is known
    turn = taken[HotTeam::team()];
  }
}

template <SpmvPath kPath, int kWide, class T, class TOut>
__global__ void __launch_bounds__(kMmaWarps<kWide>* kLanes, 24 / kMmaWarps<kWide>)
    spmv_mma_kernel(const __grid_constant__ DeviceProduct<T, TOut> product,
                    const __grid_constant__ DeviceMatrix<device::DeviceElement<T>> a,
                    const __grid_constant__ DeviceWorkspace<T> workspace) {
  run_window<ByTensorCores<kPath>, kWide, Slices::any>(a, product, workspace);
}

}  // namespace lanky::sparse::cuda
