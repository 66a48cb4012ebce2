#include "random/report.hpp"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::random_cases {

std::int64_t tell(const Tally& tally, const Options& options, double seconds) {
  std::printf("%-20s %-10s %10s %8s %9s %9s\n", "check", "type", "tried", "failed", "worst",
              "long sums");
  for (const auto& [name, count] : tally) {
    std::printf("%-20s %-10s %10" PRId64 " %8" PRId64 " %9.3g %9.3g%s\n", name.first.c_str(),
                name.second.c_str(), count.tried, count.failed, count.worst, count.worst_long,
                count.worst > 0 ? concat("  case ", count.worst_case).c_str() : "");
  }
  std::int64_t failed = 0;
  for (const auto& [name, count] : tally)
    failed += count.failed;
  std::printf("seed %" PRIu64 ", %.1f s, %" PRId64 " failures\n", options.seed, seconds, failed);
  if (options.json.empty()) return failed;
  std::ofstream file(options.json, std::ios::app);
  for (const auto& [name, count] : tally) {
    file << R"({"kind":"reliability","part":"numbers","check":")" << name.first << R"(","device":")"
         << options.device.name() << R"(","dtype":")" << name.second << R"(","tried":)"
         << count.tried << R"(,"unit":")" << count.unit << R"(","failed":)" << count.failed;
    if (count.worst > 0 && std::isfinite(count.worst))
      file << R"(,"worst":)" << count.worst << R"(,"worst_case":)" << count.worst_case;
    if (count.worst_long > 0 && std::isfinite(count.worst_long))
      file << R"(,"worst_long":)" << count.worst_long;
    file << R"(,"seconds":)" << seconds << R"(,"seed":)" << options.seed << "}\n";
  }
  if (!file.flush()) throw Error(ErrorCode::io, options.json + " cannot be written");
  return failed;
}

}  // namespace lanky::random_cases
