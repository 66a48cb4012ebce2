#include "sparse/cpu/pack_chunks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <lanky/error.hpp>
#include <limits>
#include <vector>

#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/cpu/chunk_scopes.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cpu {

namespace {

// A task has about so much work, in slots, and more where there would be too many of them: some
// microseconds, so that the last ones to end keep no thread waiting for long.
constexpr std::int64_t kTaskWork = 8192;
constexpr std::int64_t kTasksMost = 512;
constexpr std::int64_t kRowWork = 4;  // of a row, besides its entries

/// Scopes and pieces of cut rows, dealt to tasks by row lengths alone.
class Deal {
 public:
  Deal(const CsrPattern& a, const ChunkShape& shape) : a_(a), shape_(shape) {
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const std::int64_t length = a.row_offsets[row + 1] - a.row_offsets[row];
      if (!is_cut(length)) continue;
      cut_rows_.push_back(static_cast<std::int32_t>(row));
      cut_starts_.push_back(cut_starts_.back() + pieces_of_cut(length));
      cut_entries_ += length;
    }
    if (cut_starts_.back() > std::numeric_limits<std::int32_t>::max()) {
      throw Error(ErrorCode::unsupported,
                  concat("rows of more than ", kCutEntries, " entries have ", cut_entries_,
                         " in all, more than partial sums are numbered for"));
    }
    deal_scopes();
    const std::int64_t pieces = cut_starts_.back();
    pieces_of_task_ = std::max<std::int64_t>(1, (pieces + kTasksMost - 1) / kTasksMost);
    piece_tasks_ = (pieces + pieces_of_task_ - 1) / pieces_of_task_;
  }

  std::int64_t tasks() const { return scope_tasks() + piece_tasks_; }
  const std::vector<std::int32_t>& cut_rows() const { return cut_rows_; }
  const std::vector<std::int64_t>& cut_starts() const { return cut_starts_; }
  std::int64_t cut_entries() const { return cut_entries_; }

  std::int64_t chunks_of(std::int64_t task) const {
    if (task >= scope_tasks()) return piece_end(task) - piece_begin(task);
    if (cut_rows_.empty()) {  // all scopes but the last one are whole
      const std::int64_t first = first_scope_[task] * shape_.scope;
      const std::int64_t last = std::min(first_scope_[task + 1] * shape_.scope, a_.rows);
      return (last - first + kChunkRows - 1) / kChunkRows;
    }
    std::int64_t chunks = 0;
    for (std::int64_t scope = first_scope_[task]; scope < first_scope_[task + 1]; ++scope)
      chunks += (uncut_rows(scope) + kChunkRows - 1) / kChunkRows;
    return chunks;
  }

  /// Places the chunks of a task, one after another.
  template <class Visit>
  void for_each_chunk(std::int64_t task, Visit visit) const {
    if (task >= scope_tasks()) {
      auto row = std::upper_bound(cut_starts_.begin(), cut_starts_.end(), piece_begin(task)) -
                 cut_starts_.begin() - 1;
      for (std::int64_t piece = piece_begin(task); piece < piece_end(task); ++piece) {
        if (piece == cut_starts_[row + 1]) ++row;
        PlannedChunk planned = place_piece(a_, cut_rows_[row], piece - cut_starts_[row],
                                           static_cast<std::int32_t>(piece));
        visit(planned);
      }
      return;
    }
    ScopeOrder order;
    for (std::int64_t scope = first_scope_[task]; scope < first_scope_[task + 1]; ++scope) {
      const std::int64_t first = scope * shape_.scope;
      const std::int64_t last = std::min<std::int64_t>(first + shape_.scope, a_.rows);
      const auto rows = order.of(a_, first, last, shape_.scope > kChunkRows);
      for (std::size_t i = 0; i < rows.size(); i += kChunkRows) {
        const std::size_t count = std::min<std::size_t>(kChunkRows, rows.size() - i);
        PlannedChunk planned = place_chunk(a_, first, rows.subspan(i, count), shape_);
        visit(planned);
      }
    }
  }

 private:
  std::int64_t scope_tasks() const { return static_cast<std::int64_t>(first_scope_.size()) - 1; }
  std::int64_t piece_begin(std::int64_t task) const {
    return (task - scope_tasks()) * pieces_of_task_;
  }
  std::int64_t piece_end(std::int64_t task) const {
    return std::min(piece_begin(task) + pieces_of_task_, cut_starts_.back());
  }

