#include "dense/cuda/cublaslt.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "core/cuda_check.hpp"
#include "core/plan_types.hpp"
#include "core/shared_library.hpp"
#include "core/text.hpp"

namespace lanky::dense::cuda {

namespace {

/// More than the heuristic ever asks for on Hopper.
constexpr std::uint64_t kMaxWorkspaceBytes = 32U << 20;

#define LANKY_CUBLASLT_FUNCTION(name) \
  decltype(::name)* name = library.function<decltype(::name)>(#name)

struct Api {
  SharedLibrary library{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
  LANKY_CUBLASLT_FUNCTION(cublasLtCreate);
  LANKY_CUBLASLT_FUNCTION(cublasLtGetStatusString);
  LANKY_CUBLASLT_FUNCTION(cublasLtGetVersion);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmul);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmulAlgoConfigGetAttribute);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmulAlgoGetHeuristic);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmulDescCreate);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmulDescDestroy);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmulDescSetAttribute);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmulPreferenceCreate);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmulPreferenceDestroy);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatmulPreferenceSetAttribute);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatrixLayoutCreate);
  LANKY_CUBLASLT_FUNCTION(cublasLtMatrixLayoutDestroy);

  bool complete() const noexcept {
    return cublasLtCreate && cublasLtGetStatusString && cublasLtGetVersion && cublasLtMatmul &&
           cublasLtMatmulAlgoConfigGetAttribute && cublasLtMatmulAlgoGetHeuristic &&
           cublasLtMatmulDescCreate && cublasLtMatmulDescDestroy &&
           cublasLtMatmulDescSetAttribute && cublasLtMatmulPreferenceCreate &&
           cublasLtMatmulPreferenceDestroy && cublasLtMatmulPreferenceSetAttribute &&
           cublasLtMatrixLayoutCreate && cublasLtMatrixLayoutDestroy;
  }
};
#undef LANKY_CUBLASLT_FUNCTION

const Api& api() {
  static const Api instance;
  return instance;
}

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const ErrorCode code =
      status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorCode::out_of_memory : ErrorCode::device;
  throw Error(code, concat(what, ": ", api().cublasLtGetStatusString(status)));
}

/// The handle of a device, made when first asked for and kept until the program ends.
cublasLtHandle_t handle_of(Device device) {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[device.index()];
  if (handle == nullptr) {
    const DeviceGuard guard(device.index());
    check(api().cublasLtCreate(&handle), "cublasLtCreate");
  }
  return handle;
}

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

