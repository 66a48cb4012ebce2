// Error messages from values: concat("x has ", 100, " entries").
#pragma once

#include <sstream>
#include <string>

namespace lanky {

template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return out.str();
}

}  // namespace lanky
