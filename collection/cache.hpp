// Where fetched files stand: FOLDER/suitesparse/ssstats.csv, FOLDER/suitesparse/GROUP/NAME.tar.gz.
#pragma once

#include <filesystem>

#include "collection/index.hpp"

namespace lanky::collection {

/// $LANKY_CACHE, else $XDG_CACHE_HOME/lanky, else ~/.cache/lanky. Error(io) where no variable is
/// set.
std::filesystem::path cache_folder();

/// The index as `lanky fetch` keeps it.
std::filesystem::path index_path(const std::filesystem::path& folder = cache_folder());

/// The archive of a matrix, there or not.
std::filesystem::path cache_path(const Entry& entry,
                                 const std::filesystem::path& folder = cache_folder());

/// True where the archive is there, of the size that was recorded when it was fetched. One that
/// came in another way, without a record, is taken as it is.
bool is_cached(const Entry& entry, const std::filesystem::path& folder = cache_folder());

}  // namespace lanky::collection
