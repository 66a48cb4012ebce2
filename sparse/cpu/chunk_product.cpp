#include "sparse/cpu/chunk_product.hpp"

#include <algorithm>

#include "core/for_each.hpp"
#include "core/plan_types.hpp"
#include "sparse/cpu/kernel_operands.hpp"

namespace lanky::sparse::cpu {

namespace {

/// Columns whose elements stand side by side are multiplied a few at a time, so that the parts of X
/// that rows near each other read stay in the caches: one where most rows read X all over.
int columns_at_once(const ChunkHeader& header, const Strides& of_x) {
  constexpr auto kScattered = static_cast<std::size_t>(Codes::absolute);
  if (of_x.column == 1) return kColumnsAtOnce;
  return 2 * header.code_entries[kScattered] > header.nnz ? 1 : 4;
}

}  // namespace

template <class T, class TOut>
void run_chunks(const ChunkMatrix<T>& a, const Product<T, TOut>& product,
                const ChunkKernels& kernels) {
  using Sum = Accumulator<T>;
  const ChunkKernel& kernel = kernel_of<T, TOut>(kernels);
  const ChunkView view = a.view();
  const Sum alpha = load(product.alpha);
  const Sum beta = load(product.beta);
  const auto arguments = [&](std::int64_t task) -> TaskArguments {
    const Task& begin = view.tasks[task];
    return {view.chunks + begin.first_chunk,
            view.chunks + view.tasks[task + 1].first_chunk,
            view.codes + begin.first_code,
            a.values.data() + begin.first_value,
            product.x,
            product.y,
            &alpha,
            &beta,
            product.partials};
  };
  for_each_task(a.header.tasks, a.header.threads,
                [&](std::int64_t task) { kernel.run_task(arguments(task)); });
  for (std::int64_t row = 0; row < a.header.cut_rows; ++row) {
    Sum sum{};
    for (std::int64_t i = view.cut_starts[row]; i < view.cut_starts[row + 1]; ++i)
      sum += product.partials[i];
    kernel.write_row(arguments(0), view.cut_rows[row], &sum);
  }
}

template <class T, class TOut>
void run_chunks(const ChunkMatrix<T>& a, const ColumnsOperands<T, TOut>& operands,
                Accumulator<T>* partials, bool threads, const ChunkKernels& kernels, T* x_by_rows,
                std::int64_t x_columns) {
  using Sum = Accumulator<T>;
  const ChunkKernel& kernel = kernel_of<T, TOut>(kernels);
  const ChunkView view = a.view();
  const Sum alpha = load(operands.alpha);
  const Sum beta = load(operands.beta);
  // In place of an X without rows, which may be null.
  static constexpr T kNothing[kColumnsAtOnce]{};
  const bool empty = a.header.cols == 0;
  const T* const all_x = empty ? kNothing : operands.x;
  const Strides strides = empty ? Strides{} : operands.x_strides;
  const bool sets = x_by_rows != nullptr && operands.columns > 1 && strides.column != 1;
  const std::int64_t most = sets ? x_columns : columns_at_once(a.header, strides);
  for (std::int64_t first = 0; first < operands.columns; first += most) {
    const auto columns = std::min<std::int64_t>(operands.columns - first, most);
    const T* x = all_x + first * strides.column;
    Strides x_strides = strides;
    if (sets) {
      set_by_rows(x, x_strides.column, a.header.cols, columns, threads, x_by_rows);
      x = x_by_rows;
      x_strides = {columns, 1};
    }
    const auto arguments = [&](std::int64_t task) -> ColumnsArguments {
      const Task& begin = view.tasks[task];
      return {{view.chunks + begin.first_chunk, view.chunks + view.tasks[task + 1].first_chunk,
               view.codes + begin.first_code, a.values.data() + begin.first_value, x,
               operands.y + first * operands.y_strides.column, &alpha, &beta, partials},
              static_cast<int>(columns),
              x_strides,
              operands.y_strides};
    };
    for_each_task(a.header.tasks, threads,
                  [&](std::int64_t task) { kernel.run_columns(arguments(task)); });
    for (std::int64_t row = 0; row < a.header.cut_rows; ++row) {
      Sum sums[kColumnsAtOnce] = {};
      for (std::int64_t i = view.cut_starts[row]; i < view.cut_starts[row + 1]; ++i) {
        for (std::int64_t j = 0; j < columns; ++j)
          sums[j] += partials[i * kColumnsAtOnce + j];
      }
      kernel.write_columns(arguments(0), view.cut_rows[row], sums);
    }
  }
}

#define LANKY_INSTANTIATE(T, TOut)                                                               \
  template void run_chunks(const ChunkMatrix<T>&, const Product<T, TOut>&, const ChunkKernels&); \
  template void run_chunks(const ChunkMatrix<T>&, const ColumnsOperands<T, TOut>&,               \
                           Accumulator<T>*, bool, const ChunkKernels&, T*, std::int64_t);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
