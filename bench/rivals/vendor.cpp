#include "bench/rivals/vendor.hpp"

#include <lanky/error.hpp>

#include "core/module_path.hpp"
#include "core/shared_library.hpp"

namespace lanky::bench {

std::vector<VendorRoutine> vendor_routines(const GemmCall& gemm) {
  std::vector<VendorRoutine> routines = {VendorRoutine::gemmex, VendorRoutine::lt_best};
  if (gemv_call(gemm).exists) routines.push_back(VendorRoutine::gemv);
  const bool half = is_half(gemm.type.in);
  // herk takes the diagonal of C for real: with beta it would not be the product asked for.
  const bool herk = gemm.shape.op_a == Op::conj_trans || gemm.shape.op_b == Op::conj_trans;
  if (gemm.symmetric && !half && gemm.type.math != Math::tf32 && !(herk && gemm.beta != 0))
    routines.push_back(VendorRoutine::syrk);
  return routines;
}

Vendor& gpu_vendor() {
  static const SharedLibrary module({module_path("liblanky_vendor.so")});
  auto* const vendor = module.function<Vendor*()>("lanky_vendor");
  if (vendor == nullptr)
    throw Error(ErrorCode::unsupported, "no cuBLAS and cuSPARSE: " + module.failure());
  return *vendor();
}

}  // namespace lanky::bench
