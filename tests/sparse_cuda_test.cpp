// What only a GPU can show: graphs, streams that overlap, memory on the wrong side, and (with
// LANKY_HUGE=1: about 45 GB of host and 20 GB of device memory) more than 2^31 slots.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "core/machine.hpp"
#include "core/text.hpp"
#include "sparse/cuda/steps.hpp"
#include "sparse/shapes.hpp"
#include "support/expect_error.hpp"
#include "support/h200.hpp"
#include "support/sparse_oracle.hpp"

namespace lanky::testing {
namespace {

void check(cudaError_t status) {
  ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status);
}

std::vector<std::int64_t> boundary_and_split_lengths() {
  std::vector<std::int64_t> lengths = boundary_lengths();
  lengths.insert(lengths.end(), {20'000, 33'333});
  return lengths;
}

/// Below `modulus`, of which a few are 0, but for one row.
std::vector<std::int64_t> mixed_lengths(std::int64_t rows, std::int64_t modulus,
                                        std::int64_t longest) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row)
    lengths[row] = row == 77 ? longest : row * row % modulus;
  return lengths;
}

template <class T>
struct Example {
  explicit Example(std::uint64_t seed) : Example(seed, boundary_and_split_lengths(), 500, 1, 0) {}
  Example(std::uint64_t seed, const std::vector<std::int64_t>& lengths, std::int64_t columns,
          Accumulator<T> alpha, Accumulator<T> beta)
      : random(seed),
        a(matrix_of<T>(lengths, columns, random, small_integer<T>)),
        operands{alpha, beta, vector_of<T>(a.cols, random, small_integer<T>),
                 vector_of<T>(a.rows, random, small_integer<T>)} {}

  Random random;
  CsrMatrix<T> a;
  Operands<T, T> operands;
};

/// `a` packed in `shape`, its kernels loaded.
template <class T>
sparse::PackedMatrix<T> packed_in(const Stream& stream, const CsrMatrix<T>& a,
                                  const sparse::Shape& shape) {
  const auto csr = sparse::load(stream, a.view(), sparse::cuda::kExamination);
  return sparse::cuda::pack(stream, csr.csr, shape, nullptr);
}

/// y of one product.
template <class T>
std::vector<T> multiply(const Stream& stream, const sparse::PackedMatrix<T>& packed,
                        const Operands<T, T>& operands, const Scalar<Accumulator<T>>& beta) {
  const auto x = Buffer<T>::from(stream, operands.x);
  auto y = Buffer<T>::from(stream, operands.y);
  Buffer<Accumulator<T>> partials(stream, packed.header.partials);
  Buffer<unsigned> counters(stream, sparse::counters(packed.header));
  counters.fill_zero();
  sparse::cuda::run<T, T>(
      stream, sparse::cuda::prepare<T, T>(stream, sparse::Path::cuda, packed.header), packed.view(),
      {{x.data(), y.data(), operands.alpha, beta}, partials.data(), counters.data()});
  return y.to_host();
}

/// With the example's own alpha and beta.
template <class T>
void expect_product(const Stream& stream, const sparse::PackedMatrix<T>& packed,
                    const Example<T>& example) {
  const Operands<T, T>& operands = example.operands;
  expect_exact(example.a, operands, multiply<T>(stream, packed, operands, operands.beta));
}

template <class Case>
class SparseCuda : public ::testing::Test {};
using CudaCases = ::testing::Types<On<DeviceKind::cuda, double>, On<DeviceKind::cuda, float>,
                                   On<DeviceKind::cuda, half>, On<DeviceKind::cuda, bfloat16>,
                                   On<DeviceKind::cuda, std::complex<float>>,
                                   On<DeviceKind::cuda, std::complex<double>>>;
TYPED_TEST_SUITE(SparseCuda, CudaCases, OnName);

