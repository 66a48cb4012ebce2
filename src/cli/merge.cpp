// lanky merge: the results of several runs, such as the shards of one, in one file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <lanky/error.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
};

/// One line of results, and where it stands.
struct Line {
  std::string place;  // "FILE:LINE"
  Json json;
};

/// The lines of a file; what a killed run tore at its end is passed over.
void read_lines(const std::string& path, std::vector<Line>& lines) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::io, path + ": cannot be read");
  std::int64_t number = 0;
  for (std::string text; std::getline(file, text);) {
    const bool torn = file.eof();
    const std::string place = path + ":" + std::to_string(++number);
    Json json = Json::parse(text, nullptr, false);
    if (json.is_object() && json.contains("kind")) {
      lines.push_back({place, std::move(json)});
    } else if (!torn) {
      throw Error(ErrorCode::parse, place + ": is no line of results");
    }
  }
  if (number == 0) throw Error(ErrorCode::parse, path + ": is empty");
}

/// What an env line was measured on.
std::string hardware(const Json& env) {
  std::string gpu = env.value("gpu", "");
  if (!gpu.empty()) return gpu;
  return env.value("cpu", "") + " with " + std::to_string(env.value("threads", 0)) + " threads";
}

void check_hardware(const std::vector<Line>& lines) {
  const Line* first = nullptr;
  for (const Line& line : lines) {
    if (line.json["kind"] != "env") continue;
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
  if (!options.mixed_hardware) check_hardware(lines);
  std::string text;
  std::size_t matrices = 0;
  for (const Line& line : lines) {
    matrices += line.json["kind"] == "matrix" ? 1 : 0;
    text += line.json.dump() + "\n";
  }
  report::write_whole(options.output, text);
  std::printf("%s: %zu lines of %zu files, %zu matrices\n", options.output.c_str(), lines.size(),
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
  command.callback([options, &action] { action = [options] { return merge(*options); }; });
}

}  // namespace lanky::cli
