// Contestants as the sparse cases make them: lanky's, whose memory is watched, and cuSPARSE's.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/stream.hpp>
#include <memory>
#include <string>

#include "bench/cases/spmv_matrix.hpp"
#include "bench/harness/contestant.hpp"
#include "bench/rivals/vendor.hpp"

namespace lanky::bench {

/// make_contestant() for lanky, on a GPU with setup_bytes.
Contestant lanky_contestant(const Stream& stream, std::string variant,
                            const std::function<void(Contestant&)>& build);

/// The matrix as cuSPARSE takes it, and the product that is made of it.
struct CusparseRival {
  VendorSparse a;
  std::int64_t bytes = 0;              // of the matrix
  std::shared_ptr<const void> kept{};  // memory that the product reads and nobody else keeps
  std::function<std::unique_ptr<VendorProduct>(Vendor& vendor, VendorStream stream)> make{};
};

VendorStream vendor_stream(const Stream& stream);

/// What every format says of the matrix; its arrays are still to be set.
VendorSparse vendor_sparse(const SpmvMatrix& matrix, VendorFormat format, DType dtype);
/// CSR without values.
VendorSparse vendor_csr(const SpmvMatrix& matrix, DType dtype);

/// Opening the library and `convert`, which brings the matrix into the rival's format, are in no
/// setup time: the one happens once, the other is ours. What they throw becomes the status.
Contestant cusparse_contestant(const Stream& stream, std::string variant,
                               const std::function<CusparseRival()>& convert);

}  // namespace lanky::bench
