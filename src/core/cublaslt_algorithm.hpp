// The name that lanky gives to an algorithm of cuBLASLt, for code that has its header.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <string>

#include "core/text.hpp"

namespace lanky {

/// "24 tile 20 stages 7 split 1 ...": all that the library tells of an algorithm, which tells those
/// that it offers for one product apart. `get` is the library's function.
inline std::string algorithm_name(const cublasLtMatmulAlgo_t& algorithm,
                                  decltype(&cublasLtMatmulAlgoConfigGetAttribute) get) {
  const auto attribute = [&](cublasLtMatmulAlgoConfigAttributes_t which, auto value) {
    std::size_t written = 0;
    get(&algorithm, which, &value, sizeof value, &written);
    return value;
  };
  const auto word = [&](auto which) { return attribute(which, std::int32_t{}); };
  const auto half = [&](auto which) { return attribute(which, std::uint16_t{}); };
  return concat(word(CUBLASLT_ALGO_CONFIG_ID), " tile ", word(CUBLASLT_ALGO_CONFIG_TILE_ID),
                " stages ", word(CUBLASLT_ALGO_CONFIG_STAGES_ID), " split ",
                word(CUBLASLT_ALGO_CONFIG_SPLITK_NUM), " swizzle ",
                word(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING), " custom ",
                word(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION), " inner ",
                half(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID), " cluster ",
                half(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

}  // namespace lanky
