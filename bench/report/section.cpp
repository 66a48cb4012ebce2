#include "bench/report/section.hpp"

#include <algorithm>

namespace lanky::report {

Section::Section(const Results& all, Product which)
    : results(all),
      product(which),
      cases(measured_cases(all, which)),
      id(to_string(which)),
      several_devices(all.devices().size() > 1) {
  for (const std::string& dtype : dtypes_of(all)) {
    const auto is_of_type = [&dtype](const Measured& each) { return each.product->dtype == dtype; };
    if (std::any_of(cases.begin(), cases.end(), is_of_type)) dtypes.push_back(dtype);
  }
}

}  // namespace lanky::report
