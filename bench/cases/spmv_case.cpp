#include "bench/cases/spmv_case.hpp"

#include <algorithm>
#include <lanky/error.hpp>
#include <lanky/visit_dtype.hpp>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bench/cases/operand.hpp"
#include "bench/cases/sparse_contestants.hpp"
#include "bench/harness/gpu.hpp"
#include "bench/harness/spmv_oracle.hpp"
#include "bench/rivals/csr_loop.hpp"
#include "bench/rivals/mkl.hpp"
#include "bench/rivals/padded_formats.hpp"
#include "bench/rivals/vendor.hpp"
#include "core/text.hpp"

namespace lanky::bench {

namespace {

/// X and Y have so many rows more than the matrix, so that whole blocks may read and write them.
constexpr std::int64_t kSpare = kLargestBlock - 1;

/// A plan of lanky's, and the contestant that it was built as.
template <class T>
struct KeptPlan {
  std::int64_t columns = 1;  // that it expects, and how these stand
  Layout layout = Layout::row;
  std::shared_ptr<SparsePlan<T>> plan{};
  Contestant contestant{};
  int builds = 0;
  Fill fill{};  // what its values are
};

/// What the products of a matrix in one element type share.
template <class T>
class SpmvShared {
 public:
  SpmvShared(Session& of_session, SpmvMatrix& of_matrix, SpmvSelection of_selection)
      : session(of_session),
        matrix(of_matrix),
        selection(std::move(of_selection)),
        values(session.stream, matrix.nnz()),
        x(session.stream, 0),
        y(session.stream, 0) {}

  /// X and Y of so many columns, whatever they hold.
  void reserve(std::int64_t columns) {
    reserve(x, (matrix.cols() + kSpare) * columns);
    reserve(y, (matrix.rows() + kSpare) * columns);
  }

  void fill_values(Fill fill) {
    if (filled_ != fill)
      fill_vector(session.stream, VectorView<T>(values.view()), fill, SpmvData::kValueSeed);
    filled_ = fill;
  }
  Fill filled() const { return filled_.value_or(Fill::nan); }

  /// It knows so many columns of Y. Both fills are remembered where that takes little memory.
  SpmvOracle& oracle(Fill fill, std::int64_t columns) {
    constexpr std::int64_t kLittle = 4LL << 30;  // bytes
    const std::int64_t bytes = matrix.rows() * columns * components(kDType<T>) *
                               static_cast<std::int64_t>(sizeof(Reference));
    const Fill kept = bytes <= kLittle ? fill : Fill::random;
    SpmvOracle& oracle = oracles_.try_emplace(kept, session.stream, matrix).first->second;
    if (kept != fill) oracles_.erase(fill);
    oracle.compute({fill, kDType<T>}, columns);
    return oracle;
  }

  Session& session;
  SpmvMatrix& matrix;
  SpmvSelection selection;
  Buffer<T> values;  // [nnz], in the order of CSR
  Buffer<T> x;       // [cols + kSpare][columns], 0 beyond cols
  Buffer<T> y;       // [rows + kSpare][columns]
  std::map<std::pair<std::string, bool>, KeptPlan<T>> plans;  // by variant, for several columns
  /// The faster of cuSPARSE's two algorithms for vectors, once it is known.
  std::optional<VendorSpmvAlgorithm> vendor_spmv;

 private:
  void reserve(Buffer<T>& buffer, std::int64_t size) {
    if (size <= buffer.size()) return;
    buffer = Buffer<T>(session.stream, 0);  // both at once may be too much
    buffer = Buffer<T>(session.stream, size);
  }

  std::optional<Fill> filled_;
  std::map<Fill, SpmvOracle> oracles_;
};

template <class T>
class SpmvWorkload final : public Workload {
 public:
  SpmvWorkload(std::shared_ptr<SpmvShared<T>> shared, SpmvColumns columns)
      : shared_(std::move(shared)),
        session_(shared_->session),
        matrix_(shared_->matrix),
        columns_(columns) {
    shared_->reserve(columns.count);
  }

