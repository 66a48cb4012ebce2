// Products of several columns in chunk_kernels_<isa>.cpp, and the table of all kernels. Each column
// has the bits of a product of its own: the same lanes are added in the same order. Where the
// columns of X stand side by side, vectors hold columns, and a value is multiplied by all of them;
// otherwise they hold rows, as in products of one vector (docs/cpu_format.md).
#include "sparse/cpu/chunk_kernels_isa.hpp"

namespace lanky::sparse::cpu {

namespace {

// std::min() and std::max() have external linkage.
LANKY_INLINE constexpr std::int64_t lesser(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}
LANKY_INLINE constexpr std::int64_t greater(std::int64_t a, std::int64_t b) {
  return a < b ? b : a;
}

// Vectors of columns.

/// The kBytes at `from`, and zeros, in a register: a vector that is filled in memory would be read
/// before it is written.
template <class Vector, int kBytes>
LANKY_INLINE Vector first_of_vector(const void* from) {
  static_assert(sizeof(Vector) == 16 && (kBytes == 2 || kBytes == 4 || kBytes == 8));
  using Part = std::conditional_t<kBytes == 2, std::uint16_t,
                                  std::conditional_t<kBytes == 4, float, double>>;
  typedef Part Parts __attribute__((vector_size(16)));
  Part part;
  __builtin_memcpy(&part, from, kBytes);
  return reinterpret_cast<Vector>(Parts{part});
}

/// kCount reals of side by side columns, at least 16 bytes; of halves, as many as are widened at
/// once.
template <class Elements, int kCount>
struct Line {
  using Real = typename Elements::Real;
  using Stored = typename Elements::Stored;
  static constexpr bool kWidens = !std::is_same_v<Real, Stored>;
  static constexpr int kLeast = kWidens ? kRows : 16 / static_cast<int>(sizeof(Real));
  static constexpr int kHeld = kCount > kLeast ? kCount : kLeast;
  static constexpr int kMostBytes = kWidens ? kPartBytes<Real> : kVectorBytes;
  static constexpr int kHeldBytes = kHeld * static_cast<int>(sizeof(Real));
  static constexpr int kBytes = kHeldBytes < kMostBytes ? kHeldBytes : kMostBytes;
  static constexpr int kOfPart = kBytes / static_cast<int>(sizeof(Real));
  static constexpr int kParts = kHeld / kOfPart;
  typedef Real Part __attribute__((vector_size(kBytes)));
  typedef Real Unaligned __attribute__((vector_size(kBytes), aligned(sizeof(Real)), may_alias));

  Part part[kParts];

  LANKY_INLINE static Line zeros() {
    Line line;
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p)
      line.part[p] = Part{};
    return line;
  }
  LANKY_INLINE static Line loaded(const Real* from) {
    if constexpr (kCount == kHeld) {
      return loaded_whole(from);
    } else if constexpr (!kWidens) {
      return {first_of_vector<Part, kCount * sizeof(Real)>(from)};
    } else {
      Real all[kHeld] = {};
      __builtin_memcpy(all, from, kCount * sizeof(Real));
      return loaded_whole(all);
    }
  }
  LANKY_INLINE static Line factors(const Stored* x) {
    if constexpr (!kWidens) {
      return loaded(x);
    } else {
      Line line;
#pragma GCC unroll 8
      for (int first = 0; first < kHeld; first += kRows) {
        Lanes<Real> widened;
        if constexpr (kCount < kRows) {
          const auto some = first_of_vector<Bits8, kCount * sizeof(Stored)>(x);
          widened = Elements::widened(some);
        } else {
          widened = Elements::values(x + first);
        }
#pragma GCC unroll 8
        for (int p = 0; p < cpu::kParts<Real>; ++p)
          line.part[first / kOfPart + p] = widened.part[p];
      }
      return line;
    }
  }
  LANKY_INLINE void store(Real* to) const {
    if constexpr (kCount < kHeld && !kWidens) {
      for (int i = 0; i < kCount; ++i)
        to[i] = part[0][i];
    } else if constexpr (kCount < kHeld) {
      Real all[kHeld];
      for (int p = 0; p < kParts; ++p)
        *reinterpret_cast<Unaligned*>(all + p * kOfPart) = part[p];
      __builtin_memcpy(to, all, kCount * sizeof(Real));
    } else {
#pragma GCC unroll 8
      for (int p = 0; p < kParts; ++p)
        *reinterpret_cast<Unaligned*>(to + p * kOfPart) = part[p];
    }
  }
  LANKY_INLINE void add(Real a, const Line& x) {
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p)
      part[p] += a * x.part[p];
  }
  LANKY_INLINE void merge(const Line& others) {
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p)
      part[p] += others.part[p];
  }

 private:
  LANKY_INLINE static Line loaded_whole(const Real* from) {
    Line line;
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p)
      line.part[p] = *reinterpret_cast<const Unaligned*>(from + p * kOfPart);
    return line;
  }
};

