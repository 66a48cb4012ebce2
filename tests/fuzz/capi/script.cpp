// What all calls take: memory, views, scalars, allocators.
#include "fuzz/capi/script.hpp"

namespace lanky::fuzz::capi {

namespace {

/// Small whole numbers, which every type has exactly; complex ones as pairs.
template <class Store>
void fill_with(void* data, std::size_t bytes, std::uint8_t seed, Store&& element) {
  using T = decltype(element(0.0));
  auto* values = static_cast<T*>(data);
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i)
    values[i] = element(static_cast<double>((i * 7 + seed) % 9) - 4);
}

void* allocate(std::size_t bytes, const lanky_stream*, void* user) {
  int& left = *static_cast<int*>(user);
  return left-- == 0 ? nullptr : std::aligned_alloc(256, (bytes + 255) / 256 * 256);
}

void deallocate(void* data, std::size_t, const lanky_stream*, void*) {
  std::free(data);
}

}  // namespace

void Script::fill(void* data, std::size_t bytes, lanky_dtype type) {
  const std::uint8_t seed = byte();
  if (seed >= 250) {  // any bits: NaN, Inf, denormals
    for (std::size_t i = 0; i < bytes; ++i)
      static_cast<std::uint8_t*>(data)[i] = i < 64 ? byte() : static_cast<std::uint8_t>(i * 151);
    return;
  }
  std::memset(data, 0, bytes);
  switch (type) {
    case LANKY_DTYPE_F32:
    case LANKY_DTYPE_C64:
      return fill_with(data, bytes, seed, [](double x) { return static_cast<float>(x); });
    case LANKY_DTYPE_F16:
      return fill_with(data, bytes, seed, [](double x) { return lanky_f16_from_double(x); });
    case LANKY_DTYPE_BF16:
      return fill_with(data, bytes, seed, [](double x) { return lanky_bf16_from_double(x); });
    default:
      return fill_with(data, bytes, seed, [](double x) { return x; });
  }
}

lanky_dtype dtype(Script& script) {
  return script.constant(kDtypes);
}

lanky_dtype result_type(Script& script, lanky_dtype type) {
  switch (script.below(8)) {
    case 5:
      return LANKY_DTYPE_F32;
    case 6:
      return LANKY_DTYPE_F64;
    case 7:
      return dtype(script);
    default:
      return type;
  }
}

lanky_vector_view vector_view(Script& script, std::int64_t size, lanky_dtype type) {
  if (script.rarely(16)) size = script.extent();
  const bool exists = size >= 0 && size < (1 << 16);
  return {exists ? script.memory(size * element_bytes(type), type) : nullptr, size};
}

lanky_matrix_view matrix_view(Script& script, std::int64_t rows, std::int64_t cols,
                              lanky_dtype type, lanky_layout layout) {
  lanky_matrix_view view{nullptr, rows, cols, 0, layout};
  if (script.rarely(24)) view.rows = script.extent();
  if (script.rarely(24)) view.cols = script.extent();
  const bool by_rows = view.layout == LANKY_LAYOUT_ROW;
  const std::int64_t line = by_rows ? view.cols : view.rows;
  const std::int64_t lines = by_rows ? view.rows : view.cols;
  constexpr std::int64_t kMost = 1 << 10;
  view.ld = line;
  if (script.rarely(4) && line < kMost && line > -kMost) view.ld = line + script.below(5);
  if (script.rarely(32)) view.ld = script.extent();
  const bool exists = line >= 0 && line < kMost && lines >= 0 && lines < kMost && view.ld >= line &&
                      view.ld < kMost && line > 0 && lines > 0;
  // The last line may end where its elements do.
  if (exists) view.data = script.memory(((lines - 1) * view.ld + line) * element_bytes(type), type);
  return view;
}

namespace {

/// Offsets that rise to nnz by the script's bytes, or anything.
template <class Offset>
void fill_offsets(Script& script, Offset* offsets, std::int64_t rows, std::int64_t nnz, int base) {
  const bool garbage = script.rarely(8);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i <= rows; ++i) {
    offsets[i] = garbage ? static_cast<Offset>(script.extent(static_cast<int>(nnz)))
                         : static_cast<Offset>(base + (i == rows ? nnz : at));
    at = std::min(nnz, at + script.below(5));
  }
}

}  // namespace

lanky_csr_view csr_view(Script& script, lanky_dtype type) {
  constexpr int kMostRows = 40;
  lanky_csr_view view{};
  view.rows = script.extent(kMostRows);
  view.cols = script.extent(kMostRows);
  view.nnz = script.extent(100);
  view.offset_bytes = script.rarely(4) ? 4 : 8;
  if (script.rarely(32)) view.offset_bytes = script.constant(16);
  view.index_base = script.rarely(4) ? 1 : 0;
  if (script.rarely(32)) view.index_base = script.constant(3);
  // Arrays of a length that cannot be are not there: who reads them first is found out.
  constexpr std::int64_t kMost = 1 << 16;
  const bool has_rows = view.rows >= 0 && view.rows < kMost;
  const bool has_entries = view.nnz >= 0 && view.nnz < kMost;
  if (!has_rows) view.rows = -1;
  if (!has_entries) view.nnz = -1;
  if (has_rows && has_entries) {
    void* offsets = script.memory((view.rows + 1) * (view.offset_bytes == 4 ? 4 : 8));
    view.row_offsets = offsets;
    const int base = view.index_base == 1 ? 1 : 0;
    if (view.offset_bytes == 4) {
      fill_offsets(script, static_cast<std::int32_t*>(offsets), view.rows, view.nnz, base);
    } else {
      fill_offsets(script, static_cast<std::int64_t*>(offsets), view.rows, view.nnz, base);
    }
    auto* columns = static_cast<std::int32_t*>(script.memory(view.nnz * 4));
    const auto most = static_cast<int>(std::clamp<std::int64_t>(view.cols, 1, 200));
    const bool garbage = script.rarely(8);
    for (std::int64_t i = 0; i < view.nnz; ++i)
      columns[i] = garbage ? static_cast<std::int32_t>(script.byte() * 0x01010101U)
                           : base + script.below(most);
    view.col_indices = columns;
    view.values = script.memory(view.nnz * element_bytes(type), type);
  }
  if (script.rarely(48)) view.row_offsets = nullptr;
  if (script.rarely(48)) view.col_indices = nullptr;
  if (script.rarely(48)) view.values = nullptr;
  return view;
}

