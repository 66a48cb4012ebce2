#include "dense/cuda/vendor/cublaslt.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/cublaslt_algorithm.hpp"
#include "core/cuda_check.hpp"
#include "core/launches.hpp"
#include "core/shared_library.hpp"
#include "core/text.hpp"

namespace lanky::dense::cuda {

namespace {

/// More than the heuristic ever asks for on Hopper.
constexpr std::uint64_t kMaxWorkspaceBytes = 32U << 20;

#define LANKY_CUBLASLT_FUNCTIONS(apply)                                                        \
  apply(cublasLtCreate) apply(cublasLtGetStatusString) apply(cublasLtGetVersion)               \
      apply(cublasLtMatmul) apply(cublasLtMatmulAlgoConfigGetAttribute)                        \
          apply(cublasLtMatmulAlgoGetHeuristic) apply(cublasLtMatmulDescCreate)                \
              apply(cublasLtMatmulDescDestroy) apply(cublasLtMatmulDescSetAttribute)           \
                  apply(cublasLtMatmulPreferenceCreate) apply(cublasLtMatmulPreferenceDestroy) \
                      apply(cublasLtMatmulPreferenceSetAttribute)                              \
                          apply(cublasLtMatrixLayoutCreate) apply(cublasLtMatrixLayoutDestroy)

struct Api {
  SharedLibrary library{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
#define LANKY_MEMBER(name) decltype(::name)* name = library.function<decltype(::name)>(#name);
  LANKY_CUBLASLT_FUNCTIONS(LANKY_MEMBER)
#undef LANKY_MEMBER

  bool complete() const noexcept {
#define LANKY_AND_IT(name) &&name
    return true LANKY_CUBLASLT_FUNCTIONS(LANKY_AND_IT);
#undef LANKY_AND_IT
  }
};
#undef LANKY_CUBLASLT_FUNCTIONS

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

/// The handle of a device's context, made when first asked for and kept until the program ends.
cublasLtHandle_t handle_of(Device device) {
  static std::mutex mutex;
  static std::map<std::pair<int, std::uint64_t>, cublasLtHandle_t> handles;
  const std::lock_guard lock(mutex);
  const DeviceGuard guard(device.index());
  cublasLtHandle_t& handle = handles[{device.index(), runtime::context_number()}];
  if (handle == nullptr) {
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
    case DType::c64:
      return CUDA_C_32F;
    case DType::c128:
      return CUDA_C_64F;
    default:
      return CUDA_R_32F;
  }
}

/// Arithmetic of sums of products, and the type of alpha and beta.
struct Arithmetic {
  cublasComputeType_t compute;
  cudaDataType_t scalar;
};

/// tf32x3 is computed in IEEE arithmetic, which is more exact.
Arithmetic arithmetic(DType in, Math math) {
  switch (in) {
    case DType::f64:
      return {CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case DType::c128:
      return {CUBLAS_COMPUTE_64F, CUDA_C_64F};
    case DType::c64:
      return {CUBLAS_COMPUTE_32F, CUDA_C_32F};
    default:
      return {math == Math::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F};
  }
}

cublasOperation_t blas_operation(bool trans, bool conjugated) {
  return !trans ? CUBLAS_OP_N : conjugated ? CUBLAS_OP_C : CUBLAS_OP_T;
}

/// One of the library's objects, a pointer, with the function that ends it.
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cublasStatus_t (*)(Handle)>;
using Operation = Owned<cublasLtMatmulDesc_t>;
using StoredMatrix = Owned<cublasLtMatrixLayout_t>;
using Preference = Owned<cublasLtMatmulPreference_t>;

/// With its scalars on one side.
Operation make_operation(const BlasCall& call, DType in, Math math, cublasLtPointerMode_t mode) {
  const auto [compute, scalar] = arithmetic(in, math);
  const bool complex = is_complex(in);
  cublasLtMatmulDesc_t made = nullptr;
  check(api().cublasLtMatmulDescCreate(&made, compute, scalar), "cublasLtMatmulDescCreate");
  Operation operation(made, api().cublasLtMatmulDescDestroy);
  const auto set = [made](cublasLtMatmulDescAttributes_t attribute, auto value) {
    static_assert(sizeof value == sizeof(std::int32_t));
    check(api().cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_POINTER_MODE, static_cast<std::int32_t>(mode));
  set(CUBLASLT_MATMUL_DESC_TRANSA, blas_operation(call.trans_a, complex && call.conj_a));
  set(CUBLASLT_MATMUL_DESC_TRANSB, blas_operation(call.trans_b, complex && call.conj_b));
  return operation;
}

/// A column-major matrix.
StoredMatrix make_matrix(DType dtype, StoredExtents extents, std::int64_t ld) {
  cublasLtMatrixLayout_t made = nullptr;
  check(api().cublasLtMatrixLayoutCreate(&made, data_type(dtype),
                                         static_cast<std::uint64_t>(extents.rows),
                                         static_cast<std::uint64_t>(extents.cols), ld),
        "cublasLtMatrixLayoutCreate");
  return {made, api().cublasLtMatrixLayoutDestroy};
}

/// What the heuristic may choose from: sums are combined in the compute type only. Alignments in
/// bytes that the pointers to A and B, and to C, have at least.
Preference make_preference(std::size_t of_operands, std::size_t of_result) {
  cublasLtMatmulPreference_t made = nullptr;
  check(api().cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  Preference preference(made, api().cublasLtMatmulPreferenceDestroy);
  const auto set = [made](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check(api().cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMaxWorkspaceBytes);
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  const auto operands = static_cast<std::uint32_t>(of_operands);
  const auto result = static_cast<std::uint32_t>(of_result);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, operands);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, operands);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, result);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, result);
  return preference;
}

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

struct Algorithm {
  cublasLtMatmulAlgo_t code;
  std::int64_t workspace_bytes;
};

std::string name_of(const Algorithm& algorithm) {
  return lanky::algorithm_name(algorithm.code, api().cublasLtMatmulAlgoConfigGetAttribute);
}

using Choice = std::optional<Algorithm>;

std::string name_of(const Choice& choice) {
  return choice ? name_of(*choice) : "none";
}

/// Operands and arithmetic of a product.
struct Matmul {
  Matmul(const BlasCall& call, DType in, DType out, Math math)
      : k(call.k),
        operations{make_operation(call, in, math, CUBLASLT_POINTER_MODE_HOST),
                   make_operation(call, in, math, CUBLASLT_POINTER_MODE_DEVICE)},
        a(make_matrix(in, stored(call.m, call.k, call.trans_a), call.lda)),
        b(make_matrix(in, stored(call.k, call.n, call.trans_b), call.ldb)),
        c(make_matrix(out, {call.m, call.n}, call.ldc)) {}

