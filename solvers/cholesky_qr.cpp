// CholeskyQr: plans of the products of each pass, and the small factorizations between them.
#include <cmath>
#include <complex>
#include <lanky/cholesky_qr.hpp>
#include <lanky/dense.hpp>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <vector>

#include "core/arguments.hpp"
#include "core/text.hpp"
#include "solvers/block_work.hpp"

namespace lanky::inline v1 {

namespace {

std::int64_t checked_columns(std::int64_t m, std::int64_t n) {
  if (n < 1 || m < n) {
    throw Error(ErrorCode::invalid_argument, concat("A is ", m, " x ", n,
                                                    "; at least one column and no fewer rows are "
                                                    "needed"));
  }
  return n;
}

/// The shift of Fukaya et al. on columns of length 1, for which |A|^2 is at most n. They have m in
/// place of its root; roundings of sums of m terms grow as the root.
double first_shift(std::int64_t m, std::int64_t n, double roundoff) {
  const auto cols = static_cast<double>(n);
  return 11 * (std::sqrt(static_cast<double>(m)) * cols + cols * (cols + 1)) * roundoff * cols;
}

}  // namespace

template <class T>
struct CholeskyQr<T>::Impl {
  /// The products of a pass.
  struct Pass {
    GemmPlan<T> gram;
    GemmPlan<T> update;
  };

  Impl(const Stream& on, std::int64_t rows, std::int64_t cols, const CholeskyQrOptions& given)
      : stream(on),
        m(rows),
        n(checked_columns(rows, cols)),
        options(given),
        work(solvers::make_block_work<T>(on)),
        between(on, m, n, given.layout, 0, given.allocator),
        gram(on, n * n, given.allocator),
        inverse(on, n * n, given.allocator),
        r_before{Buffer<T>(on, n * n, given.allocator), Buffer<T>(on, n * n, given.allocator)},
        reports(on, given.shifted ? 3 : 2, given.allocator) {
    options.lda = detail::checked_ld(m, n, given.layout, given.lda);
    options.ldq = detail::checked_ld(m, n, given.layout, given.ldq);
    work->prepare(n);
    const std::int64_t tight = between.view().ld;
    std::int64_t source = options.lda;
    GemmOptions products;
    products.allocator = options.allocator;
    for (std::int64_t pass = 0; pass < reports.size(); ++pass) {
      const std::int64_t target = into_q(pass) ? options.ldq : tight;
      GemmShape gram_shape{
          .m = n, .n = n, .k = m, .op_a = Op::conj_trans, .layout = options.layout};
      gram_shape.lda = gram_shape.ldb = source;
      GemmShape update_shape{.m = m, .n = n, .k = n, .layout = options.layout};
      update_shape.lda = source;
      update_shape.ldc = target;
      passes.push_back(
          {GemmPlan<T>(stream, gram_shape, products), GemmPlan<T>(stream, update_shape, products)});
      source = target;
    }
    // Until a run has told better.
    reports.copy_from(std::vector<solvers::PassReport>(static_cast<std::size_t>(reports.size())));
  }

  /// Whether a pass writes to Q: the last one, and others in turn.
  bool into_q(std::int64_t pass) const { return (reports.size() - 1 - pass) % 2 == 0; }
  MatrixView<T> square(Buffer<T>& buffer) const { return {buffer.data(), n, n, options.layout}; }

  void run(MatrixView<const T> a, MatrixView<T> q, MatrixView<T> r);

