#include "dense/cuda/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <utility>
#include <variant>

#include "core/ceil_div.hpp"
#include "core/text.hpp"
#include "dense/cuda/cost_table.hpp"

namespace lanky::dense {

namespace {

constexpr std::int64_t kSector = 32;  // bytes

/// Bytes of the sectors that [rows, cols] elements of `bytes` lie in.
double sector_bytes(std::int64_t rows, std::int64_t cols, Strides strides, std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  const bool by_rows = strides.col == 1;
  const std::int64_t lines = by_rows ? rows : cols;
  const std::int64_t length = (by_rows ? cols : rows) * size;
  const std::int64_t pitch = (by_rows ? strides.row : strides.col) * size;
  if (!by_rows && strides.row != 1)
    return static_cast<double>(rows * cols) * static_cast<double>(std::max(kSector, size));
  if (lines <= 1 || pitch <= length) return static_cast<double>(lines * length);
  // Lines begin at any multiple of what their pitch and a sector have in common.
  const std::int64_t common = std::gcd(pitch, kSector);
  const std::int64_t touched = std::min(pitch, length + kSector - common);
  return static_cast<double>(lines * std::max(touched, ceil_div(length, common) * common));
}

double padded(std::int64_t side, std::int64_t granule) {
  return static_cast<double>(ceil_div(side, granule) * granule);
}

/// Whether a kernel for sums wider than its operands' does what the one for floats does, which
/// multiplies widened floats on tensor cores.
bool multiplies_widened_floats(const Launch& launch) {
  if (const auto* const update = std::get_if<UpdateLaunch>(&launch))
    return std::holds_alternative<const UpdateMma*>(update->kernel);
  const auto* const gram = std::get_if<GramLaunch>(&launch);
  return gram != nullptr && !std::holds_alternative<GramVector>(gram->kernel) &&
         !std::holds_alternative<GramRowVector>(gram->kernel) &&
         !std::holds_alternative<GramRowStrip>(gram->kernel) &&
         !std::holds_alternative<GramSlices>(gram->kernel);
}

/// The terms of each kind of launch.
class Terms {
 public:
  Terms(const Request& request, RunKind kind)
      : p_(request.problem),
        types_(request.types),
        machine_(request.machine),
        in_(static_cast<double>(size_of(types_.in))),
        flops_each_(is_complex(types_.in) ? 8 : 2) {
    const double a = sector_bytes(p_.m, p_.k, p_.a, size_of(types_.in));
    const double b = sector_bytes(p_.k, p_.n, p_.b, size_of(types_.in));
    const double c = (kind.adds ? 2 : 1) * sector_bytes(p_.m, p_.n, p_.c, size_of(types_.out));
    c_ = c;
    same_ = kind.same;
    bytes_ = a + (kind.same ? 0 : b) + c;
    l2_bytes_ = a + b + c;
  }

  /// Of tiles as its heuristic might take them, and as many parts of k as keep all multiprocessors
  /// busy: what it does take is known when the plan has been made. docs/lab/regret.md has others.
  CostTerms operator()(const VendorLaunch& /*launch*/) {
    constexpr std::int64_t kGranule = 32;  // of the smallest tiles
    constexpr std::int64_t kTile = 64;
    constexpr double kPartLeast = 256;
    set_flops(padded(p_.m, kGranule), padded(p_.n, kGranule), padded(p_.k, kGranule));
    const auto k = static_cast<double>(p_.k);
    const double tiles =
        static_cast<double>(ceil_div(p_.m, kTile)) * static_cast<double>(ceil_div(p_.n, kTile));
    const double places = machine_.multiprocessors;
    const double parts = std::clamp(std::floor(places / tiles), 1.0, std::ceil(k / kPartLeast));
    set_rounds(tiles * parts, places, std::ceil(k / parts / kGranule));
    return at_nominal_rates();
  }

  CostTerms operator()(const TiledLaunch& launch) {
    const Tile tile = tile_for(launch.tile, types_.sum_bytes());
    const double tiles =
        static_cast<double>(ceil_div(p_.m, tile.m)) * static_cast<double>(ceil_div(p_.n, tile.n));
    set_flops(padded(p_.m, tile.m), padded(p_.n, tile.n), static_cast<double>(p_.k));
    l2_bytes_ = tiles * static_cast<double>(p_.k) * (tile.m + tile.n) * in_ + c_;
    if (launch.split.count > 1) add_sums(static_cast<double>(launch.split.count));
    const int resident = machine_.threads_per_multiprocessor() / tile.threads();
    const double places = 1.0 * machine_.multiprocessors * resident;
    set_rounds(tiles * static_cast<double>(launch.split.count), places,
               static_cast<double>(ceil_div(launch.split.length, std::int64_t{tile.k})));
    return at_nominal_rates();
  }

