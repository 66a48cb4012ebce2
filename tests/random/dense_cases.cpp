// Cases of GemmPlan: every family, transposes, layouts, leading dimensions, alignments and scalars.
#include <algorithm>
#include <optional>

#include "random/cases.hpp"

namespace lanky::random_cases {

namespace {

/// Extents of a family: short sides are skinny ones, often those that kernels have tiles for.
GemmShape draw_extents(Random& random) {
  const auto skinny = [&] {
    if (one_in(random, 3)) return one_of<std::int64_t>(random, {1, 2, 3, 4, 6, 8, 16, 24, 32, 64});
    return log_uniform(random, 1, 128);
  };
  const bool large = one_in(random, 50);
  const double longest = large ? 200'000 : 20'000;
  switch (random() % 16) {
    case 0:
      return {.m = random_int(random, 0, 5),
              .n = random_int(random, 0, 5),
              .k = random_int(random, 0, 5)};
    case 1: {
      const double most = large ? 500 : 180;
      return {.m = log_uniform(random, 129, most),
              .n = log_uniform(random, 129, most),
              .k = log_uniform(random, 1, most)};
    }
    case 2:
    case 3:
    case 4:
    case 5: {  // panel: m and k long
      const double most = large ? 2000 : 600;
      GemmShape shape{
          .m = log_uniform(random, 129, most), .n = skinny(), .k = log_uniform(random, 129, most)};
      if (one_in(random, 4)) std::swap(shape.m, shape.n);
      return shape;
    }
    case 6:
    case 7:
    case 8:
    case 9:
    case 10: {
      GemmShape shape{.m = log_uniform(random, 1, longest), .n = skinny(), .k = skinny()};
      if (one_in(random, 4)) std::swap(shape.m, shape.n);
      return shape;
    }
    default: {
      const std::int64_t side = skinny();
      return {.m = side,
              .n = one_in(random, 2) ? side : skinny(),
              .k = log_uniform(random, 129, longest)};
    }
  }
}

template <class T, class TOut>
class DenseCases : public PlanCases {
  using Sum = GemmAccumulator<T, TOut>;
  using Plan = GemmPlan<T, TOut>;
  static constexpr bool kWide = has_wide_sums(kDType<T>, kDType<TOut>);

 public:
  DenseCases(Worker& worker, Random& random) : worker_(worker), shape_(draw_extents(random)) {
    cut_extents(random);
    shape_.op_a = one_of(random, {Op::none, Op::trans, Op::conj_trans});
    shape_.op_b = one_of(random, {Op::none, Op::none, Op::trans, Op::conj_trans});
    // Grams are mostly tall matrices that stand as they are.
    if (shape_.k > 128 && random() % 4 != 0) {
      shape_.op_a = one_in(random, 4) ? Op::conj_trans : Op::trans;
      shape_.op_b = Op::none;
    }
    shape_.layout = one_in(random, 2) ? Layout::col : Layout::row;
    padding_a_ = draw_place(random, shape_.layout).padding;
    padding_b_ = one_in(random, 2) ? padding_a_ : draw_place(random, shape_.layout).padding;
    padding_c_ = draw_place(random, shape_.layout).padding;
    const auto [a, b, c] = operands({}, {}, {});
    shape_.lda = one_in(random, 2) && padding_a_ == 0 ? 0 : a.ld;
    shape_.ldb = b.ld;
    shape_.ldc = c.ld;
    if (kDType<T> == DType::f32 && !kWide && one_in(random, 3))
      options_.math = one_in(random, 2) ? Math::tf32 : Math::tf32x3;
    options_.tune = one_in(random, 500);
    plan_.emplace(worker_.stream, shape_, options_);
    worker_.stream.synchronize();
    const std::vector<GemmRoute> routes = plan_->info().routes;
    vendor_ = std::any_of(routes.begin(), routes.end(),
                          [](const GemmRoute& route) { return route.vendor; });
    bound_ = bound_of<T, TOut, Sum>(options_.math, worker.is_cuda(), vendor_);
    type_ = type_text<T, TOut>(worker.is_cuda() ? options_.math : Math::ieee);
    check_ = concat("gemm ", to_string(plan_->family()));
  }

