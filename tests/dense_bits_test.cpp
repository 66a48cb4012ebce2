// lanky's own kernels on a GPU, whatever plans would choose: every run of a plan gives the same
// bits, also while another product runs beside it; and one short product for each kernel, exact,
// for compute-sanitizer to watch.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <complex>
#include <cstring>
#include <lanky/lanky.hpp>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "core/text.hpp"
#include "support/executor.hpp"

namespace lanky {
namespace {

using testing::On;

template <class Case>
class DenseBits : public ::testing::Test {};
using Cases = ::testing::Types<On<DeviceKind::cuda, double>, On<DeviceKind::cuda, float>,
                               On<DeviceKind::cuda, half>, On<DeviceKind::cuda, bfloat16>,
                               On<DeviceKind::cuda, std::complex<float>>,
                               On<DeviceKind::cuda, std::complex<double>>>;
TYPED_TEST_SUITE(DenseBits, Cases, testing::OnName);

template <class T>
constexpr bool kIsComplex = is_complex(kDType<T>);

/// [-1, 1) in every component, or -1, 0, 1.
template <class T>
std::vector<T> random_elements(std::size_t count, bool integers) {
  std::mt19937_64 random(count);
  const auto part = [&] {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    return integers ? std::floor(3 * unit) - 1 : 2 * unit - 1;
  };
  std::vector<T> elements;
  for (std::size_t e = 0; e < count; ++e) {
    if constexpr (kIsComplex<T>) {
      using Real = typename T::value_type;
      const auto real = static_cast<Real>(part());
      elements.emplace_back(real, static_cast<Real>(part()));
    } else {
      elements.push_back(static_cast<T>(part()));
    }
  }
  return elements;
}

std::string text(const GemmShape& s, Math math) {
  return concat(s.m, " x ", s.n, " x ", s.k, " op ", static_cast<int>(s.op_a),
                static_cast<int>(s.op_b), s.layout == Layout::col ? " col" : " row", " math ",
                static_cast<int>(math));
}

/// A plan of tight leading dimensions that takes lanky's kernels, and views of its operands in
/// memory that all products share.
template <class T>
class OwnProduct {
 public:
  /// `choice`: one of gemm_choices(); lanky's rules by default.
  OwnProduct(const Stream& stream, const GemmShape& shape, Math math = Math::ieee,
             const GemmChoice& choice = {})
      : plan_(make(stream, shape, math, choice)) {}

  void run(const Stream& stream, const T* a, const T* b, T* c) const {
    const GemmShape& s = plan_.shape();
    const auto stored = [&s](const T* data, std::int64_t rows, std::int64_t cols, Op op,
                             std::int64_t ld) {
      if (op != Op::none) std::swap(rows, cols);
      return MatrixView<const T>{data, rows, cols, ld, s.layout};
    };
    plan_.run(stream, stored(a, s.m, s.k, s.op_a, s.lda), stored(b, s.k, s.n, s.op_b, s.ldb),
              {c, s.m, s.n, s.ldc, s.layout});
  }
  std::int64_t results() const { return plan_.shape().m * plan_.shape().n; }
  std::string explain() const { return plan_.explain(); }

 private:
  static GemmPlan<T> make(const Stream& stream, const GemmShape& shape, Math math,
                          const GemmChoice& choice) {
    GemmTuning own;
    own.set({.device = stream.device(),
             .shape = shape,
             .in = kDType<T>,
             .out = kDType<T>,
             .math = math},
            choice);
    return GemmPlan<T>(stream, shape, {.math = math, .tuning = &own});
  }

  GemmPlan<T> plan_;
};

/// Products one after the other on random operands, each compared with its own first run.
template <class T>
class Repeats {
 public:
  explicit Repeats(const Device& device)
      : stream_(device), beside_(device), operands_(stream_, 2 * kLargest) {
    const std::vector<T> period = random_elements<T>(1'000'003, false);
    operands_.copy_from(std::span<const T>(period));
    for (auto filled = static_cast<std::int64_t>(period.size()); filled < operands_.size();
         filled *= 2) {
      const std::int64_t more = std::min(filled, operands_.size() - filled);
      cudaMemcpyAsync(operands_.data() + filled, operands_.data(),
                      static_cast<std::size_t>(more) * sizeof(T), cudaMemcpyDeviceToDevice,
                      stream_.native());
    }
    stream_.synchronize();
  }

