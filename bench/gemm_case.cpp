#include "bench/gemm_case.hpp"

#include <algorithm>
#include <cmath>
#include <lanky/buffer.hpp>
#include <lanky/dispatch.hpp>
#include <lanky/error.hpp>

#include "bench/operand.hpp"
#include "bench/random.hpp"
#include "bench/vendor.hpp"

namespace lanky::bench {

namespace {

constexpr std::uint64_t kSeedA = 11;
constexpr std::uint64_t kSeedB = 12;
constexpr std::uint64_t kSeedC = 13;
constexpr std::uint64_t kSeedSample = 14;
constexpr std::int64_t kPad = 8;
constexpr std::int64_t kMostSlots = 2048;
constexpr std::int64_t kFewestSamples = 24;  // elements that are checked at least

/// An operand as stored: its transpose where `op` says so.
struct Stored {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
};

Stored stored(std::int64_t rows, std::int64_t cols, Op op, const GemmCase& gemm) {
  if (op != Op::none) std::swap(rows, cols);
  const std::int64_t tight = gemm.layout == Layout::col ? rows : cols;
  return {rows, cols, std::max<std::int64_t>(1, tight + (gemm.padded ? kPad : 0))};
}

/// Value of op(M)(i, j), M stored with `rows` rows.
double operand_element(Fill fill, std::uint64_t seed, Op op, std::int64_t rows, std::int64_t i,
                       std::int64_t j, int bits) {
  if (op != Op::none) std::swap(i, j);
  return element(fill, seed, i + j * rows, bits);
}

struct Place {
  std::int64_t i;
  std::int64_t j;
};

/// All places of C[m, n], or a seeded sample with its corners.
std::vector<Place> checked_places(std::int64_t m, std::int64_t n, std::int64_t k,
                                  double oracle_terms) {
  const auto affordable =
      static_cast<std::int64_t>(oracle_terms / static_cast<double>(std::max<std::int64_t>(k, 1)));
  const std::int64_t count = std::max(kFewestSamples, affordable);
  std::vector<Place> places;
  if (m * n <= count) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i)
        places.push_back({i, j});
    }
    return places;
  }
  places = {{0, 0}, {m - 1, 0}, {0, n - 1}, {m - 1, n - 1}};
  for (std::int64_t s = 4; s < count; ++s) {
    const std::uint64_t hash = mix(kSeedSample + static_cast<std::uint64_t>(s));
    places.push_back({static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(m)),
                      static_cast<std::int64_t>(mix(hash) % static_cast<std::uint64_t>(n))});
  }
  return places;
}

template <class T>
class GemmWorkload final : public Workload {
 public:
  GemmWorkload(Session& session, const GemmCase& gemm, bool vendors)
      : session_(session),
        gemm_(gemm),
        vendors_(vendors),
        a_(stored(gemm.m, gemm.k, gemm.op_a, gemm)),
        b_(stored(gemm.k, gemm.n, gemm.op_b, gemm)),
        c_(stored(gemm.m, gemm.n, Op::none, gemm)),
        places_(checked_places(gemm.m, gemm.n, gemm.k, session.options.oracle_terms)) {
    const std::int64_t footprint = std::max<std::int64_t>(1, GemmWorkload::footprint().bytes());
    const std::int64_t uncached = uncached_bytes(session.stream.device());
    const std::int64_t sets = std::clamp<std::int64_t>(uncached / footprint + 1, 1, kMostSlots);
    for (std::int64_t s = 0; s < sets; ++s)
      sets_.emplace_back(session.stream, a_, b_, c_, gemm.layout);
  }

  std::variant<SpmvCase, GemmCase> subject() const override { return gemm_; }

  Footprint footprint() const override {
    constexpr std::int64_t kSize = sizeof(T);
    const std::int64_t c = gemm_.m * gemm_.n * kSize;
    return {.read = (gemm_.m * gemm_.k + gemm_.k * gemm_.n) * kSize + (gemm_.beta != 0 ? c : 0),
            .written = c,
            .flops = 2.0 * static_cast<double>(gemm_.m) * static_cast<double>(gemm_.n) *
                     static_cast<double>(gemm_.k)};
  }

  int slots() const override { return static_cast<int>(sets_.size()); }

