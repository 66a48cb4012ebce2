#include "bench/cases/gemm_case.hpp"

#include <algorithm>
#include <cmath>
#include <lanky/error.hpp>
#include <limits>

#include "bench/cases/dense_data.hpp"
#include "bench/cases/operand.hpp"
#include "bench/cases/random.hpp"
#include "bench/harness/gpu.hpp"
#include "bench/harness/oracle.hpp"
#include "bench/rivals/lanky_gemm.hpp"
#include "bench/rivals/vendor.hpp"

namespace lanky::bench {

namespace {

constexpr std::uint64_t kSeedSample = 14;
constexpr std::int64_t kPad = 8;
constexpr std::int64_t kMostSlots = 2048;
constexpr std::int64_t kFewestPlaces = 24;  // elements that are checked at least
constexpr std::int64_t kMostPlaces = 1 << 16;
constexpr std::int64_t kAlignment = 256;
constexpr std::int64_t kLongestSyrk =
    200'000;  // of a vendor's syrk that is run: see endless_syrk()
// Below this footprint a product is timed by graph, and below kMostCold cold: above, neither
// differs from a batch.
constexpr std::int64_t kMostByGraph = 256'000'000;

/// An operand as stored: its transpose where `op` says so.
struct Stored {
  DType dtype;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
  Layout layout;

  std::int64_t bytes() const {  // in its place within a set of operands
    const std::int64_t vectors = layout == Layout::col ? cols : rows;
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    return (ld * vectors * size + kAlignment - 1) / kAlignment * kAlignment;
  }
  StoredArray at(void* data) const {
    const bool row = layout == Layout::row;
    return {dtype, data, row ? cols : rows, row ? rows : cols, ld, row};
  }
};

Stored stored(std::int64_t rows, std::int64_t cols, Op op, DType dtype, const GemmCase& gemm) {
  if (op != Op::none) std::swap(rows, cols);
  const std::int64_t tight = gemm.layout == Layout::col ? rows : cols;
  return {dtype, rows, cols, std::max<std::int64_t>(1, tight + (gemm.padded ? kPad : 0)),
          gemm.layout};
}

GemmShape shape_of(const GemmCase& gemm) {
  return {.m = gemm.m,
          .n = gemm.n,
          .k = gemm.k,
          .op_a = gemm.op_a,
          .op_b = gemm.op_b,
          .layout = gemm.layout,
          .lda = stored(gemm.m, gemm.k, gemm.op_a, gemm.type.in, gemm).ld,
          .ldb = stored(gemm.k, gemm.n, gemm.op_b, gemm.type.in, gemm).ld,
          .ldc = stored(gemm.m, gemm.n, Op::none, gemm.type.out, gemm).ld};
}

GemmQuery query_of(const Session& session, const GemmCase& gemm) {
  return {.device = session.stream.device(),
          .shape = shape_of(gemm),
          .in = gemm.type.in,
          .out = gemm.type.out,
          .same_operands = gemm.symmetric,
          .adds = gemm.beta != 0,
          .math = gemm.type.math};
}

/// All elements of C[m, n], or a seeded sample with its corners; every part of each.
std::vector<Place> checked_places(const GemmCase& gemm, double oracle_terms) {
  const std::int64_t m = gemm.m;
  const std::int64_t n = gemm.n;
  const int parts = components(gemm.type.in);
  const double terms = static_cast<double>(std::max<std::int64_t>(gemm.k, 1)) * parts * parts;
  const auto affordable = static_cast<std::int64_t>(oracle_terms / terms);
  const std::int64_t count = std::clamp(affordable, kFewestPlaces, kMostPlaces);
  std::vector<Place> places;
  const auto take = [&](std::int64_t i, std::int64_t j) {
    for (int part = 0; part < parts; ++part)
      places.push_back({i, j, part});
  };
  if (m * n <= count) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i)
        take(i, j);
    }
    return places;
  }
  for (const std::int64_t i : {std::int64_t{0}, m - 1}) {
    take(i, 0);
    take(i, n - 1);
  }
  for (std::int64_t s = 4; s < count; ++s) {
    const std::uint64_t hash = mix(kSeedSample + static_cast<std::uint64_t>(s));
    take(static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(m)),
         static_cast<std::int64_t>(mix(hash) % static_cast<std::uint64_t>(n)));
  }
  return places;
}

