// Solvers on a GPU beside the same algorithms on cuBLAS and cuSPARSE, as JSON lines:
// lanky_solver_rivals OUT. A line of standard input is a product and its matrix,
//   lobpcg FILE|SPEC K     time of an iteration of LOBPCG for K eigenpairs, with the polynomial of
//                          the default and without
//   cg FILE|SPEC N         N right-hand sides by block CG, beside N runs of CG on cuSPARSE
//   adjoint FILE|SPEC N    A^T X of N columns
// of the graph Laplacian of the pattern for the first two (with 0.01 on its diagonal for cg).
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <lanky/lanky.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/session.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/records/environment.hpp"
#include "bench/records/journal.hpp"
#include "bench/records/record.hpp"
#include "solvers/lobpcg.hpp"

namespace lanky::bench {
namespace {

using Json = nlohmann::ordered_json;

void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cusparseGetErrorString(status));
}

double seconds_of(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Degrees (and `shift`) on the diagonal, -1 beside it; the pattern made symmetric.
CsrMatrix<double> laplacian(const CsrMatrix<double>& pattern, double shift) {
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(pattern.rows));
  for (std::int64_t i = 0; i < pattern.rows; ++i) {
    for (auto e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e) {
      const std::int32_t j = pattern.col_indices[e];
      if (j == i) continue;
      rows[i].push_back(j);
      rows[j].push_back(static_cast<std::int32_t>(i));
    }
  }
  CsrMatrix<double> a;
  a.rows = a.cols = pattern.rows;
  for (std::int64_t i = 0; i < pattern.rows; ++i) {
    std::vector<std::int32_t>& row = rows[i];
    row.push_back(static_cast<std::int32_t>(i));
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const std::int32_t j : row) {
      a.col_indices.push_back(j);
      a.values.push_back(j == i ? static_cast<double>(row.size() - 1) + shift : -1.0);
    }
    a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
  }
  return a;
}

