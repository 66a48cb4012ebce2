// How many bytes archives have: as the server says, or as nnz lets guess.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collection/index.hpp"
#include "collection/site.hpp"

namespace lanky::collection {

/// From the entries, what they are and whether a triangle is stored: right within a factor of two
/// or so.
std::int64_t estimated_bytes(const Entry& entry);

/// The most that an archive may have, so that a server does not fill the disk: the text of all
/// entries in their longest form, not compressed, and of what goes with them.
std::int64_t most_bytes(const Entry& entry);

/// As the server says, in the order of `entries`; -1 where it does not tell. `tick` gets the
/// numbers of answers so far and of entries. Error(unsupported) without libcurl, Error(io) without
/// a network.
std::vector<std::int64_t> ask_bytes(const std::vector<Entry>& entries, const Site& site,
                                    const std::function<void(std::size_t, std::size_t)>& tick);

}  // namespace lanky::collection