// A captured run allocates and synchronizes nothing (capture would fail), and reads x, y, alpha and
// beta when it is replayed.
TYPED_TEST(SparseCuda, RunIsCapturedInAGraph) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  using Sum = Accumulator<T>;
  Example<T> example(1);
  auto& operands = example.operands;
  const Stream stream(device);
  for (const Engine engine : engines_on<T>(device)) {
    SCOPED_TRACE(to_string(engine));
    const SparsePlan<T> plan(stream, example.a.view(), {.engine = engine});
    Buffer<T> x(stream, example.a.cols);
    Buffer<T> y(stream, example.a.rows);
    Buffer<Sum> scalars(stream, 2);
    stream.synchronize();

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeGlobal));
    plan.run(stream, Scalar<Sum>::on_device(scalars.data()), std::as_const(x).view(),
             Scalar<Sum>::on_device(scalars.data() + 1), y.view());
    check(cudaStreamEndCapture(stream.native(), &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 0; round < 3; ++round) {
      operands.alpha = element<Sum>(round - 1);
      operands.beta = element<Sum>(round);
      operands.x = vector_of<T>(example.a.cols, example.random, small_integer<T>);
      x.copy_from(operands.x);
      y.copy_from(operands.y);
      scalars.copy_from(std::vector<Sum>{operands.alpha, operands.beta});
      check(cudaGraphLaunch(executable, stream.native()));
      expect_exact(example.a, operands, y.to_host());
    }
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
  }
}

/// Rows that each of the kernels multiplies, by their lengths.
struct UpdateCase {
  const char* name;
  std::vector<std::int64_t> lengths;
  Op op = Op::none;
};
std::vector<UpdateCase> update_cases() {
  std::vector<std::int64_t> split = boundary_lengths();
  split.push_back(33'333);
  return {{"a slice a warp", std::vector<std::int64_t>(5000, 7)},
          {"rows of any length", split},
          {"wide slices", std::vector<std::int64_t>(410'000, 3)},
          {"transposed", split, Op::trans}};
}

/// A plan whose values are replaced, and an x.
template <class T>
struct UpdateExample {
  UpdateExample(Device device, const UpdateCase& update, std::uint64_t seed)
      : random(seed),
        op(update.op),
        a(matrix_of<T>(update.lengths, 500, random, small_integer<T>)),
        stream(device),
        plan(stream, a.view(), {.op = op, .updates = true}),
        x(vector_of<T>(plan.cols(), random, small_integer<T>)),
        device_x(Buffer<T>::from(stream, x)) {}

  std::vector<T> new_values() { return vector_of<T>(a.nnz(), random, small_integer<T>); }
  void run(Buffer<T>& y) { plan.run(stream, std::as_const(device_x).view(), y.view()); }
  /// y is what a product with `values` gives.
  void expect_product_with(std::vector<T> values, const std::vector<T>& y) const {
    CsrMatrix<T> other = a;
    other.values = std::move(values);
    const Operands<T, T> operands{1, 0, x, std::vector<T>(y.size())};
    expect_exact(op == Op::none ? other : transpose_of(other, false), operands, y);
  }

  Random random;
  Op op;
  CsrMatrix<T> a;
  Stream stream;
  SparsePlan<T> plan;
  std::vector<T> x;
  Buffer<T> device_x;
};

// Nothing waits between updates and runs, whose kernels read values as early as they may.
TYPED_TEST(SparseCuda, RunsSeeTheValuesOfTheUpdateAheadOfThem) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  constexpr int kSets = 3;
  constexpr int kRounds = 60;
  for (const UpdateCase& update : update_cases()) {
    SCOPED_TRACE(update.name);
    UpdateExample<T> example(device, update, 7);
    const Stream& stream = example.stream;
    const std::int64_t nnz = example.a.nnz();
    std::vector<std::vector<T>> values;
    std::vector<Buffer<T>> sets;
    for (int i = 0; i < kSets; ++i) {
      values.push_back(example.new_values());
      sets.push_back(Buffer<T>::from(stream, values.back()));
    }
    Buffer<T> given(stream, nnz);  // changes in the order of the stream
    std::vector<Buffer<T>> results;
    for (int i = 0; i < kSets; ++i)
      results.emplace_back(stream, example.plan.rows());
    for (int round = 0; round < kRounds; ++round) {
      const int set = round % kSets;
      check(cudaMemcpyAsync(given.data(), sets[set].data(), nnz * sizeof(T),
                            cudaMemcpyDeviceToDevice, stream.native()));
      example.plan.update_values(given);
      example.run(results[set]);
    }
    for (int set = 0; set < kSets; ++set)
      example.expect_product_with(values[set], results[set].to_host());
  }
}

// In a graph kernels follow each other closely, so that a product finds the values of the one
// before it in the first cache.
TYPED_TEST(SparseCuda, UpdatesAndRunsAreCapturedInAGraph) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  constexpr int kSets = 3;
  constexpr int kUpdates = 20;
  for (const UpdateCase& update : update_cases()) {
    SCOPED_TRACE(update.name);
    UpdateExample<T> example(device, update, 8);
    const Stream& stream = example.stream;
    std::vector<Buffer<T>> sets;
    for (int i = 0; i < kSets; ++i)
      sets.emplace_back(stream, example.a.nnz());
    std::vector<Buffer<T>> results;
    for (int i = 0; i < kUpdates; ++i)
      results.emplace_back(stream, example.plan.rows());
    stream.synchronize();

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeGlobal));
    for (int i = 0; i < kUpdates; ++i) {
      example.plan.update_values(sets[i % kSets]);
      example.run(results[i]);
    }
    check(cudaStreamEndCapture(stream.native(), &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    for (int launch = 0; launch < 2; ++launch) {
      std::vector<std::vector<T>> values;
      for (Buffer<T>& set : sets) {
        values.push_back(example.new_values());
        set.copy_from(values.back());
      }
      check(cudaGraphLaunch(executable, stream.native()));
      for (int set = 0; set < kSets; ++set) {
        const std::vector<T> first = results[set].to_host();
        example.expect_product_with(values[set], first);
        for (int i = set + kSets; i < kUpdates; i += kSets)
          EXPECT_TRUE(results[i].to_host() == first) << "update " << i;
      }
    }
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
  }
}

// Copies from pinned memory are asynchronous, and here wait for what is ahead of them.
TYPED_TEST(SparseCuda, ValuesInHostMemoryMayChangeOnceTheyWereGiven) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  for (const UpdateCase& update : update_cases()) {
    SCOPED_TRACE(update.name);
    UpdateExample<T> example(device, update, 9);
    const Stream& stream = example.stream;
    const std::int64_t nnz = example.a.nnz();
    Buffer<T> y(stream, example.plan.rows());
    const auto values = example.new_values();
    void* memory = nullptr;
    check(cudaMallocHost(&memory, values.size() * sizeof(T)));
    T* const pinned = static_cast<T*>(memory);
    std::copy(values.begin(), values.end(), pinned);
    for (int i = 0; i < 500; ++i)
      example.run(y);
    example.plan.update_values({pinned, nnz});
    std::fill_n(pinned, values.size(), element<T>(100.0));
    example.run(y);
    example.expect_product_with(values, y.to_host());
    check(cudaFreeHost(memory));
  }
}

