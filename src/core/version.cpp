#include <lanky/version.hpp>

namespace lanky::inline v1 {

int version() noexcept {
  return LANKY_VERSION;
}

const char* build_description() noexcept {
  return LANKY_BUILD_DESCRIPTION;
}

}  // namespace lanky::inline v1
