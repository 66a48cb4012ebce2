// Times what one rank of PETSc computes in MatMult and in conjugate gradients, at the local sizes
// that model.py lists: y = A_d x, y += A_o g, with 1 and 16 columns, and vectors; lanky's products
// and cuSPARSE's on the same arrays. JSON lines; model.py predicts scaling from them.
//
//   lanky_petsc_kernels OUT.jsonl problems.txt [DEVICE] [LARGEST_NNZ]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <lanky/lanky.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../row_kernels.hpp"
#include "local_stencil.hpp"
#include "measuring.hpp"
#include "vendor.hpp"

namespace {

using namespace lanky_scaling;
using lanky::Buffer;
using lanky::CsrView;
using lanky::Layout;
using lanky::Matrix;
using lanky::SparsePlan;
using lanky::Stream;

constexpr std::int64_t kColumns = 16;
// Beyond so many entries one column alone is measured: X and Y of 16 would take 10 GB, and most of
// the run would be spent on copies to check them.
constexpr std::int64_t kMostForColumns = 300'000'000;

/// Microseconds of one run in a batch, by events: the median of 7 batches of about 4 ms.
double time_us(const Stream& stream, const std::function<void()>& run) {
  lanky::Event start(stream.device()), end(stream.device());
  const auto batch = [&](int runs) {
    start.record(stream);
    for (int i = 0; i < runs; ++i)
      run();
    end.record(stream);
    end.synchronize();
    return lanky::Event::elapsed_ms(start, end) * 1e3 / runs;
  };
  batch(1);
  const double us = std::max(batch(3), 0.1);
  const int runs = std::clamp(static_cast<int>(4e3 / us), 2, 2000);
  batch(runs);
  std::vector<double> times;
  for (int k = 0; k < 7; ++k)
    times.push_back(batch(runs));
  return median(times);
}

/// Microseconds of the host, from call to return.
double host_us(const std::function<void()>& run) {
  for (int k = 0; k < 20; ++k)
    run();
  std::vector<double> times;
  for (int k = 0; k < 201; ++k) {
    const double start = now_us();
    run();
    times.push_back(now_us() - start);
  }
  return median(times);
}

struct DeviceCsr {
  DeviceCsr(const Stream& stream, const HostCsr& host)
      : rows(host.rows),
        cols(host.cols),
        offsets(stream, host.rows + 1),
        columns(stream, std::max<std::int64_t>(host.nnz, 1)),
        values(stream, std::max<std::int64_t>(host.nnz, 1)),
        nnz(host.nnz) {
    offsets.copy_from({host.offsets.get(), static_cast<std::size_t>(rows + 1)});
    columns.copy_from({host.columns.get(), static_cast<std::size_t>(nnz)});
    values.copy_from({host.values.get(), static_cast<std::size_t>(nnz)});
  }
  CsrView<double> view() const {
    return {rows, cols, nnz, offsets.data(), columns.data(), values.data(), 0};
  }

  std::int64_t rows, cols;
  Buffer<std::int32_t> offsets, columns;
  Buffer<double> values;
  std::int64_t nnz;
};

/// Whether Y = times A X, at slices of rows in the first and the last column, both ends among them.
bool is_right(const Stream& stream, const HostCsr& a, const std::vector<double>& x, double times,
              const Buffer<double>& y, Layout layout) {
  constexpr std::int64_t kSlices = 16, kRows = 512;
  const std::int64_t length = std::min(kRows, a.rows);
  const std::int64_t columns = y.size() / a.rows;
  const bool by_rows = layout == Layout::row;
  const std::int64_t stride = by_rows ? columns : 1;  // from one row to the next
  std::vector<double> slice(static_cast<std::size_t>((length - 1) * stride + 1));
  for (const std::int64_t column : {std::int64_t{0}, columns - 1}) {
    const double* of_x = x.data() + (by_rows ? column : column * a.cols);
    const double* of_y = y.data() + (by_rows ? column : column * a.rows);
    for (std::int64_t k = 0; k < kSlices; ++k) {
      const std::int64_t first = (a.rows - length) * k / (kSlices - 1);
      copy_to_host(stream, of_y + first * stride, slice);
      for (std::int64_t row = first; row < first + length; ++row) {
        double sum = 0, size = 0;
        for (auto entry = static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(row)]);
             entry < static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(row) + 1]);
             ++entry) {
          const double term = times * a.values[entry] * of_x[a.columns[entry] * stride];
          sum += term;
          size += std::abs(term);
        }
        const double found = slice[static_cast<std::size_t>((row - first) * stride)];
        if (!(std::abs(found - sum) <= 64 * 0x1p-53 * size)) return false;
      }
    }
  }
  return true;
}

