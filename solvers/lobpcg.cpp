// LOBPCG with an orthonormal basis: an iteration is given to the device as one piece of work, a
// CUDA graph where it can be, and the host decides the next one by its gram matrix and reports.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <lanky/dtype.hpp>
#include <lanky/eigensolver.hpp>
#include <lanky/error.hpp>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/arguments.hpp"
#include "core/graph.hpp"
#include "core/text.hpp"
#include "solvers/block_work.hpp"
#include "solvers/chebyshev.hpp"
#include "solvers/constraints.hpp"
#include "solvers/dense_eigen.hpp"
#include "solvers/dense_solution.hpp"
#include "solvers/eigen_result.hpp"
#include "solvers/lobpcg.hpp"
#include "solvers/mirror.hpp"
#include "solvers/orthogonalizer.hpp"
#include "solvers/products.hpp"
#include "solvers/scaled_operator.hpp"

namespace lanky::solvers {

namespace {

/// Columns that are iterated together make whole sectors of 32 bytes of each row, so that blocks
/// begin at words of 16 bytes, and few numbers of them need plans of their own.
template <class T>
constexpr std::int64_t kSector = 32 / sizeof(T);
template <class T>
std::int64_t rounded_up(std::int64_t columns) {
  return (columns + kSector<T> - 1) / kSector<T> * kSector<T>;
}

/// Where blocks stand among the columns of the basis S: W passes from one side of [Y X P] to the
/// other, P ends where W begins there.
///
///     | W (left) | Y | X | P | W (right) |
struct Places {
  std::int64_t b = 0;  // columns of X
  std::int64_t c = 0;  // columns of Y, the constraints
  std::int64_t p = 0;
  std::int64_t w = 0;
  Side side = Side::right;  // of W

  std::int64_t y_first() const noexcept { return b; }
  std::int64_t x_first() const noexcept { return b + c; }
  std::int64_t all() const noexcept { return 4 * b + c; }
  Blocks blocks() const noexcept { return {y_first(), c + b + p, w}; }
  /// X and P as a block that is orthogonalized against Y.
  Blocks restart() const noexcept { return {y_first(), c, b + p}; }
};

constexpr std::int64_t aligned(std::int64_t bytes) {
  return (bytes + 15) / 16 * 16;
}

/// Passes of orthogonalization that an iteration has at most before the host looks.
constexpr int kPasses = 2;

/// Places, in bytes, of the numbers that the device tells the host after an iteration.
struct Told {
  std::int64_t squares;  // [b] doubles, |A x - theta B x|^2
  std::int64_t lengths;  // [b] doubles, |x|^2
  std::int64_t masses;   // [b] doubles, |B x|^2
  std::int64_t reports;  // [kPasses]
  std::int64_t pass;     // coefficients of the last pass without constraints, elements
  std::int64_t gram;     // of the basis with A W, elements
  std::int64_t bytes;
};
template <class T>
Told places_told(const Places& at) {
  const std::int64_t doubles = aligned(at.b * std::int64_t{sizeof(double)});
  Told told{};
  told.lengths = doubles;
  told.masses = 2 * doubles;
  told.reports = 3 * doubles;
  told.pass = told.reports + aligned(kPasses * std::int64_t{sizeof(PassReport)});
  told.gram = told.pass + (at.c > 0 ? 0 : aligned(3 * at.b * at.b * std::int64_t{sizeof(T)}));
  told.bytes = told.gram + (at.c + 3 * at.b) * 2 * at.b * std::int64_t{sizeof(T)};
  return told;
}

/// Places of those that the host tells the device before one.
struct Said {
  std::int64_t theta;      // [b] doubles
  std::int64_t positions;  // [b] of columns of X in W, or -1
  std::int64_t steps;      // of the polynomial, doubles
  std::int64_t basis;      // coefficients of S
  std::int64_t product;    // coefficients of A S
  std::int64_t bytes;
};
template <class T>
Said places_said(const Places& at, int degree) {
  Said said{};
  said.positions = aligned(at.b * std::int64_t{sizeof(double)});
  said.steps = said.positions + aligned(at.b * std::int64_t{sizeof(std::int32_t)});
  said.basis = said.steps + aligned(Polynomial<T>::numbers(degree) * std::int64_t{sizeof(double)});
  said.product = said.basis + aligned((at.c + 3 * at.b) * 2 * at.b * std::int64_t{sizeof(T)});
  said.bytes = said.product + 3 * at.b * 2 * at.b * std::int64_t{sizeof(T)};
  return said;
}

/// The length of W within Q over that beside it, the largest of all columns, by the coefficients
/// [q + w, w] that make W orthonormal beside Q.
template <class W>
double within(const SmallMatrix<W>& coefficients) {
  double largest = 0;
  for (std::int64_t j = 0; j < coefficients.cols(); ++j) {
    double square = 0;
    for (std::int64_t i = 0; i < coefficients.rows() - coefficients.cols(); ++i)
      square += std::norm(coefficients(i, j));
    largest = std::max(largest, square);
  }
  return std::sqrt(largest);
}

/// A second stream, for what only the host waits for.
template <class T>
class Beside {
 public:
  Beside(const Stream& stream, std::int64_t columns)
      : stream_(stream.device()),
        work_(make_block_work<T>(stream_)),
        begin_(stream.device()),
        end_(stream.device()) {
    work_->prepare(columns);
    stream_.synchronize();
  }

