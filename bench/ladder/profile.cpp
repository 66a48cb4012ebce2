#include "bench/ladder/profile.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <lanky/error.hpp>
#include <sstream>

#include "core/module_path.hpp"
#include "core/text.hpp"

namespace lanky::ladder {

namespace {

constexpr std::array kMetrics = {"sm__sass_data_bytes_mem_global_op_ld.sum",
                                 "l1tex__m_xbar2l1tex_read_bytes_mem_lg_op_ld.sum",
                                 "dram__bytes_read.sum"};

/// As one word of a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (const char c : line) {
    if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      fields.emplace_back();
    } else if (c != ',') {  // ncu groups digits
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

ReadBytes parse_profile(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::string last;
  std::vector<std::string> names;
  std::vector<std::string> units;
  while (std::getline(lines, line)) {
    if (line.rfind("\"ID\"", 0) == 0) {
      names = fields_of(line);
    } else if (!names.empty() && units.empty()) {
      units = fields_of(line);
    } else if (!names.empty()) {
      const std::vector<std::string> values = fields_of(line);
      std::array<double, kMetrics.size()> counts{};
      std::size_t found = 0;
      for (std::size_t f = 0; f < std::min({names.size(), units.size(), values.size()}); ++f) {
        for (std::size_t i = 0; i < kMetrics.size(); ++i) {
          if (names[f] != kMetrics[i] || units[f] != "byte") continue;
          counts[i] = std::stod(values[f]);
          ++found;
        }
      }
      if (found == kMetrics.size()) return {counts[0], counts[1], counts[2]};
    }
    if (!line.empty()) last = line;
  }
  throw Error(ErrorCode::unsupported,
              concat("ncu counted nothing: ", last.empty() ? "it said nothing" : last));
}

ReadBytes profile_reads(const std::vector<std::string>& arguments) {
  std::string command =
      "ncu --clock-control none --csv --page raw --print-units base --kernel-name "
      "'regex:^(gemm|tsm2|csr|dasp)_' --launch-count 1 --metrics ";
  for (std::size_t i = 0; i < kMetrics.size(); ++i)
    command += concat(i == 0 ? "" : ",", kMetrics[i]);
  command += " " + quoted(program_path().string());
  for (const std::string& argument : arguments)
    command += " " + quoted(argument);
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw Error(ErrorCode::io, "no process can be started");
  std::string text;
  char part[4096];
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, pipe)) > 0;)
    text.append(part, size);
  pclose(pipe);
  return parse_profile(text);
}

}  // namespace lanky::ladder
