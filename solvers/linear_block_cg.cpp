// Block CG with orthonormal residuals, R = Q Phi (Dubrulle, Electron. Trans. Numer. Anal. 12,
// 2001):
//
//   alpha = (P^H A P)^-1,  X += P alpha Phi,  Q' tau = Q - A P alpha,  Phi' = tau Phi,
//   P' = M Q' + P tau^H
//
// Q is orthonormal for the inner product of the preconditioner M, by two factors of a gram matrix.
// Right-hand sides that come to depend on each other leave columns of zeros in Q and P
// (solvers/block_cg_factor.hpp), so that the block needs no other extents: breakdown-free as Ji and
// Li's (BIT 57, 2017), without the host. What is left out so is found by the true residual.
#include <complex>
#include <lanky/dtype.hpp>
#include <lanky/linear_solver.hpp>
#include <utility>
#include <vector>

#include "solvers/block_work.hpp"
#include "solvers/linear_solve.hpp"
#include "solvers/products.hpp"

namespace lanky::solvers {

namespace {

template <class T>
class BlockCg final : public LinearSolve<T> {
  using Base = LinearSolve<T>;
  using typename Base::Real;
  using Number = Wide<T>;

 public:
  explicit BlockCg(const LinearProblem<T>& problem)
      : Base(problem),
        k_(this->c_),
        block_work_(make_block_work<T>(this->stream_)),
        products_(this->stream_, this->options_.allocator),
        q_(this->tall()),
        ap_(this->tall()),
        first_q_(this->tall(has_m())),
        s_{pair(), pair()},
        gram_(elements(1)),
        alpha_(elements(1)),
        step_(elements(1)),
        directions_(elements(2)),
        phi_{numbers(), numbers()},
        tau_(numbers()),
        inverse_(numbers()) {}

 private:
  void iterate() override {
    this->a_.apply(this->stream_, read_only(p(now_)), ap_.view());
    products_.gram(read_only(p(now_)), read_only(ap_.view()), square(gram_.data()));
    this->work_->run(BlockStep<Real>{k_, parts_of(std::as_const(gram_).data()), parts(phi_[0]),
                                     kRoundings * unit_roundoff(kDType<T>), parts(inverse_),
                                     parts_of(alpha_.data()), parts_of(step_.data()),
                                     this->columns()});
    products_.update(T{1}, read_only(p(now_)), read_only(square(step_.data())), T{1}, this->x_);
    products_.update(T{-1}, read_only(ap_.view()), read_only(square(alpha_.data())), T{1},
                     q_.view());
    if (has_m()) this->m_.apply(this->stream_, read_only(q_.view()), ap_.view());
    next_block();
  }

  void restart() override {
    block_work_->combine(1, read_only(ap_.view()), 0, q_.view());
    if (has_m()) block_work_->combine(1, read_only(first_q_.view()), 0, ap_.view());
    now_ = 1 - now_;  // next_block() turns it back: a graph has buffers in their places
    s_[now_].buffer().fill_zero();
    std::vector<Number> identity(static_cast<std::size_t>(k_ * k_));
    for (std::int64_t j = 0; j < k_; ++j)
      identity[static_cast<std::size_t>(j * k_ + j)] = 1;
    phi_[0].copy_from(identity);
    next_block();
  }

  /// From W in Q's place, and M W in A P's where there is a preconditioner, the next Q and P.
  void next_block() {
    const MatrixView<const T> w = read_only(q_.view());
    const MatrixView<const T> mw = has_m() ? read_only(ap_.view()) : w;
    const MatrixView<T> u = columns_of(s_[now_].view(), k_, k_);
    factor(w, mw, false);
    const MatrixView<const T> c = read_only(square(alpha_.data()));
    products_.update(mw, c, u);
    if (has_m()) products_.update(w, c, first_q_.view());
    const MatrixView<const T> first = has_m() ? read_only(first_q_.view()) : read_only(u);
    factor(first, read_only(u), true);
    products_.update(first, read_only(square(directions_.data() + k_ * k_)), q_.view());
    products_.update(read_only(s_[now_].view()),
                     MatrixView<const T>(directions_.data(), 2 * k_, k_, Layout::row), p(1 - now_));
    now_ = 1 - now_;
  }

  /// Factors W by W^H M W: C goes to alpha_, that of the second factor to directions_, which make
  /// the next P.
  void factor(MatrixView<const T> w, MatrixView<const T> mw, bool second) {
    products_.gram(w, mw, square(gram_.data()));
    this->work_->run(BlockFactor<Real>{
        k_, second, parts_of(std::as_const(gram_).data()), kRoundings * unit_roundoff(kDType<T>),
        parts(phi_[second ? 1 : 0]), parts(phi_[second ? 0 : 1]), parts(tau_),
        parts_of(second ? directions_.data() + k_ * k_ : alpha_.data()),
        parts_of(directions_.data()), this->columns()});
  }

  bool estimates_euclidean() const override { return !has_m(); }
  MatrixView<T> rest() override { return ap_.view(); }
  MatrixView<T> z() override { return first_q_.view(); }

  bool has_m() const { return static_cast<bool>(this->m_); }
  MatrixView<T> p(int which) { return columns_of(s_[which].view(), 0, k_); }
  MatrixView<T> square(T* data) const { return {data, k_, k_, Layout::row}; }
  static double* parts(Buffer<Number>& numbers) { return parts_of(numbers.data()); }
  Matrix<T> pair() const {
    return Matrix<T>(this->stream_, this->n_, 2 * k_, Layout::row, 0, this->options_.allocator);
  }
  Buffer<T> elements(std::int64_t squares) const {
    return Buffer<T>(this->stream_, squares * k_ * k_, this->options_.allocator);
  }
  Buffer<Number> numbers() const {
    return Buffer<Number>(this->stream_, k_ * k_, this->options_.allocator);
  }

  /// A gram product of unit vectors has sums of many terms, whose errors mostly cancel.
  static constexpr double kRoundings = 32;

  std::int64_t k_;
  std::unique_ptr<BlockWork<T>> block_work_;
  Products<T> products_;
  Matrix<T> q_;
  Matrix<T> ap_;
  Matrix<T> first_q_;  // Q after its first factor, where there is a preconditioner
  Matrix<T> s_[2];     // [P U]: P, and M Q after its first factor
  Buffer<T> gram_;
  Buffer<T> alpha_;
  Buffer<T> step_;
  Buffer<T> directions_;  // [tau^H; C]
  Buffer<Number> phi_[2];
  Buffer<Number> tau_;
  Buffer<Number> inverse_;
  int now_ = 0;
};

}  // namespace

}  // namespace lanky::solvers

namespace lanky::inline v1 {

template <class T>
LinearResult block_cg(const Stream& stream, const LinearOperator<T>& a,
                      std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                      const LinearOptions& options, const LinearOperator<T>& preconditioner) {
  const solvers::LinearProblem<T> problem{stream, a, preconditioner, b, x, options};
  solvers::check_problem(problem);
  if (const auto none = solvers::nothing_to_solve(problem)) return *none;
  return solvers::BlockCg<T>(problem).run();
}

#define LANKY_INSTANTIATE(T)                                                               \
  template LinearResult block_cg(const Stream&, const LinearOperator<T>&,                  \
                                 std::type_identity_t<MatrixView<const T>>, MatrixView<T>, \
                                 const LinearOptions&, const LinearOperator<T>&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
