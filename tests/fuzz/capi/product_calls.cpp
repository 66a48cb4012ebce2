// Calls of sparse, sampled and dense products, and of the tuning of dense ones.
#include "fuzz/capi/script.hpp"
#include "fuzz/memory_file.hpp"

namespace lanky::fuzz::capi {

namespace {

/// Options of a run with a workspace that is as large as the plan asks for, or is not.
const lanky_run_options* run_options(Script& script, std::int64_t workspace_bytes) {
  if (script.byte() % 4 != 3) return nullptr;
  Struct<lanky_run_options> options(script, lanky_run_options_init);
  options.value.alpha_memory = script.rarely(4) ? script.constant(2) : 0;
  options.value.beta_memory = script.rarely(4) ? script.constant(2) : 0;
  constexpr std::int64_t kAlignment = 256;
  if (script.rarely(2) && workspace_bytes >= 0 && workspace_bytes < (1 << 20)) {
    auto* memory = static_cast<char*>(script.memory(workspace_bytes + kAlignment));
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    options.value.workspace = memory + (kAlignment - address % kAlignment) % kAlignment;
    options.value.workspace_bytes = workspace_bytes;
    if (script.rarely(8)) options.value.workspace_bytes = script.extent();
    if (script.rarely(8)) options.value.workspace = memory + 1;
  }
  lanky_run_options* kept = static_cast<lanky_run_options*>(script.memory(4096));
  std::memset(kept, 0, 4096);
  const lanky_run_options* made = options.pointer(script);
  std::memcpy(kept, made, std::min(std::max(made->size, sizeof(std::size_t)), sizeof *kept));
  if (made->size > 4096) kept->size = made->size;
  return kept;
}

Struct<lanky_sparse_options> sparse_options(Script& script) {
  Struct<lanky_sparse_options> options(script, lanky_sparse_options_init);
  options.value.engine = script.rarely(8) ? script.constant(3) : 0;
  options.value.math = script.rarely(8) ? script.constant(3) : 0;
  options.value.symmetry = script.rarely(4) ? script.constant(4) : 0;
  options.value.op = script.constant(3);
  options.value.updates = script.rarely(4) ? script.constant(2) : 0;
  options.value.tune = script.rarely(16) ? script.constant(2) : 0;
  options.value.expected_columns = script.rarely(2) ? script.extent(20) : 1;
  options.value.expected_layout = script.constant(2);
  options.value.reserved = script.rarely(64) ? 1 : 0;
  options.value.allocator = allocator(script);
  return options;
}

void make_sparse(Script& script, Handles& handles) {
  const lanky_dtype type = dtype(script);
  const lanky_dtype out = result_type(script, type);
  const lanky_csr_view a = csr_view(script, type);
  Struct<lanky_sparse_options> options = sparse_options(script);
  lanky_sparse_plan* plan = nullptr;
  const lanky_status status =
      lanky_sparse_plan_create(handles.stream(script), type, out, script.maybe(&a),
                               script.rarely(4) ? nullptr : options.pointer(script), &plan);
  if (checked(status) == LANKY_SUCCESS) handles.sparse_plans.push_back({plan, type, out});
}

void ask_sparse(Script& script, lanky_sparse_plan* plan) {
  lanky_sparse_plan_device(plan);
  lanky_sparse_plan_device_bytes(plan);
  lanky_sparse_plan_fingerprint(plan);
  call_for_struct<lanky_sparse_info>(script, [&](lanky_sparse_info* info, std::size_t size) {
    checked(lanky_sparse_plan_info(plan, info, size));
  });
  call_for_struct<lanky_sparse_trial>(script, [&](lanky_sparse_trial* trial, std::size_t size) {
    checked(lanky_sparse_plan_trial(plan, script.extent(3), trial, size));
  });
  call_for_text(script, [&](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_sparse_plan_explain(plan, text, size, length));
  });
}

/// One-shot products check the same: of matrices whose cols are too many there is no x.
void call_at_once(Script& script, const lanky_stream* stream) {
  const lanky_dtype type = dtype(script);
  const lanky_dtype out = result_type(script, type);
  const lanky_csr_view a = csr_view(script, type);
  const std::int64_t columns = script.below(9);
  switch (script.below(3)) {
    case 0: {
      const lanky_vector_view x = vector_view(script, a.cols, type);
      const lanky_vector_view y = vector_view(script, a.rows, out);
      checked(lanky_spmv(stream, type, out, scalar(script, out), script.maybe(&a), script.maybe(&x),
                         scalar(script, out), script.maybe(&y)));
      break;
    }
    case 1: {
      const lanky_matrix_view x = matrix_view(script, a.cols, columns, type);
      const lanky_matrix_view y = matrix_view(script, a.rows, columns, out);
      checked(lanky_spmm(stream, type, out, scalar(script, out), script.maybe(&a), script.maybe(&x),
                         scalar(script, out), script.maybe(&y)));
      break;
    }
    default: {
      const lanky_matrix_view x = matrix_view(script, a.rows, columns, type);
      const lanky_matrix_view y = matrix_view(script, a.cols, columns, type);
      const lanky_vector_view values = vector_view(script, a.nnz, out);
      checked(lanky_sddmm(stream, type, out, scalar(script, out), script.maybe(&a),
                          script.maybe(&x), script.maybe(&y), scalar(script, out),
                          script.maybe(&values)));
    }
  }
}

lanky_gemm_shape* gemm_shape(Script& script, Struct<lanky_gemm_shape>& shape) {
  shape.value.m = script.extent();
  shape.value.n = script.extent(20);
  shape.value.k = script.extent();
  shape.value.op_a = script.constant(3);
  shape.value.op_b = script.constant(3);
  shape.value.layout = script.constant(2);
  shape.value.reserved = script.rarely(64) ? 1 : 0;
  if (script.rarely(4)) {
    shape.value.lda = script.extent(60);
    shape.value.ldb = script.extent(60);
    shape.value.ldc = script.extent(60);
  }
  return shape.pointer(script);
}

/// Operands of a shape with its leading dimensions.
struct DenseOperands {
  DenseOperands(Script& script, const lanky_gemm_shape& s, lanky_dtype type, lanky_dtype out)
      : a(operand(script, s.op_a == LANKY_OP_NONE ? s.m : s.k, s.op_a == LANKY_OP_NONE ? s.k : s.m,
                  s.layout, s.lda, type)),
        b(operand(script, s.op_b == LANKY_OP_NONE ? s.k : s.n, s.op_b == LANKY_OP_NONE ? s.n : s.k,
                  s.layout, s.ldb, type)),
        c(operand(script, s.m, s.n, s.layout, s.ldc, out)) {}

