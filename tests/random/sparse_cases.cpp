// Cases of SparsePlan: one vector or several, in every form that its interface offers.
#include <algorithm>
#include <optional>

#include "random/cases.hpp"
#include "random/csr_arrays.hpp"

namespace lanky::random_cases {

namespace {

/// Options as they may be for T: what the type does not have is an Error.
template <class T>
SparseOptions draw_options(Random& random, bool square) {
  SparseOptions options;
  if (kDType<T> == DType::f32 && one_in(random, 3))
    options.math = one_in(random, 2) ? Math::tf32 : Math::tf32x3;
  if (one_in(random, 2))
    options.expected_columns = one_of<std::int64_t>(random, {2, 3, 4, 5, 8, 8, 9, 16, 32, 100});
  if (one_in(random, 2)) options.expected_layout = Layout::col;
  const bool has_tensor_cores =
      !kIsComplex<T> &&
      (kDType<T> != DType::f32 || options.math != Math::ieee || options.expected_columns >= 5);
  if (one_in(random, 3)) options.engine = Engine::cuda_cores;
  if (has_tensor_cores && one_in(random, 3)) options.engine = Engine::tensor_cores;
  if (square && one_in(random, 5))
    options.symmetry =
        one_of(random, {Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian});
  if (one_in(random, 3)) options.op = one_in(random, 2) ? Op::trans : Op::conj_trans;
  options.updates = one_in(random, 2);
  options.tune = one_in(random, 250);
  return options;
}

std::string text_of(const SparseOptions& options) {
  return concat(to_string(options.engine), " ", to_string(options.math), ", symmetry ",
                static_cast<int>(options.symmetry), ", op ", "ntc"[static_cast<int>(options.op)],
                ", expects ", options.expected_columns,
                options.expected_layout == Layout::col ? " by columns" : " by rows",
                options.updates ? ", updates" : "", options.tune ? ", tuned" : "");
}

template <class T, class TOut>
class SparseCases : public PlanCases {
  using Sum = Accumulator<T>;
  using Plan = SparsePlan<T, TOut>;

 public:
  SparseCases(Worker& worker, Random& random) : worker_(worker), pattern_(draw_pattern(random)) {
    options_ = draw_options<T>(random, true);
    if (options_.symmetry != Symmetry::general) make_triangle(pattern_, random);
    matrix_.emplace(pattern_, options_.symmetry, options_.op);
    special_times_ = 8 + 4 * matrix_->offsets.back() / std::max<std::int64_t>(1, matrix_->rows);
    draw_matrix_values(random);
    form_ = draw_form(random);
    plan_.emplace(make_plan(form_));
    bound_ = bound_of<T, TOut, Sum>(options_.math, worker.is_cuda());
    type_ = type_text<T, TOut>(worker.is_cuda() ? options_.math : Math::ieee);
  }

  void run(std::int64_t number) override {
    Random random = random_of(worker_.options.seed, number, Draws::operands);
    if (number % kCasesOfPlan != 0 && can_update() && one_in(random, 4)) update(random);
    const bool vector = one_in(random, options_.expected_columns == 1 ? 2 : 5);
    const std::int64_t n = vector ? 1 : draw_columns(random);
    Case made(draw_values_of_x(random));
    Operand<T> x(plan_->cols(), n, draw_place(random, draw_layout(random, vector)), quiet_nan<T>());
    Operand<TOut> y(plan_->rows(), n, draw_place(random, draw_layout(random, vector)),
                    testing::element<TOut>(-77.0));
    x.fill(random, made.values, special_times_);
    made.alpha = draw_scalar<Sum>(random, made.values, {1, 1, 1, -1, 0, 2});
    made.beta = draw_scalar<Sum>(random, made.values, {0, 0, 0, 1, -1});
    if (testing::parts(made.beta) == 0.0) {
      y.fill(quiet_nan<TOut>());
    } else {
      y.fill(random, made.values, special_times_);
    }
    made.vector = vector;
    const How how = worker_.draw_how(random);
    describe(made, x, y, how);

    auto after = product(*plan_, made, x, y, how);
    judge_result(vector ? "spmv" : "spmm", made, x, y, after);
    const std::string bits = vector ? "spmv bits" : "spmm bits";
    const Again again = worker_.draw_again(random);
    if (again != Again::none)
      expect_same(bits, text_of(again), y, after, y,
                  product(*plan_, made, x, y, Worker::changed(how, again)));
    if (!vector && one_in(random, 3)) try_other_layouts(random, made, x, y, after, how);
    if (!vector && n > 1 && one_in(random, 3)) try_fewer_columns(random, made, x, y, after, how);
    if (number % kCasesOfPlan == kCasesOfPlan - 1 && one_in(random, 3)) {
      const Plan second = make_plan(draw_form(random));
      if (!options_.tune)
        worker_.count("equal plans", type_, "pairs",
                      second.fingerprint() == plan_->fingerprint() ? "" : "fingerprints differ");
      if (second.fingerprint() == plan_->fingerprint())
        expect_same(bits, "another plan of the same matrix", y, after, y,
                    product(second, made, x, y, how));
    }
  }