  void fill(Fill fill) override {
    fill_ = fill;
    fill_set(sets_.front());
    if (fill == Fill::random) {  // what is timed; integers are only checked, in the first set
      for (std::size_t s = 1; s < sets_.size(); ++s)
        replicate_first_set(sets_[s]);
    }
    compute_reference();
  }

  std::vector<Contestant> contestants() override {
    std::vector<Contestant> all = {lanky()};
    if (vendors_) all.push_back(session_.stream.device().is_cuda() ? cublas() : openblas());
    return all;
  }

  void poison() override {
    fill_matrix(session_.stream, sets_[0].c.view(), gemm_.beta != 0 ? fill_ : Fill::nan, kSeedC);
  }

  Verdict check(Fill fill) override {
    const std::vector<T> c = sets_[0].c.buffer().to_host();
    std::vector<double> computed;
    for (const Place& place : places_)
      computed.push_back(static_cast<double>(c[storage(place)]));
    Verdict verdict = fill == Fill::integers ? check_exact(kDType<T>, computed, reference_)
                                             : check_bound(kDType<T>, computed, reference_);
    if (verdict.right && gemm_.k > 0) require_all_written(c, verdict);
    return verdict;
  }

 private:
  /// One set of operands.
  struct Operands {
    Operands(const Stream& stream, const Stored& a_extent, const Stored& b_extent,
             const Stored& c_extent, Layout layout)
        : a(stream, a_extent.rows, a_extent.cols, layout, a_extent.ld),
          b(stream, b_extent.rows, b_extent.cols, layout, b_extent.ld),
          c(stream, c_extent.rows, c_extent.cols, layout, c_extent.ld) {}
    Matrix<T> a;
    Matrix<T> b;
    Matrix<T> c;
  };

  void fill_set(Operands& set) {
    fill_matrix(session_.stream, set.a.view(), fill_, kSeedA);
    fill_matrix(session_.stream, set.b.view(), fill_, kSeedB);
    fill_matrix(session_.stream, set.c.view(), gemm_.beta != 0 ? fill_ : Fill::nan, kSeedC);
  }

  /// The same data again; a CPU copies faster than it computes them.
  void replicate_first_set(Operands& set) {
    if (session_.stream.device().is_cuda()) return fill_set(set);
    const auto copy = [](Matrix<T>& to, const Matrix<T>& from) {
      to.buffer().copy_from({from.buffer().data(), static_cast<std::size_t>(from.buffer().size())});
    };
    copy(set.a, sets_.front().a);
    copy(set.b, sets_.front().b);
    copy(set.c, sets_.front().c);
  }

  std::int64_t storage(const Place& place) const {
    return gemm_.layout == Layout::col ? place.i + place.j * c_.ld : place.i * c_.ld + place.j;
  }