// One plan on two streams at once, each with a workspace, an x and a y of its own.
TYPED_TEST(SparseCuda, RunsOverlapOnTwoStreamsWithTheirOwnWorkspaces) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  Example<T> example(2);
  const SparsePlan<T> plan(Stream(device), example.a.view());
  struct Lane {
    Stream stream;
    Operands<T, T> operands;
    Buffer<T> x;
    Buffer<T> y;
    Buffer<std::byte> workspace;
  };
  std::vector<Lane> lanes;
  for (int i = 0; i < 2; ++i) {
    const Stream stream(device);
    Operands<T, T> operands = example.operands;
    operands.x = vector_of<T>(example.a.cols, example.random, small_integer<T>);
    auto x = Buffer<T>::from(stream, operands.x);
    auto y = Buffer<T>::from(stream, operands.y);
    lanes.push_back({stream, std::move(operands), std::move(x), std::move(y),
                     Buffer<std::byte>(stream, plan.workspace_bytes())});
  }
  for (int round = 0; round < 200; ++round) {
    for (Lane& lane : lanes) {
      plan.run(lane.stream, Accumulator<T>{1}, std::as_const(lane.x).view(), Accumulator<T>{0},
               lane.y.view(), {lane.workspace.data(), lane.workspace.size()});
    }
  }
  for (Lane& lane : lanes)
    expect_exact(example.a, lane.operands, lane.y.to_host());
}

