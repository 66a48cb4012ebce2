// What the C interface's solvers share: operators whose types are told at run time, callers'
// progress functions, and what all results tell.
#pragma once

#include <lanky/lanky.h>

#include <complex>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/solver.hpp>
#include <lanky/view.hpp>
#include <lanky/visit_dtype.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "capi/arguments.hpp"
#include "capi/handles.hpp"

namespace lanky::capi {

using AnyOperator =
    std::variant<LinearOperator<double>, LinearOperator<float>, LinearOperator<std::complex<float>>,
                 LinearOperator<std::complex<double>>>;

}  // namespace lanky::capi

struct lanky_linear_operator {
  std::unique_ptr<lanky::Allocator> allocator;  // outlives plans that the operator owns
  lanky::capi::AnyOperator any;
};

namespace lanky::capi {

/// Throws Error(unsupported).
[[noreturn]] void refuse_half(DType type);

/// f(std::type_identity<T>{}) for a type that solvers compute in.
template <class F>
auto visit_solver_type(lanky_dtype type, F&& f) {
  using Result = std::invoke_result_t<F, std::type_identity<double>>;
  return visit_dtype(to_dtype(type, "type"), [&]<class T>(std::type_identity<T> tag) -> Result {
    if constexpr (is_half(kDType<T>)) {
      refuse_half(kDType<T>);
    } else {
      return f(tag);
    }
  });
}

inline std::unique_ptr<lanky_linear_operator> make_operator_of(
    AnyOperator made, std::unique_ptr<Allocator> allocator = nullptr) {
  return std::make_unique<lanky_linear_operator>(
      lanky_linear_operator{std::move(allocator), std::move(made)});
}

DType dtype_of(const lanky_linear_operator& op) noexcept;
[[noreturn]] void refuse_operator(const char* name, DType found, DType wanted);

/// An operator beside another one of type T; none for null. Throws Error(invalid_argument) for
/// another type.
template <class T>
LinearOperator<T> to_operator(const lanky_linear_operator* op, const char* name) {
  if (op == nullptr) return {};
  const auto* const found = std::get_if<LinearOperator<T>>(&op->any);
  if (found == nullptr) refuse_operator(name, dtype_of(*op), kDType<T>);
  return *found;
}

/// Memory of a result, which C callers only read.
template <class T>
lanky_matrix_view from_matrix(MatrixView<const T> view) noexcept {
  return {const_cast<T*>(view.data), view.rows, view.cols, view.ld,
          static_cast<lanky_layout>(view.layout)};
}

/// None for null.
OnProgress to_progress(lanky_on_progress progress, void* user);
std::vector<lanky_solver_progress> from_history(const std::vector<SolverProgress>& history);

/// The members of `info` that all results have.
template <class Info, class Result>
void tell_result(Info& info, const Result& result,
                 const std::vector<lanky_solver_progress>& history) {
  info.status = static_cast<lanky_solver_status>(result.status);
  info.iterations = result.iterations;
  info.converged = result.converged;
  info.residuals = result.residuals.data();
  info.history = history.data();
  info.history_size = static_cast<std::int64_t>(history.size());
}

}  // namespace lanky::capi
