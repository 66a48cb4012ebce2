// One product's part of the page: what its cards, charts and table are made of, and these as HTML.
#pragma once

#include <string>
#include <vector>

#include "bench/report/summary.hpp"

namespace lanky::report {

struct Section {
  Section(const Results& all, Product which);

  const Results& results;
  Product product;
  std::vector<Measured> cases;      // in the order of the table's rows
  std::vector<std::string> dtypes;  // of these cases
  std::string id;                   // "spmv", "gemm"
  bool several_devices;

  std::size_t row_of(const Measured& each) const {
    return static_cast<std::size_t>(&each - cases.data());
  }
  /// Of report.css: many points are drawn fainter.
  const char* point_classes() const {
    return cases.size() > kManyPoints ? "points many" : "points";
  }

  static constexpr std::size_t kManyPoints = 1500;
};

/// Summary cards, classes and worst ten: for all types together, and for each.
std::string cards(const Section& section);

std::string speedup_chart(const Section& section);
std::string rate_chart(const Section& section);
std::string floor_chart(const Section& section);
std::string profile_chart(const Section& section);
std::string setup_chart(const Section& section);
std::string break_even_chart(const Section& section);
std::string roofline_charts(const Section& section);

/// With its filter; a body of the table for each case, the second row of which holds the details.
std::string case_table(const Section& section);

}  // namespace lanky::report