  CostTerms operator()(const PanelLaunch& launch) {
    const PanelPlan& plan = launch.plan;
    const double units = static_cast<double>(plan.tiles) * plan.steps;
    set_flops(static_cast<double>(plan.tiles) * plan.tile_rows, plan.warps_n * plan.group_columns,
              static_cast<double>(plan.steps) * plan.step);
    l2_bytes_ = units * (plan.slot_bytes + plan.small_bytes) + c_;
    if (plan.shared_tiles() || plan.classes.room > 0) {
      side_bytes_ +=
          2.0 * plan.kept * plan.blocks * static_cast<double>(p_.n) * plan.tile_rows * sum_bytes();
      ++terms_.launches;
    }
    if (launch.packs) {
      side_bytes_ += 2.0 * (plan.steps << plan.classes.log2) * plan.small_bytes;
      ++terms_.launches;
    }
    if (plan.classes.room > 0) bytes_ += bytes_of_classes(plan);
    terms_.ends = std::ceil(units / plan.blocks / plan.steps);
    set_rounds(plan.blocks, machine_.multiprocessors, units / plan.blocks);
    return at_nominal_rates();
  }

  CostTerms operator()(const UpdateLaunch& launch) {
    by_tensor_f64_ = types_.wide() && multiplies_widened_floats(launch);
    const UpdateGranules of = granules(launch, p_, types_.in);
    set_flops(static_cast<double>(p_.m), padded(p_.n, of.columns), padded(p_.k, of.depth));
    const std::int64_t tiles = ceil_div(p_.m, std::int64_t{launch.rows} * launch.passes);
    const std::int64_t row_blocks = launch.ring ? launch.ring->row_tiles : tiles;
    const double blocks = static_cast<double>(row_blocks * launch.column_blocks);
    // Blocks side by side read the same rows of A, and each all of its columns of B.
    l2_bytes_ += static_cast<double>(p_.m * p_.k * (launch.column_blocks - 1)) * in_ +
                 static_cast<double>(row_blocks * p_.k * p_.n) * in_;
    const std::int64_t resident = std::clamp<std::int64_t>(
        machine_.shared_bytes_per_multiprocessor / (launch.shared_bytes + kSharedBytesOfSystem), 1,
        machine_.threads_per_multiprocessor() / launch.threads);
    const double steps = static_cast<double>(launch.passes * ceil_div(p_.k, of.step));
    const double each = static_cast<double>(ceil_div(tiles, row_blocks));  // tiles of a block
    set_rounds(blocks, static_cast<double>(machine_.multiprocessors * resident), each * steps);
    if (launch.ring)
      terms_.fill *= static_cast<double>(tiles) / (each * static_cast<double>(row_blocks));
    return at_nominal_rates();
  }

  CostTerms operator()(const GramLaunch& launch) {
    by_tensor_f64_ = types_.wide() && multiplies_widened_floats(launch);
    if (launch.exchanged) p_ = exchanged(p_);
    const auto [rows, columns] = granules(launch, types_);
    const int packed = packed_rows(launch.kernel);
    const auto* const fma = std::get_if<GramFma>(&launch.kernel);
    const auto side = [fma, this](std::int64_t all, std::int64_t most) -> std::int64_t {
      if (fma == nullptr) return most;
      return tile_side(fma_tiles(types_.in)[static_cast<std::size_t>(fma->tile)],
                       static_cast<int>(all), static_cast<int>(most));
    };
    const double m = padded(p_.m * packed, side(p_.m, rows));
    const double n = padded(p_.n * packed, side(p_.n, columns));
    set_flops(m, n, static_cast<double>(p_.k) / packed);
    if (std::holds_alternative<GramTriangle>(launch.kernel)) flops_ *= 0.5 * (n + 8) / n;
    if (same_ && std::holds_alternative<GramRowRing>(launch.kernel)) flops_ *= 0.75;
    if (same_ && (fma != nullptr || std::holds_alternative<GramDouble>(launch.kernel)))
      flops_ *= 0.5 * (n + 16) / n;
    const double tiles =
        std::ceil(m / static_cast<double>(rows)) * std::ceil(n / static_cast<double>(columns));
    if (std::holds_alternative<GramSlices>(launch.kernel)) {
      // Where A is B, no tile above the diagonal.
      const double sums = same_ && p_.m > rows ? 16 * (n + 16) : m * n;
      const double elements = static_cast<double>((same_ ? 1 : 2) << gram_slices_side_log2(p_.m));
      const auto k = static_cast<double>(p_.k);
      integer_seconds_ = k * (2 * kGramSlicesProducts * sums / machine_.tensor_int8 +
                              kGramSlicesInstructions * elements / machine_.issue_rate());
    }
    const bool vector = std::holds_alternative<GramVector>(launch.kernel);
    if (vector || fma != nullptr)
      l2_bytes_ += (tiles - 1) * static_cast<double>(p_.k * (rows + columns)) * in_;
    if (vector) {
      const double of_step = static_cast<double>(rows) * looked_up_lines(p_.a.col) +
                             static_cast<double>(columns) * looked_up_lines(p_.b.row);
      lines_ = tiles * of_step * static_cast<double>(p_.k);
    }
    if (std::holds_alternative<GramWgmma>(launch.kernel)) {  // slots have whole granules
      const double width = m + (same_ ? 0 : n);
      l2_bytes_ = std::max(l2_bytes_, static_cast<double>(p_.k) / packed * width * in_ + c_);
    }
    if (launch.one_launch) {
      side_bytes_ += 2.0 * launch.blocks * static_cast<double>(p_.m * p_.n) * sum_bytes();
    } else {
      add_sums(partial_blocks(launch));
    }
    terms_.fill = std::min(1.0, 1.0 * launch.blocks * launch.strips / machine_.multiprocessors);
    return at_nominal_rates();
  }

