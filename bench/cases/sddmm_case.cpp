#include "bench/cases/sddmm_case.hpp"

#include <lanky/buffer.hpp>
#include <lanky/sddmm.hpp>
#include <lanky/visit_dtype.hpp>

#include "bench/cases/operand.hpp"
#include "bench/cases/sparse_contestants.hpp"
#include "bench/harness/spmv_oracle.hpp"
#include "bench/rivals/csr_loop.hpp"

namespace lanky::bench {

namespace {

template <class T>
class SddmmWorkload final : public Workload {
 public:
  SddmmWorkload(Session& session, const SpmvMatrix& matrix, SpmvColumns columns, bool vendors)
      : stream_(session.stream),
        matrix_(matrix),
        columns_(columns),
        vendors_(vendors),
        x_(stream_, matrix.rows() * columns.count),
        y_(stream_, matrix.cols() * columns.count),
        values_(stream_, matrix.nnz()),
        oracle_(stream_, matrix) {}

  std::variant<SpmvCase, GemmCase> subject() const override {
    SpmvCase subject{matrix_.name(), matrix_.rows(), matrix_.cols(),
                     matrix_.nnz(),  kDType<T>,      matrix_.matrix_class()};
    subject.columns = columns_;
    subject.sampled = true;
    return subject;
  }

  /// The pattern, X and Y read once, the values written once.
  Footprint footprint() const override {
    constexpr std::int64_t kSize = sizeof(T);
    return {.read = matrix_.index_bytes() + (x_.size() + y_.size()) * kSize,
            .written = values_.size() * kSize,
            .flops = (is_complex(kDType<T>) ? 8.0 : 2.0) *
                     static_cast<double>(matrix_.nnz() * columns_.count),
            .least = values_.size() * kSize};
  }

  int slots() const override { return 1; }
  bool timed_by_graph() const override { return footprint().bytes() < kMostCold; }
  bool timed_cold() const override { return footprint().bytes() < kMostCold; }

  void fill(Fill fill) override {
    fill_matrix(stream_, factor(x_, matrix_.rows()), fill, SpmvData::kValueSeed);
    fill_matrix(stream_, factor(y_, matrix_.cols()), fill, SpmvData::kVectorSeed);
    oracle_.compute({fill, kDType<T>}, columns_.count);
  }

  std::vector<Contestant> contestants() override {
    std::vector<Contestant> all = {lanky()};
    if (!vendors_) return all;
    if (stream_.device().is_cuda()) {
      all.push_back(cusparse("default", true));
      all.push_back(cusparse("plain", false));
    } else {
      all.push_back(csr_loop());
    }
    return all;
  }

  void poison(int /*slot*/) override {
    fill_vector(stream_, VectorView<T>(values_.view()), Fill::nan, 0);
  }

  Verdict check(Fill /*fill*/, const Contestant& /*contestant*/, int /*slot*/) override {
    return oracle_.check(values_.data());
  }

 private:
  MatrixView<T> factor(Buffer<T>& buffer, std::int64_t rows) const {
    const std::int64_t leading = columns_.layout == Layout::row ? columns_.count : rows;
    return {buffer.data(), rows, columns_.count, leading, columns_.layout};
  }
  MatrixView<const T> x() { return factor(x_, matrix_.rows()); }
  MatrixView<const T> y() { return factor(y_, matrix_.cols()); }

  CsrView<T> pattern() const {
    const SpmvRows a = matrix_.on_device();
    return {a.rows, a.cols, matrix_.nnz(), a.offsets, a.columns, nullptr, 0};
  }

  Contestant lanky() {
    return lanky_contestant(stream_, "auto", [&](Contestant& contestant) {
      const auto plan = std::make_shared<const SddmmPlan<T>>(
          stream_, pattern(), SddmmOptions{.expected_columns = columns_.count});
      contestant.plan_bytes = plan->device_bytes();
      contestant.explanation = plan->explain();
      contestant.run = [plan, x = x(), y = y(), values = VectorView<T>(values_.view())](
                           const Stream& stream, int /*slot*/) { plan->run(stream, x, y, values); };
    });
  }

  Contestant csr_loop() {
    return make_contestant("cpu-csr", "guided", stream_, [&](Contestant& contestant) {
      contestant.plan_bytes = matrix_.index_bytes();
      contestant.run = [a = pattern(), x = x(), y = y(), values = values_.data()](
                           const Stream&, int /*slot*/) { sample_csr(a, x, y, values); };
    });
  }

  Contestant cusparse(std::string variant, bool transposed) {
    return cusparse_contestant(stream_, std::move(variant), [&] {
      CusparseRival rival{vendor_csr(matrix_, kDType<T>), matrix_.index_bytes()};
      rival.make = [call = VendorSddmmCall{transposed, rival.a, x_.data(), y_.data(),
                                           values_.data(), columns_.count, columns_.layout}](
                       Vendor& vendor, VendorStream on) { return vendor.sddmm(on, call); };
      return rival;
    });
  }

  const Stream& stream_;
  const SpmvMatrix& matrix_;
  SpmvColumns columns_;
  bool vendors_;
  Buffer<T> x_;       // [rows][columns]
  Buffer<T> y_;       // [cols][columns]
  Buffer<T> values_;  // [nnz]
  SddmmOracle oracle_;
};

}  // namespace

std::unique_ptr<Workload> make_sddmm_workload(Session& session, const SpmvMatrix& matrix,
                                              DType dtype, SpmvColumns columns, bool vendors) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Workload> {
    return std::make_unique<SddmmWorkload<T>>(session, matrix, columns, vendors);
  });
}

}  // namespace lanky::bench