  /// Sampled or not, no element of C may be left as poison().
  void require_all_written(const std::vector<T>& c, Verdict& verdict) const {
    const std::int64_t inner = gemm_.layout == Layout::col ? gemm_.m : gemm_.n;
    const std::int64_t outer = gemm_.layout == Layout::col ? gemm_.n : gemm_.m;
    std::int64_t unwritten = 0;
#pragma omp parallel for collapse(2) reduction(+ : unwritten)
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const auto value = static_cast<double>(c[i + o * c_.ld]);
        unwritten += value == value ? 0 : 1;
      }
    }
    if (unwritten == 0) return;
    verdict.right = false;
    verdict.message = std::to_string(unwritten) + " elements of C are NaN";
  }

  void compute_reference() {
    constexpr int kBits = significand_bits(kDType<T>);
    constexpr std::int64_t kWorthThreads = 1 << 16;  // products
    const std::int64_t work = static_cast<std::int64_t>(places_.size()) * gemm_.k;
    reference_.resize(places_.size());
#pragma omp parallel for schedule(dynamic, 4) if (work > kWorthThreads)
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const auto [i, j] = places_[p];
      InnerProduct sum;
      for (std::int64_t l = 0; l < gemm_.k; ++l) {
        sum.add(operand_element(fill_, kSeedA, gemm_.op_a, a_.rows, i, l, kBits),
                operand_element(fill_, kSeedB, gemm_.op_b, b_.rows, l, j, kBits));
      }
      const double product = sum.result().value;
      if (gemm_.beta != 0) sum.add(gemm_.beta, element(fill_, kSeedC, i + j * gemm_.m, kBits));
      reference_[p] = sum.result();
      // cuBLAS rounds A B to the type of C before it adds beta C to it (seen in f16, bf16).
      if (gemm_.beta != 0) reference_[p].rounded = std::fabs(product);
    }
  }

  GemmShape shape() const {
    return {.m = gemm_.m,
            .n = gemm_.n,
            .k = gemm_.k,
            .op_a = gemm_.op_a,
            .op_b = gemm_.op_b,
            .layout = gemm_.layout,
            .lda = a_.ld,
            .ldb = b_.ld,
            .ldc = c_.ld};
  }

  Contestant lanky() {
    return make_contestant("lanky", "auto", session_.stream, [&](Contestant& contestant) {
      auto plan = std::make_shared<GemmPlan<T>>(session_.stream, shape());
      contestant.plan_bytes = plan->workspace_bytes();
      contestant.explanation = plan->explain();
      contestant.run = [this, plan](const Stream& stream, int slot) {
        Operands& set = sets_[static_cast<std::size_t>(slot)];
        using Scalar = Accumulator<T>;
        plan->run(stream, Scalar(1), set.a.view(), set.b.view(), static_cast<Scalar>(gemm_.beta),
                  set.c.view());
      };
    });
  }

  VendorGemm vendor_gemm(Operands& set) const {
    return {kDType<T>,         shape(),           gemm_.beta,
            set.a.view().data, set.b.view().data, set.c.view().data};
  }

  /// One product of the vendor for each set of operands.
  template <class Make>
  void bind_vendor(Contestant& contestant, Make make) {
    auto products = std::make_shared<std::vector<std::unique_ptr<VendorProduct>>>();
    for (Operands& set : sets_)
      products->push_back(make(vendor_gemm(set)));
    contestant.plan_bytes = products->front()->workspace_bytes();
    contestant.run = [products](const Stream& stream, int slot) {
      (*products)[static_cast<std::size_t>(slot)]->run(stream.native());
    };
  }

  Contestant cublas() {
    return make_contestant("cublas", "gemmex", session_.stream, [&](Contestant& contestant) {
      const VendorStream stream{session_.stream.native(), session_.stream.device().index()};
      bind_vendor(contestant,
                  [&](const VendorGemm& gemm) { return gpu_vendor().gemm(stream, gemm); });
    });
  }

  Contestant openblas() {
    return make_contestant("openblas", "gemm", session_.stream,
                           [&](Contestant& contestant) { bind_vendor(contestant, openblas_gemm); });
  }

  Session& session_;
  GemmCase gemm_;
  bool vendors_;
  Stored a_;
  Stored b_;
  Stored c_;
  std::vector<Operands> sets_;
  std::vector<Place> places_;         // of C that are checked
  std::vector<Reference> reference_;  // one for each of places_
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
  constexpr auto kMostElements = 0x1p59;  // of up to 8 bytes
  const auto padded = [](std::int64_t size) { return static_cast<double>(size) + kPad; };
  if (padded(rows) * padded(cols) < kMostElements) return;
  throw Error(ErrorCode::out_of_memory, "a matrix of " + std::to_string(rows) + " x " +
                                            std::to_string(cols) + " elements fits no memory");
}

}  // namespace

std::string gemm_case_name(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto joined = [](const char* family, std::initializer_list<std::int64_t> sizes) {
    std::string text = family;
    const char* separator = "-";
    for (const std::int64_t size : sizes) {
      text.append(separator).append(short_size(size));
      separator = "x";
    }
    return text;
  };
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

std::unique_ptr<Workload> make_gemm_workload(Session& session, const GemmCase& gemm, bool vendors) {
  require_countable(gemm.m, gemm.n);
  require_countable(gemm.m, gemm.k);
  require_countable(gemm.k, gemm.n);
  GemmCase named = gemm;
  if (named.name.empty()) named.name = gemm_case_name(gemm.m, gemm.n, gemm.k);
  return dispatch_real(gemm.dtype,
                       [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Workload> {
                         return std::make_unique<GemmWorkload<T>>(session, named, vendors);
                       });
}

}  // namespace lanky::bench
