// The index of the collection, what is kept beside fetched files, and filters of the index.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <lanky/error.hpp>
#include <string>

#include "collection/cache.hpp"
#include "collection/filter.hpp"
#include "collection/index.hpp"
#include "collection/origin.hpp"
#include "collection/select.hpp"
#include "collection/site.hpp"
#include "collection/sizes.hpp"
#include "fuzz/memory_file.hpp"
#include "fuzz/target.hpp"

namespace lanky::fuzz {

namespace {

namespace fs = std::filesystem;
using collection::Entry;

/// Whatever an index says, files stay where they belong, and sizes are sizes.
void check_entry(const Entry& entry) {
  static const fs::path folder = scratch_folder() / "cache";
  const fs::path path = collection::cache_path(entry, folder).lexically_relative(folder);
  require(path.lexically_normal() == path && std::distance(path.begin(), path.end()) == 3 &&
              *path.begin() == "suitesparse",
          "a name leaves the folder of the cache");
  require(entry.rows >= 0 && entry.cols >= 0 && entry.nnz >= 0, "a negative size");
  require(collection::most_bytes(entry) > 0, "no bytes");
  require(collection::estimated_bytes(entry) >= 0 || entry.entries < 0, "negative bytes");
  const std::string url = collection::Site{}.archive_url(entry);
  require(url.find_first_of(" \"'<>?#\r\n") == url.npos, "a name changes the request");
}

void check_origin(std::string_view text) {
  static const fs::path file = scratch_folder() / "file";
  std::ofstream(collection::origin_path(file), std::ios::binary) << text;
  const auto origin = collection::read_origin(file);
  if (!origin) return;
  collection::write_origin(file, *origin);
  const auto again = collection::read_origin(file);
  require(again && again->url == origin->url && again->etag == origin->etag &&
              again->last_modified == origin->last_modified && again->md5 == origin->md5 &&
              again->bytes == origin->bytes,
          "what is kept of an origin reads as another");
}

collection::Index small_index() {
  return collection::parse_index(
      "3\n2026-01-01\n"
      "HB,west0479,479,479,1888,1,0,0,0,0.02,0,chemical process simulation problem,1910\n"
      "SNAP,wiki-Vote,8297,8297,103689,1,1,0,0,0,0,directed graph\n"
      "Bai,mhd4800b,4800,4800,27520,0,0,1,1,1,1,electromagnetics problem\n",
      "an index");
}

}  // namespace

void check_index(Bytes bytes) {
  check_origin(text_of(bytes));
  try {
    const collection::Index index = collection::parse_index(text_of(bytes), "an index");
    for (const Entry& entry : index.entries)
      check_entry(entry);
    for (const auto order :
         {collection::Order::index, collection::Order::nnz, collection::Order::name}) {
      collection::Selection selection;
      selection.order = order;
      require(select(index, selection).size() == index.entries.size(), "not all of them");
    }
    if (index.entries.empty()) return;
    const Entry& last = index.entries.back();
    for (const std::string& name : {last.full_name(), last.name, last.name + "x"}) {
      collection::Selection selection;
      selection.names = {name};
      require(select(index, selection).size() == 1, "two matrices of one name");
    }
  } catch (const Error&) {
    return;
  }
}

void check_filter(Bytes bytes) {
  static const collection::Index index = small_index();
  const std::string_view text = text_of(bytes);
  try {
    collection::Selection selection;
    selection.where = collection::Filter::parse(text);
    require(select(index, selection).size() <= index.entries.size(), "more than there are");
  } catch (const collection::FilterError& error) {
    require(error.column() >= 1 && error.column() <= text.size() + 1, "a place beyond the text");
    require(!collection::caret_message("--where", text, error).empty(), "no message");
  }
}

}  // namespace lanky::fuzz