  /// Up to `most` algorithms that the heuristic offers, the best first, without those that are
  /// wrong; where too few are left it is asked for more.
  std::vector<Algorithm> offered(cublasLtHandle_t handle, bool scalars_on_device,
                                 const Preference& preference, int most) const {
    constexpr int kMost = 256;
    for (int asked = most;; asked *= 4) {
      const auto [all, right] = of_heuristic(handle, scalars_on_device, preference, asked);
      if (right.size() < static_cast<std::size_t>(most) && all == asked && asked < kMost) continue;
      return {right.begin(), right.begin() + std::min<std::ptrdiff_t>(most, std::ssize(right))};
    }
  }

  std::int64_t k;
  Operation operations[2];  // scalars in host memory, in device memory
  StoredMatrix a;
  StoredMatrix b;
  StoredMatrix c;

 private:
  struct Offer {
    int all;
    std::vector<Algorithm> right;
  };
  Offer of_heuristic(cublasLtHandle_t handle, bool scalars_on_device, const Preference& preference,
                     int most) const {
    std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
    int found = 0;
    const cublasStatus_t status = api().cublasLtMatmulAlgoGetHeuristic(
        handle, operations[scalars_on_device].get(), a.get(), b.get(), c.get(), c.get(),
        preference.get(), most, results.data(), &found);
    if (status != CUBLAS_STATUS_SUCCESS) found = 0;
    Offer offer{found, {}};
    for (int i = 0; i < found; ++i) {
      const cublasLtMatmulHeuristicResult_t& result = results[static_cast<std::size_t>(i)];
      if (result.state != CUBLAS_STATUS_SUCCESS ||
          leaves_out_the_end(result.algo, api().cublasLtMatmulAlgoConfigGetAttribute, k))
        continue;
      offer.right.push_back({result.algo, static_cast<std::int64_t>(result.workspaceSize)});
    }
    return offer;
  }
};

}  // namespace

std::string cublaslt_absence(const Problem& problem, DType in, DType out) {
  if (problem.k == 0) return "there is nothing to sum";
  if (has_wide_sums(in, out))
    return concat("cuBLASLt does not sum products of ", to_string(in), " in ", to_string(out));
  if (is_complex(in) && !blas_call(problem).conjugates_transposed_only()) {
    return "BLAS conjugates only what it transposes";
  }
  if (!api().library.loaded()) {
    return concat("cuBLASLt is not available (", api().library.failure(), ")");
  }
  return api().complete() ? "" : "cuBLASLt lacks a function";
}

std::vector<std::string> vendor_algorithms(Device device, const Problem& problem, DType in,
                                           DType out, int most) {
  std::vector<std::string> names;
  if (!cublaslt_absence(problem, in, out).empty()) return names;
  const Matmul matmul(blas_call(problem), in, out, problem.math);
  const DeviceGuard guard(device.index());
  for (const Algorithm& algorithm : matmul.offered(
           handle_of(device), false, make_preference(kWideAlignment, kWideAlignment), most))
    names.push_back(name_of(algorithm));
  return names;
}

struct CublasltMatmul::State {
  State(Device device, const Problem& problem, DType in, DType out, std::string_view chosen)
      : handle(handle_of(device)),
        exchanged(blas_call(problem).exchanged),
        matmul(blas_call(problem), in, out, problem.math) {
    const DeviceGuard guard(device.index());
    const Preference wide = make_preference(kWideAlignment, kWideAlignment);
    const Preference narrow = make_preference(size_of(in), size_of(out));
    for (const bool on_device : {false, true}) {
      auto& [unaligned, aligned] = algorithms[on_device];
      unaligned = best(on_device, narrow, "");
      aligned = best(on_device, wide, chosen);
      if (!aligned) aligned = unaligned;
    }
  }

