#include "sparse/plan_info.hpp"

#include <array>
#include <iomanip>
#include <locale>
#include <string_view>

#include "core/fingerprint.hpp"
#include "core/text.hpp"
#include "sparse/shapes.hpp"

namespace lanky::sparse {

namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view name(Symmetry symmetry) {
  constexpr std::array<std::string_view, 4> kNames = {"general", "symmetric", "skew-symmetric",
                                                      "hermitian"};
  return kNames[static_cast<std::size_t>(symmetry)];
}

void write_classes(std::ostream& out, const PackedHeader& header) {
  const int most = header.shape.piece_most;
  const std::array<std::string, kRowClasses> meanings = {
      "", concat("1 to ", kShortMost, " entries"), concat("up to ", most, " entries"),
      concat("cut into pieces of up to ", most)};
  constexpr std::array<std::string_view, kRowClasses> kNames = {"empty", "short", "medium", "long"};
  out << "  rows         count        entries\n";
  for (int i = kRowClasses - 1; i >= 0; --i) {
    out << "  " << std::left << std::setw(6) << kNames[i] << std::right << std::setw(12)
        << header.class_rows[i] << std::setw(15) << header.class_entries[i];
    if (!meanings[i].empty() && header.class_rows[i] > 0) out << "  " << meanings[i];
    out << "\n";
  }
}

void write_kinds(std::ostream& out, const PackedHeader& header) {
  constexpr std::array<std::string_view, kIndexKinds> kNames = {
      "shared by rows that repeat, shifted",
      "2 bytes into staged x",
      "1-byte offsets",
      "2-byte offsets",
      "4 bytes",
      "along diagonals"};
  out << "  columns   ";
  const char* separator = "";
  for (int i = 0; i < kIndexKinds; ++i) {
    if (header.kind_entries[i] == 0) continue;
    out << separator << kNames[i] << " " << 100.0 * ratio(header.kind_entries[i], header.nnz)
        << "%";
    separator = ", ";
  }
  out << (header.nnz == 0 ? "none\n" : "\n");
}

void write_hot_columns(std::ostream& out, const PackedHeader& header) {
  if (header.hot == 0) return;
  const std::int64_t sampled = (header.nnz + kColumnSample - 1) / kColumnSample;
  out << "  hot       " << header.hot << " columns, with " << header.shape.hot_least
      << " of the sampled entries or more each, about "
      << 100.0 * ratio(header.hot_sampled, sampled) << "% of all\n";
}

/// Share of the slots that hold no entry, of either form.
template <class Header>
double padding(const Header& header) {
  return header.slots == 0 ? 0 : 1 - ratio(header.nnz, header.slots);
}

void write_shape(std::ostream& out, const PackedHeader& header) {
  const Shape& shape = header.shape;
  out << "  windows   " << header.windows << ", of about " << shape.window_cost
      << " in entries plus " << shape.row_cost << " a row";
  if (shape.granule > 1) out << ", from multiples of " << shape.granule << " rows on";
  if (header.split_rows > 0) {
    out << "; " << header.partials << " of split rows (" << header.split_rows
        << "), whose sums the last of them adds up";
    if (shape.bands > 0) out << "; in the order of " << shape.bands << " bands of columns";
  }
  if (header.columns_most > 0)
    out << "; they stage up to " << header.columns_most << " columns of x";
  out << "\n  slices    up to " << header.slices_most << " a window, of " << kLanes << " pieces";
  if (shape.lane_pieces > 1)
    out << (shape.wide_fill < 100 ? ", or of up to " : ", or of ") << kLanes * shape.lane_pieces
        << (shape.wide_fill < 100 ? " where lengths are similar" : " where lengths are equal");
  out << "\n";
}

/// What became of the trials, of either form. Returns whether there are any.
template <class Trials>
bool write_kept(std::ostream& out, const Trials& tuning) {
  out << "  tuned     ";
  if (tuning.measured.empty()) {
    out << "no: nothing was measured here, the model chose\n";
    return false;
  }
  if (tuning.kept == 0) {
    out << "of " << tuning.measured.size() << " measured the model's choice is kept: none takes "
        << 100 * (1 - kWorthwhile) << "% less\n";
  } else {
    out << "the fastest of " << tuning.measured.size() << " measured, in "
        << 100 * (1 - tuning.measured[tuning.kept].ratio) << "% less than the model's choice\n";
  }
  return true;
}

void write_tuning(std::ostream& out, const Tuning& tuning) {
  if (!write_kept(out, tuning)) return;
  out << "            time   window  from row  piece  staged    hot  lane  kernels\n";
  for (std::size_t i = 0; i < tuning.measured.size(); ++i) {
    const auto& [shape, path, ratio] = tuning.measured[i];
    out << "            " << std::setprecision(3) << ratio << std::setprecision(1) << std::setw(8)
        << shape.window_cost << std::setw(10) << shape.granule << std::setw(7) << shape.piece_most
        << std::setw(8) << shape.stage_most << std::setw(7) << shape.hot_least << std::setw(6)
        << shape.lane_pieces << "  " << to_string(path) << (i == tuning.kept ? " (kept)\n" : "\n");
  }
}

void write_tiles(std::ostream& out, const TileInfo& tiles, DType dtype) {
  out << "  tiles     a second copy, of " << tiles.bytes
      << " bytes, which tensor cores multiply with " << tiled_columns_least(dtype)
      << " columns or more: " << tiles.header.facts.steps << " steps of " << kStepVectors
      << " column vectors of " << kBlockRows << " rows, up to " << tiles.header.facts.steps_most
      << " a block, " << 100 * tiles.header.fill() << "% of their elements are entries";
  if (tiles.header.shared_blocks > 0)
    out << "; " << tiles.header.shared_blocks << " blocks are shared by several warps";
  out << "\n";
}

void write_rows_copy(std::ostream& out, const RowsInfo& rows) {
  out << "  rows      a second copy, CSR of " << rows.bytes
      << " bytes, for several columns on CUDA cores: "
      << (rows.sorted ? "sorted by lengths" : "in their own order") << ", " << rows.in_parts
      << " multiplied by a warp or several\n";
}

// The CPU's form.

struct RowsOfClass {
  std::string_view name;
  std::int64_t rows;
  std::int64_t entries;
  std::string meaning;
};

void write_classes(std::ostream& out, const cpu::ChunkHeader& header) {
  const std::int64_t medium = header.rows - header.empty_rows - header.short_rows - header.cut_rows;
  const std::array<RowsOfClass, kRowClasses> classes = {
      {{"long", header.cut_rows, header.cut_entries,
        concat("cut into pieces of ", cpu::kPieceEntries)},
       {"medium", medium, header.nnz - header.short_entries - header.cut_entries,
        concat("up to ", cpu::kCutEntries, " entries")},
       {"short", header.short_rows, header.short_entries,
        concat("1 to ", cpu::kShortRow, " entries")},
       {"empty", header.empty_rows, 0, ""}}};
  out << "  rows         count        entries\n";
  for (const RowsOfClass& each : classes) {
    out << "  " << std::left << std::setw(6) << each.name << std::right << std::setw(12)
        << each.rows << std::setw(15) << each.entries;
    if (!each.meaning.empty() && each.rows > 0) out << "  " << each.meaning;
    out << "\n";
  }
}

void write_codes(std::ostream& out, const cpu::ChunkHeader& header) {
  constexpr std::array<std::string_view, cpu::kCodes> kNames = {
      "one after another, or along diagonals", "1-byte offsets", "2-byte offsets", "4 bytes"};
  out << "  columns   ";
  const char* separator = "";
  for (int i = 0; i < cpu::kCodes; ++i) {
    if (header.code_entries[i] == 0) continue;
    out << separator << kNames[i] << " " << 100.0 * ratio(header.code_entries[i], header.nnz)
        << "%";
    separator = ", ";
  }
  out << (header.nnz == 0 ? "none\n" : "\n");
}

void write_chunks(std::ostream& out, const cpu::ChunkInfo& info) {
  const cpu::ChunkHeader& header = info.header;
  out << "  chunks    " << header.chunks << " of up to " << cpu::kChunkRows << " rows, "
      << 100.0 * ratio(header.beside_entries, header.nnz) << "% of the entries side by side";
  if (header.shape.scope > cpu::kChunkRows)
    out << ", rows sorted by length in scopes of " << header.shape.scope;
  if (header.partials > 0) out << "; " << header.partials << " pieces of long rows";
  out << "\n  tasks     " << header.tasks << ", "
      << (header.threads ? "shared by threads" : "all by the calling thread") << "\n"
      << (info.x_columns > 0
              ? "  columns   for several: no scopes longer than 256, X by columns is "
                "set by rows in the workspace\n"
              : "")
      << "  padding   " << 100 * padding(header) << "% of " << header.slots << " slots\n"
      << "  kernels   cpu: " << info.isa << ", on every engine alike\n";
  if (header.nnz > 0)
    out << "  predicted " << std::setprecision(2) << info.model.predicted_us
        << " us a product by one thread, the least of " << info.model.of << " shapes\n"
        << std::setprecision(1);
}

void write_tuning(std::ostream& out, const cpu::ChunkTuning& tuning) {
  if (!write_kept(out, tuning)) return;
  out << "            time   rows\n";
  for (std::size_t i = 0; i < tuning.measured.size(); ++i) {
    const auto& [shape, ratio] = tuning.measured[i];
    out << "            " << std::setprecision(3) << ratio << std::setprecision(1) << "  "
        << name_of(shape) << (i == tuning.kept ? " (kept)\n" : "\n");
  }
}

SparseInfo summary(const cpu::ChunkInfo& info) {
  const cpu::ChunkHeader& header = info.header;
  SparseInfo found{.padding = padding(header)};
  if (!info.tuning) return found;
  found.kept = info.tuning->kept;
  for (const auto& [shape, ratio] : info.tuning->measured)
    found.trials.push_back({.shape = name_of(shape), .ratio = ratio});
  return found;
}

}  // namespace

