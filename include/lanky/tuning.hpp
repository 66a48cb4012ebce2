// What `lanky tune` has measured on this machine: for a class of dense products, whether lanky's
// own kernels or the vendor's library computed it faster, and by which of the library's algorithms.
// Plans follow a file only where GemmOptions says so; nothing is read behind the caller's back.
#pragma once

#include <filesystem>
#include <lanky/dense.hpp>
#include <lanky/dtype.hpp>
#include <lanky/export.hpp>
#include <map>
#include <string>
#include <vector>

namespace lanky::inline v1 {

/// A way to compute a dense product.
struct GemmChoice {
  bool vendor = false;  // cuBLASLt or OpenBLAS; lanky's kernels otherwise
  // One of lanky's kernels, or of the vendor's algorithms; "" for lanky's cheapest by predicted
  // cost, or the first of the vendor's heuristic. What is not offered for a product gives way to
  // these.
  std::string algorithm{};

  friend bool operator==(const GemmChoice&, const GemmChoice&) = default;
};

/// A product that choices are made for. They hold for its class: the same card, types (f16 and bf16
/// are one; that of a C much smaller than A does not count), arithmetic, orientation (of a B much
/// smaller than A it does not count) and alignment, short sides that are equal (above 16: that
/// round up to the same multiple of 8), and long sides (above 128) of the same half power of two.
struct GemmQuery {
  Device device;
  GemmShape shape;
  DType in = DType::f64;
  DType out = DType::f64;
  // On a GPU, classes of their own:
  bool same_operands = false;  // runs whose B is A
  bool adds = false;           // runs whose beta is not 0, where C is no small part of the traffic
  Math math = Math::ieee;
};

/// Text that is equal for all products of a class. Throws Error as a plan does.
LANKY_EXPORT std::string gemm_class(const GemmQuery& query);

/// All ways to compute a product on its device, first the one that a plan takes where nothing is
/// measured: the cheapest of lanky's own; on a GPU each of its kernels that can, in the order of
/// their predicted times; and the vendor's algorithms in the order of its heuristic, at most
/// `most_algorithms` of them. Throws Error as a plan does.
LANKY_EXPORT std::vector<GemmChoice> gemm_choices(const GemmQuery& query, int most_algorithms = 16);

/// Choices by class of product.
class LANKY_EXPORT GemmTuning {
 public:
  GemmTuning() = default;
  /// From a file; empty where there is none. Throws Error: io (unreadable), parse (not a file of
  /// write(), with the line at fault).
  static GemmTuning read(const std::filesystem::path& path);
  /// $LANKY_TUNE_CACHE, or else lanky/gemm.jsonl below $XDG_CACHE_HOME or ~/.cache.
  static std::filesystem::path default_path();
  /// default_path(), read once per process. A file that cannot be used counts as empty, and note()
  /// says why.
  static const GemmTuning& of_this_user();

  /// What lanky's developers measured, on an NVIDIA H200; plans follow it where no tuning of their
  /// own knows better.
  static const GemmTuning& of_lanky();

  /// JSON lines, in a new file that then takes the place of `path`: other processes read the old
  /// one or the new one. Throws Error(io).
  void write(const std::filesystem::path& path) const;

  void set(const GemmQuery& query, GemmChoice choice);
  /// Null where nothing is known of such products.
  const GemmChoice* find(const GemmQuery& query) const;
  /// By the text that gemm_class() gives.
  const GemmChoice* find(const std::string& product_class) const;

  std::size_t size() const noexcept { return choices_.size(); }
  /// Why a file was ignored; "" otherwise.
  const std::string& note() const noexcept { return note_; }

 private:
  std::map<std::string, GemmChoice> choices_;  // by class
  std::string note_;
};

/// C = alpha op(A) op(B) + beta C, in memory of one device, as GemmPlan::run() takes them.
template <class T, class TOut = T>
struct GemmOperands {
  GemmAccumulator<T, TOut> alpha = 1;
  MatrixView<const T> a;
  MatrixView<const T> b;
  GemmAccumulator<T, TOut> beta = 0;
  MatrixView<TOut> c;
};

/// A way to compute a product, and the microseconds that it took.
struct GemmTrial {
  GemmChoice choice;
  double us = 0;
};

/// Times all that gemm_choices() lists beside what a plan without tuning takes, on the caller's
/// operands. Where another way is faster by more than two percent, `tuning` has the fastest for
/// such products afterwards: for runs whose B is A if these operands are the same, for runs that
/// add to C if beta is not 0. Returns what was measured, the plan's own way first; nothing where C
/// is empty. On a GPU runs are timed in graphs. C is overwritten, and holds no product where beta
/// is not 0. Waits. Throws Error as GemmPlan's constructor and run do; ways for which memory is not
/// enough are left out.
///
///     GemmTuning tuning;
///     measure_choices<float>(stream, shape, {.a = a, .b = b, .c = c}, tuning);
///     const GemmPlan<float> plan(stream, shape, {.tuning = &tuning});
template <class T, class TOut = T>
LANKY_EXPORT std::vector<GemmTrial> measure_choices(const Stream& stream, const GemmShape& shape,
                                                    const GemmOperands<T, TOut>& operands,
                                                    GemmTuning& tuning, Math math = Math::ieee);

}  // namespace lanky::inline v1