/// Who computes a product, as records name it.
struct Label {
  const char* contestant;
  const char* variant;
};
Label label(VendorRoutine routine) {
  switch (routine) {
    case VendorRoutine::gemmex:
      return {"cublas", "gemmex"};
    case VendorRoutine::gemv:
      return {"cublas", "gemv"};
    case VendorRoutine::syrk:
      return {"cublas", "syrk-triangle"};
    case VendorRoutine::lt_best:
      return {"cublaslt", "best"};
  }
  return {"cublas", "unknown"};
}

/// Of runs where B is A or not, and beta is 0 or not.
Decision decision_of(const GemmInfo& info, bool same, bool adds) {
  if (info.routes.empty()) return {};
  const int taken = info.of_aligned[same][adds];
  const GemmRoute& route = info.routes[static_cast<std::size_t>(taken)];
  return {.kernel = route.configuration,
          .algorithm = route.algorithm,
          .predicted_us = taken == 0 ? info.predicted_us : 0};
}

class GemmWorkload final : public Workload {
 public:
  GemmWorkload(Session& session, const GemmCase& gemm, GemmSelection selection)
      : session_(session),
        gemm_(gemm),
        selection_(std::move(selection)),
        a_(stored(gemm.m, gemm.k, gemm.op_a, gemm.type.in, gemm)),
        b_(stored(gemm.k, gemm.n, gemm.op_b, gemm.type.in, gemm)),
        c_(stored(gemm.m, gemm.n, Op::none, gemm.type.out, gemm)),
        places_(checked_places(gemm, session.options.oracle_terms * (on_gpu() ? 5 : 1))) {
    const std::int64_t footprint = std::max<std::int64_t>(1, GemmWorkload::footprint().bytes());
    const std::int64_t uncached = uncached_bytes(session.stream.device());
    slots_ = std::clamp<std::int64_t>(uncached / footprint + 1, 1, kMostSlots);
    set_bytes_ = a_.bytes() + (gemm.symmetric ? 0 : b_.bytes()) + c_.bytes();
    const std::int64_t converted = gemm.type.wide() && selection_.vendors
                                       ? of_library(a_).bytes() + of_library(b_).bytes()
                                       : 0;
    first_ = session.operands.reserve((set_bytes_ + converted) * slots_);
    char* set = first_;
    for (std::int64_t s = 0; s < slots_; ++s, set += set_bytes_)
      sets_.push_back(
          {set, gemm.symmetric ? set : set + a_.bytes(), set + set_bytes_ - c_.bytes()});
    library_sets_ = sets_;
    if (converted > 0) {
      first_converted_ = first_ + set_bytes_ * slots_;
      converted_bytes_ = converted;
      for (std::int64_t s = 0; s < slots_; ++s) {
        char* const a = first_converted_ + converted * s;
        GemmOperands& operands = library_sets_[static_cast<std::size_t>(s)];
        operands.a = a;
        operands.b = gemm.symmetric ? a : a + of_library(a_).bytes();
      }
    }
    for (const Place& place : places_)
      offsets_.push_back(offset(place));
  }

  std::variant<SpmvCase, GemmCase> subject() const override { return gemm_; }

  Footprint footprint() const override {
    const auto in = static_cast<std::int64_t>(size_of(gemm_.type.in));
    const std::int64_t c = gemm_.m * gemm_.n * static_cast<std::int64_t>(size_of(gemm_.type.out));
    const std::int64_t b = gemm_.symmetric ? 0 : gemm_.k * gemm_.n;
    const std::int64_t factors = (gemm_.m * gemm_.k + b) * in;
    return {.read = factors + (gemm_.beta != 0 ? c : 0),
            .written = c,
            .flops = (is_complex(gemm_.type.in) ? 8.0 : 2.0) * static_cast<double>(gemm_.m) *
                     static_cast<double>(gemm_.n) * static_cast<double>(gemm_.k),
            .least = (gemm_.alpha != 0 ? factors : 0) + (gemm_.symmetric ? c / 2 : c)};
  }

