// What `lanky fetch` prints: tables of matrices, a line an archive, progress on a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "collection/fetch.hpp"
#include "collection/index.hpp"

namespace lanky::cli {

/// A table of matrices, on standard output.
void print_table(const std::vector<collection::Entry>& entries, const std::filesystem::path& cache);

class FetchReport : public collection::FetchObserver {
 public:
  explicit FetchReport(std::filesystem::path cache);

  void finished(const collection::FetchResult& result) override;
  void note(const collection::Entry& entry, const std::string& text) override;
  void progress(const collection::FetchProgress& progress) override;
  /// Removes the line of progress.
  void clear() const;
  /// Totals, and why archives failed; true where none did.
  bool conclude(const std::vector<collection::FetchResult>& results);

 private:
  double seconds() const;

  std::filesystem::path cache_;
  bool terminal_;  // standard error is one
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::int64_t received_ = 0;
};

}  // namespace lanky::cli
