// How a plan is made, from top to bottom of build_plan(): load, arrange, choose, pack, tune, ready.
#include "sparse/plan.hpp"

#include <lanky/error.hpp>
#include <string_view>
#include <utility>

#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/errors.hpp"

namespace lanky::sparse {

namespace {

/// Whether entries of op(A) stand in another order than the caller's, or are more.
bool rearranges(Symmetry symmetry, Op op) {
  return symmetry != Symmetry::general || op != Op::none;
}

void check_arrangeable(const CsrPattern& extents, const PlanOptions& options) {
  if (options.symmetry != Symmetry::general) {
    check_triangle(extents);
  } else if (options.op != Op::none) {
    check_transposable(extents);
  }
}

/// Values of op(A), in the order of `entries`, from the caller's on the device.
template <class T, class TOut>
Buffer<T> gathered(const Executor<T, TOut>& executor, const Buffer<std::uint32_t>& entries,
                   Symmetry symmetry, Op op, const T* values) {
  Buffer<T> target(entries.stream(), entries.size());
  const ValueMap map{.entries = entries.data(),
                     .count = entries.size(),
                     .symmetry = symmetry,
                     .conjugated = op == Op::conj_trans};
  executor.gather_values(map, values, target.data());
  return target;
}

/// op(A), and where its values stand in the caller's CSR.
template <class T>
struct Arranged {
  LoadedCsr<T> a;
  Buffer<std::uint32_t> entries;  // empty where they are not wanted any more
};

template <class T, class TOut>
Arranged<T> arrange(const Executor<T, TOut>& executor, const Stream& stream,
                    const LoadedCsr<T>& given, const PlanOptions& options) {
  if (!rearranges(options.symmetry, options.op)) return {given, Buffer<std::uint32_t>(stream, 0)};
  Allocator* const allocator = options.updates ? options.allocator : nullptr;
  const CsrPattern pattern = given.csr.pattern();
  Arrangement made = options.symmetry == Symmetry::general
                         ? executor.transpose(pattern, allocator)
                         : executor.expand(pattern, TriangleMarks(options.op), allocator);
  Buffer<T> values =
      gathered(executor, made.entries, options.symmetry, options.op, given.csr.values);
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
std::unique_ptr<const Executor<T, TOut>> make_executor(const Stream& stream) {
  return stream.device().is_cuda() ? cuda::make<T, TOut>(stream) : cpu::make<T, TOut>(stream);
}

}  // namespace

template <class T, class TOut>
RowFacts facts_of(const Executor<T, TOut>& executor, const LoadedCsr<T>& a, SpmvPath path) {
  RowFacts facts = a.facts;
  const CsrPattern pattern = a.csr.pattern();
  const ReachFacts reach = executor.reach_facts(pattern);
  facts.reach = reach.mean;
  facts.repeated = reach.repeated;
  facts.locality = locality_of(executor.column_samples(pattern));
  if (path == SpmvPath::cuda && may_have_hot_columns(facts)) {
    const std::int64_t most = hot_columns_most(kDType<T>, executor.machine());
    const HotFacts hot = executor.hot_facts(pattern, most);
    facts.hot_least = hot.least;
    facts.hot_entries = hot.entries;
  }
  return facts;
}

template <class T, class TOut>
Plan<T, TOut> build_plan(const Stream& stream, const CsrView<T>& a, const PlanOptions& options) {
  PathChoice choice = choose_path(options.path, kDType<T>, stream.device().kind());
  check_arrangeable(extents_of(a), options);
  auto executor = make_executor<T, TOut>(stream);

  LoadedCsr<T> given = executor->load(a);
  Arranged<T> arranged = arrange(*executor, stream, given, options);
  const RowFacts facts = facts_of(*executor, arranged.a, choice.path);
  const ShapeChoice model = choose_shape(facts, kDType<T>, executor->machine());
  PackedMatrix<T> packed = executor->pack(arranged.a.csr, model.shape, options.allocator);
  std::optional<Tuning> tuning;
  if (options.tune) {
    const std::vector<Shape> shapes =
        shapes_near(model.shape, facts, kDType<T>, executor->machine());
    tuning = tune(*executor, arranged.a.csr, shapes, options, packed, choice);
  }
  arranged.a = given = {};  // the workspace may take the memory of both

  Buffer<std::byte> workspace(stream, workspace_bytes<T>(packed.header), options.allocator);
  workspace.fill_zero();
  const Launches launches = executor->prepare(choice.path, packed.header);
  stream.synchronize();  // memory is ready for every stream, not only for this one
  return {.stream = stream,
          .executor = std::move(executor),
          .symmetry = options.symmetry,
          .op = options.op,
          .given_entries = a.nnz,
          .entries = std::move(arranged.entries),
          .packed = std::move(packed),
          .model = model,
          .choice = choice,
          .tuning = std::move(tuning),
          .launches = launches,
          .workspace = std::move(workspace)};
}

template <class T, class TOut>
void update_values(const Plan<T, TOut>& plan, VectorView<const T> values) {
  const bool rearranged = rearranges(plan.symmetry, plan.op);
  if (rearranged && plan.entries.size() != plan.header().nnz) {
    throw Error(ErrorCode::unsupported,
                concat("new values for ",
                       plan.symmetry == Symmetry::general ? "a transposed matrix" : "a triangle",
                       ", whose plan was made without PlanOptions::updates"));
  }
  const Executor<T, TOut>& executor = *plan.executor;
  const LoadedArray<T> own(plan.stream, values.data, values.size, "the new values of A");
  T* const slots = plan.packed.values.data();
  if (!rearranged) return executor.update_values(plan.packed.view(), own.data(), slots);
  const Buffer<T> arranged = gathered(executor, plan.entries, plan.symmetry, plan.op, own.data());
  executor.update_values(plan.packed.view(), arranged.data(), slots);
}

template <class T, class TOut>
PlanInfo info_of(const Plan<T, TOut>& plan) {
  return {.device = plan.stream.device(),
          .dtype = kDType<T>,
          .out_dtype = kDType<TOut>,
          .symmetry = plan.symmetry,
          .given_entries = plan.given_entries,
          .op = plan.op,
          .choice = plan.choice,
          .workspace_bytes = workspace_bytes<T>(plan.header()),
          .device_bytes = device_bytes(plan),
          .header = plan.header(),
          .launches = plan.launches,
          .tuning = plan.tuning,
          .model = plan.model};
}

#define LANKY_INSTANTIATE(T, TOut)                                                         \
  template RowFacts facts_of(const Executor<T, TOut>&, const LoadedCsr<T>&, SpmvPath);     \
  template Plan<T, TOut> build_plan(const Stream&, const CsrView<T>&, const PlanOptions&); \
  template void update_values(const Plan<T, TOut>&, VectorView<const T>);                  \
  template PlanInfo info_of(const Plan<T, TOut>&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