  std::variant<SpmvCase, GemmCase> subject() const override {
    SpmvCase subject{matrix_.name(), matrix_.rows(), matrix_.cols(),
                     matrix_.nnz(),  kDType<T>,      matrix_.matrix_class()};
    subject.columns = columns_;
    return subject;
  }

  /// CSR read once, X read once, Y written once.
  Footprint footprint() const override {
    constexpr std::int64_t kSize = sizeof(T);
    const std::int64_t of_y = matrix_.rows() * columns_.count;
    return {.read = csr_bytes() + matrix_.cols() * columns_.count * kSize,
            .written = of_y * kSize,
            .flops = (is_complex(kDType<T>) ? 8.0 : 2.0) *
                     static_cast<double>(matrix_.nnz() * columns_.count),
            .least = (matrix_.nnz() + of_y) * kSize};
  }

  int slots() const override { return 1; }
  bool timed_by_graph() const override { return is_vector() || is_small(); }
  bool timed_cold() const override { return is_vector() || is_small(); }

  void fill(Fill fill) override {
    shared_->fill_values(fill);
    const MatrixView<T> x{this->x(), matrix_.cols(), columns_.count, leading(matrix_.cols()),
                          columns_.layout};
    fill_matrix(session_.stream, x, fill, SpmvData::kVectorSeed);
    const std::int64_t size = matrix_.cols() * columns_.count;
    fill_zero(session_.stream, this->x() + size,
              kSpare * columns_.count * static_cast<std::int64_t>(sizeof(T)));
    oracle_ = &shared_->oracle(fill, columns_.count);
  }

  std::vector<Contestant> contestants() override {
    std::vector<Contestant> all;
    const SpmvSelection& selection = shared_->selection;
    for (const SpmvEntrant& entrant : selection.entrants)
      all.push_back(entered(entrant));
    const std::int64_t expected = columns_.count;
    const Layout layout = is_vector() ? Layout::row : columns_.layout;  // of a vector all the same
    for (const SparsePath& path : selection.paths)
      all.push_back(lanky(std::string(to_string(path)), {.engine = path.engine,
                                                         .math = path.math,
                                                         .expected_columns = expected,
                                                         .expected_layout = layout}));
    if (selection.tuned)
      all.push_back(
          lanky("tuned", {.tune = true, .expected_columns = expected, .expected_layout = layout}));
    for (const auto& peer : selection.peers)
      all.push_back(peer->contest(session_.stream, peer_matrix(), columns_, x(), y()));
    if (!is_vector() && columns_.layout == Layout::col) add_lanky_by_columns(all);
    if (!selection.vendors) return all;
    if (!session_.stream.device().is_cuda()) {
      add_cpu_rivals(all);
    } else if (is_vector()) {
      add_vendor_spmv(all);
    } else {
      add_vendor_spmm(all);
    }
    return all;
  }

  void poison(int /*slot*/) override {
    const std::int64_t size = (matrix_.rows() + kSpare) * columns_.count;
    fill_vector(session_.stream, VectorView<T>{y(), size}, Fill::nan, 0);
  }

  Verdict check(Fill /*fill*/, const Contestant& contestant, int /*slot*/) override {
    const std::string& variant = contestant.variant;
    const Math math = !is_vector()                         ? Math::ieee
                      : variant == to_string(Math::tf32)   ? Math::tf32
                      : variant == to_string(Math::tf32x3) ? Math::tf32x3
                                                           : Math::ieee;
    return oracle_->check(y(), math, columns_);
  }

 private:
  bool is_vector() const { return columns_.count == 1; }
  bool is_small() const { return footprint().bytes() < kMostCold; }
  T* x() const { return shared_->x.data(); }
  T* y() const { return shared_->y.data(); }
  T* values() const { return shared_->values.data(); }
  std::int64_t leading(std::int64_t rows) const {
    return columns_.layout == Layout::row ? columns_.count : rows;
  }

  CsrView<T> view() const {
    const SpmvRows a = matrix_.on_device();
    return {a.rows, matrix_.cols(), matrix_.nnz(), a.offsets, a.columns, values(), 0};
  }
  /// Column c of X and of Y where these are column-major.
  VectorView<const T> x_view(std::int64_t c = 0) const {
    return {x() + c * matrix_.cols(), matrix_.cols()};
  }
  VectorView<T> y_view(std::int64_t c = 0) const {
    return {y() + c * matrix_.rows(), matrix_.rows()};
  }