std::vector<double> vector_of(std::int64_t size) {
  std::vector<double> result(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = value_of(static_cast<std::int64_t>(i) + 77);
  }
  return result;
}

class Measurement {
 public:
  Measurement(const Stream& stream, std::ofstream& out) : stream_(stream), out_(out) {}

  void measure(const std::string& problem, const LocalBox& box) {
    problem_ = problem;
    most_ = 0;
    for (const bool diagonal : {true, false}) {
      const HostCsr host = make_block(box, diagonal);
      most_ = std::max(most_, host.nnz);
      if (host.nnz > 0) measure_block(host, diagonal);
    }
    measure_vectors(box.rows());
    std::fprintf(stderr, "%s: %lld entries\n", problem.c_str(), static_cast<long long>(most_));
  }

  /// What the host waits for: a launch, a stream, a scalar of the device.
  void measure_host() {
    if (!stream_.device().is_cuda()) return;
    Buffer<double> x(stream_, 64), result(stream_, 1);
    x.fill_zero();
    const auto axpy = vendor_axpy(stream_, 32, x.data(), x.data() + 32);
    const auto dot = vendor_dot(stream_, 32, x.data(), x.data(), result.data());
    const auto own_dot = lanky_dot(x.data(), 32);
    out_ << R"({"kind": "scaling_host", "measured": true, "launch_us": )" << time_us(stream_, axpy)
         << R"(, "launch_and_wait_us": )" << host_us([&] {
              axpy();
              stream_.synchronize();
            })
         << R"(, "dot_to_host_us": )" << host_us([&] {
              dot();
              (void)result.to_host();
            })
         << R"(, "lanky_dot_to_host_us": )" << host_us([&] {
              own_dot();
              stream_.synchronize();
            })
         << "}\n";
  }

 private:
  /// An inner product as the plug-in has it: a Gram product into memory that the host reads.
  std::function<void()> lanky_dot(const double* x, std::int64_t size) {
    const auto plan = std::make_shared<lanky::GemmPlan<double>>(
        stream_, lanky::GemmShape{1, 1, size, lanky::Op::trans});
    return [this, plan, x, size] {
      plan->run(stream_, 1.0, {x, size, 1, size}, {x, size, 1, size}, 0.0,
                lanky::MatrixView<double>(pinned_.get(), 1, 1, 1));
    };
  }

  void measure_block(const HostCsr& host, bool diagonal) {
    const double beta = diagonal ? 0 : 1;
    block_ = diagonal ? "diagonal" : "off_diagonal";
    const DeviceCsr a(stream_, host);
    measure_columns(host, a, beta, 1, "");
    if (most_ <= kMostForColumns) measure_columns(host, a, beta, kColumns, "");
    if (diagonal) return;
    // As the plug-in and PETSc multiply that block: rows without entries are left out, and the
    // result is added to Y afterwards.
    const std::vector<std::int64_t> rows = nonempty_rows(host);
    measure_rows(host.rows, rows);
    const HostCsr nonempty = without_empty_rows(host, rows);
    const DeviceCsr nonempty_a(stream_, nonempty);
    measure_columns(nonempty, nonempty_a, 0, 1, "-nonempty-rows");
    if (most_ <= kMostForColumns) {
      measure_columns(nonempty, nonempty_a, 0, kColumns, "-nonempty-rows");
    }
  }

