#include "faults/subjects.hpp"

#include <lanky/lanky.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "support/random_numbers.hpp"
#include "support/temporary_directory.hpp"

namespace lanky::faults {

namespace {

using testing::random_numbers;

std::shared_ptr<Matrix<double>> random_matrix(const Stream& stream, std::int64_t rows,
                                              std::int64_t cols, Layout layout = Layout::col) {
  auto matrix = std::make_shared<Matrix<double>>(stream, rows, cols, layout);
  matrix->buffer().copy_from(random_numbers(rows * cols, 1));
  return matrix;
}

using Csr = CsrMatrix<double>;

std::shared_ptr<const Csr> generated(std::string_view spec) {
  return std::make_shared<const Csr>(io::generate<double>(spec));
}

/// Entries on the diagonal and left of it.
std::shared_ptr<const Csr> lower_part(const Csr& a) {
  auto part = std::make_shared<Csr>();
  part->rows = a.rows;
  part->cols = a.cols;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
      if (a.col_indices[e] > row) continue;
      part->col_indices.push_back(a.col_indices[e]);
      part->values.push_back(a.values[e]);
    }
    part->row_offsets.push_back(static_cast<std::int64_t>(part->values.size()));
  }
  return part;
}

Numbers sparse_run(const Stream& stream, const SparsePlan<double>& plan, const Buffer<double>& x,
                   std::int64_t columns, Layout layout, Allocator* allocator) {
  Buffer<double> y(stream, plan.rows() * columns, allocator);
  if (columns == 1) {
    plan.run(stream, x, y);
  } else {
    const auto ld = [&](std::int64_t rows) { return layout == Layout::row ? columns : rows; };
    plan.run(stream,
             MatrixView<const double>{x.data(), plan.cols(), columns, ld(plan.cols()), layout},
             MatrixView<double>{y.data(), plan.rows(), columns, ld(plan.rows()), layout});
  }
  return y.to_host();
}

/// A plan that is made, and multiplies `columns` vectors.
Subject sparse(std::string name, std::shared_ptr<const Csr> a, SparseOptions options,
               std::int64_t columns = 1) {
  return {std::move(name),
          [=](const Stream& stream, Allocator* allocator) -> Action {
            SparseOptions own = options;
            own.allocator = allocator;
            const auto x = std::make_shared<Buffer<double>>(
                Buffer<double>::from(stream, random_numbers(a->cols * columns, 2)));
            return [=] {
              const SparsePlan<double> plan(stream, a->view(), own);
              return sparse_run(stream, plan, *x, columns, own.expected_layout, allocator);
            };
          },
          options.tune};
}

/// New values for a plan that is there, from host memory or from the device's.
Subject update(std::string name, std::shared_ptr<const Csr> a, SparseOptions options,
               bool from_device) {
  return {std::move(name), [=](const Stream& stream, Allocator* allocator) -> Action {
            SparseOptions own = options;
            own.updates = true;
            own.allocator = allocator;
            const auto plan = std::make_shared<SparsePlan<double>>(stream, a->view(), own);
            const auto x = std::make_shared<Buffer<double>>(
                Buffer<double>::from(stream, random_numbers(plan->cols(), 3)));
            const auto host = std::make_shared<std::vector<double>>(random_numbers(a->nnz(), 4));
            const auto device =
                std::make_shared<Buffer<double>>(Buffer<double>::from(stream, *host));
            return [=] {
              if (from_device) {
                plan->update_values(stream, device->view());
              } else {
                plan->update_values(*host);
              }
              return sparse_run(stream, *plan, *x, 1, Layout::row, allocator);
            };
          }};
}

Subject gemm(std::string name, GemmShape shape, bool tune = false) {
  return {std::move(name),
          [=](const Stream& stream, Allocator* allocator) -> Action {
            const bool turned = shape.op_a != Op::none;
            const auto a =
                random_matrix(stream, turned ? shape.k : shape.m, turned ? shape.m : shape.k);
            const auto b = random_matrix(stream, shape.k, shape.n);
            return [=] {
              GemmOptions options;
              options.tune = tune;
              options.allocator = allocator;
              const GemmPlan<double> plan(stream, shape, options);
              Matrix<double> c(stream, shape.m, shape.n, Layout::col, 0, allocator);
              plan.run(stream, *a, *b, c);
              return c.buffer().to_host();
            };
          },
          tune};
}