  void run(std::int64_t number) override {
    Random random = random_of(worker_.options.seed, number, Draws::operands);
    Case made{.values = draw_values(random)};
    const std::int64_t special_times = 8 + 8 * shape_.k;
    auto [a, b, c] = operands(draw_offsets(random), draw_offsets(random), draw_offsets(random));
    a.fill(random, made.values, special_times);
    b.fill(random, factors_of(made.values), special_times);
    made.alpha = draw_scalar<Sum>(random, made.values, {1, 1, 1, 1, -1, 0, 2});
    made.beta = draw_scalar<Sum>(random, made.values, {0, 0, 0, 1, -1});
    if (testing::parts(made.beta) == 0.0) {
      c.fill(quiet_nan<TOut>());
    } else {
      c.fill(random, made.values, special_times);
    }
    made.same = a.rows == b.rows && a.cols == b.cols && a.ld == b.ld && one_in(random, 2);
    if (made.same) b = a;
    How how = worker_.draw_how(random);
    // cuBLASLt does not promise that a NaN stays out where alpha is a zero in device memory.
    const bool zero = testing::parts(made.alpha) == 0.0;
    if (zero && vendor_ && made.values == Values::special) how.on_device = false;
    describe(made, a, b, c, how);

    auto after = product(*plan_, made, a, b, c, how);
    judge_result(random, made, a, b, c, after);
    const auto expect_same = [&](const std::string& text, std::vector<TOut> second) {
      worker_.expect_same_bits(check_ + " bits", type_, text, c, after, c, second);
    };
    Again again = worker_.draw_again(random);
    // A beta in device memory counts as another than 0. What libraries promise of scalars there,
    // and OpenBLAS of threads, is not known.
    const bool beta_is_zero = testing::parts(made.beta) == 0.0;
    if (again == Again::scalars && (vendor_ || beta_is_zero)) again = Again::same;
    if (again == Again::threads && vendor_) again = Again::same;
    if (again != Again::none)
      expect_same(text_of(again), product(*plan_, made, a, b, c, Worker::changed(how, again)));
    if (number % kCasesOfPlan == kCasesOfPlan - 1 && one_in(random, 3)) {
      const Plan second(worker_.stream, shape_, options_);
      worker_.stream.synchronize();
      if (!options_.tune)
        worker_.count("equal plans", type_, "pairs",
                      second.fingerprint() == plan_->fingerprint() ? "" : "fingerprints differ");
      if (second.fingerprint() == plan_->fingerprint())
        expect_same("another plan of the same product", product(second, made, a, b, c, how));
    }
  }

 private:
  struct Case {
    Values values = Values::uniform;
    Sum alpha = 1;
    Sum beta = 0;
    bool same = false;  // B is A
  };
  struct Operands {
    Operand<T> a;
    Operand<T> b;
    Operand<TOut> c;
  };

  /// Operands have some hundred thousand elements at most, and as many multiply-adds as a CPU does
  /// in a few milliseconds.
  void cut_extents(Random& random) {
    const bool on_cpu = !worker_.is_cuda();
    const std::int64_t most = on_cpu ? 60'000 : 200'000;
    const std::int64_t most_flops = (on_cpu ? 2'000'000 : 40'000'000) / (kIsComplex<T> ? 4 : 1);
    std::int64_t* const sides[] = {&shape_.m, &shape_.n, &shape_.k};
    for (int round = 0; round < 40; ++round) {
      const auto [m, n, k] = std::tuple(shape_.m, shape_.n, shape_.k);
      if (m * k <= most && k * n <= most && m * n <= most && m * n * k <= most_flops) return;
      std::int64_t* const longest =
          *std::max_element(std::begin(sides), std::end(sides),
                            [](const std::int64_t* x, const std::int64_t* y) { return *x < *y; });
      *longest = *longest * random_int(random, 50, 90) / 100;
    }
  }

