// The first violation of a contract that a checker finds.
#pragma once

#include <string>

#include "core/text.hpp"

namespace lanky::testing {

/// Thrown by require(), inside a checker only.
struct Violation {
  std::string text;
};

/// `parts` are what is written of a violation, where the contract is not `kept`.
template <class... Parts>
void require(bool kept, const Parts&... parts) {
  if (!kept) throw Violation{concat(parts...)};
}

/// What `check` finds first; "" where the contract is kept.
template <class Check>
std::string first_violation(Check check) {
  try {
    check();
  } catch (const Violation& violation) {
    return violation.text;
  }
  return "";
}

}  // namespace lanky::testing
