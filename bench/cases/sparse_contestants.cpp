#include "bench/cases/sparse_contestants.hpp"

#include <exception>
#include <utility>

#include "bench/harness/gpu.hpp"

namespace lanky::bench {

Contestant lanky_contestant(const Stream& stream, std::string variant,
                            const std::function<void(Contestant&)>& build) {
  const bool pooled = stream.device().is_cuda();
  if (pooled) gpu::watch_memory(stream);
  Contestant made = make_contestant("lanky", std::move(variant), stream, build);
  if (pooled && made.status == Status::ok) made.setup_bytes = gpu::transient_bytes(stream);
  return made;
}

VendorStream vendor_stream(const Stream& stream) {
  return {stream.native(), stream.device().index()};
}

VendorSparse vendor_sparse(const SpmvMatrix& matrix, VendorFormat format, DType dtype) {
  return {.format = format,
          .dtype = dtype,
          .rows = matrix.rows(),
          .cols = matrix.cols(),
          .nnz = matrix.nnz()};
}

VendorSparse vendor_csr(const SpmvMatrix& matrix, DType dtype) {
  const SpmvRows rows = matrix.on_device();
  VendorSparse a = vendor_sparse(matrix, VendorFormat::csr, dtype);
  a.offsets = rows.offsets.data();
  a.wide_offsets = rows.offsets.wide();
  a.col_indices = rows.columns;
  a.slots = matrix.nnz();
  return a;
}

Contestant cusparse_contestant(const Stream& stream, std::string variant,
                               const std::function<CusparseRival()>& convert) {
  Vendor* vendor = nullptr;
  CusparseRival rival;
  std::exception_ptr absence;
  try {
    vendor = &gpu_vendor();
    vendor->prepare(stream.device().index());
    rival = convert();
  } catch (const std::exception&) {
    absence = std::current_exception();
  }
  return make_contestant("cusparse", std::move(variant), stream, [&](Contestant& contestant) {
    if (absence) std::rethrow_exception(absence);
    const std::shared_ptr<VendorProduct> product = rival.make(*vendor, vendor_stream(stream));
    contestant.plan_bytes = rival.bytes + product->workspace_bytes();
    contestant.run = [product, kept = rival.kept](const Stream& on, int /*slot*/) {
      product->run(on.native());
    };
  });
}

}  // namespace lanky::bench
