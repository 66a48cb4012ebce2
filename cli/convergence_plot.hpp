// The drawing of --plot: residuals by iteration, on a logarithmic axis.
#pragma once

#include <lanky/solver.hpp>
#include <string>
#include <vector>

namespace lanky::cli {

/// A file of SVG: the residual as a curve, the tolerance, where it is not 0, as a dashed line.
/// `residual_axis`: what the residual is compared with.
std::string convergence_plot(const std::string& title, const std::string& residual_axis,
                             const std::vector<SolverProgress>& history, double tolerance);

}  // namespace lanky::cli
