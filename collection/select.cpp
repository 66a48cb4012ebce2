#include "collection/select.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "collection/spelling.hpp"
#include "core/text.hpp"

namespace lanky::collection {

namespace {

/// "west0479" or "HB/west0479", as `like` is given.
std::string name_like(const std::string& like, const Entry& entry) {
  return like.find('/') == std::string::npos ? entry.name : entry.full_name();
}

[[noreturn]] void fail_unknown(const Index& index, const std::string& name) {
  std::vector<std::string> known;
  for (const Entry& entry : index.entries)
    known.push_back(name_like(name, entry));
  throw Error(ErrorCode::invalid_argument,
              concat("the index of ", index.entries.size(), " matrices has no \"", name, "\"",
                     did_you_mean(name, known)));
}

/// Those of exactly that name, else those of that name in any case.
std::vector<const Entry*> find_all(const Index& index, const std::string& name) {
  std::vector<const Entry*> exact;
  std::vector<const Entry*> alike;
  for (const Entry& entry : index.entries) {
    const std::string known = name_like(name, entry);
    if (known == name) exact.push_back(&entry);
    if (lowered(known) == lowered(name)) alike.push_back(&entry);
  }
  return exact.empty() ? alike : exact;
}

const Entry& find_one(const Index& index, const std::string& name) {
  const std::vector<const Entry*> found = find_all(index, name);
  if (found.empty()) fail_unknown(index, name);
  if (found.size() > 1)
    throw Error(ErrorCode::invalid_argument,
                concat("\"", name, "\" is the name of ", found[0]->full_name(), " and of ",
                       found[1]->full_name(), "; give the group with it"));
  return *found.front();
}

std::vector<Entry> named(const Index& index, const std::vector<std::string>& names) {
  std::set<std::int64_t> ids;
  std::vector<Entry> entries;
  for (const std::string& name : names) {
    const Entry& entry = find_one(index, name);
    if (ids.insert(entry.id).second) entries.push_back(entry);
  }
  return entries;
}

void sort(std::vector<Entry>& entries, Order order) {
  if (order == Order::nnz) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.nnz < b.nnz; });
  } else if (order == Order::name) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.group, a.name) < std::tie(b.group, b.name);
    });
  }
}

}  // namespace

std::vector<Entry> select(const Index& index, const Selection& selection) {
  std::vector<Entry> entries =
      selection.names.empty() ? index.entries : named(index, selection.names);
  std::erase_if(entries, [&](const Entry& entry) { return !selection.where(entry); });
  sort(entries, selection.order);
  entries.resize(std::min(entries.size(), selection.limit));
  return entries;
}

}  // namespace lanky::collection
