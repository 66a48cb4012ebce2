// Cases of SddmmPlan: sampled products in every layout, alignment and number of columns.
#include <algorithm>
#include <optional>

#include "random/cases.hpp"
#include "random/csr_arrays.hpp"

namespace lanky::random_cases {

namespace {

template <class T, class TOut>
class SampledCases : public PlanCases {
  using Sum = Accumulator<T>;
  using Plan = SddmmPlan<T, TOut>;

 public:
  SampledCases(Worker& worker, Random& random)
      : worker_(worker), pattern_(draw_pattern(random)), type_(type_text<T, TOut>()) {
    options_.conjugate_y = one_in(random, 3);
    if (one_in(random, 2)) options_.expected_columns = log_uniform(random, 1, 100);
    form_ = draw_form(random);
    plan_.emplace(make_plan(form_));
    bound_ = bound_of<T, TOut, Sum>(Math::ieee, worker.is_cuda());
  }

  void run(std::int64_t number) override {
    Random random = random_of(worker_.options.seed, number, Draws::operands);
    const Values values = draw_values(random);
    const std::int64_t n = draw_columns(random);
    const std::int64_t special_times = 8 + 8 * n;
    Operand<T> x(plan_->rows(), n, draw_place(random, draw_layout(random)), quiet_nan<T>());
    Operand<T> y(plan_->cols(), n, draw_place(random, draw_layout(random)), quiet_nan<T>());
    x.fill(random, values, special_times);
    y.fill(random, factors_of(values), special_times);
    Operand<TOut> result(plan_->nnz(), 1, draw_place(random, Layout::col),
                         testing::element<TOut>(-77.0));
    const auto alpha = draw_scalar<Sum>(random, values, {1, 1, 1, -1, 0, 2});
    const auto beta = draw_scalar<Sum>(random, values, {0, 0, 0, 1, -1});
    if (testing::parts(beta) == 0.0) {
      result.fill(quiet_nan<TOut>());
    } else {
      result.fill(random, values, special_times);
    }
    const How how = worker_.draw_how(random);
    worker_.subject = concat(
        "sampled ", type_, " ", pattern_.text, ", ", pattern_.rows, " x ", pattern_.cols, " with ",
        pattern_.nnz(), " entries; ", text_of(form_), options_.conjugate_y ? "; conjugated" : "",
        "; expects ", options_.expected_columns, "; ", n, " columns (", text_of(values), "), X ",
        x.layout == Layout::col ? "col" : "row", " ld ", x.ld, " at ", x.offset, ", Y ",
        y.layout == Layout::col ? "col" : "row", " ld ", y.ld, " at ", y.offset, ", alpha ",
        testing::parts(alpha), ", beta ", testing::parts(beta), how.lent ? ", lent workspace" : "",
        how.on_device ? ", scalars on the device" : "");
    if (worker_.tells()) std::printf("%s\n%s\n", worker_.subject.c_str(), plan_->explain().c_str());

    const auto multiply = [&](const Plan& plan, const Operand<T>& of_x, const Operand<T>& of_y,
                              const How& by) {
      return product(plan, of_x, of_y, result, alpha, beta, by);
    };
    auto after = multiply(*plan_, x, y, how);
    judge_result(values, x, y, result, alpha, beta, after);
    const auto expect_same = [&](const std::string& text, std::vector<TOut> second) {
      worker_.expect_same_bits("sddmm bits", type_, text, result, after, result, second);
    };
    const Again again = worker_.draw_again(random);
    if (again != Again::none)
      expect_same(text_of(again), multiply(*plan_, x, y, Worker::changed(how, again)));
    if (one_in(random, 3)) {
      Operand<T> x2(x.rows, n, draw_place(random, draw_layout(random)), quiet_nan<T>());
      Operand<T> y2(y.rows, n, draw_place(random, draw_layout(random)), quiet_nan<T>());
      x2.copy_elements(x);
      y2.copy_elements(y);
      expect_same("other layouts", multiply(*plan_, x2, y2, how));
    }
    if (number % kCasesOfPlan == kCasesOfPlan - 1 && one_in(random, 3)) {
      const Plan second = make_plan(draw_form(random));
      worker_.count("equal plans", type_, "pairs",
                    second.fingerprint() == plan_->fingerprint() ? "" : "fingerprints differ");
      if (second.fingerprint() == plan_->fingerprint())
        expect_same("another plan of the same pattern", multiply(second, x, y, how));
    }
  }

 private:
  Plan make_plan(const CsrForm& form) {
    const std::vector<T> values(pattern_.columns.size());
    const CsrArrays<T> arrays(worker_.stream, pattern_, values, form);
    Plan plan(worker_.stream, arrays.view(), options_);
    worker_.stream.synchronize();
    return plan;
  }

