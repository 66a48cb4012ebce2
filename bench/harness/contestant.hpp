// Who takes part in a comparison: one way to compute a product, built and ready to run.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/operation.hpp>
#include <lanky/sparse.hpp>
#include <lanky/stream.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lanky::bench {

/// How a contestant, or a whole case, ended. invalid: the input could not be read.
enum class Status : std::uint8_t { ok, wrong, oom, timeout, crash, unsupported, invalid };

/// "ok", "wrong", ...: as records spell it.
std::string_view to_string(Status status) noexcept;

/// Starts one product on the stream, with the operands of set `slot`.
using Product = std::function<void(const Stream& stream, int slot)>;

/// What a contestant has decided to run, as records have it.
struct Decision {
  std::string kernel{};     // kernel, tiles, split: one line; of a vendor its algorithm
  std::string algorithm{};  // the name that tells it from the other ways to compute the product
  double predicted_us = 0;  // 0 where it does not say
  bool chosen = false;      // a plan takes it where nothing was measured
  std::optional<SparseInfo> sparse{};
};

/// Whether products of the same operands had the same bits.
class SeenBits {
 public:
  /// `digest`: Verdict's, of one more product.
  void add(const std::optional<std::uint64_t>& digest);
  /// Empty below three products.
  std::optional<bool> equal() const;

 private:
  std::uint64_t first_ = 0;
  int products_ = 0;
  bool equal_ = true;
};

struct Contestant {
  std::string name;     // "lanky", "cusparse", "cublas", ...
  std::string variant;  // "auto", "alg1", ...
  Product run;          // set where status is ok
  double setup_us = 0;  // from operands in device memory to the first product
  std::int64_t plan_bytes = 0;
  /// Device memory that building took at its height, beyond what was in use after it; where known.
  std::optional<std::int64_t> setup_bytes{};
  /// Gives the stream of the session what takes the values that the matrix has now; empty where
  /// that is not offered.
  std::function<void()> update{};
  std::string explanation{};  // a plan's own account of itself
  Decision decision{};
  std::optional<Math> math{};  // of a dense product, where it is not the case's
  bool triangle = false;       // computes the lower triangle of a symmetric result, no more
  Status status = Status::ok;
  std::string message;  // why status is not ok
  SeenBits seen_bits{};
};

/// The status that the exception now being handled amounts to; sets `message`.
Status status_of_current_exception(std::string& message);

/// A contestant that `build` completes, its time taken as setup_us (the stream waited for). What
/// it throws becomes the status.
Contestant make_contestant(std::string name, std::string variant, const Stream& stream,
                           const std::function<void(Contestant&)>& build);

}  // namespace lanky::bench