Subject sddmm() {
  const auto a = generated("uniform:600:9");
  return {"sddmm", [=](const Stream& stream, Allocator* allocator) -> Action {
            const auto x = random_matrix(stream, a->rows, 3);
            return [=] {
              const SddmmPlan<double> plan(
                  stream, a->view(), SddmmOptions{.expected_columns = 3, .allocator = allocator});
              Buffer<double> values(stream, plan.nnz(), allocator);
              plan.run(stream, *x, *x, values);
              return values.to_host();
            };
          }};
}

Subject cholesky_qr() {
  constexpr std::int64_t kRows = 3000;
  constexpr std::int64_t kCols = 6;
  return {"cholesky_qr", [](const Stream& stream, Allocator* allocator) -> Action {
            const auto a = random_matrix(stream, kRows, kCols, Layout::row);
            return [=] {
              CholeskyQrOptions options;
              options.layout = Layout::row;
              options.allocator = allocator;
              CholeskyQr<double> qr(stream, kRows, kCols, options);
              Matrix<double> q(stream, kRows, kCols, Layout::row, 0, allocator);
              Matrix<double> r(stream, kCols, kCols, Layout::row, 0, allocator);
              qr.run(*a, q, r);
              qr.check();
              return r.buffer().to_host();
            };
          }};
}

/// Positive definite, on 18 x 18 points.
std::shared_ptr<const Csr> laplacian() {
  auto a = std::make_shared<Csr>(io::generate<double>("stencil5:18"));
  for (std::int64_t row = 0; row < a->rows; ++row)
    for (std::int64_t e = a->row_offsets[row]; e < a->row_offsets[row + 1]; ++e)
      a->values[e] = a->col_indices[e] == row ? 4.5 : -1;
  return a;
}

using Solve = LinearResult (*)(const Stream&, const LinearOperator<double>&,
                               MatrixView<const double>, MatrixView<double>, const LinearOptions&,
                               const LinearOperator<double>&);

Subject linear(std::string name, Solve solve, bool preconditioned = false) {
  const auto a = laplacian();
  return {std::move(name), [=](const Stream& stream, Allocator* allocator) -> Action {
            const auto b = random_matrix(stream, a->rows, 2, Layout::row);
            return [=] {
              const SparsePlan<double> plan(
                  stream, a->view(), SparseOptions{.expected_columns = 2, .allocator = allocator});
              LinearOperator<double> preconditioner;
              if (preconditioned) preconditioner = block_jacobi(stream, a->view(), 4);
              Matrix<double> x(stream, a->rows, 2, Layout::row, 0, allocator);
              x.buffer().fill_zero();
              LinearOptions options;
              options.allocator = allocator;
              solve(stream, plan, *b, x, options, preconditioner);
              return x.buffer().to_host();
            };
          }};
}

Subject eigen() {
  const auto a = laplacian();
  return {"lobpcg", [=](const Stream& stream, Allocator* allocator) -> Action {
            return [=] {
              EigenOptions options;
              options.k = 2;
              options.tolerance = 1e-3;
              options.allocator = allocator;
              const SparsePlan<double> plan(
                  stream, a->view(), SparseOptions{.expected_columns = 4, .allocator = allocator});
              return lobpcg<double>(stream, {.a = plan}, options).values;
            };
          }};
}

Subject singular(std::string name, SvdMethod method) {
  const auto a = generated("uniform:400:7");
  return {std::move(name),
          [=](const Stream& stream, Allocator* allocator) -> Action {
            return [=] {
              SvdOptions options;
              options.k = 2;
              options.oversampling = 6;
              options.power_iterations = 1;
              options.tolerance = 1e-2;
              options.method = method;
              options.allocator = allocator;
              const auto op = make_operator_with_adjoint<double>(stream, a->view(), 8);
              return svds<double>(stream, op, options).values;
            };
          },
          false, false};
}

