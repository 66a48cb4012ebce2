#include "bench/vendor.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <lanky/error.hpp>

namespace lanky::bench {

namespace {

struct Module {
  Vendor* vendor = nullptr;
  std::string failure;
};

/// Beside the program, in ../lib, or wherever the loader finds it.
Module open_module() {
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  Module module;
  const std::filesystem::path name = "liblanky_vendor.so";
  for (const auto& path : {folder / name, folder / "../lib" / name, name}) {
    if (path != name && !exists(path, ignored)) continue;
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      if (module.failure.empty()) module.failure = dlerror();
      continue;
    }
    auto* function = reinterpret_cast<Vendor* (*)()>(dlsym(handle, "lanky_vendor"));
    if (function != nullptr) return {function(), ""};
    module.failure = path.string() + " has no function lanky_vendor";
  }
  return module;
}

}  // namespace

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
  static const Module module = open_module();
  if (module.vendor == nullptr)
    throw Error(ErrorCode::unsupported, "no cuBLAS and cuSPARSE: " + module.failure);
  return *module.vendor;
}

}  // namespace lanky::bench