/// cuSPARSE's product with several vectors by rows, or with one, by the fastest of its algorithms.
class Cusparse {
 public:
  Cusparse(const Stream& stream, const CsrMatrix<double>& a, bool transposed = false)
      : stream_(stream),
        transposed_(transposed),
        columns_(Buffer<std::int32_t>::from(stream, a.col_indices)),
        values_(Buffer<double>::from(stream, a.values)),
        work_(stream, 0) {
    std::vector<std::int32_t> narrow(a.row_offsets.begin(), a.row_offsets.end());
    narrow_ = std::make_unique<Buffer<std::int32_t>>(Buffer<std::int32_t>::from(stream, narrow));
    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, stream.native()), "cusparseSetStream");
    check(cusparseCreateCsr(&a_, a.rows, a.cols, a.nnz(), narrow_->data(), columns_.data(),
                            values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "cusparseCreateCsr");
  }
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;
  ~Cusparse() {
    cusparseDestroySpMat(a_);
    cusparseDestroy(handle_);
  }

  void run(MatrixView<const double> x, MatrixView<double> y) {
    if (x.cols == 1 && x.ld == 1 && y.ld == 1) {
      vector(x, y);
      return;
    }
    if (best_ == nullptr) choose(x, y);
    multiply(x, y, *best_);
  }

 private:
  void vector(MatrixView<const double> x, MatrixView<double> y) {
    cusparseConstDnVecDescr_t from = nullptr;
    cusparseDnVecDescr_t to = nullptr;
    check(cusparseCreateConstDnVec(&from, x.rows, x.data, CUDA_R_64F), "cusparseCreateConstDnVec");
    check(cusparseCreateDnVec(&to, y.rows, y.data, CUDA_R_64F), "cusparseCreateDnVec");
    const double one = 1;
    const double zero = 0;
    if (!preprocessed_) {
      std::size_t bytes = 0;
      check(cusparseSpMV_bufferSize(handle_, op(), &one, a_, from, &zero, to, CUDA_R_64F,
                                    CUSPARSE_SPMV_CSR_ALG2, &bytes),
            "cusparseSpMV_bufferSize");
      work_ = Buffer<std::byte>(stream_, static_cast<std::int64_t>(bytes));
      check(cusparseSpMV_preprocess(handle_, op(), &one, a_, from, &zero, to, CUDA_R_64F,
                                    CUSPARSE_SPMV_CSR_ALG2, work_.data()),
            "cusparseSpMV_preprocess");
      preprocessed_ = true;
    }
    check(cusparseSpMV(handle_, op(), &one, a_, from, &zero, to, CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG2,
                       work_.data()),
          "cusparseSpMV");
    cusparseDestroyDnVec(from);
    cusparseDestroyDnVec(to);
  }

  cusparseOperation_t op() const {
    return transposed_ ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
  }

  void choose(MatrixView<const double> x, MatrixView<double> y) {
    static const cusparseSpMMAlg_t kAll[] = {CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1,
                                             CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};
    double least = 1e30;
    for (const cusparseSpMMAlg_t& algorithm : kAll) {
      try {
        multiply(x, y, algorithm);
        stream_.synchronize();
        const double seconds = seconds_of([&] {
          for (int i = 0; i < 5; ++i)
            multiply(x, y, algorithm);
          stream_.synchronize();
        });
        if (seconds < least) {
          least = seconds;
          best_ = &algorithm;
        }
      } catch (const std::runtime_error&) {  // not offered for this product
      }
    }
    if (best_ == nullptr) throw std::runtime_error("cuSPARSE has no algorithm for the product");
  }

  void multiply(MatrixView<const double> x, MatrixView<double> y, cusparseSpMMAlg_t algorithm) {
    cusparseConstDnMatDescr_t from = nullptr;
    cusparseDnMatDescr_t to = nullptr;
    check(cusparseCreateConstDnMat(&from, x.rows, x.cols, x.ld, x.data, CUDA_R_64F,
                                   CUSPARSE_ORDER_ROW),
          "cusparseCreateConstDnMat");
    check(cusparseCreateDnMat(&to, y.rows, y.cols, y.ld, y.data, CUDA_R_64F, CUSPARSE_ORDER_ROW),
          "cusparseCreateDnMat");
    const double one = 1;
    const double zero = 0;
    std::size_t bytes = 0;
    check(cusparseSpMM_bufferSize(handle_, op(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a_, from,
                                  &zero, to, CUDA_R_64F, algorithm, &bytes),
          "cusparseSpMM_bufferSize");
    if (static_cast<std::size_t>(work_.size()) < bytes)
      work_ = Buffer<std::byte>(stream_, static_cast<std::int64_t>(bytes));
    const cusparseStatus_t status =
        cusparseSpMM(handle_, op(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a_, from, &zero, to,
                     CUDA_R_64F, algorithm, work_.data());
    cusparseDestroyDnMat(from);
    cusparseDestroyDnMat(to);
    check(status, "cusparseSpMM");
  }

  Stream stream_;
  bool transposed_;
  Buffer<std::int32_t> columns_;
  Buffer<double> values_;
  std::unique_ptr<Buffer<std::int32_t>> narrow_;
  Buffer<std::byte> work_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  const cusparseSpMMAlg_t* best_ = nullptr;
  bool preprocessed_ = false;
};

LinearOperator<double> operator_of(const std::shared_ptr<Cusparse>& product, std::int64_t rows,
                                   std::int64_t cols) {
  return LinearOperator<double>(
      rows, cols, [product](const Stream&, MatrixView<const double> x, MatrixView<double> y) {
        product->run(x, y);
      });
}

constexpr int kRounds = 3;

/// Microseconds of an iteration, without the first ones.
double iteration_us(const EigenResult<double>& result) {
  constexpr std::size_t kFirst = 10;
  const auto& history = result.history;
  if (history.size() < 2 * kFirst) throw std::runtime_error("LOBPCG ended too early to be timed");
  return (history.back().seconds - history[kFirst].seconds) * 1e6 /
         static_cast<double>(history.size() - 1 - kFirst);
}

using Solve = std::function<EigenResult<double>(const EigenOptions&)>;

void time_lobpcg(const std::vector<std::pair<std::string, Solve>>& contestants, std::int64_t k,
                 int degree, const Json& of, Journal& journal) {
  EigenOptions options;
  options.k = k;
  options.block_size = k;
  options.polynomial_degree = degree;
  options.max_iterations = 70;
  options.tolerance = 1e-15;
  std::vector<std::vector<double>> us(contestants.size());
  std::vector<double> value(contestants.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t which = 0; which < contestants.size(); ++which) {
      const EigenResult<double> result = contestants[which].second(options);
      us[which].push_back(iteration_us(result));
      value[which] = result.values.back();
    }
  }
  for (std::size_t which = 0; which < contestants.size(); ++which) {
    Json line = of;
    line["polynomial"] = degree == 0  ? "none"
                         : degree < 0 ? "default"
                                      : std::to_string(degree) + " steps";
    line["contestant"] = contestants[which].first;
    line["iteration_us"] = median(us[which]);
    line["last_value"] = value[which];  // alike: the same algorithm
    journal.write(line);
    std::printf("%s\n", line.dump().c_str());
  }
}

