#include "collection/gzip_check.hpp"

#include <lanky/error.hpp>

#include "core/gunzip_file.hpp"
#include "core/text.hpp"

namespace lanky::collection {

std::string fault_of_gzip(const std::filesystem::path& path) {
  try {
    GunzipFile file(path);
    bool any = false;
    while (!file.next().empty()) {
      if (file.plain()) return "is no gzip file";
      any = true;
    }
    if (!file.fault().empty()) return concat("is damaged (", file.fault(), ")");
    return any ? "" : "is empty";
  } catch (const Error&) {
    return "cannot be opened";
  }
}

}  // namespace lanky::collection
