#include "bench/records/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "bench/cases/gemm_case.hpp"
#include "bench/records/json_line.hpp"
#include "bench/records/record.hpp"

namespace lanky::bench {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorCode::io, path.string() + ": " + why);
}

/// Every line that lanky writes begins so.
constexpr std::string_view kBeginning = R"({"kind":")";

/// `size` bytes from `begin` on, fewer where the file ends before.
std::string read_text(int descriptor, off_t begin, std::size_t size) {
  std::string text(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t bytes =
        pread(descriptor, text.data() + filled, size - filled, begin + static_cast<off_t>(filled));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    filled += static_cast<std::size_t>(bytes);
  }
  text.resize(filled);
  return text;
}

/// Where the last line begins that has no newline: at `size` where there is none.
off_t end_of_lines(int descriptor, off_t size) {
  constexpr off_t kBlock = 1 << 16;
  while (size > 0) {
    const off_t begin = std::max<off_t>(0, size - kBlock);
    const std::string block = read_text(descriptor, begin, static_cast<std::size_t>(size - begin));
    const std::size_t newline = block.rfind('\n');
    if (newline != std::string::npos) return begin + static_cast<off_t>(newline) + 1;
    size = begin;
  }
  return 0;
}

bool is_record(const Json& line) {
  return line.is_object() && line.contains("kind") && line["kind"].is_string();
}

/// Whether records may be appended: the file is empty, or its first line is a record, or the
/// beginning of one that a killed program left.
bool holds_records(const std::filesystem::path& path) {
  LineReader lines(path);
  if (!lines.next()) return true;
  const std::string& first = lines.text();
  return is_record(parse_line(first)) || (!lines.is_whole() && first.starts_with(kBeginning));
}

/// False where another run holds the file. One that was killed may do so for a moment: its memory
/// is given back first. A file system without locks is taken for a file of ours.
bool lock(int descriptor) {
  constexpr int kDyingTakes = 2000;  // milliseconds
  constexpr int kLookEvery = 10;
  for (int waited = 0; flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
       waited += kLookEvery) {
    if (waited >= kDyingTakes) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookEvery));
  }
  return true;
}

std::string gemm_key(const Json& line) {
  const Json fields = head(GemmCase{});
  Json key;
  for (const auto& [field, unused] : fields.items())
    key[field] = line.contains(field) ? line[field] : Json(nullptr);
  return key.dump();
}

/// The text of a field, "" where there is none. Error(parse) where it is no text.
std::string required_text(const Json& line, const char* field) {
  const auto found = line.find(field);
  if (found == line.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  throw Error(ErrorCode::parse, std::string(field) + " is " + found->dump() + ", no text");
}

std::int64_t integer_of(const Json& line, const char* field) {
  const auto found = line.find(field);
  if (found != line.end() && found->is_number_integer()) return found->get<std::int64_t>();
  throw Error(ErrorCode::parse,
              std::string(field) + " is " +
                  (found == line.end() ? "absent" : found->dump() + ", no integer"));
}

/// What a line of our configuration says to be done; empty where it says nothing of the kind.
std::vector<std::string> done_keys(const Json& line) {
  const std::string kind = required_text(line, "kind");
  if (kind == "gemm" && required_text(line, "contestant") == "lanky") return {gemm_key(line)};
  std::vector<std::string> keys;
  if (kind != "matrix" || !line.contains("dtypes")) return keys;
  if (!line["dtypes"].is_array())
    throw Error(ErrorCode::parse, "dtypes is " + line["dtypes"].dump() + ", no list of types");
  for (const Json& dtype : line["dtypes"]) {
    if (!dtype.is_string())
      throw Error(ErrorCode::parse, "dtypes has " + dtype.dump() + ", no type");
    keys.push_back(done_key(required_text(line, "content"), parse_dtype(dtype.get<std::string>())));
  }
  return keys;
}

bool ended_well(const Json& line) {
  const std::string status = required_text(line, "status");
  return status == "ok" || status == "unsupported" || status == "skipped";
}

/// Takes one line into what is known. Error(parse) says what is wrong with it.
class History {
 public:
  explicit History(const std::string& config) : config_(config) {}

  void take(const Json& line) {
    if (!line.is_object()) throw Error(ErrorCode::parse, "is no JSON object");
    if (required_text(line, "kind") == "env") take_environment(line);
    if (line.contains("stamp")) take_stamp(line);
    if (!ours_) return;
    const std::vector<std::string> keys = done_keys(line);
    const bool well = keys.empty() || ended_well(line);
    for (const std::string& key : keys) {
      if (well) {
        earlier.failed.erase(key);
      } else {
        earlier.failed.insert(key);
      }
      earlier.cases.insert(key);
    }
  }

  EarlierRuns earlier;

 private:
  void take_environment(const Json& line) {
    ours_ = required_text(line, "config") == config_;
    if (!ours_ || !line.contains("seed")) return;
    if (!line["seed"].is_number_unsigned())
      throw Error(ErrorCode::parse, "seed is " + line["seed"].dump() + ", no natural number");
    earlier.seed = line["seed"].get<std::uint64_t>();
  }

  void take_stamp(const Json& line) {
    const Json& stamp = line["stamp"];
    if (!stamp.is_object()) throw Error(ErrorCode::parse, "stamp is " + stamp.dump());
    const FileStamp known{integer_of(stamp, "bytes"), integer_of(stamp, "modified_ns")};
    const std::string content = required_text(line, "content");
    if (!content.empty()) earlier.contents[required_text(line, "source")] = {known, content};
  }

  const std::string& config_;
  bool ours_ = false;  // lines are of a run in this configuration
};

}  // namespace

