// lanky.fetch(): an archive of the SuiteSparse collection, by the code of the program's `lanky
// fetch`.
#include "collection/cache.hpp"

#include <Python.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <lanky/error.hpp>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "collection/fetch.hpp"
#include "collection/index_source.hpp"
#include "collection/select.hpp"
#include "collection/site.hpp"

namespace lanky::python {

namespace {

namespace nb = nanobind;
using namespace nb::literals;

void warn(const std::string& text) {
  const nb::gil_scoped_acquire held;
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

/// Tells of retries and waits, and lets Ctrl-C end a download, which goes on the next time.
class Observer final : public collection::FetchObserver {
 public:
  void finished(const collection::FetchResult&) override {}
  void note(const collection::Entry& entry, const std::string& text) override {
    notes_.push_back(entry.full_name() + ": " + text);
  }
  void progress(const collection::FetchProgress&) override {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<std::string> notes_;
};

std::filesystem::path fetch(const std::string& name, const std::filesystem::path& cache,
                            const std::string& mirror, bool verify) {
  const nb::gil_scoped_release released;
  const std::filesystem::path folder = cache.empty() ? collection::cache_folder() : cache;
  collection::Site site;
  if (!mirror.empty()) site.mirror = mirror;
  const collection::Index index = collection::obtain_index("", folder, site, warn);
  collection::Selection selection;
  selection.names = {name};
  const std::vector<collection::Entry> entries = select(index, selection);
  Observer observer;
  for (const collection::FetchResult& result :
       collection::fetch(entries, folder, site, verify, observer)) {
    if (result.outcome == collection::Outcome::failed)
      throw Error(ErrorCode::io, result.entry.full_name() + ": " + result.failure);
  }
  for (const std::string& note : observer.notes())
    warn(note);
  return collection::cache_path(entries.front(), folder);
}

}  // namespace

void bind_collection(nb::module_& module) {
  module.def("fetch", &fetch, "name"_a, nb::kw_only(), "cache"_a = "", "mirror"_a = "",
             "verify"_a = false);
}

}  // namespace lanky::python
