#include "bench/cases/spmv_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <lanky/error.hpp>

#include "bench/cases/draw.hpp"

namespace lanky::bench {

namespace {

constexpr double kFewestEntries = 1e4;
constexpr double kMostEntries = 2e8;

/// Three digits, so that a spec can be typed again.
std::int64_t rounded(double size) {
  double unit = 1;
  while (size / unit >= 1000)
    unit *= 10;
  return std::max<std::int64_t>(1, std::llround(size / unit) * std::llround(unit));
}

template <class... Sizes>
std::string spec(std::string name, Sizes... sizes) {
  for (const std::int64_t size : {static_cast<std::int64_t>(sizes)...})
    name.append(":").append(std::to_string(size));
  return name;
}

std::string stencil5(double entries, bool /*local*/, Draw& /*draw*/) {
  return spec("stencil5", std::llround(std::sqrt(entries / 5)));
}
std::string stencil7(double entries, bool /*local*/, Draw& /*draw*/) {
  return spec("stencil7", std::llround(std::cbrt(entries / 7)));
}
std::string stencil27(double entries, bool /*local*/, Draw& /*draw*/) {
  return spec("stencil27", std::llround(std::cbrt(entries / 27)));
}
std::string fem(double entries, bool /*local*/, Draw& /*draw*/) {
  return spec("fem", std::llround(std::cbrt(entries / 243)));  // 3 rows of 81 a node
}
std::string mesh(double entries, bool /*local*/, Draw& draw) {
  constexpr double kNeighbours = 19.7;  // of a node, on average
  const std::int64_t unknowns = draw.happens(0.5) ? 1 : 3;
  const auto a_node = kNeighbours * static_cast<double>(unknowns * unknowns);
  return spec("mesh", rounded(entries / a_node), unknowns);
}
std::string banded(double entries, bool /*local*/, Draw& draw) {
  const std::int64_t half_width = draw.between(1, 20);
  return spec("banded", rounded(entries / static_cast<double>(2 * half_width + 1)), half_width);
}
std::string band(double entries, bool /*local*/, Draw& draw) {
  const std::int64_t per_row = draw.between(8, 40);
  return spec("band", rounded(entries / static_cast<double>(per_row)),
              rounded(draw.scaled(200, 10000)), per_row);
}
std::string diagonal(double entries, bool /*local*/, Draw& /*draw*/) {
  return spec("diagonal", rounded(entries));
}
std::string dense(double entries, bool /*local*/, Draw& /*draw*/) {
  return spec("dense", rounded(std::sqrt(entries)));
}
std::string uniform(double entries, bool /*local*/, Draw& draw) {
  const std::int64_t per_row = draw.between(4, 64);
  return spec("uniform", rounded(entries / static_cast<double>(per_row)), per_row);
}
std::string rmat(double entries, bool /*local*/, Draw& draw) {
  const auto per_row = static_cast<double>(draw.between(8, 32));
  const auto scale = std::llround(std::log2(entries / per_row));
  return spec(
      "rmat", scale,
      std::max<std::int64_t>(1, std::llround(std::ldexp(entries, -static_cast<int>(scale)))));
}

std::string near_diagonal(const std::string& matrix, bool local, Draw& draw) {
  return local ? matrix + ",span=" + std::to_string(rounded(draw.scaled(200, 10000))) : matrix;
}
std::string short_rows(double entries, bool local, Draw& draw) {
  const std::int64_t length = draw.between(0, 4);  // 0: all of 1 to 4
  const double mean = length == 0 ? 2.5 : static_cast<double>(length);
  return near_diagonal(spec("short", rounded(entries / mean), length), local, draw);
}
std::string mixed(double entries, bool local, Draw& draw) {
  const std::int64_t most = draw.between(16, 128);
  return near_diagonal(spec("mixed", rounded(2 * entries / static_cast<double>(most)), most), local,
                       draw);
}
std::string huge(double entries, bool local, Draw& draw) {
  const std::int64_t count = draw.between(1, 32);
  const double a_row = static_cast<double>(count) / 2 + 2.5;  // half a row each, and short rows
  return near_diagonal(spec("huge", rounded(entries / a_row), count), local, draw);
}
std::string empty(double entries, bool local, Draw& draw) {
  const std::int64_t percent = draw.between(85, 95);
  const double a_row = 8.5 * static_cast<double>(100 - percent) / 100;
  return near_diagonal(spec("empty", rounded(entries / a_row), percent), local, draw);
}

/// A spec of about so many entries; `local`: near the diagonal, where there is a choice.
using MakeSpec = std::string (*)(double entries, bool local, Draw& draw);

struct DrawnGenerator {
  std::string_view name;
  std::string_view matrix_class;
  MakeSpec make;
};

/// Classes are those of matrices near the diagonal.
constexpr std::array kGenerators = {DrawnGenerator{"stencil5", "stencil", stencil5},
                                    DrawnGenerator{"stencil7", "stencil", stencil7},
                                    DrawnGenerator{"stencil27", "stencil", stencil27},
                                    DrawnGenerator{"banded", "stencil", banded},
                                    DrawnGenerator{"fem", "regular", fem},
                                    DrawnGenerator{"mesh", "regular", mesh},
                                    DrawnGenerator{"band", "regular", band},
                                    DrawnGenerator{"dense", "regular", dense},
                                    DrawnGenerator{"diagonal", "short", diagonal},
                                    DrawnGenerator{"short", "short", short_rows},
                                    DrawnGenerator{"mixed", "varying", mixed},
                                    DrawnGenerator{"huge", "varying", huge},
                                    DrawnGenerator{"empty", "empty", empty},
                                    DrawnGenerator{"rmat", "power", rmat},
                                    DrawnGenerator{"uniform", "uniform", uniform}};

/// Whose columns are near the diagonal where a span says so. (Of huge, those of the short rows:
/// they are few.)
constexpr bool has_span(std::string_view generator) {
  return generator == "short" || generator == "mixed" || generator == "empty";
}

/// 5e4 and 1e6 entries, then 3e7 to 5.1e7 each.
constexpr std::array kChosenMatrices = {"stencil5:100",
                                        "stencil27:34",
                                        "uniform:62500:16",
                                        "rmat:16",
                                        "stencil5:3200",
                                        "stencil7:192",
                                        "stencil27:123",
                                        "fem:59",
                                        "mesh:2500000",
                                        "mesh:280000:3",
                                        "band:3100000:2000:16",
                                        "mixed:1562500:64,span=1000",
                                        "huge:4760000:16,span=1000",
                                        "rmat:21:24",
                                        "uniform:3100000:16",
                                        "short:30000000:1,span=1000",
                                        "short:15000000:2,span=1000",
                                        "short:10000000:3,span=1000",
                                        "short:7500000:4,span=1000",
                                        "empty:59000000:90,span=1000"};

}  // namespace

std::string matrix_class(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find_first_of(":,"));
  const auto* const found = std::find_if(kGenerators.begin(), kGenerators.end(),
                                         [&](const auto& each) { return each.name == name; });
  if (found == kGenerators.end()) return "";
  if (has_span(name) && spec.find(",span=") == std::string_view::npos) return "uniform";
  return std::string(found->matrix_class);
}