  /// `stream`, whose work so far comes first, is given `meanwhile`, the stream of the argument of
  /// `give` the work of that at the same time; `stream` goes on after both.
  template <class Give, class Meanwhile>
  void run(const Stream& stream, const Give& give, const Meanwhile& meanwhile) {
    begin_.record(stream);
    stream_.wait(begin_);
    give(*work_);
    end_.record(stream_);
    try {
      meanwhile();
    } catch (...) {
      stream.wait(end_);  // memory is freed in the order of `stream`
      throw;
    }
    stream.wait(end_);
  }

 private:
  Stream stream_;
  std::unique_ptr<BlockWork<T>> work_;
  Event begin_;
  Event end_;
};

/// One solution, from start to end. `norm`: of A, as a random vector sees it.
template <class T>
class Lobpcg {
  using W = Wide<T>;

 public:
  Lobpcg(const Stream& stream, const EigenProblem<T>& problem, const EigenOptions& options,
         std::int64_t block, double norm, bool by_vendor);

  EigenResult<T> run();

 private:
  void start();
  void refresh();
  void iterate();
  void rotate(const SmallMatrix<W>& h, const SmallMatrix<W>& unmade = {});
  void tell_coefficients();
  void take_turn();
  void take_turn_left();
  bool turn_at_once();
  MatrixView<T> residuals_for(MatrixView<T> w);
  void multiply_by_a(MatrixView<const T> x, MatrixView<T> ax);
  void multiply();
  void tell_host();
  void give_work();
  void work();
  bool finished();

  void find_residuals();
  void precondition();
  void tell_polynomial(const Spectrum<W>& all);
  void read_report();
  SmallMatrix<W> read_matrix(std::int64_t place, std::int64_t rows, std::int64_t cols) const;
  SmallMatrix<W> basis_gram() const;
  SmallMatrix<W> read_pass() const;
  void choose_active();
  /// The i-th Ritz value, counted from the end that is asked for.
  double ritz_value(const Spectrum<W>& all, std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return all.values[options_.end == EigenEnd::smallest ? at : all.values.size() - 1 - at];
  }
  std::int64_t apart_from_x(const Spectrum<W>& all) const;
  std::span<const std::int32_t> columns_with_p(std::int64_t others) const;
  /// Whether the gram matrix of W's first pass is known as soon as its residuals are.
  bool turn_has_gram() const { return !problem_.preconditioner && !has_polynomial() && at_.c == 0; }
  /// Whether the last pass leaves W as it is, and its coefficients are multiplied into all that the
  /// host finds. A Y is not known, which those of constraints would need; and the products with A
  /// of X and P, which hold roundings of many updates, are not to be multiplied by much.
  bool leaves_w() const { return at_.c == 0 && (passes_ == kPasses || is_apart_); }
  bool has_polynomial() const { return polynomial_ != nullptr && iteration_ >= polynomial_from_; }
  int passes_made() const { return leaves_w() ? passes_ - 1 : passes_; }
  double target(std::size_t j) const {
    return std::max(tolerance_ * std::abs(theta_[j]) * scales_[j], kRoundings * roundoff_ * norm_);
  }

  /// What the residual may have of an error in theta, which is known to a rounding of the largest
  /// Ritz value after each iteration, on top of those before. Left alone, it becomes all of the
  /// residual, and W is noise, which turns X away again where many eigenvalues are equal.
  double drift(std::size_t j) const { return since_refresh_ * roundoff_ * largest_ * scales_[j]; }

  template <class E>
  E* told_at(std::int64_t place) {
    return told_mirror_.on_device<E>(place);
  }
  MatrixView<T> s() { return s_[now_].view(); }
  MatrixView<T> as() { return as_[now_].view(); }
  MatrixView<T> x() { return columns_of(s(), at_.x_first(), at_.b); }
  MatrixView<T> ax() { return columns_of(as(), 0, at_.b); }
  MatrixView<T> w() { return columns_of(s(), at_.blocks().w_first(at_.side), at_.w); }
  MatrixView<T> aw() { return columns_of(as(), at_.b + at_.p, at_.w); }

  /// Of rounding, in W, which lasts for one iteration: what is left of it in the next X is less by
  /// the square of W's part there. Bases that grow by what is multiplied with them need less.
  static constexpr double kGrowth = 16;
  static constexpr int kRefresh = 40;  // iterations after which A X is computed anew
  static constexpr int kLongestPause = 10'000;
  /// The length of W within X and P, over that beside them, with which it may be left: from refresh
  /// to refresh the roundings of A X and A P become 11 times as large.
  static constexpr double kApart = 1.0 / 16;

  Stream stream_;
  const EigenProblem<T>& problem_;
  const EigenOptions& options_;
  std::int64_t n_;
  std::int64_t k_;
  Places at_;
  double roundoff_ = unit_roundoff(kDType<T>);
  double tolerance_;

  std::unique_ptr<BlockWork<T>> work_;
  bool by_vendor_;
  Products<T> products_;
  Orthogonalizer<T> orthogonalizer_;
  Constraints<T> constraints_;
  Beside<T> beside_;
  Matrix<T> s_[2];   // [n, 4 b + c]: the basis, and the next one
  Matrix<T> as_[2];  // [n, 3 b]: A X, A P, A W
  Matrix<T> bx_;     // [n, b], where there is a B
  int degree_;       // of the polynomial; 0: none
  std::unique_ptr<Polynomial<T>> polynomial_;
  Matrix<T> rest_;  // [n, b]: residuals, where the caller preconditions them
  int now_ = 0;

  Told told_;
  Said said_;
  Mirror told_mirror_;
  Mirror said_mirror_;

