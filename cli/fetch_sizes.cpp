#include "cli/fetch_sizes.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <lanky/error.hpp>
#include <limits>
#include <numeric>

#include "cli/quantity_text.hpp"
#include "collection/cache.hpp"
#include "collection/sizes.hpp"

namespace lanky::cli {

namespace {

namespace fs = std::filesystem;
using collection::Entry;

constexpr std::size_t kStep = 64;  // entries whose sizes are asked for together

/// On a terminal; where `of` is 0 the line goes.
void print_asked(std::size_t answers, std::size_t of) {
  if (isatty(STDERR_FILENO) != 1) return;
  std::fputs("\r\033[K", stderr);
  if (of > 0) std::fprintf(stderr, "%zu of %zu sizes", answers, of);
}

/// The server's answers; -1 where it tells nothing. Once there is a reason `why`, it is not asked.
std::vector<std::int64_t> ask(const std::vector<Entry>& entries, const collection::Site& site,
                              std::string& why) {
  std::vector<std::int64_t> bytes(entries.size(), -1);
  if (!why.empty()) return bytes;
  try {
    bytes = collection::ask_bytes(entries, site, print_asked);
  } catch (const Error& error) {
    why = error.what();
  }
  print_asked(0, 0);
  return bytes;
}

void append(Sizes& sizes, const std::vector<Entry>& entries, const fs::path& cache,
            const collection::Site& site) {
  std::vector<Entry> missing = entries;
  std::erase_if(missing, [&](const Entry& entry) { return is_cached(entry, cache); });
  const std::vector<std::int64_t> told = ask(missing, site, sizes.why);
  std::size_t next = 0;
  for (const Entry& entry : entries) {
    const bool is_missing = next < missing.size() && missing[next].id == entry.id;
    const std::int64_t bytes = is_missing ? told[next++] : 0;
    sizes.estimated.push_back(bytes < 0);
    sizes.bytes.push_back(bytes < 0 ? collection::estimated_bytes(entry) : bytes);
  }
}

/// The largest number where they come to more, as sizes of a hostile server or index may.
std::int64_t sum_of(const std::vector<std::int64_t>& bytes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return std::accumulate(
      bytes.begin(), bytes.end(), std::int64_t{0},
      [](std::int64_t sum, std::int64_t next) { return sum > kMost - next ? kMost : sum + next; });
}

/// Drops the last ones until the rest fits.
void shorten(Sizes& sizes, double most) {
  while (!sizes.bytes.empty() && static_cast<double>(sum_of(sizes.bytes)) > most) {
    sizes.bytes.pop_back();
    sizes.estimated.pop_back();
  }
}

}  // namespace

Sizes sizes_within(double most, const std::vector<Entry>& entries, const fs::path& cache,
                   const collection::Site& site) {
  Sizes sizes;
  while (sizes.bytes.size() < entries.size() && static_cast<double>(sum_of(sizes.bytes)) <= most) {
    const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(sizes.bytes.size());
    const std::size_t left = entries.size() - sizes.bytes.size();
    append(sizes, {begin, begin + static_cast<std::ptrdiff_t>(std::min(kStep, left))}, cache, site);
  }
  shorten(sizes, most);
  return sizes;
}

void print_sizes(const std::vector<Entry>& entries, const Sizes& sizes, const fs::path& cache) {
  std::size_t there = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool cached = is_cached(entries[i], cache);
    const std::string bytes = (sizes.estimated[i] ? "about " : "") + bytes_text(sizes.bytes[i]);
    std::printf("%-8s %14s  %s\n", cached ? "there" : "to fetch", cached ? "" : bytes.c_str(),
                entries[i].full_name().c_str());
    there += cached ? 1 : 0;
  }
  const auto estimated = std::count(sizes.estimated.begin(), sizes.estimated.end(), true);
  std::printf("%zu archives: %zu there, %zu to fetch, %s%s\n", entries.size(), there,
              entries.size() - there, estimated > 0 ? "about " : "",
              bytes_text(sum_of(sizes.bytes)).c_str());
  if (estimated > 0)
    std::printf("%td of these sizes estimated from nnz%s%s\n", estimated,
                sizes.why.empty() ? "" : ": ", sizes.why.c_str());
}

}  // namespace lanky::cli
