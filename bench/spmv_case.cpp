#include "bench/spmv_case.hpp"

#include <algorithm>
#include <lanky/dispatch.hpp>
#include <lanky/error.hpp>
#include <limits>
#include <optional>

#include "bench/operand.hpp"
#include "bench/random.hpp"
#include "bench/vendor.hpp"

namespace lanky::bench {

namespace {

constexpr std::uint64_t kValueSeed = 1;
constexpr std::uint64_t kVectorSeed = 2;

/// cpu-csr: the loop that anyone would write, rows shared among threads where that can pay.
template <class T>
void multiply_rows(const CsrView<T>& a, const T* x, T* y) {
  constexpr std::int64_t kWorthThreads = 1 << 15;  // entries
#pragma omp parallel for schedule(guided) if (a.nnz > kWorthThreads)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Accumulator<T> sum = 0;
    for (std::int64_t e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e)
      sum += static_cast<Accumulator<T>>(a.values[e]) *
             static_cast<Accumulator<T>>(x[a.col_indices[e]]);
    y[i] = static_cast<T>(sum);
  }
}

/// Row offsets in device memory, 32 bits wide where that is enough, as a user would keep them.
class DeviceOffsets {
 public:
  DeviceOffsets(const Stream& stream, const std::vector<std::int64_t>& offsets) {
    if (offsets.back() <= std::numeric_limits<std::int32_t>::max()) {
      narrow_ = Buffer<std::int32_t>::from(
          stream, std::vector<std::int32_t>(offsets.begin(), offsets.end()));
    } else {
      wide_ = Buffer<std::int64_t>::from(stream, offsets);
    }
  }
  RowOffsets view() const {
    return narrow_ ? RowOffsets(narrow_->data()) : RowOffsets(wide_->data());
  }
  int width() const { return narrow_ ? 4 : 8; }

 private:
  std::optional<Buffer<std::int32_t>> narrow_;
  std::optional<Buffer<std::int64_t>> wide_;
};

template <class T>
class SpmvWorkload final : public Workload {
 public:
  SpmvWorkload(Session& session, std::string name, const CsrMatrix<double>& pattern,
               SpmvSelection selection)
      : session_(session),
        name_(std::move(name)),
        pattern_(pattern),
        selection_(std::move(selection)),
        offsets_(session.stream, pattern.row_offsets),
        columns_(Buffer<std::int32_t>::from(session.stream, pattern.col_indices)),
        values_(session.stream, pattern.nnz()),
        x_(session.stream, pattern.cols),
        y_(session.stream, pattern.rows) {}

  std::variant<SpmvCase, GemmCase> subject() const override {
    return SpmvCase{name_, pattern_.rows, pattern_.cols, pattern_.nnz(), kDType<T>};
  }

  /// CSR read once, x read once, y written once.
  Footprint footprint() const override {
    constexpr std::int64_t kSize = sizeof(T);
    const std::int64_t nnz = pattern_.nnz();
    return {
        .read = nnz * (kSize + 4) + (pattern_.rows + 1) * offsets_.width() + pattern_.cols * kSize,
        .written = pattern_.rows * kSize,
        .flops = 2.0 * static_cast<double>(nnz)};
  }

  int slots() const override { return 1; }

  void fill(Fill fill) override {
    fill_vector(session_.stream, values_.view(), fill, kValueSeed);
    fill_vector(session_.stream, x_.view(), fill, kVectorSeed);
    compute_reference(fill);
  }

  std::vector<Contestant> contestants() override {
    std::vector<Contestant> all;
    for (const SpmvPath path : selection_.paths)
      all.push_back(lanky(path));
    if (!selection_.vendors) return all;
    if (session_.stream.device().is_cuda()) {
      all.push_back(cusparse("alg1", VendorSpmvAlgorithm::alg1));
      all.push_back(cusparse("alg2", VendorSpmvAlgorithm::alg2));
    } else {
      all.push_back(csr_loop());
    }
    return all;
  }

  void poison() override { fill_vector(session_.stream, y_.view(), Fill::nan, 0); }

  Verdict check(Fill fill, const Contestant& /*contestant*/) override {
    const std::vector<T> y = y_.to_host();
    const std::vector<double> computed(y.begin(), y.end());
    return fill == Fill::integers ? check_exact(kDType<T>, computed, reference_)
                                  : check_bound(ErrorModel::ieee(kDType<T>), computed, reference_);
  }

