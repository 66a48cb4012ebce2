// What a thread of random_cases works with: its streams, the counts of its checks, and the way to
// tell a failure.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <lanky/lanky.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "random/arena.hpp"
#include "random/judge.hpp"
#include "random/operand.hpp"
#include "random/options.hpp"
#include "random/tally.hpp"

namespace lanky::random_cases {

/// Plans serve so many cases each, numbered one after the other.
constexpr std::int64_t kCasesOfPlan = 8;

/// What all threads share.
struct Common {
  const Options& options;
  std::atomic<std::int64_t> next_plan{0};
  std::atomic<std::int64_t> failures{0};
  std::atomic<std::int64_t> tampered{0};  // results that were made wrong
  std::atomic<std::int64_t> noticed{0};   // of these, reported
  std::atomic<bool> over{false};
  std::mutex output{};
};

/// A way to run a product once more, whose bits must be the same.
enum class Again : std::uint8_t { none, same, other_stream, graph, scalars, threads };

inline const char* text_of(Again again) {
  constexpr const char* kNames[] = {"no second run",
                                    "a second run",
                                    "another stream and a lent workspace",
                                    "a graph, replayed",
                                    "scalars in the other memory",
                                    "other threads"};
  return kNames[static_cast<int>(again)];
}

/// How a product is run.
struct How {
  bool lent = false;       // a workspace of the caller's, on the other stream
  bool on_device = false;  // alpha and beta
  bool graph = false;      // captured and replayed
  int threads = 1;         // of OpenMP
};

/// What judged the components of a result.
struct Verdict {
  double worst = 0;
  double worst_long = 0;  // of long sums
  std::string fault{};
  std::int64_t components = 0;
  std::int64_t tampered = -1;  // the component that is to be made wrong
};

/// All digits of a number.
inline std::string exact_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

class Worker {
 public:
  explicit Worker(Common& the_common)
      : common(the_common),
        options(the_common.options),
        stream(options.device),
        other(options.device),
        arena_(stream, options.apart),
        arena_of_other_(other, options.apart) {}

  bool is_cuda() const { return options.device.is_cuda(); }
  /// Whether a case is repeated alone: then it tells all about itself.
  bool tells() const { return options.only && *options.only == number; }

  /// How to run a product, at random.
  How draw_how(Random& random) const {
    How how;
    how.lent = one_in(random, 4);
    how.on_device = one_in(random, 4);
    how.threads = !is_cuda() && one_in(random, 8) ? 2 : 1;
    return how;
  }
  Again draw_again(Random& random) const {
    if (one_in(random, 2)) return Again::none;
    if (is_cuda())
      return one_of(random, {Again::same, Again::other_stream, Again::graph, Again::scalars});
    return one_of(random, {Again::same, Again::other_stream, Again::scalars, Again::threads});
  }
  static How changed(How how, Again again) {
    if (again == Again::other_stream) how.lent = !how.lent;
    if (again == Again::graph) how.graph = true;
    if (again == Again::scalars) how.on_device = !how.on_device;
    if (again == Again::threads) how.threads = 3 - how.threads;
    return how;
  }

  /// For the operands of a product that is run so; empty.
  Arena& arena(const How& how) {
    Arena& made = how.lent ? arena_of_other_ : arena_;
    made.clear();
    return made;
  }

