// Stands in for the kernels in a build without CUDA. No CUDA device is ever found there, so that
// these are out of reach of a caller.
#include <lanky/error.hpp>

#include "core/plan_types.hpp"
#include "sparse/backend.hpp"

namespace lanky::sparse::cuda {

namespace {
[[noreturn]] void absent() {
  throw Error(ErrorCode::no_device, "spmv on a GPU: this lanky was built without CUDA");
}
}  // namespace

ReachFacts reach_facts(const Stream& /*stream*/, const CsrPattern& /*a*/) {
  absent();
}

HotFacts hot_facts(const Stream& /*stream*/, const CsrPattern& /*a*/, std::int64_t /*most*/) {
  absent();
}

ExaminedRows examine_rows(const Stream& /*stream*/, const RowOffsets& /*offsets*/,
                          const CsrPattern& /*a*/) {
  absent();
}

void check_columns(const Stream& /*stream*/, const CsrPattern& /*a*/) {
  absent();
}

Arrangement transpose(const Stream& /*stream*/, const CsrPattern& /*a*/, Allocator* /*allocator*/) {
  absent();
}

Arrangement expand(const Stream& /*stream*/, const CsrPattern& /*a*/,
                   const TriangleMarks& /*marks*/, Allocator* /*allocator*/) {
  absent();
}

template <class T>
void gather_values(const Stream& /*stream*/, const ValueMap& /*map*/, const T* /*source*/,
                   T* /*target*/) {
  absent();
}

template <class T>
PackedMatrix<T> pack(const Stream& /*stream*/, const Csr<T>& /*a*/, const Shape& /*shape*/,
                     Allocator* /*allocator*/) {
  absent();
}

template <class T>
void update_values(const Stream& /*stream*/, const PackedView<T>& /*a*/, const T* /*values*/,
                   T* /*slots*/) {
  absent();
}

template <class T, class TOut>
Launches prepare(const Stream& /*stream*/, SpmvPath /*path*/, const PackedHeader& /*a*/) {
  absent();
}

template <class T, class TOut>
void run(const Stream& /*stream*/, const Launches& /*launches*/, const PackedView<T>& /*a*/,
         const Product<T, TOut>& /*product*/) {
  absent();
}

#define LANKY_INSTANTIATE(T)                                                             \
  template void gather_values(const Stream&, const ValueMap&, const T*, T*);             \
  template PackedMatrix<T> pack(const Stream&, const Csr<T>&, const Shape&, Allocator*); \
  template void update_values(const Stream&, const PackedView<T>&, const T*, T*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

#define LANKY_INSTANTIATE(T, TOut)                                                  \
  template Launches prepare<T, TOut>(const Stream&, SpmvPath, const PackedHeader&); \
  template void run(const Stream&, const Launches&, const PackedView<T>&, const Product<T, TOut>&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