void lobpcg_lines(const Stream& stream, const CsrMatrix<double>& pattern, std::int64_t k,
                  const Json& given, Journal& journal) {
  const CsrMatrix<double> a = laplacian(pattern, 0);
  Json of = given;
  of["nnz"] = a.nnz();
  const EigenProblem<double> ours{.a = make_operator(stream, a.view(), k)};
  EigenProblem<double> mixed = ours;
  mixed.a_single = make_single_operator(stream, a.view(), k);
  EigenProblem<double> theirs{
      .a = operator_of(std::make_shared<Cusparse>(stream, a), a.rows, a.cols)};
  theirs.a.set_bytes(ours.a.bytes());  // so that both have the same polynomial
  const auto by_lanky = [&stream](const EigenProblem<double>& problem) -> Solve {
    return [&](const EigenOptions& options) { return lobpcg(stream, problem, options); };
  };
  const Solve by_vendor = [&](const EigenOptions& options) {
    return solvers::lobpcg_by_vendor(stream, theirs, options);
  };
  for (const int degree : {0, -1}) {
    time_lobpcg({{"lanky", by_lanky(ours)}, {"cublaslt+cusparse", by_vendor}}, k, degree, of,
                journal);
  }
  constexpr int kSteps = 8;
  time_lobpcg({{"lanky", by_lanky(ours)}, {"lanky, mixed precision", by_lanky(mixed)}}, k, kSteps,
              of, journal);
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
}

/// CG as it is written with the vendor's libraries: scalars on the host. Returns iterations.
int vendor_cg(const Stream& stream, Cusparse& a, cublasHandle_t cublas, MatrixView<const double> b,
              MatrixView<double> x, double tolerance) {
  const auto n = static_cast<int>(b.rows);
  Matrix<double> r(stream, n, 1, Layout::row);
  Matrix<double> p(stream, n, 1, Layout::row);
  Matrix<double> q(stream, n, 1, Layout::row);
  double* const rd = r.buffer().data();
  double* const pd = p.buffer().data();
  double* const qd = q.buffer().data();
  const double one = 1;
  double rho = 0;
  check(cublasDcopy(cublas, n, b.data, 1, rd, 1), "cublasDcopy");  // from x = 0
  check(cublasDcopy(cublas, n, rd, 1, pd, 1), "cublasDcopy");
  check(cublasDdot(cublas, n, rd, 1, rd, 1, &rho), "cublasDdot");
  const double enough = tolerance * tolerance * rho;
  int iterations = 0;
  while (rho > enough && iterations < 100'000) {
    ++iterations;
    double pq = 0;
    a.run(p.view(), q.view());
    check(cublasDdot(cublas, n, pd, 1, qd, 1, &pq), "cublasDdot");
    const double alpha = rho / pq;
    const double minus = -alpha;
    check(cublasDaxpy(cublas, n, &alpha, pd, 1, x.data, 1), "cublasDaxpy");
    check(cublasDaxpy(cublas, n, &minus, qd, 1, rd, 1), "cublasDaxpy");
    const double before = rho;
    check(cublasDdot(cublas, n, rd, 1, rd, 1, &rho), "cublasDdot");
    const double beta = rho / before;
    check(cublasDscal(cublas, n, &beta, pd, 1), "cublasDscal");
    check(cublasDaxpy(cublas, n, &one, rd, 1, pd, 1), "cublasDaxpy");
  }
  stream.synchronize();
  return iterations;
}

