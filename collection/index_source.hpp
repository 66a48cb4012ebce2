// The index, from where the user says or from the site; the one in the cache is kept fresh.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "collection/index.hpp"
#include "collection/site.hpp"

namespace lanky::collection {

/// `source`: a file; an address; "" for the site's own. What comes over the network is kept in the
/// cache and used for 30 days; where it cannot be had anew after that, the old one is taken and
/// `warn` is called. Error(parse), Error(io), Error(unsupported) where there is none at all.
Index obtain_index(const std::string& source, const std::filesystem::path& folder, const Site& site,
                   const std::function<void(const std::string&)>& warn);

}  // namespace lanky::collection
