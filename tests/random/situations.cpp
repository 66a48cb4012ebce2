// The rows of the table in docs/guide/special_values.md.
#include "random/situations.hpp"

#include <cmath>
#include <cstdio>

namespace lanky::random_cases {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<Situation> of_reals() {
  const auto of = [](Terms terms) { return [terms](const Format&) { return terms; }; };
  return {
      {"no products", true, of({.products = {}})},
      {"no products, beta = 1", true, of({.products = {}, .beta = 1, .old = 3})},
      {"NaN in A", true, of({.products = {{1, 1}, {kNan, 2}, {1, 3}}})},
      {"NaN in x", true, of({.products = {{1, 1}, {2, kNan}, {1, 3}}})},
      {"Inf in A", true, of({.products = {{1, 1}, {kInf, 2}}})},
      {"Inf in A times -1", true, of({.products = {{1, 1}, {kInf, -1}}})},
      {"Inf - Inf", true, of({.products = {{1, kInf}, {2, 1}, {1, -kInf}}})},
      {"Inf times an explicit 0", true, of({.products = {{0, kInf}, {1, 1}}})},
      {"NaN and Inf elsewhere in A, x and padding", true,
       of({.products = {{1, 2}, {3, 4}}, .elsewhere = true})},
      {"beta = 0, NaN in y", true, of({.products = {{1, 2}}, .beta = 0, .old = kNan})},
      {"beta = 1, NaN in y", true, of({.products = {{1, 2}}, .beta = 1, .old = kNan})},
      {"beta = NaN", true, of({.products = {{1, 2}}, .beta = kNan, .old = 1})},
      {"beta = 1, Inf in y, a sum of -Inf", true,
       of({.products = {{1, -kInf}}, .beta = 1, .old = kInf})},
      {"alpha = NaN", true, of({.products = {{1, 2}}, .alpha = kNan})},
      {"alpha = Inf, a sum of 0", true, of({.products = {{1, 1}, {-1, 1}}, .alpha = kInf})},
      {"alpha = 0, finite sum, beta = 1", true,
       of({.products = {{1, 2}}, .alpha = 0, .beta = 1, .old = 3})},
      {"alpha = 0, NaN in A, beta = 1", true,
       of({.products = {{1, 2}, {kNan, 1}}, .alpha = 0, .beta = 1, .old = 3})},
      {"1 - 1", true, of({.products = {{1, 1}, {-1, 1}}})},
      {"a product of -0 alone", false, of({.products = {{-0.0, 1}}, .rest = {-0.0, 1}})},
      {"1 - 1, alpha = -1", false, of({.products = {{1, 1}, {-1, 1}}, .alpha = -1})},
      {"products of -0, beta = 1, -0 in y", false,
       of({.products = {{-0.0, 1}, {-0.0, 1}}, .beta = 1, .old = -0.0, .rest = {-0.0, 1}})},
      {"smallest subnormal times 2^10", true,
       [](const Format& f) {
         return Terms{.products = {{f.subnormal, 1024}}};
       }},
      {"two subnormals added", true,
       [](const Format& f) {
         return Terms{.products = {{f.subnormal, 3}, {f.subnormal, 2}}};
       }},
      {"normals whose difference is subnormal", true,
       [](const Format& f) {
         return Terms{.products = {{1.5 * f.normal, 1}, {-f.normal, 1}}};
       }},
      {"smallest subnormal times .5", true,
       [](const Format& f) {
         return Terms{.products = {{f.subnormal, 0.5}}};
       }},
      {"smallest subnormal times .75", true,
       [](const Format& f) {
         return Terms{.products = {{f.subnormal, 0.75}}};
       }},
      {"the largest number times 2", true,
       [](const Format& f) {
         return Terms{.products = {{f.max, 2}}};
       }},
      {"the largest number times -2", true,
       [](const Format& f) {
         return Terms{.products = {{f.max, -2}}};
       }},
      {"the largest number and a quarter of its unit", true,
       [](const Format& f) {
         return Terms{.products = {{f.max, 1}, {f.max * f.roundoff / 4, 1}}};
       }},
      {"sums that overflow on the way: M + M - M - M", false,
       [](const Format& f) {
         return Terms{.products = {{f.max, 1}, {f.max, 1}, {f.max, -1}, {f.max, -1}}};
       }},
      {"products that overflow: 2 M - 2 M", false,
       [](const Format& f) {
         return Terms{.products = {{f.max, 2}, {f.max, -2}}};
       }},
      {"alpha times the sum overflows, beta y brings it back", false,
       [](const Format& f) {
         return Terms{
             .products = {{1, 1}, {1, 1}}, .alpha = f.scale_most, .beta = -f.scale_most, .old = 1};
       }},
  };
}

std::vector<Situation> of_complex() {
  const auto of = [](Terms terms) { return [terms](const Format&) { return terms; }; };
  const Number i(0, 1);
  return {
      {"(NaN + 0i) times 2", true, of({.products = {{Number(kNan, 0), 2}, {1, 1}}})},
      {"(Inf + 0i) times 2", true, of({.products = {{Number(kInf, 0), 2}, {1, 1}}})},
      {"(Inf + Inf i) times (1 + i)", true,
       of({.products = {{Number(kInf, kInf), Number(1, 1)}, {1, 1}}})},
      {"NaN and Inf elsewhere in A, x and padding", true,
       of({.products = {{Number(1, 2), Number(3, 4)}}, .elsewhere = true})},
      {"beta = 0, NaN in y", true,
       of({.products = {{i, i}}, .beta = 0, .old = Number(kNan, kNan)})},
      {"alpha = 0, NaN in A, beta = 1", true,
       of({.products = {{Number(kNan, 0), 1}}, .alpha = 0, .beta = 1, .old = Number(3, 4)})},
      {"alpha = i, 1 in A", true, of({.products = {{1, 3}}, .alpha = i})},
  };
}

}  // namespace

std::vector<Situation> situations(bool complex) {
  return complex ? of_complex() : of_reals();
}

std::string outcome(double computed, long double exact, double exact_rounded) {
  if (std::isnan(computed)) return "NaN";
  if (std::isinf(computed)) return computed > 0 ? "+Inf" : "-Inf";
  if (computed == 0 && (exact == 0 || std::isnan(exact)))
    return std::signbit(computed) ? "-0" : "+0";
  if (computed == exact_rounded) return "exact";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", computed);
  return text;
}

}  // namespace lanky::random_cases
