// Structs that cross the C interface with their size, so that programs compiled with older or newer
// headers work: members that one side does not know have their defaults, which are zeros.
#pragma once

#include <lanky/lanky.h>
#include <lanky/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "capi/status.hpp"

namespace lanky::capi {

/// Name, and bytes in the version that brought the struct, which never change: no caller has less.
template <class S>
struct StructTraits;

#define LANKY_CAPI_STRUCT(type, bytes)                                          \
  static_assert(std::is_trivially_copyable_v<type> && sizeof(type) >= (bytes)); \
  template <>                                                                   \
  struct StructTraits<type> {                                                   \
    static constexpr const char* kName = #type;                                 \
    static constexpr std::size_t kFirstBytes = (bytes);                         \
  }
LANKY_CAPI_STRUCT(lanky_allocator, 32);
LANKY_CAPI_STRUCT(lanky_run_options, 32);
LANKY_CAPI_STRUCT(lanky_sparse_options, 56);
LANKY_CAPI_STRUCT(lanky_sddmm_options, 32);
LANKY_CAPI_STRUCT(lanky_gemm_shape, 72);
LANKY_CAPI_STRUCT(lanky_gemm_options, 32);
LANKY_CAPI_STRUCT(lanky_gemm_query, 48);
LANKY_CAPI_STRUCT(lanky_io_read_options, 32);
LANKY_CAPI_STRUCT(lanky_device_properties, 312);
LANKY_CAPI_STRUCT(lanky_sparse_info, 40);
LANKY_CAPI_STRUCT(lanky_sparse_trial, 272);
LANKY_CAPI_STRUCT(lanky_gemm_info, 64);
LANKY_CAPI_STRUCT(lanky_gemm_route, 1032);
LANKY_CAPI_STRUCT(lanky_gemm_choice, 272);
LANKY_CAPI_STRUCT(lanky_io_header, 40);
LANKY_CAPI_STRUCT(lanky_operator_functions, 48);
LANKY_CAPI_STRUCT(lanky_eigen_problem, 48);
LANKY_CAPI_STRUCT(lanky_eigen_options, 80);
LANKY_CAPI_STRUCT(lanky_eigen_info, 112);
LANKY_CAPI_STRUCT(lanky_linear_options, 56);
LANKY_CAPI_STRUCT(lanky_linear_info, 48);
LANKY_CAPI_STRUCT(lanky_svd_options, 80);
LANKY_CAPI_STRUCT(lanky_svd_info, 144);
LANKY_CAPI_STRUCT(lanky_cholesky_qr_options, 40);
#undef LANKY_CAPI_STRUCT

// Views have no size, and hence stay as they are.
static_assert(sizeof(lanky_device) == 8 && sizeof(lanky_vector_view) == 16 &&
              sizeof(lanky_matrix_view) == 40 && sizeof(lanky_csr_view) == 56 &&
              sizeof(lanky_solver_progress) == 48);

/// Larger sizes are no sizes, but memory that nobody initialized.
inline constexpr std::size_t kMostBytes = 4096;

/// Throws Error(invalid_argument) unless `size` may be that of an S.
template <class S>
void check_size(std::size_t size, const char* hint) {
  if (size >= StructTraits<S>::kFirstBytes && size <= kMostBytes) return;
  throw Error(ErrorCode::invalid_argument, std::string("the size of a ") + StructTraits<S>::kName +
                                               " is told as " + std::to_string(size) +
                                               " bytes, but this version's has " +
                                               std::to_string(sizeof(S)) + hint);
}

/// Writes the defaults into the caller's struct of `size` bytes.
template <class S>
lanky_status init_struct(S* caller, std::size_t size, S defaults) noexcept {
  return guarded([&] {
    if (caller == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  std::string("the ") + StructTraits<S>::kName + " to initialize is NULL");
    }
    check_size<S>(size, "; pass sizeof");
    defaults.size = size;
    std::memset(static_cast<void*>(caller), 0, size);
    std::memcpy(static_cast<void*>(caller), &defaults, std::min(size, sizeof(S)));
  });
}

/// The caller's struct over the defaults. Throws Error: invalid_argument (a size that is none),
/// unsupported (members that this version does not know are set).
template <class S>
S read_struct(const S& caller, S defaults) {
  const std::size_t size = caller.size;
  check_size<S>(size, (std::string("; ") + StructTraits<S>::kName + "_init() sets it").c_str());
  const auto* bytes = reinterpret_cast<const unsigned char*>(&caller);
  for (std::size_t i = sizeof(S); i < size; ++i) {
    if (bytes[i] != 0) {
      throw Error(ErrorCode::unsupported, std::string("byte ") + std::to_string(i) + " of a " +
                                              StructTraits<S>::kName +
                                              " is set, but this version of lanky knows " +
                                              std::to_string(sizeof(S)) + " bytes alone");
    }
  }
  std::memcpy(static_cast<void*>(&defaults), &caller, std::min(size, sizeof(S)));
  return defaults;
}

/// The caller's struct, or the defaults where there is none.
template <class S>
S read_struct(const S* caller, const S& defaults) {
  return caller == nullptr ? defaults : read_struct(*caller, defaults);
}

/// Fills the caller's struct of `size` bytes with what make() returns; with zeros where that fails.
template <class S, class Make>
lanky_status make_struct(S* caller, std::size_t size, Make&& make) noexcept {
  return guarded([&] {
    if (caller == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  std::string("the ") + StructTraits<S>::kName + " to fill in is NULL");
    }
    check_size<S>(size, "; pass sizeof");
    std::memset(static_cast<void*>(caller), 0, size);
    const S made = make();
    std::memcpy(static_cast<void*>(caller), &made, std::min(size, sizeof(S)));
  });
}

}  // namespace lanky::capi
