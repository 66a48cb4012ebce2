#include "collection/sizes.hpp"

#include <algorithm>

#include "collection/small_request.hpp"

namespace lanky::collection {

namespace {

// Bytes of `xz -dc FILE | gzip -6` over entries stored, of the 22 files under matrices/: median 2.7
// (2.4 to 3.5) of patterns, 6.5 (3.3 to 11.0) of real ones. Complex ones have two numbers.
constexpr double kPatternBytes = 2.7;
constexpr double kRealBytes = 6.5;
constexpr double kComplexBytes = 11;

// Bytes of the text of an entry, at most: two indices of 10 digits, a real and an imaginary part of
// 25 characters ("-1.2345678901234567e-300"), blanks and a newline make 75.
constexpr double kMostOfAnEntry = 80;
// Beside a matrix stand right-hand sides, coordinates and names of its rows and columns: 32 numbers
// of 32 characters for each of them.
constexpr double kMostOfARow = 1024;
// Whatever else: comments, and files that do not grow with the matrix.
constexpr double kMostBeside = 1 << 26;
// Which an index of nonsense may reach.
constexpr double kMostOfAll = 1e18;

std::int64_t content_length(const SmallRequest& request) {
  return judge(request.reply()) == Verdict::good ? request.reply().content_length : -1;
}

}  // namespace

std::int64_t estimated_bytes(const Entry& entry) {
  const double bytes = entry.binary ? kPatternBytes : entry.real ? kRealBytes : kComplexBytes;
  const bool triangle = entry.rows == entry.cols && entry.nsym == 1;
  return static_cast<std::int64_t>(
      std::min(static_cast<double>(entry.entries) * bytes * (triangle ? 0.5 : 1), kMostOfAll));
}

std::int64_t most_bytes(const Entry& entry) {
  const double bytes =
      kMostBeside + kMostOfAnEntry * static_cast<double>(std::max(entry.nnz, entry.entries)) +
      kMostOfARow * (static_cast<double>(entry.rows) + static_cast<double>(entry.cols));
  return static_cast<std::int64_t>(std::min(bytes, kMostOfAll));
}

std::vector<std::int64_t> ask_bytes(const std::vector<Entry>& entries, const Site& site,
                                    const std::function<void(std::size_t, std::size_t)>& tick) {
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<const SmallRequest*> requests;
  const std::unique_ptr<Network> network = make_network();  // ends before what it calls
  Session session(*network, site.stall_seconds);
  for (const Entry& entry : entries) {
    auto request = std::make_unique<SmallRequest>(
        session, Request{site.archive_url(entry), {}, true}, site.retry);
    requests.push_back(request.get());
    jobs.push_back(std::move(request));
  }
  run_jobs(*network, jobs, site.connections, [&] {
    const auto answers =
        std::count_if(requests.begin(), requests.end(), [](auto* r) { return r->done(); });
    tick(static_cast<std::size_t>(answers), requests.size());
  });
  std::vector<std::int64_t> bytes;
  bytes.reserve(requests.size());
  for (const SmallRequest* request : requests)
    bytes.push_back(content_length(*request));
  return bytes;
}

}  // namespace lanky::collection
