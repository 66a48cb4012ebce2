#include "cli/where.hpp"

#include <lanky/error.hpp>

namespace lanky::cli {

collection::Filter parse_where(const std::string& text) {
  try {
    return text.empty() ? collection::Filter() : collection::Filter::parse(text);
  } catch (const collection::FilterError& error) {
    throw Error(error.code(), caret_message("--where", text, error));
  }
}

}  // namespace lanky::cli