  static lanky_matrix_view operand(Script& script, std::int64_t rows, std::int64_t cols,
                                   lanky_layout layout, std::int64_t ld, lanky_dtype type) {
    if (script.rarely(24)) return matrix_view(script, rows, cols, type);
    const std::int64_t lines = layout == LANKY_LAYOUT_ROW ? rows : cols;
    constexpr std::int64_t kMost = 1 << 20;
    const bool exists = lines > 0 && ld > 0 && lines < kMost && ld < kMost && lines * ld < kMost;
    void* data = exists ? script.memory(lines * ld * element_bytes(type), type) : nullptr;
    return {data, rows, cols, ld, layout};
  }

  lanky_matrix_view a, b, c;
};

void make_dense(Script& script, Handles& handles) {
  const lanky_dtype type = dtype(script);
  const lanky_dtype out = result_type(script, type);
  Struct<lanky_gemm_shape> shape(script, lanky_gemm_shape_init);
  Struct<lanky_gemm_options> options(script, lanky_gemm_options_init);
  options.value.math = script.rarely(4) ? script.constant(3) : 0;
  options.value.tune = script.rarely(32) ? script.constant(2) : 0;
  options.value.tuning = pick(script, handles.tunings);
  options.value.allocator = allocator(script);
  lanky_gemm_plan* plan = nullptr;
  const lanky_status status = lanky_gemm_plan_create(
      handles.stream(script), type, out, script.maybe(gemm_shape(script, shape)),
      script.rarely(2) ? nullptr : options.pointer(script), &plan);
  if (checked(status) == LANKY_SUCCESS) handles.gemm_plans.push_back({plan, type, out});
}

void run_dense(Script& script, Handles& handles) {
  const Handles::Plan picked = pick(script, handles.gemm_plans);
  auto* plan = static_cast<lanky_gemm_plan*>(picked.handle);
  lanky_gemm_shape shape;
  lanky_gemm_shape_init(&shape, sizeof shape);
  checked(lanky_gemm_plan_shape(plan, &shape));
  const DenseOperands given(script, shape, picked.type, picked.out);
  checked(lanky_gemm_plan_run(plan, handles.stream(script), scalar(script, picked.out),
                              script.maybe(&given.a), script.maybe(&given.b),
                              scalar(script, picked.out), script.maybe(&given.c),
                              run_options(script, lanky_gemm_plan_workspace_bytes(plan))));
}

void ask_dense(Script& script, lanky_gemm_plan* plan) {
  lanky_gemm_plan_family(plan);
  lanky_gemm_plan_device(plan);
  lanky_gemm_plan_fingerprint(plan);
  lanky_gemm_family_of(script.extent(), script.extent(), script.extent());
  call_for_struct<lanky_gemm_info>(script, [&](lanky_gemm_info* info, std::size_t size) {
    checked(lanky_gemm_plan_info(plan, info, size));
  });
  call_for_struct<lanky_gemm_route>(script, [&](lanky_gemm_route* route, std::size_t size) {
    checked(lanky_gemm_plan_route(plan, script.extent(3), route, size));
  });
  call_for_text(script, [&](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_gemm_plan_explain(plan, text, size, length));
  });
  call_for_text(script, [&](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_gemm_plan_tuning(plan, text, size, length));
  });
}