  void expect_equal_bits(const GemmShape& shape, Math math = Math::ieee, bool itself = false) {
    OwnProduct<T> product(stream_, shape, math);
    SCOPED_TRACE(concat(text(shape, math), itself ? " with itself: " : ": ", product.explain()));
    const T* a = operands_.data();
    const T* b = itself ? a : a + kLargest;
    Buffer<T> c(stream_, product.results());
    const auto run_once = [&](int times) {
      cudaMemsetAsync(c.data(), 0xff, static_cast<std::size_t>(c.size()) * sizeof(T),
                      stream_.native());
      for (int i = 0; i < times; ++i)
        product.run(stream_, a, b, c.data());
      return c.to_host();
    };
    const std::vector<T> first = run_once(1);
    const auto end = std::chrono::steady_clock::now() + kTime;
    for (int r = 0; r < kFewestRuns || std::chrono::steady_clock::now() < end; ++r) {
      if (r % 2 == 1 && previous_) previous_->run(beside_, a, b, previous_c_->data());
      const std::vector<T> again = run_once(1 + r % 3);
      if (std::memcmp(again.data(), first.data(), first.size() * sizeof(T)) == 0) continue;
      ADD_FAILURE() << "run " << r << " has other bits";
      break;
    }
    beside_.synchronize();
    previous_.emplace(beside_, shape, math);
    previous_c_.emplace(std::move(c));
  }

 private:
  static constexpr std::int64_t kLargest = std::int64_t{1} << 27;  // elements of an operand
  static constexpr int kFewestRuns = 10;
  static constexpr std::chrono::milliseconds kTime{12};

  Stream stream_;
  Stream beside_;
  Buffer<T> operands_;
  std::optional<OwnProduct<T>> previous_;
  std::optional<Buffer<T>> previous_c_;
};

/// `shape` by columns and by rows, in each arithmetic of T.
template <class T, class Each>
void for_each_variant(GemmShape shape, Each each) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const Math math : {Math::ieee, Math::tf32x3, Math::tf32}) {
      if (math != Math::ieee && kDType<T> != DType::f32) continue;
      shape.layout = layout;
      each(shape, math);
    }
  }
}

// Tiles of rows that are whole and that are shared, in every width of the kernels.
TYPED_TEST(DenseBits, Panel) {
  using T = typename TypeParam::Element;
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Repeats<T> repeats(device);
  constexpr GemmShape kPanels[] = {
      {.m = 4096, .n = 1, .k = 4096},   {.m = 4096, .n = 7, .k = 4096},
      {.m = 4096, .n = 16, .k = 4096},  {.m = 4096, .n = 64, .k = 4096},
      {.m = 10240, .n = 2, .k = 10240}, {.m = 10240, .n = 24, .k = 10240},
      {.m = 3000, .n = 48, .k = 20000}, {.m = 601, .n = 13, .k = 100001},
      {.m = 100000, .n = 4, .k = 1000}, {.m = 20000, .n = 32, .k = 2048},
      {.m = 5000, .n = 100, .k = 1000}};
  for (const GemmShape& shape : kPanels)
    for_each_variant<T>(shape,
                        [&](const GemmShape& s, Math math) { repeats.expect_equal_bits(s, math); });
}

// One tile a block, several, and k shared out among warps where rows are few.
TYPED_TEST(DenseBits, Update) {
  using T = typename TypeParam::Element;
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Repeats<T> repeats(device);
  constexpr GemmShape kUpdates[] = {
      {.m = 10000, .n = 5, .k = 5},    {.m = 10000, .n = 4, .k = 64},
      {.m = 10000, .n = 32, .k = 32},  {.m = 10000, .n = 16, .k = 128},
      {.m = 100001, .n = 2, .k = 2},   {.m = 100000, .n = 8, .k = 8},
      {.m = 100000, .n = 16, .k = 16}, {.m = 30000, .n = 64, .k = 64},
      {.m = 100000, .n = 8, .k = 32},  {.m = 400000, .n = 4, .k = 13}};
  for (const GemmShape& shape : kUpdates)
    for_each_variant<T>(shape,
                        [&](const GemmShape& s, Math math) { repeats.expect_equal_bits(s, math); });
}

