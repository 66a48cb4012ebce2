#include "bench/cases/spmv_case.hpp"

#include <exception>
#include <lanky/dispatch.hpp>
#include <lanky/error.hpp>
#include <utility>

#include "bench/cases/operand.hpp"
#include "bench/harness/gpu.hpp"
#include "bench/harness/spmv_oracle.hpp"
#include "bench/rivals/csr_loop.hpp"
#include "bench/rivals/mkl.hpp"
#include "bench/rivals/padded_formats.hpp"
#include "bench/rivals/vendor.hpp"

namespace lanky::bench {

namespace {

/// x and y are longer than the matrix, so that whole blocks may read and write them.
constexpr std::int64_t kSpare = kLargestBlock - 1;

template <class T>
class SpmvWorkload final : public Workload {
 public:
  SpmvWorkload(Session& session, SpmvMatrix& matrix, SpmvSelection selection)
      : session_(session),
        matrix_(matrix),
        selection_(std::move(selection)),
        values_(session.stream, matrix.nnz()),
        x_(session.stream, matrix.cols() + kSpare),
        y_(session.stream, matrix.rows() + kSpare),
        oracle_(session.stream, matrix) {
    x_.fill_zero();
  }

  std::variant<SpmvCase, GemmCase> subject() const override {
    return SpmvCase{matrix_.name(), matrix_.rows(), matrix_.cols(),
                    matrix_.nnz(),  kDType<T>,      matrix_.matrix_class()};
  }

  /// CSR read once, x read once, y written once.
  Footprint footprint() const override {
    constexpr std::int64_t kSize = sizeof(T);
    return {.read = csr_bytes() + matrix_.cols() * kSize,
            .written = matrix_.rows() * kSize,
            .flops = 2.0 * static_cast<double>(matrix_.nnz()),
            .least = (matrix_.nnz() + matrix_.rows()) * kSize};
  }

  int slots() const override { return 1; }

  void fill(Fill fill) override {
    fill_vector(session_.stream, values_.view(), fill, SpmvData::kValueSeed);
    fill_vector(session_.stream, VectorView<T>{x_.data(), matrix_.cols()}, fill,
                SpmvData::kVectorSeed);
    oracle_.compute({fill, kDType<T>});
  }

  std::vector<Contestant> contestants() override {
    std::vector<Contestant> all;
    for (const SpmvEntrant& entrant : selection_.entrants)
      all.push_back(entered(entrant));
    for (const SpmvPath path : selection_.paths)
      all.push_back(lanky(std::string(name(path)), {.path = path}));
    if (selection_.tuned) all.push_back(lanky("tuned", {.tune = true}));
    for (const auto& peer : selection_.peers)
      all.push_back(peer->contest(session_.stream, peer_matrix(), x_.data(), y_.data()));
    if (!selection_.vendors) return all;
    if (!session_.stream.device().is_cuda()) {
      all.push_back(csr_loop("static", CsrSchedule::fixed));
      all.push_back(csr_loop("guided", CsrSchedule::guided));
      all.push_back(csr_loop("serial", CsrSchedule::serial));
      all.push_back(mkl());
      return all;
    }
    all.push_back(cusparse("alg1", [&] { return csr(VendorSpmvAlgorithm::alg1); }));
    all.push_back(cusparse("alg2", [&] { return csr(VendorSpmvAlgorithm::alg2); }));
    all.push_back(
        cusparse("sell", [&] { return padded(VendorSpmvAlgorithm::sell, matrix_.sliced_ell()); }));
    for (const int side : matrix_.dense_block_sides()) {
      all.push_back(cusparse("bsr" + std::to_string(side), [&] {
        return padded(VendorSpmvAlgorithm::bsr, matrix_.blocks(side));
      }));
    }
    return all;
  }

  void poison(int /*slot*/) override { fill_vector(session_.stream, y_.view(), Fill::nan, 0); }

  Verdict check(Fill /*fill*/, const Contestant& contestant, int /*slot*/) override {
    const std::string& variant = contestant.variant;
    return oracle_.check(y_.data(), variant == name(SpmvPath::tf32)     ? Math::tf32
                                    : variant == name(SpmvPath::tf32x3) ? Math::tf32x3
                                                                        : Math::ieee);
  }

 private:
  CsrView<T> view() const {
    const SpmvRows a = matrix_.on_device();
    return {a.rows, matrix_.cols(), matrix_.nnz(), a.offsets, a.columns, values_.data(), 0};
  }
  VectorView<const T> x_view() const { return {x_.data(), matrix_.cols()}; }
  VectorView<T> y_view() { return {y_.data(), matrix_.rows()}; }

  Contestant lanky(std::string variant, const PlanOptions& options) {
    const bool pooled = session_.stream.device().is_cuda();
    if (pooled) gpu::watch_memory(session_.stream);
    Contestant made =
        make_contestant("lanky", std::move(variant), session_.stream, [&](Contestant& contestant) {
          auto plan = std::make_shared<SpmvPlan<T>>(session_.stream, view(), options);
          contestant.plan_bytes = plan->device_bytes();
          contestant.explanation = plan->explain();
          contestant.decision.sparse = plan->info();
          contestant.decision.predicted_us = contestant.decision.sparse->predicted_us;
          contestant.run = [plan, x = x_view(), y = y_view()](const Stream& stream, int /*slot*/) {
            plan->run(stream, x, y);
          };
          contestant.update = [plan, values = VectorView<const T>{values_.data(), values_.size()}] {
            plan->update_values(values);
          };
        });
    if (pooled && made.status == Status::ok)
      made.setup_bytes = gpu::transient_bytes(session_.stream);
    return made;
  }