  Stream stream;
  std::int64_t m;
  std::int64_t n;
  CholeskyQrOptions options;
  std::unique_ptr<solvers::BlockWork<T>> work;
  Matrix<T> between;  // [m, n]: what passes before the last leave
  Buffer<T> gram;     // [n, n] each
  Buffer<T> inverse;
  Buffer<T> r_before[2];
  Buffer<solvers::PassReport> reports;
  std::vector<Pass> passes;
};

template <class T>
void CholeskyQr<T>::Impl::run(MatrixView<const T> a, MatrixView<T> q, MatrixView<T> r) {
  const auto fail = [](ErrorCode code, const auto&... parts) {
    throw Error(code, concat(parts...));
  };
  const auto check = [&](const char* name, auto x, std::int64_t rows, std::int64_t ld) {
    if (x.rows != rows || x.cols != n) {
      fail(ErrorCode::size_mismatch, name, " is ", x.rows, " x ", x.cols, "; ", rows, " x ", n,
           " is needed");
    }
    if (x.layout != options.layout) {
      fail(ErrorCode::invalid_argument, name, " stands by ",
           x.layout == Layout::row ? "rows" : "columns", ", and the factorization by ",
           options.layout == Layout::row ? "rows" : "columns");
    }
    if (ld > 0 ? x.ld != ld : x.ld < n) {
      fail(ErrorCode::size_mismatch, name, " has the leading dimension ", x.ld, "; ",
           ld > 0 ? ld : n, " is needed");
    }
    check_on_device(x.data, x.rows, stream.device(), name);
  };
  check("A", a, m, options.lda);
  check("Q", q, m, options.ldq);
  check("R", r, n, 0);
  const double roundoff = unit_roundoff(kDType<T>);
  const std::int64_t count = reports.size();
  MatrixView<const T> source = a;
  for (std::int64_t pass = 0; pass < count; ++pass) {
    const bool last = pass == count - 1;
    const MatrixView<T> target = into_q(pass) ? q : between.view();
    Buffer<T>& before = r_before[pass % 2];
    Buffer<T>& after = r_before[(pass + 1) % 2];
    const Pass& products = passes[static_cast<std::size_t>(pass)];
    products.gram.run(stream, source, source, square(gram));
    work->orthogonal_pass({.q = 0,
                           .w = n,
                           .q_row = 0,
                           .w_row = 0,
                           .gram = solvers::parts_of(gram.data()),
                           .coefficients = solvers::parts_of(inverse.data()),
                           .roundoff = static_cast<double>(n) * roundoff,
                           .report = reports.data() + pass,
                           .r = solvers::parts_of(last ? r.data : after.data()),
                           .r_ld = last ? r.ld : n,
                           .r_before = pass == 0 ? nullptr : solvers::parts_of(before.data()),
                           .shift = options.shifted && pass == 0 ? first_shift(m, n, roundoff) : 0,
                           .by_columns = options.layout == Layout::col});
    products.update.run(stream, source, square(inverse), target);
    source = target;
  }
}

template <class T>
CholeskyQr<T>::CholeskyQr(const Stream& stream, std::int64_t m, std::int64_t n,
                          const CholeskyQrOptions& options)
    : impl_((refuse_capture(stream, "a plan's constructor"),
             std::make_unique<Impl>(stream, m, n, options))) {}
template <class T>
CholeskyQr<T>::CholeskyQr(CholeskyQr&&) noexcept = default;
template <class T>
CholeskyQr<T>& CholeskyQr<T>::operator=(CholeskyQr&&) noexcept = default;
template <class T>
CholeskyQr<T>::~CholeskyQr() = default;

template <class T>
void CholeskyQr<T>::run(MatrixView<const T> a, MatrixView<T> q, MatrixView<T> r) {
  impl_->run(a, q, r);
}

template <class T>
void CholeskyQr<T>::check() const {
  const std::vector<solvers::PassReport> reports = impl_->reports.to_host();
  for (std::size_t pass = 0; pass < reports.size(); ++pass) {
    const solvers::PassReport& report = reports[pass];
    if (report.broken != 0) {
      throw Error(ErrorCode::invalid_argument,
                  pass == 0 ? "A has elements that are NaN or Inf, or too large to be squared"
                            : concat("pass ", pass + 1, " of CholeskyQR has NaN or Inf"));
    }
    if (report.lifted + report.empty == 0) continue;
    throw Error(ErrorCode::unsupported,
                concat("pass ", pass + 1, " of CholeskyQR broke down: pivot ",
                       report.first_weak + 1, " of ", impl_->n, " is ", report.least_pivot,
                       ", what rounding leaves of 1; the columns of A depend on each other too "
                       "closely",
                       impl_->options.shifted ? "" : " for two passes, three with a shift may do"));
  }
}

template <class T>
std::string CholeskyQr<T>::explain() const {
  std::string text;
  for (std::size_t pass = 0; pass < impl_->passes.size(); ++pass) {
    text += concat(pass == 0 ? "" : "\n", "pass ", pass + 1, ":\n",
                   impl_->passes[pass].gram.explain(), "\n", impl_->passes[pass].update.explain());
  }
  return text;
}

#define LANKY_INSTANTIATE(T) template class CholeskyQr<T>;
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