/// An operation descriptor, whose scalars are on one side.
class Operation {
 public:
  Operation(const BlasCall& call, DType in, cublasLtPointerMode_t mode) {
    const bool f64 = in == DType::f64;
    check(api().cublasLtMatmulDescCreate(&desc_, f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                         f64 ? CUDA_R_64F : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE, static_cast<std::int32_t>(mode));
    set(CUBLASLT_MATMUL_DESC_TRANSA, call.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, call.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() { api().cublasLtMatmulDescDestroy(desc_); }

  cublasLtMatmulDesc_t get() const noexcept { return desc_; }

 private:
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, Value value) {
    static_assert(sizeof(Value) == sizeof(std::int32_t));
    check(api().cublasLtMatmulDescSetAttribute(desc_, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

  cublasLtMatmulDesc_t desc_ = nullptr;
};

/// A column-major matrix as stored.
class StoredMatrix {
 public:
  StoredMatrix(DType dtype, StoredExtents extents, std::int64_t ld) {
    check(api().cublasLtMatrixLayoutCreate(&layout_, data_type(dtype),
                                           static_cast<std::uint64_t>(extents.rows),
                                           static_cast<std::uint64_t>(extents.cols), ld),
          "cublasLtMatrixLayoutCreate");
  }
  StoredMatrix(const StoredMatrix&) = delete;
  StoredMatrix& operator=(const StoredMatrix&) = delete;
  ~StoredMatrix() { api().cublasLtMatrixLayoutDestroy(layout_); }

  cublasLtMatrixLayout_t get() const noexcept { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

/// What the heuristic may choose from: sums are combined in the compute type only.
class Preference {
 public:
  /// Alignments in bytes that the pointers to A and B, and to C, have at least.
  Preference(std::size_t of_operands, std::size_t of_result) {
    check(api().cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMaxWorkspaceBytes);
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(of_operands));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(of_operands));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(of_result));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(of_result));
  }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  ~Preference() { api().cublasLtMatmulPreferenceDestroy(preference_); }

  cublasLtMatmulPreference_t get() const noexcept { return preference_; }

 private:
  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
    check(api().cublasLtMatmulPreferenceSetAttribute(preference_, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  }

  cublasLtMatmulPreference_t preference_ = nullptr;
};

StoredExtents stored(std::int64_t rows, std::int64_t cols, bool trans) {
  return stored_extents(rows, cols, trans ? Op::trans : Op::none);
}

/// Bytes that pointers must be aligned to for the faster of the two algorithms.
constexpr std::size_t kWideAlignment = 16;

bool aligned(std::initializer_list<const void*> pointers) {
  return std::all_of(pointers.begin(), pointers.end(), [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % kWideAlignment == 0;
  });
}

using Algorithm = std::optional<cublasLtMatmulHeuristicResult_t>;

std::string describe(const Algorithm& algorithm) {
  if (!algorithm) return "none";
  const auto attribute = [&](cublasLtMatmulAlgoConfigAttributes_t which) {
    std::uint32_t value = 0;
    std::size_t written = 0;
    api().cublasLtMatmulAlgoConfigGetAttribute(&algorithm->algo, which, &value, sizeof value,
                                               &written);
    return value;
  };
  return concat(attribute(CUBLASLT_ALGO_CONFIG_ID), " tile ",
                attribute(CUBLASLT_ALGO_CONFIG_TILE_ID), " stages ",
                attribute(CUBLASLT_ALGO_CONFIG_STAGES_ID), " split ",
                attribute(CUBLASLT_ALGO_CONFIG_SPLITK_NUM), " swizzle ",
                attribute(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING), " custom ",
                attribute(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION));
}

}  // namespace

std::string cublaslt_absence() {
  if (!api().library.loaded()) {
    return concat("cuBLASLt is not available (", api().library.failure(), ")");
  }
  return api().complete() ? "" : "cuBLASLt lacks a function";
}

struct CublasltMatmul::State {
  State(Device device, const BlasCall& call, DType in, DType out)
      : handle(handle_of(device)),
        operations{
            {{call, in, CUBLASLT_POINTER_MODE_HOST}, {call, in, CUBLASLT_POINTER_MODE_DEVICE}}},
        a(in, stored(call.m, call.k, call.trans_a), call.lda),
        b(in, stored(call.k, call.n, call.trans_b), call.ldb),
        c(out, {call.m, call.n}, call.ldc) {
    const DeviceGuard guard(device.index());
    const Preference wide(kWideAlignment, kWideAlignment);
    const Preference narrow(size_of(in), size_of(out));
    for (int on_device = 0; on_device < 2; ++on_device) {
      algorithms[on_device][0] = best(operations[on_device], narrow);
      algorithms[on_device][1] = best(operations[on_device], wide);
      if (!algorithms[on_device][1]) algorithms[on_device][1] = algorithms[on_device][0];
    }
  }

  /// The first algorithm that the heuristic offers.
  Algorithm best(const Operation& operation, const Preference& preference) const {
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    const cublasStatus_t status =
        api().cublasLtMatmulAlgoGetHeuristic(handle, operation.get(), a.get(), b.get(), c.get(),
                                             c.get(), preference.get(), 1, &result, &found);
    if (status != CUBLAS_STATUS_SUCCESS || found == 0 || result.state != CUBLAS_STATUS_SUCCESS) {
      return std::nullopt;
    }
    return result;
  }

  cublasLtHandle_t handle;
  std::array<Operation, 2> operations;  // scalars in host memory, in device memory
  StoredMatrix a;
  StoredMatrix b;
  StoredMatrix c;
  Algorithm algorithms[2][2];  // [scalars on device][pointers aligned to kWideAlignment]
};

CublasltMatmul::CublasltMatmul(Device device, const BlasCall& call, DType in, DType out)
    : state_(std::make_unique<State>(device, call, in, out)) {}
CublasltMatmul::~CublasltMatmul() = default;

bool CublasltMatmul::available(bool scalars_on_device) const noexcept {
  return state_->algorithms[scalars_on_device][0].has_value();
}

std::int64_t CublasltMatmul::workspace_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& side : state_->algorithms) {
    for (const Algorithm& algorithm : side)
      if (algorithm) bytes = std::max(bytes, algorithm->workspaceSize);
  }
  return static_cast<std::int64_t>(bytes);
}

void CublasltMatmul::run(const Stream& stream, bool scalars_on_device, const void* alpha,
                         const void* a, const void* b, const void* beta, void* c,
                         void* workspace) const {
  const State& s = *state_;
  const Algorithm& algorithm = s.algorithms[scalars_on_device][aligned({a, b, c})];
  const DeviceGuard guard(stream.device().index());
  check(api().cublasLtMatmul(s.handle, s.operations[scalars_on_device].get(), alpha, a, s.a.get(),
                             b, s.b.get(), beta, c, s.c.get(), c, s.c.get(), &algorithm->algo,
                             workspace, algorithm->workspaceSize, stream.native()),
        "cublasLtMatmul");
}

std::string CublasltMatmul::explain() const {
  const auto& algorithms = state_->algorithms;
  return concat("cuBLASLt ", api().cublasLtGetVersion(), ", algorithm ", describe(algorithms[0][1]),
                ", unaligned ", describe(algorithms[0][0]), "; scalars in device memory ",
                describe(algorithms[1][1]), ", unaligned ", describe(algorithms[1][0]));
}

template <class T, class TOut>
CublasltExecutor<T, TOut>::CublasltExecutor(const Stream& stream, const Problem& problem)
    : tiled_(stream, problem, "used where cuBLASLt has no algorithm"),
      call_(blas_call(problem)),
      matmul_(stream.device(), call_, kDType<T>, kDType<TOut>) {}

template <class T, class TOut>
void CublasltExecutor<T, TOut>::run(const Stream& stream, const Operands<T, TOut>& g) const {
  using Acc = Accumulator<T>;
  const bool alpha_on_device = g.alpha.pointer() != nullptr;
  const bool beta_on_device = g.beta.pointer() != nullptr;
  const bool known_zero = !alpha_on_device && g.alpha.value() == Acc(0);
  if (alpha_on_device != beta_on_device || known_zero || !matmul_.available(alpha_on_device)) {
    tiled_.run(stream, g);
    return;
  }
  const Acc values[] = {g.alpha.value(), g.beta.value()};
  const void* alpha = alpha_on_device ? g.alpha.pointer() : &values[0];
  const void* beta = beta_on_device ? g.beta.pointer() : &values[1];
  const T* first = call_.exchanged ? g.b : g.a;
  const T* second = call_.exchanged ? g.a : g.b;
  matmul_.run(stream, alpha_on_device, alpha, first, second, beta, g.c, g.workspace);
}

template <class T, class TOut>
std::int64_t CublasltExecutor<T, TOut>::workspace_bytes() const noexcept {
  return std::max(tiled_.workspace_bytes(), matmul_.workspace_bytes());
}

template <class T, class TOut>
std::string CublasltExecutor<T, TOut>::explain() const {
  return concat(matmul_.explain(), "\n  or ", tiled_.explain());
}

#define LANKY_INSTANTIATE(T, TOut) template class CublasltExecutor<T, TOut>;
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cuda
