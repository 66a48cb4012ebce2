// Factorizations of tall dense matrices of any type behind one handle.
#include <lanky/cholesky_qr.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "capi/solver.hpp"
#include "capi/structs.hpp"

/// A CholeskyQr of a type that is known at run time.
struct lanky_cholesky_qr {
  virtual ~lanky_cholesky_qr() = default;
  virtual void run(const lanky_matrix_view* a, const lanky_matrix_view* q,
                   const lanky_matrix_view* r) = 0;
  virtual void check() const = 0;
  virtual std::string explain() const = 0;
};

namespace lanky::capi {

namespace {

CholeskyQrOptions to_options(const lanky_cholesky_qr_options& options, Allocator* allocator) {
  return {.shifted = options.shifted != 0,
          .layout = to_layout(options.layout, "a, q and r"),
          .lda = options.lda,
          .ldq = options.ldq,
          .allocator = allocator};
}

template <class T>
class CholeskyQrOf final : public lanky_cholesky_qr {
 public:
  CholeskyQrOf(const Stream& stream, std::int64_t m, std::int64_t n,
               const lanky_cholesky_qr_options& options)
      : allocator_(to_allocator(options.allocator)),
        qr_(stream, m, n, to_options(options, allocator_.get())) {}

  void run(const lanky_matrix_view* a, const lanky_matrix_view* q,
           const lanky_matrix_view* r) override {
    qr_.run(to_matrix<const T>(a, "a"), to_matrix<T>(q, "q"), to_matrix<T>(r, "r"));
  }
  void check() const override { qr_.check(); }
  std::string explain() const override { return qr_.explain(); }

 private:
  std::unique_ptr<Allocator> allocator_;  // outlives the factorization
  CholeskyQr<T> qr_;
};

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_cholesky_qr_options_init(lanky_cholesky_qr_options* options, size_t size) {
  return capi::init_struct(options, size, {});
}

lanky_status lanky_cholesky_qr_create(const lanky_stream* stream, lanky_dtype type, int64_t m,
                                      int64_t n, const lanky_cholesky_qr_options* options,
                                      lanky_cholesky_qr** qr) {
  return capi::make_handle(qr, "qr", [&] {
    const lanky_cholesky_qr_options given = capi::read_struct(options, lanky_cholesky_qr_options{});
    return capi::visit_solver_type(
        type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<lanky_cholesky_qr> {
          return std::make_unique<capi::CholeskyQrOf<T>>(capi::require(stream, "stream").stream, m,
                                                         n, given);
        });
  });
}

void lanky_cholesky_qr_destroy(lanky_cholesky_qr* qr) {
  delete qr;
}

lanky_status lanky_cholesky_qr_run(lanky_cholesky_qr* qr, const lanky_matrix_view* a,
                                   const lanky_matrix_view* q, const lanky_matrix_view* r) {
  return capi::guarded([&] { capi::require(qr, "qr").run(a, q, r); });
}

lanky_status lanky_cholesky_qr_check(const lanky_cholesky_qr* qr) {
  return capi::guarded([&] { capi::require(qr, "qr").check(); });
}

lanky_status lanky_cholesky_qr_explain(const lanky_cholesky_qr* qr, char* text, size_t size,
                                       size_t* length) {
  return capi::make_text(text, size, length, [&] { return capi::require(qr, "qr").explain(); });
}