// Entries of a chunk made ready for several columns: columns of 32 bits, values as accumulators.

typedef std::int32_t Columns8 __attribute__((vector_size(32)));
typedef std::int32_t UnalignedColumns8 __attribute__((vector_size(32), aligned(4), may_alias));

template <class Code>
LANKY_INLINE Columns8 widened(const Code* codes) {
  Columns8 found;
  widen_codes(codes, reinterpret_cast<std::int32_t*>(&found));
  return found;
}

/// Slots that are made ready at once, whole steps of two times kRows.
constexpr int kTileSlots = 512;

template <class Elements>
struct Tile {
  using Real = typename Elements::Real;
  using Stored = typename Elements::Stored;
  static constexpr bool kWidens = !std::is_same_v<Real, Stored>;

  const std::int32_t* columns;
  const Real* values;

  /// Rows side by side, `steps` of them from step k on.
  LANKY_INLINE void take_beside(const Chunk& chunk, const CodeParts& parts, const Stored* from,
                                std::int64_t k, std::int64_t steps) {
    constexpr Columns8 kEach = {0, 1, 2, 3, 4, 5, 6, 7};
    take_columns(
        chunk.kind.codes, parts.codes, k * kRows,
        steps * kRows, [&](std::int64_t slot, const auto* codes) __attribute__((always_inline)) {
          const std::int32_t base = parts.bases[k + slot / kRows];
          if constexpr (std::is_same_v<decltype(codes), const std::byte*>) {
            return base + kEach;
          } else {
            return base + widened(codes + slot);
          }
        });
    take_values(from + k * kRows * Elements::kReals, steps * kRows);
  }
  /// `entries` of row i, which stands alone, from `entry` on; `first` is the row's first slot.
  LANKY_INLINE void take_alone(const Chunk& chunk, const CodeParts& parts, const Stored* from,
                               int i, std::int64_t first, std::int64_t entry,
                               std::int64_t entries) {
    constexpr Columns8 kEach = {0, 1, 2, 3, 4, 5, 6, 7};
    take_columns(
        chunk.kind.codes, parts.codes, first + entry,
        entries, [&](std::int64_t slot, const auto* codes) __attribute__((always_inline)) {
          const std::int32_t base = parts.bases[i];
          if constexpr (std::is_same_v<decltype(codes), const std::byte*>) {
            return base + static_cast<std::int32_t>(entry + slot) + kEach;
          } else {
            return base + widened(codes + slot);
          }
        });
    take_values(from + (first + entry) * Elements::kReals, entries);
  }

 private:
  /// Reads and writes up to kRows - 1 slots behind the last.
  template <class ColumnsOf>
  LANKY_INLINE void take_columns(Codes kind, const std::byte* codes, std::int64_t from,
                                 std::int64_t slots, ColumnsOf columns_of) {
    const auto take = [&](const auto* first) __attribute__((always_inline)) {
      for (std::int64_t slot = 0; slot < slots; slot += kRows)
        *reinterpret_cast<UnalignedColumns8*>(columns_ + slot) = columns_of(slot, first);
      columns = columns_;
    };
    switch (kind) {
      case Codes::none:
        return take(codes);
      case Codes::offset8:
        return take(reinterpret_cast<const std::uint8_t*>(codes) + from);
      case Codes::offset16:
        return take(reinterpret_cast<const std::uint16_t*>(codes) + from);
      case Codes::absolute:
        columns = reinterpret_cast<const std::int32_t*>(codes) + from;
    }
  }
  /// Fetches as many values as these beforehand: while steps of several columns are multiplied,
  /// values are read too slowly for processors to fetch them in time.
  LANKY_INLINE void take_values(const Stored* from, std::int64_t slots) {
    const std::int64_t bytes = slots * Elements::kReals * std::int64_t{sizeof(Stored)};
    const char* const behind = reinterpret_cast<const char*>(from) + bytes;
    for (std::int64_t byte = 0; byte < bytes; byte += 64)
      __builtin_prefetch(behind + byte);
    if constexpr (kWidens) {
      for (std::int64_t slot = 0; slot < slots; slot += kRows)
        store(values_ + slot, Elements::values(from + slot));
      values = values_;
    } else {
      values = from;
    }
  }

