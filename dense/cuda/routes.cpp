#include "dense/cuda/routes.hpp"

#include <algorithm>
#include <array>
#include <lanky/tuning.hpp>
#include <utility>

#include "core/text.hpp"
#include "dense/cuda/cost.hpp"

namespace lanky::dense {

namespace {

/// The part of a kind that candidates and their costs depend on: kinds that share it are one.
RunKind relevant(const Request& request, RunKind kind) {
  RunKind like = kind;
  like.same = kind.same && request.can_be_same();
  switch (request.family) {
    case GemmFamily::gram:
      like.a_off = like.b_off = kind.a_off || kind.b_off;
      like.c_off = false;
      break;
    case GemmFamily::update:
      like.a_off = like.c_off = kind.a_off || kind.c_off;
      like.b_off = false;
      break;
    case GemmFamily::panel:
      like.c_off = false;
      break;
    case GemmFamily::regular:
      like.a_off = like.b_off = like.c_off = false;
      break;
  }
  return like;
}

const Launch& cheapest_own(const std::vector<Candidate>& all) {
  return std::find_if(all.begin(), all.end(),
                      [](const Candidate& candidate) { return !is_vendor(candidate.launch); })
      ->launch;
}

/// By what was measured, where it is a candidate, or else the cheapest.
Launch choose(const std::vector<Candidate>& all, Types types, const GemmChoice* measured,
              bool vendor) {
  if (measured != nullptr && measured->vendor && vendor) return VendorLaunch{measured->algorithm};
  if (measured != nullptr && !measured->vendor) {
    if (measured->algorithm.empty()) return cheapest_own(all);
    for (const auto& [us, launch] : all)
      if (!is_vendor(launch) && algorithm_name(launch, types) == measured->algorithm) return launch;
  }
  return all.front().launch;
}

const GemmChoice* measured_for(RunKind kind, const MeasuredChoices& measured) {
  if (kind.same) return measured.same;
  return kind.adds ? measured.adds : measured.general;
}

/// Index of a launch among those that are there, added where it is not.
std::uint8_t index_of(std::vector<Launch>& launches, Launch launch) {
  const auto found = std::find(launches.begin(), launches.end(), launch);
  const auto index = static_cast<std::uint8_t>(found - launches.begin());
  if (found == launches.end()) launches.push_back(std::move(launch));
  return index;
}

/// "A is B", "beta is not 0", "A is off 16 bytes": what makes a run one of this kind.
std::string conditions(RunKind kind) {
  std::string text;
  const auto add = [&text](bool holds, const char* what) {
    if (holds) text += concat(text.empty() ? "" : " and ", what);
  };
  add(kind.same, "A is B");
  add(kind.adds, "beta is not 0");
  add(kind.a_off, "A is off 16 bytes");
  add(kind.b_off, "B is off 16 bytes");
  add(kind.c_off, "C is off 16 bytes");
  return text;
}

}  // namespace

std::vector<Candidate> candidates(const Request& request, RunKind kind, bool vendor) {
  std::vector<Launch> launches = own_candidates(request, kind);
  if (vendor) launches.emplace_back(VendorLaunch{});
  std::vector<Candidate> all;
  all.reserve(launches.size());
  for (Launch& launch : launches)
    all.push_back({predict_us(launch, request, kind), std::move(launch)});
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.us < b.us; });
  return all;
}

Routes choose_routes(const Request& request, const MeasuredChoices& measured, bool vendor) {
  Routes routes;
  std::array<bool, RunKind::kCount> known{};
  for (unsigned index = 0; index < RunKind::kCount; ++index) {
    const RunKind kind = relevant(request, RunKind::of(index));
    Routes::Route& route = routes.of[kind.index()];
    if (!std::exchange(known[kind.index()], true)) {
      const std::vector<Candidate> all = candidates(request, kind, vendor);
      const Launch chosen = choose(all, request.types, measured_for(kind, measured), vendor);
      route.launch = index_of(routes.launches, chosen);
      route.own = index_of(routes.launches, is_vendor(chosen) ? cheapest_own(all) : chosen);
    }
    routes.of[index] = route;
  }
  return routes;
}

std::vector<Launch> own_candidates(const Request& request, RunKind kind) {
  const Problem& problem = request.problem;
  const Machine& machine = request.machine;
  const auto [in, out] = request.types;
  std::vector<Launch> all;
  const auto add = [&all](auto&& launches) {
    for (auto& launch : launches) {
      if (std::find(all.begin(), all.end(), Launch(launch)) == all.end())
        all.push_back(std::move(launch));
    }
  };
  switch (request.family) {
    case GemmFamily::update:
      add(update_candidates(problem, in, out, machine, kind.a_off || kind.c_off));
      break;
    case GemmFamily::panel:
      if (!request.types.wide())
        add(panel_candidates(problem, in, machine, kind.a_off, kind.b_off));
      break;
    case GemmFamily::gram:
      add(gram_candidates(problem, request.types, machine, kind.a_off || kind.b_off, kind.same));
      break;
    case GemmFamily::regular:
      break;
  }
  add(tiled_candidates(problem, request.types.sum_bytes(), machine));
  return all;
}

std::string describe_kinds(const Routes& routes, std::size_t launch) {
  // A kind that another one of this launch is a part of says nothing more.
  std::string text;
  std::vector<unsigned> least;
  for (unsigned index = 0; index < RunKind::kCount; ++index) {
    if (routes.of[index].launch != launch) continue;
    if (index == 0) return "";
    const bool covered = std::any_of(least.begin(), least.end(),
                                     [&](unsigned part) { return (part & index) == part; });
    if (covered) continue;
    least.push_back(index);
    text += concat(text.empty() ? "where " : ", or ", conditions(RunKind::of(index)));
  }
  return text.empty() ? "where the vendor's cannot" : text;
}

}  // namespace lanky::dense