/// Through a plan that is thrown away: shapes are those of the views.
void call_gemm(Script& script, Handles& handles) {
  const lanky_dtype type = dtype(script);
  const lanky_dtype out = result_type(script, type);
  const lanky_op op_a = script.constant(3);
  const lanky_op op_b = script.constant(3);
  const std::int64_t m = script.below(40);
  const std::int64_t n = script.below(20);
  const std::int64_t k = script.below(40);
  const bool plain_a = op_a == LANKY_OP_NONE;
  const bool plain_b = op_b == LANKY_OP_NONE;
  const lanky_matrix_view a = matrix_view(script, plain_a ? m : k, plain_a ? k : m, type);
  const lanky_matrix_view b = matrix_view(script, plain_b ? k : n, plain_b ? n : k, type);
  const lanky_matrix_view c = matrix_view(script, m, n, out);
  checked(lanky_gemm(handles.stream(script), type, out, op_a, op_b, scalar(script, out),
                     script.maybe(&a), script.maybe(&b), scalar(script, out), script.maybe(&c)));
}

void ask_trials(Script& script, lanky_gemm_trials* trials);

/// Which takes long.
void measure(Script& script, Handles& handles) {
  const lanky_dtype type = dtype(script);
  const lanky_dtype out = result_type(script, type);
  Struct<lanky_gemm_shape> shape(script, lanky_gemm_shape_init);
  shape.value.m = script.below(9);
  shape.value.n = script.below(9);
  shape.value.k = script.below(9);
  lanky_gemm_shape tight = shape.value;
  tight.lda = std::max<std::int64_t>(1, tight.m);
  tight.ldb = std::max<std::int64_t>(1, tight.k);
  tight.ldc = std::max<std::int64_t>(1, tight.m);
  const DenseOperands given(script, tight, type, out);
  lanky_gemm_trials* trials = nullptr;
  checked(lanky_measure_choices(
      handles.stream(script), type, out, shape.pointer(script), scalar(script, out),
      script.maybe(&given.a), script.maybe(&given.b), scalar(script, out), script.maybe(&given.c),
      script.rarely(4) ? script.constant(3) : 0, pick(script, handles.tunings),
      script.rarely(4) ? nullptr : &trials));
  if (trials != nullptr) ask_trials(script, trials);
}