// The window of a split row that ends last adds up what the others left: which one it is, is a
// matter of timing, which products on another stream disturb.
TYPED_TEST(SparseCuda, SplitRowsAreReproducedAThousandTimesBesideOthers) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  Random random(12);
  const auto a = matrix_of<T>({40'000, 3, 9000, 0, 25'000, 700, 31'000}, 900, random, uniform<T>);
  const auto noise = matrix_of<T>(std::vector<std::int64_t>(20'000, 9), 900, random, uniform<T>);
  const Stream stream(device);
  const Stream other(device);
  const SparsePlan<T> plan(stream, a.view());
  const SparsePlan<T> other_plan(other, noise.view());
  ASSERT_GT(plan.workspace_bytes(), 0);
  const auto x = Buffer<T>::from(stream, vector_of<T>(900, random, uniform<T>));
  Buffer<T> y(stream, a.rows);
  Buffer<T> other_y(other, noise.rows);
  // Whatever a workspace of the caller holds.
  const std::vector<std::uint8_t> rubbish(plan.workspace_bytes(), 0x55);
  auto memory = Buffer<std::uint8_t>::from(stream, rubbish);
  plan.run(stream, x.view(), y.view());
  const std::vector<T> wanted = y.to_host();
  for (int repeat = 0; repeat < 1000; ++repeat) {
    for (int i = 0; i < repeat % 4; ++i)
      other_plan.run(other, x.view(), other_y.view());
    if (repeat % 10 == 0) {
      plan.run(stream, Accumulator<T>{1}, x.view(), Accumulator<T>{0}, y.view(),
               Workspace{memory.data(), memory.size()});
    } else {
      plan.run(stream, x.view(), y.view());
    }
    const std::vector<T> got = y.to_host();
    ASSERT_EQ(std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(T)), 0)
        << "repeat " << repeat;
  }
}

TYPED_TEST(SparseCuda, ShortRunTakesAStreamOfTheCaller) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  const Example<T> example(3);
  cudaStream_t native = nullptr;
  check(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking));
  {
    const Stream stream = Stream::wrap(native, device);
    const SparsePlan<T> plan(stream, example.a.view());
    expect_exact(example.a, example.operands, run_plan(stream, plan, example.operands));
  }
  check(cudaStreamDestroy(native));
}

// What the caller did wrong before is not reported as a failure of run.
TYPED_TEST(SparseCuda, RunIsNotBlamedForAnEarlierError) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  const Example<T> example(6);
  const Stream stream(device);
  const SparsePlan<T> plan(stream, example.a.view());
  ASSERT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  ASSERT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  expect_exact(example.a, example.operands, run_plan(stream, plan, example.operands));
}

// Products of one plan follow each other, each of which takes windows from a counter that it leaves
// as it was; more windows than all teams take at once, and fewer; rows that are split, windows in
// order.
TYPED_TEST(SparseCuda, ShortProductsOfHotColumns) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  using Sum = Accumulator<T>;
  Random random(21);
  const Stream stream(device);
  auto a = power_law_matrix<T>(11, 60'000, random);
  a.values = vector_of<T>(a.nnz(), random, small_integer<T>);
  Operands<T, T> operands{1, 0, vector_of<T>(a.cols, random, small_integer<T>),
                          std::vector<T>(a.rows)};
  operands.x[0] = element<T>(std::numeric_limits<double>::infinity());  // hot
  operands.x[a.cols - 1] = element<T>(std::numeric_limits<double>::quiet_NaN());
  const auto x = Buffer<T>::from(stream, operands.x);
  for (const int window_cost : {48, 960, 8192}) {
    for (const int bands : {0, 7}) {
      SCOPED_TRACE(::testing::Message() << "windows of " << window_cost << ", bands " << bands);
      const sparse::Shape shape{.lane_pieces = sparse::kLanePiecesMost<T>,
                                .piece_most = 16,
                                .window_cost = window_cost,
                                .bands = bands,
                                .hot_least = 20};
      const auto packed = packed_in(stream, a, shape);
      ASSERT_GT(packed.header.hot, 10);
      ASSERT_LT(packed.header.hot, a.cols / 4);
      Buffer<Sum> partials(stream, packed.header.partials);
      Buffer<unsigned> counters(stream, sparse::counters(packed.header));
      counters.fill_zero();
      const auto launches = sparse::cuda::prepare<T, T>(stream, sparse::Path::cuda, packed.header);
      for (int round = 0; round < 3; ++round) {
        auto y = Buffer<T>::from(stream, operands.y);
        sparse::cuda::run<T, T>(
            stream, launches, packed.view(),
            {{x.data(), y.data(), Sum{1}, Sum{0}}, partials.data(), counters.data()});
        expect_exact(a, operands, y.to_host());
        EXPECT_EQ(counters.to_host(), std::vector<unsigned>(counters.size()));
      }
    }
  }
}

