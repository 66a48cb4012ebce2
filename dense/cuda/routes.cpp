#include "dense/cuda/routes.hpp"

#include <algorithm>
#include <lanky/tuning.hpp>
#include <utility>

#include "core/text.hpp"
#include "dense/policy.hpp"

namespace lanky::dense {

namespace {

/// The launch of one kind of run.
class RouteChooser {
 public:
  RouteChooser(const Request& request, RunKind kind)
      : request_(request), problem_(request.problem), kind_(kind) {}

  /// By what was measured or by the rules, among the vendor's and lanky's own.
  Launch any(const MeasuredChoices& measured, bool vendor) const {
    const bool same_by_vendor =
        measured.same != nullptr && measured.same->vendor && vendor && request_.can_be_same();
    if (same_by_vendor && kind_.same) return VendorLaunch{measured.same->algorithm};
    const GemmChoice* const choice = kind_.adds ? measured.adds : measured.general;
    if (vendor && takes_vendor(choice)) {
      if (!same_by_vendor && takes_symmetric()) return symmetric();
      return VendorLaunch{choice != nullptr ? choice->algorithm : ""};
    }
    return own(choice, !same_by_vendor);
  }

  /// One of lanky's own; `with_symmetric`: the kernel for B = A may take it.
  Launch own(const GemmChoice* choice, bool with_symmetric) const {
    if (with_symmetric && takes_symmetric()) return symmetric();
    if (choice != nullptr && !choice->vendor && !choice->algorithm.empty()) {
      for (Launch& candidate : own_candidates(request_, kind_))
        if (algorithm_name(candidate) == choice->algorithm) return candidate;
    }
    return by_rules();
  }

  Launch by_rules() const {
    switch (request_.family) {
      case GemmFamily::update:
        return update();
      case GemmFamily::panel:
        if (auto launch = choose_panel(problem_, request_.types.in, request_.machine, kind_.a_off,
                                       kind_.b_off))
          return *launch;
        break;
      case GemmFamily::gram:
        return gram();
      case GemmFamily::regular:
        break;
    }
    return tiled();
  }

 private:
  bool takes_vendor(const GemmChoice* choice) const {
    return choice != nullptr
               ? choice->vendor
               : prefers_vendor(problem_, request_.family, request_.types.in, request_.machine);
  }
  GramLaunch symmetric() const {
    return choose_symmetric_gram(problem_, request_.types.in, request_.machine);
  }
  bool takes_symmetric() const {
    return kind_.same && !kind_.a_off && request_.family == GemmFamily::gram &&
           symmetric().kernel != GramKernel::none;
  }
  Launch tiled() const {
    return choose_tiled(problem_, request_.types.sum_bytes(), request_.machine);
  }
  Launch update() const {
    const auto [in, out] = request_.types;
    UpdateLaunch launch = choose_update(problem_, in, out, request_.machine);
    const bool off = kind_.a_off || kind_.c_off;
    if (off && launch.alignment > 1) launch = unaligned_update(problem_, in, out, request_.machine);
    return launch;
  }
  Launch gram() const {
    GramLaunch launch = choose_gram(problem_, request_.types.in, request_.machine);
    if (launch.kernel != GramKernel::none && (kind_.a_off || kind_.b_off))
      launch = unaligned_gram(launch, problem_, request_.types.in, request_.machine);
    if (launch.kernel == GramKernel::none) return tiled();
    return launch;
  }

  const Request& request_;
  const Problem& problem_;
  RunKind kind_;
};

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

Launch choose_launch(const Request& request, RunKind kind, const MeasuredChoices& measured,
                     bool vendor) {
  return RouteChooser(request, kind).any(measured, vendor);
}

Routes choose_routes(const Request& request, const MeasuredChoices& measured, bool vendor) {
  const bool adding_differs = measured.adds != measured.general;
  Routes routes;
  for (unsigned index = 0; index < RunKind::kCount; ++index) {
    const RunKind kind = RunKind::of(index);
    // A kind that cannot be, or is chosen for alike, has the route of one that came before.
    RunKind like = kind;
    like.same = kind.same && request.can_be_same();
    like.adds = kind.adds && adding_differs;
    if (like.index() != index) {
      routes.of[index] = routes.of[like.index()];
      continue;
    }
    const std::uint8_t chosen =
        index_of(routes.launches, choose_launch(request, kind, measured, vendor));
    const bool by_vendor = is_vendor(routes.launches[chosen]);
    routes.of[index] = {chosen, by_vendor ? index_of(routes.launches,
                                                     RouteChooser(request, kind).own(nullptr, true))
                                          : chosen};
  }
  return routes;
}

std::vector<Launch> own_candidates(const Request& request, RunKind kind) {
  std::vector<Launch> all;
  const auto add = [&all](Launch launch) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const Launch& other) {
      return algorithm_name(other) == algorithm_name(launch);
    });
    if (!known) all.push_back(std::move(launch));
  };
  const auto [in, out] = request.types;
  add(RouteChooser(request, kind).own(nullptr, true));
  add(RouteChooser(request, kind).by_rules());
  switch (request.family) {
    case GemmFamily::update:
      for (auto& launch :
           update_candidates(request.problem, in, out, request.machine, kind.a_off || kind.c_off))
        add(launch);
      break;
    case GemmFamily::panel:
      for (auto& launch :
           panel_candidates(request.problem, in, request.machine, kind.a_off, kind.b_off))
        add(launch);
      break;
    case GemmFamily::gram:
      for (auto& launch : gram_candidates(request.problem, in, request.machine,
                                          kind.a_off || kind.b_off, kind.same))
        add(launch);
      break;
    case GemmFamily::regular:
      break;
  }
  for (int tile = 0; tile < kTileCount; ++tile)
    add(tiled_launch(request.problem, tile, request.types.sum_bytes(), request.machine));
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