  /// The next X and P are made of this: rows of coefficients for X, P and W, W from column `first`
  /// of S on or not, columns for X and P; none where there is nothing to do.
  struct Turn {
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t w = 0;
    std::int64_t first = 0;
  };
  Turn turn_{};
  using WorkKey =
      std::tuple<int, int, bool, bool, Side, std::int64_t, std::int64_t, std::int64_t, std::size_t>;
  std::map<WorkKey, std::optional<runtime::Graph>> graphs_;
  bool capturable_;

  std::vector<double> theta_;
  std::vector<double> residuals_;     // |A x - theta B x| / |x|
  std::vector<double> scales_;        // |B x| / |x|
  std::vector<std::int32_t> active_;  // columns of X that have a W
  SmallMatrix<W> p_gram_;             // P^H A P
  double seen_norm_;                  // of A
  double norm_;
  double b_norm_ = 0;   // the largest |B x| / |x| so far
  double largest_ = 0;  // |theta| of the last basis
  double far_ = 0;      // a bound of the spectrum at the end that is not wanted
  int passes_ = kPasses;
  bool is_apart_ = false;  // W of the last iteration, of its only pass
  int iteration_ = 0;
  int polynomial_from_ = 0;  // the iteration
  int pause_ = kRefresh;     // of the polynomial
  int since_refresh_ = 0;
  /// The last iteration that was better than those before.
  struct Best {
    double missing = std::numeric_limits<double>::infinity();
    double longest = missing;
    double sum = 0;
    int iteration = 0;
  };
  Best best_{};
  SolverStatus status_ = SolverStatus::converged;
  bool done_ = false;
  std::vector<SolverProgress> history_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Columns of n elements that an iteration without a polynomial reads or writes, for each column of
/// X.
constexpr double kPassesOfIteration = 30;

template <class T>
int polynomial_degree(const EigenProblem<T>& problem, const EigenOptions& options,
                      std::int64_t block) {
  if (problem.b || problem.preconditioner) return 0;
  if (options.polynomial_degree >= 0) return options.polynomial_degree;
  // A product reads and writes a column, the recurrence five more.
  const double numbers = static_cast<double>(problem.a.rows() * block);
  const double step = problem.a_single
                          ? problem.a_single.bytes() + 7 * numbers * sizeof(SingleOf<T>)
                          : problem.a.bytes() + 7 * numbers * sizeof(T);
  const double share = kPassesOfIteration * numbers * sizeof(T) / step;
  return static_cast<int>(std::clamp(std::round(share), 1.0, 16.0));
}

template <class T>
Lobpcg<T>::Lobpcg(const Stream& stream, const EigenProblem<T>& problem, const EigenOptions& options,
                  std::int64_t block, double norm, bool by_vendor)
    : stream_(stream),
      problem_(problem),
      options_(options),
      n_(problem.a.rows()),
      k_(options.k),
      at_{.b = block, .c = problem.constraints.cols},
      tolerance_(tolerance_of<T>(options)),
      work_(make_block_work<T>(stream)),
      by_vendor_(by_vendor),
      products_(stream, options.allocator, by_vendor),
      orthogonalizer_(stream, *work_, products_, problem.b, n_, 2 * block, at_.c + 3 * block,
                      options.allocator),
      constraints_(stream, problem, *work_, products_, 2 * block, options.allocator),
      beside_(stream, block),
      s_{Matrix<T>(stream, n_, at_.all(), Layout::row, 0, options.allocator),
         Matrix<T>(stream, n_, at_.all(), Layout::row, 0, options.allocator)},
      as_{Matrix<T>(stream, n_, 3 * block, Layout::row, 0, options.allocator),
          Matrix<T>(stream, n_, 3 * block, Layout::row, 0, options.allocator)},
      bx_(stream, problem.b ? n_ : 0, block, Layout::row, 0, options.allocator),
      degree_(polynomial_degree(problem, options, block)),
      polynomial_(make_polynomial(stream, problem, degree_, block, *work_, options.allocator)),
      rest_(stream, problem.preconditioner ? n_ : 0, block, Layout::row, 0, options.allocator),
      told_(places_told<T>(at_)),
      said_(places_said<T>(at_, degree_)),
      told_mirror_(stream, told_.bytes, options.allocator),
      said_mirror_(stream, said_.bytes, options.allocator),
      capturable_(runtime::can_capture(stream) && problem.a.capturable() &&
                  (!problem.b || problem.b.capturable()) &&
                  (!problem.preconditioner || problem.preconditioner.capturable()) &&
                  (!problem.a_single || problem.a_single.capturable())),
      theta_(static_cast<std::size_t>(block)),
      residuals_(theta_.size(), std::numeric_limits<double>::infinity()),
      scales_(theta_.size(), 1),
      seen_norm_(norm),
      norm_(problem.b ? norm : 0) {}

/// X from the caller's vectors and random ones.
template <class T>
void Lobpcg<T>::start() {
  for (Matrix<T>& basis : s_)
    work_->combine(1, constraints_.y(), 0, columns_of(basis.view(), at_.y_first(), at_.c));
  const std::int64_t given = std::min(problem_.start.cols, at_.b);
  if (given > 0) {
    work_->combine(1, columns_of(problem_.start, 0, given), 0, columns_of(x(), 0, given));
  }
  if (given < at_.b)
    work_->fill_random(options_.seed, given, columns_of(x(), given, at_.b - given));
  work_->prepare(2 * at_.b);
  // X is on the right of Y, with the left of Y for passes.
  const Blocks blocks{at_.y_first(), at_.c, at_.b};
  if (orthogonalizer_.orthogonalize(s(), blocks, Side::right) == Side::left) {
    work_->combine(1, read_only(columns_of(s(), blocks.w_first(Side::left), at_.b)), 0, x());
  }
}

template <class T>
SmallMatrix<Wide<T>> Lobpcg<T>::read_matrix(std::int64_t place, std::int64_t rows,
                                            std::int64_t cols) const {
  return from_rows(told_mirror_.on_host<T>(place), rows, cols);
}

/// X and P orthonormal anew, A X and A P multiplied anew, and the Ritz vectors of both.
template <class T>
void Lobpcg<T>::refresh() {
  take_turn_left();
  const Blocks blocks = at_.restart();
  auto* const report = told_at<PassReport>(told_.reports);
  int passes = 0;
  for (bool done = false; !done; now_ = 1 - now_) {
    if (++passes > Orthogonalizer<T>::kMostPasses) {
      throw Error(ErrorCode::invalid_argument,
                  concat("the basis of ", blocks.w, " vectors could not be made orthonormal in ",
                         Orthogonalizer<T>::kMostPasses, " passes"));
    }
    orthogonalizer_.pass_to(s(), blocks, Side::right, s_[1 - now_].view(), report);
    read_report();
    done = orthogonalizer_.accept(*told_mirror_.on_host<PassReport>(told_.reports),
                                  s_[1 - now_].view(), blocks, Side::right);
  }
  const MatrixView<T> basis = columns_of(s(), at_.x_first(), blocks.w);
  const MatrixView<T> product = columns_of(as(), 0, blocks.w);
  multiply_by_a(basis, product);
  if (problem_.b) work_->dots(read_only(x()), read_only(x()), told_at<double>(told_.lengths));
  products_.gram(read_only(basis), read_only(product),
                 {told_at<T>(told_.gram), blocks.w, blocks.w, Layout::row});
  read_report();
  const SmallMatrix<W> h = read_matrix(told_.gram, blocks.w, blocks.w);
  double square = problem_.b ? 0 : 1;  // the largest |x|^2
  for (std::int64_t j = 0; problem_.b && j < at_.b; ++j)
    square = std::max(square, told_mirror_.on_host<double>(told_.lengths)[j]);
  check_self_adjoint(h, roundoff_, "A", square * std::max(norm_, seen_norm_));
  rotate(h);
  since_refresh_ = 0;
}

template <class T>
void Lobpcg<T>::read_report() {
  told_mirror_.to_host(told_.bytes);
  stream_.synchronize();
}

/// Columns of the next X that get directions of their own: those that have not converged, and as
/// many others as make whole words.
template <class T>
void Lobpcg<T>::choose_active() {
  active_.clear();
  std::vector<std::int32_t> rest;
  for (std::int64_t j = 0; j < at_.b; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool done = j < k_ && residuals_[at] <= target(at);
    (done ? rest : active_).push_back(static_cast<std::int32_t>(j));
  }
  const auto wanted = static_cast<std::size_t>(
      std::min(at_.b, rounded_up<T>(static_cast<std::int64_t>(active_.size()))));
  while (active_.size() < wanted) {
    active_.push_back(rest.back());
    rest.pop_back();
  }
  std::sort(active_.begin(), active_.end());
}

/// How many Ritz vectors outside of X have values that differ from X's last by more than a rounding
/// of the largest. P is made of these: the others can lower no value, and where an eigenspace is
/// larger than the block, rounding would choose between them and what has converged.
template <class T>
std::int64_t Lobpcg<T>::apart_from_x(const Spectrum<W>& all) const {
  const auto size = static_cast<std::int64_t>(all.values.size());
  const double last = ritz_value(all, at_.b - 1);
  std::int64_t others = size - at_.b;
  while (others > 0 && std::abs(ritz_value(all, size - others) - last) <= roundoff_ * largest_) {
    --others;
  }
  return others;
}

/// Columns of X whose steps make P of that many Ritz vectors.
template <class T>
std::span<const std::int32_t> Lobpcg<T>::columns_with_p(std::int64_t others) const {
  const auto count = static_cast<std::int64_t>(active_.size());
  return std::span(active_).first(
      static_cast<std::size_t>(others < count ? others / kSector<T> * kSector<T> : count));
}

/// Chooses the next X and P of the basis whose gram matrix with A is `h`, for the device to be
/// told. `unmade`: the coefficients of a W that is not made, or none.
template <class T>
void Lobpcg<T>::rotate(const SmallMatrix<W>& h, const SmallMatrix<W>& unmade) {
  const Spectrum<W> all = self_adjoint_eigen(h);
  largest_ = std::max(std::abs(all.values.front()), std::abs(all.values.back()));
  if (!problem_.b) norm_ = std::max(norm_, largest_);
  for (std::size_t j = 0; j < theta_.size(); ++j)
    theta_[j] = ritz_value(all, static_cast<std::int64_t>(j));
  choose_active();
  const std::int64_t others = apart_from_x(all);
  RitzStep<W> step = ritz_step(all, at_.b, others, options_.end, columns_with_p(others));
  p_gram_ = step.p_gram;
  if (unmade.cols() > 0) {
    coefficients_without(unmade, step.x);
    coefficients_without(unmade, step.p);
  }
  turn_ = {.rows = h.rows(), .cols = at_.b + step.p.cols()};
  turn_.w = h.rows() - at_.b - at_.p;
  turn_.first = turn_.w > 0 ? at_.blocks().first(at_.side) : at_.y_first();

  // Rows of coefficients stand in the order of columns: S has Y, and W on either side.
  const std::int64_t xp = at_.b + at_.p;
  const bool left = turn_.w > 0 && at_.side == Side::left;
  auto* const theta = said_mirror_.on_host<double>(said_.theta);
  auto* const positions = said_mirror_.on_host<std::int32_t>(said_.positions);
  auto* const basis = said_mirror_.on_host<T>(said_.basis);
  auto* const product = said_mirror_.on_host<T>(said_.product);
  std::copy(theta_.begin(), theta_.end(), theta);
  if (degree_ > 0) tell_polynomial(all);
  std::fill_n(positions, at_.b, -1);
  for (std::size_t a = 0; a < active_.size(); ++a)
    positions[active_[a]] = static_cast<std::int32_t>(a);
  std::fill_n(basis, (at_.c + turn_.rows) * turn_.cols, T{});
  for (std::int64_t i = 0; i < turn_.rows; ++i) {
    const std::int64_t row =
        i < xp ? i + at_.c + (left ? turn_.w : 0) : i - xp + (left ? 0 : at_.c + xp);
    for (std::int64_t j = 0; j < turn_.cols; ++j) {
      const T c = static_cast<T>(j < at_.b ? step.x(i, j) : step.p(i, j - at_.b));
      basis[row * turn_.cols + j] = c;
      product[i * turn_.cols + j] = c;
    }
  }
}

template <class T>
void Lobpcg<T>::tell_coefficients() {
  said_mirror_.to_device(said_.product +
                         turn_.rows * turn_.cols * static_cast<std::int64_t>(sizeof(T)));
}

/// The next X and P, and their products with A.
template <class T>
void Lobpcg<T>::take_turn() {
  const auto coefficients = [&](std::int64_t place, std::int64_t rows) {
    return MatrixView<const T>(said_mirror_.on_device<const T>(place), rows, turn_.cols,
                               Layout::row);
  };
  const int next = 1 - now_;
  const std::int64_t rows = at_.c + turn_.rows;
  products_.update(read_only(columns_of(s(), turn_.first, rows)), coefficients(said_.basis, rows),
                   columns_of(s_[next].view(), at_.x_first(), turn_.cols));
  products_.update(read_only(columns_of(as(), 0, turn_.rows)),
                   coefficients(said_.product, turn_.rows),
                   columns_of(as_[next].view(), 0, turn_.cols));
  now_ = next;
  at_.p = turn_.cols - at_.b;
  at_.w = static_cast<std::int64_t>(active_.size());
  turn_ = {};
}

/// The turn that the last iteration has found and not taken, where there is one.
template <class T>
void Lobpcg<T>::take_turn_left() {
  if (turn_.cols == 0) return;
  tell_coefficients();
  take_turn();
}

/// Where residuals are written that are to become W.
template <class T>
MatrixView<T> Lobpcg<T>::residuals_for(MatrixView<T> w) {
  if (problem_.preconditioner) return columns_of(rest_.view(), 0, w.cols);
  return has_polynomial() ? polynomial_->residuals(w) : w;
}

/// take_turn() and find_residuals() in one pass over the basis, where the device has a kernel for
/// that; with the gram matrix of the first pass of orthogonalization where residuals are W.
template <class T>
bool Lobpcg<T>::turn_at_once() {
  if (problem_.b || by_vendor_) return false;
  Places next = at_;
  next.p = turn_.cols - at_.b;
  next.w = static_cast<std::int64_t>(active_.size());
  next.side = Side::right;
  Matrix<T>& basis = s_[1 - now_];
  const std::int64_t xp = at_.b + at_.p;
  const bool left = at_.side == Side::left;
  const bool done = work_->turn(
      {.x = at_.b,
       .xp = read_only(columns_of(s(), at_.x_first(), xp)),
       .w = read_only(columns_of(s(), left ? turn_.first : at_.x_first() + xp, turn_.w)),
       .product = read_only(columns_of(as(), 0, turn_.rows)),
       .coefficients = said_mirror_.on_device<const T>(said_.product),
       .next = columns_of(basis.view(), at_.x_first(), turn_.cols),
       .next_product = columns_of(as_[1 - now_].view(), 0, turn_.cols),
       .theta = said_mirror_.on_device<const double>(said_.theta),
       .positions = said_mirror_.on_device<const std::int32_t>(said_.positions),
       .residuals =
           residuals_for(columns_of(basis.view(), next.blocks().w_first(Side::right), next.w)),
       .squares = told_at<double>(told_.squares),
       .gram = turn_has_gram() ? orthogonalizer_.gram() : nullptr});
  if (!done) return false;
  now_ = 1 - now_;
  at_ = next;
  turn_ = {};
  return true;
}

/// R in W's place on the right, or where it is preconditioned from.
template <class T>
void Lobpcg<T>::find_residuals() {
  at_.side = Side::right;
  MatrixView<const T> bx = x();
  if (problem_.b) {
    problem_.b.apply(stream_, x(), bx_.view());
    bx = bx_.view();
    work_->dots(read_only(x()), read_only(x()), told_at<double>(told_.lengths));
    work_->dots(bx, bx, told_at<double>(told_.masses));
  }
  work_->residual(read_only(ax()), bx, said_mirror_.on_device<const double>(said_.theta),
                  said_mirror_.on_device<const std::int32_t>(said_.positions), residuals_for(w()),
                  told_at<double>(told_.squares));
}

template <class T>
void Lobpcg<T>::precondition() {
  if (problem_.preconditioner)
    problem_.preconditioner.apply(stream_, read_only(residuals_for(w())), w());
  if (has_polynomial()) {
    polynomial_->apply(said_mirror_.on_device<const double>(said_.steps), w());
  }
}

/// The polynomial for the spectrum between the last Ritz value of X and the far end.
template <class T>
void Lobpcg<T>::tell_polynomial(const Spectrum<W>& all) {
  const bool smallest = options_.end == EigenEnd::smallest;
  far_ = smallest ? std::max(far_, all.values.back()) : std::min(far_, all.values.front());
  norm_ = std::max(norm_, std::abs(far_));
  const std::vector<double> steps = chebyshev_steps({theta_.front(), theta_.back(), far_}, degree_);
  auto* const said = said_mirror_.on_host<double>(said_.steps);
  std::copy(steps.begin(), steps.end(), said);
  // Residuals are about as long as in the last iteration, whose inverse keeps them from leaving
  // the range of shorter numbers.
  double longest = 0;
  for (const double residual : residuals_)
    longest = std::max(longest, std::isfinite(residual) ? residual : norm_);
  said[steps.size()] = longest > 0 ? 1 / longest : 1;
}

/// A X, as constraints leave it.
template <class T>
void Lobpcg<T>::multiply_by_a(MatrixView<const T> x, MatrixView<T> ax) {
  problem_.a.apply(stream_, x, ax);
  constraints_.project(ax);
}

template <class T>
void Lobpcg<T>::multiply() {
  multiply_by_a(w(), aw());
  const Blocks blocks = at_.blocks();
  products_.gram(read_only(columns_of(s(), blocks.first(at_.side), blocks.all())), read_only(aw()),
                 {told_at<T>(told_.gram), blocks.all(), at_.w, Layout::row});
}

/// What the host decides the next iteration by.
template <class T>
void Lobpcg<T>::tell_host() {
  told_mirror_.to_host(told_.gram +
                       at_.blocks().all() * at_.w * static_cast<std::int64_t>(sizeof(T)));
}

/// All that an iteration gives to the device, from the coefficients of the turn to what the host
/// decides the next one by.
template <class T>
void Lobpcg<T>::give_work() {
  tell_coefficients();
  const bool at_once = turn_at_once();
  if (!at_once) {
    take_turn();
    find_residuals();
  }
  precondition();
  const bool has_gram = at_once && turn_has_gram();
  const auto report = [&](int pass) { return told_at<PassReport>(told_.reports) + pass; };
  const int made = passes_made();
  for (int pass = 0; pass < made; ++pass) {
    at_.side =
        orthogonalizer_.pass(s(), at_.blocks(), at_.side, report(pass), has_gram && pass == 0,
                             at_.c == 0 ? told_at<T>(told_.pass) : nullptr);
  }
  if (leaves_w()) {
    if (!has_gram || made > 0) orthogonalizer_.multiply(s(), at_.blocks(), at_.side);
    beside_.run(
        stream_,
        [&](BlockWork<T>& work) {
          orthogonalizer_.factor(at_.blocks(), at_.side, report(made), told_at<T>(told_.pass),
                                 work);
        },
        [&] { multiply(); });
  } else {
    multiply();
  }
  tell_host();
}

/// The work of an iteration, by a CUDA graph where the same work was done before.
template <class T>
void Lobpcg<T>::work() {
  const WorkKey key{now_,  passes_,    leaves_w(), has_polynomial(), at_.side,
                    at_.p, turn_.rows, turn_.cols, active_.size()};
  const auto known = graphs_.find(key);
  if (known == graphs_.end()) {
    give_work();
    if (capturable_) graphs_.emplace(key, std::nullopt);
    return;
  }
  const Places before = at_;
  const Turn turn = turn_;
  const int now = now_;
  if (!known->second) {
    known->second.emplace(stream_, [&] { give_work(); });
  } else {
    now_ = 1 - now;
    at_.p = turn.cols - before.b;
    at_.w = static_cast<std::int64_t>(active_.size());
    at_.side = passes_made() % 2 == 0 ? Side::right : Side::left;
    turn_ = {};
  }
  known->second->launch(stream_);
}

template <class T>
void Lobpcg<T>::iterate() {
  const bool by_polynomial = has_polynomial();
  work();
  stream_.synchronize();
  const auto told = [&](std::int64_t place) { return told_mirror_.on_host<double>(place); };
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    residuals_[j] = std::sqrt(told(told_.squares)[j]);
    if (!problem_.b) continue;
    const double length = std::sqrt(told(told_.lengths)[j]);
    residuals_[j] /= length;
    scales_[j] = std::sqrt(told(told_.masses)[j]) / length;
    b_norm_ = std::max(b_norm_, scales_[j]);
    // x^H B x is 1.
    if (j < static_cast<std::size_t>(k_) && !(length * length * roundoff_ * b_norm_ < 1)) {
      throw Error(ErrorCode::invalid_argument,
                  concat("B is singular, or nearly so, and the eigenvalues that are asked for are "
                         "infinite: x^H B x is ",
                         1 / (length * length), " |x|^2, and |B| about ", b_norm_));
    }
  }
  if (finished()) return;

