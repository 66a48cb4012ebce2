// lanky fetch: matrices of the SuiteSparse Matrix Collection, into the cache.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <lanky/error.hpp>
#include <limits>
#include <memory>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/fetch_report.hpp"
#include "cli/fetch_sizes.hpp"
#include "cli/signals.hpp"
#include "cli/where.hpp"
#include "collection/cache.hpp"
#include "collection/fetch.hpp"
#include "collection/index_source.hpp"
#include "collection/quantity.hpp"
#include "collection/select.hpp"

namespace lanky::cli {

namespace {

namespace fs = std::filesystem;
using collection::Entry;

struct FetchOptions {
  std::vector<std::string> names;
  std::string where;
  std::string sort;
  std::size_t limit = 0;  // 0: no limit
  std::string max_bytes;
  bool list = false;
  bool dry_run = false;
  bool verify = false;
  std::string cache;
  std::string index;
  collection::Site site;

  fs::path folder() const { return cache.empty() ? collection::cache_folder() : fs::path(cache); }
};

void tell(const std::string& text) {
  std::fprintf(stderr, "lanky: %s\n", text.c_str());
}

collection::Selection selection_from(const FetchOptions& options) {
  collection::Selection selection;
  selection.names = options.names;
  selection.where = parse_where(options.where);
  if (options.sort == "nnz") selection.order = collection::Order::nnz;
  if (options.sort == "name") selection.order = collection::Order::name;
  if (options.limit > 0) selection.limit = options.limit;
  return selection;
}

/// All of the collection, hundreds of gigabytes, is fetched only where something says so.
void require_choice(const FetchOptions& options) {
  if (options.names.empty() && options.where.empty() && options.limit == 0 &&
      options.max_bytes.empty() && !options.list && !options.dry_run)
    throw Error(ErrorCode::invalid_argument,
                "fetch needs to know what: GROUP/NAME, --where, --limit or --max-bytes; --list and "
                "--dry-run show what there is");
}

/// Keeps the entries that --max-bytes lets through; their sizes.
Sizes cut(std::vector<Entry>& entries, const FetchOptions& options) {
  const double most = options.max_bytes.empty() ? std::numeric_limits<double>::infinity()
                                                : *collection::parse_quantity(options.max_bytes);
  Sizes sizes = sizes_within(most, entries, options.folder(), options.site);
  const std::size_t fit = sizes.bytes.size();
  if (fit < entries.size())
    tell(std::to_string(entries.size() - fit) + " of " + std::to_string(entries.size()) +
         " archives are beyond --max-bytes " + options.max_bytes);
  entries.resize(fit);
  return sizes;
}

int fetch_all(const std::vector<Entry>& entries, const FetchOptions& options) {
  FetchReport report(options.folder());
  set_current_task("fetch (begun archives go on with the next one)");
  try {
    const auto results =
        collection::fetch(entries, options.folder(), options.site, options.verify, report);
    return report.conclude(results) ? kOk : kFailed;
  } catch (const Error& error) {
    report.clear();
    if (error.code() != ErrorCode::io) throw;
    tell(error.what());
    return kFailed;
  }
}

int run_fetch(const FetchOptions& options) {
  require_choice(options);
  const collection::Selection selection = selection_from(options);
  const collection::Index index =
      collection::obtain_index(options.index, options.folder(), options.site, tell);
  std::vector<Entry> entries = select(index, selection);
  if (entries.empty())
    tell("none of " + std::to_string(index.entries.size()) + " matrices is selected");
  const bool told = options.dry_run && !options.list;
  if (told || !options.max_bytes.empty()) {
    const Sizes sizes = cut(entries, options);
    if (told) {
      print_sizes(entries, sizes, options.folder());
      return kOk;
    }
  }
  if (options.list) {
    print_table(entries, options.folder());
    return kOk;
  }
  return fetch_all(entries, options);
}

std::string check_quantity(const std::string& text) {
  const auto quantity = collection::parse_quantity(text);
  return quantity && *quantity >= 0 ? "" : "\"" + text + "\" is no size such as 10G or 2.5M";
}

void add_choice(CLI::App& fetch, FetchOptions& options) {
  fetch
      .add_option("names", options.names, "matrices: GROUP/NAME, or NAME where it is the only one")
      ->type_name("MATRIX");
  fetch
      .add_option("--where", options.where,
                  "matrices that a filter is true of, as in\n"
                  "'nnz in 1e5..1e8 and kind ~ circuit and square' (fetch.md)")
      ->type_name("FILTER");
  fetch.add_option("--sort", options.sort, "nnz: fewest entries first; name: by GROUP/NAME")
      ->check(CLI::IsMember({"nnz", "name"}), "")
      ->type_name("ORDER");
  fetch.add_option("--limit", options.limit, "the first so many of them")
      ->check(CLI::PositiveNumber, "");
  fetch
      .add_option("--max-bytes", options.max_bytes,
                  "the first of them whose archives take so much together, as in 10G")
      ->type_name("SIZE")
      ->check(check_quantity, "");
  fetch.add_flag("--list", options.list, "print them as a table, and fetch nothing");
  fetch.add_flag("--dry-run", options.dry_run, "say how much there is to fetch, and fetch nothing");
  fetch.add_flag("--verify", options.verify, "read what is there, and fetch what is damaged again");
}

void add_places(CLI::App& fetch, FetchOptions& options) {
  fetch
      .add_option("--cache", options.cache,
                  "folder of what was fetched (default: $LANKY_CACHE, $XDG_CACHE_HOME/lanky or\n"
                  "~/.cache/lanky)")
      ->type_name("DIR");
  fetch.add_option("--index", options.index, "the index, ssstats.csv, from elsewhere")
      ->type_name("FILE|URL");
  fetch.add_option("--mirror", options.site.mirror, "another server of the collection")
      ->type_name("URL")
      ->capture_default_str();
}

void add_transfer(CLI::App& fetch, FetchOptions& options) {
  fetch.add_option("--connections", options.site.connections, "archives fetched at once")
      ->check(CLI::Range(1, 64), "")
      ->capture_default_str();
  fetch
      .add_option("--retries", options.site.retry.retries,
                  "attempts that may fail one after another, after the first")
      ->check(CLI::NonNegativeNumber, "")
      ->capture_default_str();
  fetch
      .add_option("--pause", options.site.retry.first_pause,
                  "seconds before the first of them, doubled each time")
      ->check(CLI::NonNegativeNumber, "")
      ->capture_default_str();
  fetch
      .add_option("--timeout", options.site.stall_seconds,
                  "seconds without a connection, or below 1 kB/s, until an attempt has failed")
      ->check(CLI::PositiveNumber, "")
      ->capture_default_str();
}

}  // namespace

void add_fetch(CLI::App& app, Action& action) {
  CLI::App& fetch =
      *app.add_subcommand("fetch", "Matrices of the SuiteSparse collection, into a cache");
  const auto options = std::make_shared<FetchOptions>();
  add_choice(fetch, *options);
  add_places(fetch, *options);
  add_transfer(fetch, *options);
  fetch.callback([&action, options] { action = [options] { return run_fetch(*options); }; });
}

}  // namespace lanky::cli
