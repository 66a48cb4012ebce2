// measured_choices.jsonl as text: what `lanky tune` found faster than the rules of policy.hpp.
#pragma once

#include <string_view>

namespace lanky::dense {

extern const std::string_view kMeasuredChoices;

}  // namespace lanky::dense