  static Place draw_offsets(Random& random) {
    Place place;
    if (one_in(random, 3)) place.offset = random_int(random, 1, 16);
    if (one_in(random, 3)) place.behind = random_int(random, 1, 40);
    return place;
  }
  Operands operands(Place of_a, Place of_b, Place of_c) const {
    of_a.layout = of_b.layout = of_c.layout = shape_.layout;
    of_a.padding = padding_a_;
    of_b.padding = padding_b_;
    of_c.padding = padding_c_;
    const auto stored = [](Op op, std::int64_t rows, std::int64_t cols, const Place& place) {
      return op == Op::none ? Operand<T>(rows, cols, place, quiet_nan<T>())
                            : Operand<T>(cols, rows, place, quiet_nan<T>());
    };
    return {stored(shape_.op_a, shape_.m, shape_.k, of_a),
            stored(shape_.op_b, shape_.k, shape_.n, of_b),
            Operand<TOut>(shape_.m, shape_.n, of_c, testing::element<TOut>(-77.0))};
  }

  void describe(const Case& made, const Operand<T>& a, const Operand<T>& b, const Operand<TOut>& c,
                const How& how) {
    worker_.subject =
        concat(type_text<T, TOut>(), " ", to_string(options_.math), " ", to_string(plan_->family()),
               " ", shape_.m, " x ", shape_.n, " x ", shape_.k, " op ",
               "ntc"[static_cast<int>(shape_.op_a)], "ntc"[static_cast<int>(shape_.op_b)],
               shape_.layout == Layout::col ? " col" : " row", ", ld ", a.ld, " ", b.ld, " ", c.ld,
               " at ", a.offset, " ", b.offset, " ", c.offset, made.same ? ", B is A" : "", " (",
               text_of(made.values), "), alpha ", testing::parts(made.alpha), ", beta ",
               testing::parts(made.beta), how.lent ? ", lent workspace" : "",
               how.on_device ? ", scalars on the device" : "", options_.tune ? ", tuned" : "");
    if (worker_.tells()) std::printf("%s\n%s\n", worker_.subject.c_str(), plan_->explain().c_str());
  }

  std::vector<TOut> product(const Plan& plan, const Case& made, const Operand<T>& a,
                            const Operand<T>& b, const Operand<TOut>& c, const How& how) {
    Arena& operands = worker_.arena(how);
    const std::size_t first = operands.add(a.memory);
    const std::size_t second = operands.add(made.same ? std::vector<T>() : b.memory);
    return worker_.run(
        how, plan.workspace_bytes(), made.alpha, made.beta, c.memory,
        [&](const Stream& stream, Scalar<Sum> alpha, Scalar<Sum> beta, const Workspace* workspace,
            TOut* result) {
          const MatrixView<const T> of_a{operands.data<T>(first) + a.offset, a.rows, a.cols, a.ld,
                                         a.layout};
          MatrixView<const T> of_b = of_a;
          if (!made.same)
            of_b = {operands.data<T>(second) + b.offset, b.rows, b.cols, b.ld, b.layout};
          if (workspace == nullptr)
            return plan.run(stream, alpha, of_a, of_b, beta, c.view(result));
          plan.run(stream, alpha, of_a, of_b, beta, c.view(result), *workspace);
        });
  }

  /// Element p of a row of op(A) or a column of op(B).
  static std::complex<double> factor(const Operand<T>& matrix, Op op, std::int64_t i,
                                     std::int64_t j) {
    const auto value = testing::parts(op == Op::none ? matrix.at(i, j) : matrix.at(j, i));
    return op == Op::conj_trans ? std::conj(value) : value;
  }

