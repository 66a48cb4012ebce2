// Checks a product, brings it into canonical form and hands it to an executor.
#include <algorithm>
#include <lanky/dense.hpp>
#include <lanky/error.hpp>
#include <lanky/tuning.hpp>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/arguments.hpp"
#include "core/fingerprint.hpp"
#include "core/own_workspace.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "dense/backend.hpp"
#include "dense/policy.hpp"
#include "dense/problem.hpp"
#include "dense/tune.hpp"

namespace lanky::inline v1 {

namespace {

/// A GPU loads whole elements; the C++ type of complex ones promises the alignment of a part only.
template <class T>
void check_alignment(const T* data, Device device, const char* what) {
  if (!device.is_cuda() || reinterpret_cast<std::uintptr_t>(data) % sizeof(T) == 0) return;
  throw Error(ErrorCode::invalid_argument,
              concat(what, " is not aligned to the ", sizeof(T), " bytes of an element of ",
                     to_string(kDType<std::remove_const_t<T>>)));
}

template <class T>
void check_view(const MatrixView<T>& view, dense::StoredExtents extents, std::int64_t ld,
                const GemmShape& shape, Device device, const char* what) {
  if (view.rows != extents.rows || view.cols != extents.cols) {
    throw Error(ErrorCode::size_mismatch,
                concat(what, " is ", view.rows, " x ", view.cols, ", the plan is for ",
                       extents.rows, " x ", extents.cols));
  }
  if (view.layout != shape.layout) {
    throw Error(ErrorCode::size_mismatch,
                concat(what, " is ", dense::layout_name(view.layout), ", the plan is for ",
                       dense::layout_name(shape.layout)));
  }
  if (view.ld != ld) {
    throw Error(ErrorCode::size_mismatch,
                concat(what, " has leading dimension ", view.ld, ", the plan is for ", ld));
  }
  check_on_device(view.data, view.rows == 0 ? 0 : view.cols, device, what);
  check_alignment(view.data, device, what);
}

template <class Acc>
void check_scalar(const Scalar<Acc>& scalar, Device device, const char* what) {
  if (scalar.pointer() == nullptr) return;
  check_on_device(scalar.pointer(), 1, device, what);
  check_alignment(scalar.pointer(), device, what);
}

/// What cuBLASLt asks for, and Allocator promises.
constexpr std::uintptr_t kWorkspaceAlignment = 256;

void check_workspace_alignment(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (address % kWorkspaceAlignment == 0) return;
  throw Error(ErrorCode::invalid_argument,
              concat("the workspace begins ", address % kWorkspaceAlignment,
                     " bytes off a multiple of ", kWorkspaceAlignment));
}

}  // namespace

template <class T, class TOut>
struct GemmPlan<T, TOut>::Impl {
  using Element = Summed<T, TOut>;

  Impl(const Stream& stream, const GemmShape& requested, const GemmOptions& options)
      : device(stream.device()),
        shape(dense::checked(requested, kDType<T>, kDType<TOut>, options.math)),
        problem(dense::canonical(shape, options.math)),
        family(gemm_family(shape.m, shape.n, shape.k)),
        executor(empty() ? nullptr : make(stream, options)),
        workspace(stream, workspace_bytes(), options.allocator) {}

  /// What was measured of such products, and lines of explain() that say so. Choices stand in the
  /// caller's table, which a plan may outlive: none is kept.
  struct Measured {
    dense::MeasuredChoices choices;
    std::string note;  // "" for a plan that follows costs alone
  };

  /// By what was measured, whose note is kept.
  std::unique_ptr<dense::Executor<Element, TOut>> make(const Stream& stream,
                                                       const GemmOptions& options) {
    if (!options.tune) return make(stream, look_up(options.tuning));
    const GemmTuning tuning = dense::tuning_of<T, TOut>(stream, shape, options);
    return make(stream, look_up(&tuning));
  }
  std::unique_ptr<dense::Executor<Element, TOut>> make(const Stream& stream, Measured measured) {
    note = std::move(measured.note);
    return device.is_cuda()
               ? dense::cuda::make<Element, TOut>(stream, problem, family, measured.choices)
               : dense::cpu::make<Element, TOut>(problem, family, measured.choices);
  }