Subject buffers() {
  return {"buffers", [](const Stream& stream, Allocator* allocator) -> Action {
            return [=] {
              const auto first = Buffer<double>::from(stream, random_numbers(1000, 5), allocator);
              Matrix<double> zeros(stream, 10, 10, Layout::row, 12, allocator);
              zeros.buffer().fill_zero();
              Event event(stream.device());
              event.record(stream);
              event.synchronize();
              Numbers all = first.to_host();
              for (const double zero : zeros.buffer().to_host())
                all.push_back(zero);
              return all;
            };
          }};
}

Subject streams() {
  return {"streams", [](const Stream& stream, Allocator*) -> Action {
            return [device = stream.device()] {
              const Stream own(device);
              Event event(device);
              event.record(own);
              const Stream other(device);
              other.wait(event);
              other.synchronize();
              return Numbers{1};
            };
          }};
}

Subject convenience() {
  const auto a = generated("band:500:3:4");
  return {"spmv",
          [=](const Stream& stream, Allocator*) -> Action {
            const auto x = std::make_shared<Buffer<double>>(
                Buffer<double>::from(stream, random_numbers(a->cols, 6)));
            return [=] {
              Buffer<double> y(stream, a->rows);
              spmv<double>(stream, 1.0, a->view(), *x, 0.0, y.view());
              return y.to_host();
            };
          },
          false, false};
}

void check_c(lanky_status status) {
  if (status == LANKY_SUCCESS) return;
  // What a caller in C sees: a status, and a message that is there.
  if (status == LANKY_OUT_OF_MEMORY) throw Error(ErrorCode::out_of_memory, lanky_last_error());
  throw Error(ErrorCode::device, lanky_last_error());
}

/// The C interface, where nothing may be thrown.
Subject c_interface() {
  const auto a = generated("uniform:300:6");
  return {"c_interface",
          [=](const Stream& stream, Allocator*) -> Action {
            const auto x = std::make_shared<Numbers>(random_numbers(a->cols, 8));
            lanky_device none;
            lanky_device_parse("none", &none);  // the last message, which is kept, has its memory
            return [=, is_cuda = stream.device().is_cuda()] {
              struct Handles {
                ~Handles() {
                  lanky_buffer_destroy(y);
                  lanky_buffer_destroy(x);
                  lanky_sparse_plan_destroy(plan);
                  lanky_stream_destroy(stream);
                }
                lanky_stream* stream = nullptr;
                lanky_sparse_plan* plan = nullptr;
                lanky_buffer* x = nullptr;
                lanky_buffer* y = nullptr;
              } own;
              lanky_device device = lanky_device_cpu();
              if (is_cuda) check_c(lanky_device_cuda(0, &device));
              check_c(lanky_stream_create(device, &own.stream));
              const lanky_csr_view view = {
                  a->rows,          a->cols, a->nnz(), a->row_offsets.data(), a->col_indices.data(),
                  a->values.data(), 8,       0};
              check_c(lanky_sparse_plan_create(own.stream, LANKY_DTYPE_F64, LANKY_DTYPE_F64, &view,
                                               nullptr, &own.plan));
              const auto bytes = [](std::int64_t count) { return 8 * count; };
              check_c(lanky_buffer_create(own.stream, bytes(a->cols), nullptr, &own.x));
              check_c(lanky_buffer_create(own.stream, bytes(a->rows), nullptr, &own.y));
              check_c(lanky_buffer_copy_from(own.x, x->data(), bytes(a->cols)));
              const lanky_vector_view of_x = {lanky_buffer_data(own.x), a->cols};
              const lanky_vector_view of_y = {lanky_buffer_data(own.y), a->rows};
              check_c(lanky_sparse_plan_run(own.plan, own.stream, nullptr, &of_x, nullptr, &of_y,
                                            nullptr));
              Numbers result(static_cast<std::size_t>(a->rows));
              check_c(lanky_buffer_to_host(own.y, result.data(), bytes(a->rows)));
              return result;
            };
          },
          false, false};
}

Numbers numbers_of(const Csr& a) {
  Numbers all(a.values);
  all.insert(all.end(), a.row_offsets.begin(), a.row_offsets.end());
  all.insert(all.end(), a.col_indices.begin(), a.col_indices.end());
  return all;
}

