#include "cli/fetch_report.hpp"

#include <unistd.h>

#include <cstdio>

#include "cli/quantity_text.hpp"
#include "collection/cache.hpp"

namespace lanky::cli {

namespace {

using collection::Entry;
using collection::FetchProgress;
using collection::FetchResult;
using collection::Outcome;

constexpr int kWidestName = 32;  // of most matrices; longer ones push the row to the right

const char* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::fetched:
      return "fetched";
    case Outcome::there:
      return "there";
    default:
      return "failed";
  }
}

/// Of `results`, how many came to that, and their bytes together.
struct Total {
  std::size_t files = 0;
  std::int64_t bytes = 0;
};

Total total_of(const std::vector<FetchResult>& results, Outcome outcome) {
  Total total;
  for (const FetchResult& result : results) {
    if (result.outcome != outcome) continue;
    ++total.files;
    total.bytes += result.bytes;
  }
  return total;
}

}  // namespace

void print_table(const std::vector<Entry>& entries, const std::filesystem::path& cache) {
  std::printf("%5s  %-*s %10s %10s %12s  %-6s %s\n", "id", kWidestName, "matrix", "rows", "cols",
              "nnz", "cached", "kind");
  for (const Entry& entry : entries) {
    std::printf("%5lld  %-*s %10lld %10lld %12lld  %-6s %s\n", static_cast<long long>(entry.id),
                kWidestName, entry.full_name().c_str(), static_cast<long long>(entry.rows),
                static_cast<long long>(entry.cols), static_cast<long long>(entry.nnz),
                is_cached(entry, cache) ? "yes" : "no", entry.kind.c_str());
  }
}

FetchReport::FetchReport(std::filesystem::path cache)
    : cache_(std::move(cache)), terminal_(isatty(STDERR_FILENO) == 1) {}

double FetchReport::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void FetchReport::clear() const {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void FetchReport::finished(const FetchResult& result) {
  clear();
  const Entry& entry = result.entry;
  if (result.outcome == Outcome::failed) {
    std::printf("%-8s %10s  %s: %s\n", word(result.outcome), "", entry.full_name().c_str(),
                result.failure.c_str());
  } else {
    std::printf("%-8s %10s  %s\n", word(result.outcome), bytes_text(result.bytes).c_str(),
                collection::cache_path(entry, cache_).c_str());
  }
  std::fflush(stdout);
}

void FetchReport::note(const Entry& entry, const std::string& text) {
  clear();
  std::fprintf(stderr, "lanky: %s: %s\n", entry.full_name().c_str(), text.c_str());
}

void FetchReport::progress(const FetchProgress& progress) {
  received_ = progress.received;
  if (!terminal_) return;
  const double rate = static_cast<double>(progress.received) / std::max(seconds(), 1e-3);
  const std::string eta =
      rate > 0 ? clock_text(static_cast<double>(progress.missing) / rate) : "-:--";
  std::fprintf(stderr, "\r\033[K%zu of %zu files, %s, %s/s, ETA %s", progress.done, progress.files,
               bytes_text(progress.received).c_str(),
               bytes_text(static_cast<std::int64_t>(rate)).c_str(), eta.c_str());
}

bool FetchReport::conclude(const std::vector<FetchResult>& results) {
  clear();
  const Total fetched = total_of(results, Outcome::fetched);
  const Total there = total_of(results, Outcome::there);
  const std::size_t failed = results.size() - fetched.files - there.files;
  std::printf("%zu archives: %zu fetched (%s; %s came in %.1f s), %zu there already (%s)",
              results.size(), fetched.files, bytes_text(fetched.bytes).c_str(),
              bytes_text(received_).c_str(), seconds(), there.files,
              bytes_text(there.bytes).c_str());
  std::printf(failed == 0 ? "\n" : ", %zu failed\n", failed);
  std::fflush(stdout);
  for (const FetchResult& result : results) {
    if (result.outcome == Outcome::failed)
      std::fprintf(stderr, "lanky: %s failed: %s\n", result.entry.full_name().c_str(),
                   result.failure.c_str());
  }
  return failed == 0;
}

}  // namespace lanky::cli
