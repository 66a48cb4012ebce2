// Checks of what C callers pass.
#include "capi/arguments.hpp"

#include "capi/structs.hpp"

namespace lanky::capi {

// The constants of lanky.h are those of C++.
static_assert(LANKY_DTYPE_F64 == int(DType::f64) && LANKY_DTYPE_F32 == int(DType::f32) &&
              LANKY_DTYPE_F16 == int(DType::f16) && LANKY_DTYPE_BF16 == int(DType::bf16) &&
              LANKY_DTYPE_C64 == int(DType::c64) && LANKY_DTYPE_C128 == int(DType::c128));
static_assert(LANKY_OP_NONE == int(Op::none) && LANKY_OP_TRANS == int(Op::trans) &&
              LANKY_OP_CONJ_TRANS == int(Op::conj_trans));
static_assert(LANKY_LAYOUT_COL == int(Layout::col) && LANKY_LAYOUT_ROW == int(Layout::row));
static_assert(LANKY_MATH_IEEE == int(Math::ieee) && LANKY_MATH_TF32 == int(Math::tf32) &&
              LANKY_MATH_TF32X3 == int(Math::tf32x3));
static_assert(LANKY_ENGINE_AUTOMATIC == int(Engine::automatic) &&
              LANKY_ENGINE_CUDA_CORES == int(Engine::cuda_cores) &&
              LANKY_ENGINE_TENSOR_CORES == int(Engine::tensor_cores));
static_assert(LANKY_SYMMETRY_GENERAL == int(Symmetry::general) &&
              LANKY_SYMMETRY_SYMMETRIC == int(Symmetry::symmetric) &&
              LANKY_SYMMETRY_SKEW_SYMMETRIC == int(Symmetry::skew_symmetric) &&
              LANKY_SYMMETRY_HERMITIAN == int(Symmetry::hermitian));

void check_constant(std::int32_t value, int count, const char* name, const char* type) {
  if (value >= 0 && value < count) return;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " is " + std::to_string(value) +
                                               ", but a " + type + " is 0 to " +
                                               std::to_string(count - 1));
}

void check_index(std::int64_t index, std::size_t count, const char* of) {
  if (index >= 0 && static_cast<std::uint64_t>(index) < count) return;
  throw Error(
      ErrorCode::invalid_argument,
      "index is " + std::to_string(index) + ", but there are " + std::to_string(count) + " " + of);
}

void check_reserved(std::int32_t value, const char* type) {
  if (value == 0) return;
  throw Error(ErrorCode::invalid_argument, std::string("reserved of a ") + type + " is " +
                                               std::to_string(value) + ", but must be 0");
}

DType to_dtype(lanky_dtype value, const char* name) {
  check_constant(value, LANKY_DTYPE_C128 + 1, name, "lanky_dtype");
  return static_cast<DType>(value);
}

Op to_op(lanky_op value, const char* name) {
  check_constant(value, LANKY_OP_CONJ_TRANS + 1, name, "lanky_op");
  return static_cast<Op>(value);
}

Layout to_layout(lanky_layout value, const char* name) {
  check_constant(value, LANKY_LAYOUT_ROW + 1, (std::string("the layout of ") + name).c_str(),
                 "lanky_layout");
  return static_cast<Layout>(value);
}

Math to_math(lanky_math value) {
  check_constant(value, LANKY_MATH_TF32X3 + 1, "math", "lanky_math");
  return static_cast<Math>(value);
}

Engine to_engine(lanky_engine value) {
  check_constant(value, LANKY_ENGINE_TENSOR_CORES + 1, "engine", "lanky_engine");
  return static_cast<Engine>(value);
}

Symmetry to_symmetry(lanky_symmetry value) {
  check_constant(value, LANKY_SYMMETRY_HERMITIAN + 1, "symmetry", "lanky_symmetry");
  return static_cast<Symmetry>(value);
}

Device to_device(lanky_device device) {
  check_constant(device.kind, LANKY_DEVICE_KIND_CUDA + 1, "the kind of the device",
                 "lanky_device_kind");
  if (device.kind == LANKY_DEVICE_KIND_CUDA) return Device::cuda(device.index);
  if (device.index != 0) {
    throw Error(ErrorCode::invalid_argument,
                "the index of the cpu is 0, not " + std::to_string(device.index));
  }
  return Device::cpu();
}

lanky_device from_device(Device device) noexcept {
  return {device.is_cuda() ? LANKY_DEVICE_KIND_CUDA : LANKY_DEVICE_KIND_CPU, device.index()};
}

void check_types(DType in, DType out) {
  if (out == in || (is_half(in) && out == DType::f32)) return;
  throw Error(ErrorCode::unsupported, "products of " + std::string(to_string(in)) +
                                          " cannot be written as " + std::string(to_string(out)) +
                                          "; they are written as " + std::string(to_string(in)) +
                                          (is_half(in) ? " or f32" : ""));
}

RowOffsets to_row_offsets(const lanky_csr_view& view) {
  if (view.offset_bytes == 4) return static_cast<const std::int32_t*>(view.row_offsets);
  if (view.offset_bytes == 8) return static_cast<const std::int64_t*>(view.row_offsets);
  throw Error(ErrorCode::invalid_argument, "offset_bytes is " + std::to_string(view.offset_bytes) +
                                               ", but row offsets have 4 or 8 bytes");
}

namespace {

bool on_device(lanky_memory memory, const char* name) {
  check_constant(memory, LANKY_MEMORY_DEVICE + 1, name, "lanky_memory");
  return memory == LANKY_MEMORY_DEVICE;
}

}  // namespace

RunOptions::RunOptions(const lanky_run_options* options) {
  const lanky_run_options given = read_struct(options, lanky_run_options{});
  alpha_on_device = on_device(given.alpha_memory, "alpha_memory");
  beta_on_device = on_device(given.beta_memory, "beta_memory");
  workspace = {given.workspace, given.workspace_bytes};
  lends = given.workspace != nullptr || given.workspace_bytes != 0;
}

}  // namespace lanky::capi

lanky_status lanky_run_options_init(lanky_run_options* options, size_t size) {
  return lanky::capi::init_struct(options, size, {});
}
