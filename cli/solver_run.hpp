// Steps of the solvers' commands between the options and the report: operators, clocks, types.
#pragma once

#include <chrono>
#include <complex>
#include <cstdint>
#include <lanky/csr.hpp>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/solver.hpp>
#include <lanky/stream.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "cli/solver_report.hpp"

namespace lanky::cli {

/// Seconds since it was made, or since the last lap.
class Clock {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// f(std::type_identity<T>{}) for the T of `dtype`, one of those that solvers have.
template <class F>
int visit_solver_dtype(DType dtype, const F& f) {
  switch (dtype) {
    case DType::f32:
      return f(std::type_identity<float>{});
    case DType::c64:
      return f(std::type_identity<std::complex<float>>{});
    case DType::c128:
      return f(std::type_identity<std::complex<double>>{});
    default:
      return f(std::type_identity<double>{});
  }
}

/// The tolerance, or the one that solvers take for 0.
template <class T>
double tolerance_or_default(double tolerance) {
  if (tolerance > 0) return tolerance;
  return sizeof(std::real(T())) == sizeof(double) ? 1e-8 : 1e-4;
}

/// The operator, which adds what its products take to `seconds`: on a CPU, where a product is done
/// when it returns. A GPU's operator comes back as it is.
template <class T>
LinearOperator<T> timed(const Stream& stream, const LinearOperator<T>& op, double& seconds) {
  if (stream.device().is_cuda()) return op;
  const auto timing = [&seconds](const auto& product) {
    return [product, &seconds](const Stream& on, MatrixView<const T> x, MatrixView<T> y) {
      Clock clock;
      product(on, x, y);
      seconds += clock.lap();
    };
  };
  const auto forward = [op](const Stream& on, MatrixView<const T> x, MatrixView<T> y) {
    op.apply(on, x, y);
  };
  if (!op.has_adjoint())
    return LinearOperator<T>(op.rows(), op.cols(), timing(forward)).set_bytes(op.bytes());
  const auto adjoint = [op](const Stream& on, MatrixView<const T> x, MatrixView<T> y) {
    op.apply_adjoint(on, x, y);
  };
  return {op.rows(), op.cols(), timing(forward), timing(adjoint)};
}

/// The part of an outcome that all solvers' results have; `wanted`: eigenpairs, triplets or
/// right-hand sides.
template <class Result>
void record_result(SolverOutcome& outcome, const Result& result, std::int64_t wanted) {
  outcome.status = result.status;
  outcome.iterations = result.iterations;
  outcome.wanted = wanted;
  outcome.converged = result.converged;
  outcome.history = result.history;
}

/// The preconditioner with diagonal blocks of so many rows; none for 0.
template <class T>
LinearOperator<T> make_preconditioner(const Stream& stream, const CsrMatrix<T>& a,
                                      std::int64_t block) {
  if (block == 0) return {};
  return block == 1 ? jacobi(stream, a.view()) : block_jacobi(stream, a.view(), block);
}

/// f(), whose refusals are of what stands in the files: options have been checked before.
template <class F>
auto of_matrix(const std::string& name, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw Error(ErrorCode::unsupported, name + ": " + error.what());
  }
}

}  // namespace lanky::cli
