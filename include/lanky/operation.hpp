// How a product is formed: transposes, arithmetic, and the scalars alpha and beta.
#pragma once

#include <cstdint>
#include <lanky/error.hpp>

namespace lanky {

/// op(A) is A, its transpose, or its conjugate transpose (of real types: the transpose).
enum class Op : std::uint8_t { none, trans, conj_trans };

/// Arithmetic of dense products of float. ieee never lowers precision; tf32 rounds the factors to
/// 11 significand bits; tf32x3 recovers float accuracy from three tf32 products. Both by request
/// only.
enum class Math : std::uint8_t { ieee, tf32, tf32x3 };

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

}  // namespace lanky