void ask_trials(Script& script, lanky_gemm_trials* trials) {
  lanky_gemm_trials_size(trials);
  call_for_struct<lanky_gemm_choice>(script, [&](lanky_gemm_choice* choice, std::size_t size) {
    checked(lanky_gemm_trials_get(trials, script.extent(3), choice, size));
  });
  lanky_gemm_trials_destroy(trials);
}

}  // namespace

void call_sparse(Script& script, Handles& handles) {
  if (script.rarely(4)) return call_at_once(script, handles.stream(script));
  if (handles.sparse_plans.empty() || script.rarely(4)) make_sparse(script, handles);
  const Handles::Plan picked = pick(script, handles.sparse_plans);
  auto* plan = static_cast<lanky_sparse_plan*>(picked.handle);
  const std::int64_t rows = lanky_sparse_plan_rows(plan);
  const std::int64_t cols = lanky_sparse_plan_cols(plan);
  const std::int64_t bytes = lanky_sparse_plan_workspace_bytes(plan);
  switch (script.below(4)) {
    case 0: {
      const lanky_vector_view x = vector_view(script, cols, picked.type);
      const lanky_vector_view y = vector_view(script, rows, picked.out);
      checked(lanky_sparse_plan_run(plan, handles.stream(script), scalar(script, picked.out),
                                    script.maybe(&x), scalar(script, picked.out), script.maybe(&y),
                                    run_options(script, bytes)));
      break;
    }
    case 1: {
      const std::int64_t columns = script.below(20);
      const lanky_matrix_view x = matrix_view(script, cols, columns, picked.type);
      const lanky_matrix_view y = matrix_view(script, rows, columns, picked.out);
      checked(lanky_sparse_plan_run_matrix(plan, handles.stream(script), scalar(script, picked.out),
                                           script.maybe(&x), scalar(script, picked.out),
                                           script.maybe(&y), run_options(script, bytes)));
      break;
    }
    case 2: {
      const lanky_vector_view values =
          vector_view(script, lanky_sparse_plan_nnz(plan), picked.type);
      checked(lanky_sparse_plan_update_values(plan, handles.stream(script), script.maybe(&values)));
      break;
    }
    default:
      ask_sparse(script, plan);
  }
}

void call_sddmm(Script& script, Handles& handles) {
  if (handles.sddmm_plans.empty() || script.rarely(4)) {
    const lanky_dtype type = dtype(script);
    const lanky_dtype out = result_type(script, type);
    const lanky_csr_view a = csr_view(script, type);
    Struct<lanky_sddmm_options> options(script, lanky_sddmm_options_init);
    options.value.conjugate_y = script.rarely(4) ? script.constant(2) : 0;
    options.value.reserved = script.rarely(64) ? 1 : 0;
    options.value.expected_columns = script.rarely(2) ? script.extent(20) : 0;
    options.value.allocator = allocator(script);
    lanky_sddmm_plan* made = nullptr;
    const lanky_status status =
        lanky_sddmm_plan_create(handles.stream(script), type, out, script.maybe(&a),
                                script.rarely(4) ? nullptr : options.pointer(script), &made);
    if (checked(status) == LANKY_SUCCESS) handles.sddmm_plans.push_back({made, type, out});
  }
  const Handles::Plan picked = pick(script, handles.sddmm_plans);
  auto* plan = static_cast<lanky_sddmm_plan*>(picked.handle);
  lanky_sddmm_plan_device(plan);
  lanky_sddmm_plan_device_bytes(plan);
  lanky_sddmm_plan_fingerprint(plan);
  const std::int64_t columns = script.below(20);
  const lanky_matrix_view x =
      matrix_view(script, lanky_sddmm_plan_rows(plan), columns, picked.type);
  const lanky_matrix_view y =
      matrix_view(script, lanky_sddmm_plan_cols(plan), columns, picked.type);
  const lanky_vector_view values = vector_view(script, lanky_sddmm_plan_nnz(plan), picked.out);
  checked(lanky_sddmm_plan_run(plan, handles.stream(script), scalar(script, picked.out),
                               script.maybe(&x), script.maybe(&y), scalar(script, picked.out),
                               script.maybe(&values),
                               run_options(script, lanky_sddmm_plan_workspace_bytes(plan))));
  call_for_text(script, [&](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_sddmm_plan_explain(plan, text, size, length));
  });
}