SparseInfo summary(const PlanInfo& info) {
  if (info.chunks) return summary(*info.chunks);
  const bool on_gpu = info.device.is_cuda();
  SparseInfo found{.engine = on_gpu ? engine_of(info.choice.path) : Engine::automatic,
                   .math = on_gpu ? math_of(info.choice.path) : Math::ieee,
                   .padding = padding(info.header),
                   .predicted_us = on_gpu ? info.model.predicted_us : 0};
  if (!info.tuning) return found;
  found.kept = info.tuning->kept;
  for (const auto& [shape, path, ratio] : info.tuning->measured) {
    found.trials.push_back({name_of(shape), engine_of(path), math_of(path), ratio});
  }
  return found;
}

namespace {

void write_packed(std::ostream& out, const PlanInfo& info) {
  const PackedHeader& header = info.header;
  write_classes(out, header);
  write_kinds(out, header);
  write_hot_columns(out, header);
  write_shape(out, header);
  out << "  padding   " << 100 * padding(header) << "% of " << header.slots << " slots\n";
  out << "  kernels   " << (info.device.is_cuda() ? to_string(info.choice.path) : "cpu") << ": "
      << info.choice.reason << "\n";
  if (info.device.is_cuda() && header.nnz > 0)
    out << "  predicted " << std::setprecision(2) << info.model.predicted_us
        << " us a product, the least of " << info.model.of
        << (info.model.of == 1 ? " shape\n" : " shapes\n") << std::setprecision(1);
  if (info.tuning) write_tuning(out, *info.tuning);
  if (info.tiles) write_tiles(out, *info.tiles, info.dtype);
  if (info.rows_copy) write_rows_copy(out, *info.rows_copy);
}

void write_chunk_form(std::ostream& out, const cpu::ChunkInfo& info) {
  write_classes(out, info.header);
  write_codes(out, info.header);
  write_chunks(out, info);
  if (info.tuning) write_tuning(out, *info.tuning);
}

/// Extents of op(A).
struct Extents {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
};
Extents extents_of(const PlanInfo& info) {
  if (info.chunks)
    return {info.chunks->header.rows, info.chunks->header.cols, info.chunks->header.nnz};
  return {info.header.rows, info.header.cols, info.header.nnz};
}

}  // namespace