  /// In `tuning` (null for none), and in what lanky's developers measured. An algorithm that the
  /// vendor offers for others of the product's class alone is no choice.
  Measured look_up(const GemmTuning* tuning) const {
    std::vector<std::string> offered;  // for plain runs, which have all of the vendor's
    const auto choice_of = [&](const GemmTuning& from,
                               const GemmQuery& query) -> const GemmChoice* {
      const GemmChoice* const known = from.find(query);
      if (known == nullptr || !known->vendor || !device.is_cuda()) return known;
      if (offered.empty())
        offered = dense::cuda::vendor_algorithms(device, problem, kDType<T>, kDType<TOut>,
                                                 dense::kVendorAlgorithms);
      const auto found = std::find(offered.begin(), offered.end(), known->algorithm);
      return found != offered.end() ? known : nullptr;
    };
    GemmQuery query{device, shape, kDType<T>, kDType<TOut>};
    query.math = problem.math;
    GemmQuery adding = query;
    adding.adds = true;
    GemmQuery same = query;
    same.same_operands = true;
    const auto choices_of = [&](const GemmTuning& from) {
      return dense::MeasuredChoices{choice_of(from, query), choice_of(from, adding),
                                    choice_of(from, same)};
    };
    Measured found{choices_of(GemmTuning::of_lanky()), ""};
    const std::string own = line_of("lanky's own tuning", found.choices);
    if (tuning == nullptr) return {found.choices, own};
    const dense::MeasuredChoices known = choices_of(*tuning);
    found.note = line_of("tuning", known);
    if (found.note.empty()) {
      found.note = concat(
          "tuning: ", tuning->note().empty() ? "knows no such product" : tuning->note(), "\n", own);
    }
    if (known.general != nullptr) found.choices.general = known.general;
    if (known.adds != nullptr) found.choices.adds = known.adds;
    if (known.same != nullptr) found.choices.same = known.same;
    return found;
  }

  /// "WHO: measured fastest is ..."; "" without choices.
  static std::string line_of(const char* who, const dense::MeasuredChoices& choices) {
    const auto [general, adds, same] = choices;
    std::string text;
    const auto add = [&text](const GemmChoice* choice, const char* where) {
      if (choice == nullptr) return;
      text += concat(text.empty() ? " " : ", ", where, choice->vendor ? "the vendor" : "lanky");
    };
    add(general, "");
    if (adds != general) add(adds, "where beta is not 0 ");
    if (same != general) add(same, "where A is B ");
    return text.empty() ? "" : concat(who, ": measured fastest is", text, "\n");
  }

  bool empty() const noexcept { return shape.m == 0 || shape.n == 0; }
  /// The workspace begins with counters, where they are used.
  std::int64_t counter_bytes() const noexcept {
    return !empty() && executor->counts() ? static_cast<std::int64_t>(kWorkspaceAlignment) : 0;
  }
  std::int64_t workspace_bytes() const noexcept {
    return empty() ? 0 : counter_bytes() + executor->workspace_bytes();
  }

  /// In the memory of a workspace that needs no check. The plan's `own` has counters at zero; what
  /// stands in a caller's is not known.
  void run(const Stream& stream, Scalar alpha, MatrixView<const T> a, MatrixView<const T> b,
           Scalar beta, MatrixView<TOut> c, std::byte* memory, bool own) const {
    check_same_device(device, stream.device());
    check_view(a, dense::stored_extents(shape.m, shape.k, shape.op_a), shape.lda, shape, device,
               "A");
    check_view(b, dense::stored_extents(shape.k, shape.n, shape.op_b), shape.ldb, shape, device,
               "B");
    check_view(c, {shape.m, shape.n}, shape.ldc, shape, device, "C");
    check_scalar(alpha, device, "alpha");
    check_scalar(beta, device, "beta");
    if (empty()) return;
    const bool swapped = problem.swapped;
    executor->run(
        stream,
        {.alpha = alpha,
         .a = reinterpret_cast<const Element*>(swapped ? b.data : a.data),
         .b = reinterpret_cast<const Element*>(swapped ? a.data : b.data),
         .beta = beta,
         .c = c.data,
         .workspace = memory + counter_bytes(),
         .counters = own && counter_bytes() > 0 ? reinterpret_cast<unsigned*>(memory) : nullptr});
  }

