// Rungs of the SpMV ladder on a GPU: scalar CSR (a thread a row), CSR with a warp a row, DASP. Each
// runs whole, without its gathers of x, or without its arithmetic.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string_view>

#include "bench/ladder/dasp.hpp"

namespace lanky::ladder {

/// What a product leaves out, so that the time it misses tells what that costs.
///
/// gathers: every load of x[column] reads x[0] instead. Columns are loaded as ever and masked with
/// a
///   number that only the launch knows (0 here, all ones otherwise): the same code, the same
///   instructions. What is left out is that lanes read different sectors, and all misses; a load
///   that hits the first cache stays. y is A x with all of x equal to x[0].
/// arithmetic: products and sums (mma, FMA, sums over lanes) become the exclusive or of all bits
///   that were loaded. That is other code: registers and unrolling may differ. Where xor costs as
///   much as FMA (CSR in f32; two xors stand for a DFMA) only latency differs, and the arithmetic
///   seems to cost nothing. y has no meaning, but is written by the lanes that write it otherwise.
///
/// Parts overlap in time: whole = gathers + arithmetic + the rest holds by definition of the rest,
/// and a part that hides behind another costs nothing here.
enum class Leave : std::uint8_t { nothing, gathers, arithmetic };

/// "nothing", "gathers", "arithmetic".
constexpr std::string_view to_string(Leave leave) noexcept {
  return leave == Leave::nothing ? "nothing" : leave == Leave::gathers ? "gathers" : "arithmetic";
}

/// A matrix in the memory of the stream's device, index base 0. The arrays must outlive its rungs.
struct DeviceCsr {
  DType dtype = DType::f64;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  RowOffsets offsets{};                   // [rows + 1]
  const std::int32_t* columns = nullptr;  // [nnz]
  const void* values = nullptr;           // [nnz]
};

class SpmvRung {
 public:
  virtual ~SpmvRung() = default;
  /// y = A x on the stream, a GPU's. Allocates nothing and waits for nothing; one run at a time.
  /// x: [cols], y: [rows], both of the matrix's type, in the memory of the device.
  virtual void run(const Stream& stream, const void* x, void* y, Leave leave) = 0;
  /// Of the matrix as this rung reads it, and its workspace.
  virtual std::int64_t bytes() const = 0;
};

/// Types f64, f32, f16; Error(unsupported) for others. Sums of f16 are of f32.
std::unique_ptr<SpmvRung> make_csr_scalar(const Stream& stream, const DeviceCsr& a);
std::unique_ptr<SpmvRung> make_csr_warp(const Stream& stream, const DeviceCsr& a);

/// Uploads the layout, made for `dtype` (f64 or f16), and takes the values [nnz], in the order of
/// CSR and in the memory of the device, to their slots; neither is needed afterwards.
std::unique_ptr<SpmvRung> make_dasp(const Stream& stream, const DaspPattern& dasp, DType dtype,
                                    const void* values);

}  // namespace lanky::ladder