/// A matrix is written, read, read into the cache and from there: host memory alone.
Subject files(std::string name, std::string_view ending) {
  return {std::move(name),
          [end = std::string(ending)](const Stream&, Allocator*) -> Action {
            const auto folder = std::make_shared<testing::TemporaryDirectory>();
            const auto a = generated("uniform:300:6");
            const auto caches = std::make_shared<int>(0);
            return [=] {
              const auto path = folder->path() / ("a" + end);
              if (end == ".lanky") {
                io::write_cache(path, a->view());
              } else {
                io::write_matrix_market(path, a->view());
              }
              Numbers all = numbers_of(io::read_csr<double>(path));
              // Another one each time: a read that failed may have filled the last.
              const io::ReadOptions cached{.cache = folder->path() /
                                                    ("cache" + std::to_string(++*caches))};
              for (int again = 0; again < 2; ++again) {
                const Numbers more = numbers_of(io::read_csr<double>(path, cached));
                all.insert(all.end(), more.begin(), more.end());
              }
              return all;
            };
          },
          false, false};
}

}  // namespace

std::vector<Subject> subjects() {
  const auto on_gpu = [](Subject subject) {
    subject.only_on_gpu = true;
    return subject;
  };
  const auto uniform = generated("uniform:600:9");
  const auto split = generated("huge:3000:2,span=8000");
  const auto band = generated("band:600:3:4");
  const auto part = lower_part(*uniform);
  return {
      sparse("one_vector", uniform, {}),
      sparse("split_rows", split, {}),
      sparse("columns", uniform, {.expected_columns = 8}, 8),
      sparse("columns_by_columns", split, {.expected_columns = 3, .expected_layout = Layout::col},
             3),
      sparse("many_columns", band, {.expected_columns = 16}, 16),
      on_gpu(sparse("mma", uniform, {.engine = Engine::tensor_cores})),
      on_gpu(sparse("tiles", band, {.engine = Engine::tensor_cores, .expected_columns = 16}, 16)),
      on_gpu(sparse("words", uniform, {.engine = Engine::cuda_cores, .expected_columns = 4}, 4)),
      sparse("transposed", uniform, {.op = Op::trans, .updates = true}),
      sparse("triangle", part, {.symmetry = Symmetry::symmetric, .updates = true}),
      sparse("tuned", band, {.tune = true, .expected_columns = 4}, 4),
      update("update_from_host", uniform, {}, false),
      update("update_from_device", uniform, {}, true),
      update("update_transposed", uniform, {.op = Op::trans}, false),
      update("update_triangle", part, {.symmetry = Symmetry::symmetric}, true),
      sddmm(),
      gemm("panel", {.m = 1500, .n = 4, .k = 1500}),
      gemm("update", {.m = 20'000, .n = 8, .k = 8}),
      gemm("gram", {.m = 12, .n = 12, .k = 20'000, .op_a = Op::trans}),
      gemm("gram_wide", {.m = 48, .n = 48, .k = 3000, .op_a = Op::trans}),
      gemm("regular", {.m = 160, .n = 160, .k = 160}),
      gemm("gemm_tuned", {.m = 2000, .n = 4, .k = 4}, true),
      cholesky_qr(),
      linear("cg", cg<double>),
      linear("cg_preconditioned", cg<double>, true),
      linear("block_cg", block_cg<double>),
      linear("minres", minres<double>),
      eigen(),
      singular("golub_kahan", SvdMethod::golub_kahan),
      singular("randomized", SvdMethod::randomized),
      buffers(),
      streams(),
      convenience(),
      c_interface(),
      files("matrix_market", ".mtx"),
      files("gzip", ".mtx.gz"),
      files("cache", ".lanky")};
}

Action witness(const Stream& stream) {
  const auto a = generated("band:200:3:4");
  const auto plan = std::make_shared<const SparsePlan<double>>(stream, a->view());
  const auto x =
      std::make_shared<Buffer<double>>(Buffer<double>::from(stream, random_numbers(a->cols, 7)));
  return [=] { return sparse_run(stream, *plan, *x, 1, Layout::row, nullptr); };
}

}  // namespace lanky::faults