  alignas(64) std::int32_t columns_[kTileSlots];
  alignas(64) Real values_[kWidens ? kTileSlots : 1];
};

// Sums of a strip of columns that stand side by side in X.

/// One chunk and the first of its strip's columns.
template <class Elements>
struct StripArguments {
  const Chunk& chunk;
  const CodeParts& parts;
  const typename Elements::Stored* values;
  const typename Elements::Stored* x;
  std::int64_t pitch;             // of X's rows
  typename Elements::Real* sums;  // of the chunk's first row
  std::int64_t line;              // from a row's sums to the next row's
};

/// Accumulators that a processor's registers hold beside factors; halves are widened to 32 bytes,
/// of which AVX-512F alone has half the registers.
template <class Elements>
constexpr int kAccumulators =
    kVectorBytes == 64 && std::is_same_v<typename Elements::Real, typename Elements::Stored> ? 16
                                                                                             : 8;

template <class Elements, int kColumns>
class Strip {
 public:
  using Real = typename Elements::Real;
  using Stored = typename Elements::Stored;
  static constexpr int kReals = Elements::kReals;
  static constexpr int kLine = kColumns * kReals;
  using LineOfX = Line<Elements, kLine>;
  static constexpr int kOfLane = LineOfX::kParts * kReals;  // accumulators
  static constexpr bool kFits = kOfLane <= kAccumulators<Elements>;
  // Lanes that go through all of their slots side by side. Wide rows of X stay in the first cache
  // from one lane to the next where those are two.
  static constexpr bool kWide = kLine * sizeof(Stored) > 64;
  static constexpr int kGroup =
      static_cast<int>(greater(1, lesser(kAccumulators<Elements> / kOfLane, kWide ? 2 : kRows)));

  static void run(const StripArguments<Elements>& strip) {
    const Strip sums(strip);
    if (strip.chunk.kind.beside == 1) return sums.beside();
    std::int64_t first = 0;
    for (int i = 0; i < strip.chunk.kind.rows; ++i) {
      sums.alone(i, first);
      first += strip.parts.alone_lengths[i];
    }
  }

 private:
  static constexpr std::int64_t kAhead = 4;  // steps from the fetch of a row of X to its use
  static constexpr int kLane =
      kReals * kLine;  // of the sums of a lane: by real parts, by imaginary

  explicit Strip(const StripArguments<Elements>& strip) : strip_(strip) {}

  void beside() const {
    constexpr std::int64_t kSteps = kTileSlots / kRows;
    const Chunk& chunk = strip_.chunk;
    Real lanes[kReals == 1 ? 1 : kRows * kLane];
    Real* const sums = kReals == 1 ? strip_.sums : lanes;
    const std::int64_t line = kReals == 1 ? strip_.line : kLane;
    Tile<Elements> tile;
    std::int64_t k = 0;
    do {
      const std::int64_t steps = lesser(chunk.depth - k, kSteps);
      const std::int64_t common = greater(0, lesser(chunk.shortest - k, steps));
      tile.take_beside(chunk, strip_.parts, strip_.values, k, steps);
      for (int lane = 0; lane < kRows; lane += kGroup) {
        add_group(tile, lane, common, k == 0, sums + lane * line, line);
        if (common == steps) continue;
        for (int i = lane; i < lane + kGroup; ++i) {
          const std::int64_t end = lesser(strip_.parts.beside_lengths[i] - k, steps);
          add_slots<kRows>(tile, common * kRows + i, end - common, sums + i * line);
        }
      }
      k += steps;
    } while (k < chunk.depth);
    if constexpr (kReals != 1) {
      for (int i = 0; i < chunk.kind.rows; ++i)
        finish(lanes + i * kLane, strip_.sums + i * strip_.line);
    }
  }