 private:
  CostTerms at_nominal_rates() const {
    constexpr double kMicro = 1e6;
    const bool f64 = types_.in == DType::f64 || types_.in == DType::c128 || types_.wide();
    // Where sums are wider than operands', what units for doubles can do is the peak that counts,
    // and on many chips that is little. The rates of kernels for floats are shares of peak_f32.
    const double peak = by_tensor_f64_ ? std::max(machine_.tensor_f64, machine_.peak_f64)
                        : f64          ? machine_.peak_f64
                                       : machine_.peak_f32;
    CostTerms terms = terms_;
    terms.memory = kMicro * bytes_ / machine_.bandwidth;
    terms.l2 = kMicro * l2_bytes_ / machine_.l2_bandwidth();
    terms.flops = kMicro * (integer_seconds_ > 0 ? integer_seconds_ : flops_ / peak);
    terms.side = kMicro * side_bytes_ / machine_.l2_bandwidth();
    terms.lines = kMicro * lines_ / (machine_.clock * machine_.multiprocessors);
    return terms;
  }
  /// Lines that a load looks up for each element, where 32 lanes load elements `stride` apart.
  double looked_up_lines(std::int64_t stride) const {
    return std::min(1.0, static_cast<double>(stride) * in_ / 128);
  }
  double sum_bytes() const { return static_cast<double>(types_.sum_bytes()); }
  void set_flops(double m, double n, double k) { flops_ = flops_each_ * m * n * k; }
  void add_sums(double count) {
    side_bytes_ += 2 * count * static_cast<double>(p_.m * p_.n) * sum_bytes();
    ++terms_.launches;
  }
  /// Bytes of A that classes read beside their own: rows beyond the last of each, and sectors where
  /// pieces of columns meet.
  double bytes_of_classes(const PanelPlan& plan) const {
    const double a = static_cast<double>(p_.m * p_.k) * in_;
    const double rows = static_cast<double>(plan.tiles >> plan.classes.log2) * plan.tile_rows;
    const double of_class = plan.classes.of_k ? 1.0 : 1.0 / (1 << plan.classes.log2);
    const double beyond = rows / (static_cast<double>(p_.m) * of_class) - 1;
    const double met = plan.classes.of_k ? 16 / (plan.tile_rows * in_) : 0;
    return a * (std::max(beyond, 0.0) + met);
  }
  /// `blocks` take turns at as many places, each so many steps.
  void set_rounds(double blocks, double places, double steps) {
    const double rounds = std::ceil(blocks / places);
    terms_.fill = blocks / (rounds * places);
    terms_.steps = rounds * steps;
  }