  /// Of all ways to compute the product, those of the vendor and the `most_own` of lanky's that are
  /// predicted fastest. They become the contestants.
  std::vector<GemmChoice> contend(int most_own) {
    choices_ = gemm_choices(query_of(session_, gemm_));
    int own = 0;
    std::erase_if(choices_, [&](const GemmChoice& choice) {
      return !choice.vendor && !choice.algorithm.empty() && ++own > most_own;
    });
    return choices_;
  }

  int slots() const override { return static_cast<int>(slots_); }
  /// What tune compares is timed by graph where a batch would time the host's launches.
  bool timed_by_graph() const override {
    if (!selection_.entrants.empty()) return false;
    return footprint().bytes() < (choices_.empty() ? kMostByGraph : kMostCold);
  }
  bool timed_cold() const override {
    return choices_.empty() && selection_.entrants.empty() && footprint().bytes() < kMostCold;
  }

  std::optional<double> peak_us() override {
    if (!on_gpu()) return std::nullopt;
    const auto [known, is_new] =
        session_.peaks.try_emplace(std::string(to_string(gemm_.type.of_library())), 0.0);
    if (is_new) known->second = gpu::peak_flops(session_.stream, gemm_.type.of_library());
    return footprint().flops / known->second * 1e6;
  }

  void fill(Fill fill) override {
    fill_ = fill == Fill::random && gemm_.positive ? Fill::positive : fill;
    const Stream& stream = session_.stream;
    fill_array(stream, a_.at(first_), fill_, DenseData::kSeedA);
    if (!gemm_.symmetric) fill_array(stream, b_.at(first_ + a_.bytes()), fill_, DenseData::kSeedB);
    poison(0);
    // What is timed is random; integers are only checked, in the first set.
    if (fill == Fill::random) replicate(stream, first_, set_bytes_, slots_);
    if (first_converted_ != nullptr) {
      const auto convert = [&](const Stored& operand, char* target, std::uint64_t seed) {
        StoredArray array = of_library(operand).at(target);
        array.like = operand.dtype;
        fill_array(stream, array, fill_, seed);
      };
      convert(a_, first_converted_, DenseData::kSeedA);
      if (!gemm_.symmetric)
        convert(b_, first_converted_ + of_library(a_).bytes(), DenseData::kSeedB);
      if (fill == Fill::random) replicate(stream, first_converted_, converted_bytes_, slots_);
    }
    reference_ = references(stream, data(), places_);
  }

  std::vector<Contestant> contestants() override {
    if (built_.empty()) build();  // no plan depends on the operands' values
    return built_;
  }

  void poison(int slot) override {
    fill_array(session_.stream, c_.at(result(slot)), gemm_.beta != 0 ? fill_ : Fill::nan,
               DenseData::kSeedC);
  }

  /// beta C is another one for each product.
  bool repeatable() const override { return gemm_.beta == 0; }

  Verdict check(Fill fill, const Contestant& contestant, int slot) override {
    const StoredArray c = c_.at(result(slot));
    std::vector<double> computed = gather(session_.stream, c, offsets_);
    std::vector<Reference> expected = reference_;
    if (contestant.triangle) keep_triangle(computed, expected);
    const bool is_lanky = contestant.name == "lanky";
    Verdict verdict = fill == Fill::integers
                          ? check_exact(component_type(gemm_.type.out), computed, expected,
                                        is_lanky ? Roundings::once : Roundings::once_or_twice)
                          : check_bound(error_model(contestant), computed, expected);
    if (verdict.right && gemm_.k > 0) require_all_written(c, contestant.triangle, verdict);
    return verdict;
  }

 private:
  void* result(int slot) const { return sets_[static_cast<std::size_t>(slot)].c; }
  bool on_gpu() const { return session_.stream.device().is_cuda(); }

