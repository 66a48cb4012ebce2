// A GPU behind sparse::Executor.
#include "core/plan_types.hpp"
#include "sparse/backend.hpp"
#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/columns/rows_copy.hpp"
#include "sparse/cuda/columns/steps.hpp"
#include "sparse/cuda/steps.hpp"
#include "sparse/cuda/tiles/policy.hpp"
#include "sparse/cuda/tiles/steps.hpp"

namespace lanky::sparse::cuda {

namespace {

template <class T, class TOut>
class CudaExecutor final : public Executor<T, TOut> {
 public:
  explicit CudaExecutor(const Stream& stream) : stream_(stream) {}

  LoadedCsr<T> load(const CsrView<T>& a) const override {
    return sparse::load(stream_, a, cuda::kExamination);
  }

  Arrangement transpose(const CsrPattern& a, Allocator* allocator) const override {
    return cuda::transpose(stream_, a, allocator);
  }
  Arrangement expand(const CsrPattern& a, const TriangleMarks& marks,
                     Allocator* allocator) const override {
    return cuda::expand(stream_, a, marks, allocator);
  }
  void gather_values(const Stream& stream, const ValueMap& map, const T* source,
                     T* target) const override {
    cuda::gather_values(stream, map, source, target);
  }

  ReachFacts reach_facts(const CsrPattern& a) const override {
    return cuda::reach_facts(stream_, a);
  }
  std::vector<ColumnSample> column_samples(const CsrPattern& a) const override {
    return cuda::column_samples(stream_, a, sizeof(T));
  }
  HotFacts hot_facts(const CsrPattern& a, std::int64_t most) const override {
    return cuda::hot_facts(stream_, a, most);
  }
  const Machine& machine() const override { return machine_of(stream_.device()); }

  PackedMatrix<T> pack(const Csr<T>& a, const Shape& shape, Allocator* allocator) const override {
    return cuda::pack(stream_, a, shape, allocator);
  }
  void update_values(const Stream& stream, const PatternView& a, const T* values,
                     T* slots) const override {
    cuda::update_values(stream, a, values, slots);
  }

  ColumnsCopy<T> copy_for_columns(const Csr<T>& a, const PackedMatrix<T>& packed,
                                  const RowFacts& facts, const StripLaunches& strips,
                                  const SparseOptions& options) const override {
    ColumnsCopy<T> copy;
    if (options.expected_columns == 1) return copy;
    const bool tiles_wanted = options.engine == Engine::tensor_cores;
    if (!tiles_wanted &&
        in_words(strips, options.expected_columns, options.expected_layout, kDType<T>))
      return copy;
    if constexpr (kHasTiles<T>) {
      if (may_have_tiles(options, kDType<T>, a.nnz)) {
        copy.tiles = make_tiles(stream_, a, facts, packed.header.shape, options);
        if (copy.tiles) load_tiles<T>(stream_);
      }
    }
    if (!copy.tiles) copy.rows = copy_rows(stream_, a, packed, facts, options);
    return copy;
  }
  void update_copy(const Stream& stream, ColumnsCopy<T>& copy, const T* values) const override {
    if constexpr (kHasTiles<T>) {
      if (copy.tiles) update_tiles(stream, *copy.tiles, values);
    }
    if (copy.rows) update_rows(stream, *copy.rows, values);
  }

  Launches prepare(Path path, const PackedHeader& a, const RowFacts& facts) const override {
    Launches launches = cuda::prepare<T, TOut>(stream_, path, a);
    launches.strips = choose_strips(a, facts, kDType<T>, launches.adds, machine());
    return launches;
  }
  void load_strips(const StripLaunches& strips, const ColumnsCopy<T>& copy) const override {
    cuda::load_strips<T>(stream_, strips);
    if constexpr (kHasWords<T>) cuda::load_words<T, TOut>(stream_, strips);
    if (copy.rows) cuda::load_rows(stream_, *copy.rows);
  }
  void run(const Stream& stream, const Launches& launches, const PackedView<T>& a,
           const Product<T, TOut>& product) const override {
    cuda::run(stream, launches, a, product);
  }
  void run_columns(const Stream& stream, const Launches& launches, const PackedView<T>& a,
                   const ColumnsCopy<T>& copy,
                   const ColumnsProduct<T, TOut>& product) const override {
    if constexpr (kHasTiles<T>) {
      if (copy.tiled(product.columns)) return run_tiles(stream, *copy.tiles, product);
    }
    cuda::run_columns(stream, launches, a, copy, product);
  }

 private:
  Stream stream_;
};

}  // namespace

template <class T, class TOut>
std::unique_ptr<const Executor<T, TOut>> make(const Stream& stream) {
  return std::make_unique<const CudaExecutor<T, TOut>>(stream);
}

#define LANKY_INSTANTIATE(T, TOut) \
  template std::unique_ptr<const Executor<T, TOut>> make(const Stream&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