  Problem p_;
  Types types_;
  const Machine& machine_;
  double in_;
  double flops_each_;  // of a product and a sum
  double c_ = 0;       // bytes of C
  bool same_ = false;
  bool by_tensor_f64_ = false;  // floats are multiplied as doubles, and sums stay doubles
  CostTerms terms_;             // but for what has a nominal rate:
  double bytes_ = 0;
  double l2_bytes_ = 0;
  double flops_ = 0;
  double side_bytes_ = 0;
  double lines_ = 0;
  double integer_seconds_ = 0;  // of a kernel that computes in integers
};

std::string_view arithmetic_of(DType in, Math math) {
  if (is_half(in)) return "half";
  return math == Math::ieee ? to_string(in) : to_string(math);
}

/// 'm' where columns of an operand with m rows are adjacent, 'n' where rows of one with n columns
/// are; '1' for an operand of one element a line.
char letter_of(Strides strides, const char* sides) {
  if (strides.row == 1) return strides.col == 1 ? '1' : sides[0];
  return strides.col == 1 ? sides[1] : 'x';
}

/// The greatest power of two, 16 at most, that lines of an operand begin at multiples of, in bytes.
std::int64_t alignment_of(Strides strides, DType type, bool off) {
  const std::int64_t pitch = strides.row == 1 ? strides.col : strides.row;
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  const std::int64_t of_lines = pitch == 1 ? 16 : std::gcd<std::int64_t>(pitch * bytes, 16);
  return off ? std::min<std::int64_t>(of_lines, bytes) : of_lines;
}

/// The two last words of a key. cuBLASLt's kernels differ by alignment first.
void set_layout(CostKey& key, const Launch& launch, const Request& request, RunKind kind) {
  const Problem& p = request.problem;
  const auto [in, out] = request.types;
  const std::int64_t a_bytes = alignment_of(p.a, in, kind.a_off);
  const std::int64_t b_bytes = alignment_of(p.b, in, kind.b_off);
  const std::int64_t c_bytes = alignment_of(p.c, out, kind.c_off);
  const char a = letter_of(p.a, "mk");
  const char b = letter_of(p.b, "kn");
  const char c = letter_of(p.c, "mn");
  const auto with = [](std::string letters, bool off) { return letters + (off ? " off" : ""); };
  key.algorithm = algorithm_name(launch, request.types);
  if (is_vendor(launch)) {
    key.layout = concat(std::min({a_bytes, b_bytes, c_bytes}), " bytes");
    key.algorithm = {a, b, c};
  } else if (std::holds_alternative<GramLaunch>(launch)) {
    key.layout = with({a, b}, a_bytes < 16 || b_bytes < 16);
  } else if (std::holds_alternative<UpdateLaunch>(launch)) {
    key.layout = with({a, c}, a_bytes < 16 || c_bytes < 16);
  } else if (std::holds_alternative<TiledLaunch>(launch)) {
    key.layout = {a, b, c};
  } else {
    key.layout = a_bytes < 16 ? "off" : "aligned";
  }
}

/// The row of most words that all fit; there is one for each kernel.
const CostRates& rates_of(const CostKey& key) {
  using Words = std::array<std::string_view, 4>;
  const auto find = [](const Words& words) {
    return std::lower_bound(std::begin(kCostRates), std::end(kCostRates), words,
                            [](const CostRates& row, const Words& w) { return row.words < w; });
  };
  Words words{key.kernel, key.arithmetic, key.layout, key.algorithm};
  for (std::size_t known = words.size();; --known) {
    const auto found = find(words);
    if (found != std::end(kCostRates) && found->words == words) return *found;
    if (known == 1) return kUnknownKernel;
    words[known - 1] = "";
  }
}

/// The greatest of them, rounded where several are near: memory and arithmetic overlap well, but
/// not wholly.
double together(std::initializer_list<double> times) {
  double sum = 0;
  for (const double time : times)
    sum += time * time * time * time;
  return std::sqrt(std::sqrt(sum));
}

}  // namespace

CostTerms cost_terms(const Launch& launch, const Request& request, RunKind kind) {
  return std::visit(Terms(request, kind), launch);
}

CostKey cost_key(const Launch& launch, const Request& request, RunKind kind) {
  CostKey key{.kernel = kernel_name(launch),
              .arithmetic = arithmetic_of(request.types.in, request.problem.math)};
  // Not measured yet: rates are those of the kernel that does the same.
  if (request.types.wide()) {
    key.arithmetic = to_string(multiplies_widened_floats(launch) ? DType::f32 : DType::f64);
    const auto* const gram = std::get_if<GramLaunch>(&launch);
    if (gram != nullptr && std::holds_alternative<GramRowRing>(gram->kernel))
      key.kernel = kernel_name(GramKernel(GramTriangle{}));
  }
  if (is_vendor(launch)) key.kernel += concat(", ", to_string(request.family));
  set_layout(key, launch, request, kind);
  return key;
}

double predict_us(const Launch& launch, const Request& request, RunKind kind) {
  const CostTerms terms = cost_terms(launch, request, kind);
  const CostRates& rates = rates_of(cost_key(launch, request, kind));
  const double flow = together(
      {terms.memory / rates.bandwidth, terms.l2 / rates.l2, terms.flops / rates.peak, terms.lines});
  return rates.start + (terms.launches - 1) * rates.launch + terms.side / rates.side +
         terms.ends * rates.end +
         together({flow / std::pow(terms.fill, rates.fill), terms.steps * rates.step});
}

}  // namespace lanky::dense