  DenseData data() const {
    return {.fill = fill_,
            .in = gemm_.type.in,
            .out = gemm_.type.out,
            .op_a = gemm_.op_a,
            .op_b = gemm_.op_b,
            .k = gemm_.k,
            .a_rows = a_.rows,
            .b_rows = b_.rows,
            .c_rows = c_.rows,
            .symmetric = gemm_.symmetric,
            .alpha = gemm_.alpha,
            .beta = gemm_.beta};
  }

  /// lanky rounds factors to tf32 and multiplies complex numbers by four products; a vendor may cut
  /// factors off, and use three products (seen in cublasLt), whose sums are larger than their
  /// result.
  ErrorModel error_model(const Contestant& contestant) const {
    const bool is_lanky = contestant.name == "lanky";
    ErrorModel model = ErrorModel::of(contestant.math.value_or(gemm_.type.math),
                                      component_type(gemm_.type.out), is_lanky ? 0x1p-11 : 0x1p-10);
    if (is_complex(gemm_.type.in) && !is_lanky) model.sum_roundoff *= 3;
    return model;
  }

  /// Where a part of C stands, counted in real numbers.
  std::int64_t offset(const Place& place) const {
    const std::int64_t element =
        gemm_.layout == Layout::col ? place.i + place.j * c_.ld : place.i * c_.ld + place.j;
    return element * components(gemm_.type.out) + place.part;
  }

  void keep_triangle(std::vector<double>& computed, std::vector<Reference>& expected) const {
    std::size_t kept = 0;
    for (std::size_t p = 0; p < places_.size(); ++p) {
      if (places_[p].j > places_[p].i) continue;
      computed[kept] = computed[p];
      expected[kept++] = expected[p];
    }
    computed.resize(kept);
    expected.resize(kept);
  }

  /// Sampled or not, no element of C may be left as poison().
  void require_all_written(const StoredArray& c, bool triangle, Verdict& verdict) const {
    const std::int64_t unwritten = count_nan(session_.stream, c, triangle);
    if (unwritten == 0) return;
    verdict.right = false;
    verdict.message = std::to_string(unwritten) + " elements of C are NaN";
  }

  /// An operand as a library takes it.
  Stored of_library(Stored operand) const {
    operand.dtype = gemm_.type.of_library().in;
    return operand;
  }
  GemmCall library_call() const {
    GemmCall gemm = call();
    gemm.type = gemm_.type.of_library();
    return gemm;
  }
  /// What a library computes of operands that were converted before is none of this product.
  Contestant renamed(Contestant library) const {
    if (gemm_.type.wide()) library.name += "-f64";
    return library;
  }

  GemmCall call() const {
    return {.type = gemm_.type,
            .shape = shape_of(gemm_),
            .alpha = gemm_.alpha,
            .beta = gemm_.beta,
            .symmetric = gemm_.symmetric};
  }

  void build() {
    if (!choices_.empty()) {
      for (std::size_t i = 0; i < choices_.size(); ++i)
        built_.push_back(chosen(i));
      return;
    }
    for (const GemmEntrant& entrant : selection_.entrants)
      built_.push_back(entered(entrant));
    if (selection_.lanky) built_.push_back(lanky());
    if (!selection_.vendors) return;
    if (!on_gpu()) {
      built_.push_back(renamed(on_cpu("openblas", CpuVendor::openblas)));
      built_.push_back(renamed(on_cpu("mkl", CpuVendor::mkl)));
      return;
    }
    for (const VendorRoutine routine : vendor_routines(library_call())) {
      const bool endless = routine == VendorRoutine::syrk && gemm_.k > kLongestSyrk;
      built_.push_back(renamed(endless ? endless_syrk() : nvidia(routine)));
    }
  }

  Contestant lanky() { return plan("lanky", "auto", nullptr); }

  Contestant entered(const GemmEntrant& entrant) {
    Contestant made = make_contestant(
        entrant.contestant, entrant.variant, session_.stream, [&](Contestant& contestant) {
          BuiltGemm built = entrant.build(session_.stream, call(), sets_);
          contestant.explanation = std::move(built.explanation);
          contestant.run = [this, run = std::move(built.run)](const Stream& stream, int slot) {
            run(stream, sets_[static_cast<std::size_t>(slot)]);
          };
        });
    made.math = entrant.math;
    return made;
  }

