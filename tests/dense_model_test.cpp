// The time model: what it is looked up by, and how near it comes to the committed measurements.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <lanky/lanky.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "dense/model.hpp"

namespace lanky::dense {
namespace {

using Json = nlohmann::json;

TEST(DenseModel, UnknownKernelsTakeTheFiguresOfTheirFamily) {
  const KernelModel* known = find_model("cuBLASLt", GemmFamily::panel, DType::f16, Math::ieee);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->kernel, "cuBLASLt");
  for (const GemmFamily family : {GemmFamily::panel, GemmFamily::update, GemmFamily::gram}) {
    const KernelModel* row = find_model("new_kernel", family, DType::c64, Math::ieee);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->kernel, "");
    EXPECT_EQ(row->family, family);
  }
  EXPECT_EQ(find_model("new_kernel", GemmFamily::regular, DType::f64, Math::ieee), nullptr);
}

TEST(DenseModel, TheSlowerOfMemoryAndArithmeticCounts) {
  const Bound bound{.bytes = 1e6, .flops = 1e6, .bandwidth = 1e12, .peak = 1e12};
  KernelModel row{"x", GemmFamily::panel, "", 3, 0.5, 1, 1};
  const Problem problem{.m = 1000, .n = 3, .k = 1000};
  EXPECT_DOUBLE_EQ(row.predict(problem, bound), 5);
  row.peak = 0.1;
  EXPECT_DOUBLE_EQ(row.predict(problem, bound), 13);
  row.granule = 6;
  EXPECT_DOUBLE_EQ(row.predict(problem, bound), 23);
}

/// The kernel in a line of results: what stands before the first comma, semicolon or end of line,
/// without a version.
std::string kernel_of(const std::string& configuration) {
  std::string name = configuration.substr(0, configuration.find_first_of(",;\n"));
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last + 1 < name.size() && name[last] == ' ') name.resize(last);
  return name;
}

/// One of lanky's measured products.
struct Measured {
  std::string kernel;
  std::string arithmetic;
  bool core = false;
  double microseconds = 0;
  double predicted = 0;

  bool near() const { return std::fabs(predicted / microseconds - 1) <= 0.25; }
};

Op parse_op(const std::string& text) {
  return text == "n" ? Op::none : text == "t" ? Op::trans : Op::conj_trans;
}

/// The plan's own way to a prediction: canonical form, family, bound, row. Only the bytes of C =
/// A^T A are those of the measurement, since no plan knows that both operands will be one.
Measured predict_line(const Json& line) {
  const std::string type = line["dtype"];
  const Math math = type == "tf32" ? Math::tf32 : type == "tf32x3" ? Math::tf32x3 : Math::ieee;
  const DType in = math == Math::ieee ? parse_dtype(type) : DType::f32;
  const GemmShape shape =
      with_leading_dimensions({.m = line["m"],
                               .n = line["n"],
                               .k = line["k"],
                               .op_a = parse_op(line["op_a"]),
                               .op_b = parse_op(line["op_b"]),
                               .layout = line["layout"] == "col" ? Layout::col : Layout::row,
                               .math = math});
  const Problem problem = canonical(shape);
  const GemmFamily family = gemm_family(shape.m, shape.n, shape.k);
  Bound bound = predict(problem, in, parse_dtype(std::string(line["out"])), known_machine("H200"));
  const bool one_operand = line["family"] == "syrk";
  if (one_operand) bound.bytes = line["bytes"];
  const bool own_transposes =
      line["op_a"] == (family == GemmFamily::gram ? "t" : "n") && line["op_b"] == "n";
  const bool core = own_transposes && line["ld"] == "tight" && line["alpha"] == 1.0 &&
                    line["beta"] == 0.0 && (line["out"] == line["dtype"] || in == DType::f32) &&
                    (line["layout"] == "col" || type == "f64" || type == "f32" || type == "f16");
  if (core) {
    EXPECT_DOUBLE_EQ(bound.bytes, line["bytes"].get<double>()) << line.dump();
  }
  const std::string kernel = kernel_of(line["kernel"]);
  const KernelModel* row = find_model(kernel, family, in, math);
  EXPECT_NE(row, nullptr) << line.dump();
  return {.kernel = kernel,
          .arithmetic = std::string(arithmetic_of(in, math)),
          .core = core,
          .microseconds = line["warm_us"],
          .predicted = row == nullptr ? 0 : row->predict(problem, bound)};
}

std::vector<Measured> read_results() {
  std::vector<Measured> results;
  for (const char* part : {"panel", "update", "gram", "syrk", "sample"}) {
    std::ifstream file(concat("bench/results/h200/gemm_", part, ".jsonl"));
    EXPECT_TRUE(file) << part;
    for (std::string text; std::getline(file, text);) {
      if (text.find("\"contestant\":\"lanky\"") == std::string::npos) continue;
      const Json line = Json::parse(text);
      if (line["status"] == "ok" && line["variant"] == "auto")
        results.push_back(predict_line(line));
    }
  }
  return results;
}

TEST(DenseModel, ComesNearTheCommittedMeasurements) {
  std::map<std::string, std::pair<int, int>> classes;  // misses and points of the core
  int points = 0;
  int near = 0;
  int others = 0;
  int others_near = 0;
  for (const Measured& measured : read_results()) {
    if (!measured.core) {
      ++others;
      others_near += measured.near();
      continue;
    }
    ++points;
    near += measured.near();
    auto& [misses, all] = classes[concat(measured.kernel, " ", measured.arithmetic)];
    misses += !measured.near();
    ++all;
  }
  std::cout << near << " of " << points << " predictions of the core are within 25 %, "
            << others_near << " of " << others << " of the sample\n";
  EXPECT_GT(points, 2000);
  EXPECT_GE(near, 0.9 * points);
  EXPECT_GE(others_near, 0.8 * others);
  if (!HasFailure()) return;
  for (const auto& [name, counts] : classes) {
    if (5 * counts.first > counts.second)
      std::cout << name << ": " << counts.first << " of " << counts.second << " missed\n";
  }
}

}  // namespace
}  // namespace lanky::dense