 private:
  CsrView<T> matrix() const {
    return {pattern_.rows,
            pattern_.cols,
            pattern_.nnz(),
            offsets_.view(),
            columns_.data(),
            values_.data(),
            0};
  }

  void compute_reference(Fill fill) {
    constexpr int kBits = significand_bits(kDType<T>);
    constexpr std::int64_t kWorthThreads = 1 << 16;  // entries
    reference_.resize(static_cast<std::size_t>(pattern_.rows));
#pragma omp parallel for schedule(guided) if (pattern_.nnz() > kWorthThreads)
    for (std::int64_t i = 0; i < pattern_.rows; ++i) {
      InnerProduct sum;
      for (std::int64_t e = pattern_.row_offsets[i]; e < pattern_.row_offsets[i + 1]; ++e)
        sum.add(element(fill, kValueSeed, e, kBits),
                element(fill, kVectorSeed, pattern_.col_indices[e], kBits));
      reference_[i] = sum.result();
    }
  }

  Contestant lanky(SpmvPath path) {
    return make_contestant(
        "lanky", std::string(bench::name(path)), session_.stream, [&](Contestant& contestant) {
          auto plan =
              std::make_shared<SpmvPlan<T>>(session_.stream, matrix(), PlanOptions{path, nullptr});
          contestant.plan_bytes = plan->device_bytes();
          contestant.explanation = plan->explain();
          contestant.run = [plan, x = x_view(), y = y_.view()](const Stream& stream, int /*slot*/) {
            plan->run(stream, x, y);
          };
        });
  }

  Contestant cusparse(std::string variant, VendorSpmvAlgorithm algorithm) {
    Vendor* vendor = nullptr;
    std::string absence;
    try {
      vendor = &gpu_vendor();  // opened, and its handle made, outside of the setup time
      vendor->prepare(session_.stream.device().index());
    } catch (const Error& error) {
      absence = error.what();
    }
    return make_contestant(
        "cusparse", std::move(variant), session_.stream, [&](Contestant& contestant) {
          if (vendor == nullptr) throw Error(ErrorCode::unsupported, absence);
          const CsrView<T> a = matrix();
          const VendorCsr csr{kDType<T>,
                              a.rows,
                              a.cols,
                              a.nnz,
                              a.row_offsets.data(),
                              a.row_offsets.wide(),
                              a.col_indices,
                              a.values,
                              x_.data(),
                              y_.data()};
          const std::shared_ptr<VendorProduct> product = vendor->spmv(
              {session_.stream.native(), session_.stream.device().index()}, csr, algorithm);
          contestant.plan_bytes = csr_bytes() + product->workspace_bytes();
          contestant.run = [product](const Stream& stream, int /*slot*/) {
            product->run(stream.native());
          };
        });
  }

  Contestant csr_loop() {
    return make_contestant("cpu-csr", "rows", session_.stream, [&](Contestant& contestant) {
      contestant.plan_bytes = csr_bytes();
      contestant.run = [a = matrix(), x = x_.data(), y = y_.data()](const Stream&, int /*slot*/) {
        multiply_rows(a, x, y);
      };
    });
  }

  std::int64_t csr_bytes() const {
    return pattern_.nnz() * static_cast<std::int64_t>(sizeof(T) + 4) +
           (pattern_.rows + 1) * offsets_.width();
  }
  VectorView<const T> x_view() const {
    return x_.view();
  }

  Session& session_;
  std::string name_;
  const CsrMatrix<double>& pattern_;
  SpmvSelection selection_;
  DeviceOffsets offsets_;
  Buffer<std::int32_t> columns_;
  Buffer<T> values_;
  Buffer<T> x_;
  Buffer<T> y_;
  std::vector<Reference> reference_;  // [rows]
};

}  // namespace

std::string_view name(SpmvPath path) noexcept {
  return path == SpmvPath::automatic ? "auto" : path == SpmvPath::mma ? "mma" : "cuda";
}

std::unique_ptr<Workload> make_spmv_workload(Session& session, std::string name,
                                             const CsrMatrix<double>& pattern, DType dtype,
                                             const SpmvSelection& selection) {
  return dispatch_real(dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Workload> {
    return std::make_unique<SpmvWorkload<T>>(session, std::move(name), pattern, selection);
  });
}

}  // namespace lanky::bench
