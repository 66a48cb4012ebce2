// What blocks and kernels promise each other, tried many times: products of all kernels that meet
// in counters or start before the kernel ahead has ended, each a million times in all, must keep
// the bits of the first. In a build with LANKY_DELAYS the meetings take place in other orders each
// time.
//
//     block_protocols [--device cuda:0] [--products N] [--seconds S] [--json FILE]
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <lanky/lanky.hpp>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lanky::faults {

namespace {

struct Options {
  std::string device = "cuda:0";
  std::int64_t products = 1'000'000;
  double seconds = 120;
  std::string json;
};

double now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class T>
std::vector<T> random_elements(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<T> elements;
  for (std::int64_t i = 0; i < count; ++i)
    elements.push_back(T(uniform(random)));
  return elements;
}

/// A batch of products, of which every one must leave the same bits as the first.
struct Case {
  std::string name;
  std::int64_t products;       // of a batch
  std::function<bool()> same;  // gives the work, waits, and compares
};

/// What batches leave: that of the first is kept.
template <class T>
class First {
 public:
  /// Of bits, which numbers that are NaN have, too.
  bool equals(std::vector<T> numbers) {
    if (numbers_.empty()) numbers_ = numbers;
    return numbers.size() == numbers_.size() &&
           std::memcmp(numbers.data(), numbers_.data(), numbers.size() * sizeof(T)) == 0;
  }

 private:
  std::vector<T> numbers_;
};

constexpr std::int64_t kSlots = 32;

/// Independent products by turns on the plan's stream, in its own workspace, and on another one in
/// a lent workspace: run(stream, slot, workspace or null).
template <class TOut>
Case in_slots(std::string name, const Stream& stream, std::int64_t slot_elements,
              std::int64_t workspace_bytes,
              std::function<void(const Stream&, TOut*, Workspace*)> run) {
  const auto slots = std::make_shared<Buffer<TOut>>(stream, slot_elements * kSlots);
  const Stream other(stream.device());
  const auto lent = std::make_shared<Buffer<std::byte>>(other, workspace_bytes);
  const auto first = std::make_shared<First<TOut>>();
  return {std::move(name), kSlots, [=] {
            slots->fill_zero();
            stream.synchronize();
            Workspace workspace = *lent;
            for (std::int64_t s = 0; s < kSlots; ++s) {
              TOut* const target = slots->data() + s * slot_elements;
              if (s % 2 == 0) {
                run(stream, target, nullptr);
              } else {
                run(other, target, &workspace);
              }
            }
            other.synchronize();
            return first->equals(slots->to_host());
          }};
}

/// Each product reads what the one ahead of it in the stream has written; the last is compared.
template <class T>
Case in_a_chain(std::string name, const Stream& stream, std::vector<T> begin,
                std::function<void(const T*, T*)> run) {
  const auto elements = static_cast<std::int64_t>(begin.size());
  const auto ends = std::make_shared<std::array<Buffer<T>, 2>>(
      std::array{Buffer<T>(stream, elements), Buffer<T>(stream, elements)});
  const auto first = std::make_shared<First<T>>();
  return {std::move(name), kSlots, [=] {
            (*ends)[0].copy_from(begin);
            for (std::int64_t s = 0; s < kSlots; ++s)
              run((*ends)[s % 2].data(), (*ends)[(s + 1) % 2].data());
            return first->equals((*ends)[0].to_host());
          }};
}

template <class T>
void add_sparse(std::vector<Case>& cases, const Stream& stream, std::string_view spec,
                SparseOptions options, std::int64_t columns, const std::string& what) {
  const auto a = io::generate<T>(spec);
  const auto plan = std::make_shared<const SparsePlan<T>>(stream, a.view(), options);
  const auto x =
      std::make_shared<Buffer<T>>(Buffer<T>::from(stream, random_elements<T>(a.cols * columns, 1)));
  const std::string name = what + " " + std::string(to_string(kDType<T>)) + " " +
                           std::string(spec) + " x " + std::to_string(columns);
  using Scalar = typename SparsePlan<T>::Scalar;
  using Real = Accumulator<T>;
  const std::int64_t rows = a.rows;
  const std::int64_t cols = a.cols;
  const auto multiply = [=](const Stream& on, const T* from, T* to, Real alpha, Workspace* lent) {
    const MatrixView<const T> source{from, cols, columns, columns, Layout::row};
    const MatrixView<T> target{to, rows, columns, columns, Layout::row};
    if (lent != nullptr) {
      plan->run(on, Scalar(alpha), source, Scalar(Real(0)), target, *lent);
    } else {
      plan->run(on, Scalar(alpha), source, Scalar(Real(0)), target);
    }
  };
  cases.push_back(in_slots<T>(
      name, stream, rows * columns, plan->workspace_bytes(),
      [=](const Stream& on, T* y, Workspace* lent) { multiply(on, x->data(), y, Real(1), lent); }));
  if (rows != cols) return;
  cases.push_back(in_a_chain<T>(
      name + ", chained", stream, random_elements<T>(cols * columns, 2),
      [=](const T* from, T* to) { multiply(stream, from, to, Real(0.25F), nullptr); }));
}

/// Every kernel of lanky's that can compute the product.
template <class T>
void add_dense(std::vector<Case>& cases, const Stream& stream, const GemmShape& shape) {
  const bool turned = shape.op_a != Op::none;
  const bool square = turned && shape.m == shape.n;
  const std::int64_t a_elements = shape.m * shape.k;
  const auto a =
      std::make_shared<Buffer<T>>(Buffer<T>::from(stream, random_elements<T>(a_elements, 3)));
  const auto b = std::make_shared<Buffer<T>>(
      Buffer<T>::from(stream, random_elements<T>(shape.k * shape.n, 4)));
  for (const bool same : {false, true}) {
    if (same && !square) continue;
    const GemmQuery query{stream.device(), shape, kDType<T>, kDType<T>, same};
    for (const GemmChoice& choice : gemm_choices(query, 0)) {
      if (choice.vendor) continue;
      GemmTuning tuning;
      tuning.set(query, choice);
      const auto plan =
          std::make_shared<const GemmPlan<T>>(stream, shape, GemmOptions{.tuning = &tuning});
      using Scalar = typename GemmPlan<T>::Scalar;
      using Real = Accumulator<T>;
      const std::string name = choice.algorithm + " " + std::string(to_string(kDType<T>)) + " " +
                               std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" +
                               std::to_string(shape.k) + (same ? " A is B" : "");
      const auto multiply = [=](const Stream& on, const T* from_a, const T* from_b, T* c,
                                Real alpha, Workspace* lent) {
        const std::int64_t rows = turned ? shape.k : shape.m;
        const MatrixView<const T> va{from_a, rows, turned ? shape.m : shape.k, rows, Layout::col};
        const MatrixView<const T> vb{from_b, shape.k, shape.n, shape.k, Layout::col};
        const MatrixView<T> vc{c, shape.m, shape.n, shape.m, Layout::col};
        if (lent != nullptr) {
          plan->run(on, Scalar(alpha), va, vb, Scalar(Real(0)), vc, *lent);
        } else {
          plan->run(on, Scalar(alpha), va, vb, Scalar(Real(0)), vc);
        }
      };
      cases.push_back(in_slots<T>(name, stream, shape.m * shape.n, plan->workspace_bytes(),
                                  [=](const Stream& on, T* c, Workspace* lent) {
                                    multiply(on, a->data(), same ? a->data() : b->data(), c,
                                             Real(1), lent);
                                  }));
      if (turned) continue;
      if (shape.k == shape.n)  // C is A of the next
        cases.push_back(in_a_chain<T>(name + ", chained", stream, random_elements<T>(a_elements, 5),
                                      [=](const T* from, T* to) {
                                        multiply(stream, from, b->data(), to, Real(0.25F), nullptr);
                                      }));
      if (shape.k == shape.m)  // C is B of the next
        cases.push_back(in_a_chain<T>(name + ", chained", stream,
                                      random_elements<T>(shape.k * shape.n, 6),
                                      [=](const T* from, T* to) {
                                        multiply(stream, a->data(), from, to, Real(0.01F), nullptr);
                                      }));
    }
  }
}

template <class T>
void add_sddmm(std::vector<Case>& cases, const Stream& stream) {
  const auto a = io::generate<T>("uniform:2000:9");
  const auto plan =
      std::make_shared<const SddmmPlan<T>>(stream, a.view(), SddmmOptions{.expected_columns = 5});
  const auto x =
      std::make_shared<Buffer<T>>(Buffer<T>::from(stream, random_elements<T>(a.rows * 5, 7)));
  const std::int64_t rows = a.rows;
  using Real = Accumulator<T>;
  using Scalar = lanky::Scalar<Real>;
  cases.push_back(
      in_slots<T>("sddmm " + std::string(to_string(kDType<T>)), stream, plan->nnz(),
                  plan->workspace_bytes(), [=](const Stream& on, T* values, Workspace* lent) {
                    const MatrixView<const T> view{x->data(), rows, 5, rows, Layout::col};
                    const VectorView<T> target{values, plan->nnz()};
                    if (lent != nullptr) {
                      plan->run(on, Scalar(Real(1)), view, view, Scalar(Real(0)), target, *lent);
                    } else {
                      plan->run(on, view, view, target);
                    }
                  }));
}

/// Packing meets in counters, too, and so do the sums of solvers: a plan made anew, and some
/// iterations.
void add_plans_and_solvers(std::vector<Case>& cases, const Stream& stream) {
  for (const char* spec : {"huge:3000:2,span=20000", "uniform:3000:9", "band:3000:4:6"}) {
    const auto a = std::make_shared<const CsrMatrix<double>>(io::generate<double>(spec));
    const auto x = std::make_shared<Buffer<double>>(
        Buffer<double>::from(stream, random_elements<double>(a->cols * 8, 8)));
    for (const std::int64_t columns : {1, 8}) {
      const auto first = std::make_shared<First<double>>();
      cases.push_back(
          {"plan of " + std::string(spec) + " x " + std::to_string(columns), 1, [=] {
             const SparsePlan<double> plan(stream, a->view(), {.expected_columns = columns});
             Buffer<double> y(stream, a->rows * columns);
             plan.run(stream,
                      MatrixView<const double>{x->data(), a->cols, columns, columns, Layout::row},
                      MatrixView<double>{y.data(), a->rows, columns, columns, Layout::row});
             return first->equals(y.to_host());
           }});
    }
  }
  auto laplacian = std::make_shared<CsrMatrix<double>>(io::generate<double>("stencil5:40"));
  for (std::int64_t row = 0; row < laplacian->rows; ++row)
    for (std::int64_t e = laplacian->row_offsets[row]; e < laplacian->row_offsets[row + 1]; ++e)
      laplacian->values[e] = laplacian->col_indices[e] == row ? 4.5 : -1;
  const auto plan = std::make_shared<const SparsePlan<double>>(
      stream, laplacian->view(), SparseOptions{.expected_columns = 3});
  const auto b = std::make_shared<Matrix<double>>(stream, laplacian->rows, 3, Layout::row);
  b->buffer().copy_from(random_elements<double>(laplacian->rows * 3, 9));
  constexpr std::int64_t kIterations = 16;
  const auto add = [&](const char* name, auto solve) {
    const auto first = std::make_shared<First<double>>();
    cases.push_back({name, kIterations, [=] {
                       Matrix<double> x(stream, b->view().rows, 3, Layout::row);
                       x.buffer().fill_zero();
                       LinearOptions options;
                       options.tolerance = 1e-300;
                       options.max_iterations = kIterations;
                       solve(stream, *plan, *b, x, options);
                       return first->equals(x.buffer().to_host());
                     }});
  };
  const auto none = LinearOperator<double>{};
  add("cg", [none](const Stream& s, const LinearOperator<double>& a, MatrixView<const double> rhs,
                   MatrixView<double> x, const LinearOptions& o) { cg<double>(s, a, rhs, x, o); });
  add("block_cg",
      [](const Stream& s, const LinearOperator<double>& a, MatrixView<const double> rhs,
         MatrixView<double> x, const LinearOptions& o) { block_cg<double>(s, a, rhs, x, o); });
  add("minres",
      [](const Stream& s, const LinearOperator<double>& a, MatrixView<const double> rhs,
         MatrixView<double> x, const LinearOptions& o) { minres<double>(s, a, rhs, x, o); });
}

template <class T>
void add_of_type(std::vector<Case>& cases, const Stream& stream) {
  add_sparse<T>(cases, stream, "huge:2000:2,span=20000", {}, 1, "split rows");
  add_sparse<T>(cases, stream, "uniform:3000:9", {}, 1, "windows");
  add_sparse<T>(cases, stream, "huge:1000:2,span=20000", {.expected_columns = 8}, 8, "columns");
  add_sparse<T>(cases, stream, "uniform:1000:9", {.expected_columns = 3}, 3, "columns");
  add_sparse<T>(cases, stream, "band:800:8:12", {.expected_columns = 16}, 16, "tiles");
  add_sddmm<T>(cases, stream);
  for (const std::int64_t side : {1, 4, 16}) {
    add_dense<T>(cases, stream, {.m = side, .n = side, .k = 20'000, .op_a = Op::trans});
    add_dense<T>(cases, stream, {.m = 1000, .n = side, .k = side});
    add_dense<T>(cases, stream, {.m = 1000, .n = side, .k = 1000});
  }
}

std::atomic<const char*> at_work{"nothing"};

/// Of timeout(1): what waits for ever is told by name.
void tell_what_hangs(int) {
  for (const char* text : {"block_protocols: ended in ", at_work.load(), "\n"})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  std::_Exit(3);
}

int run(const Options& options) {
  const Stream stream(Device::parse(options.device));
  std::vector<Case> cases;
  add_of_type<double>(cases, stream);
  add_of_type<float>(cases, stream);
  add_of_type<half>(cases, stream);
  add_of_type<bfloat16>(cases, stream);
  add_of_type<std::complex<float>>(cases, stream);
  add_of_type<std::complex<double>>(cases, stream);
  add_plans_and_solvers(cases, stream);

  std::signal(SIGTERM, tell_what_hangs);
  for (const Case& each : cases) {
    at_work = each.name.c_str();
    each.same();  // the first
  }
  std::printf("%zu kernels and orders\n", cases.size());
  std::fflush(stdout);
  const double begin = now();
  std::int64_t tried = 0;
  std::int64_t failed = 0;
  for (std::size_t turn = 0; tried < options.products && now() - begin < options.seconds; ++turn) {
    const Case& each = cases[turn % cases.size()];
    at_work = each.name.c_str();
    tried += each.products;
    if (each.same()) continue;
    if (++failed <= 20) std::printf("other bits: %s\n", each.name.c_str());
  }
#ifdef LANKY_DELAYS
  const char* const check = "protocols between blocks, delayed";
#else
  const char* const check = "protocols between blocks";
#endif
  const std::string line =
      std::string("{\"kind\":\"reliability\",\"part\":\"faults\",\"check\":\"") + check +
      "\",\"device\":\"" + options.device + "\",\"tried\":" + std::to_string(tried) +
      ",\"unit\":\"products\",\"failed\":" + std::to_string(failed) +
      ",\"seconds\":" + std::to_string(now() - begin) + "}";
  std::printf("%s\n", line.c_str());
  if (!options.json.empty()) {
    std::FILE* const file = std::fopen(options.json.c_str(), "a");
    if (file == nullptr) {
      std::perror(options.json.c_str());
      return 2;
    }
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
  return failed == 0 && tried >= options.products ? 0 : 1;
}

}  // namespace

}  // namespace lanky::faults

int main(int argc, char** argv) {
  lanky::faults::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* const value = argv[i + 1];
    if (name == "--device") options.device = value;
    if (name == "--products") options.products = std::atoll(value);
    if (name == "--seconds") options.seconds = std::atof(value);
    if (name == "--json") options.json = value;
  }
  try {
    return lanky::faults::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "block_protocols: %s\n", error.what());
    return 2;
  }
}
