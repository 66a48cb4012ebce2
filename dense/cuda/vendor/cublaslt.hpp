// Products that go to cuBLASLt, opened at run time: the regular ones, and skinny ones where it
// wins. The algorithm is fixed when the plan is made, by the library's heuristic or by the caller,
// so that equal plans give equal bits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dense/backend.hpp"

namespace lanky::dense::cuda {

/// Why cuBLASLt cannot compute this product (not installed, an empty sum, a conjugate that BLAS has
/// no word for, sums wider than those of its operands' type); "" where it can.
std::string cublaslt_absence(const Problem& problem, DType in, DType out);

/// One product in cuBLASLt's terms; owns its descriptors.
class CublasltMatmul {
 public:
  /// The algorithm of the name `chosen` (of vendor_algorithms()) computes where pointers are
  /// aligned to 16 bytes and the heuristic offers it; what the heuristic takes for the fastest
  /// otherwise.
  CublasltMatmul(Device device, const Problem& problem, DType in, DType out,
                 std::string_view chosen);
  CublasltMatmul(const CublasltMatmul&) = delete;
  CublasltMatmul& operator=(const CublasltMatmul&) = delete;
  ~CublasltMatmul();

  /// False where the library has no algorithm for scalars on that side.
  bool available(bool scalars_on_device) const noexcept;
  std::int64_t workspace_bytes() const noexcept;
  /// The canonical A and B. alpha and beta: both in device memory, or both in host memory.
  void run(const Stream& stream, bool scalars_on_device, const void* alpha, const void* a,
           const void* b, const void* beta, void* c, void* workspace) const;
  std::string describe() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lanky::dense::cuda
