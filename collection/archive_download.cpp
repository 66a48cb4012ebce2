#include "collection/archive_download.hpp"

#include <algorithm>
#include <charconv>
#include <lanky/error.hpp>

#include "collection/gzip_check.hpp"
#include "collection/spelling.hpp"
#include "core/text.hpp"

namespace lanky::collection {

namespace {

constexpr double kLockPause = 0.2;          // seconds between looks at another process's lock
constexpr std::size_t kMostMd5Text = 4096;  // bytes; md5sum writes 32 digits and a file's name

/// What "bytes 100-199/1000" says; -1 where it says nothing.
struct ContentRange {
  std::int64_t first = -1;
  std::int64_t total = -1;
};

ContentRange parse_content_range(const std::string& text) {
  ContentRange range;
  const auto number = [&](std::size_t begin, std::int64_t& value) {
    std::from_chars(text.data() + begin, text.data() + text.size(), value);
  };
  if (text.starts_with("bytes ")) number(6, range.first);
  if (const std::size_t slash = text.find('/'); slash != std::string::npos)
    number(slash + 1, range.total);
  return range;
}

/// The first 32 hexadecimal digits that stand alone, as md5sum and others write them; "" of other
/// texts, such as the page that some servers send instead of a 404.
std::string parse_md5(std::string_view text) {
  constexpr std::size_t kDigits = 32;
  const std::string lower = lowered(text);
  constexpr const char* kHexadecimal = "0123456789abcdef";
  for (std::size_t end = 0; end < lower.size();) {
    const std::size_t begin = lower.find_first_not_of(" \t\r\n=()*", end);
    if (begin == std::string::npos) break;
    end = std::min(lower.find_first_of(" \t\r\n=()*", begin), lower.size());
    std::string word = lower.substr(begin, end - begin);
    if (word.size() == kDigits && word.find_first_not_of(kHexadecimal) == std::string::npos)
      return word;
  }
  return "";
}

}  // namespace

void ArchiveDownload::advance() {
  if (done()) return;
  switch (state_) {
    case State::waiting:
    case State::locked_out:
      if (attempts_.due()) start_attempt();
      return;
    case State::verifying:
      if (is_read()) end_verifying();
      return;
    case State::checking:
      if (is_read()) end_checking();
      return;
    case State::transfer:
    case State::md5:
      return;  // the network calls
  }
}

void ArchiveDownload::start_attempt() {
  if (!damaged_ && archive_.is_there()) {
    if (archive_.verify) return start_verifying();
    return finish(Outcome::there);
  }
  if (!part_ && !lock()) return;
  // It may have come while the other process had the lock.
  if (!damaged_ && archive_.is_there()) return finish(Outcome::there);
  if (part_->whole()) return start_md5();
  start_transfer();
}

bool ArchiveDownload::lock() {
  part_ = PartFile::lock(archive_.target);
  if (!part_) {
    if (state_ != State::locked_out) archive_.note("another process fetches it; waiting");
    state_ = State::locked_out;
    attempts_.postpone(kLockPause);
    return false;
  }
  state_ = State::waiting;
  if (part_->origin().url != archive_.url && part_->size() > 0) part_->restart({});
  furthest_ = part_->size();
  return true;
}

std::int64_t ArchiveDownload::present() const {
  return part_ ? part_->size() : outcome_ == Outcome::fetched ? total_ : 0;
}

void ArchiveDownload::finish(Outcome outcome) {
  if (part_ && outcome == Outcome::there) part_->discard();
  part_.reset();
  outcome_ = outcome;
}

void ArchiveDownload::fail(const std::string& why) {
  failure_ = why;
  finish(Outcome::failed);
}

void ArchiveDownload::retry(const std::string& why, std::int64_t retry_after) {
  if (part_->size() > furthest_) attempts_.reset();
  furthest_ = std::max(furthest_, part_->size());
  if (!attempts_.again(retry_after)) return fail(why);
  archive_.note(why + "; " + attempts_.announcement());
  state_ = State::waiting;
}

void ArchiveDownload::start_verifying() {
  state_ = State::verifying;
  const std::optional<Origin> origin = read_origin(archive_.target);
  const bool recorded = origin && !origin->md5.empty();
  read_ = std::async(std::launch::async, [this, recorded]() -> Checked {
    if (recorded) return {session_.network().md5(archive_.target.string()), ""};
    return {"", fault_of_gzip(archive_.target)};
  });
}

void ArchiveDownload::end_verifying() {
  const Checked checked = read_.get();
  const std::optional<Origin> origin = read_origin(archive_.target);
  const bool same = checked.md5.empty() || (origin && origin->md5 == checked.md5);
  if (same && checked.gzip_fault.empty()) return finish(Outcome::there);
  damaged_ = true;
  archive_.note("what is there is damaged; fetching it again");
  state_ = State::waiting;
}

void ArchiveDownload::start_transfer() {
  state_ = State::transfer;
  misfit_ = surplus_ = false;
  request_ = {archive_.url, {}};
  const std::string validator = part_->origin().validator();
  if (part_->size() > 0 && validator.empty()) part_->restart({});
  if (part_->size() > 0) {
    request_.headers = {concat("Range: bytes=", part_->size(), "-"), "If-Range: " + validator};
  }
  session_.start(request_, *this);
}

bool ArchiveDownload::begin(const Reply& reply) {
  if (judge(reply) != Verdict::good) return false;
  if (state_ == State::md5) return true;
  if (reply.status == 206) {
    misfit_ = !fits_part(reply);
    return !misfit_;
  }
  if (reply.content_length > archive_.most_bytes) {
    refusal_ = concat("the server announces ", reply.content_length, " bytes, but ",
                      archive_.most_bytes, " are ", most_text());
    return false;
  }
  total_ = reply.content_length;
  part_->restart({archive_.url, reply.header("etag"), reply.header("last-modified"), "", "",
                  reply.content_length});
  return true;
}

/// A part of the very file that the bytes before it are of.
bool ArchiveDownload::fits_part(const Reply& reply) const {
  const ContentRange range = parse_content_range(reply.header("content-range"));
  const Origin& origin = part_->origin();
  const std::string etag = reply.header("etag");
  return !request_.headers.empty() && range.first == part_->size() &&
         (origin.bytes < 0 || range.total < 0 || range.total == origin.bytes) &&
         (origin.etag.empty() || etag.empty() || etag == origin.etag);
}

std::string ArchiveDownload::most_text() const {
  return "the most that the archive of " + archive_.extent + " may have";
}

bool ArchiveDownload::take(std::string_view bytes) {
  received_ += static_cast<std::int64_t>(bytes.size());
  return state_ == State::transfer ? take_archive(bytes) : take_md5(bytes);
}

bool ArchiveDownload::take_archive(std::string_view bytes) {
  const std::int64_t so_far = part_->size() + static_cast<std::int64_t>(bytes.size());
  const std::int64_t announced = part_->origin().bytes;
  surplus_ = announced >= 0 && so_far > announced;
  if (so_far > archive_.most_bytes)
    refusal_ = concat("more than ", archive_.most_bytes, " bytes came, ", most_text());
  if (surplus_ || !refusal_.empty()) return false;
  part_->append(bytes);
  return true;
}

/// A text that is too long is dropped.
bool ArchiveDownload::take_md5(std::string_view bytes) {
  md5_text_.append(bytes);
  if (md5_text_.size() <= kMostMd5Text) return true;
  archive_.note(concat(request_.url, " has more than ", kMostMd5Text,
                       " bytes, and is no checksum; the archive is held against its own"));
  md5_text_.clear();
  return false;
}

void ArchiveDownload::end(const Reply& reply) {
  session_.see(request_, reply);
  if (state_ == State::md5) return end_md5(reply);
  end_transfer(reply);
}

void ArchiveDownload::end_transfer(const Reply& reply) {
  if (misfit_ || (reply.fault == Fault::none && reply.status == 416)) {
    part_->restart({});
    return retry("the server has other bytes than those that came before");
  }
  if (!refusal_.empty()) {
    part_->restart({});
    return fail(refusal_ + ": " + archive_.url);
  }
  const std::int64_t announced = part_->origin().bytes;
  if (surplus_ || (announced >= 0 && part_->size() > announced)) {
    part_->restart({});
    return retry(concat("more than the ", announced, " bytes came that the server announced"));
  }
  const Verdict verdict = judge(reply);
  if (verdict == Verdict::hopeless) return fail(reason(reply) + ": " + archive_.url);
  if (verdict == Verdict::retry) return retry(reason(reply), reply.retry_after);
  if (part_->size() < announced) return retry(concat(part_->size(), " bytes came of ", announced));
  start_md5();
}

void ArchiveDownload::start_md5() {
  state_ = State::md5;
  total_ = part_->size();
  md5_text_.clear();
  request_ = {archive_.url + ".md5", {}};
  session_.start(request_, *this);
}

void ArchiveDownload::end_md5(const Reply& reply) {
  const Verdict verdict = judge(reply);
  if (verdict == Verdict::retry) return retry("checksum: " + reason(reply), reply.retry_after);
  published_md5_ = verdict == Verdict::good ? parse_md5(md5_text_) : "";
  start_checking();
}

void ArchiveDownload::start_checking() {
  state_ = State::checking;
  read_ = std::async(std::launch::async, [this]() -> Checked {
    part_->sync();
    return {session_.network().md5(part_->path().string()),
            published_md5_.empty() ? fault_of_gzip(part_->path()) : ""};
  });
}

void ArchiveDownload::end_checking() {
  const Checked checked = read_.get();
  if (!published_md5_.empty() && checked.md5 != published_md5_) {
    part_->restart({});
    return retry(
        concat("wrong checksum: MD5 ", checked.md5, ", the server's .md5 says ", published_md5_));
  }
  if (!checked.gzip_fault.empty()) {
    part_->restart({});
    return retry("what came " + checked.gzip_fault);
  }
  publish(checked);
}

void ArchiveDownload::publish(const Checked& checked) {
  Origin origin = part_->origin();
  origin.bytes = part_->size();
  origin.md5 = checked.md5;
  origin.checked = published_md5_.empty() ? "gzip" : "md5";
  part_->publish(origin);
  finish(Outcome::fetched);
}

bool ArchiveDownload::is_read() const {
  return read_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace lanky::collection
