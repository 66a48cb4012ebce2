// The entries of a coordinate file, read by a team of threads. Each takes the next block of the
// text, parses it as if it were the first, and hands in what it found; in the order of the file
// that is then held against what stands before it. A block that cannot be right is parsed once
// more with line numbers and counts as they are, which finds the first fault of the file.
#pragma once

#include <condition_variable>
#include <exception>
#include <lanky/error.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "io/block_parser.hpp"

namespace lanky::inline v1::io {

template <class V>
class CoordinateReader {
 public:
  /// `cursor` stands in the size line, `lines` gives what follows the cursor's block.
  CoordinateReader(TextCursor& cursor, LineBlocks& lines, const Header& header, bool keep_lines)
      : lines_(lines),
        header_(header),
        buckets_(header.rows),
        parser_(lines.name(), header),
        keep_lines_(keep_lines),
        rest_of_first_(cursor.take_rest_of_block()) {
    progress_.lines = cursor.line();
  }

  /// In the order of the file. Throws the first fault of the file.
  std::vector<EntryBlock<V>> read_all(int threads) {
    ahead_ = 2 * threads;
#pragma omp parallel num_threads(threads)
    work();
    buffers_.clear();
    if (failure_) std::rethrow_exception(failure_);
    if (progress_.entries < header_.stored_entries) {
      TextCursor end(lines_.name(), {}, progress_.lines);
      end.next_line();
      EntryParser<V>(header_).fail_too_few(end, progress_.entries);
    }
    return std::move(blocks_);
  }

  /// The line of the last entry, where it lacks its newline; else 0.
  std::int64_t open_end() const noexcept {
    return progress_.open_end;
  }
  /// Of a symmetric file that was read, whether it holds the lower triangle.
  bool lower() const noexcept {
    return progress_.triangle.lower;
  }

 private:
  struct Piece {
    std::int64_t number = 0;
    TextBlock block;
    Progress progress;  // from the beginning of the piece
    std::optional<EntryBlock<V>> entries;
    bool faulty = false;
    std::exception_ptr failure;  // no fault of the text: it cannot be read, or memory is short
  };

  void work() noexcept {
    try {
      EntryList<V> list(header_, keep_lines_);
      while (std::unique_ptr<Piece> piece = take()) {
        parse(*piece, list);
        hand_in(std::move(piece));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      stop(std::current_exception());
    }
  }

  /// The next piece of the text; null at its end, or when somebody stopped.
  std::unique_ptr<Piece> take() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return at_end_ || taken_ < accepted_ + ahead_; });
    if (at_end_) return nullptr;
    auto piece = std::make_unique<Piece>();
    piece->block = std::exchange(rest_of_first_, {});
    if (piece->block.size == 0) take_block(*piece);
    at_end_ = piece->block.size == 0;
    if (at_end_ && !piece->failure) return nullptr;
    piece->number = taken_++;
    return piece;
  }

  void take_block(Piece& piece) {
    if (!buffers_.empty()) {
      piece.block.buffer = std::move(buffers_.back());
      buffers_.pop_back();
    }
    try {
      lines_.take(piece.block);
    } catch (...) {
      piece.failure = std::current_exception();
    }
  }

  void parse(Piece& piece, EntryList<V>& list) const {
    if (piece.failure) return;
    list.clear();
    try {
      parse_text(piece, piece.progress, list);
      piece.entries.emplace(list, buckets_);
    } catch (const Error& error) {
      piece.faulty = error.code() == ErrorCode::parse;
      if (!piece.faulty) piece.failure = std::current_exception();
    } catch (...) {
      piece.failure = std::current_exception();
    }
  }

  void parse_text(Piece& piece, Progress& progress, EntryList<V>& list) const {
    piece.block.given = 0;
    for (std::string_view text; !(text = lines_.read(piece.block)).empty();)
      parser_.parse(text, progress, list);
  }

  /// Accepts all that now follow one another.
  void hand_in(std::unique_ptr<Piece> piece) {
    const std::lock_guard lock(mutex_);
    const std::int64_t number = piece->number;
    waiting_.emplace(number, std::move(piece));
    for (auto next = waiting_.begin(); next != waiting_.end() && next->first == accepted_;
         next = waiting_.erase(next), ++accepted_) {
      if (!failure_) accept(*next->second);
    }
    room_.notify_all();
  }

  void accept(Piece& piece) {
    if (piece.failure) return stop(piece.failure);
    if (!follows(piece)) return stop(fault_in(piece));
    piece.entries->lines_before = progress_.lines;
    blocks_.push_back(std::move(*piece.entries));
    if (piece.progress.open_end > 0) progress_.open_end = progress_.lines + piece.progress.open_end;
    progress_.lines += piece.progress.lines;
    progress_.entries += piece.progress.entries;
    Triangle triangle = piece.progress.triangle;
    if (progress_.triangle.line == 0 && triangle.line != 0) {
      progress_.triangle = {triangle.line + blocks_.back().lines_before, triangle.lower};
    }
    if (!piece.block.buffer.empty()) buffers_.push_back(std::move(piece.block.buffer));
  }

  /// Whether a piece is without fault where it stands in the file.
  bool follows(const Piece& piece) const {
    const Triangle& before = progress_.triangle;
    const Triangle& here = piece.progress.triangle;
    const bool one_triangle = before.line == 0 || here.line == 0 || before.lower == here.lower;
    return !piece.faulty && one_triangle &&
           progress_.entries + piece.progress.entries <= header_.stored_entries;
  }

  /// What is wrong with a piece that does not follow.
  std::exception_ptr fault_in(Piece& piece) const {
    try {
      Progress progress = progress_;
      EntryList<V> list(header_, false);
      parse_text(piece, progress, list);
      throw Error(ErrorCode::parse, concat(lines_.name(), ":", progress_.lines + 1,
                                           ":1: a fault in the lines from here on was found, and "
                                           "not found again; did the file change?"));
    } catch (...) {
      return std::current_exception();
    }
  }

  void stop(std::exception_ptr failure) {
    if (!failure_) failure_ = std::move(failure);
    at_end_ = true;
    room_.notify_all();
  }

  LineBlocks& lines_;
  const Header& header_;
  RowBuckets buckets_;
  BlockParser<V> parser_;
  bool keep_lines_;
  std::int64_t ahead_ = 1;  // pieces that may be under way at once

  std::mutex mutex_;  // for all that follows
  std::condition_variable room_;
  TextBlock rest_of_first_;
  std::int64_t taken_ = 0;
  std::int64_t accepted_ = 0;
  bool at_end_ = false;
  std::map<std::int64_t, std::unique_ptr<Piece>> waiting_;  // parsed before one ahead of them
  std::vector<std::vector<char>> buffers_;                  // to be used again
  Progress progress_;                                       // of what was accepted
  std::vector<EntryBlock<V>> blocks_;
  std::exception_ptr failure_;
};

}  // namespace lanky::inline v1::io
