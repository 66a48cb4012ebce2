// The name that lanky gives to an algorithm of cuBLASLt, and which are wrong, for code that has its
// header.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <string>

#include "core/text.hpp"

namespace lanky {

/// An attribute of an algorithm, an integer of that size. `get` is the library's function.
template <class Integer>
Integer algorithm_attribute(const cublasLtMatmulAlgo_t& algorithm,
                            decltype(&cublasLtMatmulAlgoConfigGetAttribute) get,
                            cublasLtMatmulAlgoConfigAttributes_t which) {
  Integer value{};
  std::size_t written = 0;
  get(&algorithm, which, &value, sizeof value, &written);
  return value;
}

/// "24 tile 20 stages 7 split 1 ...": all that the library tells of an algorithm, which tells those
/// that it offers for one product apart.
inline std::string algorithm_name(const cublasLtMatmulAlgo_t& algorithm,
                                  decltype(&cublasLtMatmulAlgoConfigGetAttribute) get) {
  const auto word = [&](auto which) {
    return algorithm_attribute<std::int32_t>(algorithm, get, which);
  };
  const auto half = [&](auto which) {
    return algorithm_attribute<std::uint16_t>(algorithm, get, which);
  };
  return concat(word(CUBLASLT_ALGO_CONFIG_ID), " tile ", word(CUBLASLT_ALGO_CONFIG_TILE_ID),
                " stages ", word(CUBLASLT_ALGO_CONFIG_STAGES_ID), " split ",
                word(CUBLASLT_ALGO_CONFIG_SPLITK_NUM), " swizzle ",
                word(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING), " custom ",
                word(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION), " inner ",
                half(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID), " cluster ",
                half(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

/// Whether it leaves out the last of k. Algorithm 66 of cuBLAS 13.1 gives each of its parts
/// floor(k / parts) elements, rounded up to a multiple of 64: too few in all where that is one
/// already, and the parts do not divide k (docs/lab/vendor.md).
inline bool leaves_out_the_end(const cublasLtMatmulAlgo_t& algorithm,
                               decltype(&cublasLtMatmulAlgoConfigGetAttribute) get,
                               std::int64_t k) {
  const auto id = algorithm_attribute<std::int32_t>(algorithm, get, CUBLASLT_ALGO_CONFIG_ID);
  const std::int64_t parts =
      algorithm_attribute<std::int32_t>(algorithm, get, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  return id == 66 && parts > 1 && k % parts != 0 && k / parts % 64 == 0;
}

}  // namespace lanky
