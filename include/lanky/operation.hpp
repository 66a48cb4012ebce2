// How a product is formed: transposes, arithmetic, and the scalars alpha and beta.
#pragma once

#include <cstdint>
#include <lanky/error.hpp>
#include <lanky/export.hpp>
#include <string_view>

namespace lanky::inline v1 {

/// op(A) is A, its transpose, or its conjugate transpose (of real types: the transpose).
enum class Op : std::uint8_t { none, trans, conj_trans };

/// How much products of float may be rounded. ieee never lowers precision. tf32 rounds factors to
/// 11 significand bits, a relative error of up to 2^-10 a product. tf32x3 splits factors in two and
/// adds up the three largest of four tf32 products: up to 3 * 2^-22. Both are permissions, by
/// request only: kernels that do not have them compute in ieee.
enum class Math : std::uint8_t { ieee, tf32, tf32x3 };
/// "ieee", "tf32" or "tf32x3".
LANKY_EXPORT std::string_view to_string(Math math) noexcept;

/// Which units of a GPU multiply; automatic: those that the plan predicts to be faster. The CPU
/// takes no notice of it.
enum class Engine : std::uint8_t { automatic, cuda_cores, tensor_cores };
/// "automatic", "cuda_cores" or "tensor_cores".
LANKY_EXPORT std::string_view to_string(Engine engine) noexcept;

/// alpha or beta: a value known to the host, or one in device memory that is read when the work
/// runs (so that a captured graph can be replayed with another value).
template <class T>
class Scalar {
 public:
  Scalar(T value) noexcept : value_(value) {}  // NOLINT: implicit
  /// Throws Error(invalid_argument) for a null pointer.
  static Scalar on_device(const T* pointer) {
    if (pointer == nullptr) {
      throw Error(ErrorCode::invalid_argument, "a scalar in device memory has a null pointer");
    }
    Scalar scalar{T{}};
    scalar.pointer_ = pointer;
    return scalar;
  }

  /// The host's value; meaningless where pointer() is set.
  T value() const noexcept { return value_; }
  const T* pointer() const noexcept { return pointer_; }

 private:
  T value_;
  const T* pointer_ = nullptr;
};

/// Memory that a caller lends to one run of a plan, on the plan's device, so that runs may overlap.
struct Workspace {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

}  // namespace lanky::inline v1