// Two operands and one with itself; layouts alike and mixed.
TYPED_TEST(DenseBits, Gram) {
  using T = typename TypeParam::Element;
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Repeats<T> repeats(device);
  constexpr std::int64_t kSides[][2] = {{1, 1},   {2, 2},   {4, 4},  {8, 8},   {13, 13},  {16, 16},
                                        {32, 32}, {40, 40}, {32, 5}, {64, 64}, {128, 16}, {64, 1}};
  for (const std::int64_t k : {10'000, 100'000, 1'000'000}) {
    for (const auto& [m, n] : kSides) {
      const GemmShape gram{.m = m, .n = n, .k = k, .op_a = Op::trans};
      for_each_variant<T>(gram, [&](const GemmShape& s, Math math) {
        repeats.expect_equal_bits(s, math);
        if (s.m == s.n && s.k == 100'000) repeats.expect_equal_bits(s, math, true);
      });
      if (k == 100'000 && m <= 32) {
        for (const Op op : {Op::none, Op::trans})
          repeats.expect_equal_bits({.m = m, .n = n, .k = k, .op_a = op, .op_b = op});
      }
    }
  }
}

template <class T>
std::complex<double> wide(T value, bool conjugated) {
  if constexpr (kIsComplex<T>) {
    return {static_cast<double>(value.real()),
            static_cast<double>(conjugated ? -value.imag() : value.imag())};
  } else {
    return static_cast<double>(value);
  }
}

/// C of integers, tight, as run() stores it.
template <class T>
std::vector<std::complex<double>> exact(const GemmShape& s, const std::vector<T>& a,
                                        const std::vector<T>& b) {
  const bool by_columns = s.layout == Layout::col;
  const auto at = [&](const std::vector<T>& matrix, std::int64_t rows, std::int64_t cols, Op op,
                      std::int64_t i, std::int64_t j) {
    if (op != Op::none) {
      std::swap(rows, cols);
      std::swap(i, j);
    }
    return wide(matrix[static_cast<std::size_t>(by_columns ? i + j * rows : i * cols + j)],
                op == Op::conj_trans);
  };
  std::vector<std::complex<double>> c(static_cast<std::size_t>(s.m * s.n));
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      auto& sum = c[static_cast<std::size_t>(by_columns ? i + j * s.m : i * s.n + j)];
      for (std::int64_t p = 0; p < s.k; ++p)
        sum += at(a, s.m, s.k, s.op_a, i, p) * at(b, s.k, s.n, s.op_b, p, j);
    }
  }
  return c;
}

/// Kernels that the short products of a type must meet.
std::vector<std::string> expected_kernels(DType type) {
  std::vector<std::string> kernels = {"panel_ring_kernel", "panel_pack_kernel", "panel_sum_kernel",
                                      "gram_vector_kernel"};
  if (type == DType::f32) {
    for (const char* kernel :
         {"update_direct_kernel", "update_tile_kernel", "gram_staged_kernel",
          "update_ring_mma_kernel by columns", "gram_fma_kernel", "update_ring_mma_kernel by rows"})
      kernels.emplace_back(kernel);
  } else if (is_complex(type)) {
    const std::string ring = type == DType::c64 ? "update_ring_kernel" : "update_ring_mma_kernel";
    for (const std::string& kernel :
         {ring + " by columns", ring + " by rows", std::string("gram_fma_kernel")})
      kernels.push_back(kernel);
  } else {
    for (const char* kernel :
         {"update_mma_kernel by columns", "update_mma_kernel by rows",
          "update_mma_any_kernel by columns", "update_mma_any_kernel by rows", "gram_direct_kernel",
          "gram_rows_kernel", type == DType::f64 ? "gram_staged_kernel" : "gram_wgmma_kernel"})
      kernels.emplace_back(kernel);
    if (type == DType::f64) {
      kernels.emplace_back("gram_double_kernel, 16 x 16, k");
      kernels.emplace_back("gram_double_kernel, 16 x 16, row-major");
    }
  }
  return kernels;
}

