// measured_choices.jsonl as text: what `lanky tune` found faster than the rules of policy.hpp.
#pragma once

#include <string_view>

namespace lanky::dense {

std::string_view measured_choices() noexcept;

}  // namespace lanky::dense