std::string done_key(const GemmCase& gemm) {
  GemmCase named = gemm;
  if (named.name.empty()) named.name = gemm_case_name(gemm);
  return head(named).dump();
}

std::string done_key(const std::string& content, DType dtype) {
  return content + " " + std::string(to_string(dtype));
}

EarlierRuns earlier_runs(const std::filesystem::path& path, const std::string& config) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return {};
  History history(config);
  for (LineReader lines(path); lines.next();) {
    const Json line = parse_line(lines.text());
    if (line.is_discarded() && !lines.is_whole()) continue;  // a killed run left it
    try {
      history.take(line);
    } catch (const Error& error) {
      history.earlier.notes.push_back(lines.place() + ": " + error.what() +
                                      "; the line is passed over");
    }
  }
  return std::move(history.earlier);
}

Journal::Journal(const std::filesystem::path& path) : path_(path) {
  descriptor_ = path == "-" ? dup(STDOUT_FILENO)
                            : open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse(path, std::strerror(errno));
  if (path == "-") return;
  try {
    claim();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

void Journal::claim() {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (!lock(descriptor_))
    refuse(path_, "another run of lanky writes to it; name another file, and join them afterwards");
  if (!holds_records(path_))
    refuse(path_,
           "does not begin with a record of lanky's, so nothing is appended; name another file");
  is_regular_ = true;
}

/// What a killed program left half-written is cut off; a whole record gets the newline that it
/// lacks, if it does.
void Journal::end_last_line() {
  ended_ = true;
  struct stat status {};
  if (!is_regular_ || fstat(descriptor_, &status) != 0) return;
  const off_t end = end_of_lines(descriptor_, status.st_size);
  const off_t left = status.st_size - end;
  if (left == 0) return;
  if (left > static_cast<off_t>(kLongestLine))
    refuse(path_, "its last line has no newline and " + std::to_string(left) +
                      " bytes, more than any record; name another file");
  if (Json::accept(read_text(descriptor_, end, static_cast<std::size_t>(left)))) {
    append("\n");
  } else if (ftruncate(descriptor_, end) != 0) {
    refuse(path_, std::string("its torn last line cannot be cut off: ") + std::strerror(errno));
  }
}

Journal::~Journal() {
  close(descriptor_);
}

void Journal::write(const Json& line) {
  write_all({&line, 1});
}

void Journal::write_all(std::span<const Json> lines) {
  std::string text;
  for (const Json& line : lines)
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (!ended_) end_last_line();
  append(text);
}

/// All of the text or nothing: a full disk leaves whole lines behind.
void Journal::append(const std::string& text) {
  struct stat before {};
  const bool known = is_regular_ && fstat(descriptor_, &before) == 0;
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int cause = errno;
      if (written > 0 && known && ftruncate(descriptor_, before.st_size) != 0)
        refuse(path_, std::string(std::strerror(cause)) + ", and its last line stays torn");
      refuse(path_, std::strerror(cause));
    }
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace lanky::bench
