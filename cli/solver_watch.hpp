// A solver at work: where it stands on the terminal's last line, when it will be through, and
// Ctrl-C, which ends it with the best so far.
#pragma once

#include <lanky/solver.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lanky::cli {

/// Seconds until the residual has fallen to its tolerance, by the slope of its logarithm: least
/// squares over the later half of the iterations, at most 400 of them. Nothing where there are too
/// few, or where it does not fall.
std::optional<double> seconds_left(std::span<const SolverProgress> history);

class SolverWatch {
 public:
  /// `task`: "eigs of cant". SIGINT, SIGTERM and SIGHUP stop the solver from here on, until the
  /// watch ends.
  explicit SolverWatch(const std::string& task);
  SolverWatch(const SolverWatch&) = delete;
  SolverWatch& operator=(const SolverWatch&) = delete;
  ~SolverWatch();

  /// The watch must outlive it.
  OnProgress on_progress();

 private:
  bool see(const SolverProgress& progress);
  void draw(const SolverProgress& progress);

  bool on_terminal_;
  double drawn_seconds_ = -1;
  std::vector<SolverProgress> latest_;
};

}  // namespace lanky::cli
