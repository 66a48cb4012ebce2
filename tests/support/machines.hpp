// Machines beside the one that most tests are about: every target that code is compiled for, and
// code that a driver has translated for another device.
#pragma once

#include <string>
#include <vector>

#include "core/machine.hpp"
#include "core/text.hpp"

namespace lanky::testing {

/// "H200, code for compute_80".
inline std::string name_of(const Machine& machine) {
  return concat(machine.chip, " as sm_", machine.capability, ", code for compute_",
                machine.code.capability, machine.code.warp_groups ? "a" : "");
}

/// A machine with the shared memory that a capability has.
inline Machine of_capability(Machine machine, int capability, CodeTarget code) {
  machine.capability = capability;
  machine.code = code;
  machine.shared_bytes_per_block = shared_bytes_for(capability);
  machine.shared_bytes_per_multiprocessor = machine.shared_bytes_per_block + kSharedBytesOfSystem;
  return machine;
}

inline std::vector<Machine> all_machines() {
  std::vector<Machine> all(known_machines().begin(), known_machines().end());
  const Machine& h200 = known_machine("H200");
  const Machine& ada = known_machine("L40S");
  const Machine& blackwell = known_machine("B200");
  all.push_back(of_capability(h200, 90, {.capability = 80}));
  all.push_back(of_capability(h200, 90, {.capability = 90}));  // PTX, or sm_90 without the a
  all.push_back(of_capability(ada, 86, code_for(86)));
  all.push_back(of_capability(ada, 86, code_for(80)));  // sm_80's runs there
  all.push_back(of_capability(ada, 89, code_for(80)));
  all.push_back(of_capability(blackwell, 100, {.capability = 90}));
  all.push_back(of_capability(known_machine("RTX 5090"), 120, {.capability = 90}));
  return all;
}

}  // namespace lanky::testing
