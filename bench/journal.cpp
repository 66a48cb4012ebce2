#include "bench/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <lanky/error.hpp>
#include <nlohmann/json.hpp>

#include "bench/gemm_case.hpp"
#include "bench/record.hpp"

namespace lanky::bench {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorCode::io, path.string() + ": " + why);
}

/// Where the last whole line ends.
off_t whole_lines(int descriptor, off_t size) {
  std::array<char, 1 << 16> block{};
  while (size > 0) {
    const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(block.size()));
    const ssize_t bytes =
        pread(descriptor, block.data(), static_cast<std::size_t>(size - begin), begin);
    if (bytes <= 0) break;
    const void* newline = memrchr(block.data(), '\n', static_cast<std::size_t>(bytes));
    if (newline != nullptr) return begin + (static_cast<const char*>(newline) - block.data()) + 1;
    size = begin;
  }
  return 0;
}

/// A regular file: nobody else appends to it, it is one of results, and its last line is whole.
void make_ready(const std::filesystem::path& path, int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refuse(path, "another run of lanky writes to it; name another file, and join them afterwards");
  char first = '{';
  if (pread(descriptor, &first, 1, 0) == 1 && first != '{')
    refuse(path, "does not hold JSON lines; name another file");
  const off_t end = whole_lines(descriptor, status.st_size);
  if (end != status.st_size && ftruncate(descriptor, end) != 0)
    refuse(path, std::string("its torn last line cannot be cut off: ") + std::strerror(errno));
}

std::string gemm_key(const Json& line) {
  const Json fields = head(GemmCase{});
  Json key;
  for (const auto& [field, unused] : fields.items())
    key[field] = line.contains(field) ? line[field] : Json(nullptr);
  return key.dump();
}

/// What a line of our configuration says to be done; empty where it says nothing of the kind.
std::vector<std::string> done_keys(const Json& line) {
  const std::string kind = line.value("kind", "");
  if (kind == "gemm" && line.value("contestant", "") == "lanky") return {gemm_key(line)};
  std::vector<std::string> keys;
  if (kind != "matrix" || !line.contains("dtypes")) return keys;
  for (const Json& dtype : line["dtypes"])
    keys.push_back(done_key(line.value("content", ""), parse_dtype(dtype.get<std::string>())));
  return keys;
}

bool ended_well(const Json& line) {
  const std::string status = line.value("status", "");
  return status == "ok" || status == "unsupported" || status == "skipped";
}

}  // namespace

std::string done_key(const GemmCase& gemm) {
  GemmCase named = gemm;
  if (named.name.empty()) named.name = gemm_case_name(gemm);
  return head(named).dump();
}

std::string done_key(const std::string& content, DType dtype) {
  return content + " " + std::string(name(dtype));
}

EarlierRuns earlier_runs(const std::filesystem::path& path, const std::string& config) {
  EarlierRuns earlier;
  std::ifstream file(path, std::ios::binary);
  bool ours = false;
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) continue;
    if (line.value("kind", "") == "env") {
      ours = line.value("config", "") == config;
      if (ours && line.contains("seed")) earlier.seed = line["seed"].get<std::uint64_t>();
    }
    if (line.contains("stamp") && line["stamp"].is_object())
      earlier.contents[line.value("source", "")] = {
          {line["stamp"].value("bytes", std::int64_t{0}),
           line["stamp"].value("modified_ns", std::int64_t{0})},
          line.value("content", "")};
    if (!ours) continue;
    for (std::string& key : done_keys(line)) {
      if (ended_well(line)) {
        earlier.failed.erase(key);
      } else {
        earlier.failed.insert(key);
      }
      earlier.cases.insert(std::move(key));
    }
  }
  return earlier;
}

Journal::Journal(const std::filesystem::path& path) : path_(path) {
  descriptor_ = path == "-" ? dup(STDOUT_FILENO)
                            : open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse(path, std::strerror(errno));
  if (path == "-") return;
  try {
    make_ready(path, descriptor_);
  } catch (...) {
    close(descriptor_);
    throw;
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
  append(text);
}

void Journal::append(const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path_, std::strerror(errno));
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace lanky::bench