void cg_lines(const Stream& stream, const CsrMatrix<double>& pattern, std::int64_t n,
              const Json& of, Journal& journal) {
  const CsrMatrix<double> a = laplacian(pattern, 0.01);
  const LinearOperator<double> ours = make_operator(stream, a.view(), n);
  const auto product = std::make_shared<Cusparse>(stream, a);
  const LinearOperator<double> theirs = operator_of(product, a.rows, a.cols);
  cublasHandle_t cublas = nullptr;
  check(cublasCreate(&cublas), "cublasCreate");
  check(cublasSetStream(cublas, stream.native()), "cublasSetStream");
  const std::int64_t size = a.rows * n;
  std::vector<double> host(static_cast<std::size_t>(size));
  std::uint64_t state = 1;
  for (double& value : host) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<double>(state >> 11U) * 0x1p-53 - 0.5;
  }
  Matrix<double> b(stream, a.rows, n, Layout::row);
  b.buffer().copy_from(host);
  std::vector<Matrix<double>> single;
  for (std::int64_t j = 0; j < n; ++j) {
    std::vector<double> column(static_cast<std::size_t>(a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i)
      column[static_cast<std::size_t>(i)] = host[static_cast<std::size_t>(i * n + j)];
    single.emplace_back(stream, a.rows, 1, Layout::row);
    single.back().buffer().copy_from(column);
  }
  Matrix<double> x(stream, a.rows, n, Layout::row);
  Matrix<double> x1(stream, a.rows, 1, Layout::row);
  std::vector<double> seconds[4];
  LinearResult last[4];
  int iterations[4] = {};
  for (int round = 0; round < kRounds; ++round) {
    x.buffer().fill_zero();
    seconds[0].push_back(
        seconds_of([&] { last[0] = block_cg<double>(stream, ours, b.view(), x.view()); }));
    x.buffer().fill_zero();
    seconds[1].push_back(
        seconds_of([&] { last[1] = cg<double>(stream, ours, b.view(), x.view()); }));
    iterations[2] = 0;
    double all = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      x1.buffer().fill_zero();
      all += seconds_of([&] {
        last[2] = cg<double>(stream, theirs, single[static_cast<std::size_t>(j)].view(), x1.view());
      });
      iterations[2] += last[2].iterations;
    }
    seconds[2].push_back(all);
    iterations[3] = 0;
    all = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      x1.buffer().fill_zero();
      const MatrixView<double> right = single[static_cast<std::size_t>(j)].view();
      all += seconds_of(
          [&] { iterations[3] += vendor_cg(stream, *product, cublas, right, x1.view(), 1e-8); });
      last[3] = cg<double>(stream, theirs, right, x1.view(), {.tolerance = 1e-7});
      if (last[3].iterations > 0) throw std::runtime_error("the vendor's CG has not converged");
    }
    seconds[3].push_back(all);
  }
  cublasDestroy(cublas);
  iterations[0] = last[0].iterations;
  iterations[1] = last[1].iterations;
  const char* const names[4] = {"lanky block_cg", "lanky cg", "lanky cg on cusparse, one by one",
                                "cg by cublas and cusparse, one by one"};
  for (int which = 0; which < 4; ++which) {
    Json line = of;
    line["nnz"] = a.nnz();
    line["contestant"] = names[which];
    line["seconds"] = median(seconds[which]);
    line["iterations"] = iterations[which];
    line["status"] = to_string(last[which].status);
    line["largest_residual"] =
        *std::max_element(last[which].residuals.begin(), last[which].residuals.end());
    journal.write(line);
    std::printf("%s\n", line.dump().c_str());
  }
}

