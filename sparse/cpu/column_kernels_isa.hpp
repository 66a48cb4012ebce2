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
      part[p] = fused(in_each_lane<Part>(a), x.part[p], part[p]);
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

/// A row of X for lanes that have ended: their values are 0, and 0 times this is -0, which changes
/// no sum whatever it is. Halves: a negative number of both kinds.
template <class Stored, int kCount>
struct EndedRow {
  alignas(64) Stored element[kCount];
  constexpr EndedRow() : element() {
    for (Stored& each : element)
      each = std::is_same_v<Stored, std::uint16_t> ? Stored(0xbc00) : Stored(-1);
  }
};
template <class Stored, int kCount>
constexpr EndedRow<Stored, kCount> kEndedRow;

/// kCount values from `from` on as accumulators: halves are widened into memory, since vectors give
/// up single elements slowly.
template <class Elements, int kCount>
class Factors {
 public:
  using Real = typename Elements::Real;
  using Stored = typename Elements::Stored;
  static constexpr bool kWidens = !std::is_same_v<Real, Stored>;

  LANKY_INLINE explicit Factors(const Stored* from) {
    if constexpr (kWidens) {
#pragma GCC unroll 2
      for (int i = 0; i < kCount; i += kRows)
        store(widened_ + i, Elements::values(from + i));
    } else {
      values_ = from;
    }
  }
  LANKY_INLINE Real operator[](int real) const {
    if constexpr (kWidens) {
      return widened_[real];
    } else {
      return values_[real];
    }
  }

 private:
  const Real* values_ = nullptr;
  Real widened_[kWidens ? kCount : 1];
};

// Sums of a strip of columns that stand side by side in X.

/// Rows of Y that sums of a strip go to from registers, where results are accumulators.
template <class Real>
struct RowsOfY {
  Real* first;  // of the chunk's rows, in the strip's first column
  std::int64_t pitch;
  const std::uint16_t* listed;  // distances of rows from the first
  int rows;
  Real alpha;
  Real beta;

  template <class LineOfY>
  LANKY_INLINE void write(int i, const LineOfY& sums) const {
    if (i >= rows) return;
    Real* const y = first + listed[i] * pitch;
    LineOfY found;
#pragma GCC unroll 8
    for (int p = 0; p < LineOfY::kParts; ++p)
      found.part[p] = alpha * sums.part[p];
    if (beta != 0) {
      const auto old = LineOfY::loaded(y);
#pragma GCC unroll 8
      for (int p = 0; p < LineOfY::kParts; ++p)
        found.part[p] =
            fused(in_each_lane<typename LineOfY::Part>(beta), old.part[p], found.part[p]);
    }
    found.store(y);
  }
};

/// One chunk and the first of its strip's columns.
template <class Elements>
struct StripArguments {
  const Chunk& chunk;
  const CodeParts& parts;
  const typename Elements::Stored* values;
  const typename Elements::Stored* x;
  std::int64_t pitch;                         // of X's rows
  typename Elements::Real* sums;              // of the chunk's first row
  std::int64_t line;                          // from a row's sums to the next row's
  const RowsOfY<typename Elements::Real>* y;  // instead of sums; nullptr: those are stored
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
  // Lanes that go through all of their slots side by side.
  static constexpr bool kWide = kLine * sizeof(Stored) > 128;
  static constexpr int kGroup =
      static_cast<int>(greater(1, lesser(kAccumulators<Elements> / kOfLane, kWide ? 4 : kRows)));

  static void run(const StripArguments<Elements>& strip) {
    switch (strip.chunk.kind.codes) {
      case Codes::none:
        return Strip(strip).template any<0>();
      case Codes::offset8:
        return Strip(strip).template any<1>();
      case Codes::offset16:
        return Strip(strip).template any<2>();
      case Codes::absolute:
        return Strip(strip).template any<4>();
    }
  }

 private:
  static constexpr std::int64_t kAhead = 4;  // steps from the fetch of a row of X to its use
  static constexpr std::int64_t kValuesAhead = 512;  // slots, likewise
  static constexpr int kLane =
      kReals * kLine;  // of the sums of a lane: by real parts, by imaginary

  explicit Strip(const StripArguments<Elements>& strip) : strip_(strip) {}

  template <int kBytes>
  LANKY_INLINE void any() const {
    if (strip_.chunk.kind.beside == 1) return beside<kBytes>();
    std::int64_t first = 0;
    for (int i = 0; i < strip_.chunk.kind.rows; ++i) {
      alone<kBytes>(i, first);
      first += strip_.parts.alone_lengths[i];
    }
  }