// Of rows most of which are empty sums go to y without cells where beta is known to be 0, and by
// cells where it is read on the device: to equal bits, whatever y held.
TYPED_TEST(SparseCuda, ShortSumsOfFewFilledRows) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  using Sum = Accumulator<T>;
  Random random(23);
  const Stream stream(device);
  std::vector<std::int64_t> lengths(9001);
  for (std::size_t row = 5; row < lengths.size(); row += 17)
    lengths[row] = 1 + static_cast<std::int64_t>(row % 20);
  const auto a = matrix_of<T>(lengths, 500, random, small_integer<T>);
  const auto packed = packed_in<T>(stream, a,
                                   {.lane_pieces = sparse::kLanePiecesMost<T>,
                                    .wide_fill = 30,
                                    .window_cost = 4080,
                                    .stage_most = 500});
  ASSERT_TRUE(sparse::few_filled(a.rows, packed.header.class_rows[0], sizeof(T)));
  ASSERT_GT(packed.header.columns_most, 0);
  ASSERT_GT(packed.header.windows, 5);
  const auto zero = Buffer<Sum>::from(stream, std::vector<Sum>{Sum{0}});
  const std::vector<T> held(a.rows, element<T>(std::numeric_limits<double>::quiet_NaN()));
  for (const double alpha : {1.0, -2.0, std::numeric_limits<double>::infinity()}) {
    SCOPED_TRACE(::testing::Message() << "alpha " << alpha);
    const Operands<T, T> operands{element<Sum>(alpha), 0,
                                  vector_of<T>(a.cols, random, small_integer<T>), held};
    const std::vector<T> straight = multiply<T>(stream, packed, operands, Sum{0});
    const std::vector<T> by_cells =
        multiply(stream, packed, operands, Scalar<Sum>::on_device(zero.data()));
    expect_exact(a, operands, straight);
    EXPECT_EQ(std::memcmp(straight.data(), by_cells.data(), straight.size() * sizeof(T)), 0);
  }
}

// Warps of one slice that stage columns, which begin anywhere in a word of x.
TYPED_TEST(SparseCuda, ShortProductsOfStagedSingleSlices) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  const Stream stream(device);
  Example<T> example(31, std::vector<std::int64_t>(4000, 5), 4100, 2, -1);
  for (std::size_t i = 0; i < example.a.col_indices.size(); ++i)
    example.a.col_indices[i] = static_cast<std::int32_t>(i / 5 + example.random() % 70);
  for (const int piece_most : {8, 255}) {  // few steps, and more
    SCOPED_TRACE(piece_most);
    const auto packed = packed_in<T>(stream, example.a,
                                     {.piece_most = piece_most,
                                      .window_cost = piece_most * (1280 / piece_most),
                                      .stage_most = 4000});
    ASSERT_GT(packed.header.columns_most, 0);
    ASSERT_TRUE(sparse::one_slice_a_warp(packed.header));
    ASSERT_NO_FATAL_FAILURE(expect_product(stream, packed, example));
  }
}

