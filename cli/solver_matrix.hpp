// The matrices of eigs, svds and solve, with the values of their files: read, checked, and made
// into what the options ask for.
#pragma once

#include <cstdint>
#include <lanky/csr.hpp>
#include <lanky/dtype.hpp>
#include <string>
#include <vector>

#include "cli/solver_options.hpp"
#include "cli/sources.hpp"

namespace lanky::cli {

/// The one matrix that the options name. Throws Error: invalid_argument (a folder of several),
/// io (a folder of none).
Source solver_source(const SolverOptions& options);

/// The type that --dtype says, or else the widest that the matrix and the `files` beside it need
/// ("" is none). Throws Error(invalid_argument) where a file is complex and --dtype is not.
DType solver_dtype(const SolverOptions& options, const Source& source,
                   const std::vector<std::string>& files);

/// The values of solver_matrix() in words: "values of the file".
std::string values_text(const SolverOptions& options, const Source& source);

/// Warnings of the reader go to standard error. Throws as io::read_csr and io::generate do.
template <class T>
CsrMatrix<T> read_values(const Source& source);
/// The matrix of the options, --laplacian and --shift included. T: those of the solvers.
template <class T>
CsrMatrix<T> solver_matrix(const SolverOptions& options, const Source& source);

/// Error(unsupported) with the first entry that is not finite, or not the conjugate of the one at
/// the transposed place: they may differ by 1e-10 of their size (of floats by 1e-5), as numbers of
/// files do. `name` is told in messages.
template <class T>
void require_self_adjoint(const CsrMatrix<T>& a, const std::string& name);

}  // namespace lanky::cli
