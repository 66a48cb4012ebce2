#include "dense/cpu/openblas.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/shared_library.hpp"
#include "core/text.hpp"
#include "dense/cpu/register_tiles.hpp"

namespace lanky::dense::cpu {

namespace {

/// cblas_dgemm and cblas_sgemm, with their enumerations as int.
template <class T>
using CblasGemm = void(int order, int trans_a, int trans_b, int m, int n, int k, T alpha,
                       const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);
/// Whose kernels it has chosen.
using CoreName = char*();
constexpr int kColMajor = 102;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;

struct Openblas {
  SharedLibrary library{"libopenblas.so.0", "libopenblas.so"};
  CblasGemm<double>* dgemm = library.function<CblasGemm<double>>("cblas_dgemm");
  CblasGemm<float>* sgemm = library.function<CblasGemm<float>>("cblas_sgemm");
  CoreName* core_name = library.function<CoreName>("openblas_get_corename");
};

const Openblas& openblas() {
  static const Openblas instance;
  return instance;
}

/// Its kernels with AVX2. A processor that is newer than the library may get others: on a Xeon with
/// AVX-512, OpenBLAS 0.3.21 took those of Prescott, and 1000 x 1000 x 1000 took 3.4 times as long
/// as by our tiles (.84 times with those of SkylakeX, f64, one thread).
constexpr std::string_view kModernCores[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake",
                                             "SapphireRapids"};

/// The processor for which OpenBLAS takes this one, where that is one without its vectors; ""
/// otherwise.
std::string outdated_core() {
  const bool vectors = register_tiles<double>().width > baseline::tiles_f64.width;
  if (!vectors || openblas().core_name == nullptr) return "";
  const std::string_view core = openblas().core_name();
  const bool modern =
      std::find(std::begin(kModernCores), std::end(kModernCores), core) != std::end(kModernCores);
  return modern ? "" : std::string(core);
}

}  // namespace

std::string openblas_drawback(const Problem& problem) {
  std::string absence = openblas_absence(problem);
  if (!absence.empty()) return absence;
  const std::string core = outdated_core();
  return core.empty() ? "" : concat("OpenBLAS takes this processor for ", core);
}

std::string openblas_absence(const Problem& problem) {
  const BlasCall call = blas_call(problem);
  const std::int64_t largest = std::max({call.m, call.n, call.k, call.lda, call.ldb, call.ldc});
  if (largest > std::numeric_limits<int>::max()) {
    return concat("a size of ", largest, " exceeds OpenBLAS's 32-bit int");
  }
  if (!openblas().library.loaded()) {
    return concat("OpenBLAS is not available (", openblas().library.failure(), ")");
  }
  if (openblas().dgemm == nullptr || openblas().sgemm == nullptr) {
    return "OpenBLAS lacks cblas_dgemm or cblas_sgemm";
  }
  return "";
}

template <class T>
void OpenblasExecutor<T>::run(const Stream& /*stream*/, const Operands<T, T>& g) const {
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  const auto trans = [](bool transposed) { return transposed ? kTrans : kNoTrans; };
  CblasGemm<T>* gemm = nullptr;
  if constexpr (std::is_same_v<T, double>) {
    gemm = openblas().dgemm;
  } else {
    gemm = openblas().sgemm;
  }
  const T* first = call_.exchanged ? g.b : g.a;
  const T* second = call_.exchanged ? g.a : g.b;
  const T alpha = load(g.alpha);
  const std::int64_t k = alpha == T{} ? 0 : call_.k;  // some versions read A and B at alpha = 0
  gemm(kColMajor, trans(call_.trans_a), trans(call_.trans_b), size(call_.m), size(call_.n), size(k),
       alpha, first, std::max(1, size(call_.lda)), second, std::max(1, size(call_.ldb)),
       load(g.beta), g.c, size(call_.ldc));
}

template <class T>
void OpenblasExecutor<T>::describe(GemmInfo& info) const {
  std::string configuration =
      concat("OpenBLAS cblas_", std::is_same_v<T, double> ? "d" : "s", "gemm, ",
             call_.trans_a ? "T" : "N", call_.trans_b ? "T" : "N");
  info.routes = {{.kernel = "OpenBLAS", .configuration = std::move(configuration), .vendor = true}};
}

template class OpenblasExecutor<double>;
template class OpenblasExecutor<float>;

}  // namespace lanky::dense::cpu