  template <int kBytes>
  LANKY_INLINE const auto* codes() const {
    return reinterpret_cast<const typename CodeOf<kBytes>::Type*>(strip_.parts.codes);
  }
  /// While steps of several columns are multiplied, values are read too slowly for processors to
  /// fetch them in time.
  LANKY_INLINE static void fetch_values(const Stored* values) {
    __builtin_prefetch(values + kValuesAhead * kReals);
  }

  template <int kBytes>
  LANKY_INLINE void beside() const {
    const Chunk& chunk = strip_.chunk;
    for (int lane = 0; lane < kRows; lane += kGroup) {
      LineOfX group[kGroup][kReals];
#pragma GCC unroll 8
      for (int i = 0; i < kGroup; ++i) {
#pragma GCC unroll 2
        for (int c = 0; c < kReals; ++c)
          group[i][c] = LineOfX::zeros();
      }
      add_steps<kBytes, false>(lane, 0, chunk.shortest, group);
      if (chunk.shortest < chunk.depth) {
        int longest = 0;
#pragma GCC unroll 8
        for (int i = 0; i < kGroup; ++i) {
          const int length = strip_.parts.beside_lengths[lane + i];
          longest = longest < length ? length : longest;
        }
        add_steps<kBytes, true>(lane, chunk.shortest, longest, group);
      }
#pragma GCC unroll 8
      for (int i = 0; i < kGroup; ++i)
        put(lane + i, finished(group[i]));
    }
  }

  /// Lanes from `lane` on add steps k to `end`. `kEnds`: some lanes end before.
  template <int kBytes, bool kEnds>
  LANKY_INLINE void add_steps(int lane, std::int64_t k, std::int64_t end,
                              LineOfX (&group)[kGroup][kReals]) const {
    for (; k < end; ++k) {
      const Stored* const values = strip_.values + k * kRows * kReals;
      if (lane == 0) fetch_values(values);
      const Factors<Elements, kRows * kReals> factors(values);
      const Stored* from = strip_.x;
      if constexpr (kBytes != 4) from += strip_.parts.bases[k] * strip_.pitch;
      const auto* const codes_of_step = codes<kBytes>() + k * kRows + lane;
      if constexpr (kBytes == 4 && !kEnds) {
        const auto* const ahead = codes_of_step + lesser(kAhead, end - 1 - k) * kRows;
#pragma GCC unroll 8
        for (int i = 0; i < kGroup; ++i)
          fetch(from + ahead[i] * strip_.pitch);
      }
#pragma GCC unroll 8
      for (int i = 0; i < kGroup; ++i) {
        std::int64_t column = lane + i;
        if constexpr (kBytes != 0) column = codes_of_step[i];
        const Stored* row = from + column * strip_.pitch;
        if constexpr (kEnds) {
          row = k < strip_.parts.beside_lengths[lane + i]
                    ? row
                    : kEndedRow<Stored, LineOfX::kHeld>.element;
        }
        const auto x = LineOfX::factors(row);
#pragma GCC unroll 2
        for (int c = 0; c < kReals; ++c)
          group[i][c].add(factors[(lane + i) * kReals + c], x);
      }
    }
  }

  /// Row i from slot `first` on, as walk_row() adds it: as many pairs of lanes l and l + 4 together
  /// as registers hold.
  template <int kBytes>
  LANKY_INLINE void alone(int i, std::int64_t first) const {
    constexpr int kPairs = kRows / 2;
    constexpr int kAtOnce =
        static_cast<int>(greater(1, lesser(kPairs, kAccumulators<Elements> / kOfLane / 4)));
    const std::int64_t entries = strip_.parts.alone_lengths[i];
    const Row<kBytes> row = {entries, strip_.values + first * kReals,
                             strip_.x + (kBytes == 4 ? 0 : strip_.parts.bases[i] * strip_.pitch),
                             codes<kBytes>() + first, strip_.pitch};
    LineOfX total = LineOfX::zeros();
    if (entries >= kRows) {
      LineOfX found[kPairs / kAtOnce];
      sum_passes<kBytes, kAtOnce, 0>(row, found);
      total = met_of(found);
    }
    const std::int64_t last = entries / kRows * kRows;
    const Factors<Elements, kRows * kReals> factors(row.values + last * kReals);
    for (int e = 0; e < entries - last; ++e)
      add_one(factors, e, row.of_x(last + e), total);
    put(i, total);
  }

