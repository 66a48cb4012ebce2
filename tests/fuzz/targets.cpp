// The list of what is fuzzed.
#include <array>

#include "fuzz/target.hpp"

namespace lanky::fuzz {

std::span<const Target> targets() noexcept {
  static constexpr std::array kTargets = {
      Target{"archive", check_archive},
      Target{"cache", check_cache},
      Target{"capi", check_capi},
      Target{"filter", check_filter},
      Target{"grid", check_grid},
      Target{"index", check_index},
      Target{"journal", check_journal},
      Target{"mat", check_mat},
      Target{"matrix_market", check_matrix_file},
      Target{"report", check_report},
      Target{"rutherford_boeing", check_matrix_file},
      Target{"spec", check_spec},
      Target{"tuning", check_tuning},
  };
  return kTargets;
}

}  // namespace lanky::fuzz