std::string explain(const PlanInfo& info) {
  const Extents header = extents_of(info);
  const auto entry_bytes = static_cast<std::int64_t>(size_of(info.dtype) + sizeof(std::int32_t));
  const std::int64_t offset_bytes = header.nnz > std::int64_t{0x7fffffff} ? 8 : 4;
  const std::int64_t csr_bytes = header.nnz * entry_bytes + (header.rows + 1) * offset_bytes;
  const std::int64_t packed_bytes = info.device_bytes - info.workspace_bytes;
  TextStream out;
  out << std::fixed << std::setprecision(1);
  out << "spmv " << header.rows << " x " << header.cols << ", " << header.nnz << " entries, "
      << to_string(info.dtype);
  if (info.out_dtype != info.dtype) out << " -> " << to_string(info.out_dtype);
  if (info.symmetry != Symmetry::general)
    out << ", " << name(info.symmetry) << " from a triangle of " << info.given_entries;
  if (info.op != Op::none)
    out << (info.op == Op::trans ? ", transposed" : ", transposed and conjugated");
  out << ", on " << info.device.name() << " (" << info.device.properties().name << ")\n";
  if (info.chunks) {
    write_chunk_form(out, *info.chunks);
  } else {
    write_packed(out, info);
  }
  out << "  memory    " << info.device_bytes << " bytes, of them workspace " << info.workspace_bytes
      << "; " << ratio(packed_bytes, header.nnz) << " an entry, in CSR "
      << ratio(csr_bytes, header.nnz) << "; CSR takes " << csr_bytes << " (packed is "
      << 100.0 * ratio(packed_bytes, csr_bytes) << "% of it)\n";
  return out.str();
}

std::uint64_t fingerprint(const PlanInfo& info) {
  const Extents extents = extents_of(info);
  Fingerprint print(info.device);
  print.add("sparse", to_string(info.dtype), to_string(info.out_dtype), name(info.symmetry),
            static_cast<int>(info.op), extents.rows, extents.cols, extents.nnz);
  if (info.chunks) {
    print.add(name_of(info.chunks->header.shape), info.chunks->isa);
    return print.value();
  }
  print.add(to_string(info.choice.path), name_of(info.header.shape), info.header.hot);
  for (const Launch& launch : {info.launches.adds, info.launches.overwrites}) {
    print.add(static_cast<int>(launch.slices), launch.wide, launch.hot, launch.teams);
  }
  if (info.tiles) print.add("tiles", info.tiles->header.share_above);
  if (info.rows_copy) print.add("rows", info.rows_copy->sorted, info.rows_copy->in_parts);
  return print.value();
}

}  // namespace lanky::sparse
