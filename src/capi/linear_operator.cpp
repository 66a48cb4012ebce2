// Operators of callers' functions, and preconditioners made from a matrix.
#include <lanky/linear_operator.hpp>
#include <lanky/solver.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "capi/solver.hpp"
#include "capi/structs.hpp"

namespace lanky::capi {

namespace {

/// A caller's function; none for null.
template <class T>
typename LinearOperator<T>::Apply to_apply(lanky_apply function, const char* name, void* user) {
  if (function == nullptr) return {};
  return [=](const Stream& stream, MatrixView<const T> x, MatrixView<T> y) {
    const lanky_stream handle{stream};
    const lanky_matrix_view from = from_matrix(x);
    const lanky_matrix_view to = from_matrix<T>(y);
    call_back(name, [&] { return function(&handle, &from, &to, user); });
  };
}

template <class T>
LinearOperator<T> operator_of_functions(std::int64_t rows, std::int64_t cols,
                                        const lanky_operator_functions& given) {
  LinearOperator<T> op(rows, cols,
                       to_apply<T>(given.apply, "the caller's function apply", given.user),
                       to_apply<T>(given.adjoint, "the caller's function adjoint", given.user));
  op.set_capturable(given.capturable != 0);
  if (given.bytes != 0) op.set_bytes(given.bytes);
  return op;
}

lanky_status make_preconditioner(const lanky_stream* stream, lanky_dtype type,
                                 const lanky_csr_view* a, std::int64_t block_size,
                                 lanky_linear_operator** op) noexcept {
  return make_handle(op, "op", [&] {
    return visit_solver_type(type, [&]<class T>(std::type_identity<T>) {
      return make_operator_of(
          block_jacobi(require(stream, "stream").stream, to_csr<T>(a, "a"), block_size));
    });
  });
}

std::string extents(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

void check_memory(const lanky_matrix_view& view, const char* name) {
  if (view.data == nullptr && view.rows > 0) {
    throw Error(ErrorCode::invalid_argument, std::string("data of ") + name + " is NULL");
  }
  if (view.ld < view.cols) {
    throw Error(ErrorCode::size_mismatch, std::string("ld of ") + name + " is " +
                                              std::to_string(view.ld) + ", less than its " +
                                              std::to_string(view.cols) + " columns");
  }
}

/// What solvers see to before they apply an operator, whose function checks nothing.
void check_product(std::int64_t rows, std::int64_t cols, const lanky_matrix_view& x,
                   const lanky_matrix_view& y) {
  if (x.rows != cols || y.rows != rows || x.cols != y.cols || x.cols < 1) {
    throw Error(ErrorCode::size_mismatch,
                "x is " + extents(x.rows, x.cols) + " and y " + extents(y.rows, y.cols) +
                    ", but the operator, or its adjoint, is " + extents(rows, cols));
  }
  if (x.layout != LANKY_LAYOUT_ROW || y.layout != LANKY_LAYOUT_ROW) {
    throw Error(ErrorCode::invalid_argument, "operators take x and y by rows alone");
  }
  check_memory(x, "x");
  check_memory(y, "y");
}

lanky_status apply_operator(const lanky_linear_operator* op, const lanky_stream* stream,
                            const lanky_matrix_view* x, const lanky_matrix_view* y,
                            bool adjoint) noexcept {
  return guarded([&] {
    std::visit(
        [&]<class T>(const LinearOperator<T>& given) {
          const Stream& on = require(stream, "stream").stream;
          const MatrixView<const T> from = to_matrix<const T>(x, "x");
          const MatrixView<T> to = to_matrix<T>(y, "y");
          if (adjoint && !given.has_adjoint())
            throw Error(ErrorCode::invalid_argument, "the operator has no adjoint");
          if (adjoint) {
            check_product(given.cols(), given.rows(), *x, *y);
            given.apply_adjoint(on, from, to);
          } else {
            check_product(given.rows(), given.cols(), *x, *y);
            given.apply(on, from, to);
          }
        },
        require(op, "op").any);
  });
}

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_operator_functions_init(lanky_operator_functions* functions, size_t size) {
  return capi::init_struct(functions, size, {});
}

lanky_status lanky_linear_operator_create(lanky_dtype type, int64_t rows, int64_t cols,
                                          const lanky_operator_functions* functions,
                                          lanky_linear_operator** op) {
  return capi::make_handle(op, "op", [&] {
    const lanky_operator_functions given =
        capi::read_struct(capi::require(functions, "functions"), lanky_operator_functions{});
    capi::check_reserved(given.reserved, "lanky_operator_functions");
    if (!(given.bytes >= 0)) {
      throw lanky::Error(lanky::ErrorCode::invalid_argument,
                         "bytes of a lanky_operator_functions is " + std::to_string(given.bytes));
    }
    return capi::visit_solver_type(type, [&]<class T>(std::type_identity<T>) {
      return capi::make_operator_of(capi::operator_of_functions<T>(rows, cols, given));
    });
  });
}

lanky_status lanky_jacobi(const lanky_stream* stream, lanky_dtype type, const lanky_csr_view* a,
                          lanky_linear_operator** op) {
  return capi::make_preconditioner(stream, type, a, 1, op);
}

lanky_status lanky_block_jacobi(const lanky_stream* stream, lanky_dtype type,
                                const lanky_csr_view* a, int64_t block_size,
                                lanky_linear_operator** op) {
  return capi::make_preconditioner(stream, type, a, block_size, op);
}

void lanky_linear_operator_destroy(lanky_linear_operator* op) {
  delete op;
}

int64_t lanky_linear_operator_rows(const lanky_linear_operator* op) {
  return capi::property(op, "op", std::int64_t{-1}, [](const lanky_linear_operator& given) {
    return std::visit([](const auto& a) { return a.rows(); }, given.any);
  });
}

int64_t lanky_linear_operator_cols(const lanky_linear_operator* op) {
  return capi::property(op, "op", std::int64_t{-1}, [](const lanky_linear_operator& given) {
    return std::visit([](const auto& a) { return a.cols(); }, given.any);
  });
}

lanky_dtype lanky_linear_operator_dtype(const lanky_linear_operator* op) {
  return capi::property(op, "op", lanky_dtype{-1}, capi::dtype_of);
}

int32_t lanky_linear_operator_has_adjoint(const lanky_linear_operator* op) {
  return capi::property(op, "op", std::int32_t{-1}, [](const lanky_linear_operator& given) {
    return std::visit([](const auto& a) { return a.has_adjoint(); }, given.any);
  });
}

lanky_status lanky_linear_operator_apply(const lanky_linear_operator* op,
                                         const lanky_stream* stream, const lanky_matrix_view* x,
                                         const lanky_matrix_view* y) {
  return capi::apply_operator(op, stream, x, y, false);
}

lanky_status lanky_linear_operator_apply_adjoint(const lanky_linear_operator* op,
                                                 const lanky_stream* stream,
                                                 const lanky_matrix_view* x,
                                                 const lanky_matrix_view* y) {
  return capi::apply_operator(op, stream, x, y, true);
}
