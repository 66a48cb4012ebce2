#include "sparse/explain.hpp"

#include <array>
#include <iomanip>
#include <locale>
#include <sstream>
#include <string_view>

namespace lanky::sparse {

namespace {

struct ClassFacts {
  std::string_view name;
  std::int64_t rows;
  std::int64_t entries;
  std::int64_t tiles;
  std::string_view work;
};

std::array<ClassFacts, 4> class_facts(const Placement& placement) {
  const PackedHeader& header = placement.header;
  const std::int64_t long_tiles = placement.tile_starts[header.pieces];
  const std::int64_t medium_end = placement.tile_starts.back();
  return {{{"long", header.long_rows, header.long_entries, long_tiles,
            "a warp a piece of 1024 slots; split rows summed by a second kernel"},
           {"medium", header.medium_rows, header.medium_entries, medium_end - long_tiles,
            "a warp a block of 8 rows, sorted by length in windows of 4096"},
           {"short", header.short_rows, header.short_entries, header.tiles - medium_end,
            "a warp 4 tiles of pieced rows: 4, 3 + 1, 2 + 2, 1 + 1 + 1 + 1"},
           {"empty", header.empty_rows, 0, 0, "a warp 256 rows"}}};
}
static_assert(kPieceSlots == 1024 && kWindowRows == 4096 && kShortTilesPerUnit == 4 &&
                  kEmptyRowsPerUnit == 256,
              "the texts above tell these numbers");

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view kernel_name(const PlanFacts& facts) {
  if (!facts.device.is_cuda()) return "cpu";
  return facts.choice.path == SpmvPath::mma ? "mma" : "cuda";
}

}  // namespace

std::string explain(const PlanFacts& facts, const Placement& placement) {
  const PackedHeader& header = placement.header;
  const auto slot_bytes = static_cast<std::int64_t>(size_of(facts.dtype) + sizeof(std::int32_t));
  const std::int64_t offset_bytes = header.nnz > std::int64_t{0x7fffffff} ? 8 : 4;
  const std::int64_t csr_bytes = header.nnz * slot_bytes + (header.rows + 1) * offset_bytes;
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(1);
  out << "spmv " << header.rows << " x " << header.cols << ", " << header.nnz << " entries, "
      << name(facts.dtype);
  if (facts.out_dtype != facts.dtype) out << " -> " << name(facts.out_dtype);
  out << ", on " << facts.device.name() << " (" << facts.device.properties().name << ")\n";
  out << "  class         rows        entries          slots  padding          bytes  kernel\n";
  for (const ClassFacts& facts_of : class_facts(placement)) {
    const std::int64_t slots = facts_of.tiles * facts.tile_slots;
    out << "  " << std::left << std::setw(6) << facts_of.name << std::right << std::setw(12)
        << facts_of.rows << std::setw(15) << facts_of.entries << std::setw(15) << slots
        << std::setw(8) << percent(slots - facts_of.entries, slots) << "%" << std::setw(15)
        << slots * slot_bytes << "  " << (facts_of.rows == 0 ? "-" : kernel_name(facts));
    if (facts_of.rows != 0) out << ": " << facts_of.work;
    out << "\n";
  }
  out << "  kernels   " << kernel_name(facts) << ": " << facts.choice.reason << "\n";
  out << "  memory    " << facts.device_bytes << " bytes, of them workspace "
      << facts.workspace_bytes << "; CSR takes " << csr_bytes << " (packed is "
      << percent(facts.device_bytes - facts.workspace_bytes, csr_bytes) << "% of it)\n";
  return out.str();
}

}  // namespace lanky::sparse