  LANKY_INLINE void put(int i, const LineOfX& sums) const {
    if constexpr (kReals == 1) {
      if (strip_.y != nullptr) return strip_.y->write(i, sums);
    }
    sums.store(strip_.sums + i * strip_.line);
  }

  /// A row that stands alone.
  template <int kBytes>
  struct Row {
    std::int64_t entries;
    const Stored* values;
    const Stored* x;
    const typename CodeOf<kBytes>::Type* codes;
    std::int64_t pitch;

    LANKY_INLINE const Stored* of_x(std::int64_t entry) const {
      std::int64_t column = entry;
      if constexpr (kBytes != 0) column = codes[entry];
      return x + column * pitch;
    }
  };

  /// The sums of kAtOnce pairs from pair kPass kAtOnce on, and of those behind.
  template <int kBytes, int kAtOnce, int kPass, int kPasses>
  LANKY_INLINE static void sum_passes(const Row<kBytes>& row, LineOfX (&found)[kPasses]) {
    constexpr int kSums = 2 * kRows;
    Pair sums[kAtOnce];
    Pair others[kAtOnce];
    std::int64_t e = 0;
    for (; e + kSums <= row.entries; e += kSums) {
      if (kPass == 0) fetch_values(row.values + e * kReals);
      const Factors<Elements, kSums * kReals> factors(row.values + e * kReals);
#pragma GCC unroll 4
      for (int p = 0; p < kAtOnce; ++p)
        sums[p].add(row, e, kFirst[kPass * kAtOnce + p], factors);
#pragma GCC unroll 4
      for (int p = 0; p < kAtOnce; ++p)
        others[p].add(row, e, kRows + kFirst[kPass * kAtOnce + p], factors);
    }
    if (row.entries >= kSums) {
#pragma GCC unroll 4
      for (int p = 0; p < kAtOnce; ++p)
        sums[p].merge(others[p]);
    }
    if (e + kRows <= row.entries) {
      const Factors<Elements, kRows * kReals> factors(row.values + e * kReals);
#pragma GCC unroll 4
      for (int p = 0; p < kAtOnce; ++p)
        sums[p].add(row, e, kFirst[kPass * kAtOnce + p], factors);
    }
    LineOfX met[kAtOnce];
#pragma GCC unroll 4
    for (int p = 0; p < kAtOnce; ++p) {
      met[p] = finished(sums[p].lane[0]);
      met[p].merge(finished(sums[p].lane[1]));
    }
    found[kPass] = met_of(met);
    if constexpr (kPass + 1 < kPasses) sum_passes<kBytes, kAtOnce, kPass + 1>(row, found);
  }
  static constexpr int kFirst[kRows / 2] = {0, 2, 1, 3};  // lanes, in the order of sum_of()

