// The download of one archive: lock, resume, check, rename; again where something fails.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "collection/job.hpp"
#include "collection/part_file.hpp"
#include "collection/retry.hpp"

namespace lanky::collection {

/// What became of one archive.
enum class Outcome : std::uint8_t { under_way, fetched, there, failed };

struct ArchiveRequest {
  std::string url;
  std::filesystem::path target;
  RetryPolicy retry;
  bool verify = false;          // what is there is read, and held against its record
  std::int64_t most_bytes = 0;  // that the archive may have
  std::string extent;           // which that follows from: "9 entries, 3 rows and 3 columns"
  std::function<bool()> is_there;
  std::function<void(const std::string&)> note;  // "HTTP 503; again in 2.1 s (1 of 5)"
};

class ArchiveDownload final : public Job, public Receiver {
 public:
  ArchiveDownload(Session& session, ArchiveRequest request)
      : session_(session), archive_(std::move(request)), attempts_(archive_.retry) {}

  void advance() override;
  bool done() const override { return outcome_ != Outcome::under_way; }
  bool takes_turn() const override { return state_ != State::locked_out; }

  Outcome outcome() const { return outcome_; }
  /// Why it failed.
  const std::string& failure() const { return failure_; }
  /// Bytes that came over the network, those of attempts that failed included.
  std::int64_t received() const { return received_; }
  /// Of the whole archive; -1 while that is not known.
  std::int64_t total() const { return total_; }
  /// Of the whole archive, so far.
  std::int64_t present() const;

 private:
  enum class State : std::uint8_t {
    waiting,     // for the time of the next attempt
    locked_out,  // another process has the part
    verifying,   // reads what is there
    transfer,    // the archive comes
    md5,         // its published checksum comes
    checking     // reads what came
  };
  /// Of a file that was read.
  struct Checked {
    std::string md5;
    std::string gzip_fault;
  };

  bool begin(const Reply& reply) override;
  bool take(std::string_view bytes) override;
  void end(const Reply& reply) override;

  void start_attempt();
  void finish(Outcome outcome);
  void fail(const std::string& why);
  void retry(const std::string& why, std::int64_t retry_after = 0);
  bool lock();

  void start_verifying();
  void end_verifying();

  void start_transfer();
  bool fits_part(const Reply& reply) const;
  bool take_archive(std::string_view bytes);
  bool take_md5(std::string_view bytes);
  std::string most_text() const;
  void end_transfer(const Reply& reply);
  void start_md5();
  void end_md5(const Reply& reply);
  void start_checking();
  void end_checking();
  void publish(const Checked& checked);
  bool is_read() const;

  Session& session_;
  ArchiveRequest archive_;
  Attempts attempts_;
  State state_ = State::waiting;
  Outcome outcome_ = Outcome::under_way;
  std::string failure_;
  std::optional<PartFile> part_;
  Request request_;       // the one under way
  bool misfit_ = false;   // the server sent another range than was asked for
  bool surplus_ = false;  // the server sends more than it announced
  std::string refusal_;   // why the archive cannot be what the server sends, "" where it can
  bool damaged_ = false;  // what is there was read, and is wrong
  std::string md5_text_;
  std::string published_md5_;  // "" where the server has none
  std::int64_t received_ = 0;
  std::int64_t total_ = -1;
  std::int64_t furthest_ = 0;
  std::future<Checked> read_;
};

}  // namespace lanky::collection
