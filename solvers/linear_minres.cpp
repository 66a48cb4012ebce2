// MINRES on several right-hand sides (Paige and Saunders, SIAM J. Numer. Anal. 12, 1975), with the
// inner product of a positive definite preconditioner (Elman, Silvester and Wathen, Finite Elements
// and Fast Iterative Solvers, section 4.1).
#include <cmath>
#include <complex>
#include <lanky/dtype.hpp>
#include <lanky/linear_solver.hpp>

#include "solvers/block_work.hpp"
#include "solvers/linear_solve.hpp"
#include "solvers/products.hpp"

namespace lanky::solvers {

namespace {

template <class T>
class Minres final : public LinearSolve<T> {
  using Base = LinearSolve<T>;
  using typename Base::Real;

 public:
  explicit Minres(const LinearProblem<T>& problem)
      : Base(problem),
        r_{this->tall(), this->tall()},
        w_{this->tall(), this->tall()},
        q_(this->tall()),
        z_{this->tall(has_m()), this->tall(has_m())},
        scalars_(this->stream_, this->c_, this->options_.allocator) {
    // Columns that never start are multiplied as well.
    for (int i = 0; i < 2; ++i) {
      r_[i].buffer().fill_zero();
      z_[i].buffer().fill_zero();
    }
    scalars_.fill_zero();
  }

 private:
  void iterate() override {
    const int next = 1 - now_;
    const MatrixView<T> z = has_m() ? z_[now_].view() : r_[now_].view();
    this->a_.apply(this->stream_, read_only(z), q_.view());
    this->work_->run(
        ProductPass<Real, MinresMultiplied>{real_rows(read_only(z)), rows(q_), {view()}});
    this->work_->run(
        LanczosPass<Real>{view(), has_m(), rows(q_), rows(r_[now_]), real_rows(r_[next].view())});
    if (has_m()) {
      this->m_.apply(this->stream_, read_only(r_[next].view()), z_[next].view());
      this->work_->run(
          ProductPass<Real, MinresOrthogonalized>{rows(r_[next]), rows(z_[next]), {view()}});
    }
    this->work_->run(MinresSolutionPass<Real>{view(), real_rows(read_only(z)), rows(w_[now_]),
                                              real_rows(w_[next].view()), real_rows(this->x_)});
    now_ = next;
  }
  void restart() override {
    const int old = 1 - now_;
    this->work_->run(MinresStartPass<Real>{view(), rows(q_), has_m() ? rows(z_[old]) : rows(q_),
                                           real_rows(r_[old].view()), real_rows(r_[now_].view()),
                                           real_rows(has_m() ? z_[now_].view() : r_[now_].view()),
                                           real_rows(w_[old].view()), real_rows(w_[now_].view())});
  }
  bool estimates_euclidean() const override { return !has_m(); }
  MatrixView<T> rest() override { return q_.view(); }
  MatrixView<T> z() override { return z_[1 - now_].view(); }

  bool has_m() const { return static_cast<bool>(this->m_); }
  static Rows<const Real> rows(Matrix<T>& x) { return real_rows(read_only(x.view())); }
  MinresView view() {
    // Runs that begin near the null space reach slopes between u and its root.
    const double roundoff = unit_roundoff(kDType<T>);
    return {this->columns(), scalars_.data(), 16 * std::pow(roundoff, 0.75),
            4 * std::sqrt(roundoff)};
  }

  // Two of each: the one of this iteration, and the last one, in whose place the next one comes.
  Matrix<T> r_[2];
  Matrix<T> w_[2];
  Matrix<T> q_;
  Matrix<T> z_[2];  // none without a preconditioner
  Buffer<MinresScalars> scalars_;
  int now_ = 0;
};

}  // namespace

}  // namespace lanky::solvers

namespace lanky::inline v1 {

template <class T>
LinearResult minres(const Stream& stream, const LinearOperator<T>& a,
                    std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                    const LinearOptions& options, const LinearOperator<T>& preconditioner) {
  const solvers::LinearProblem<T> problem{stream, a, preconditioner, b, x, options};
  solvers::check_problem(problem);
  if (const auto none = solvers::nothing_to_solve(problem)) return *none;
  return solvers::Minres<T>(problem).run();
}

#define LANKY_INSTANTIATE(T)                                                             \
  template LinearResult minres(const Stream&, const LinearOperator<T>&,                  \
                               std::type_identity_t<MatrixView<const T>>, MatrixView<T>, \
                               const LinearOptions&, const LinearOperator<T>&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
