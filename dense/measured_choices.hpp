// measured_choices.jsonl as text: what `lanky tune` found faster than the rules of policy.hpp.
#pragma once

#include <lanky/tuning.hpp>
#include <string>
#include <string_view>

namespace lanky::dense {

std::string_view measured_choices() noexcept;

/// gemm_class() of a product on the GPU `card`, or on the "cpu", whatever the query's device.
std::string gemm_class_on(std::string_view card, const GemmQuery& query);

}  // namespace lanky::dense
