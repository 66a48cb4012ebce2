#include "gemms.hpp"

#include <algorithm>
#include <cstring>

namespace lanky_petsc {
namespace {

Gemms* shared_gemms = nullptr;

PetscErrorCode drop_gemms() {
  delete shared_gemms;
  shared_gemms = nullptr;
  return PETSC_SUCCESS;
}

bool same(const lanky::GemmShape& a, const lanky::GemmShape& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.op_a == b.op_a && a.op_b == b.op_b &&
         a.lda == b.lda && a.ldb == b.ldb && a.ldc == b.ldc;
}

}  // namespace

void Gemms::multiply(const lanky::Stream& stream, const lanky::GemmShape& shape, Element alpha,
                     const Element* a, const Element* b, Element beta, Element* c) {
  auto found = std::find_if(plans_.begin(), plans_.end(), [&](const Plan& held) {
    return held.stream == stream && same(held.shape, shape);
  });
  if (found == plans_.end()) {
    constexpr std::size_t kKept = 256;
    if (plans_.size() >= kKept) plans_.pop_back();
    plans_.push_front({shape, stream, lanky::GemmPlan<Element>(stream, shape)});
  } else {
    plans_.splice(plans_.begin(), plans_, found);
  }
  const bool flip_a = shape.op_a != lanky::Op::none;
  const bool flip_b = shape.op_b != lanky::Op::none;
  using View = lanky::MatrixView<const Element>;
  plans_.front().plan.run(
      stream, alpha, View(a, flip_a ? shape.k : shape.m, flip_a ? shape.m : shape.k, shape.lda),
      View(b, flip_b ? shape.n : shape.k, flip_b ? shape.k : shape.n, shape.ldb), beta,
      lanky::MatrixView<Element>(c, shape.m, shape.n, shape.ldc));
}

const Element* Gemms::upload(const lanky::Stream& stream, const Element* host, std::int64_t count) {
  Upload& slot = uploads_[next_upload_];
  next_upload_ = (next_upload_ + 1) % uploads_.size();
  if (!stream.device().is_cuda())
    return std::copy_n(host, count, slot.host.at_least(count)) - count;
  if (slot.done) slot.done->synchronize();
  Element* pinned = slot.pinned.at_least(count);
  std::copy_n(host, count, pinned);
  Element* device = slot.device.at_least(count);
  copy_across(stream, pinned, count, device);
  if (!slot.done) slot.done.emplace(stream.device());
  slot.done->record(stream);
  return device;
}

Element* Gemms::result(const lanky::Stream& stream, std::int64_t count) {
  return (stream.device().is_cuda() ? pinned_ : host_).at_least(count);
}

Element* Gemms::scratch(const lanky::Stream& stream, std::int64_t count) {
  return (stream.device().is_cuda() ? device_scratch_ : host_scratch_).at_least(count);
}

PetscErrorCode gemms(Gemms** gemms) {
  PetscFunctionBegin;
  if (!shared_gemms) {
    PetscCall(guarded([] { shared_gemms = new Gemms; }));
    PetscCall(PetscRegisterFinalize(drop_gemms));
  }
  *gemms = shared_gemms;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode gram_on_host(const Columns& where, lanky::Op op, PetscInt m, PetscInt n, PetscInt k,
                            const Element* a, std::int64_t lda, const Element* b, std::int64_t ldb,
                            Element** result) {
  const lanky::Stream* stream = nullptr;
  Gemms* products = nullptr;
  PetscFunctionBegin;
  PetscCall(stream_of(where, &stream));
  PetscCall(gemms(&products));
  if (where.on_device()) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(guarded([&] {
    const std::int64_t count = static_cast<std::int64_t>(m) * n;
    Element* sums = products->result(*stream, std::max<std::int64_t>(1, count));
    if (k > 0) {
      lanky::GemmShape shape{m, n, k, op};
      shape.lda = lda;
      shape.ldb = ldb;
      shape.ldc = m;
      products->multiply(*stream, shape, Element(1), a, b, Element(0), sums);
      stream->synchronize();
    } else {
      std::fill_n(sums, count, Element(0));
    }
    *result = sums;
  }));
  if (where.on_device()) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(
      where, 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode sum_over_ranks(PetscObject object, Element* values, PetscInt count) {
  PetscMPIInt length = 0, size = 1;
  MPI_Comm comm = PetscObjectComm(object);
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(count, &length));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, length, MPIU_SCALAR, MPIU_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode log_flops(const Columns& where, double flops) {
  PetscFunctionBegin;
  if (where.on_device()) {
    PetscCall(PetscLogGpuFlops(flops));
  } else {
    PetscCall(PetscLogFlops(flops));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
