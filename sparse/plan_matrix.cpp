#include "sparse/plan_matrix.hpp"

#include <lanky/error.hpp>
#include <string_view>
#include <utility>

#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/backend.hpp"
#include "sparse/device_csr.hpp"
#include "sparse/host_csr.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse {

template <class T>
PlanMatrix<T>::PlanMatrix(const Stream& stream, const CsrView<T>& a, const PlanOptions& options)
    : op_(options.op), entries_(stream, 0), packed_(packed_on(stream, a, options)) {}

template <class T>
PackedMatrix<T> PlanMatrix<T>::packed_on(const Stream& stream, const CsrView<T>& a,
                                         const PlanOptions& options) {
  if (stream.device().is_cuda())
    return packed(stream, DeviceCsr<T>(stream, a), options, cuda::transpose<T>, cuda::pack<T>);
  return packed(stream, CheckedCsr<T>(stream, a), options, cpu::transpose<T>, cpu::pack<T>);
}

template <class T>
template <class Checked, class Transpose, class Pack>
PackedMatrix<T> PlanMatrix<T>::packed(const Stream& stream, const Checked& a,
                                      const PlanOptions& options, Transpose transpose, Pack pack) {
  const Csr<T> csr = a.csr();
  if (op_ == Op::none)
    return pack(stream, csr, choose_shape(a.facts(), kDType<T>), options.allocator);
  if (csr.nnz > kTransposedEntriesMost) {
    throw Error(
        ErrorCode::unsupported,
        concat("A has ", csr.nnz, " entries; lanky transposes up to ", kTransposedEntriesMost));
  }
  TransposedCsr<T> transposed =
      transpose(stream, csr, op_ == Op::conj_trans, options.updates ? options.allocator : nullptr);
  PackedMatrix<T> matrix =
      pack(stream, transposed.csr(), choose_shape(transposed.facts, kDType<T>), options.allocator);
  if (options.updates) entries_ = std::move(transposed.entries);
  return matrix;
}

template <class T>
std::int64_t PlanMatrix<T>::bytes() const {
  return packed_.bytes() + entries_.size() * static_cast<std::int64_t>(sizeof(std::uint32_t));
}

template <class T>
void PlanMatrix<T>::update_values(VectorView<const T> values) {
  constexpr std::string_view kWhat = "the new values of A";
  const bool transposed = op_ != Op::none;
  if (transposed && entries_.size() != values.size) {
    throw Error(ErrorCode::unsupported,
                "new values for a transposed matrix, whose plan was made without "
                "PlanOptions::updates");
  }
  const Stream& stream = packed_.values.stream();
  const bool conjugated = op_ == Op::conj_trans;
  T* const slots = packed_.values.data();
  Buffer<T> gathered(stream, transposed ? values.size : 0);
  if (stream.device().is_cuda()) {
    const DeviceArray<T> own(stream, values.data, values.size, kWhat);
    if (transposed) {
      cuda::gather_values(stream, entries_.data(), values.size, conjugated, own.data(),
                          gathered.data());
    }
    cuda::update_values(stream, view(), transposed ? gathered.data() : own.data(), slots);
    stream.synchronize();
  } else {
    const HostArray<T> own(stream, values.data, values.size, kWhat);
    if (transposed) {
      cpu::gather_values(entries_.data(), values.size, conjugated, own.data(), gathered.data());
    }
    cpu::update_values(view(), transposed ? gathered.data() : own.data(), slots);
  }
}

#define LANKY_INSTANTIATE(T) template class PlanMatrix<T>;
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