  /// The plug-in's kernels that take those rows of X for others, and add to those of Y.
  void measure_rows(std::int64_t all, const std::vector<std::int64_t>& rows) {
    if (!stream_.device().is_cuda()) return;
    const auto there = Buffer<std::int64_t>::from(stream_, rows);
    const auto count = static_cast<std::int64_t>(rows.size());
    for (const std::int64_t columns : {std::int64_t{1}, kColumns}) {
      if (columns > 1 && most_ > kMostForColumns) continue;
      Buffer<double> x(stream_, all * columns), packed(stream_, count * columns);
      x.fill_zero();
      packed.fill_zero();
      const double gather_us = time_us(stream_, [&] {
        check(lanky_petsc::gather_rows(x.data(), all, columns, there.data(), count, packed.data(),
                                       stream_.native()),
              "gather_rows");
      });
      const double add_us = time_us(stream_, [&] {
        check(lanky_petsc::add_rows(packed.data(), all, columns, there.data(), count, x.data(),
                                    stream_.native()),
              "add_rows");
      });
      out_ << R"({"kind": "scaling_rows", "measured": true, "problem": ")" << problem_
           << R"(", "columns": )" << columns << R"(, "rows": )" << count << R"(, "gather_us": )"
           << gather_us << R"(, "add_us": )" << add_us << "}" << std::endl;
    }
  }

  void measure_columns(const HostCsr& host, const DeviceCsr& a, double beta, std::int64_t columns,
                       const std::string& rows) {
    const std::vector<double> host_x = vector_of(host.cols * columns);
    Buffer<double> x(stream_, host.cols * columns), y(stream_, host.rows * columns);
    x.copy_from(host_x);
    const auto view = [columns](auto* data, std::int64_t size, Layout layout) {
      return lanky::MatrixView(data, size, columns, layout == Layout::row ? columns : size, layout);
    };
    {
      // The plug-in has ghosts, and what is added to some rows of Y, by rows.
      const Layout layout = rows.empty() ? Layout::col : Layout::row;
      const auto many_x = view(std::as_const(x).data(), host.cols, layout);
      const auto many_y = view(y.data(), host.rows, layout);
      const double start = now_us();
      const SparsePlan<double> plan(stream_, a.view(),
                                    {.expected_columns = columns, .expected_layout = layout});
      stream_.synchronize();
      setup_us_ = now_us() - start;
      write(
          host, columns, "lanky", "auto" + rows,
          [&] {
            if (columns == 1) {
              plan.run(stream_, 1.0, x.view(), beta, y.view());
            } else {
              plan.run(stream_, 1.0, many_x, beta, many_y);
            }
          },
          host_x, beta, y, layout);
      setup_us_ = 0;
    }
    if (!stream_.device().is_cuda()) return;
    const auto many_x = view(std::as_const(x).data(), host.cols, Layout::col);
    const auto many_y = view(y.data(), host.rows, Layout::col);
    for (const auto algorithm : {VendorAlgorithm::alg1, VendorAlgorithm::alg2}) {
      write(host, columns, "cusparse",
            (algorithm == VendorAlgorithm::alg1 ? "alg1" : "alg2") + rows,
            columns == 1 ? vendor_spmv(stream_, a.view(), x.view(), beta, y.view(), algorithm)
                         : vendor_spmm(stream_, a.view(), many_x, beta, many_y, algorithm),
            host_x, beta, y, Layout::col);
    }
  }

  void write(const HostCsr& a, std::int64_t columns, const char* contestant,
             const std::string& variant, const std::function<void()>& run,
             const std::vector<double>& x, double beta, Buffer<double>& y, Layout layout) {
    // Two products on zeros: where beta is 1, the second adds to the first.
    y.fill_zero();
    run();
    run();
    const bool right = is_right(stream_, a, x, 1 + beta, y, layout);
    out_ << R"({"kind": "scaling_kernel", "measured": )" << (right ? "true" : "false")
         << R"(, "problem": ")" << problem_ << R"(", "block": ")" << block_ << R"(", "columns": )"
         << columns << R"(, "contestant": ")" << contestant << R"(", "variant": ")" << variant
         << R"(", "dtype": "f64", "rows": )" << a.rows << R"(, "cols": )" << a.cols
         << R"(, "nnz": )" << a.nnz << R"(, "status": ")" << (right ? "ok" : "wrong") << '"';
    if (right) out_ << R"(, "us": )" << time_us(stream_, run);
    if (setup_us_ > 0) out_ << R"(, "setup_us": )" << setup_us_;
    out_ << "}" << std::endl;
  }

  void measure_vectors(std::int64_t rows) {
    Buffer<double> x(stream_, rows), y(stream_, rows), result(stream_, 1);
    x.fill_zero();
    y.fill_zero();
    std::function<void()> axpy, dot;
    if (stream_.device().is_cuda()) {
      axpy = vendor_axpy(stream_, rows, x.data(), y.data());
      dot = vendor_dot(stream_, rows, x.data(), y.data(), result.data());
    } else {
      axpy = [&] {
        for (std::int64_t i = 0; i < rows; ++i)
          y.data()[i] += 1e-9 * x.data()[i];
      };
      dot = [&] {
        double sum = 0;
        for (std::int64_t i = 0; i < rows; ++i)
          sum += x.data()[i] * y.data()[i];
        *result.data() = sum;
      };
    }
    out_ << R"({"kind": "scaling_vectors", "measured": true, "problem": ")" << problem_
         << R"(", "rows": )" << rows << R"(, "axpy_us": )" << time_us(stream_, axpy)
         << R"(, "dot_us": )" << time_us(stream_, dot);
    if (stream_.device().is_cuda())
      out_ << R"(, "lanky_dot_us": )" << time_us(stream_, lanky_dot(x.data(), rows));
    out_ << "}" << std::endl;
  }

  Stream stream_;
  std::ofstream& out_;
  std::unique_ptr<double, void (*)(double*)> pinned_ = pinned_double();
  std::string problem_{}, block_{};
  double setup_us_ = 0;
  std::int64_t most_ = 0;  // entries of the problem's largest block
};

