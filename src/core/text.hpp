// Texts from values: concat("x has ", 100, " entries").
#pragma once

#include <sstream>
#include <string>

namespace lanky {

/// Takes text as a std::ostringstream, and throws std::bad_alloc where that would drop some of it:
/// kernels are found by such names.
class TextStream : public std::ostringstream {
 public:
  TextStream() {
    imbue(std::locale::classic());
    exceptions(std::ios::badbit);
  }
};

template <class... Parts>
std::string concat(const Parts&... parts) {
  TextStream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace lanky
