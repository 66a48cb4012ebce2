// Conjugate gradients on several right-hand sides (Hestenes and Stiefel, J. Res. NBS 49, 1952). An
// iteration is three passes beside the products; x follows p a pass later, so that p is read once.
#include <complex>
#include <lanky/linear_solver.hpp>

#include "solvers/block_work.hpp"
#include "solvers/linear_solve.hpp"
#include "solvers/products.hpp"

namespace lanky::solvers {

namespace {

template <class T>
class Cg final : public LinearSolve<T> {
  using Base = LinearSolve<T>;
  using typename Base::Real;

 public:
  explicit Cg(const LinearProblem<T>& problem)
      : Base(problem),
        r_(this->tall()),
        p_(this->tall()),
        q_(this->tall()),
        z_(this->tall(static_cast<bool>(this->m_))),
        scalars_(this->stream_, this->c_, this->options_.allocator) {
    // Columns that never start are multiplied as well.
    p_.buffer().fill_zero();
    r_.buffer().fill_zero();
    scalars_.fill_zero();
  }

 private:
  void iterate() override {
    this->a_.apply(this->stream_, read_only(p_.view()), q_.view());
    this->work_->run(ProductPass<Real, CgMultiplied>{rows(p_), rows(q_), {view()}});
    this->work_->run(CgStepPass<Real>{view(), rows(q_), real_rows(r_.view())});
    if (this->m_) {
      this->m_.apply(this->stream_, read_only(r_.view()), z_.view());
      this->work_->run(ProductPass<Real, CgWeigh>{rows(r_), rows(z_), {view()}});
    }
    this->work_->run(CgDirectionPass<Real>{view(), this->m_ ? rows(z_) : rows(r_),
                                           real_rows(p_.view()), real_rows(this->x_)});
  }
  void restart() override {
    this->work_->run(CgStartPass<Real>{view(), rows(q_), this->m_ ? rows(z_) : rows(q_),
                                       real_rows(r_.view()), real_rows(p_.view())});
  }
  bool estimates_euclidean() const override { return true; }
  MatrixView<T> rest() override { return q_.view(); }
  MatrixView<T> z() override { return z_.view(); }

  static Rows<const Real> rows(Matrix<T>& x) { return real_rows(read_only(x.view())); }
  CgView view() { return {this->columns(), scalars_.data(), static_cast<bool>(this->m_)}; }

  Matrix<T> r_;
  Matrix<T> p_;
  Matrix<T> q_;
  Matrix<T> z_;  // none without a preconditioner
  Buffer<CgScalars> scalars_;
};

}  // namespace

}  // namespace lanky::solvers

namespace lanky::inline v1 {

template <class T>
LinearResult cg(const Stream& stream, const LinearOperator<T>& a,
                std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                const LinearOptions& options, const LinearOperator<T>& preconditioner) {
  const solvers::LinearProblem<T> problem{stream, a, preconditioner, b, x, options};
  solvers::check_problem(problem);
  if (const auto none = solvers::nothing_to_solve(problem)) return *none;
  return solvers::Cg<T>(problem).run();
}

#define LANKY_INSTANTIATE(T)                                                         \
  template LinearResult cg(const Stream&, const LinearOperator<T>&,                  \
                           std::type_identity_t<MatrixView<const T>>, MatrixView<T>, \
                           const LinearOptions&, const LinearOperator<T>&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
