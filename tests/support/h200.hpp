// The machine that choices are tested for.
#pragma once

#include "core/machine.hpp"

namespace lanky::testing {

inline const Machine& h200() {
  return known_machine("H200");
}

}  // namespace lanky::testing