  /// The plan that follows choices_[index].
  Contestant chosen(std::size_t index) {
    GemmTuning only;
    only.set(query_of(session_, gemm_), choices_[index]);
    const auto& [vendor, algorithm] = choices_[index];
    Contestant made =
        plan(vendor ? "vendor" : "lanky", algorithm.empty() ? "auto" : algorithm, &only);
    made.decision.chosen = index == 0;
    return made;
  }

  Contestant plan(const char* name, const std::string& variant, const GemmTuning* tuning) {
    return make_contestant(name, variant, session_.stream, [&](Contestant& contestant) {
      LankyGemm gemm = make_lanky_gemm(session_.stream, call(), tuning);
      contestant.plan_bytes = gemm.workspace_bytes;
      contestant.explanation = std::move(gemm.explanation);
      contestant.decision = decision_of(gemm.info, gemm_.symmetric, gemm_.beta != 0);
      contestant.run = [this, run = std::move(gemm.run)](const Stream& stream, int slot) {
        run(stream, sets_[static_cast<std::size_t>(slot)]);
      };
    });
  }

  void bind(Contestant& contestant, std::shared_ptr<VendorGemmProduct> product) {
    contestant.plan_bytes = product->workspace_bytes();
    if (const std::string algorithm = product->algorithm(); !algorithm.empty())
      contestant.decision.kernel = "algorithm " + algorithm;
    contestant.run = [this, product = std::move(product)](const Stream& stream, int slot) {
      product->run(stream.native(), library_sets_[static_cast<std::size_t>(slot)]);
    };
  }

  std::unique_ptr<VendorGemmProduct> nvidia_product(VendorRoutine routine) {
    const VendorStream stream{session_.stream.native(), session_.stream.device().index()};
    return gpu_vendor().gemm(stream, library_call(), routine, library_sets_);
  }

  Contestant nvidia(VendorRoutine routine) {
    const auto [name, variant] = label(routine);
    Contestant made = make_contestant(name, variant, session_.stream, [&](Contestant& contestant) {
      bind(contestant, nvidia_product(routine));
    });
    made.triangle = routine == VendorRoutine::syrk;
    return made;
  }

  /// cuBLAS 13.1's syrk walks along k in one block: a hundred times gemmex's time and more.
  static Contestant endless_syrk() {
    Contestant syrk;
    syrk.name = label(VendorRoutine::syrk).contestant;
    syrk.variant = label(VendorRoutine::syrk).variant;
    syrk.triangle = true;
    syrk.status = Status::timeout;
    syrk.message = "not run: 7 to 30 ns for each of the k rows, seen on an H200 up to k = 1e7";
    return syrk;
  }

  Contestant on_cpu(const char* name, CpuVendor vendor) {
    return make_contestant(name, "gemm", session_.stream, [&](Contestant& contestant) {
      bind(contestant, cpu_vendor_gemm(vendor, library_call()));
    });
  }

  Session& session_;
  GemmCase gemm_;
  GemmSelection selection_;
  std::vector<GemmChoice> choices_;
  Stored a_;
  Stored b_;
  Stored c_;
  std::int64_t slots_ = 1;
  std::int64_t set_bytes_ = 0;
  char* first_ = nullptr;           // memory of the first set
  std::vector<GemmOperands> sets_;  // [slots_]: A, B (or A again), C, one after the other
  // Those of a library, which differ where products are wide(): A and B as doubles, behind all
  // sets.
  std::vector<GemmOperands> library_sets_;
  char* first_converted_ = nullptr;
  std::int64_t converted_bytes_ = 0;   // of A and B
  std::vector<Place> places_;          // of C that are checked
  std::vector<std::int64_t> offsets_;  // of each of places_
  std::vector<Reference> reference_;   // of each of places_
  std::vector<Contestant> built_;
  Fill fill_ = Fill::integers;
};

/// "1e6" for powers of ten from 1e4 on, plain digits otherwise.
std::string short_size(std::int64_t size) {
  int zeros = 0;
  std::int64_t head = size;
  for (; head >= 10 && head % 10 == 0; head /= 10)
    ++zeros;
  return zeros >= 4 ? std::to_string(head) + "e" + std::to_string(zeros) : std::to_string(size);
}