  std::int64_t uncut_rows(std::int64_t scope) const {
    const std::int64_t first = scope * shape_.scope;
    const std::int64_t last = std::min<std::int64_t>(first + shape_.scope, a_.rows);
    const auto from = std::lower_bound(cut_rows_.begin(), cut_rows_.end(), first);
    return last - first - (std::lower_bound(from, cut_rows_.end(), last) - from);
  }

  /// Work before a row, cut rows included.
  std::int64_t work_before(std::int64_t row) const { return a_.row_offsets[row] + kRowWork * row; }

  void deal_scopes() {
    const std::int64_t scopes = scopes_of(a_.rows, shape_);
    const std::int64_t work = work_before(a_.rows);
    const std::int64_t tasks = std::clamp<std::int64_t>(work / kTaskWork, 1, kTasksMost);
    first_scope_.push_back(0);
    for (std::int64_t task = 1; task < tasks; ++task) {
      const std::int64_t target = work * task / tasks;
      std::int64_t low = first_scope_.back();
      std::int64_t high = scopes;
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (work_before(middle * shape_.scope) < target) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (low > first_scope_.back() && low < scopes) first_scope_.push_back(low);
    }
    if (scopes > 0) first_scope_.push_back(scopes);
  }

  const CsrPattern& a_;
  const ChunkShape& shape_;
  std::vector<std::int64_t> first_scope_;  // [tasks of scopes + 1]
  std::vector<std::int32_t> cut_rows_;
  std::vector<std::int64_t> cut_starts_ = {0};
  std::int64_t cut_entries_ = 0;
  std::int64_t pieces_of_task_ = 1;
  std::int64_t piece_tasks_ = 0;
};

template <class Code>
Code* codes_at(const std::byte* at) {
  return reinterpret_cast<Code*>(const_cast<std::byte*>(at));
}

/// Writes the codes of rows side by side.
template <class Code>
void write_beside(const CsrPattern& a, const PlannedChunk& planned, const CodeParts& parts) {
  const Chunk& chunk = planned.chunk;
  constexpr bool kHasBases = !std::is_same_v<Code, std::int32_t>;
  auto* const bases = const_cast<std::int32_t*>(parts.bases);
  auto* const codes = codes_at<Code>(parts.codes);
  for (std::int64_t k = 0; k < chunk.shortest; ++k) {
    std::array<std::int32_t, kChunkRows> columns;
#pragma GCC unroll 8
    for (int i = 0; i < kChunkRows; ++i)
      columns[i] = a.columns[planned.begin[i] + k] - a.index_base;
    std::int32_t least = 0;
    if constexpr (kHasBases) {
      least = *std::min_element(columns.begin(), columns.end());
      bases[k] = least;
    }
#pragma GCC unroll 8
    for (int i = 0; i < kChunkRows; ++i)
      codes[k * kChunkRows + i] = static_cast<Code>(columns[i] - least);
  }
  for (std::int64_t k = chunk.shortest; k < chunk.depth; ++k) {
    std::array<std::int32_t, kChunkRows> columns;
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (int i = 0; i < chunk.kind.rows; ++i) {
      if (k >= planned.length[i]) continue;
      columns[i] = a.columns[planned.begin[i] + k] - a.index_base;
      least = std::min(least, columns[i]);
    }
    if constexpr (kHasBases) bases[k] = least;
    for (int i = 0; i < kChunkRows; ++i) {
      const bool there = i < chunk.kind.rows && k < planned.length[i];
      const std::int32_t column = there ? columns[i] : least;
      codes[k * kChunkRows + i] = static_cast<Code>(kHasBases ? column - least : column);
    }
  }
}

/// Writes those of rows alone.
template <class Code>
void write_alone(const CsrPattern& a, const PlannedChunk& planned, const CodeParts& parts) {
  constexpr bool kHasBases = !std::is_same_v<Code, std::int32_t>;
  auto* codes = codes_at<Code>(parts.codes);
  for (int i = 0; i < planned.chunk.kind.rows; ++i) {
    const std::int32_t* const columns = a.columns + planned.begin[i];
    std::int32_t base = a.index_base;
    if constexpr (kHasBases) {
      if (planned.length[i] > 0) base = *std::min_element(columns, columns + planned.length[i]);
      const_cast<std::int32_t*>(parts.bases)[i] = base - a.index_base;
    }
    for (std::int64_t k = 0; k < planned.length[i]; ++k)
      *codes++ = static_cast<Code>(columns[k] - base);
  }
}

/// Bases alone: columns follow from them.
void write_bases(const CsrPattern& a, const PlannedChunk& planned, const CodeParts& parts) {
  auto* const bases = const_cast<std::int32_t*>(parts.bases);
  if (planned.chunk.kind.beside == 1) {
    for (std::int64_t k = 0; k < planned.chunk.depth; ++k)
      bases[k] = a.columns[planned.begin[0] + k] - a.index_base;
  } else {
    for (int i = 0; i < planned.chunk.kind.rows; ++i)
      bases[i] = planned.length[i] > 0 ? a.columns[planned.begin[i]] - a.index_base : 0;
  }
}

