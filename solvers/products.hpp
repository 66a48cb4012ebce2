// Dense products of solvers, whose extents repeat: a plan for each, made when it is first needed.
// Matrices are by rows.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/dense.hpp>
#include <lanky/dtype.hpp>
#include <lanky/stream.hpp>
#include <lanky/tuning.hpp>
#include <lanky/view.hpp>
#include <map>
#include <tuple>
#include <utility>

namespace lanky::solvers {

template <class T>
class Products {
 public:
  /// `by_vendor`: the vendor's library computes all products that it can, for benchmarks.
  explicit Products(const Stream& stream, Allocator* allocator = nullptr, bool by_vendor = false)
      : stream_(stream), allocator_(allocator), by_vendor_(by_vendor) {}

  /// C = A^H B of tall A and B.
  void gram(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
    plan(a.cols, b.cols, a.rows, Op::conj_trans, a.ld, b.ld, c.ld).run(stream_, a, b, c);
  }
  /// C = A B of tall A and C and small B.
  void update(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
    plan(a.rows, b.cols, a.cols, Op::none, a.ld, b.ld, c.ld).run(stream_, a, b, c);
  }
  /// C = alpha A B + beta C.
  void update(T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta, MatrixView<T> c) {
    plan(a.rows, b.cols, a.cols, Op::none, a.ld, b.ld, c.ld).run(stream_, alpha, a, b, beta, c);
  }

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, Op, std::int64_t, std::int64_t,
                         std::int64_t>;

  const GemmPlan<T>& plan(std::int64_t m, std::int64_t n, std::int64_t k, Op op_a, std::int64_t lda,
                          std::int64_t ldb, std::int64_t ldc) {
    const Key key(m, n, k, op_a, lda, ldb, ldc);
    const auto known = plans_.find(key);
    if (known != plans_.end()) return known->second;
    GemmShape shape{.m = m, .n = n, .k = k, .op_a = op_a, .layout = Layout::row};
    shape.lda = lda;
    shape.ldb = ldb;
    shape.ldc = ldc;
    GemmOptions options;
    options.allocator = allocator_;
    GemmTuning vendor;
    if (by_vendor_) {
      for (const bool adds : {false, true}) {
        vendor.set({stream_.device(), shape, kDType<T>, kDType<T>, false, adds}, {.vendor = true});
      }
      options.tuning = &vendor;
    }
    return plans_.emplace(key, GemmPlan<T>(stream_, shape, options)).first->second;
  }

  Stream stream_;
  Allocator* allocator_;
  bool by_vendor_;
  std::map<Key, GemmPlan<T>> plans_;
};

/// `count` columns of a matrix by rows, from `first` on.
template <class T>
MatrixView<T> columns_of(MatrixView<T> x, std::int64_t first, std::int64_t count) {
  return {x.data + first, x.rows, count, x.ld, Layout::row};
}

/// The same for reading alone.
template <class T>
MatrixView<const T> read_only(MatrixView<T> x) {
  return {x.data, x.rows, x.cols, x.ld, x.layout};
}

}  // namespace lanky::solvers