 private:
  struct Case {
    explicit Case(Values the_values) : values(the_values) {}
    Values values;  // of x, y and scalars
    Sum alpha = 1;
    Sum beta = 0;
    bool vector = false;
  };

  Plan make_plan(const CsrForm& form) {
    const CsrArrays<T> arrays(worker_.stream, pattern_, values_, form);
    Plan plan(worker_.stream, arrays.view(), options_);
    worker_.stream.synchronize();
    return plan;
  }

  void draw_matrix_values(Random& random) {
    matrix_values_ = draw_values(random);
    values_ = testing::vector_of<T>(pattern_.nnz(), random, [&](Random& from) {
      return draw_element<T>(from, matrix_values_, special_times_);
    });
    std::vector<std::complex<double>> wide(values_.size());
    std::transform(values_.begin(), values_.end(), wide.begin(), testing::parts<T>);
    matrix_->set_values(wide);
  }

  bool can_update() const {
    return options_.updates || (options_.symmetry == Symmetry::general && options_.op == Op::none);
  }
  void update(Random& random) {
    draw_matrix_values(random);
    if (one_in(random, 2)) {
      plan_->update_values(worker_.stream, values_);
    } else {
      const auto fresh = Buffer<T>::from(worker_.stream, values_);
      plan_->update_values(worker_.stream, fresh.view());
    }
    worker_.stream.synchronize();
  }

  Values draw_values_of_x(Random& random) const {
    if (matrix_values_ == Values::integers && random() % 4 != 0) return Values::integers;
    if (matrix_values_ == Values::tight) return Values::tight;
    if (matrix_values_ == Values::lost) return Values::ones;
    return draw_values(random);
  }
  Layout draw_layout(Random& random, bool vector) const {
    if (vector) return Layout::col;
    if (one_in(random, 2)) return options_.expected_layout;
    return one_in(random, 2) ? Layout::row : Layout::col;
  }
  std::int64_t draw_columns(Random& random) const {
    std::int64_t n = one_of<std::int64_t>(
        random, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 31, 32, 33, 64, 65, 128});
    if (options_.expected_columns > 1 && one_in(random, 2)) n = options_.expected_columns;
    const bool large = one_in(random, 64);
    const std::int64_t most = large ? 1'000'000 : 60'000;
    const std::int64_t parts = kIsComplex<T> ? 4 : 1;
    const std::int64_t room =
        std::min(most / (1 + matrix_->offsets.back() * parts),
                 (large ? 400'000 : 40'000) / (1 + plan_->rows() + plan_->cols()));
    return std::min(n, std::max<std::int64_t>(1, room));
  }

