#include "collection/fetch.hpp"

#include "collection/cache.hpp"
#include "collection/sizes.hpp"
#include "core/text.hpp"

namespace lanky::collection {

namespace {

namespace fs = std::filesystem;

/// The archives of one run, and what the observer knows of them.
class Run {
 public:
  Run(const std::vector<Entry>& entries, fs::path folder, FetchObserver& observer)
      : entries_(entries),
        folder_(std::move(folder)),
        observer_(observer),
        told_(entries.size(), false) {}

  void add_jobs(Session& session, const Site& site, bool verify) {
    for (const Entry& entry : entries_) {
      ArchiveRequest request{
          site.archive_url(entry),
          cache_path(entry, folder_),
          site.retry,
          verify,
          most_bytes(entry),
          concat(entry.entries, " entries, ", entry.rows, " rows and ", entry.cols, " columns"),
          [this, &entry] { return is_cached(entry, folder_); },
          [this, &entry](const std::string& text) { observer_.note(entry, text); }};
      auto download = std::make_unique<ArchiveDownload>(session, std::move(request));
      downloads_.push_back(download.get());
      jobs_.push_back(std::move(download));
    }
  }

  const std::vector<std::unique_ptr<Job>>& jobs() const { return jobs_; }

  void tell() {
    FetchProgress progress{entries_.size()};
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const ArchiveDownload& download = *downloads_[i];
      progress.received += download.received();
      progress.done += download.done() ? 1 : 0;
      if (!download.done()) progress.missing += missing(i);
      if (download.done() && !told_[i]) observer_.finished(result(i));
      told_[i] = download.done();
    }
    observer_.progress(progress);
  }

  std::vector<FetchResult> results() const {
    std::vector<FetchResult> all;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      all.push_back(result(i));
    return all;
  }

 private:
  std::int64_t missing(std::size_t i) const {
    const std::int64_t total = downloads_[i]->total();
    return std::max<std::int64_t>(
        0, (total < 0 ? estimated_bytes(entries_[i]) : total) - downloads_[i]->present());
  }

  FetchResult result(std::size_t i) const {
    const ArchiveDownload& download = *downloads_[i];
    std::error_code ignored;
    const bool failed = download.outcome() == Outcome::failed;
    return {entries_[i], download.outcome(), download.failure(),
            failed ? -1
                   : static_cast<std::int64_t>(
                         fs::file_size(cache_path(entries_[i], folder_), ignored))};
  }

  const std::vector<Entry>& entries_;
  fs::path folder_;
  FetchObserver& observer_;
  std::vector<bool> told_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<const ArchiveDownload*> downloads_;
};

}  // namespace

std::vector<FetchResult> fetch(const std::vector<Entry>& entries, const fs::path& folder,
                               const Site& site, bool verify, FetchObserver& observer) {
  Run run(entries, folder, observer);
  const std::unique_ptr<Network> network = make_network();  // ends before what it calls
  Session session(*network, site.stall_seconds);
  run.add_jobs(session, site, verify);
  run_jobs(*network, run.jobs(), site.connections, [&] { run.tell(); });
  return run.results();
}

}  // namespace lanky::collection
