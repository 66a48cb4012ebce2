// lanky merge: the results of several runs, such as the shards of one, in one file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <lanky/error.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/records/json_line.hpp"
#include "bench/report/output_file.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"

namespace lanky::cli {

namespace {

using Json = nlohmann::ordered_json;

struct MergeOptions {
  std::vector<std::string> files;
  std::string output;
  bool mixed_hardware = false;
  bool force = false;
};

/// One line of results as it stands in its file, and where that is.
struct Line {
  std::string place;  // "FILE:LINE"
  std::string text;
  Json json;
};

/// What keeps a line from being one of results; "" where it is one.
std::string fault_of(const Json& line, bool torn) {
  if (line.is_discarded() && torn) return "is half a line, left by a run that was ended";
  if (line.is_discarded()) return "is no JSON";
  if (!line.is_object() || text_of(line, "kind").empty()) return "is no line of results";
  return "";
}

/// The lines of a file. Others are named and left out; Error(parse) where there is none of results.
void read_lines(const std::string& path, std::vector<Line>& lines) {
  const std::size_t before = lines.size();
  std::vector<std::string> faults;
  for (LineReader reader(path); reader.next();) {
    Json json = bench::parse_line(reader.text());
    const std::string fault = fault_of(json, !reader.is_whole());
    if (fault.empty()) {
      lines.push_back({reader.place(), reader.text(), std::move(json)});
    } else {
      faults.push_back(reader.place() + ": " + fault);
    }
  }
  if (lines.size() == before)
    throw Error(ErrorCode::parse, faults.empty() ? path + ": is empty" : faults.front());
  for (const std::string& fault : faults)
    std::fprintf(stderr, "lanky: %s, and is left out\n", fault.c_str());
}

/// What an env line was measured on.
std::string hardware(const Json& env) {
  std::string gpu = text_of(env, "gpu");
  if (!gpu.empty()) return gpu;
  const auto threads = env.find("threads");
  return text_of(env, "cpu") + " with " + (threads == env.end() ? "0" : threads->dump()) +
         " threads";
}

void check_hardware(const std::vector<Line>& lines) {
  const Line* first = nullptr;
  for (const Line& line : lines) {
    if (text_of(line.json, "kind") != "env") continue;
    if (first == nullptr) first = &line;
    if (hardware(line.json) == hardware(first->json)) continue;
    throw Error(ErrorCode::unsupported, line.place + ": was measured on " + hardware(line.json) +
                                            ", " + first->place + " on " + hardware(first->json) +
                                            "; --mixed-hardware joins them nevertheless");
  }
}

int merge(const MergeOptions& options) {
  std::vector<Line> lines;
  for (const std::string& path : options.files)
    read_lines(path, lines);
  report::check_outputs({options.output}, options.files, options.force);
  if (!options.mixed_hardware) check_hardware(lines);
  std::string text;
  std::size_t matrices = 0;
  for (const Line& line : lines) {
    matrices += text_of(line.json, "kind") == "matrix" ? 1 : 0;
    text += line.text + "\n";
  }
  report::write_whole(options.output, text);
  std::fprintf(options.output == "-" ? stderr : stdout,
               "%s: %zu lines of %zu files, %zu matrices\n", options.output.c_str(), lines.size(),
               options.files.size(), matrices);
  return kOk;
}

}  // namespace

void add_merge(CLI::App& app, Action& action) {
  const auto options = std::make_shared<MergeOptions>();
  CLI::App& command = *app.add_subcommand("merge", "Joins the results of several runs, or shards");
  command.add_option("results", options->files, "files of JSON lines")->required();
  command.add_option("-o,--output", options->output, "the file with the lines of all")->required();
  command.add_flag("--mixed-hardware", options->mixed_hardware,
                   "also where they were measured on different GPUs or processors");
  command.add_flag("--force", options->force, "replace a file that is there already");
  command.callback([options, &action] { action = [options] { return merge(*options); }; });
}

}  // namespace lanky::cli
