// How a plan is made, from top to bottom of build_plan(): load, arrange, make the matrix of the
// device, ready.
#include "sparse/plan.hpp"

#include <lanky/error.hpp>
#include <string_view>
#include <utility>

#include "core/arguments.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/errors.hpp"

namespace lanky::sparse {

namespace {

/// Whether entries of op(A) stand in another order than the caller's, or are more.
bool rearranges(Symmetry symmetry, Op op) {
  return symmetry != Symmetry::general || op != Op::none;
}

void check_arrangeable(const CsrPattern& extents, const SparseOptions& options) {
  if (options.symmetry != Symmetry::general) {
    check_triangle(extents);
  } else if (options.op != Op::none) {
    check_transposable(extents);
  }
}

/// Values of op(A), in the order of `entries`, from the caller's on the device.
template <class T, class TOut>
Buffer<T> gathered(const Backend<T, TOut>& backend, const Stream& stream,
                   const Buffer<std::uint32_t>& entries, Symmetry symmetry, Op op,
                   const T* values) {
  Buffer<T> target(stream, entries.size());
  const ValueMap map{.entries = entries.data(),
                     .count = entries.size(),
                     .symmetry = symmetry,
                     .conjugated = op == Op::conj_trans};
  backend.gather_values(stream, map, values, target.data());
  return target;
}

/// op(A), and where its values stand in the caller's CSR.
template <class T>
struct Arranged {
  LoadedCsr<T> a;
  Buffer<std::uint32_t> entries;  // empty where they are not wanted any more
};

template <class T, class TOut>
Arranged<T> arrange(const Backend<T, TOut>& backend, const Stream& stream,
                    const LoadedCsr<T>& given, const SparseOptions& options) {
  if (!rearranges(options.symmetry, options.op)) return {given, Buffer<std::uint32_t>(stream, 0)};
  Allocator* const allocator = options.updates ? options.allocator : nullptr;
  const CsrPattern pattern = given.csr.pattern();
  Arrangement made = options.symmetry == Symmetry::general
                         ? backend.transpose(pattern, allocator)
                         : backend.expand(pattern, TriangleMarks(options.op), allocator);
  Buffer<T> values =
      gathered(backend, stream, made.entries, options.symmetry, options.op, given.csr.values);
  Buffer<std::uint32_t> entries = std::exchange(made.entries, Buffer<std::uint32_t>(stream, 0));
  if (!options.updates) entries = Buffer<std::uint32_t>(stream, 0);
  const RowFacts facts = made.facts;
  const auto arrays =
      std::make_shared<const std::pair<Arrangement, Buffer<T>>>(std::move(made), std::move(values));
  const Csr<T> csr{.rows = facts.rows,
                   .cols = facts.cols,
                   .nnz = facts.nnz,
                   .row_offsets = arrays->first.row_offsets.data(),
                   .columns = arrays->first.columns.data(),
                   .values = arrays->second.data()};
  return {{csr, facts, arrays}, std::move(entries)};
}

template <class T, class TOut>
std::unique_ptr<const Backend<T, TOut>> make_backend(const Stream& stream) {
  if (stream.device().is_cuda()) return cuda::make<T, TOut>(stream);
  return cpu::make<T, TOut>(stream);
}

}  // namespace

template <class T, class TOut>
Plan<T, TOut> build_plan(const Stream& stream, const CsrView<T>& a, const SparseOptions& options) {
  refuse_capture(stream, "a plan's constructor");
  const PathChoice choice = choose_path(options, kDType<T>, stream.device().kind());
  check_arrangeable(extents_of(a), options);
  if (options.expected_columns < 1) {
    throw Error(ErrorCode::invalid_argument,
                concat("a plan for ", options.expected_columns, " columns; at least 1"));
  }
  auto backend = make_backend<T, TOut>(stream);

  LoadedCsr<T> given = backend->load(a);
  Arranged<T> arranged = arrange(*backend, stream, given, options);
  auto matrix = backend->make_matrix(arranged.a, options, choice);
  arranged.a = given = {};  // the workspace may take the memory of both

  OwnWorkspace workspace(stream, matrix->workspace_bytes(), options.allocator);
  return {.stream = stream,
          .backend = std::move(backend),
          .symmetry = options.symmetry,
          .op = options.op,
          .given_entries = a.nnz,
          .entries = std::move(arranged.entries),
          .matrix = std::move(matrix),
          .workspace = std::move(workspace)};
}

template <class T, class TOut>
void update_values(Plan<T, TOut>& plan, const Stream& stream, VectorView<const T> values) {
  const bool rearranged = rearranges(plan.symmetry, plan.op);
  if (rearranged && plan.entries.size() != plan.matrix->nnz()) {
    throw Error(ErrorCode::unsupported,
                concat("new values for ",
                       plan.symmetry == Symmetry::general ? "a transposed matrix" : "a triangle",
                       ", whose plan was made without SparseOptions::updates"));
  }
  const LoadedArray<T> own(stream, values.data, values.size, "the new values of A");
  if (!rearranged) return plan.matrix->update_values(stream, own.data());
  const Buffer<T> arranged =
      gathered(*plan.backend, stream, plan.entries, plan.symmetry, plan.op, own.data());
  plan.matrix->update_values(stream, arranged.data());
}

template <class T, class TOut>
PlanInfo info_of(const Plan<T, TOut>& plan) {
  PlanInfo info{.device = plan.stream.device(),
                .dtype = kDType<T>,
                .out_dtype = kDType<TOut>,
                .symmetry = plan.symmetry,
                .given_entries = plan.given_entries,
                .op = plan.op,
                .choice = {},
                .workspace_bytes = plan.matrix->workspace_bytes(),
                .device_bytes = device_bytes(plan),
                .header = {}};
  plan.matrix->tell(info);
  return info;
}

#define LANKY_INSTANTIATE(T, TOut)                                                           \
  template Plan<T, TOut> build_plan(const Stream&, const CsrView<T>&, const SparseOptions&); \
  template void update_values(Plan<T, TOut>&, const Stream&, VectorView<const T>);           \
  template PlanInfo info_of(const Plan<T, TOut>&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