  /// Built anew at first, and once more, when kernels have been loaded: that setup is timed. Later
  /// products of as many columns have the same plan.
  KeptPlan<T>& kept(const std::string& variant, const SparseOptions& options) {
    constexpr int kBuilds = 2;
    KeptPlan<T>& kept = shared_->plans[{variant, options.expected_columns > 1}];
    if (kept.columns != options.expected_columns || kept.layout != options.expected_layout)
      kept = {.columns = options.expected_columns, .layout = options.expected_layout};
    if (kept.builds < kBuilds || kept.contestant.status != Status::ok) {
      build(kept, variant, options);
    } else if (kept.fill != shared_->filled()) {
      update(kept);
    }
    return kept;
  }

  void build(KeptPlan<T>& kept, const std::string& variant, const SparseOptions& options) {
    kept.plan = nullptr;  // both at once may be too much
    kept.contestant = lanky_contestant(session_.stream, variant, [&](Contestant& contestant) {
      kept.plan = std::make_shared<SparsePlan<T>>(session_.stream, view(), options);
      contestant.plan_bytes = kept.plan->device_bytes();
      contestant.explanation = kept.plan->explain();
      contestant.decision.sparse = kept.plan->info();
      // Plans predict a product of one vector.
      if (options.expected_columns == 1)
        contestant.decision.predicted_us = contestant.decision.sparse->predicted_us;
    });
    kept.fill = shared_->filled();
    ++kept.builds;
  }

  void update(KeptPlan<T>& kept) const {
    kept.plan->update_values(VectorView<const T>{values(), matrix_.nnz()});
    kept.fill = shared_->filled();
  }

  Contestant lanky(const std::string& variant, const SparseOptions& options) {
    KeptPlan<T>& plan = kept(variant, options);
    Contestant made = plan.contestant;
    if (made.status != Status::ok) return made;
    made.run = product(plan.plan);
    made.update = [this, &plan] { update(plan); };
    return made;
  }

  Product product(std::shared_ptr<const SparsePlan<T>> plan) const {
    if (is_vector()) {
      return [plan = std::move(plan), x = x_view(), y = y_view()](
                 const Stream& stream, int /*slot*/) { plan->run(stream, x, y); };
    }
    const MatrixView<const T> x{this->x(), matrix_.cols(), columns_.count, leading(matrix_.cols()),
                                columns_.layout};
    const MatrixView<T> y{this->y(), matrix_.rows(), columns_.count, leading(matrix_.rows()),
                          columns_.layout};
    return [plan = std::move(plan), x, y](const Stream& stream, int /*slot*/) {
      plan->run(stream, x, y);
    };
  }

  /// lanky's product of a vector, column after column: what there was before its product of
  /// several.
  void add_lanky_by_columns(std::vector<Contestant>& all) {
    if (std::ranges::find(shared_->selection.paths, SparsePath{}) == shared_->selection.paths.end())
      return;
    const KeptPlan<T>& plan = kept(std::string(to_string(SparsePath{})), {});
    Contestant made = plan.contestant;
    made.variant = kByColumns;
    made.decision.predicted_us = 0;
    if (made.status == Status::ok) {
      made.run = [this, plan = plan.plan](const Stream& stream, int /*slot*/) {
        for (std::int64_t c = 0; c < columns_.count; ++c)
          plan->run(stream, x_view(c), y_view(c));
      };
    }
    all.push_back(std::move(made));
  }

  Contestant entered(const SpmvEntrant& entrant) {
    return make_contestant(
        entrant.contestant, entrant.variant, session_.stream, [&](Contestant& contestant) {
          BuiltSpmv built =
              entrant.build(session_.stream, {matrix_, kDType<T>, values(), columns_, x(), y()});
          contestant.plan_bytes = built.bytes;
          contestant.explanation = std::move(built.explanation);
          contestant.run = [run = std::move(built.run)](const Stream& stream, int /*slot*/) {
            run(stream);
          };
        });
  }

