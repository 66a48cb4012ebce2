#include "examples/cholqr/cholqr.hpp"

#include <cmath>
#include <lanky/buffer.hpp>
#include <lanky/dense.hpp>
#include <vector>

#include "examples/support/uniform.hpp"

namespace lanky::examples::cholqr {

namespace {

/// [n, n], column major: diag(geometric) (I - 2 v v^T) (I - 2 w w^T), v and w random.
std::vector<double> small_factor(std::int64_t n, double condition, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> s(size * size);
  for (std::size_t i = 0; i < size; ++i)
    s[i + i * size] =
        n == 1 ? 1 : std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  for (int reflection = 0; reflection < 2; ++reflection) {
    std::vector<double> v(size);
    double square = 0;
    for (std::size_t i = 0; i < size; ++i) {
      v[i] = 2 * uniform(seed, reflection * n + static_cast<std::int64_t>(i)) - 1;
      square += v[i] * v[i];
    }
    for (std::size_t i = 0; i < size; ++i) {
      double product = 0;
      for (std::size_t j = 0; j < size; ++j)
        product += s[i + j * size] * v[j];
      for (std::size_t j = 0; j < size; ++j)
        s[i + j * size] -= 2 * product / square * v[j];
    }
  }
  return s;
}

}  // namespace

template <class T>
void fill_conditioned(const Stream& stream, TallWork<T>& work, double condition, std::uint64_t seed,
                      MatrixView<T> scratch, MatrixView<T> a) {
  work.fill(stream, seed, scratch);
  const std::vector<double> factor = small_factor(a.cols, condition, ~seed);
  Matrix<T> small(stream, a.cols, a.cols);
  small.buffer().copy_from(std::vector<T>(factor.begin(), factor.end()));
  gemm<T>(stream, Op::none, Op::none, T{1}, scratch, small.view(), T{0}, a);
}

template void fill_conditioned(const Stream&, TallWork<double>&, double, std::uint64_t,
                               MatrixView<double>, MatrixView<double>);
template void fill_conditioned(const Stream&, TallWork<float>&, double, std::uint64_t,
                               MatrixView<float>, MatrixView<float>);

}  // namespace lanky::examples::cholqr