  void describe(const Case& made, const Operand<T>& x, const Operand<TOut>& y, const How& how) {
    worker_.subject = concat(
        type_text<T, TOut>(), " ", pattern_.text, ", ", pattern_.rows, " x ", pattern_.cols,
        " with ", pattern_.nnz(), " entries (", text_of(matrix_values_), "); ", text_of(form_),
        "; ", text_of(options_), "; ", made.vector ? "one vector" : concat(x.cols, " columns"),
        " (", text_of(made.values), "), X ", x.layout == Layout::col ? "col" : "row", " ld ", x.ld,
        " at ", x.offset, ", Y ", y.layout == Layout::col ? "col" : "row", " ld ", y.ld, " at ",
        y.offset, ", alpha ", testing::parts(made.alpha), ", beta ", testing::parts(made.beta),
        how.lent ? ", lent workspace" : "", how.on_device ? ", scalars on the device" : "");
    if (worker_.tells()) std::printf("%s\n%s\n", worker_.subject.c_str(), plan_->explain().c_str());
  }

  std::vector<TOut> product(const Plan& plan, const Case& made, const Operand<T>& x,
                            const Operand<TOut>& y, const How& how) {
    Arena& operands = worker_.arena(how);
    const std::size_t of_x = operands.add(x.memory);
    return worker_.run(how, plan.workspace_bytes(), made.alpha, made.beta, y.memory,
                       [&](const Stream& stream, Scalar<Sum> alpha, Scalar<Sum> beta,
                           const Workspace* workspace, TOut* result) {
                         const MatrixView<const T> from{operands.data<T>(of_x) + x.offset, x.rows,
                                                        x.cols, x.ld, x.layout};
                         if (made.vector) {
                           const VectorView<const T> one(from.data, x.rows);
                           if (workspace == nullptr)
                             return plan.run(stream, alpha, one, beta, y.vector(result));
                           return plan.run(stream, alpha, one, beta, y.vector(result), *workspace);
                         }
                         if (workspace == nullptr)
                           return plan.run(stream, alpha, from, beta, y.view(result));
                         plan.run(stream, alpha, from, beta, y.view(result), *workspace);
                       });
  }

  /// Each element of Y against the compensated sum of its row.
  void judge_result(const std::string& check, const Case& made, const Operand<T>& x,
                    const Operand<TOut>& y, std::vector<TOut>& after) {
    Bound bound = bound_;
    bound.exact = matrix_values_ == Values::integers && made.values == Values::integers;
    Verdict verdict;
    worker_.tamper(verdict, y, after);
    const auto n = static_cast<std::size_t>(x.cols);
    std::vector<double> real(static_cast<std::size_t>(x.rows) * n);
    std::vector<double> imag(kIsComplex<T> ? real.size() : 0);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      for (std::int64_t j = 0; j < x.cols; ++j) {
        const auto value = testing::parts(x.at(i, j));
        real[i * n + j] = value.real();
        if constexpr (kIsComplex<T>) imag[i * n + j] = value.imag();
      }
    }
    const auto alpha = testing::parts(made.alpha);
    const auto beta = testing::parts(made.beta);
    for (std::int64_t i = 0; i < y.rows; ++i) {
      for (std::int64_t j = 0; j < y.cols; ++j) {
        Sums<T> sums;
        for (std::int64_t e = matrix_->offsets[i]; e < matrix_->offsets[i + 1]; ++e) {
          const std::size_t at = matrix_->columns[e] * n + j;
          if constexpr (kIsComplex<T>) {
            sums.add(matrix_->real[e], matrix_->imag[e], real[at], imag[at]);
          } else {
            sums.add(matrix_->real[e], real[at]);
          }
        }
        const std::size_t at = y.index(i, j);
        judge_element<T, TOut>(verdict, bound, sums, alpha, beta, testing::parts(y.memory[at]),
                               after[at], [&] { return concat("row ", i, ", column ", j); });
      }
    }
    const std::int64_t touched = y.touched(after);
    if (touched >= 0) verdict.fault = concat("memory around Y at ", touched, " was written");
    worker_.count(check, type_, "products", verdict.fault, verdict.worst, verdict.worst_long);
  }

  void expect_same(const std::string& check, const std::string& how, const Operand<TOut>& y,
                   const std::vector<TOut>& first, const Operand<TOut>& y2,
                   std::vector<TOut> second) {
    worker_.expect_same_bits(check, type_, how, y, first, y2, second);
  }

