// How much `lanky fetch` would fetch: as the server says, else as estimated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "collection/index.hpp"
#include "collection/site.hpp"

namespace lanky::cli {

/// Of archives, in the order of their entries.
struct Sizes {
  std::vector<std::int64_t> bytes;  // still to fetch: 0 of those in the cache
  std::vector<bool> estimated;
  std::string why;  // no server was asked: why
};

/// Of the first entries, as many as take at most so many bytes together.
Sizes sizes_within(double most, const std::vector<collection::Entry>& entries,
                   const std::filesystem::path& cache, const collection::Site& site);

/// A line an archive and the total, on standard output.
void print_sizes(const std::vector<collection::Entry>& entries, const Sizes& sizes,
                 const std::filesystem::path& cache);

}  // namespace lanky::cli