  /// Row i from slot `first` on, as walk_row() adds it: lanes l and l + 4 together, whose sums meet
  /// first, so that registers hold them for many columns.
  void alone(int i, std::int64_t first) const {
    constexpr int kPairs = kRows / 2;
    constexpr int kFirst[kPairs] = {0, 2, 1, 3};  // in the order of sum_of()
    Real* const sum = strip_.sums + i * strip_.line;
    const std::int64_t entries = strip_.parts.alone_lengths[i];
    Tile<Elements> tile;
    std::int64_t count = 0;  // of the tile's entries; the last tile has what is left
    const auto take = [&](std::int64_t at) __attribute__((always_inline)) {
      count = lesser(entries - at, kTileSlots);
      tile.take_alone(strip_.chunk, strip_.parts, strip_.values, i, first, at, count);
    };
    if (entries <= kTileSlots) take(0);
    Real pairs[kPairs][kLine];
    for (int pair = 0; pair < kPairs && entries >= kRows; ++pair) {
      Pair sums;
      Pair others;
      for (std::int64_t at = 0; at < entries; at += count) {
        if (entries > kTileSlots) take(at);
        for (std::int64_t slot = kFirst[pair]; slot < count / (2 * kRows) * (2 * kRows);
             slot += 2 * kRows) {
          add_pair(tile, slot, sums);
          add_pair(tile, slot + kRows, others);
        }
      }
      if (entries >= 2 * kRows) sums.merge(others);
      if (count % (2 * kRows) >= kRows)
        add_pair(tile, count / (2 * kRows) * (2 * kRows) + kFirst[pair], sums);
      sums.finish(pairs[pair]);
    }
    for (int r = 0; r < kLine; ++r) {
      sum[r] =
          entries < kRows ? Real{0} : (pairs[0][r] + pairs[1][r]) + (pairs[2][r] + pairs[3][r]);
    }
    std::int64_t slot = count / kRows * kRows;
    if constexpr (kReals == 1) {
      add_slots<1>(tile, slot, count - slot, sum);
    } else {
      for (; slot < count; ++slot)
        add_one(tile.values + slot * kReals, strip_.x + tile.columns[slot] * strip_.pitch, sum);
    }
  }

  /// Sums of two lanes.
  struct Pair {
    LineOfX lane[2][kReals];

    LANKY_INLINE Pair() {
#pragma GCC unroll 2
      for (int l = 0; l < 2; ++l) {
#pragma GCC unroll 2
        for (int c = 0; c < kReals; ++c)
          lane[l][c] = LineOfX::zeros();
      }
    }
    LANKY_INLINE void merge(const Pair& others) {
#pragma GCC unroll 2
      for (int l = 0; l < 2; ++l) {
#pragma GCC unroll 2
        for (int c = 0; c < kReals; ++c)
          lane[l][c].merge(others.lane[l][c]);
      }
    }
    LANKY_INLINE void finish(Real* to) {
      if constexpr (kReals == 1) {
        lane[0][0].merge(lane[1][0]);
        lane[0][0].store(to);
      } else {
        Real finished[2][kLine];
#pragma GCC unroll 2
        for (int l = 0; l < 2; ++l) {
          Real both[kLane];
          lane[l][0].store(both);
          lane[l][1].store(both + kLine);
          Strip::finish(both, finished[l]);
        }
        for (int r = 0; r < kLine; ++r)
          to[r] = finished[0][r] + finished[1][r];
      }
    }
  };
  LANKY_INLINE void add_pair(const Tile<Elements>& tile, std::int64_t slot, Pair& sums) const {
#pragma GCC unroll 2
    for (int l = 0; l < 2; ++l) {
      const std::int64_t of_lane = slot + l * kRows / 2;
      const auto x = LineOfX::factors(strip_.x + tile.columns[of_lane] * strip_.pitch);
#pragma GCC unroll 2
      for (int c = 0; c < kReals; ++c)
        sums.lane[l][c].add(tile.values[of_lane * kReals + c], x);
    }
  }