  Device device;
  GemmShape shape;
  dense::Problem problem;
  GemmFamily family;
  std::string note;                                          // Measured::note
  std::unique_ptr<dense::Executor<Element, TOut>> executor;  // null where C is empty
  OwnWorkspace workspace;
};

template <class T, class TOut>
GemmPlan<T, TOut>::GemmPlan(const Stream& stream, const GemmShape& shape,
                            const GemmOptions& options)
    : impl_((refuse_capture(stream, "a plan's constructor"),
             std::make_unique<Impl>(stream, shape, options))) {}
template <class T, class TOut>
GemmPlan<T, TOut>::GemmPlan(GemmPlan&&) noexcept = default;
template <class T, class TOut>
GemmPlan<T, TOut>& GemmPlan<T, TOut>::operator=(GemmPlan&&) noexcept = default;
template <class T, class TOut>
GemmPlan<T, TOut>::~GemmPlan() = default;

template <class T, class TOut>
void GemmPlan<T, TOut>::run(const Stream& stream, MatrixView<const T> a, MatrixView<const T> b,
                            MatrixView<TOut> c) const {
  using Sum = GemmAccumulator<T, TOut>;
  run(stream, Sum(1), a, b, Sum(0), c);
}

template <class T, class TOut>
void GemmPlan<T, TOut>::run(const Stream& stream, Scalar alpha, MatrixView<const T> a,
                            MatrixView<const T> b, Scalar beta, MatrixView<TOut> c) const {
  const OwnWorkspace::Turn turn = impl_->workspace.take(stream);
  impl_->run(stream, alpha, a, b, beta, c, turn.data(), true);
}

template <class T, class TOut>
void GemmPlan<T, TOut>::run(const Stream& stream, Scalar alpha, MatrixView<const T> a,
                            MatrixView<const T> b, Scalar beta, MatrixView<TOut> c,
                            Workspace workspace) const {
  check_workspace(workspace.data, workspace.bytes, impl_->workspace_bytes(), impl_->device);
  if (impl_->workspace_bytes() > 0) check_workspace_alignment(workspace.data);
  impl_->run(stream, alpha, a, b, beta, c, static_cast<std::byte*>(workspace.data), false);
}

template <class T, class TOut>
const GemmShape& GemmPlan<T, TOut>::shape() const noexcept {
  return impl_->shape;
}
template <class T, class TOut>
GemmFamily GemmPlan<T, TOut>::family() const noexcept {
  return impl_->family;
}
template <class T, class TOut>
Device GemmPlan<T, TOut>::device() const noexcept {
  return impl_->device;
}
template <class T, class TOut>
std::int64_t GemmPlan<T, TOut>::workspace_bytes() const noexcept {
  return impl_->workspace_bytes();
}

template <class T, class TOut>
GemmInfo GemmPlan<T, TOut>::info() const {
  const dense::Problem& p = impl_->problem;
  const dense::Bound bound = dense::predict(p, kDType<T>, kDType<TOut>, machine_of(impl_->device));
  GemmInfo info{.tuning = impl_->note,
                .bytes = bound.bytes,
                .flops = bound.flops,
                .bound_us = bound.seconds() * 1e6,
                .memory_bound = bound.memory_bound()};
  if (impl_->empty()) return info;
  impl_->executor->describe(info);
  return info;
}

template <class T, class TOut>
std::string GemmPlan<T, TOut>::explain() const {
  const GemmShape& s = impl_->shape;
  const dense::Problem& p = impl_->problem;
  const GemmInfo info = this->info();
  const auto strides = [](dense::Strides x) { return concat("(", x.row, ", ", x.col, ")"); };
  std::string text =
      concat("gemm ", lanky::to_string(kDType<T>), " -> ", lanky::to_string(kDType<TOut>), " on ",
             impl_->device.name(), ": m ", s.m, ", n ", s.n, ", k ", s.k, ", ",
             dense::layout_name(s.layout),
             p.math == Math::ieee ? "" : concat(", ", lanky::to_string(p.math), " asked for"),
             "\nfamily: ", lanky::to_string(impl_->family), "\ncanonical: C[", p.m, ", ", p.n,
             "] = A[", p.m, ", ", p.k, "] B[", p.k, ", ", p.n, "]",
             p.swapped ? " with A = op(B)^T, B = op(A)^T" : "", ", strides A ", strides(p.a), " B ",
             strides(p.b), " C ", strides(p.c), "\n", info.tuning);
  if (info.routes.empty()) text += "kernel: none, C is empty\n";
  for (const GemmRoute& route : info.routes)
    text += concat(route.when.empty() ? "kernel" : concat("  ", route.when), ": ",
                   route.configuration, "\n");
  text += concat("workspace: ", impl_->workspace_bytes(), " bytes\nbound: ", info.bytes, " bytes, ",
                 info.flops, " flops: ", info.bound_us, " us, ",
                 info.memory_bound ? "memory" : "compute", "\n");
  if (info.predicted_us > 0) text += concat("predicted: ", info.predicted_us, " us\n");
  return text;
}

template <class T, class TOut>
std::uint64_t GemmPlan<T, TOut>::fingerprint() const {
  const GemmShape& s = impl_->shape;
  const GemmInfo info = this->info();
  Fingerprint print(impl_->device);
  print.add("gemm", to_string(kDType<T>), to_string(kDType<TOut>), s.m, s.n, s.k,
            static_cast<int>(s.op_a), static_cast<int>(s.op_b), dense::layout_name(s.layout), s.lda,
            s.ldb, s.ldc, to_string(impl_->problem.math));
  for (const GemmRoute& route : info.routes)
    print.add(route.when, route.kernel, route.algorithm, route.configuration);
  for (const auto& routes : info.of_aligned)
    for (const int route : routes)
      print.add(route);
  return print.value();
}

namespace {

template <class T, class TOut>
void multiply(const Stream& stream, Op op_a, Op op_b, GemmAccumulator<T, TOut> alpha,
              MatrixView<const T> a, MatrixView<const T> b, GemmAccumulator<T, TOut> beta,
              MatrixView<TOut> c) {
  const std::int64_t k = op_a == Op::none ? a.cols : a.rows;
  const GemmPlan<T, TOut> plan(stream, {.m = c.rows,
                                        .n = c.cols,
                                        .k = k,
                                        .op_a = op_a,
                                        .op_b = op_b,
                                        .layout = c.layout,
                                        .lda = a.ld,
                                        .ldb = b.ld,
                                        .ldc = c.ld});
  plan.run(stream, alpha, a, b, beta, c);
  stream.synchronize();
}

}  // namespace

template <class T, class TOut>
void gemm(const Stream& stream, Op op_a, Op op_b, Accumulator<T> alpha, MatrixView<const T> a,
          std::type_identity_t<MatrixView<const T>> b, Accumulator<T> beta, MatrixView<TOut> c) {
  multiply<T, TOut>(stream, op_a, op_b, alpha, a, b, beta, c);
}

template <class T>
void detail::gemm_in_double(const Stream& stream, Op op_a, Op op_b, double alpha,
                            MatrixView<const T> a, MatrixView<const T> b, double beta,
                            MatrixView<double> c) {
  multiply<T, double>(stream, op_a, op_b, alpha, a, b, beta, c);
}

#define LANKY_INSTANTIATE(T, TOut)                                                        \
  template class GemmPlan<T, TOut>;                                                       \
  template void gemm<T, TOut>(const Stream&, Op, Op, Accumulator<T>, MatrixView<const T>, \
                              MatrixView<const T>, Accumulator<T>, MatrixView<TOut>);
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

#define LANKY_INSTANTIATE(T)                                                                  \
  template void detail::gemm_in_double<T>(const Stream&, Op, Op, double, MatrixView<const T>, \
                                          MatrixView<const T>, double, MatrixView<double>);
LANKY_INSTANTIATE(float)
LANKY_INSTANTIATE(half)
LANKY_INSTANTIATE(bfloat16)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