/// "154,154,154:110111" or "75,75,75:110111:3": nodes along x, y, z, whether there is a box below
/// and above along each, and the unknowns of a node.
LocalBox parse(const std::string& problem) {
  LocalBox box;
  long long size[3] = {}, unknowns = 1;
  char sides[7] = "";
  if (std::sscanf(problem.c_str(), "%lld,%lld,%lld:%6[01]:%lld", &size[0], &size[1], &size[2],
                  sides, &unknowns) < 4) {
    throw lanky::Error(lanky::ErrorCode::invalid_argument, "no problem: " + problem);
  }
  box.unknowns = unknowns;
  for (std::size_t d = 0; d < 3; ++d) {
    box.size[d] = size[d];
    box.below[d] = sides[2 * d] == '1';
    box.above[d] = sides[2 * d + 1] == '1';
  }
  return box;
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("lanky_petsc_kernels OUT.jsonl problems.txt [DEVICE] [LARGEST_NNZ]\n", stderr);
    return 2;
  }
  const lanky::Device device = argc > 3 ? lanky::Device::parse(argv[3]) : lanky::Device::best();
  const double largest = argc > 4 ? std::stod(argv[4]) : 1e18;
  std::ifstream list(argv[2]);
  if (!list) throw lanky::Error(lanky::ErrorCode::io, std::string(argv[2]) + " cannot be read");
  std::ofstream out(argv[1]);
  const double start = now_us();
  const std::string build = lanky::build_description();  // "1.0.0 (commit <sha>, ...)"
  std::string of_build = commit();
  if (const auto at = build.find("commit "); at != std::string::npos) {
    of_build = build.substr(at + 7, build.find_first_of(",)", at) - at - 7);
  }
  out << R"({"kind": "env", "schema": 1, "gpu": ")" << device.properties().name
      << R"(", "device": ")"
      << (device.is_cuda() ? "cuda:" + std::to_string(device.index()) : "cpu") << R"(", "lanky": ")"
      << lanky::kVersion << R"(", "commit": ")" << of_build << R"(", "build": ")" << build
      << R"(", "utc": ")" << utc() << R"(", "argv": ")";
  for (int k = 0; k < argc; ++k)
    out << (k == 0 ? "" : " ") << argv[k];
  out << "\"}" << std::endl;
  Measurement measurement(Stream(device), out);
  measurement.measure_host();
  for (std::string problem; std::getline(list, problem);) {
    if (problem.empty() || problem[0] == '#') continue;
    const LocalBox box = parse(problem);
    if (27.0 * static_cast<double>(box.rows() * box.unknowns) <= largest)
      measurement.measure(problem, box);
  }
  std::fprintf(stderr, "%.1f s\n", (now_us() - start) * 1e-6);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const lanky::Error& error) {
    std::fprintf(stderr, "lanky_petsc_kernels: %s\n", error.what());
    return 1;
  }
}