  static Layout draw_layout(Random& random) {
    return one_in(random, 3) ? Layout::col : Layout::row;
  }
  std::int64_t draw_columns(Random& random) const {
    std::int64_t n = one_of<std::int64_t>(
        random, {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 129, 300});
    if (options_.expected_columns > 1 && one_in(random, 2)) n = options_.expected_columns;
    const bool large = one_in(random, 64);
    const std::int64_t most = large ? 1'000'000 : 60'000;
    const std::int64_t parts = kIsComplex<T> ? 4 : 1;
    const std::int64_t room =
        std::min(most / (1 + pattern_.nnz() * parts),
                 (large ? 400'000 : 40'000) / (1 + plan_->rows() + plan_->cols()));
    return std::min(n, std::max<std::int64_t>(1, room));
  }

  std::vector<TOut> product(const Plan& plan, const Operand<T>& x, const Operand<T>& y,
                            const Operand<TOut>& result, Sum alpha, Sum beta, const How& how) {
    Arena& operands = worker_.arena(how);
    const std::size_t of_x = operands.add(x.memory);
    const std::size_t of_y = operands.add(y.memory);
    return worker_.run(how, plan.workspace_bytes(), alpha, beta, result.memory,
                       [&](const Stream& stream, Scalar<Sum> first, Scalar<Sum> second,
                           const Workspace* workspace, TOut* values) {
                         const MatrixView<const T> from{operands.data<T>(of_x) + x.offset, x.rows,
                                                        x.cols, x.ld, x.layout};
                         const MatrixView<const T> to{operands.data<T>(of_y) + y.offset, y.rows,
                                                      y.cols, y.ld, y.layout};
                         if (workspace == nullptr)
                           return plan.run(stream, first, from, to, second, result.vector(values));
                         plan.run(stream, first, from, to, second, result.vector(values),
                                  *workspace);
                       });
  }

  void judge_result(Values values, const Operand<T>& x, const Operand<T>& y,
                    const Operand<TOut>& result, Sum alpha, Sum beta, std::vector<TOut>& after) {
    Bound bound = bound_;
    bound.exact = values == Values::integers;
    Verdict verdict;
    worker_.tamper(verdict, result, after);
    for (std::int64_t i = 0; i < pattern_.rows; ++i) {
      for (std::int64_t e = pattern_.offsets[i]; e < pattern_.offsets[i + 1]; ++e) {
        const std::int64_t j = pattern_.columns[e];
        Sums<T> sums;
        for (std::int64_t c = 0; c < x.cols; ++c) {
          const auto a = testing::parts(x.at(i, c));
          const auto b = testing::parts(y.at(j, c));
          if constexpr (kIsComplex<T>) {
            sums.add(a.real(), a.imag(), b.real(), options_.conjugate_y ? -b.imag() : b.imag());
          } else {
            sums.add(a.real(), b.real());
          }
        }
        const std::size_t at = result.index(e, 0);
        judge_element<T, TOut>(verdict, bound, sums, testing::parts(alpha), testing::parts(beta),
                               testing::parts(result.memory[at]), after[at],
                               [&] { return concat("entry ", e, ", at ", i, ", ", j); });
      }
    }
    const std::int64_t touched = result.touched(after);
    if (touched >= 0)
      verdict.fault = concat("memory around the values at ", touched, " was written");
    worker_.count("sddmm", type_, "products", verdict.fault, verdict.worst, verdict.worst_long);
  }

  Worker& worker_;
  Pattern pattern_;
  SddmmOptions options_{};
  CsrForm form_{};
  std::optional<Plan> plan_{};
  Bound bound_{};
  std::string type_;
};

}  // namespace

template <class T, class TOut>
std::unique_ptr<PlanCases> draw_sampled(Worker& worker, Random& random) {
  return std::make_unique<SampledCases<T, TOut>>(worker, random);
}

template std::unique_ptr<PlanCases> draw_sampled<double, double>(Worker&, Random&);
template std::unique_ptr<PlanCases> draw_sampled<float, float>(Worker&, Random&);
template std::unique_ptr<PlanCases> draw_sampled<half, half>(Worker&, Random&);
template std::unique_ptr<PlanCases> draw_sampled<half, float>(Worker&, Random&);
template std::unique_ptr<PlanCases> draw_sampled<bfloat16, bfloat16>(Worker&, Random&);
template std::unique_ptr<PlanCases> draw_sampled<bfloat16, float>(Worker&, Random&);
template std::unique_ptr<PlanCases> draw_sampled<std::complex<float>, std::complex<float>>(Worker&,
                                                                                           Random&);
template std::unique_ptr<PlanCases> draw_sampled<std::complex<double>, std::complex<double>>(
    Worker&, Random&);

}  // namespace lanky::random_cases
