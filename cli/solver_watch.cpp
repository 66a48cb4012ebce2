#include "cli/solver_watch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/progress.hpp"
#include "cli/quantity_text.hpp"
#include "cli/signals.hpp"

namespace lanky::cli {

namespace {

constexpr std::size_t kMostOfSlope = 400;  // iterations: 50 told minutes where seconds were left

}  // namespace

std::optional<double> seconds_left(std::span<const SolverProgress> history) {
  constexpr std::size_t kFewest = 5;
  const std::size_t count = std::min(kMostOfSlope, history.size() / 2);
  if (count < kFewest) return std::nullopt;
  const auto last = history.last(count);
  double seconds = 0;
  double logarithm = 0;
  for (const SolverProgress& each : last) {
    if (!(each.residual > 0)) return std::nullopt;
    seconds += each.seconds / static_cast<double>(count);
    logarithm += std::log(each.residual) / static_cast<double>(count);
  }
  double square = 0;
  double product = 0;
  for (const SolverProgress& each : last) {
    square += (each.seconds - seconds) * (each.seconds - seconds);
    product += (each.seconds - seconds) * (std::log(each.residual) - logarithm);
  }
  const SolverProgress& now = last.back();
  if (!(product < 0 && square > 0 && now.tolerance > 0)) return std::nullopt;
  const double end = seconds + (std::log(now.tolerance) - logarithm) * square / product;
  return std::max(0.0, end - now.seconds);
}

SolverWatch::SolverWatch(const std::string& task) : on_terminal_(StatusLine::possible()) {
  set_current_task(task);
  stop_on_signals();
}

SolverWatch::~SolverWatch() {
  if (on_terminal_) StatusLine::hide();
  install_signal_messages();
}

OnProgress SolverWatch::on_progress() {
  return [this](const SolverProgress& progress) { return see(progress); };
}

bool SolverWatch::see(const SolverProgress& progress) {
  if (on_terminal_) {
    constexpr double kEvery = 0.1;  // seconds
    if (latest_.size() == 4 * kMostOfSlope)
      latest_.erase(latest_.begin(), latest_.begin() + 2 * kMostOfSlope);
    latest_.push_back(progress);
    if (drawn_seconds_ < 0 || progress.seconds - drawn_seconds_ >= kEvery) draw(progress);
  }
  return stop_signal() == 0;
}

void SolverWatch::draw(const SolverProgress& progress) {
  drawn_seconds_ = progress.seconds;
  char text[128];
  std::snprintf(text, sizeof text, "iteration %d: %lld/%lld converged, residual %.1e to %.0e",
                progress.iteration, static_cast<long long>(progress.converged),
                static_cast<long long>(progress.wanted), progress.residual, progress.tolerance);
  const std::optional<double> left = seconds_left(latest_);
  constexpr double kNever = 1e6;  // seconds
  const bool is_near = left && *left < kNever;
  StatusLine::show(std::string(text) +
                   (is_near ? ", by slope " + clock_text(*left) + " left" : ""));
}

}  // namespace lanky::cli