  const PassReport first = told_mirror_.on_host<PassReport>(told_.reports)[0];
  const PassReport last = told_mirror_.on_host<PassReport>(told_.reports)[passes_ - 1];
  const bool is_accepted = orthogonalizer_.accept(last, s(), at_.blocks(), at_.side, kGrowth);
  SmallMatrix<W> pass;
  if (is_accepted && at_.c == 0) pass = read_pass();
  const bool is_left = leaves_w();
  is_apart_ = passes_ == 1 && pass.cols() > 0 && within(pass) < kApart;
  if (!is_accepted) {
    at_.side = orthogonalizer_.orthogonalize(s(), at_.blocks(), at_.side);
    multiply();
    tell_host();
    stream_.synchronize();
  }
  // Little of the polynomial's W is left beside X and P where few eigenvalues are, or a cluster is
  // larger than the block: what noise there is brings errors back. Residuals are W for a while.
  if (by_polynomial && first.growth * std::sqrt(roundoff_) > 1) {
    polynomial_from_ = iteration_ + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
  }
  passes_ = first.growth < kGrowth / 2 && first.lifted == 0 ? 1 : kPasses;
  SmallMatrix<W> h = basis_gram();
  if (!is_left) pass = {};
  if (pass.cols() > 0) gram_with(pass, h);
  rotate(h, pass);
  if (++since_refresh_ >= kRefresh) refresh();
}

/// S^H A S of [X P W], from what is known of X and P and from S^H A W.
template <class T>
SmallMatrix<Wide<T>> Lobpcg<T>::basis_gram() const {
  const Blocks blocks = at_.blocks();
  const SmallMatrix<W> told = read_matrix(told_.gram, blocks.all(), at_.w);
  const std::int64_t xp = at_.b + at_.p;
  SmallMatrix<W> h(xp + at_.w, xp + at_.w);
  for (std::int64_t j = 0; j < at_.b; ++j)
    h(j, j) = theta_[static_cast<std::size_t>(j)];
  for (std::int64_t j = 0; j < at_.p; ++j) {
    for (std::int64_t i = 0; i < at_.p; ++i)
      h(at_.b + i, at_.b + j) = p_gram_(i, j);
  }
  const std::int64_t xp_row = blocks.q_row(at_.side) + at_.c;
  const std::int64_t w_row = blocks.w_row(at_.side);
  for (std::int64_t j = 0; j < at_.w; ++j) {
    for (std::int64_t i = 0; i < xp; ++i)
      h(i, xp + j) = told(xp_row + i, j);
    for (std::int64_t i = 0; i <= j; ++i)
      h(xp + i, xp + j) = 0.5 * (told(w_row + i, j) + conjugate(told(w_row + j, i)));
  }
  return h;
}

/// The coefficients of the last pass, for [X P W].
template <class T>
SmallMatrix<Wide<T>> Lobpcg<T>::read_pass() const {
  const Blocks blocks = at_.blocks();
  const Side side = leaves_w() ? at_.side : other(at_.side);  // of W before
  const SmallMatrix<W> told = read_matrix(told_.pass, blocks.all(), at_.w);
  SmallMatrix<W> pass(blocks.all(), at_.w);
  for (std::int64_t j = 0; j < at_.w; ++j) {
    for (std::int64_t i = 0; i < blocks.q; ++i)
      pass(i, j) = told(blocks.q_row(side) + i, j);
    for (std::int64_t i = 0; i < at_.w; ++i)
      pass(blocks.q + i, j) = told(blocks.w_row(side) + i, j);
  }
  return pass;
}

template <class T>
bool Lobpcg<T>::finished() {
  ++iteration_;
  SolverProgress progress{.iteration = iteration_, .wanted = k_, .tolerance = tolerance_};
  double missing = 0;  // logarithms of how far residuals of each wanted vector are to fall
  bool within_drift = since_refresh_ > 0;
  for (std::int64_t j = 0; j < k_; ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (!std::isfinite(residuals_[at])) {
      throw Error(ErrorCode::invalid_argument, "A X has elements that are NaN or Inf");
    }
    const bool done = residuals_[at] <= target(at);
    const double share = done && residuals_[at] == 0 ? 0 : residuals_[at] / target(at);
    progress.converged += done ? 1 : 0;
    if (!done) missing += std::log(share);
    within_drift = within_drift && residuals_[at] <= target(at) + drift(at);
    progress.residual = std::max(progress.residual, share);
  }
  progress.residual *= tolerance_;
  progress.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  history_.push_back(progress);
  // Residuals over falling Ritz values may grow while both still improve.
  double longest = 0;
  double sum = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(k_); ++j) {
    longest = std::max(longest, residuals_[j]);
    sum += std::abs(theta_[j]);
  }
  constexpr double kLess = 0.1;  // of the logarithms
  if (missing < best_.missing - kLess || longest < 0.9 * best_.longest ||
      std::abs(sum - best_.sum) > 1e-3 * sum) {
    best_ = {missing, longest, sum, iteration_};
  }
  constexpr int kPatience = 300;
  if (options_.progress && !options_.progress(progress)) {
    status_ = SolverStatus::stopped;
  } else if (within_drift) {  // A X, too, is what updates have made of it
    refresh();
    return true;
  } else if (progress.converged == k_) {
    status_ = SolverStatus::converged;
  } else if (iteration_ >= options_.max_iterations) {
    status_ = SolverStatus::iterations_exhausted;
  } else if (iteration_ - best_.iteration >= kPatience) {
    status_ = SolverStatus::stagnated;
  } else {
    return false;
  }
  done_ = true;
  return true;
}

template <class T>
EigenResult<T> Lobpcg<T>::run() {
  start();
  if (polynomial_ != nullptr) {
    const EigenEnd far =
        options_.end == EigenEnd::smallest ? EigenEnd::largest : EigenEnd::smallest;
    far_ = spectrum_bound(stream_, problem_.a, far, *work_, options_.seed + 1, options_.allocator);
  }
  refresh();
  const auto solve = [&] {
    done_ = false;
    while (!done_)
      iterate();
    if (since_refresh_ > 0) refresh();  // lengths have drifted by roundings
    take_turn_left();
    return make_result<T>(stream_, problem_, options_, *work_, constraints_, theta_,
                          read_only(columns_of(x(), 0, k_)), norm_);
  };
  EigenResult<T> result = solve();
  // Residuals that are computed anew decide: those that were updated may have been smaller.
  while (status_ == SolverStatus::converged && result.converged < k_) {
    tolerance_ /= 2;
    refresh();
    result = solve();
  }
  result.status = status_;
  result.iterations = iteration_;
  result.history = std::move(history_);
  return result;
}

/// A few vectors more than are wanted converge in fewer iterations that cost more each.
template <class T>
std::int64_t block_of(const EigenOptions& options) {
  return options.block_size > 0 ? options.block_size : rounded_up<T>(options.columns());
}

template <class T>
void check(const Stream& stream, const EigenProblem<T>& problem, const EigenOptions& options) {
  const std::int64_t n = problem.a.rows();
  const auto fail = [](const auto&... parts) {
    throw Error(ErrorCode::invalid_argument, concat(parts...));
  };
  if (!problem.a) fail("an eigenproblem without A");
  const auto square = [&](const LinearOperator<T>& op, const char* name) {
    if (op && (op.rows() != n || op.cols() != n)) {
      fail(name, " is ", op.rows(), " x ", op.cols(), "; ", n, " x ", n, " is needed");
    }
  };
  if (problem.a.cols() != n) fail("A is ", n, " x ", problem.a.cols(), "; it must be square");
  square(problem.b, "B");
  square(problem.preconditioner, "the preconditioner");
  if (problem.a_single) {
    const LinearOperator<SingleOf<T>>& a = problem.a_single;
    if (a.rows() != n || a.cols() != n)
      fail("A in single precision is ", a.rows(), " x ", a.cols(), "; A is ", n, " x ", n);
    if (problem.b || problem.preconditioner) {
      fail("A in single precision serves the polynomial, which ",
           problem.b ? "B" : "a preconditioner", " takes the place of");
    }
  }
  const auto tall = [&](MatrixView<const T> x, const char* name) {
    if (x.cols == 0) return;
    if (x.rows != n) fail(name, " have ", x.rows, " rows; A has ", n);
    if (x.layout != Layout::row) fail(name, " stand by columns; rows are needed");
    if (x.ld < x.cols) fail(name, " have ", x.cols, " columns and a leading dimension of ", x.ld);
    check_on_device(x.data, n * x.cols, stream.device(), name);
  };
  tall(problem.constraints, "the constraints");
  tall(problem.start, "the start vectors");
  if (options.k < 1 || options.k > n - problem.constraints.cols) {
    fail(options.k, " eigenpairs of a matrix of ", n, " rows",
         problem.constraints.cols > 0 ? concat(" and ", problem.constraints.cols, " constraints")
                                      : std::string(),
         "; at least 1 and at most ", n - problem.constraints.cols, " can be asked for");
  }
  if (options.block_size != 0 && options.block_size < options.k)
    fail("a block of ", options.block_size, " vectors for ", options.k, " eigenpairs");
  if (!(options.tolerance >= 0)) fail("the tolerance is ", options.tolerance);
  if (options.max_iterations < 1) fail("max_iterations is ", options.max_iterations);
  constexpr int kMostDegree = 100;
  if (options.polynomial_degree < -1 || options.polynomial_degree > kMostDegree) {
    fail("a polynomial of degree ", options.polynomial_degree, "; -1 to ", kMostDegree,
         " are possible");
  }
  if (stream.is_capturing())
    fail("the stream is captured for a CUDA graph; solvers wait for their work");
}

template <class T>
EigenResult<T> solve(const Stream& stream, const EigenProblem<T>& problem,
                     const EigenOptions& options, bool by_vendor) {
  check(stream, problem, options);
  const std::int64_t block = block_of<T>(options);
  const double norm = norm_seen(stream, problem.a, options.seed, options.allocator);
  const double scale = scale_for<T>(norm);
  EigenProblem<T> fit = problem;
  fit.a = scaled(stream, problem.a, scale);
  fit.a_single = scaled(stream, problem.a_single, scale);
  fit.preconditioner = scaled(stream, problem.preconditioner, 1 / scale);
  // The basis needs its vectors to be independent: small problems are solved whole.
  const bool is_small = problem.a.rows() < problem.constraints.cols + 4 * block;
  EigenResult<T> result =
      is_small ? dense_solution(stream, fit, options)
               : Lobpcg<T>(stream, fit, options, block, norm * scale, by_vendor).run();
  for (auto* numbers : {&result.values, &result.residuals, &result.bounds}) {
    for (double& number : *numbers)
      number /= scale;
  }
  result.norm /= scale;
  return result;
}

}  // namespace

template <class T>
EigenResult<T> lobpcg_by_vendor(const Stream& stream, const EigenProblem<T>& problem,
                                const EigenOptions& options) {
  return solve(stream, problem, options, true);
}

#define LANKY_INSTANTIATE(T)                                                      \
  template EigenResult<T> lobpcg_by_vendor(const Stream&, const EigenProblem<T>&, \
                                           const EigenOptions&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers

namespace lanky::inline v1 {

template <class T>
EigenResult<T> lobpcg(const Stream& stream, const EigenProblem<T>& problem,
                      const EigenOptions& options) {
  return solvers::solve(stream, problem, options, false);
}

#define LANKY_INSTANTIATE(T) \
  template EigenResult<T> lobpcg(const Stream&, const EigenProblem<T>&, const EigenOptions&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
