// Fetches the archives of matrices into the cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "collection/archive_download.hpp"
#include "collection/index.hpp"
#include "collection/site.hpp"

namespace lanky::collection {

struct FetchResult {
  Entry entry;
  Outcome outcome;
  std::string failure;  // why it failed
  std::int64_t bytes;   // of the archive; -1 where it failed
};

/// All of a run, as of now.
struct FetchProgress {
  std::size_t files = 0;
  std::size_t done = 0;
  std::int64_t received = 0;  // over the network
  std::int64_t missing = 0;   // still to come; of archives that were not asked for an estimate
};

/// Whom a run tells how it goes.
class FetchObserver {
 public:
  virtual ~FetchObserver() = default;
  virtual void finished(const FetchResult& result) = 0;
  /// Something that did not end the archive: a retry, a wait.
  virtual void note(const Entry& entry, const std::string& text) = 0;
  /// Several times a second.
  virtual void progress(const FetchProgress& progress) = 0;
};

/// Archives that are there are passed over; with `verify` they are read, and fetched again where
/// they are damaged. Archives that fail are in the results, in the order of `entries`.
/// Error(unsupported) where libcurl is needed and missing; Error(io) without a network, or where
/// the cache cannot be written (a full disk): what came stays for the next run.
std::vector<FetchResult> fetch(const std::vector<Entry>& entries,
                               const std::filesystem::path& folder, const Site& site, bool verify,
                               FetchObserver& observer);

}  // namespace lanky::collection
