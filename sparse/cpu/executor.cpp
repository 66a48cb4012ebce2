// The CPU behind sparse::Executor.
#include "core/plan_types.hpp"
#include "sparse/backend.hpp"
#include "sparse/cpu/steps.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cpu {

namespace {

template <class T, class TOut>
class CpuExecutor final : public Executor<T, TOut> {
 public:
  explicit CpuExecutor(const Stream& stream) : stream_(stream) {}

  LoadedCsr<T> load(const CsrView<T>& a) const override {
    return sparse::load(stream_, a, cpu::kExamination);
  }

  Arrangement transpose(const CsrPattern& a, Allocator* allocator) const override {
    return cpu::transpose(stream_, a, allocator);
  }
  Arrangement expand(const CsrPattern& a, const TriangleMarks& marks,
                     Allocator* allocator) const override {
    return cpu::expand(stream_, a, marks, allocator);
  }
  void gather_values(const ValueMap& map, const T* source, T* target) const override {
    cpu::gather_values(map, source, target);
  }

  ReachFacts reach_facts(const CsrPattern& a) const override { return cpu::reach_facts(a); }
  std::vector<ColumnSample> column_samples(const CsrPattern& a) const override {
    return cpu::column_samples(a, sizeof(T));
  }
  HotFacts hot_facts(const CsrPattern& a, std::int64_t most) const override {
    return cpu::hot_facts(a, most);
  }
  /// Of the GPU whose products the CPU replays.
  /// Plans have the shapes of a GPU's, so that a machine without one tests the format.
  const Machine& machine() const override { return known_machine("H200"); }

  PackedMatrix<T> pack(const Csr<T>& a, const Shape& shape, Allocator* allocator) const override {
    return cpu::pack(stream_, a, shape, allocator);
  }
  void update_values(const PatternView& a, const T* values, T* slots) const override {
    cpu::update_values(a, values, slots);
  }

  bool measures() const noexcept override { return false; }

  Launches prepare(SpmvPath /*path*/, const PackedHeader& /*a*/) const override { return {}; }
  void run(const Stream& /*stream*/, const Launches& /*launches*/, const PackedView<T>& a,
           const Product<T, TOut>& product) const override {
    cpu::run(a, product);
  }

 private:
  Stream stream_;
};

}  // namespace

template <class T, class TOut>
std::unique_ptr<const Executor<T, TOut>> make(const Stream& stream) {
  return std::make_unique<const CpuExecutor<T, TOut>>(stream);
}

#define LANKY_INSTANTIATE(T, TOut) \
  template std::unique_ptr<const Executor<T, TOut>> make(const Stream&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
