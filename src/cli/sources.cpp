#include "cli/sources.hpp"

#include <algorithm>
#include <filesystem>
#include <lanky/io.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "bench/spmv_set.hpp"
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
  return {spec, bench::matrix_class(spec), spec, true};
}

Source file_source(const fs::path& path) {
  return {name_of_matrix(path).value_or(path.filename().string()), std::string(bench::kRealMatrix),
          path.string(), false};
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
    } else {
      all.failed.push_back(
          {.name = entry.name,
           .matrix_class = std::string(bench::kRealMatrix),
           .source = path.string(),
           .status = bench::Status::unsupported,
           .reason = "is not in the cache: lanky fetch " + entry.full_name() + " fetches it"});
    }
  }
}

}  // namespace

CsrMatrix<double> Source::read() const {
  return generated ? io::generate<double>(place) : io::read_csr<double>(place);
}

nlohmann::ordered_json to_json(const Source& source) {
  // A path is bytes, which JSON's strings need not be.
  return {{"place", std::vector<unsigned char>(source.place.begin(), source.place.end())},
          {"generated", source.generated}};
}

Source source_of(const nlohmann::ordered_json& json) {
  const auto bytes = json.at("place").get<std::vector<unsigned char>>();
  const std::string place(bytes.begin(), bytes.end());
  return json.at("generated").get<bool>() ? spec_source(place) : file_source(place);
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
                            .source = path,
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
  return all;
}

}  // namespace lanky::cli
