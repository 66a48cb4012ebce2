#include "sparse/policy.hpp"

#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::sparse {

PathChoice choose_path(SpmvPath requested, DType dtype, Device device) {
  const bool has_mma = dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
  if (requested == SpmvPath::mma && !has_mma) {
    throw Error(ErrorCode::unsupported, concat("tensor cores have no IEEE product of ", name(dtype),
                                               "; use SpmvPath::automatic or SpmvPath::cuda"));
  }
  if (!device.is_cuda()) return {SpmvPath::cuda, "the cpu replays the tiles, on every path alike"};
  if (requested == SpmvPath::mma) return {SpmvPath::mma, "asked for"};
  if (requested == SpmvPath::cuda) return {SpmvPath::cuda, "asked for"};
  if (!has_mma) return {SpmvPath::cuda, "tensor cores have no IEEE product of this type"};
  return {SpmvPath::mma, "tensor cores keep this type's precision, and one vector is memory-bound"};
}

}  // namespace lanky::sparse