void adjoint_lines(const Stream& stream, const CsrMatrix<double>& a, std::int64_t n, const Json& of,
                   Journal& journal) {
  SparseOptions options;
  options.op = Op::trans;
  options.expected_columns = n;
  options.expected_layout = Layout::row;
  const SparsePlan<double> plan(stream, a.view(), options);
  Cusparse theirs(stream, a, true);
  Matrix<double> x(stream, a.rows, n, Layout::row);
  std::vector<double> host(static_cast<std::size_t>(a.rows * n));
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = static_cast<double>(i * 2654435761U % 1000) / 1000 - 0.5;
  x.buffer().copy_from(host);
  Matrix<double> y[2] = {Matrix<double>(stream, a.cols, n, Layout::row),
                         Matrix<double>(stream, a.cols, n, Layout::row)};
  const std::function<void()> runs[2] = {[&] { plan.run(stream, x.view(), y[0].view()); },
                                         [&] { theirs.run(x.view(), y[1].view()); }};
  std::vector<double> us[2];
  for (int round = 0; round < kRounds; ++round) {
    for (int which = 0; which < 2; ++which) {
      runs[which]();
      stream.synchronize();
      us[which].push_back(seconds_of([&] {
                            for (int i = 0; i < 10; ++i)
                              runs[which]();
                            stream.synchronize();
                          }) *
                          1e5);
    }
  }
  const std::vector<double> one = y[0].buffer().to_host();
  const std::vector<double> two = y[1].buffer().to_host();
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference = std::max(difference, std::abs(one[i] - two[i]));
    largest = std::max(largest, std::abs(two[i]));
  }
  const char* const names[2] = {"lanky", "cusparse"};
  for (int which = 0; which < 2; ++which) {
    Json line = of;
    line["nnz"] = a.nnz();
    line["contestant"] = names[which];
    line["us"] = median(us[which]);
    line["difference"] = difference / largest;
    journal.write(line);
    std::printf("%s\n", line.dump().c_str());
  }
}

int run(const std::vector<std::string>& argv) {
  if (argv.size() != 2) throw std::invalid_argument("lanky_solver_rivals OUT");
  Session session(Device::cuda(0), {});
  Journal journal(argv[1]);
  journal.write(to_json(describe_environment(session, argv, false)));
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream words(text);
    std::string what;
    std::string source;
    std::int64_t count = 0;
    words >> what >> source >> count;
    const CsrMatrix<double> pattern = source.find(".mtx") != std::string::npos
                                          ? io::read_csr<double>(source)
                                          : io::generate<double>(source);
    const Json of = {{"kind", "solver_rivals"}, {"what", what},      {"case", source},
                     {"m", pattern.rows},       {"n", pattern.cols}, {"columns", count},
                     {"dtype", "f64"}};
    try {
      (what == "lobpcg" ? lobpcg_lines
       : what == "cg"   ? cg_lines
                        : adjoint_lines)(session.stream, pattern, count, of, journal);
    } catch (const std::exception& error) {
      Json line = of;
      line["error"] = error.what();
      journal.write(line);
      std::printf("%s\n", line.dump().c_str());
    }
  }
  return 0;
}

}  // namespace
}  // namespace lanky::bench

int main(int count, char** words) {
  try {
    return lanky::bench::run(std::vector<std::string>(words, words + count));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanky_solver_rivals: %s\n", error.what());
    return 2;
  }
}
