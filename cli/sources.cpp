#include "cli/sources.hpp"

#include <algorithm>
#include <filesystem>
#include <lanky/io.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "bench/cases/spmv_set.hpp"
#include "bench/report/matrix_identity.hpp"
#include "cli/where.hpp"
#include "collection/cache.hpp"
#include "collection/index.hpp"
#include "collection/select.hpp"

namespace lanky::cli {

namespace {

namespace fs = std::filesystem;

/// Of names of matrix files; read_csr() itself goes by what they hold.
constexpr std::string_view kFormats[] = {".mtx", ".rb", ".mat", ".lanky"};
constexpr std::string_view kWrappings[] = {"", ".gz", ".xz", ".zst", ".bz2"};
constexpr std::string_view kArchive = ".tar.gz";

/// "cant" of "path/cant.mtx.gz"; nothing of what is no matrix by its name.
std::optional<std::string> name_of_matrix(const fs::path& path) {
  const std::string file = path.filename().string();
  const auto without = [](const std::string& text, std::string_view ending) {
    return text.substr(0, text.size() - ending.size());
  };
  if (file.ends_with(kArchive)) return without(file, kArchive);
  for (const std::string_view wrapping : kWrappings) {
    if (!file.ends_with(wrapping)) continue;
    const std::string bare = without(file, wrapping);
    for (const std::string_view format : kFormats) {
      if (bare.ends_with(format)) return without(bare, format);
    }
  }
  return std::nullopt;
}

/// What is found below a folder.
struct Found {
  std::vector<fs::path> matrices;
  std::vector<std::string> failures;  // folders that cannot be read, and why
};

void search(const fs::path& folder, Found& found) {
  std::error_code error;
  std::error_code unknown;  // of a broken link, say: then it is neither folder nor file
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->is_directory(unknown)) {
      if (!entry->is_symlink(unknown)) search(entry->path(), found);
    } else if (entry->is_regular_file(unknown) && name_of_matrix(entry->path())) {
      found.matrices.push_back(entry->path());
    }
  }
  if (error) found.failures.push_back(folder.string() + ": cannot be read: " + error.message());
}

/// The matrices that a path means: itself, or all below a folder in the order of their names.
Found matrices_at(const fs::path& path) {
  std::error_code unknown;  // reading it will tell
  if (!fs::is_directory(path, unknown)) return {{path}, {}};
  Found found;
  search(path, found);
  std::sort(found.matrices.begin(), found.matrices.end());
  if (found.matrices.empty() && found.failures.empty())
    found.failures.push_back(path.string() +
                             ": holds no matrix files (.mtx, .rb, .mat, .lanky, .tar.gz)");
  return found;
}

/// "stencil27:64", where there is no file of that name.
bool is_spec(const std::string& path) {
  std::error_code unknown;
  return !bench::matrix_class(path).empty() && !fs::exists(path, unknown);
}

Source spec_source(const std::string& spec) {
  return {
      .name = spec, .matrix_class = bench::matrix_class(spec), .place = spec, .generated = true};
}

Source file_source(const fs::path& path) {
  return {.name = name_of_matrix(path).value_or(path.filename().string()),
          .matrix_class = std::string(bench::kRealMatrix),
          .place = path.string()};
}

/// Of the SuiteSparse index what the filter is true of: what has been fetched, and what has not.
void search_cache(const Work& work, Sources& all) {
  const fs::path folder = work.cache.empty() ? collection::cache_folder() : fs::path(work.cache);
  collection::Selection selection;
  selection.where = parse_where(work.where);
  for (const collection::Entry& entry :
       select(collection::read_index(collection::index_path(folder)), selection)) {
    const fs::path path = cache_path(entry, folder);
    if (is_cached(entry, folder)) {
      all.matrices.push_back(file_source(path));
      all.matrices.back().collection = entry.full_name();
    } else {
      all.failed.push_back(
          {.name = entry.name,
           .matrix_class = std::string(bench::kRealMatrix),
           .origin = {.source = path.string(), .collection = entry.full_name()},
           .status = bench::Status::unsupported,
           .reason = "is not in the cache: lanky fetch " + entry.full_name() + " fetches it"});
    }
  }
}

/// Gives a label to each matrix whose name others have, too.
void tell_apart(std::vector<Source>& sources) {
  const auto identity_of = [](const Source& source) {
    return report::MatrixIdentity{.name = source.name,
                                  .collection = source.collection,
                                  .source = source.place,
                                  .content = ""};
  };
  std::vector<report::MatrixIdentity> all;
  all.reserve(sources.size());
  for (const Source& source : sources)
    all.push_back(identity_of(source));
  const auto shown = report::shown_names(all);
  for (Source& source : sources) {
    const std::string& name = shown.at(identity_of(source).key());
    if (name != source.name) source.label = name;
  }
}

}  // namespace

CsrMatrix<double> Source::read(std::vector<std::string>& warnings) const {
  return generated ? io::generate<double>(place)
                   : io::read_csr<double>(place, {.warnings = &warnings});
}

bench::MatrixRecord record_of(const Source& source) {
  return {.name = source.name,
          .matrix_class = source.matrix_class,
          .origin = {.source = source.place, .collection = source.collection},
          .label = source.label};
}

std::string content_of(const Source& source) {
  if (source.generated) return "spec:" + source.place;
  std::error_code unknown;
  return fs::is_regular_file(source.place, unknown) ? bench::content_hash(source.place) : "";
}

nlohmann::ordered_json to_json(const Source& source) {
  // A path is bytes, which JSON's strings need not be.
  const auto bytes = [](const std::string& text) {
    return std::vector<unsigned char>(text.begin(), text.end());
  };
  return {{"place", bytes(source.place)},
          {"generated", source.generated},
          {"collection", source.collection},
          {"label", bytes(source.label)}};
}

Source source_of(const nlohmann::ordered_json& json) {
  const auto text = [&json](const char* field) {
    const auto bytes = json.at(field).get<std::vector<unsigned char>>();
    return std::string(bytes.begin(), bytes.end());
  };
  Source source =
      json.at("generated").get<bool>() ? spec_source(text("place")) : file_source(text("place"));
  source.collection = json.at("collection");
  source.label = text("label");
  return source;
}

Sources find_sources(const Work& work, std::uint64_t seed) {
  Sources all;
  for (const std::string& path : work.files) {
    if (is_spec(path)) {
      all.matrices.push_back(spec_source(path));
      continue;
    }
    const Found found = matrices_at(path);
    for (const std::string& failure : found.failures)
      all.failed.push_back({.name = path,
                            .matrix_class = std::string(bench::kRealMatrix),
                            .origin = {.source = path},
                            .status = bench::Status::invalid,
                            .reason = failure});
    for (const fs::path& file : found.matrices)
      all.matrices.push_back(file_source(file));
  }
  if (!work.where.empty()) search_cache(work, all);
  std::vector<std::string> specs = work.generators;
  for (std::string& spec : bench::choose_matrices({work.set.set, seed}))
    specs.push_back(std::move(spec));
  for (const std::string& spec : specs)
    all.matrices.push_back(spec_source(spec));
  tell_apart(all.matrices);
  return all;
}

}  // namespace lanky::cli
