// Products of rows in chunk_kernels_<isa>.cpp, for sampled products: a row of X with some of Y, all
// of adjacent elements. Two times kRows lanes have every 2 kRows-th product each, so that the order
// of summation depends on the length alone. Included once by each of them, behind
// chunk_kernels_isa.hpp.

namespace lanky::sparse::cpu {

namespace {

/// The `count` < kRows elements from `from` on, and zeros, at `to`.
template <class Elements>
LANKY_INLINE void copy_rest(const typename Elements::Stored* from, std::int64_t count,
                            typename Elements::Stored* to) {
  constexpr int kReals = Elements::kReals;
  for (std::int64_t i = 0; i < kRows * kReals; ++i)
    to[i] = i < count * kReals ? from[i] : typename Elements::Stored(0);
}

template <class Elements>
void add_dots(const DotsArguments& task) {
  using Stored = typename Elements::Stored;
  using Real = typename Elements::Real;
  constexpr int kReals = Elements::kReals;
  constexpr int kStep = kRows * kReals;
  const auto* const x = static_cast<const Stored*>(task.x);
  auto* const sums = static_cast<Real*>(task.sums);
  const std::int64_t rest = task.length % kRows;
  const std::int64_t whole = (task.length - rest) * kReals;
  Stored rest_of_x[kStep];
  if (rest > 0) copy_rest<Elements>(x + whole, rest, rest_of_x);
  for (std::int64_t i = 0; i < task.entries; ++i) {
    const auto* const y =
        static_cast<const Stored*>(task.y) + task.columns[i] * task.y_pitch * kReals;
    typename Elements::Sums even;
    typename Elements::Sums odd;
    std::int64_t c = 0;
    for (; c + 2 * kStep <= whole; c += 2 * kStep) {
      Elements::add(even, Elements::values(x + c), Elements::contiguous(y + c));
      Elements::add(odd, Elements::values(x + c + kStep), Elements::contiguous(y + c + kStep));
    }
    if (c < whole) Elements::add(even, Elements::values(x + c), Elements::contiguous(y + c));
    if (rest > 0) {
      Stored rest_of_y[kStep];
      copy_rest<Elements>(y + whole, rest, rest_of_y);
      Elements::add(odd, Elements::values(rest_of_x), Elements::contiguous(rest_of_y));
    }
    Elements::merge(even, odd);
    Real total[kReals];
    Elements::reduce(even, total);
#pragma GCC unroll 2
    for (int part = 0; part < kReals; ++part)
      sums[i * kReals + part] += total[part];
  }
}

}  // namespace

}  // namespace lanky::sparse::cpu
