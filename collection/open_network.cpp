#include <filesystem>
#include <lanky/error.hpp>

#include "collection/network.hpp"
#include "core/shared_library.hpp"

namespace lanky::collection {

namespace {

namespace fs = std::filesystem;

/// Beside the program, in ../lib, or wherever the loader finds it.
std::string module_path() {
  const fs::path name = "liblanky_download.so";
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& path : {folder / name, folder / "../lib" / name}) {
    if (exists(path, ignored)) return path.string();
  }
  return name.string();
}

}  // namespace

std::unique_ptr<Network> open_network() {
  static const SharedLibrary module({module_path().c_str()});
  auto* create = module.function<Network*()>("lanky_download");
  if (create == nullptr)
    throw Error(ErrorCode::unsupported,
                "downloads need libcurl 4 and OpenSSL 3: " + module.failure() +
                    "; install Debian's libcurl4 and libssl3 (to build lanky with them: "
                    "libcurl4-openssl-dev and libssl-dev)");
  return std::unique_ptr<Network>(create());
}

}  // namespace lanky::collection