  /// Lane i of a group adds slot i + k kRows behind `slot` in step k. `anew`: no sums are there
  /// before.
  LANKY_INLINE void add_group(const Tile<Elements>& tile, std::int64_t slot, std::int64_t steps,
                              bool anew, Real* sums, std::int64_t line) const {
    LineOfX group[kGroup][kReals];
#pragma GCC unroll 8
    for (int i = 0; i < kGroup; ++i) {
#pragma GCC unroll 2
      for (int c = 0; c < kReals; ++c)
        group[i][c] = anew ? LineOfX::zeros() : LineOfX::loaded(sums + i * line + c * kLine);
    }
    const std::int32_t* columns = tile.columns + slot;
    const Real* values = tile.values + slot * kReals;
    const bool scattered = strip_.chunk.kind.codes == Codes::absolute;
    for (std::int64_t k = 0; k < steps; ++k) {
      if (scattered) {
        const std::int32_t* const ahead = columns + lesser(kAhead, steps - 1 - k) * kRows;
#pragma GCC unroll 8
        for (int i = 0; i < kGroup; ++i)
          fetch(strip_.x + ahead[i] * strip_.pitch);
      }
#pragma GCC unroll 8
      for (int i = 0; i < kGroup; ++i) {
        const auto x = LineOfX::factors(strip_.x + columns[i] * strip_.pitch);
#pragma GCC unroll 2
        for (int c = 0; c < kReals; ++c)
          group[i][c].add(values[i * kReals + c], x);
      }
      columns += kRows;
      values += kRows * kReals;
    }
#pragma GCC unroll 8
    for (int i = 0; i < kGroup; ++i) {
#pragma GCC unroll 2
      for (int c = 0; c < kReals; ++c)
        group[i][c].store(sums + i * line + c * kLine);
    }
  }

  /// A row of X to the first cache, whatever its alignment.
  LANKY_INLINE static void fetch(const Stored* x) {
    constexpr int kBytes = kLine * int{sizeof(Stored)};
    const char* const from = reinterpret_cast<const char*>(x);
#pragma GCC unroll 8
    for (int byte = 0; byte < kBytes; byte += 64)
      __builtin_prefetch(from + byte);
    if constexpr (kBytes > 16) __builtin_prefetch(from + kBytes - 1);
  }

  /// One lane adds `count` slots, kStride apart.
  template <int kStride>
  LANKY_INLINE void add_slots(const Tile<Elements>& tile, std::int64_t slot, std::int64_t count,
                              Real* sums) const {
    if (count <= 0) return;
    LineOfX lane[kReals];
#pragma GCC unroll 2
    for (int c = 0; c < kReals; ++c)
      lane[c] = LineOfX::loaded(sums + c * kLine);
    for (std::int64_t k = 0; k < count; ++k, slot += kStride) {
      const auto x = LineOfX::factors(strip_.x + tile.columns[slot] * strip_.pitch);
#pragma GCC unroll 2
      for (int c = 0; c < kReals; ++c)
        lane[c].add(tile.values[slot * kReals + c], x);
    }
#pragma GCC unroll 2
    for (int c = 0; c < kReals; ++c)
      lane[c].store(sums + c * kLine);
  }

  /// ComplexElements::add_one() of each column.
  LANKY_INLINE static void add_one(const Real* a, const Real* x, Real* sum) {
    Real crossed[kLine];
#pragma GCC unroll 8
    for (int r = 0; r < kLine; r += 2) {
      crossed[r] = -x[r + 1];
      crossed[r + 1] = x[r];
    }
    const LineOfX by_real = LineOfX::loaded(x);
    const LineOfX by_imag = LineOfX::loaded(crossed);
    LineOfX sums = LineOfX::loaded(sum);
#pragma GCC unroll 8
    for (int p = 0; p < LineOfX::kParts; ++p)
      sums.part[p] += a[0] * by_real.part[p] + rounded(a[1] * by_imag.part[p]);
    sums.store(sum);
  }

  /// The sum of a lane.
  LANKY_INLINE static void finish(const Real* lane, Real* sum) {
    for (int j = 0; j < kColumns; ++j) {
      if constexpr (kReals == 1) {
        sum[j] = lane[j];
      } else {
        sum[2 * j] = lane[2 * j] - lane[kLine + 2 * j + 1];
        sum[2 * j + 1] = lane[2 * j + 1] + lane[kLine + 2 * j];
      }
    }
  }