/// Short products, conjugated where T is complex and A is transposed.
template <class T, class F>
void for_each_short(F&& f) {
  constexpr GemmShape kShort[] = {{.m = 700, .n = 5, .k = 200},
                                  {.m = 320, .n = 20, .k = 200},
                                  {.m = 200, .n = 64, .k = 150},
                                  {.m = 304, .n = 4, .k = 4},
                                  {.m = 304, .n = 12, .k = 12},
                                  {.m = 304, .n = 64, .k = 40},
                                  {.m = 303, .n = 5, .k = 3},
                                  {.m = 301, .n = 33, .k = 19},
                                  {.m = 303, .n = 13, .k = 21, .op_a = Op::trans},
                                  {.m = 305, .n = 70, .k = 61},
                                  {.m = 3, .n = 3, .k = 300, .op_a = Op::trans},
                                  {.m = 12, .n = 12, .k = 300, .op_a = Op::trans},
                                  {.m = 24, .n = 20, .k = 300, .op_a = Op::trans},
                                  {.m = 40, .n = 34, .k = 200, .op_a = Op::trans},
                                  {.m = 72, .n = 68, .k = 200, .op_a = Op::trans}};
  for (const GemmShape& each : kShort) {
    for_each_variant<T>(each, [&](GemmShape shape, Math math) {
      if (kIsComplex<T> && shape.op_a == Op::trans) shape.op_a = Op::conj_trans;
      SCOPED_TRACE(text(shape, math));
      f(GemmQuery{.device = Device::cuda(),
                  .shape = shape,
                  .in = kDType<T>,
                  .out = kDType<T>,
                  .math = math});
    });
  }
}

template <class T>
void expect_exact(const Stream& stream, const GemmShape& shape, const OwnProduct<T>& product) {
  SCOPED_TRACE(product.explain());
  const auto a = random_elements<T>(static_cast<std::size_t>(shape.m * shape.k), true);
  const auto b = random_elements<T>(static_cast<std::size_t>(shape.k * shape.n), true);
  const auto device_a = Buffer<T>::from(stream, a);
  const auto device_b = Buffer<T>::from(stream, b);
  Buffer<T> c(stream, product.results());
  product.run(stream, device_a.data(), device_b.data(), c.data());
  const std::vector<T> got = c.to_host();
  const auto expected = exact(shape, a, b);
  for (std::size_t e = 0; e < got.size(); ++e)
    ASSERT_EQ(wide(got[e], false), expected[e]) << "element " << e;
}

/// Each short product as plans choose it, and by whatever names a kernel that none has run yet.
TYPED_TEST(DenseBits, ShortProductsOfEveryKernel) {
  using T = typename TypeParam::Element;
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  std::vector<std::string> missing = expected_kernels(kDType<T>);
  const auto run = [&](const GemmQuery& query, const GemmChoice& choice, bool always) {
    const OwnProduct<T> product(stream, query.shape, query.math, choice);
    const auto named = [&](const std::string& kernel) {
      return product.explain().find(kernel) != std::string::npos;
    };
    if (std::erase_if(missing, named) > 0 || always) expect_exact(stream, query.shape, product);
  };
  for_each_short<T>([&](const GemmQuery& query) { run(query, {}, true); });
  for_each_short<T>([&](const GemmQuery& query) {
    if (missing.empty()) return;
    for (const GemmChoice& choice : gemm_choices(query, 0))
      run(query, choice, false);
  });
  for (const std::string& kernel : missing)
    ADD_FAILURE() << "no product takes " << kernel;
}

/// Whatever is offered for a product computes it.
TYPED_TEST(DenseBits, EveryChoiceIsExact) {
  using T = typename TypeParam::Element;
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  for_each_short<T>([&](const GemmQuery& query) {
    for (const GemmChoice& choice : gemm_choices(query, 0))
      expect_exact(stream, query.shape, OwnProduct<T>(stream, query.shape, query.math, choice));
  });
}

}  // namespace
}  // namespace lanky
