// lanky report: results as a page, and as tables.
#include "bench/report/page.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "bench/report/output_file.hpp"
#include "bench/report/plain_tables.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"

namespace lanky::cli {

namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string page = "report.html";
  std::string csv;
  std::string markdown;
  bool force = false;
};

int write_report(const ReportOptions& options) {
  const report::Results results = report::read_results(options.files);
  report::check_outputs({options.page, options.csv, options.markdown}, options.files,
                        options.force);
  for (const std::string& note : results.notes)
    std::fprintf(stderr, "lanky: %s\n", note.c_str());
  report::write_whole(options.page, report::html_page(results));
  if (!options.csv.empty()) report::write_whole(options.csv, report::csv_table(results));
  if (!options.markdown.empty())
    report::write_whole(options.markdown, report::markdown_tables(results));
  for (const std::string& path : {options.page, options.csv, options.markdown})
    if (!path.empty() && path != "-") std::fprintf(stderr, "lanky: %s written\n", path.c_str());
  return kOk;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "report", "JSON lines of results as one HTML page, and as tables (report.md)");
  const auto options = std::make_shared<ReportOptions>();
  command.add_option("results", options->files, "files of JSON lines, as --json writes them")
      ->required();
  command.add_option("-o,--output", options->page, "the page; - is standard output")
      ->capture_default_str();
  command.add_option("--csv", options->csv, "a row a case and type; - is standard output");
  command.add_option("--markdown", options->markdown,
                     "summary by class and type, and the worst ten; - is standard output");
  command.add_flag("--force", options->force, "replace files that are there already");
  command.callback([options, &action] { action = [options] { return write_report(*options); }; });
}

}  // namespace lanky::cli