/// Refuses matrices beyond every memory, whose bytes 64 bits cannot count.
void require_countable(std::int64_t rows, std::int64_t cols) {
  constexpr auto kMostElements = 0x1p58;  // of up to 16 bytes
  const auto padded = [](std::int64_t size) { return static_cast<double>(size) + kPad; };
  if (padded(rows) * padded(cols) < kMostElements) return;
  throw Error(ErrorCode::out_of_memory, "a matrix of " + std::to_string(rows) + " x " +
                                            std::to_string(cols) + " elements fits no memory");
}

}  // namespace

std::string gemm_case_name(const GemmCase& gemm) {
  const std::int64_t m = gemm.m;
  const std::int64_t n = gemm.n;
  const std::int64_t k = gemm.k;
  const auto joined = [](const char* family, std::initializer_list<std::int64_t> sizes) {
    std::string text = family;
    const char* separator = "-";
    for (const std::int64_t size : sizes) {
      text.append(separator).append(short_size(size));
      separator = "x";
    }
    return text;
  };
  if (gemm.symmetric) return joined("syrk", {k, n});
  switch (gemm_family(m, n, k)) {
    case GemmFamily::panel:
      return m == k ? joined("panel", {m, n}) : joined("panel", {m, k, n});
    case GemmFamily::update:
      return n == k ? joined("update", {m, n}) : joined("update", {m, k, n});
    case GemmFamily::gram:
      return m == n ? joined("gram", {k, n}) : joined("gram", {k, m, n});
    case GemmFamily::regular:
      break;
  }
  return joined("gemm", {m, n, k});
}

namespace {

std::unique_ptr<GemmWorkload> make_workload(Session& session, const GemmCase& gemm,
                                            const GemmSelection& selection) {
  require_countable(gemm.m, gemm.n);
  require_countable(gemm.m, gemm.k);
  require_countable(gemm.k, gemm.n);
  if (gemm.symmetric && (gemm.m != gemm.n || (gemm.op_a == Op::none) == (gemm.op_b == Op::none)))
    throw Error(ErrorCode::invalid_argument,
                "with B = A, m and n are equal, and one of op_a and op_b transposes");
  GemmCase named = gemm;
  if (named.name.empty()) named.name = gemm_case_name(gemm);
  return std::make_unique<GemmWorkload>(session, named, selection);
}

/// Another way must be this much faster than a plan's own to be chosen: less is noise.
constexpr double kWorthChoosing = 0.98;

}  // namespace

std::unique_ptr<Workload> make_gemm_workload(Session& session, const GemmCase& gemm,
                                             const GemmSelection& selection) {
  return make_workload(session, gemm, selection);
}

std::vector<GemmCase> with_each_beta(const Session& session, const GemmCase& gemm) {
  GemmCase adding = gemm;
  adding.beta = 0.5;
  if (gemm.beta != 0 ||
      gemm_class(query_of(session, gemm)) == gemm_class(query_of(session, adding)))
    return {gemm};
  return {gemm, adding};
}

TunedGemm tune_gemm(Session& session, const GemmCase& gemm, int most_own) {
  const auto workload = make_workload(session, gemm, {.vendors = false});
  const std::vector<GemmChoice> choices = workload->contend(most_own);
  TunedGemm tuned{.query = query_of(session, gemm), .report = {}, .fastest = std::nullopt};
  tuned.report = run_workload(session, *workload);
  double least_us = std::numeric_limits<double>::infinity();
  double own_us = least_us;  // of a plan that nothing was measured for
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Outcome& outcome = tuned.report.outcomes[i];
    if (outcome.status != Status::ok || !outcome.timing) continue;
    const double us = outcome.timing->graph.value_or(outcome.timing->warm).median_us;
    if (i == 0) own_us = us;
    if (us >= least_us) continue;
    least_us = i == 0 ? kWorthChoosing * us : us;
    tuned.fastest = choices[i];
    tuned.gain = own_us / us;
  }
  return tuned;
}

}  // namespace lanky::bench