  /// Runs `product(stream, alpha, beta, workspace, result)`, as `how` says, on a result that holds
  /// `before` and operands of arena(how), and returns what it holds afterwards. `workspace` is null
  /// where none is lent.
  template <class Sum, class E, class Product>
  std::vector<E> run(const How& how, std::int64_t workspace_bytes, Sum alpha, Sum beta,
                     const std::vector<E>& before, const Product& product) {
    const Stream& on = how.lent ? other : stream;
    Arena& operands = how.lent ? arena_of_other_ : arena_;
    const std::size_t result = operands.add(before);
    const std::size_t scalars = operands.add(std::vector<Sum>{alpha, beta});
    operands.upload_all();
    const auto* const on_device = operands.template data<Sum>(scalars);
    const auto first = how.on_device ? Scalar<Sum>::on_device(on_device) : Scalar<Sum>(alpha);
    const auto second = how.on_device ? Scalar<Sum>::on_device(on_device + 1) : Scalar<Sum>(beta);
    const Workspace workspace = how.lent ? lend(workspace_bytes) : Workspace{};
    E* const data = operands.template data<E>(result);
    omp_set_num_threads(how.threads);
    const auto work = [&] { product(on, first, second, how.lent ? &workspace : nullptr, data); };
    std::vector<E> after(before.size());
    if (how.graph && is_cuda()) {
      const Captured captured(on, work);
      captured.launch(on);
      upload(on, data, before.data(), before.size() * sizeof(E));
      captured.launch(on);
      download(on, after.data(), data, after.size() * sizeof(E));  // before the graph is gone
    } else {
      work();
      download(on, after.data(), data, after.size() * sizeof(E));
    }
    omp_set_num_threads(1);
    return after;
  }

  /// Counts a check of the case at work, and tells its failure, if `fault` is any.
  void count(const std::string& check, const std::string& dtype, const char* unit,
             const std::string& fault, double share = 0, double share_long = 0) {
    Count& made = tally[{check, dtype}];
    made.unit = unit;
    made.add(!fault.empty(), share, share_long, number);
    if (!fault.empty()) fail(check + " " + dtype + ", " + fault);
  }

  /// Makes the result wrong, or asks the judge to, where that is to be noticed.
  template <class E>
  void tamper(Verdict& verdict, const Operand<E>& operand, std::vector<E>& after) {
    const std::int64_t components = operand.rows * operand.cols * (kIsComplex<E> ? 2 : 1);
    if (options.tampering == Tampering::bound && components > 0) {
      tampered_here = true;
      verdict.tampered = static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(number)) %
                                                   static_cast<std::uint64_t>(components));
    }
    if (options.tampering != Tampering::padding) return;
    const std::int64_t inside =
        operand.line > 0 && operand.lines > 0 ? (operand.lines - 1) * operand.ld + operand.line : 0;
    const auto size = static_cast<std::int64_t>(after.size());
    const std::int64_t at = operand.offset > 0 ? operand.offset - 1
                            : operand.ld > operand.line && operand.lines > 1 && operand.line > 0
                                ? operand.line
                                : inside;
    if (at >= size) return;
    tampered_here = true;
    after[at] = testing::element<E>(-78.0);
  }

  /// Compares the elements of two results, wherever they stand, and what is around the second.
  template <class E>
  void expect_same_bits(const std::string& check, const std::string& dtype, const std::string& how,
                        const Operand<E>& operand, const std::vector<E>& first,
                        const Operand<E>& operand2, std::vector<E>& second) {
    if (options.tampering == Tampering::bit && operand.rows * operand.cols > 0) {
      tampered_here = true;
      E& element = second[operand2.index(operand.rows - 1, operand.cols - 1)];
      // Another NaN is no other result.
      if (std::isnan(testing::parts(element).real())) element = E{};
      reinterpret_cast<unsigned char*>(&element)[0] ^= 1;
    }
    std::string fault;
    for (std::int64_t j = 0; j < operand.cols && fault.empty(); ++j) {
      for (std::int64_t i = 0; i < operand.rows && fault.empty(); ++i) {
        const E& a = first[operand.index(i, j)];
        const E& b = second[operand2.index(i, j)];
        if (!same_bits(a, b))
          fault = concat(how, ": (", i, ", ", j, ") is ", exact_text(testing::parts(b).real()), " ",
                         exact_text(testing::parts(b).imag()), " instead of ",
                         exact_text(testing::parts(a).real()), " ",
                         exact_text(testing::parts(a).imag()));
      }
    }
    const std::int64_t touched = operand2.touched(second);
    if (touched >= 0) fault = concat(how, ": memory around at ", touched, " was written");
    count(check, dtype, "pairs", fault);
  }

  void fail(const std::string& text) {
    if (options.tampering != Tampering::none) {
      noticed_here = true;
      return;
    }
    if (++common.failures > options.most_failures) return;
    const std::lock_guard lock(common.output);
    std::printf(
        "FAILED case %lld: %s\n  %s\n  again: random_cases --device %s --kind %s --seed %llu "
        "--case %lld\n",
        static_cast<long long>(number), text.c_str(), subject.c_str(),
        options.device.name().c_str(), options.kind.c_str(),
        static_cast<unsigned long long>(options.seed), static_cast<long long>(number));
    std::fflush(stdout);
  }

  Common& common;
  const Options& options;
  Stream stream;
  Stream other;
  Tally tally{};
  std::int64_t number = 0;  // of the case at work
  std::string subject{};    // what it is
  bool tampered_here = false;
  bool noticed_here = false;
  std::atomic<std::int64_t> at_work{-1};  // the case, for whoever watches
  std::atomic<double> since{0};           // seconds of a steady clock

 private:
  /// Memory on the other stream, with whatever is left in it.
  Workspace lend(std::int64_t bytes) {
    if (!lent_ || lent_->size() < bytes || options.apart)
      lent_ = std::make_unique<Buffer<std::byte>>(other, options.apart ? bytes : 2 * bytes);
    return {lent_->data(), bytes};
  }

  Arena arena_;
  Arena arena_of_other_;
  std::unique_ptr<Buffer<std::byte>> lent_{};
};