void write_codes(const CsrPattern& a, const PlannedChunk& planned, std::byte* at) {
  const Chunk& chunk = planned.chunk;
  const std::int64_t size = codes_size(chunk, planned.slots);
  if (size >= kCodeAlign) std::memset(at + size - kCodeAlign, 0, kCodeAlign);
  const CodeParts parts = parts_of(chunk, at);
  if (chunk.kind.target == Target::listed) {
    auto* const listed = const_cast<std::uint16_t*>(parts.listed);
    for (int i = 0; i < kChunkRows; ++i)
      listed[i] =
          static_cast<std::uint16_t>(i < chunk.kind.rows ? planned.row[i] - chunk.first_row : 0);
  }
  if (chunk.kind.beside == 0) {
    for (int i = 0; i < chunk.kind.rows; ++i)
      const_cast<std::uint32_t*>(parts.alone_lengths)[i] =
          static_cast<std::uint32_t>(planned.length[i]);
  } else if (is_uneven(chunk)) {
    for (int i = 0; i < kChunkRows; ++i)
      const_cast<std::uint16_t*>(parts.beside_lengths)[i] =
          static_cast<std::uint16_t>(i < chunk.kind.rows ? planned.length[i] : 0);
  }
  const auto write = [&]<class Code>(Code /*type*/) {
    if (chunk.kind.beside == 1) {
      write_beside<Code>(a, planned, parts);
    } else {
      write_alone<Code>(a, planned, parts);
    }
  };
  switch (chunk.kind.codes) {
    case Codes::none:
      return write_bases(a, planned, parts);
    case Codes::offset8:
      return write(std::uint8_t{});
    case Codes::offset16:
      return write(std::uint16_t{});
    case Codes::absolute:
      return write(std::int32_t{});
  }
}

template <class T>
void write_values(const PlannedChunk& planned, const T* values, T* slots) {
  const Chunk& chunk = planned.chunk;
  if (chunk.kind.beside == 0) {
    for (int i = 0; i < chunk.kind.rows; ++i)
      slots = std::copy_n(values + planned.begin[i], planned.length[i], slots);
    return;
  }
  for (std::int64_t k = 0; k < chunk.shortest; ++k) {
#pragma GCC unroll 8
    for (int i = 0; i < kChunkRows; ++i)
      slots[k * kChunkRows + i] = values[planned.begin[i] + k];
  }
  for (std::int64_t k = chunk.shortest; k < chunk.depth; ++k) {
    for (int i = 0; i < kChunkRows; ++i) {
      const bool there = i < chunk.kind.rows && k < planned.length[i];
      slots[k * kChunkRows + i] = there ? values[planned.begin[i] + k] : T{};
    }
  }
}

/// Packing takes about ten times what a product does, and so is worth waking threads earlier.
bool packing_is_worth_threads(const CsrPattern& a) {
  return a.nnz + a.rows >= kThreadsLeast / 8;
}

/// CSR of the plan's own, by which values find their slots.
template <class T>
CsrPattern pattern_of(const ChunkMatrix<T>& matrix) {
  return {.rows = matrix.header.rows,
          .cols = matrix.header.cols,
          .nnz = matrix.header.nnz,
          .row_offsets = matrix.row_offsets.data()};
}

}  // namespace