  const StripArguments<Elements>& strip_;
};

/// Widths of strips are powers of two.
constexpr int kWidths = 6;
static_assert(1 << (kWidths - 1) == kColumnsAtOnce);

/// The strips that some columns are cut into. The last may have columns of the one before, which
/// are then multiplied twice, to the same bits: two strips take less time than one for each bit of
/// what is left.
template <class Elements>
class Strips {
 public:
  using Run = void (*)(const StripArguments<Elements>&);

  explicit Strips(int columns) {
    int done = 0;
    for (; columns - done >= kMost; done += kMost)
      add(done, kMost);
    const int left = columns - done;
    if (left == 0) return;
    int width = 1;
    while (2 * width <= left)
      width *= 2;
    add(done, width);
    int last = 1;
    while (last < left - width)
      last *= 2;
    if (left > width) add(columns - last, last);
  }

  template <class Call>
  LANKY_INLINE void for_each(Call call) const {
    for (int i = 0; i < count_; ++i)
      call(first_[i], run_[i]);
  }

 private:
  template <int kColumns>
  static constexpr int most() {
    if constexpr (Strip<Elements, kColumns>::kFits) {
      return kColumns;
    } else {
      return most<kColumns / 2>();
    }
  }
  static constexpr int kMost = most<kColumnsAtOnce>();

  template <int kColumns>
  static constexpr Run run_of(int width) {
    if constexpr (kColumns > 1) {
      if (width < kColumns) return run_of<kColumns / 2>(width);
    }
    return Strip<Elements, kColumns>::run;
  }

  void add(int first, int width) {
    first_[count_] = first;
    run_[count_] = run_of<kMost>(width);
    ++count_;
  }

  int count_ = 0;
  int first_[kColumnsAtOnce / kMost + 2];
  Run run_[kColumnsAtOnce / kMost + 2];
};

// Sums of columns whose elements stand side by side in X.

/// Columns that are multiplied at once, of which a value and the code of its column are read once.
template <class Elements>
constexpr int kTogether = 4 / Elements::kReals;

