// Tall matrices of a given condition number, which lanky's CholeskyQr and a vendor's factor.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>

#include "examples/cholqr/tall_work.hpp"

namespace lanky::examples::cholqr {

/// A[m, n] = X S: X uniform in (-1, 1), S = diag(1 .. 1 / condition, geometric) times a random
/// orthogonal matrix. Where m is far above n, A has about that condition number.
template <class T>
void fill_conditioned(const Stream& stream, TallWork<T>& work, double condition, std::uint64_t seed,
                      MatrixView<T> scratch, MatrixView<T> a);

}  // namespace lanky::examples::cholqr