  void add_cpu_rivals(std::vector<Contestant>& all) {
    if (is_vector()) {
      all.push_back(csr_loop("static", CsrSchedule::fixed));
      all.push_back(csr_loop("guided", CsrSchedule::guided));
      all.push_back(csr_loop("serial", CsrSchedule::serial));
    } else if constexpr (!is_half(kDType<T>)) {
      if (columns_.layout == Layout::row) {
        all.push_back(csr_loop("static", CsrSchedule::fixed));
        all.push_back(csr_loop("serial", CsrSchedule::serial));
      }
    }
    all.push_back(mkl());
  }

  void add_vendor_spmv(std::vector<Contestant>& all) {
    using Algorithm = VendorSpmvAlgorithm;
    all.push_back(cusparse("alg1", [&] { return spmv(Algorithm::alg1, csr()); }));
    all.push_back(cusparse("alg2", [&] { return spmv(Algorithm::alg2, csr()); }));
    all.push_back(cusparse("sell", [&] {
      return spmv(Algorithm::sell, padded(VendorFormat::sell, matrix_.sliced_ell()));
    }));
    for (const int side : matrix_.dense_block_sides()) {
      all.push_back(cusparse("bsr" + std::to_string(side), [&] {
        return spmv(Algorithm::bsr, padded(VendorFormat::bsr, matrix_.blocks(side)));
      }));
    }
  }

  void add_vendor_spmm(std::vector<Contestant>& all) {
    using Algorithm = VendorSpmmAlgorithm;
    all.push_back(cusparse("default", [&] { return spmm(Algorithm::standard, csr()); }));
    all.push_back(cusparse("alg1", [&] { return spmm(Algorithm::alg1, csr()); }));
    all.push_back(cusparse("alg2", [&] { return spmm(Algorithm::alg2, csr()); }));
    all.push_back(cusparse("alg3", [&] { return spmm(Algorithm::alg3, csr()); }));
    for (const int side : matrix_.dense_block_sides()) {
      all.push_back(cusparse("bsr" + std::to_string(side), [&] {
        require_whole_blocks(side);
        return spmm(Algorithm::bsr, padded(VendorFormat::bsr, matrix_.blocks(side)));
      }));
    }
    if (columns_.layout != Layout::col) return;
    all.push_back(cusparse("mv", [&] { return spmv(faster_spmv(), csr()); }));
  }

  /// A block over the edge of a column would be one over the beginning of the next.
  void require_whole_blocks(int side) const {
    if (columns_.layout == Layout::row) return;
    if (matrix_.rows() % side == 0 && matrix_.cols() % side == 0) return;
    throw Error(ErrorCode::unsupported,
                concat("blocks of ", side, " do not divide ", matrix_.rows(), " x ", matrix_.cols(),
                       ", and columns follow each other without a gap"));
  }

  CusparseRival spmv(VendorSpmvAlgorithm algorithm, CusparseRival rival) const {
    rival.make = [call = VendorSpmvCall{algorithm, rival.a, x(), y(), columns_.count,
                                        static_cast<std::int64_t>(sizeof(T))}](
                     Vendor& vendor, VendorStream stream) { return vendor.spmv(stream, call); };
    return rival;
  }

  CusparseRival spmm(VendorSpmmAlgorithm algorithm, CusparseRival rival) const {
    rival.make =
        [call = VendorSpmmCall{algorithm, rival.a, x(), y(), columns_.count, columns_.layout}](
            Vendor& vendor, VendorStream stream) { return vendor.spmm(stream, call); };
    return rival;
  }

  CusparseRival csr() const {
    CusparseRival rival{vendor_csr(matrix_, kDType<T>), csr_bytes()};
    rival.a.values = values();
    return rival;
  }

  CusparseRival padded(VendorFormat format, const PaddedMatrix& a) const {
    const auto placed = std::make_shared<Buffer<T>>(session_.stream, a.slots());
    gpu::place_values(session_.stream, kDType<T>, values(),
                      {a.sources.data(), static_cast<std::size_t>(a.slots())}, placed->data());
    CusparseRival rival{vendor_sparse(matrix_, format, kDType<T>),
                        a.index_bytes() + a.slots() * static_cast<std::int64_t>(sizeof(T)), placed};
    rival.a.offsets = a.offsets.data();
    rival.a.col_indices = a.col_indices.data();
    rival.a.values = placed->data();
    rival.a.slots = a.slots();
    rival.a.unit = a.unit;
    return rival;
  }