  void try_other_layouts(Random& random, const Case& made, const Operand<T>& x,
                         const Operand<TOut>& y, const std::vector<TOut>& after, const How& how) {
    Operand<T> x2(x.rows, x.cols, draw_place(random, draw_layout(random, false)), quiet_nan<T>());
    Operand<TOut> y2(y.rows, y.cols, draw_place(random, draw_layout(random, false)),
                     testing::element<TOut>(-77.0));
    x2.copy_elements(x);
    y2.copy_elements(y);
    expect_same("spmm bits", "other layouts", y, after, y2, product(*plan_, made, x2, y2, how));
  }

  /// Numbers of columns between which bits may differ: one vector by a plan whose kernels for one
  /// use tensor cores, and so many columns that tensor cores may multiply them.
  int kernels_of(bool vector, std::int64_t columns) const {
    const std::int64_t of_tiles = is_half(kDType<T>) ? 9 : 5;
    if (!worker_.is_cuda() || kIsComplex<T>) return 1;
    if (vector && plan_->info().engine == Engine::tensor_cores) return 0;
    const bool may_have_tiles =
        options_.engine != Engine::cuda_cores && options_.expected_columns >= of_tiles;
    return may_have_tiles && columns >= of_tiles ? 2 : 1;
  }

  /// Some neighbouring columns alone, if the same kernels multiply them.
  void try_fewer_columns(Random& random, const Case& made, const Operand<T>& x,
                         const Operand<TOut>& y, const std::vector<TOut>& after, const How& how) {
    const std::int64_t count = one_in(random, 2) ? 1 : random_int(random, 1, x.cols - 1);
    const bool vector = count == 1 && one_in(random, 2);
    if (kernels_of(vector, count) != kernels_of(false, x.cols)) return;
    const std::int64_t first = random_int(random, 0, x.cols - count);
    Case fewer = made;
    fewer.vector = vector;
    const Layout layout = fewer.vector ? Layout::col : x.layout;
    Operand<T> x2(x.rows, count, draw_place(random, layout), quiet_nan<T>());
    Operand<TOut> y2(y.rows, count, draw_place(random, layout), testing::element<TOut>(-77.0));
    Operand<TOut> y_part(y.rows, count, {.layout = Layout::col}, TOut{});
    std::vector<TOut> expected(y_part.memory.size());
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int64_t i = 0; i < x.rows; ++i)
        x2.at(i, j) = x.at(i, first + j);
      for (std::int64_t i = 0; i < y.rows; ++i) {
        y2.at(i, j) = y.at(i, first + j);
        expected[y_part.index(i, j)] = after[y.index(i, first + j)];
      }
    }
    expect_same("spmm bits", concat("columns ", first, " to ", first + count - 1, " alone"), y_part,
                expected, y2, product(*plan_, fewer, x2, y2, how));
  }

  Worker& worker_;
  Pattern pattern_;
  SparseOptions options_{};
  std::optional<Expanded> matrix_{};
  std::int64_t special_times_ = 8;
  Values matrix_values_ = Values::uniform;
  std::vector<T> values_{};
  CsrForm form_{};
  std::optional<Plan> plan_{};
  Bound bound_{};
  std::string type_{};
};

template <class T, class TOut = T>
std::unique_ptr<PlanCases> draw_typed(Worker& worker, Random& random) {
  if (one_in(random, 4)) return draw_sampled<T, TOut>(worker, random);
  return std::make_unique<SparseCases<T, TOut>>(worker, random);
}

}  // namespace

std::unique_ptr<PlanCases> draw_sparse(Worker& worker, std::int64_t plan) {
  Random random = random_of(worker.options.seed, plan, Draws::plan);
  switch (random() % 8) {
    case 0:
      return draw_typed<double>(worker, random);
    case 1:
      return draw_typed<float>(worker, random);
    case 2:
      return draw_typed<half>(worker, random);
    case 3:
      return draw_typed<half, float>(worker, random);
    case 4:
      return draw_typed<bfloat16>(worker, random);
    case 5:
      return draw_typed<bfloat16, float>(worker, random);
    case 6:
      return draw_typed<std::complex<float>>(worker, random);
    default:
      return draw_typed<std::complex<double>>(worker, random);
  }
}

}  // namespace lanky::random_cases