  /// The algorithm of that name, or else the heuristic's first.
  Choice best(bool on_device, const Preference& preference, std::string_view named) const {
    const auto offered =
        matmul.offered(handle, on_device, preference, named.empty() ? 1 : kVendorAlgorithms);
    if (offered.empty()) return std::nullopt;
    const auto found = std::find_if(offered.begin(), offered.end(), [&](const auto& algorithm) {
      return name_of(algorithm) == named;
    });
    return found == offered.end() ? offered.front() : *found;
  }

  cublasLtHandle_t handle;
  bool exchanged;  // the canonical B goes first
  Matmul matmul;
  Choice algorithms[2][2];  // [scalars on device][pointers aligned to kWideAlignment]
};

CublasltMatmul::CublasltMatmul(Device device, const Problem& problem, DType in, DType out,
                               std::string_view chosen)
    : state_(std::make_unique<State>(device, problem, in, out, chosen)) {}
CublasltMatmul::~CublasltMatmul() = default;

bool CublasltMatmul::available(bool scalars_on_device) const noexcept {
  return state_->algorithms[scalars_on_device][0].has_value();
}

std::int64_t CublasltMatmul::workspace_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const auto& side : state_->algorithms) {
    for (const Choice& algorithm : side)
      if (algorithm) bytes = std::max(bytes, algorithm->workspace_bytes);
  }
  return bytes;
}

void CublasltMatmul::run(const Stream& stream, bool scalars_on_device, const void* alpha,
                         const void* a, const void* b, const void* beta, void* c,
                         void* workspace) const {
  const State& s = *state_;
  const Matmul& matmul = s.matmul;
  const Choice& algorithm = s.algorithms[scalars_on_device][aligned({a, b, c})];
  if (s.exchanged) std::swap(a, b);
  const DeviceGuard guard(stream.device().index());
  runtime::note_launch(stream.native());
  check(api().cublasLtMatmul(s.handle, matmul.operations[scalars_on_device].get(), alpha, a,
                             matmul.a.get(), b, matmul.b.get(), beta, c, matmul.c.get(), c,
                             matmul.c.get(), &algorithm->code, workspace,
                             static_cast<std::size_t>(algorithm->workspace_bytes), stream.native()),
        "cublasLtMatmul");
}

std::string CublasltMatmul::describe() const {
  const auto& algorithms = state_->algorithms;
  return concat("cuBLASLt ", api().cublasLtGetVersion(), ", algorithm ", name_of(algorithms[0][1]),
                ", unaligned ", name_of(algorithms[0][0]), "; scalars in device memory ",
                name_of(algorithms[1][1]), ", unaligned ", name_of(algorithms[1][0]));
}

}  // namespace lanky::dense::cuda