  /// By batches of a few products; their y is the first column.
  VendorSpmvAlgorithm faster_spmv() const {
    if (shared_->vendor_spmv) return *shared_->vendor_spmv;
    constexpr int kProducts = 5;
    constexpr int kBatches = 4;  // the first loads the kernels
    double least_us = std::numeric_limits<double>::infinity();
    for (const auto algorithm : {VendorSpmvAlgorithm::alg1, VendorSpmvAlgorithm::alg2}) {
      const std::unique_ptr<VendorProduct> product =
          gpu_vendor().spmv(vendor_stream(session_.stream), {algorithm, csr().a, x(), y()});
      const Lap lap{
          .product = [&](const Stream& stream, int /*slot*/) { product->run(stream.native()); }};
      std::int64_t turn = 0;
      for (int batch = 0; batch < kBatches; ++batch) {
        const double us = batch_us(session_.stream, lap, kProducts, turn);
        if (batch == 0 || us >= least_us) continue;
        least_us = us;
        shared_->vendor_spmv = algorithm;
      }
    }
    return shared_->vendor_spmv.value_or(VendorSpmvAlgorithm::alg1);
  }

  Contestant cusparse(std::string variant, const std::function<CusparseRival()>& convert) {
    return cusparse_contestant(session_.stream, std::move(variant), convert);
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
            .values = values(),
            .dtype = to_string(kDType<T>).data(),  // a literal: it ends with a zero
            .device = device.is_cuda() ? device.index() : -1,
            .stream = session_.stream.native()};
  }

  Contestant csr_loop(std::string variant, CsrSchedule schedule) {
    return make_contestant(
        "cpu-csr", std::move(variant), session_.stream, [&](Contestant& contestant) {
          contestant.plan_bytes = csr_bytes();
          const T* const x = this->x();
          contestant.run = [a = view(), x, y = y(), schedule](const Stream&, int /*slot*/) {
            multiply_csr(a, x, y, schedule);
          };
          if constexpr (!is_half(kDType<T>)) {
            if (is_vector()) return;
            contestant.run = [a = view(), x, y = y(), columns = columns_.count, schedule](
                                 const Stream&, int /*slot*/) {
              multiply_csr_by_rows(a, x, y, columns, schedule);
            };
          }
        });
  }

  /// Opening the library is in no setup time.
  Contestant mkl() {
    mkl_version();
    return make_contestant(
        "mkl", is_vector() ? "mv" : "mm", session_.stream, [&](Contestant& contestant) {
          const std::shared_ptr<MklSpmv> product =
              mkl_spmv<T>(view(), static_cast<const T*>(x()), y(), columns_);
          contestant.plan_bytes = csr_bytes();  // what it keeps besides, it does not tell
          contestant.run = [product](const Stream&, int /*slot*/) { product->run(); };
        });
  }

  std::int64_t csr_bytes() const {
    return matrix_.index_bytes() + matrix_.nnz() * static_cast<std::int64_t>(sizeof(T));
  }

  std::shared_ptr<SpmvShared<T>> shared_;
  Session& session_;
  SpmvMatrix& matrix_;
  SpmvColumns columns_;
  const SpmvOracle* oracle_ = nullptr;  // of the data at hand
};

}  // namespace

SpmvWorkloads spmv_workloads(Session& session, SpmvMatrix& matrix, DType dtype,
                             const SpmvSelection& selection) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) -> SpmvWorkloads {
    const auto shared = std::make_shared<SpmvShared<T>>(session, matrix, selection);
    return [shared](SpmvColumns columns) {
      return std::make_unique<SpmvWorkload<T>>(shared, columns);
    };
  });
}

std::unique_ptr<Workload> make_spmv_workload(Session& session, SpmvMatrix& matrix, DType dtype,
                                             const SpmvSelection& selection, SpmvColumns columns) {
  return spmv_workloads(session, matrix, dtype, selection)(columns);
}

}  // namespace lanky::bench
