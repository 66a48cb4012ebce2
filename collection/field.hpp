// What a filter can ask of an entry of the index.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collection/index.hpp"

namespace lanky::collection {

struct NumberField {
  std::vector<std::string> names;  // the first is the one that documents use
  double (*value)(const Entry&);
};

struct TextField {
  std::vector<std::string> names;
  const std::string& (*value)(const Entry&);
};

struct FlagField {
  std::vector<std::string> names;
  bool (*value)(const Entry&);
};

/// The field of that name, in any case; null where there is none.
const NumberField* number_field(std::string_view name);
const TextField* text_field(std::string_view name);
const FlagField* flag_field(std::string_view name);

/// Every name of every field.
std::vector<std::string> field_names();

}  // namespace lanky::collection