/// "f64", or "f16:f32" where the result is of another type; tf32 and tf32x3 as types of their own.
template <class T, class TOut>
std::string type_text(Math math = Math::ieee) {
  if (math != Math::ieee) return std::string(to_string(math));
  std::string text(to_string(kDType<T>));
  if (kDType<T> != kDType<TOut>) text.append(":").append(to_string(kDType<TOut>));
  return text;
}

/// A value that a component of that reference must not have.
inline double wrong_value(const Bound& bound, const Reference& reference, double computed) {
  if (!std::isfinite(reference.plain)) return std::isnan(reference.plain) ? 0 : -reference.plain;
  const double exact = reference.high + reference.low;
  if (bound.exact) return exact == 0 ? 1 : exact * 1.25;
  const double allowed = allowed_error(bound, reference);
  return exact + (allowed == 0 ? 1 : std::copysign(2 * allowed, computed - exact));
}

/// Judges one component; `place` tells where it stands, if it is wrong.
template <class TOut, class TellPlace>
void judge(Verdict& verdict, const Bound& bound, const Reference& reference, double computed,
           TellPlace place) {
  if (verdict.components++ == verdict.tampered) computed = wrong_value(bound, reference, computed);
  const double share = share_of_bound<TOut>(bound, reference, computed);
  if (reference.terms >= kLongSum) verdict.worst_long = std::max(verdict.worst_long, share);
  if (share <= verdict.worst) return;
  verdict.worst = share;
  if (share <= 1) return;
  verdict.fault = concat(place(), " is ", exact_text(computed), " instead of ",
                         exact_text(reference.high + reference.low), ", of ", reference.terms,
                         " products with magnitudes of ", exact_text(reference.magnitude),
                         "; error over bound ", share);
}

/// Judges both components of an element.
template <class T, class TOut, class TellPlace>
void judge_element(Verdict& verdict, const Bound& bound, const Sums<T>& sums,
                   std::complex<double> alpha, std::complex<double> beta,
                   std::complex<double> before, TOut after, TellPlace place) {
  const auto computed = testing::parts(after);
  Reference real = sums.real(alpha, beta, before);
  if constexpr (!kIsComplex<T>) {
    judge<TOut>(verdict, bound, real, computed.real(), place);
  } else {
    Reference imag = sums.imag(alpha, beta, before);
    if (bound.mixes_parts) {
      if (!std::isfinite(real.plain) || !std::isfinite(imag.plain)) return;
      real.magnitude = imag.magnitude = real.magnitude + imag.magnitude;
    }
    judge<TOut>(verdict, bound, real, computed.real(), place);
    judge<TOut>(verdict, bound, imag, computed.imag(), place);
  }
}

}  // namespace lanky::random_cases
