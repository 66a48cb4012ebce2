#include "faults/tally.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

namespace lanky::faults {

namespace {

double now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Sum {
  std::string unit;
  std::int64_t tried = 0;
  std::int64_t failed = 0;
  double seconds = 0;
};

std::map<std::pair<std::string, DeviceKind>, Sum>& sums() {
  static std::map<std::pair<std::string, DeviceKind>, Sum> all;
  return all;
}

}  // namespace

Tally::Tally(std::string check, DeviceKind device, std::string unit)
    : check_(std::move(check)), device_(device), unit_(std::move(unit)), begin_s_(now()) {}

Tally::~Tally() {
  Sum& sum = sums()[{check_, device_}];
  sum.unit = unit_;
  sum.tried += tried_;
  sum.failed += failed_ + tried_ - ended_;
  sum.seconds += now() - begin_s_;
}

void write_tallies() {
  const char* const path = std::getenv("LANKY_FAULTS_JSON");
  if (path == nullptr) return;
  std::FILE* const file = std::fopen(path, "a");
  if (file == nullptr) {
    std::perror(path);
    std::exit(1);
  }
  for (const auto& [key, sum] : sums()) {
    std::fprintf(file,
                 "{\"kind\":\"reliability\",\"part\":\"faults\",\"check\":\"%s\",\"device\":\"%s\","
                 "\"tried\":%lld,\"unit\":\"%s\",\"failed\":%lld,\"seconds\":%.1f}\n",
                 key.first.c_str(), key.second == DeviceKind::cpu ? "cpu" : "cuda:0",
                 static_cast<long long>(sum.tried), sum.unit.c_str(),
                 static_cast<long long>(sum.failed), sum.seconds);
  }
  std::fclose(file);
}

}  // namespace lanky::faults
