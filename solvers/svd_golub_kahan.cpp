// Block Lanczos bidiagonalization (Golub and Kahan, SIAM J. Numer. Anal. 2, 1965) with full
// reorthogonalization and thick restarts (Baglama and Reichel, SIAM J. Sci. Comput. 27, 2005).
//
// Orthonormal U [m, c] and V [n, c + w] with A V_c = U B and A^H U = V_c B^H + V_w [0 S]: V_w are
// the last w columns, S [w, last] stands beside the last block of U. B = P diag(s) Q^H gives the
// triplets U P, s, V Q, whose residuals |S P_last| need no product. B is U^H (A V), multiplied: no
// recurrence is trusted, and a restart needs no case of its own. The gram products of passes of
// orthogonalization are these products, too.
#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/error.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "solvers/svd_methods.hpp"

namespace lanky::solvers {

namespace {

/// Columns of a block. One of 16 needs .86 times the iterations, and 1.7 times the products (20
/// triplets of mixed:20000:20:8000, seed 3, cycles of 12 steps).
constexpr std::int64_t kBlock = 8;
constexpr std::int64_t kAtOnce = 32;  // columns that a restart makes orthonormal together

/// How large bases become.
struct Sizes {
  std::int64_t kept;      // by a restart
  std::int64_t capacity;  // of U
  std::int64_t widest;    // block, that of a refresh included
};

Sizes sizes_of(const SvdOptions& options) {
  constexpr std::int64_t kSteps = 10;  // of a cycle, at least
  const std::int64_t kept = options.k + options.oversampling;
  return {kept, std::max(kept + kSteps * kBlock, 3 * kept), std::max(kBlock, kept)};
}

template <class T>
class GolubKahan {
  using W = Wide<T>;

 public:
  explicit GolubKahan(SvdWork<T>& work)
      : work_(work),
        k_(work.options.k),
        sizes_(sizes_of(work.options)),
        u_(work, work.a.rows(), sizes_.capacity, kAtOnce),
        v_(work, work.a.cols(), sizes_.capacity + sizes_.widest, kAtOnce),
        spare_(work.stream, work.a.rows(), 2 * sizes_.widest, Layout::row, 0,
               work.options.allocator) {}

  SvdOutcome<T> run();

 private:
  /// Columns of V that have no image in U yet.
  std::int64_t width() const { return v_.size() - u_.size(); }
  bool full() const { return u_.size() + width() > sizes_.capacity; }
  MatrixView<T> spare(std::int64_t rows, std::int64_t cols) {
    return {spare_.buffer().data(), rows, cols, Layout::row};
  }

  void step();
  void decompose();
  bool converged();
  bool confirmed() const;
  void rotate_v(std::int64_t kept, std::int64_t residual_columns);
  void rotate_u(std::int64_t kept);
  void restart();
  void confirm();
  void refresh();
  SvdOutcome<T> outcome();

