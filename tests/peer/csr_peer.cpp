// An example of lanky/peer.h: y = A x and Y = A X by the loops over CSR that anyone would write,
// one thread, f64 and f32 in host memory. docs/batch.md builds it by hand.
#include <lanky/peer.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

namespace {

/// X or Y: element (i, j) stands at i * row + j * column.
template <class Pointer>
struct Strided {
  Pointer data;
  std::int64_t row;
  std::int64_t column;
};

template <class Pointer>
Strided<Pointer> strided(Pointer data, std::int64_t ld, std::int32_t layout) {
  if (layout == LANKY_PEER_BY_ROWS) return {data, ld, 1};
  return {data, 1, ld};
}

/// Y = A X for one type of values and one of offsets. A vector is a matrix of one column.
template <class T, class Offset>
void multiply(const lanky_peer_matrix& a, std::int64_t columns, Strided<const void*> x,
              Strided<void*> y) {
  const auto* offsets = static_cast<const Offset*>(a.row_offsets);
  const auto* values = static_cast<const T*>(a.values);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const T* of_x = static_cast<const T*>(x.data) + j * x.column;
      T sum = 0;
      for (Offset k = offsets[i]; k < offsets[i + 1]; ++k)
        sum += values[k] * of_x[a.col_indices[k] * x.row];
      static_cast<T*>(y.data)[i * y.row + j * y.column] = sum;
    }
  }
}

/// What setup makes for the products: here the matrix alone, and which loop runs.
struct Plan {
  lanky_peer_matrix matrix;
  void (*multiply)(const lanky_peer_matrix&, std::int64_t, Strided<const void*>, Strided<void*>);
};

template <class T>
auto loop_of(const lanky_peer_matrix& a) {
  return a.offset_bytes == 4 ? multiply<T, std::int32_t> : multiply<T, std::int64_t>;
}

}  // namespace

extern "C" {

const char* lanky_peer_name() {
  return "csr-example";
}

const char* lanky_peer_version() {
  return "1.0";
}

int lanky_peer_setup(const lanky_peer_matrix* matrix, void** plan, lanky_peer_report* report) {
  const bool f64 = std::strcmp(matrix->dtype, "f64") == 0;
  const bool f32 = std::strcmp(matrix->dtype, "f32") == 0;
  if (matrix->device >= 0 || (!f64 && !f32)) {
    std::snprintf(report->message, sizeof report->message, "f64 and f32 on the host, not %s on %s",
                  matrix->dtype, matrix->device >= 0 ? "a GPU" : "the host");
    return LANKY_PEER_UNSUPPORTED;
  }
  Plan* made =
      new (std::nothrow) Plan{*matrix, f64 ? loop_of<double>(*matrix) : loop_of<float>(*matrix)};
  if (made == nullptr) return LANKY_PEER_OUT_OF_MEMORY;
  *plan = made;
  report->plan_bytes =
      (matrix->rows + 1) * matrix->offset_bytes + matrix->nnz * (std::int64_t{4} + (f64 ? 8 : 4));
  return LANKY_PEER_OK;
}

int lanky_peer_run(void* plan, const void* x, void* y) {
  const auto& made = *static_cast<const Plan*>(plan);
  made.multiply(made.matrix, 1, {x, 1, 0}, {y, 1, 0});
  return LANKY_PEER_OK;
}

int lanky_peer_run_columns(void* plan, int64_t columns, const void* x, int64_t ldx,
                           int32_t x_layout, void* y, int64_t ldy, int32_t y_layout) {
  const auto& made = *static_cast<const Plan*>(plan);
  made.multiply(made.matrix, columns, strided(x, ldx, x_layout), strided(y, ldy, y_layout));
  return LANKY_PEER_OK;
}

void lanky_peer_teardown(void* plan) {
  delete static_cast<Plan*>(plan);
}
}
