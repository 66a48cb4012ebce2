#include "collection/index_source.hpp"

#include <chrono>
#include <lanky/error.hpp>

#include "collection/cache.hpp"
#include "collection/origin.hpp"
#include "collection/small_request.hpp"
#include "collection/text_file.hpp"
#include "core/text.hpp"

namespace lanky::collection {

namespace {

namespace fs = std::filesystem;

constexpr int kDaysFresh = 30;

std::string fetch_text(const std::string& url, const Site& site) {
  std::vector<std::unique_ptr<Job>> jobs;
  const std::unique_ptr<Network> network = make_network();  // ends before what it calls
  Session session(*network, site.stall_seconds);
  auto request = std::make_unique<SmallRequest>(session, Request{url, {}}, site.retry);
  const SmallRequest& index = *request;
  jobs.push_back(std::move(request));
  run_jobs(*network, jobs, site.connections, [] {});
  if (judge(index.reply()) != Verdict::good)
    throw Error(ErrorCode::io, concat("cannot fetch the index ", url, ": ", reason(index.reply())));
  return index.body();
}

/// Keeps nothing that is no index.
Index fetch_index(const std::string& url, const fs::path& path, const Site& site) {
  const std::string text = fetch_text(url, site);
  Index index = parse_index(text, url);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    throw Error(ErrorCode::io, concat("cannot create the folder ", path.parent_path().string(),
                                      ": ", error.message()));
  write_text(path, text);
  Origin origin;
  origin.url = url;
  origin.bytes = static_cast<std::int64_t>(text.size());
  write_origin(path, origin);
  return index;
}

/// The index at `path` is that of `url`.
bool is_of(const fs::path& path, const std::string& url) {
  std::error_code ignored;
  const std::optional<Origin> origin = read_origin(path);
  return is_regular_file(path, ignored) && (!origin || origin->url == url);
}

bool is_fresh(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - written < std::chrono::hours(24 * kDaysFresh);
}

}  // namespace

Index obtain_index(const std::string& source, const fs::path& folder, const Site& site,
                   const std::function<void(const std::string&)>& warn) {
  if (!source.empty() && source.find("://") == std::string::npos) return read_index(source);
  const std::string url = source.empty() ? site.index_url() : source;
  const fs::path path = index_path(folder);
  const bool known = is_of(path, url);
  if (known && is_fresh(path)) return read_index(path);
  try {
    return fetch_index(url, path, site);
  } catch (const Error& error) {
    if (!known) throw;
    warn(concat("the index is more than ", kDaysFresh, " days old and could not be fetched anew (",
                error.what(), "); the old one is used"));
    return read_index(path);
  }
}

}  // namespace lanky::collection