  /// (0 + 1) + (2 + 3) of so many.
  template <int kCount>
  LANKY_INLINE static LineOfX met_of(const LineOfX (&lines)[kCount]) {
    LineOfX met = lines[0];
    if constexpr (kCount == 2) {
      met.merge(lines[1]);
    } else if constexpr (kCount == 4) {
      LineOfX others = lines[2];
      others.merge(lines[3]);
      met.merge(lines[1]);
      met.merge(others);
    }
    return met;
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
    /// Entry e + l of the row, and e + l + 4.
    template <int kBytes, int kCount>
    LANKY_INLINE void add(const Row<kBytes>& row, std::int64_t e, int l,
                          const Factors<Elements, kCount>& factors) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half, l += kRows / 2) {
        const auto x = LineOfX::factors(row.of_x(e + l));
#pragma GCC unroll 2
        for (int c = 0; c < kReals; ++c)
          lane[half][c].add(factors[l * kReals + c], x);
      }
    }
  };

  /// A row of X to the first cache, whatever its alignment.
  LANKY_INLINE static void fetch(const Stored* x) {
    constexpr int kBytes = kLine * int{sizeof(Stored)};
    const char* const from = reinterpret_cast<const char*>(x);
#pragma GCC unroll 8
    for (int byte = 0; byte < kBytes; byte += 64)
      __builtin_prefetch(from + byte);
    if constexpr (kBytes > 16) __builtin_prefetch(from + kBytes - 1);
  }

  /// Elements::add_one() of each column.
  LANKY_INLINE static void add_one(const Factors<Elements, kRows * kReals>& a, int e,
                                   const Stored* x, LineOfX& sum) {
    const auto by_real = LineOfX::factors(x);
    if constexpr (kReals == 1) {
      sum.add(a[e], by_real);
    } else {
      Real crossed[kLine];
#pragma GCC unroll 8
      for (int r = 0; r < kLine; r += 2) {
        crossed[r] = -x[r + 1];
        crossed[r + 1] = x[r];
      }
      const LineOfX by_imag = LineOfX::loaded(crossed);
#pragma GCC unroll 8
      for (int p = 0; p < LineOfX::kParts; ++p)
        sum.part[p] += fused(in_each_lane<typename LineOfX::Part>(a[2 * e]), by_real.part[p],
                             a[2 * e + 1] * by_imag.part[p]);
    }
  }

  /// The sum of a lane.
  LANKY_INLINE static LineOfX finished(const LineOfX (&lane)[kReals]) {
    if constexpr (kReals == 1) {
      return lane[0];
    } else {
      Real by_real[kLine];
      Real by_imag[kLine];
      lane[0].store(by_real);
      lane[1].store(by_imag);
      for (int r = 0; r < kLine; r += 2) {
        by_real[r] -= by_imag[r + 1];
        by_real[r + 1] += by_imag[r];
      }
      return LineOfX::loaded(by_real);
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
    disjoint_ = left == width || columns - last == done + width;
    if (left > width) add(columns - last, last);
  }

  bool disjoint() const { return disjoint_; }
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

  bool disjoint_ = true;
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
      std::int32_t at[kRows];  // of rows, in elements; what is behind the last is not written
      for (int i = 0; i < kRows; ++i)
        at[i] = (i < rows ? i : 0) * columns_;
      for (int j = 0; j < columns_; ++j)
        write_column(j, first_row, rows, listed, column_of(sums + j * kReals, at));
    } else if (listed == kEach && strides_.row == columns_) {
      write_elements(first_row * columns_, rows * columns_, sums);
    } else {
      for (int i = 0; i < rows; ++i)
        write_elements((first_row + listed[i]) * strides_.row, columns_, sums + i * line);
    }
  }
  /// Sums of column j.
  LANKY_INLINE void write_column(int j, std::int64_t first_row, int rows,
                                 const std::uint16_t* listed,
                                 const typename Types::Values& sums) const {
    const std::int64_t at = first_row + j * strides_.column;
    if (listed == kEach && rows == kRows) {
      writer_.consecutive(at, sums);
    } else {
      writer_.listed(at, rows, listed, sums);
    }
  }

 private:
  /// In registers: a vector would wait for the single elements of it that were stored before.
  LANKY_INLINE static typename Types::Values column_of(const Real* sums, const std::int32_t* at) {
    if constexpr (kReals == 1) {
      return gather(sums, at);
    } else {
      return Elements::gathered(sums, at);
    }
  }
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
  constexpr bool kDirect = kReals == 1 && std::is_same_v<Real, typename Types::Result>;
  const bool direct_y = kDirect && task.y_strides.column == 1 && strips.disjoint();
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
      const bool direct = direct_y && chunk.kind.target != Target::partial;
      strips.for_each([&](int first, auto run) {
        RowsOfY<Real> y{};
        if constexpr (kDirect) {
          y = {static_cast<Real*>(task.y) + chunk.first_row * task.y_strides.row + first,
               task.y_strides.row,
               listed,
               chunk.kind.rows,
               *static_cast<const Real*>(task.alpha),
               *static_cast<const Real*>(task.beta)};
        }
        run({chunk, parts, place.values, x + first * kReals, task.x_strides.row * kReals,
             sums + first * kReals, line, direct ? &y : nullptr});
      });
      written = direct;
    } else {
      constexpr int kSums = kRows * kReals;
      Real by_columns[kColumnsAtOnce * kSums] = {};
      kVectorSums<Elements>(chunk.kind.codes)(
          chunk, parts, place.values, x, task.x_strides.column * kReals, task.columns, by_columns);
      written = !writer.by_rows() && chunk.kind.target != Target::partial;
      for (int j = 0; j < task.columns; ++j) {
        if (written) {
          writer.write_column(j, chunk.first_row, chunk.kind.rows, listed,
                              Elements::loaded(by_columns + j * kSums));
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
                                 write_columns<Types>, add_dots<typename Types::Elements>};

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