/// walk_beside() of kColumns columns, `pitch` from one to the next.
template <class Elements, int kBytes, int kColumns>
LANKY_INLINE void walk_columns(const Chunk& chunk, const CodeParts& parts,
                               const typename Elements::Stored* values,
                               const typename Elements::Stored* x, std::int64_t pitch,
                               typename Elements::Real* found) {
  using Real = typename Elements::Real;
  using Code = typename CodeOf<kBytes>::Type;
  constexpr int kReals = Elements::kReals;
  const auto* const codes = reinterpret_cast<const Code*>(parts.codes);
  const auto factors = [&](std::int64_t k, int j) __attribute__((always_inline)) {
    const auto* from = x + j * pitch;
    if constexpr (kBytes != 4) from += std::int64_t{parts.bases[k]} * kReals;
    if constexpr (kBytes == 0) {
      return Elements::contiguous(from);
    } else {
      return Elements::gathered(from, codes + k * kRows);
    }
  };
  typename Elements::Sums sums[kColumns];
  std::int64_t k = 0;
  for (; k < chunk.shortest; ++k) {
    const auto a = Elements::values(values + k * kRows * kReals);
#pragma GCC unroll 4
    for (int j = 0; j < kColumns; ++j)
      Elements::add(sums[j], a, factors(k, j));
  }
  if (k < chunk.depth) {
    const auto lengths = lengths_of<Elements>(parts);
    for (; k < chunk.depth; ++k) {
      const auto a = Elements::values(values + k * kRows * kReals);
      const auto masks = active_of<Elements>(lengths, static_cast<Real>(k));
#pragma GCC unroll 4
      for (int j = 0; j < kColumns; ++j)
        add_masked<Elements>(sums[j], a, factors(k, j), masks);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kColumns; ++j)
    Elements::stored(found + j * kRows * kReals, Elements::finished(sums[j]));
}

/// Sums [columns, kRows] of one chunk.
template <class Elements, int kBytes>
void vector_sums(const Chunk& chunk, const CodeParts& parts,
                 const typename Elements::Stored* values, const typename Elements::Stored* x,
                 std::int64_t pitch, int columns, typename Elements::Real* sums) {
  constexpr int kSums = kRows * Elements::kReals;
  int j = 0;
  if (chunk.kind.beside == 1) {
    constexpr int kMost = kTogether<Elements>;
    for (; j + kMost <= columns; j += kMost) {
      walk_columns<Elements, kBytes, kMost>(chunk, parts, values, x + j * pitch, pitch,
                                            sums + j * kSums);
    }
    if (kMost > 2 && j + 2 <= columns) {
      walk_columns<Elements, kBytes, 2>(chunk, parts, values, x + j * pitch, pitch,
                                        sums + j * kSums);
      j += 2;
    }
    if (j < columns) {
      walk_columns<Elements, kBytes, 1>(chunk, parts, values, x + j * pitch, pitch,
                                        sums + j * kSums);
    }
    return;
  }
  for (; j < columns; ++j)
    walk_alone<Elements, kBytes>(chunk, parts, values, x + j * pitch, sums + j * kSums);
}
template <class Elements>
constexpr auto kVectorSums = [](Codes codes) {
  switch (codes) {
    case Codes::none:
      return vector_sums<Elements, 0>;
    case Codes::offset8:
      return vector_sums<Elements, 1>;
    case Codes::offset16:
      return vector_sums<Elements, 2>;
    default:
      return vector_sums<Elements, 4>;
  }
};

/// Rows of several columns.
template <class Types>
class RowsWriter {
 public:
  using Elements = typename Types::Elements;
  using Real = typename Types::Real;
  static constexpr int kReals = Types::kReals;
  static constexpr std::uint16_t kEach[kRows] = {0, 1, 2, 3, 4, 5, 6, 7};

  explicit RowsWriter(const ColumnsArguments& task)
      : writer_(task), columns_(task.columns), strides_(task.y_strides) {}

  bool by_rows() const { return strides_.column == 1; }

  /// sums [rows, columns], and what is behind up to kRows accumulators may be read. `listed`:
  /// distances of rows from the first.
  LANKY_INLINE void write(std::int64_t first_row, int rows, const std::uint16_t* listed,
                          const Real* sums) const {
    const int line = columns_ * kReals;
    if (!by_rows()) {
      for (int j = 0; j < columns_; ++j) {
        Real column[kReals * kRows] = {};
        for (int i = 0; i < rows; ++i)
          __builtin_memcpy(column + i * kReals, sums + i * line + j * kReals,
                           kReals * sizeof(Real));
        write_column(j, first_row, rows, listed, column);
      }
    } else if (listed == kEach && strides_.row == columns_) {
      write_elements(first_row * columns_, rows * columns_, sums);
    } else {
      for (int i = 0; i < rows; ++i)
        write_elements((first_row + listed[i]) * strides_.row, columns_, sums + i * line);
    }
  }
  /// sums [kRows] of column j, which stands side by side.
  LANKY_INLINE void write_column(int j, std::int64_t first_row, int rows,
                                 const std::uint16_t* listed, const Real* sums) const {
    const std::int64_t at = first_row + j * strides_.column;
    if (listed == kEach && rows == kRows) {
      writer_.consecutive(at, Elements::loaded(sums));
    } else {
      writer_.listed(at, rows, listed, Elements::loaded(sums));
    }
  }

 private:
  /// `count` elements from `at` on.
  LANKY_INLINE void write_elements(std::int64_t at, int count, const Real* sums) const {
    int done = 0;
    for (; done + kRows <= count; done += kRows)
      writer_.consecutive(at + done, Elements::loaded(sums + done * kReals));
    if constexpr (kReals == 1 && std::is_same_v<Real, typename Types::Result>) {
      done = write_some<4>(at, done, count, sums);
      done = write_some<2>(at, done, count, sums);
      write_some<1>(at, done, count, sums);
    } else if (done < count) {
      writer_.listed(at + done, count - done, kEach, Elements::loaded(sums + done * kReals));
    }
  }
  /// kCount elements where there are as many, by vectors as wide as those that stored their sums:
  /// wider ones would wait until the stores are done. Returns how many are written.
  template <int kCount>
  LANKY_INLINE int write_some(std::int64_t at, int done, int count, const Real* sums) const {
    if (done + kCount > count) return done;
    writer_.template some<Line<PlainElements<Real>, kCount>>(at + done, sums + done);
    return done + kCount;
  }

  Writer<Types> writer_;
  int columns_;
  Strides strides_;
};

template <class Types>
void run_columns(const ColumnsArguments& task) {
  using Elements = typename Types::Elements;
  using Real = typename Types::Real;
  using Stored = typename Elements::Stored;
  constexpr int kReals = Types::kReals;
  const auto* const x = static_cast<const Stored*>(task.x);
  const bool x_by_rows = task.x_strides.column == 1;
  const Strips<Elements> strips(task.columns);
  const RowsWriter<Types> writer(task);
  const std::int64_t line = std::int64_t{task.columns} * kReals;
  alignas(64) Real sums[kRows * (kColumnsAtOnce + 1) * kReals] = {};
  Place<Elements> place{task.chunks, task.codes, static_cast<const Stored*>(task.values)};
  while (place.chunk != task.chunks_end) {
    const Chunk& chunk = *place.chunk;
    const CodeParts parts = parts_of(chunk, place.codes);
    const std::uint16_t* const listed =
        chunk.kind.target == Target::listed ? parts.listed : RowsWriter<Types>::kEach;
    bool written = false;
    if (x_by_rows) {
      strips.for_each([&](int first, auto run) {
        run({chunk, parts, place.values, x + first * kReals, task.x_strides.row * kReals,
             sums + first * kReals, line});
      });
    } else {
      constexpr int kSums = kRows * kReals;
      Real by_columns[kColumnsAtOnce * kSums] = {};
      kVectorSums<Elements>(chunk.kind.codes)(
          chunk, parts, place.values, x, task.x_strides.column * kReals, task.columns, by_columns);
      written = !writer.by_rows() && chunk.kind.target != Target::partial;
      for (int j = 0; j < task.columns; ++j) {
        if (written) {
          writer.write_column(j, chunk.first_row, chunk.kind.rows, listed, by_columns + j * kSums);
          continue;
        }
        for (int i = 0; i < kRows; ++i)
          __builtin_memcpy(sums + i * line + j * kReals, by_columns + j * kSums + i * kReals,
                           kReals * sizeof(Real));
      }
    }
    if (chunk.kind.target == Target::partial) {
      Real* const partials = static_cast<Real*>(task.partials) +
                             std::int64_t{chunk.first_row} * kColumnsAtOnce * kReals;
      __builtin_memcpy(partials, sums, line * sizeof(Real));
    } else if (!written) {
      writer.write(chunk.first_row, chunk.kind.rows, listed, sums);
    }
    place.pass(slots_of(chunk, parts));
  }
}

template <class Types>
void write_columns(const ColumnsArguments& task, std::int64_t row, const void* sums) {
  using Real = typename Types::Real;
  Real padded[(kColumnsAtOnce + kRows) * Types::kReals] = {};
  __builtin_memcpy(padded, sums, task.columns * Types::kReals * sizeof(Real));
  RowsWriter<Types>(task).write(row, 1, RowsWriter<Types>::kEach, padded);
}

template <class Types>
constexpr ChunkKernel kKernel = {run_task<Types>, write_row<Types>, run_columns<Types>,
                                 write_columns<Types>};

using F16 = HalfElements<widened_f16>;
using Bf16 = HalfElements<widened_bf16>;

constexpr ChunkKernels kKernels = {
    kIsa,
    kKernel<Types<PlainElements<double>, double, nullptr, nullptr>>,
    kKernel<Types<PlainElements<float>, float, nullptr, nullptr>>,
    kKernel<Types<F16, std::uint16_t, narrow_f16, widen_f16>>,
    kKernel<Types<F16, float, nullptr, nullptr>>,
    kKernel<Types<Bf16, std::uint16_t, narrow_bf16, widen_bf16>>,
    kKernel<Types<Bf16, float, nullptr, nullptr>>,
    kKernel<Types<ComplexElements<float>, float, nullptr, nullptr>>,
    kKernel<Types<ComplexElements<double>, double, nullptr, nullptr>>};

}  // namespace

}  // namespace lanky::sparse::cpu