std::vector<std::string> drawn_matrices(std::uint64_t seed) {
  std::vector<std::string> specs;
  for (std::size_t g = 0; g < kGenerators.size(); ++g) {
    for (int i = 0; i < kDrawnOfEach; ++i) {
      Draw draw(mix(seed) + kDrawnOfEach * g + static_cast<std::size_t>(i));
      const double place = (i + draw.share()) / kDrawnOfEach;
      const double entries = kFewestEntries * std::pow(kMostEntries / kFewestEntries, place);
      specs.push_back(kGenerators[g].make(entries, i % 2 == 0, draw));
    }
  }
  return specs;
}

std::vector<std::string> irregular_matrices(std::uint64_t seed) {
  constexpr double kMost = 3e7;
  constexpr int kCount = 90;
  std::vector<std::string> specs;
  for (int i = 0; i < kCount; ++i) {
    Draw draw(mix(seed) + static_cast<std::uint64_t>(i));
    const double place = (i + draw.share()) / kCount;
    const double entries = kFewestEntries * std::pow(kMost / kFewestEntries, place);
    const auto median = std::llround(draw.scaled(1, 100));
    const std::int64_t deviation = draw.happens(0.2) ? 0 : draw.between(20, 250);
    // A log-normal distribution's mean is above its median.
    const double sigma = static_cast<double>(deviation) / 100 * std::log(2.0);
    const double a_row = static_cast<double>(median) * std::exp(sigma * sigma / 2);
    const std::int64_t rows = std::max<std::int64_t>(rounded(entries / a_row), 16);
    const double wide = draw.happens(0.4) ? 1 : draw.scaled(1.0 / 30, 30);
    const std::int64_t cols = std::max<std::int64_t>(rounded(static_cast<double>(rows) * wide), 16);
    const std::int64_t near = draw.one_of(std::array{0, 0, 50, 90, 100});
    const std::int64_t hubs = draw.happens(0.5) ? 0 : draw.between(10, 70);
    std::string name = spec("irregular", rows, median, deviation, cols);
    if (near > 0)
      name += ",span=" + std::to_string(rounded(draw.scaled(20, 10000))) +
              ",near=" + std::to_string(near);
    if (hubs > 0 && near < 100) name += ",hubs=" + std::to_string(hubs);
    specs.push_back(name + ",seed=" + std::to_string(draw.between(1, 999)));
  }
  return specs;
}

std::vector<std::string> core_matrices() {
  std::vector<std::string> specs(kChosenMatrices.begin(), kChosenMatrices.end());
  for (std::string& drawn : drawn_matrices(kCommittedSeed))
    specs.push_back(std::move(drawn));
  return specs;
}

std::vector<std::string> choose_matrices(const SpmvSetChoice& choice) {
  if (choice.set.empty()) return {};
  if (choice.set == "core") return core_matrices();
  if (choice.set == "drawn") return drawn_matrices(choice.seed);
  if (choice.set == "irregular") return irregular_matrices(choice.seed);
  throw Error(ErrorCode::invalid_argument,
              "\"" + choice.set + "\" is not core, drawn or irregular");
}

}  // namespace lanky::bench
