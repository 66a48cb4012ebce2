// One benchmark case: a product, the contestants that compute it, and what came of each.
#pragma once

#include <cstdint>
#include <lanky/dense.hpp>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/cases/gemm_type.hpp"
#include "bench/cases/random.hpp"
#include "bench/cases/spmv_data.hpp"
#include "bench/harness/contestant.hpp"
#include "bench/harness/session.hpp"
#include "bench/harness/stopwatch.hpp"
#include "bench/harness/verify.hpp"
#include "bench/records/content_hash.hpp"

namespace lanky::bench {

struct SpmvCase {
  std::string name;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t nnz = 0;
  DType dtype = DType::f64;
  std::string matrix_class{};  // see spmv_set.hpp
  Origin origin{};
  std::string label{};  // what people see it called, where that is not its name
  SpmvColumns columns{};
  bool sampled = false;  // SDDMM: X Y^T at the entries, in place of A X

  bool is_vector() const { return !sampled && columns.count == 1; }
};

struct GemmCase {
  std::string name{};  // "" until named: see gemm_case_name()
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Op op_a = Op::none;
  Op op_b = Op::none;
  Layout layout = Layout::col;
  bool padded = false;  // leading dimensions are 8 elements longer than tight
  double alpha = 1;
  double beta = 0;
  GemmType type{};
  bool symmetric = false;  // B is A: the family "syrk"
  bool positive = false;   // random values are in (0, 1), not in (-1, 1)
};

/// "panel", "update", "gram", "syrk", "regular": as records spell it.
std::string family_name(const GemmCase& gemm);

/// "n", "t", "c"; "col", "row": as records spell them.
std::string_view to_string(Op op) noexcept;
std::string_view to_string(Layout layout) noexcept;

/// What a product must at least move and compute.
struct Footprint {
  std::int64_t read = 0;     // bytes
  std::int64_t written = 0;  // bytes
  double flops = 0;
  std::int64_t least = 0;  // bytes that no form of the operands can do without

  std::int64_t bytes() const { return read + written; }
};

/// The variant of lanky that multiplies each column alone, which is there to be beaten: it counts
/// neither as lanky's product nor as a rival's.
constexpr std::string_view kByColumns = "columns";

/// One contestant's part in a report; times only where status is ok.
struct Outcome {
  std::string contestant;
  std::string variant;
  Status status = Status::ok;
  std::string message;
  double setup_us = 0;
  std::optional<double> update_us{};  // of Contestant::update, in batches
  std::int64_t plan_bytes = 0;
  std::optional<std::int64_t> setup_bytes{};
  std::string explanation;
  Decision decision{};
  std::optional<Verdict> verdict;  // on random data
  std::optional<Timing> timing;
  std::optional<bool> reproducible{};  // see SeenBits

  /// What is no failure although it is not ok: a vendor has no such product, or takes too long.
  bool expected() const;
};

struct CaseReport {
  std::variant<SpmvCase, GemmCase> subject;
  Footprint footprint;
  std::optional<Timing> floor;      // absent where no contestant could be timed
  std::optional<double> peak_us{};  // of the flops alone, at the measured arithmetic peak
  std::vector<Outcome> outcomes;

  /// Every outcome is ok or expected.
  bool all_ok() const;

  /// The time that comparisons count: of sparse products on a GPU in a replayed graph, of all
  /// others in a batch; null where that is not known.
  const Estimate* counted(const std::optional<Timing>& timing) const;
  /// The fastest of lanky's outcomes, or of its rivals'; where none has a time the first of them,
  /// null where there is none.
  const Outcome* best(bool lanky) const;
  /// Time of the best rival over lanky's, where both are known.
  std::optional<double> speedup() const;
};

/// Products of so many bytes are long enough for a batch to time them without the host's launches,
/// and find the caches cold by themselves.
constexpr std::int64_t kMostCold = 60'000'000;

/// What a case does for the harness.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::variant<SpmvCase, GemmCase> subject() const = 0;
  virtual Footprint footprint() const = 0;
  virtual int slots() const = 0;  // sets of operands that launches rotate through
  virtual bool timed_by_graph() const { return true; }
  virtual bool timed_cold() const { return true; }
  /// Time of the flops alone, where the device's peak in this arithmetic is known.
  virtual std::optional<double> peak_us() { return std::nullopt; }
  /// Gives all operands that data, and remembers what the product should be.
  virtual void fill(Fill fill) = 0;
  /// All contestants, ready for the operands as they are.
  virtual std::vector<Contestant> contestants() = 0;
  /// Makes the result of a slot unusable, so that a product must write it.
  virtual void poison(int slot) = 0;
  /// Whether many products in a row, after one poison(), leave the result of one.
  virtual bool repeatable() const { return true; }
  /// The contestant's result in a slot against the reference for `fill`.
  virtual Verdict check(Fill fill, const Contestant& contestant, int slot) = 0;
};

/// all: on integer and on random data. random: on that alone, where a run may take minutes. none:
/// results are not looked at, and no verdict is given.
enum class Checks : std::uint8_t { all, random, none };

/// Checks every contestant on integer and on random data, given new values too where it takes them,
/// and times those that are right. Checks again what the timed products wrote, and further products
/// after them; whoever is then wrong, or faster than the device can move the operands, has no time.
CaseReport run_workload(Session& session, Workload& workload, Checks checks = Checks::all);

}  // namespace lanky::bench
