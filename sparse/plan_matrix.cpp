#include "sparse/plan_matrix.hpp"

#include <lanky/error.hpp>
#include <string_view>
#include <utility>

#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/backend.hpp"
#include "sparse/device_csr.hpp"
#include "sparse/errors.hpp"
#include "sparse/host_csr.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse {

template <class T>
PackedMatrix<T> pack_by_model(const Stream& stream, const Csr<T>& a, RowFacts facts, SpmvPath path,
                              Allocator* allocator) {
  const bool on_gpu = stream.device().is_cuda();
  const CsrPattern pattern = a.pattern();
  const bool hot = path == SpmvPath::cuda && reads_hot_columns(facts);
  if (hot || reads_reach(facts)) {
    const ReachFacts found =
        on_gpu ? cuda::reach_facts(stream, pattern) : cpu::reach_facts(pattern);
    facts.reach = found.mean;
    facts.repeated = found.repeated;
  }
  if (hot) {
    const auto shared =
        static_cast<std::int64_t>(stream.device().properties().shared_bytes_per_block);
    const std::int64_t most = hot_columns_most(kDType<T>, on_gpu ? shared : kSharedBytes);
    const HotFacts found =
        on_gpu ? cuda::hot_facts(stream, pattern, most) : cpu::hot_facts(pattern, most);
    facts.hot_least = found.least;
    facts.hot_entries = found.entries;
  }
  const Shape shape = choose_shape(facts, kDType<T>);
  return on_gpu ? cuda::pack(stream, a, shape, allocator) : cpu::pack(stream, a, shape, allocator);
}

template <class T>
PlanMatrix<T>::PlanMatrix(const Stream& stream, const CsrView<T>& a, const PlanOptions& options,
                          const Packer<T>& pack)
    : symmetry_(options.symmetry),
      op_(options.op),
      given_entries_(a.nnz),
      entries_(stream, 0),
      packed_(packed_on(stream, a, options, pack)) {}

template <class T>
PackedMatrix<T> PlanMatrix<T>::packed_on(const Stream& stream, const CsrView<T>& a,
                                         const PlanOptions& options, const Packer<T>& pack) {
  if (symmetry_ != Symmetry::general) {
    extents_of(a).check_triangle();
  } else if (op_ != Op::none) {
    extents_of(a).check_transposable();
  }
  if (stream.device().is_cuda()) {
    const DeviceCsr<T> checked(stream, a);
    return packed(stream, checked.csr(), checked.facts(), options, pack);
  }
  const CheckedCsr<T> checked(stream, a);
  return packed(stream, checked.csr(), checked.facts(), options, pack);
}

template <class T>
PackedMatrix<T> PlanMatrix<T>::packed(const Stream& stream, const Csr<T>& a, const RowFacts& facts,
                                      const PlanOptions& options, const Packer<T>& pack) {
  if (!rearranged()) return pack(a, facts);
  Arrangement arrangement = arrange(stream, a.pattern(), options);
  entries_ = std::move(arrangement.entries);
  const Buffer<T> values = gathered(stream, a.values);
  if (!options.updates) entries_ = Buffer<std::uint32_t>(stream, 0);
  const RowFacts& arranged = arrangement.facts;
  const Csr<T> csr{.rows = arranged.rows,
                   .cols = arranged.cols,
                   .nnz = arranged.nnz,
                   .row_offsets = arrangement.row_offsets.data(),
                   .columns = arrangement.columns.data(),
                   .values = values.data()};
  return pack(csr, arranged);
}

template <class T>
Arrangement PlanMatrix<T>::arrange(const Stream& stream, const CsrPattern& a,
                                   const PlanOptions& options) const {
  Allocator* const allocator = options.updates ? options.allocator : nullptr;
  const bool on_gpu = stream.device().is_cuda();
  if (symmetry_ == Symmetry::general)
    return on_gpu ? cuda::transpose(stream, a, allocator) : cpu::transpose(stream, a, allocator);
  const TriangleMarks marks(op_);
  return on_gpu ? cuda::expand(stream, a, marks, allocator)
                : cpu::expand(stream, a, marks, allocator);
}

template <class T>
Buffer<T> PlanMatrix<T>::gathered(const Stream& stream, const T* values) const {
  Buffer<T> target(stream, entries_.size());
  const ValueMap map{.entries = entries_.data(),
                     .count = entries_.size(),
                     .symmetry = symmetry_,
                     .conjugated = op_ == Op::conj_trans};
  if (stream.device().is_cuda()) {
    cuda::gather_values(stream, map, values, target.data());
  } else {
    cpu::gather_values(map, values, target.data());
  }
  return target;
}

template <class T>
std::int64_t PlanMatrix<T>::bytes() const {
  return packed_.bytes() + entries_.size() * static_cast<std::int64_t>(sizeof(std::uint32_t));
}

template <class T>
void PlanMatrix<T>::update_values(VectorView<const T> values) {
  constexpr std::string_view kWhat = "the new values of A";
  if (rearranged() && entries_.size() != header().nnz) {
    throw Error(ErrorCode::unsupported,
                concat("new values for ",
                       symmetry_ == Symmetry::general ? "a transposed matrix" : "a triangle",
                       ", whose plan was made without PlanOptions::updates"));
  }
  const Stream& stream = packed_.values.stream();
  T* const slots = packed_.values.data();
  if (stream.device().is_cuda()) {
    const DeviceArray<T> own(stream, values.data, values.size, kWhat);
    const Buffer<T> arranged = gathered(stream, own.data());
    cuda::update_values(stream, view(), rearranged() ? arranged.data() : own.data(), slots);
  } else {
    const HostArray<T> own(stream, values.data, values.size, kWhat);
    const Buffer<T> arranged = gathered(stream, own.data());
    cpu::update_values(view(), rearranged() ? arranged.data() : own.data(), slots);
  }
}

#define LANKY_INSTANTIATE(T)                                                               \
  template PackedMatrix<T> pack_by_model(const Stream&, const Csr<T>&, RowFacts, SpmvPath, \
                                         Allocator*);                                      \
  template class PlanMatrix<T>;
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