  /// Elements that some hundred thousand terms of references pay for; of the others, that they were
  /// written.
  void judge_result(Random& random, const Case& made, const Operand<T>& a, const Operand<T>& b,
                    const Operand<TOut>& c, std::vector<TOut>& after) {
    Bound bound = bound_;
    bound.exact = made.values == Values::integers &&
                  !(bound.rounds_twice && testing::parts(made.beta) != 0.0);
    Verdict verdict;
    const auto alpha = testing::parts(made.alpha);
    const auto beta = testing::parts(made.beta);
    const std::int64_t reads = alpha == 0.0 ? 0 : shape_.k;  // as BLAS: A and B are not read
    const std::int64_t terms = (reads + 1) * (kIsComplex<T> ? 4 : 1);
    const std::int64_t most =
        std::max<std::int64_t>(24, (one_in(random, 64) ? 1'000'000 : 80'000) / terms);
    const bool all = shape_.m * shape_.n <= most;
    const std::int64_t count = all ? shape_.m * shape_.n : most;
    worker_.tamper(verdict, c, after);
    if (bound.mixes_parts && made.values == Values::special && verdict.tampered >= 0) {
      verdict.tampered = -1;  // nothing is said of such parts
      worker_.tampered_here = false;
    }
    if (verdict.tampered >= 0) verdict.tampered %= count * (kIsComplex<T> ? 2 : 1);
    for (std::int64_t e = 0; e < count; ++e) {
      std::int64_t at = e;
      if (!all)
        at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape_.m * shape_.n));
      if (!all && e < 2) at = e == 0 ? 0 : shape_.m * shape_.n - 1;
      const std::int64_t i = at % shape_.m;
      const std::int64_t j = at / shape_.m;
      Sums<T> sums;
      for (std::int64_t p = 0; p < reads; ++p) {
        const auto x = factor(a, shape_.op_a, i, p);
        const auto y = factor(b, shape_.op_b, p, j);
        if constexpr (kIsComplex<T>) {
          sums.add(x.real(), x.imag(), y.real(), y.imag());
        } else {
          sums.add(x.real(), y.real());
        }
      }
      judge_element<T, TOut>(verdict, bound, sums, alpha, beta, testing::parts(c.at(i, j)),
                             after[c.index(i, j)],
                             [&] { return concat("row ", i, ", column ", j); });
    }
    if (made.values != Values::special && !all && verdict.fault.empty()) {
      for (std::int64_t j = 0; j < c.cols; ++j) {
        for (std::int64_t i = 0; i < c.rows; ++i) {
          const auto value = testing::parts(after[c.index(i, j)]);
          if (std::isnan(value.real()) || std::isnan(value.imag()))
            verdict.fault = concat("row ", i, ", column ", j, " is NaN");
        }
      }
    }
    const std::int64_t touched = c.touched(after);
    if (touched >= 0) verdict.fault = concat("memory around C at ", touched, " was written");
    worker_.count(check_, type_, "products", verdict.fault, verdict.worst, verdict.worst_long);
  }

  Worker& worker_;
  GemmShape shape_;
  std::int64_t padding_a_ = 0;
  std::int64_t padding_b_ = 0;
  std::int64_t padding_c_ = 0;
  GemmOptions options_{};
  std::optional<Plan> plan_{};
  bool vendor_ = false;
  Bound bound_{};
  std::string type_{};
  std::string check_{};
};

}  // namespace

std::unique_ptr<PlanCases> draw_dense(Worker& worker, std::int64_t plan) {
  Random random = random_of(worker.options.seed, plan, Draws::plan);
  switch (random() % 12) {
    case 0:
      return std::make_unique<DenseCases<double, double>>(worker, random);
    case 1:
    case 2:
      return std::make_unique<DenseCases<float, float>>(worker, random);
    case 3:
      return std::make_unique<DenseCases<half, half>>(worker, random);
    case 4:
      return std::make_unique<DenseCases<half, float>>(worker, random);
    case 5:
      return std::make_unique<DenseCases<bfloat16, bfloat16>>(worker, random);
    case 6:
      return std::make_unique<DenseCases<bfloat16, float>>(worker, random);
    case 7:
      return std::make_unique<DenseCases<std::complex<float>, std::complex<float>>>(worker, random);
    case 8:
      return std::make_unique<DenseCases<std::complex<double>, std::complex<double>>>(worker,
                                                                                      random);
    case 9:
      return std::make_unique<DenseCases<float, double>>(worker, random);
    case 10:
      return std::make_unique<DenseCases<half, double>>(worker, random);
    default:
      return std::make_unique<DenseCases<bfloat16, double>>(worker, random);
  }
}

}  // namespace lanky::random_cases