// Blocks of more warps than four, with fewer slices than warps and with more; rows that are cut,
// split and empty.
TYPED_TEST(SparseCuda, ShortProductsOfLargerBlocks) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const Example<T> example(25, mixed_lengths(5000, 43, 20'000), 700, 2, -1);
  for (const int window_cost : {1600, 16'000}) {
    for (const int warps : {5, 8, 32}) {
      SCOPED_TRACE(::testing::Message() << "windows of " << window_cost << ", warps " << warps);
      const auto packed = packed_in<T>(stream, example.a,
                                       {.lane_pieces = sparse::kLanePiecesMost<T>,
                                        .wide_fill = 30,
                                        .piece_most = 16,
                                        .window_cost = window_cost,
                                        .warps = warps});
      ASSERT_EQ(packed.header.columns_most, 0);
      ASSERT_EQ(packed.header.split_rows, 1);
      ASSERT_NO_FATAL_FAILURE(expect_product(stream, packed, example));
    }
  }
}

// A slice for each warp of a block: windows that are a fraction of what is resident at once, and so
// many that fewer registers make room for all; pieces that one batch of steps holds, and longer
// ones.
TYPED_TEST(SparseCuda, ShortProductsOfASliceAWarp) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const int rows : {3000, 72'000}) {
    const Example<T> example(26, mixed_lengths(rows, 13, 2000), 700, 2, -1);
    for (const int piece_most : {8, 16}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows, pieces of " << piece_most);
      const auto packed = packed_in<T>(
          stream, example.a, {.lane_pieces = 1, .piece_most = piece_most, .window_cost = 400});
      ASSERT_EQ(packed.header.slices_most, 2);
      if (rows > 70'000) {  // of 132 multiprocessors, 24 warps have less room for them, 32 more
        ASSERT_GT(packed.header.windows, 132 * 12);
        ASSERT_LE(packed.header.windows, 132 * 16);
      }
      ASSERT_NO_FATAL_FAILURE(expect_product(stream, packed, example));
    }
  }
}

// Some of the shapes that costs choose from, others for each kind of rows and type.
TYPED_TEST(SparseCuda, ShortProductsOfAllShapes) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  const Stream stream(device);
  std::size_t first = sizeof(T);
  for (const auto& lengths :
       {std::vector<std::int64_t>(4000, 5), std::vector<std::int64_t>(900, 70),
        mixed_lengths(3000, 13, 600), mixed_lengths(5000, 43, 20'000)}) {
    const Example<T> example(33, lengths, 700, 2, -1);
    const auto csr = sparse::load(stream, example.a.view(), sparse::cuda::kExamination);
    sparse::RowFacts facts = csr.facts;
    facts.hot_least = 20;
    const std::vector<sparse::Shape> shapes =
        sparse::candidates(facts, kDType<T>, machine_of(device));
    for (std::size_t i = first++ % 7; i < shapes.size(); i += shapes.size() / 10 + 1) {
      SCOPED_TRACE(concat(lengths.size(), " rows, ", sparse::name_of(shapes[i])));
      ASSERT_NO_FATAL_FAILURE(
          expect_product(stream, packed_in(stream, example.a, shapes[i]), example));
    }
  }
}

// Windows that stage so many columns that blocks have nearly the 48 KiB of shared memory that need
// not be asked for, or a little more.
TYPED_TEST(SparseCuda, BlocksOfAbout48KiB) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  using Sum = Accumulator<T>;
  Random random(24);
  const Stream stream(device);
  constexpr std::int64_t kBytes = 48 << 10;
  for (std::int64_t bytes = kBytes - 2048; bytes <= kBytes + 64; bytes += 64) {
    SCOPED_TRACE(::testing::Message() << bytes << " bytes of x");
    const std::int64_t columns = bytes / static_cast<std::int64_t>(sizeof(T));
    CsrMatrix<T> a{1200, columns, {0}, {}, {}};
    for (std::int64_t row = 0; row < a.rows; ++row) {
      for (const std::int64_t column : {row % 50, columns / 2, columns - 1 - row % 70})
        a.col_indices.push_back(static_cast<std::int32_t>(column));
      a.row_offsets.push_back(std::ssize(a.col_indices));
    }
    a.values = vector_of<T>(std::ssize(a.col_indices), random, small_integer<T>);
    const auto packed =
        packed_in<T>(stream, a, {.window_cost = 16'320, .stage_most = static_cast<int>(columns)});
    ASSERT_EQ(packed.header.columns_most, columns);
    const Operands<T, T> operands{1, 0, vector_of<T>(columns, random, small_integer<T>),
                                  std::vector<T>(a.rows)};
    ASSERT_NO_FATAL_FAILURE(
        expect_exact(a, operands, multiply<T>(stream, packed, operands, Sum{0})));
  }
}

TYPED_TEST(SparseCuda, ExplainNamesTheKernels) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = typename TypeParam::Element;
  const Example<T> example(5);
  const Stream stream(device);
  const auto text = [&](Engine engine) {
    return SparsePlan<T>(stream, example.a.view(), {.engine = engine}).explain();
  };
  EXPECT_NE(text(Engine::automatic).find("kernels   cuda: one vector is bound by memory"),
            std::string::npos);
  for (const Engine engine : engines_on<T>(device)) {
    if (engine == Engine::automatic) continue;
    const std::string path = engine == Engine::cuda_cores ? "cuda" : "mma";
    EXPECT_NE(text(engine).find("kernels   " + path + ": asked for"), std::string::npos);
  }
}

template <class Call>
void expect_wrong_memory(const std::string& part, Call call) {
  expect_error(call, ErrorCode::wrong_memory, {part});
}

TEST(SparseCudaMemory, OnTheWrongSideIsAnError) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Example<double> example(4);
  const Stream stream(device);
  const Stream cpu(Device::cpu());
  const SparsePlan<double> plan(stream, example.a.view());
  const SparsePlan<double> cpu_plan(cpu, example.a.view());
  const std::vector<double> host_x(example.a.cols);
  std::vector<double> host_y(example.a.rows);
  const VectorView<const double> x_view{host_x.data(), example.a.cols};
  const VectorView<double> y_view{host_y.data(), example.a.rows};
  const Buffer<double> x(stream, example.a.cols);
  Buffer<double> y(stream, example.a.rows);

  expect_wrong_memory("x is in host memory", [&] { plan.run(stream, x_view, y.view()); });
  expect_wrong_memory("y is in host memory", [&] { plan.run(stream, x.view(), y_view); });
  expect_wrong_memory("x is in the memory of cuda:0", [&] { cpu_plan.run(cpu, x.view(), y_view); });
  expect_wrong_memory("the plan was made for cuda:0, but the stream is of cpu",
                      [&] { plan.run(cpu, x.view(), y.view()); });
  const double beta = 0.0;
  expect_wrong_memory("beta is in host memory", [&] {
    plan.run(stream, 1.0, x.view(), Scalar<double>::on_device(&beta), y.view());
  });
  CsrView<double> view = example.a.view();
  const auto values = Buffer<double>::from(stream, example.a.values);
  view.values = values.data();
  expect_wrong_memory("the values of A is in the memory of cuda:0",
                      [&] { const SparsePlan<double> wrong(cpu, view); });
}

// 10 million rows of every class: 3e9 entries, so that the windows of the last rows are numbered
// beyond 2^31 slots.
TEST(SparseCudaHuge, MoreThanTwoToThe31Slots) {
  const char* huge = std::getenv("LANKY_HUGE");
  if (huge == nullptr || std::string(huge) != "1") GTEST_SKIP() << "needs LANKY_HUGE=1";
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  constexpr std::int64_t kRows = 10'000'000;
  constexpr std::int64_t kCols = 1'000'000;
  constexpr std::int64_t kLengths[] = {300, 250, 260, 4, 260, 1, 255, 1100};
  std::vector<std::int64_t> offsets(kRows + 1);
  for (std::int64_t row = 0; row < kRows; ++row) {
    offsets[row + 1] = offsets[row] + kLengths[row % 8];
  }
  const std::int64_t nnz = offsets.back();
  const Stream cpu(Device::cpu());
  Buffer<std::int32_t> columns(cpu, nnz);
  Buffer<half> values(cpu, nnz);
  const half signs[] = {half(-1.0F), half(0.0F), half(1.0F)};
#pragma omp parallel for schedule(static)
  for (std::int64_t entry = 0; entry < nnz; ++entry) {
    const std::uint64_t hash = static_cast<std::uint64_t>(entry) * 0x9e3779b97f4a7c15ULL >> 20;
    columns.data()[entry] = static_cast<std::int32_t>(hash % kCols);
    values.data()[entry] = signs[hash / kCols % 3];
  }
  std::vector<half> x(kCols);
  for (std::int64_t i = 0; i < kCols; ++i)
    x[i] = half(static_cast<float>(i % 5) - 2.0F);

  const Stream stream(device);
  const CsrView<half> view{kRows, kCols, nnz, offsets.data(), columns.data(), values.data(), 0};
  const SparsePlan<half, float> plan(stream, view);
  ASSERT_GT(nnz, std::int64_t{1} << 31);
  const auto device_x = Buffer<half>::from(stream, x);
  Buffer<float> device_y(stream, kRows);
  plan.run(stream, device_x.view(), device_y.view());
  const std::vector<float> y = device_y.to_host();
  std::int64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
  for (std::int64_t row = 0; row < kRows; ++row) {
    float sum = 0.0F;
    for (std::int64_t entry = offsets[row]; entry < offsets[row + 1]; ++entry) {
      sum +=
          static_cast<float>(values.data()[entry]) * static_cast<float>(x[columns.data()[entry]]);
    }
    wrong += y[row] == sum ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0) << "rows of " << kRows;
}

// Tensor cores multiply floats as tf32, where asked for: integers of few bits are exact, NaN and
// Inf stay in their rows.
void expect_exact_in_tf32(Device device, const CsrMatrix<float>& a,
                          const Operands<float, float>& operands) {
  const Stream stream(device);
  for (const Math math : {Math::tf32, Math::tf32x3}) {
    SCOPED_TRACE(to_string(math));
    const SparsePlan<float> plan(stream, a.view(), {.engine = Engine::tensor_cores, .math = math});
    EXPECT_NE(plan.explain().find(std::string(to_string(math)) + ": asked for"), std::string::npos);
    expect_exact(a, operands, run_plan(stream, plan, operands));
  }
}

TEST(SparseCudaTf32, ShortIntegersAreExact) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Example<float> example(31);
  expect_exact_in_tf32(device, example.a, example.operands);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kSpecials[] = {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()};
  for (std::size_t i = 0; i < example.a.values.size(); i += 97)
    example.a.values[i] = kSpecials[i / 97 % 3];
  example.operands.x[7] = kInf;
  example.operands.x[8] = 0;
  expect_exact_in_tf32(device, example.a, example.operands);
}