  Contestant entered(const SpmvEntrant& entrant) {
    return make_contestant(
        entrant.contestant, entrant.variant, session_.stream, [&](Contestant& contestant) {
          BuiltSpmv built = entrant.build(
              session_.stream, {matrix_, kDType<T>, values_.data(), x_.data(), y_.data()});
          contestant.plan_bytes = built.bytes;
          contestant.explanation = std::move(built.explanation);
          contestant.run = [run = std::move(built.run)](const Stream& stream, int /*slot*/) {
            run(stream);
          };
        });
  }

  /// The matrix as one of cuSPARSE's algorithms takes it.
  struct Rival {
    VendorSpmvCall call;
    std::int64_t bytes = 0;                     // of the matrix
    std::shared_ptr<const Buffer<T>> values{};  // where they are not those of CSR
  };

  VendorSpmvCall product(VendorSpmvAlgorithm algorithm) {
    return {.algorithm = algorithm,
            .dtype = kDType<T>,
            .rows = matrix_.rows(),
            .cols = matrix_.cols(),
            .nnz = matrix_.nnz(),
            .x = x_.data(),
            .y = y_.data()};
  }

  Rival csr(VendorSpmvAlgorithm algorithm) {
    const SpmvRows a = matrix_.on_device();
    Rival rival{product(algorithm), csr_bytes()};
    rival.call.offsets = a.offsets.data();
    rival.call.wide_offsets = a.offsets.wide();
    rival.call.col_indices = a.columns;
    rival.call.values = values_.data();
    rival.call.slots = matrix_.nnz();
    return rival;
  }

  Rival padded(VendorSpmvAlgorithm algorithm, const PaddedMatrix& a) {
    const auto values = std::make_shared<const Buffer<T>>(session_.stream, a.slots());
    gpu::place_values(session_.stream, kDType<T>, values_.data(),
                      {a.sources.data(), static_cast<std::size_t>(a.slots())}, values->data());
    Rival rival{product(algorithm),
                a.index_bytes() + a.slots() * static_cast<std::int64_t>(sizeof(T)), values};
    rival.call.offsets = a.offsets.data();
    rival.call.col_indices = a.col_indices.data();
    rival.call.values = values->data();
    rival.call.slots = a.slots();
    rival.call.unit = a.unit;
    return rival;
  }

  /// Opening the library and converting to its format (`convert` returns a Rival) are in no setup
  /// time: the one happens once, the other is ours.
  template <class Convert>
  Contestant cusparse(std::string variant, Convert convert) {
    Vendor* vendor = nullptr;
    Rival rival;
    std::exception_ptr absence;
    try {
      vendor = &gpu_vendor();
      vendor->prepare(session_.stream.device().index());
      rival = convert();
    } catch (const std::exception&) {
      absence = std::current_exception();
    }
    return make_contestant(
        "cusparse", std::move(variant), session_.stream, [&](Contestant& contestant) {
          if (absence) std::rethrow_exception(absence);
          const std::shared_ptr<VendorProduct> product = vendor->spmv(
              {session_.stream.native(), session_.stream.device().index()}, rival.call);
          contestant.plan_bytes = rival.bytes + product->workspace_bytes();
          contestant.run = [product, values = rival.values](const Stream& stream, int /*slot*/) {
            product->run(stream.native());
          };
        });
  }

  lanky_peer_matrix peer_matrix() const {
    const SpmvRows a = matrix_.on_device();
    const Device device = session_.stream.device();
    return {.rows = a.rows,
            .cols = matrix_.cols(),
            .nnz = matrix_.nnz(),
            .row_offsets = a.offsets.data(),
            .offset_bytes = static_cast<std::int32_t>(a.offsets.bytes_per_offset()),
            .col_indices = a.columns,
            .values = values_.data(),
            .dtype = name(kDType<T>).data(),  // a literal: it ends with a zero
            .device = device.is_cuda() ? device.index() : -1,
            .stream = session_.stream.native()};
  }

  Contestant csr_loop(std::string variant, CsrSchedule schedule) {
    return make_contestant("cpu-csr", std::move(variant), session_.stream,
                           [&](Contestant& contestant) {
                             contestant.plan_bytes = csr_bytes();
                             contestant.run = [a = view(), x = x_.data(), y = y_.data(), schedule](
                                                  const Stream&, int /*slot*/) {
                               multiply_csr(a, static_cast<const T*>(x), y, schedule);
                             };
                           });
  }

  /// Opening the library is in no setup time.
  Contestant mkl() {
    mkl_version();
    return make_contestant("mkl", "mv", session_.stream, [&](Contestant& contestant) {
      const std::shared_ptr<MklSpmv> product = mkl_spmv<T>(view(), x_.data(), y_.data());
      contestant.plan_bytes = csr_bytes();  // what it keeps besides, it does not tell
      contestant.run = [product](const Stream&, int /*slot*/) { product->run(); };
    });
  }

  std::int64_t csr_bytes() const {
    return matrix_.index_bytes() + matrix_.nnz() * static_cast<std::int64_t>(sizeof(T));
  }

  Session& session_;
  SpmvMatrix& matrix_;
  SpmvSelection selection_;
  Buffer<T> values_;  // [nnz], in the order of CSR
  Buffer<T> x_;       // [cols + kSpare], 0 beyond cols
  Buffer<T> y_;       // [rows + kSpare]
  SpmvOracle oracle_;
};

}  // namespace

std::unique_ptr<Workload> make_spmv_workload(Session& session, SpmvMatrix& matrix, DType dtype,
                                             const SpmvSelection& selection) {
  return dispatch_real(dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Workload> {
    return std::make_unique<SpmvWorkload<T>>(session, matrix, selection);
  });
}

}  // namespace lanky::bench
