#include "local_matrix.hpp"

#include <algorithm>
#include <limits>

namespace lanky_petsc {
namespace {

/// CSR as lanky takes it; `narrow` holds the columns where PetscInt has 64 bits.
PetscErrorCode csr_of(Mat a, std::vector<std::int32_t>* narrow, lanky::CsrView<Element>* csr,
                      MatrixState* state) {
  const PetscInt* offsets = nullptr;
  const PetscInt* columns = nullptr;
  PetscScalar* values = nullptr;
  PetscMemType type = PETSC_MEMTYPE_HOST;
  PetscInt rows = 0, cols = 0;
  PetscFunctionBegin;
  PetscCall(MatGetSize(a, &rows, &cols));
  PetscCall(MatSeqAIJGetCSRAndMemType(a, &offsets, &columns, &values, &type));
  PetscCall(MatGetNonzeroState(a, &state->pattern));
  PetscCall(PetscObjectStateGet(object_of(a), &state->values));
  state->columns = columns;
  state->nnz = rows > 0 ? offsets[rows] : 0;
  csr->rows = rows;
  csr->cols = cols;
  csr->nnz = state->nnz;
  csr->values = elements(values);
  if (narrow == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  if constexpr (sizeof(PetscInt) == 4) {
    csr->row_offsets = reinterpret_cast<const std::int32_t*>(offsets);
    csr->col_indices = reinterpret_cast<const std::int32_t*>(columns);
  } else {
    PetscCheck(cols <= std::numeric_limits<std::int32_t>::max(), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "lanky: a block of %" PetscInt_FMT " columns; lanky has at most 2^31 - 1", cols);
    PetscCall(guarded([&] { narrow->assign(columns, columns + state->nnz); }));
    csr->row_offsets = reinterpret_cast<const std::int64_t*>(offsets);
    csr->col_indices = narrow->data();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of `csr` that have entries, and where these begin: as offsets of a matrix of these
/// rows, which has the columns and values of `csr`.
std::vector<PetscInt> rows_with_entries(const lanky::CsrView<Element>& csr,
                                        std::vector<std::int64_t>* offsets) {
  std::vector<PetscInt> rows;
  offsets->assign(1, 0);
  for (std::int64_t i = 0; i < csr.rows; ++i) {
    if (csr.row_offsets[i] == csr.row_offsets[i + 1]) continue;
    rows.push_back(static_cast<PetscInt>(i));
    offsets->push_back(csr.row_offsets[i + 1]);
  }
  return rows;
}

/// Whether Y += A X takes less time by a product of the rows with entries, which are then added to
/// Y, than by one that reads and writes all of Y: by the bytes of either way, on a GPU with two
/// launches more.
bool pays_to_add_rows(std::int64_t all, std::int64_t rows, PetscInt columns, lanky::Device device) {
  constexpr double kSector = 32;  // bytes that reading or writing one element of Y moves
  constexpr double kLaunch =
      4e-6;  // two H200: 4.0 and 5.0 us (launch_us of petsc_scaling_kernels.jsonl)
  const double width = columns;
  const double of_all = static_cast<double>(all) * width * 2 * sizeof(Element);
  const double of_rows = static_cast<double>(rows) * width * 2 * (sizeof(Element) + kSector);
  const double launches = device.is_cuda() ? 2 * kLaunch * device.properties().memory_bandwidth : 0;
  return of_rows + launches < of_all;
}

}  // namespace

Events& events() {
  static Events registered;
  return registered;
}

PetscErrorCode LocalMatrix::find(Mat a, lanky::Op op, const Order& streams, const Columns& x,
                                 bool adds, PetscObjectState parent, Plan** plan) {
  const PetscInt columns = std::max<PetscInt>(1, x.columns());
  const lanky::Device device = streams.x.device();
  lanky::CsrView<Element> csr;
  MatrixState state;
  std::vector<std::int32_t> narrow;
  PetscFunctionBegin;
  PetscCall(csr_of(a, nullptr, &csr, &state));
  state.parent = parent;
  // One plan for a vector, and one for several: it serves all numbers up to the one that it
  // expects, and eigensolvers ask for fewer and fewer.
  auto found = std::find_if(plans_.begin(), plans_.end(), [&](const Plan& held) {
    return held.op == op && held.stream.device() == device &&
           (held.columns == 1) == (columns == 1) && (adds || !held.rows);
  });
  if (found != plans_.end() && found->columns >= columns && found->state.same_pattern(state)) {
    if (!found->state.same_values(state)) {
      PetscCall(PetscLogEventBegin(events().update, a, 0, 0, 0));
      PetscCall(guarded([&] {
        found->plan.update_values(lanky::VectorView<const Element>(csr.values, csr.nnz));
      }));
      if (parent == -1) state.parent = found->state.parent;
      found->state = state;
      PetscCall(PetscLogEventEnd(events().update, a, 0, 0, 0));
    }
    *plan = &*found;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  if (found != plans_.end()) plans_.erase(found);  // its memory first
  lanky::SparseOptions options;
  options.op = op;
  options.updates = true;
  options.expected_columns = columns;
  options.expected_layout = x.layout();
  const char* prefix = nullptr;
  PetscBool tune = PETSC_FALSE;
  PetscCall(MatGetOptionsPrefix(a, &prefix));
  PetscCall(PetscOptionsGetBool(nullptr, prefix, "-mat_lanky_tune", &tune, nullptr));
  options.tune = tune == PETSC_TRUE;
  PetscCall(PetscLogEventBegin(events().plan, a, 0, 0, 0));
  PetscCall(csr_of(a, &narrow, &csr, &state));
  PetscCall(guarded([&] {
    std::unique_ptr<PackedRows> packed_rows;
    std::vector<std::int64_t> offsets;
    if (adds && op == lanky::Op::none) {
      std::vector<PetscInt> rows = rows_with_entries(csr, &offsets);
      const auto count = static_cast<std::int64_t>(rows.size());
      if (pays_to_add_rows(csr.rows, count, columns, device)) {
        packed_rows = std::make_unique<PackedRows>(rows);
        csr.rows = count;
        csr.row_offsets = offsets.data();
      }
    }
    const std::int64_t packed = packed_rows ? csr.rows * columns : 0;
    const lanky::Stream& own = packed_rows ? streams.x : streams.y;
    plans_.push_back({op,
                      own,
                      columns,
                      state,
                      std::move(packed_rows),
                      lanky::Buffer<Element>(own, packed),
                      {own, csr, options}});
  }));
  PetscCall(PetscLogEventEnd(events().plan, a, 0, 0, 0));
  *plan = &plans_.back();
  PetscCall(PetscInfo(a, "lanky's plan:\n%s\n", (*plan)->plan.explain().c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalMatrix::multiply(Mat a, lanky::Op op, const Columns& x, PetscScalar beta,
                                     Columns* y) {
  const lanky::Stream* stream = nullptr;
  PetscFunctionBegin;
  PetscCall(stream_of(x, &stream));
  PetscCall(multiply(a, op, x, beta, y, {*stream, *stream}, -1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LocalMatrix::multiply(Mat a, lanky::Op op, const Columns& x, PetscScalar beta,
                                     Columns* y, const Order& streams, PetscObjectState parent) {
  Plan* plan = nullptr;
  PetscFunctionBegin;
  const bool adds = beta == PetscScalar(1);
  PetscCall(find(a, op, streams, x, adds, parent, &plan));
  const double flops = 2.0 * static_cast<double>(plan->state.nnz) * x.columns();
  PetscCall(PetscLogEventBegin(events().multiply, a, 0, 0, 0));
  if (x.on_device()) PetscCall(PetscLogGpuTimeBegin());
  if (plan->rows) {
    const Columns packed(plan->packed.data(), y->type(), plan->rows->size(), y->columns());
    PetscCall(guarded([&] {
      run(streams.x, *plan, x, 0.0, packed);
      order(streams.x, streams.y);
      plan->rows->add(plan->packed.data(), *y, streams.y);
    }));
  } else {
    PetscCall(guarded([&] {
      order(streams.x, streams.y);
      run(streams.y, *plan, x, beta, *y);
    }));
  }
  if (x.on_device()) {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops));
  } else {
    PetscCall(PetscLogFlops(flops));
  }
  PetscCall(PetscLogEventEnd(events().multiply, a, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Y = A X + beta Y, in the order of `stream`; the plan's workspace belongs to its own one.
void LocalMatrix::run(const lanky::Stream& stream, const Plan& plan, const Columns& x,
                      PetscScalar beta, const Columns& y) {
  order(stream, plan.stream);
  if (x.columns() == 1) {
    plan.plan.run(plan.stream, Element(1), {elements(x.data()), x.rows()}, element(beta),
                  lanky::VectorView<Element>(elements(y.data()), y.rows()));
  } else {
    plan.plan.run(plan.stream, Element(1), x.view(), element(beta), y.view());
  }
  order(plan.stream, stream);
}

}  // namespace lanky_petsc