void call_dense(Script& script, Handles& handles) {
  if (script.rarely(64)) return measure(script, handles);
  switch (script.below(4)) {
    case 0:
      return make_dense(script, handles);
    case 1:
      return run_dense(script, handles);
    case 2:
      return call_gemm(script, handles);
    default:
      return ask_dense(script,
                       static_cast<lanky_gemm_plan*>(pick(script, handles.gemm_plans).handle));
  }
}

void call_tuning(Script& script, Handles& handles) {
  if (handles.tunings.empty() || script.rarely(4)) {
    lanky_gemm_tuning* made = nullptr;
    checked(script.rarely(4) ? lanky_gemm_tuning_of_lanky(&made) : lanky_gemm_tuning_create(&made));
    if (made != nullptr) handles.tunings.push_back(made);
  }
  lanky_gemm_tuning* tuning = pick(script, handles.tunings);
  Struct<lanky_gemm_shape> shape(script, lanky_gemm_shape_init);
  Struct<lanky_gemm_query> query(script, lanky_gemm_query_init);
  query.value.shape = script.maybe(gemm_shape(script, shape));
  query.value.type = dtype(script);
  query.value.out = result_type(script, query.value.type);
  query.value.math = script.rarely(4) ? script.constant(3) : 0;
  query.value.same_operands = script.rarely(4) ? script.constant(2) : 0;
  query.value.adds = script.rarely(4) ? script.constant(2) : 0;
  query.value.device.kind = script.rarely(8) ? script.constant(2) : 0;
  if (query.value.device.kind == LANKY_DEVICE_KIND_CUDA) query.value.device.index = kNoGpu;
  const lanky_gemm_query* given = query.pointer(script);
  const std::string name = script.text();
  call_for_text(script, [&](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_gemm_class(given, text, size, length));
  });
  checked(lanky_gemm_tuning_set(tuning, script.maybe(given), script.constant(2),
                                script.maybe(name.c_str())));
  int32_t found;
  call_for_struct<lanky_gemm_choice>(script, [&](lanky_gemm_choice* choice, std::size_t size) {
    checked(lanky_gemm_tuning_find(tuning, given, choice, size, script.maybe(&found)));
  });
  lanky_gemm_tuning_size(tuning);
  call_for_text(script, [&](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_gemm_tuning_note(tuning, text, size, length));
  });
  lanky_gemm_trials* trials = nullptr;
  if (checked(lanky_gemm_choices(given, script.constant(20), &trials)) == LANKY_SUCCESS)
    ask_trials(script, trials);
  if (!script.rarely(16)) return;
  static const std::string path = scratch_folder() / "capi.jsonl";
  checked(lanky_gemm_tuning_write(tuning, path.c_str()));
  lanky_gemm_tuning* read = nullptr;
  if (checked(lanky_gemm_tuning_read(path.c_str(), &read)) == LANKY_SUCCESS)
    handles.tunings.push_back(read);
}

}  // namespace lanky::fuzz::capi