TEST(SparseCudaTf32, WideSlicesAreExact) {
  Random random(32);
  std::vector<std::int64_t> lengths(420'000, 12);
  lengths[1000] = 70;
  const auto a = matrix_of<float>(lengths, 1 << 20, random, small_integer<float>);
  const sparse::RowFacts facts = PackedOnHost<float>(a.view()).facts();
  ASSERT_GT(sparse::choose_shape(facts, DType::f32, testing::h200()).shape.lane_pieces, 1);
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Operands<float, float> operands{2, 1,
                                        vector_of<float>(a.cols, random, small_integer<float>),
                                        vector_of<float>(a.rows, random, small_integer<float>)};
  expect_exact_in_tf32(device, a, operands);
}

TEST(SparseCudaTf32, RandomNumbersAreWithinTheBoundOfTheirPath) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Random random(33);
  const auto a = matrix_of<float>(boundary_lengths(), 500, random, uniform<float>);
  const Operands<float, float> operands{1, 0, vector_of<float>(a.cols, random, uniform<float>),
                                        vector_of<float>(a.rows, random, uniform<float>)};
  const Stream stream(device);
  std::vector<float> results[2];
  for (const Math math : {Math::tf32, Math::tf32x3}) {
    SCOPED_TRACE(to_string(math));
    const bool split = math == Math::tf32x3;
    const SparsePlan<float> plan(stream, a.view(), {.engine = Engine::tensor_cores, .math = math});
    results[split ? 1 : 0] = run_plan(stream, plan, operands);
    const double error = split ? 3 * 0x1p-22 : 2 * 0x1p-11 + 0x1p-22;
    expect_within_bound(a, operands, results[split ? 1 : 0], error);
  }
  EXPECT_NE(results[0], results[1]);
}

}  // namespace
}  // namespace lanky::testing