lanky_csr_view definite_view(Script& script, lanky_dtype type) {
  if (script.rarely(16)) return csr_view(script, type);
  const std::int64_t n = 1 + script.below(24);
  const std::int64_t nnz = 3 * n - 2;
  auto* offsets = static_cast<std::int64_t*>(script.memory((n + 1) * 8));
  auto* columns = static_cast<std::int32_t*>(script.memory(nnz * 4));
  void* values = script.memory(nnz * element_bytes(type));
  std::memset(values, 0, static_cast<std::size_t>(nnz * element_bytes(type)));
  const double diagonal = script.rarely(8) ? script.number() : 4;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    offsets[i] = at;
    for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      const double value = i == j ? diagonal : -1;
      columns[at] = static_cast<std::int32_t>(j);
      char* place = static_cast<char*>(values) + at * element_bytes(type);
      if (type == LANKY_DTYPE_F32 || type == LANKY_DTYPE_C64) {
        const auto narrow = static_cast<float>(value);
        std::memcpy(place, &narrow, sizeof narrow);
      } else if (element_bytes(type) >= 8) {
        std::memcpy(place, &value, sizeof value);
      }
      ++at;
    }
  }
  offsets[n] = at;
  return {n, n, nnz, offsets, columns, values, 8, 0};
}

const void* scalar(Script& script, lanky_dtype type) {
  if (script.byte() % 2 == 0) return nullptr;
  // Of any type, as the largest has 16 bytes.
  auto* values = static_cast<double*>(script.memory(16, LANKY_DTYPE_F64));
  if (script.rarely(4)) {
    values[0] = script.number();
    values[1] = 0;
  }
  if (type == LANKY_DTYPE_F64 || type == LANKY_DTYPE_C128 || script.rarely(8)) return values;
  auto* narrow = static_cast<float*>(script.memory(16, LANKY_DTYPE_F32));
  narrow[0] = static_cast<float>(values[0]);
  narrow[1] = 0;
  return narrow;
}

const lanky_allocator* allocator(Script& script) {
  if (script.byte() % 8 != 7) return nullptr;
  constexpr std::int64_t kMostTold = 256;  // bytes of the struct, as byte() may say
  auto* allocator = static_cast<lanky_allocator*>(script.memory(kMostTold));
  std::memset(static_cast<void*>(allocator), 0, kMostTold);
  auto* left = static_cast<int*>(script.memory(sizeof(int)));
  require(lanky_allocator_init(allocator, sizeof *allocator) == LANKY_SUCCESS, "no allocator");
  *left = script.rarely(2) ? script.below(6) : -1;  // the first that fails; none
  allocator->allocate = script.maybe(allocate);
  allocator->deallocate = script.maybe(deallocate);
  allocator->user = left;
  if (script.rarely(32)) allocator->size = script.byte();
  return allocator;
}

lanky_stream* Handles::stream(Script& script) {
  if (streams.empty()) {
    lanky_stream* made = nullptr;
    require(lanky_stream_create(lanky_device_cpu(), &made) == LANKY_SUCCESS, "no stream");
    streams.push_back(made);
  }
  if (script.rarely(64)) return nullptr;
  return script.rarely(8) ? pick(script, streams) : streams.front();
}

Handles::~Handles() {
  // Operators may be made of plans, plans of streams; streams may go first all the same.
  for (lanky_stream* stream : streams)
    lanky_stream_destroy(stream);
  for (const auto& [op, type] : operators)
    lanky_linear_operator_destroy(op);
  for (const Plan& plan : sparse_plans)
    lanky_sparse_plan_destroy(static_cast<lanky_sparse_plan*>(plan.handle));
  for (const Plan& plan : sddmm_plans)
    lanky_sddmm_plan_destroy(static_cast<lanky_sddmm_plan*>(plan.handle));
  for (const Plan& plan : gemm_plans)
    lanky_gemm_plan_destroy(static_cast<lanky_gemm_plan*>(plan.handle));
  for (lanky_gemm_tuning* tuning : tunings)
    lanky_gemm_tuning_destroy(tuning);
  for (lanky_event* event : events)
    lanky_event_destroy(event);
  for (lanky_buffer* buffer : buffers)
    lanky_buffer_destroy(buffer);
  for (const auto& [matrix, type] : matrices)
    lanky_csr_matrix_destroy(matrix);
}

}  // namespace lanky::fuzz::capi
