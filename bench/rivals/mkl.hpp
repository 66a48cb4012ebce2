// Intel's oneMKL, opened at run time, and its inspector-executor of sparse products.
#pragma once

#include <cstdint>
#include <lanky/view.hpp>
#include <memory>
#include <string>

#include "bench/cases/spmv_data.hpp"
#include "core/shared_library.hpp"

namespace lanky::bench {

/// libmkl_rt.so, where LD_LIBRARY_PATH or the loader finds it: 32-bit integers, a thread of libgomp
/// for each core.
const SharedLibrary& mkl_library();

/// y = A x by mkl_sparse_?_mv, or Y = A X by mkl_sparse_?_mm where there are several columns, of a
/// handle that mkl_sparse_optimize() has prepared for many products. The arrays of A must outlive
/// this.
class MklSpmv {
 public:
  virtual ~MklSpmv() = default;
  virtual void run() = 0;
};

/// Of 32-bit row offsets, zero-based. Throws Error(unsupported): types that MKL's product has not
/// (halves), offsets of 64 bits, or libmkl_rt.so, which LD_LIBRARY_PATH or the loader must find.
template <class T>
std::unique_ptr<MklSpmv> mkl_spmv(const CsrView<T>& a, const T* x, T* y, SpmvColumns columns = {});

/// MKL's own words, with the instruction set that it takes for this processor; "" where it is not.
std::string mkl_version();

}  // namespace lanky::bench