  SvdWork<T>& work_;
  std::int64_t k_;
  Sizes sizes_;
  Basis<T> u_;
  Basis<T> v_;
  Matrix<T> spare_;  // a product, or what a restart rotates
  SmallMatrix<W> b_;
  SmallMatrix<W> s_;
  SmallSvd<W> svd_;  // of B, when it was last looked at
  std::vector<double> residuals_;
  std::vector<double> confirmed_;  // values that a random block is to confirm
  bool first_cycle_ = true;
  int refreshes_ = 0;
  int iteration_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  int best_iteration_ = 0;
  SolverStatus status_ = SolverStatus::converged;
  bool done_ = false;
};

template <class T>
SmallMatrix<T> enlarged(const SmallMatrix<T>& a, std::int64_t rows, std::int64_t cols) {
  SmallMatrix<T> larger(rows, cols);
  for (std::int64_t j = 0; j < a.cols(); ++j)
    std::copy_n(&a(0, j), a.rows(), &larger(0, j));
  return larger;
}

/// A block more of U, the next one of V.
template <class T>
void GolubKahan<T>::step() {
  const std::int64_t w = width();
  const std::int64_t before = u_.size();
  const MatrixView<T> image = spare(work_.a.rows(), w);
  work_.a.apply(work_.stream, v_.columns(before, w), image);
  const SmallMatrix<W> columns = u_.append_and_multiply(read_only(image), work_.scale);
  b_ = enlarged(b_, before + w, before + w);
  for (std::int64_t j = 0; j < w; ++j)
    std::copy_n(&columns(0, j), before + w, &b_(0, before + j));

  const MatrixView<T> back = spare(work_.a.cols(), w);
  work_.a.apply_adjoint(work_.stream, u_.columns(before, w), back);
  const SmallMatrix<W> of_back = v_.append_and_multiply(read_only(back), work_.scale);
  s_ = SmallMatrix<W>(w, w);
  for (std::int64_t j = 0; j < w; ++j)
    std::copy_n(&of_back(of_back.rows() - w, j), w, &s_(0, j));
}

/// The triplets of B and their residuals.
template <class T>
void GolubKahan<T>::decompose() {
  svd_ = small_svd(b_);
  const std::int64_t first = b_.rows() - s_.cols();
  residuals_.clear();
  for (std::int64_t j = 0; j < k_; ++j) {
    double square = 0;
    for (std::int64_t i = 0; i < s_.rows(); ++i) {
      W sum{};
      for (std::int64_t l = 0; l < s_.cols(); ++l)
        sum += s_(i, l) * svd_.left(first + l, j);
      square += std::norm(sum);
    }
    residuals_.push_back(std::sqrt(square));
  }
}

/// V's kept triplets, and the columns after those that B knows of.
template <class T>
void GolubKahan<T>::rotate_v(std::int64_t kept, std::int64_t residual_columns) {
  const std::int64_t known = u_.size();
  const MatrixView<T> rotated = spare(work_.a.cols(), kept + residual_columns);
  combine_columns<T>(work_, v_.columns(0, known), svd_.right, columns_of(rotated, 0, kept));
  work_.work->combine(1, read_only(v_.columns(known, residual_columns)), 0,
                      columns_of(rotated, kept, residual_columns));
  v_.clear();
  v_.append(read_only(rotated));
}

template <class T>
void GolubKahan<T>::rotate_u(std::int64_t kept) {
  const MatrixView<T> rotated = spare(work_.a.rows(), kept);
  combine_columns<T>(work_, u_.all(), svd_.left, rotated);
  u_.clear();
  u_.append(read_only(rotated));
  b_ = SmallMatrix<W>(kept, kept);
  for (std::int64_t j = 0; j < kept; ++j)
    b_(j, j) = svd_.values[static_cast<std::size_t>(j)];
}

template <class T>
void GolubKahan<T>::restart() {
  rotate_v(sizes_.kept, width());
  rotate_u(sizes_.kept);
}

/// The converged triplets alone, and a random block beside them: a cycle finds copies of multiple
/// singular values that the first block has missed.
template <class T>
void GolubKahan<T>::confirm() {
  confirmed_.assign(svd_.values.begin(), svd_.values.begin() + k_);
  rotate_v(k_, 0);
  rotate_u(k_);
  work_.work->fill_random(work_.options.seed + static_cast<std::uint64_t>(iteration_), 0,
                          v_.next(kBlock));
  v_.append(kBlock);
}

/// Begins anew with what is kept of V: roundings of many restarts are forgotten.
template <class T>
void GolubKahan<T>::refresh() {
  ++refreshes_;
  rotate_v(std::min(sizes_.kept, u_.size()), 0);
  u_.clear();
  b_ = SmallMatrix<W>();
}

/// Whether all that are wanted have converged, by what B tells; other ends leave `done_`.
template <class T>
bool GolubKahan<T>::converged() {
  // Residuals are computed anew at the end, where those of confirm() and roundings are added.
  constexpr double kShare = 0.7;
  constexpr int kPatience = 300;
  const double largest = svd_.values.front();
  const std::int64_t count = count_converged(svd_.values, residuals_, kShare * work_.tolerance);
  const double worst = *std::max_element(residuals_.begin(), residuals_.end());
  const double relative = largest > 0 ? worst / largest : 0;
  if (relative < 0.9 * best_) {
    best_ = relative;
    best_iteration_ = iteration_;
  }
  done_ = true;
  if (!work_.report(iteration_, count, relative)) {
    status_ = SolverStatus::stopped;
  } else if (iteration_ >= work_.options.max_iterations) {
    status_ = count == k_ ? SolverStatus::converged : SolverStatus::iterations_exhausted;
  } else if (count < k_ && iteration_ - best_iteration_ >= kPatience) {
    status_ = SolverStatus::stagnated;
  } else {
    done_ = false;
  }
  return count == k_;
}

/// Whether a cycle with a random block has found the same values.
template <class T>
bool GolubKahan<T>::confirmed() const {
  if (k_ <= kBlock) return true;  // k equal values have no less than k directions in a block
  if (confirmed_.empty()) return false;
  for (std::size_t j = 0; j < confirmed_.size(); ++j) {
    if (std::abs(confirmed_[j] - svd_.values[j]) > work_.tolerance * svd_.values.front())
      return false;
  }
  return true;
}

template <class T>
SvdOutcome<T> GolubKahan<T>::outcome() {
  Allocator* const allocator = work_.options.allocator;
  Triplets<T> triplets{{svd_.values.begin(), svd_.values.begin() + k_},
                       Matrix<T>(work_.stream, work_.a.rows(), k_, Layout::row, 0, allocator),
                       Matrix<T>(work_.stream, work_.a.cols(), k_, Layout::row, 0, allocator)};
  combine_columns<T>(work_, u_.all(), svd_.left, triplets.left.view());
  combine_columns<T>(work_, v_.columns(0, u_.size()), svd_.right, triplets.right.view());
  std::vector<double> residuals = finish(work_, triplets);
  return {std::move(triplets), std::move(residuals), status_, iteration_};
}

template <class T>
SvdOutcome<T> GolubKahan<T>::run() {
  constexpr int kEvery = 4;  // iterations of the first cycle, of which the last looks at B
  constexpr int kMostRefreshes = 2;
  work_.work->fill_random(work_.options.seed, 0, v_.next(kBlock));
  v_.append(kBlock);
  while (true) {
    step();
    ++iteration_;
    if (u_.size() < k_) continue;
    // The triplets of a large B take as long as several steps: later cycles look at their end.
    const bool look = full() || (first_cycle_ && iteration_ % kEvery == 0);
    if (!look && iteration_ < work_.options.max_iterations) continue;
    decompose();
    const bool all = converged();
    if (done_) return outcome();
    if (!all && !full()) continue;
    first_cycle_ = false;
    if (!all) {
      restart();
    } else if (!confirmed()) {
      confirm();
    } else {
      SvdOutcome<T> result = outcome();
      if (count_converged(result.triplets.values, result.residuals, work_.tolerance) == k_ ||
          refreshes_ == kMostRefreshes)
        return result;
      refresh();
    }
  }
}

}  // namespace

std::int64_t golub_kahan_columns(const SvdOptions& options) {
  const Sizes sizes = sizes_of(options);
  return sizes.capacity + sizes.widest;
}

template <class T>
SvdOutcome<T> golub_kahan_svd(SvdWork<T>& work) {
  return GolubKahan<T>(work).run();
}

#define LANKY_INSTANTIATE(T) template SvdOutcome<T> golub_kahan_svd(SvdWork<T>&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
