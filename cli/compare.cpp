// lanky compare: what got slower between two files of results.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "bench/report/regressions.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"

namespace lanky::cli {

namespace {

struct CompareCommand {
  std::string before;
  std::string after;
  report::CompareOptions options;
  bool all = false;
};

int print_comparison(const CompareCommand& command) {
  const report::Comparison comparison =
      report::compare(report::read_results({command.before}), report::read_results({command.after}),
                      command.options);
  for (const std::string& note : comparison.notes)
    std::fprintf(stderr, "lanky: %s\n", note.c_str());
  std::fputs(report::comparison_text(comparison, command.all).c_str(), stdout);
  return comparison.worse() ? kFailed : kOk;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App& compare = *app.add_subcommand(
      "compare", "What got faster or slower between two files of results (report.md)");
  const auto command = std::make_shared<CompareCommand>();
  report::CompareOptions& options = command->options;
  compare.add_option("before", command->before, "JSON lines")->required();
  compare.add_option("after", command->after, "JSON lines of the same cases, later")->required();
  compare
      .add_option("--contestant", options.contestant,
                  "whose lines: a name, or one variant such as\ncusparse/alg1")
      ->capture_default_str();
  compare
      .add_option("--tolerance", options.tolerance,
                  "relative change of a time that does not count, beside the noise of both")
      ->check(CLI::NonNegativeNumber, "")
      ->capture_default_str();
  compare.add_flag("--absolute", options.absolute,
                   "times alone: pass over how the streaming floor of the case changed");
  compare.add_flag("--any-hardware", options.any_hardware,
                   "compare other devices, and files of other element types, nevertheless");
  compare.add_flag("--all", command->all, "a line for every case, changed or not");
  compare.footer(
      "Exit codes: 0 nothing got worse; 1 something got slower or wrong, or is gone; 3 nothing can "
      "be compared.");
  compare.callback(
      [command, &action] { action = [command] { return print_comparison(*command); }; });
}

}  // namespace lanky::cli