template <class T>
ChunkMatrix<T> pack_chunks(const Stream& stream, const Csr<T>& a, const ChunkShape& shape,
                           Allocator* allocator) {
  const CsrPattern pattern = a.pattern();
  const Deal deal(pattern, shape);
  const std::int64_t tasks = deal.tasks();
  ChunkHeader header{.rows = a.rows, .cols = a.cols, .nnz = a.nnz, .shape = shape, .tasks = tasks};
  header.cut_rows = static_cast<std::int64_t>(deal.cut_rows().size());
  header.partials = deal.cut_starts().back();
  header.cut_entries = deal.cut_entries();

  std::vector<Task> starts(tasks + 1);
  for (std::int64_t task = 0; task < tasks; ++task)
    starts[task + 1].first_chunk = starts[task].first_chunk + deal.chunks_of(task);
  header.chunks = starts[tasks].first_chunk;

  Buffer<Chunk> chunks(stream, header.chunks, allocator);
  std::vector<ChunkCounts> counts(tasks);
  const bool threads = packing_is_worth_threads(pattern);
#pragma omp parallel for schedule(dynamic) if (threads)
  for (std::int64_t task = 0; task < tasks; ++task) {
    Chunk* next = chunks.data() + starts[task].first_chunk;
    ChunkCounts counted;  // of this thread's own lines
    deal.for_each_chunk(task, [&](PlannedChunk& planned) {
      planned.chunk.kind.codes = choose_codes(pattern, planned);
      *next++ = planned.chunk;
      count_chunk(planned, counted);
    });
    counts[task] = counted;
  }
  ChunkCounts all;
  for (std::int64_t task = 0; task < tasks; ++task) {
    all += counts[task];
    starts[task + 1].first_value = all.slots;
    starts[task + 1].first_code = all.code_bytes;
  }
  header.slots = all.slots;
  header.code_bytes = all.code_bytes + kCodesBehind;
  header.empty_rows = all.empty_rows;
  header.short_rows = all.short_rows;
  header.short_entries = all.short_entries;
  header.beside_rows = all.beside_rows;
  header.beside_entries = all.beside_entries;
  header.code_entries = all.code_entries;

  ChunkMatrix<T> matrix{header,
                        std::move(chunks),
                        Buffer<std::byte>(stream, header.code_bytes, allocator),
                        Buffer<Task>::from(stream, starts, allocator),
                        Buffer<std::int32_t>::from(stream, deal.cut_rows(), allocator),
                        Buffer<std::int64_t>::from(stream, deal.cut_starts(), allocator),
                        Buffer<std::int64_t>(stream, a.rows + 1, allocator),
                        Buffer<T>(stream, header.slots + kValuesBehind, allocator)};
  std::copy_n(a.row_offsets, a.rows + 1, matrix.row_offsets.data());
  std::memset(matrix.codes.data() + all.code_bytes, 0, kCodesBehind);
  std::fill_n(matrix.values.data() + header.slots, kValuesBehind, T{});
#pragma omp parallel for schedule(dynamic) if (threads)
  for (std::int64_t task = 0; task < tasks; ++task) {
    std::byte* codes = matrix.codes.data() + starts[task].first_code;
    T* values = matrix.values.data() + starts[task].first_value;
    const Chunk* next = matrix.chunks.data() + starts[task].first_chunk;
    deal.for_each_chunk(task, [&](PlannedChunk& planned) {
      planned.chunk = *next++;
      write_codes(pattern, planned, codes);
      write_values(planned, a.values, values);
      codes += codes_size(planned.chunk, planned.slots);
      values += planned.slots;
    });
  }
  return matrix;
}

template <class T>
void update_chunks(ChunkMatrix<T>& matrix, const T* values) {
  const CsrPattern a = pattern_of(matrix);
  const ChunkView view = matrix.view();
#pragma omp parallel for schedule(dynamic) if (packing_is_worth_threads(a))
  for (std::int64_t task = 0; task < matrix.header.tasks; ++task) {
    const std::byte* codes = view.codes + view.tasks[task].first_code;
    T* slots = matrix.values.data() + view.tasks[task].first_value;
    for (std::int64_t c = view.tasks[task].first_chunk; c < view.tasks[task + 1].first_chunk; ++c) {
      PlannedChunk planned{};
      planned.chunk = view.chunks[c];
      const Chunk& chunk = planned.chunk;
      const CodeParts parts = parts_of(chunk, codes);
      if (chunk.kind.target == Target::partial) {
        const auto* const row =
            std::upper_bound(view.cut_starts, view.cut_starts + matrix.header.cut_rows + 1,
                             chunk.first_row) -
            1;
        planned.begin[0] = a.row_offsets[view.cut_rows[row - view.cut_starts]] +
                           (chunk.first_row - *row) * kPieceEntries;
        planned.length[0] = parts.alone_lengths[0];
      } else {
        for (int i = 0; i < chunk.kind.rows; ++i) {
          const int distance = chunk.kind.target == Target::listed ? parts.listed[i] : i;
          const std::int64_t row = chunk.first_row + distance;
          planned.begin[i] = a.row_offsets[row];
          planned.length[i] = a.row_offsets[row + 1] - a.row_offsets[row];
        }
      }
      const std::int64_t count = slots_of(chunk, parts);
      write_values(planned, values, slots);
      slots += count;
      codes += codes_size(chunk, count);
    }
  }
}

#define LANKY_INSTANTIATE(T)                                                           \
  template ChunkMatrix<T> pack_chunks(const Stream&, const Csr<T>&, const ChunkShape&, \
                                      Allocator*);                                     \
  template void update_chunks(ChunkMatrix<T>&, const T*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
