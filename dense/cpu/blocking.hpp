// How a product is cut up on the CPU: which operand is vectorized, what is copied into panels,
// block sizes, and chunks of k. A function of shape, type and instruction set; threads have no say,
// so that they never change a bit.
#pragma once

#include <cstdint>

#include "core/ceil_div.hpp"
#include "dense/problem.hpp"
#include "dense/split.hpp"

namespace lanky::dense::cpu {

/// outer:   vectors along m, A [m, k] contiguous along m;   C += a column times a row, p after p
/// swapped: the same for C^T = B^T A^T: vectors along n, A contiguous along k
/// inner:   vectors along k, both operands contiguous along k
enum class Form : std::uint8_t { outer, swapped, inner };

/// The hardware's prefetchers follow addresses within a page: columns of A that are not much
/// shorter are read side by side from where they stand.
inline constexpr std::int64_t kPageBytes = 4096;

/// Elements as the kernels see them. A complex product is a real one of twice the n and k: A = [Re
/// A, Im A] times B = [Re B, Im B; -Im B, Re B].
struct Elements {
  int real_bytes = 8;      // of the type of the sums: 4 or 8
  int parts = 1;           // 2 for complex
  bool converted = false;  // those of another type than the sums are widened as they are packed
};

/// Sizes count elements of the caller, so that a complex one counts once.
struct Blocking {
  Form form = Form::outer;
  bool small = false;  // A, B and C stay in the second cache: nothing is packed that vectors can
                       // read, and tiles store C itself
  std::int64_t worth = 1;  // tasks of 10 to 20 us of one thread's work
  bool a_in_place = false;
  bool b_in_place = false;
  bool b_shared = false;  // all of B is packed before the tasks begin, each of which reads it
  /// Rows of a row-major gram side by side: A' [k / fold, fold m] and B' [k / fold, fold n] are the
  /// same memory, fill vectors, and C is the sum of the diagonal blocks of A'^T B'.
  int fold = 1;
  /// Rows of A' at its end that are left to the reduction, so that the last vector of every other
  /// row may be read beyond it: as many as that vector reaches, none where rows fill vectors.
  int spare = 0;
  int rows = 0;     // of C at a time
  int columns = 0;  // of C at a time
  int depth = 0;    // of k in one panel
  int promote = 0;  // of k that sums in the type of the product take before they join the totals,
                    // which are doubles; a multiple of depth
  int step = 0;     // of k for which a kernel is called
  int chain = 0;    // numbers that are added up one by one
  int blocks = 1;   // of rows in one task
  Split split{};    // of k into tasks

  /// Tasks leave partial sums of C to a reduction.
  bool partial() const noexcept { return split.count > 1 || fold > 1 || spare > 0; }
};

/// The product that tiles compute where rows are folded or spared: without the last few terms.
Problem folded(const Problem& problem, const Blocking& blocking) noexcept;

/// `width`: numbers in a vector register.
Blocking choose_blocking(const Problem& problem, Elements elements, int width) noexcept;

/// Of `threads`, those that share `tasks`: one where the others save less time than a region of
/// threads takes (team_us()).
int threads_worth(const Blocking& blocking, int threads, std::int64_t tasks,
                  double team_us) noexcept;

}  // namespace lanky::dense::cpu
