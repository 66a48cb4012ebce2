// Errors, types, devices, streams, events and buffers, on every executor.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <lanky/lanky.hpp>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/arguments.hpp"
#include "core/json_line.hpp"
#include "core/module_path.hpp"
#include "core/shared_library.hpp"
#include "core/text.hpp"
#include "support/counting_allocator.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

TEST(ErrorCodes, HaveDistinctNames) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::device); ++code) {
    names.insert(to_string(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorCode::device) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(DTypes, NamesRoundTripAndSizesMatchTheTypes) {
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
  }
  const auto expect_type_of = [](DType dtype) {
    return [dtype](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(kDType<T>, dtype);
      EXPECT_EQ(sizeof(T), size_of(dtype));
    };
  };
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
    visit_real_dtype(dtype, expect_type_of(dtype));
  for (const DType dtype : {DType::f16, DType::c64, DType::c128})
    visit_dtype(dtype, expect_type_of(dtype));
  expect_error([] { parse_dtype("fp64"); }, ErrorCode::invalid_argument, {"\"fp64\"", "f64"});
  expect_error([] { visit_real_dtype(DType::c64, [](auto) {}); }, ErrorCode::unsupported, {"c64"});
}

TEST(DTypes, UnitRoundoffIsHalfTheDistanceToTheNextNumber) {
  const half one(1.0F);
  const half next = std::bit_cast<half>(static_cast<std::uint16_t>(one.bits + 1));
  EXPECT_EQ(unit_roundoff(DType::f16), (static_cast<double>(next) - 1.0) / 2);
  const bfloat16 wide_one(1.0F);
  const auto wide_next = std::bit_cast<bfloat16>(static_cast<std::uint16_t>(wide_one.bits + 1));
  EXPECT_EQ(unit_roundoff(DType::bf16), (static_cast<double>(wide_next) - 1.0) / 2);
  EXPECT_EQ(unit_roundoff(DType::f32), std::numeric_limits<float>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(DType::f64), std::numeric_limits<double>::epsilon() / 2);
}

template <class T>
class HalfTypes : public ::testing::Test {
 protected:
  static T from_bits(unsigned bits) { return std::bit_cast<T>(static_cast<std::uint16_t>(bits)); }
};
using StorageTypes = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(HalfTypes, StorageTypes);

TYPED_TEST(HalfTypes, EveryBitPatternSurvivesTheWayThroughFloat) {
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    const TypeParam value = this->from_bits(bits);
    const auto wide = static_cast<float>(value);
    const TypeParam back(wide);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      EXPECT_EQ(back.bits, bits);
    }
  }
}

// Between neighbours a < b, everything below the middle rounds to a, everything above it to b, and
// the middle itself to the one with an even last bit: from float and from double alike.
TYPED_TEST(HalfTypes, RoundsToNearestEvenAtEveryMidpoint) {
  for (unsigned bits = 0;; ++bits) {
    const auto low = static_cast<double>(static_cast<float>(this->from_bits(bits)));
    const auto high = static_cast<double>(static_cast<float>(this->from_bits(bits + 1)));
    if (std::isinf(high)) break;
    const double middle = (low + high) / 2;
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    EXPECT_EQ(TypeParam(middle).bits, even);
    EXPECT_EQ(TypeParam(static_cast<float>(middle)).bits, even);
    EXPECT_EQ(TypeParam(std::nextafter(middle, 0.0)).bits, bits);
    EXPECT_EQ(TypeParam(std::nextafter(middle, 1e300)).bits, bits + 1);
    EXPECT_EQ(TypeParam(-std::nextafter(middle, 1e300)).bits, (bits + 1) | 0x8000U);
  }
}

TYPED_TEST(HalfTypes, AreMadeFromIntegers) {
  EXPECT_EQ(static_cast<float>(TypeParam(3)), 3.0F);
  EXPECT_EQ(static_cast<float>(TypeParam(std::int64_t{-128})), -128.0F);
  EXPECT_TRUE(std::isinf(static_cast<float>(half(70'000))));
}

TEST(HalfTypes, OverflowGoesToInfinity) {
  EXPECT_EQ(half(65519.99).bits, 0x7bffU);
  EXPECT_EQ(half(65520.0).bits, 0x7c00U);
  EXPECT_EQ(half(-1e300).bits, 0xfc00U);
  EXPECT_EQ(bfloat16(1e300).bits, 0x7f80U);
  EXPECT_EQ(bfloat16(-std::numeric_limits<double>::infinity()).bits, 0xff80U);
}

TEST(Devices, AreNamedParsedAndListed) {
  EXPECT_EQ(Device::parse("cpu"), Device::cpu());
  EXPECT_EQ(Device::cpu().name(), "cpu");
  const std::vector<Device> all = Device::all();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(1 + Device::cuda_count()));
  EXPECT_EQ(all[0], Device::cpu());
  for (const Device& device : all) {
    EXPECT_EQ(Device::parse(device.name()), device);
    const DeviceProperties properties = device.properties();
    EXPECT_FALSE(properties.name.empty());
    EXPECT_GT(properties.multiprocessors, 0);
    EXPECT_GT(properties.memory_bytes, std::size_t{1} << 28);
    EXPECT_EQ(properties.compute_capability > 0, device.is_cuda());
  }
  EXPECT_EQ(Device::best(), all.size() > 1 ? all[1] : all[0]);
  for (const char* text : {"", "gpu", "cuda:", "cuda:x", "cuda:1x", "CPU"}) {
    expect_error([&] { Device::parse(text); }, ErrorCode::invalid_argument,
                 {concat('"', text, '"'), "cuda:INDEX"});
  }
}

TEST(Devices, ThatAreNotThereGiveOneClearError) {
  const int count = Device::cuda_count();
  EXPECT_EQ(Device::cuda_absence().empty(), count > 0);
  const std::vector<std::string> expected =
      count > 0 ? std::vector<std::string>{concat("CUDA device ", count), concat("has ", count)}
                : std::vector<std::string>{"no CUDA device", Device::cuda_absence()};
  expect_error([&] { Device::cuda(count); }, ErrorCode::no_device, expected);
  expect_error([&] { Device::parse("cuda:99"); }, ErrorCode::no_device, {"CUDA device"});
}

template <class Case>
class OnExecutor : public ::testing::Test {};
using Executors =
    ::testing::Types<testing::On<DeviceKind::cpu, double>, testing::On<DeviceKind::cuda, double>>;
TYPED_TEST_SUITE(OnExecutor, Executors, testing::OnName);

EXECUTOR_TEST(OnExecutor, BuffersHoldWhatWasCopiedIn) {
  const Stream stream(device);
  const std::vector<double> values = {1.0, -2.5, 3.25};
  Buffer<double> buffer = Buffer<double>::from(stream, values);
  EXPECT_EQ(buffer.size(), 3);
  EXPECT_EQ(buffer.to_host(), values);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0U);

  const double* data = buffer.data();
  Buffer<double> moved = std::move(buffer);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved.to_host(), values);
  EXPECT_EQ(buffer.size(), 0);  // NOLINT(bugprone-use-after-move): empty, as documented
  EXPECT_TRUE(buffer.to_host().empty());
  EXPECT_EQ(buffer.stream().device(), device);
  moved.fill_zero();
  EXPECT_EQ(moved.to_host(), std::vector<double>(3, 0.0));
  EXPECT_EQ(Buffer<double>(stream, 0).to_host().size(), 0U);
}

EXECUTOR_TEST(OnExecutor, BuffersRefuseWhatCannotFit) {
  const Stream stream(device);
  expect_error([&] { Buffer<double>(stream, -1); }, ErrorCode::invalid_argument, {"-1"});
  expect_error([&] { Buffer<double>(stream, std::int64_t{1} << 61); }, ErrorCode::out_of_memory,
               {"2305843009213693952"});
  const std::int64_t too_much = std::int64_t{1} << 44;  // 128 TiB
  expect_error([&] { Buffer<double>(stream, too_much); }, ErrorCode::out_of_memory,
               {concat(too_much * 8), device.name()});
  Buffer<double> small(stream, 2);
  const std::vector<double> three(3, 1.0);
  expect_error([&] { small.copy_from(three); }, ErrorCode::size_mismatch, {"24", "16"});
  EXPECT_EQ(Buffer<double>::from(stream, three).to_host(), three);  // an error leaves no trace
}

EXECUTOR_TEST(OnExecutor, MatricesKnowTheirLayout) {
  const Stream stream(device);
  Matrix<float> tight(stream, 5, 3);
  EXPECT_EQ(tight.view().ld, 5);
  EXPECT_EQ(tight.buffer().size(), 15);
  const Matrix<float> padded(stream, 5, 3, Layout::row, 8);
  EXPECT_EQ(padded.view().ld, 8);
  EXPECT_EQ(padded.view().layout, Layout::row);
  EXPECT_EQ(padded.buffer().size(), 40);
  const Matrix<float> empty(stream, 0, 7);
  EXPECT_EQ(empty.view().cols, 7);
  EXPECT_EQ(empty.buffer().size(), 0);
}

EXECUTOR_TEST(OnExecutor, MatricesRefuseExtentsThatMakeNoSense) {
  const Stream stream(device);
  expect_error([&] { Matrix<float>(stream, -2, -3); }, ErrorCode::invalid_argument, {"-2 x -3"});
  expect_error([&] { Matrix<float>(stream, 5, 3, Layout::col, 4); }, ErrorCode::invalid_argument,
               {"leading dimension of 4", "column-major 5 x 3", "needs 5"});
  expect_error([&] { Matrix<float>(stream, 5, 3, Layout::row, -1); }, ErrorCode::invalid_argument,
               {"leading dimension of -1", "row-major 5 x 3", "needs 3"});
  const std::int64_t half_of_64_bits = std::int64_t{1} << 32;
  expect_error([&] { Matrix<float>(stream, half_of_64_bits, half_of_64_bits); },
               ErrorCode::out_of_memory, {"4294967296 x 4294967296"});
}

EXECUTOR_TEST(OnExecutor, ACallersAllocatorGetsEveryRequestAndEveryReturn) {
  const Stream stream(device);
  testing::CountingAllocator allocator;
  {
    Buffer<double> a(stream, 10, &allocator);
    Buffer<float> b = Buffer<float>::from(stream, std::vector<float>{1, 2, 3}, &allocator);
    EXPECT_EQ(allocator.live_bytes(), 80 + 12);
    EXPECT_EQ(b.to_host(), (std::vector<float>{1, 2, 3}));
    a = Buffer<double>(stream, 1, &allocator);
    EXPECT_EQ(allocator.live_bytes(), 8 + 12);
  }
  EXPECT_EQ(allocator.live_bytes(), 0);
  EXPECT_EQ(allocator.returned_wrong(), 0);
}

EXECUTOR_TEST(OnExecutor, EventsOrderAndTimeTheWorkOfStreams) {
  const Stream first(device);
  const Stream second(device);
  Event start(device);
  Event end(device);
  Buffer<double> buffer(first, 1 << 20);
  start.record(first);
  buffer.fill_zero();
  end.record(first);
  second.wait(end);
  second.synchronize();
  EXPECT_TRUE(end.done());
  EXPECT_GT(Event::elapsed_ms(start, end), 0.0);
  EXPECT_LT(Event::elapsed_ms(start, end), 10'000.0);
}

EXECUTOR_TEST(OnExecutor, PointersOnTheWrongSideAreNamed) {
  const Stream stream(device);
  const Buffer<double> here(stream, 4);
  const std::vector<double> host(4);
  for (int time = 0; time < 2; ++time)
    EXPECT_NO_THROW(check_on_device(here.data(), 4, device, "x"));
  EXPECT_NO_THROW(check_on_device(nullptr, 0, device, "x"));
  expect_error([&] { check_on_device(nullptr, 4, device, "x"); }, ErrorCode::invalid_argument,
               {"x: a null pointer", "4 elements"});
  if (device.is_cuda()) {
    expect_error([&] { check_on_device(host.data(), 4, device, "x"); }, ErrorCode::wrong_memory,
                 {"x is in host memory", device.name()});
    expect_error([&] { check_on_device(here.data(), 4, Device::cpu(), "y"); },
                 ErrorCode::wrong_memory, {"y is in the memory of cuda:0", "cpu"});
    EXPECT_TRUE(only_on_device(here.data()));
  }
  EXPECT_FALSE(only_on_device(host.data()));
  expect_error([&] { check_workspace(here.data(), 8, 32, device); }, ErrorCode::size_mismatch,
               {"8 bytes", "needs 32"});
}

TEST(Streams, WrapTheCallersOwn) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream owner(device);
  {
    const Stream wrapped = Stream::wrap(owner.native(), device);
    EXPECT_EQ(wrapped.native(), owner.native());
    wrapped.synchronize();
  }
  owner.synchronize();  // still alive
  EXPECT_EQ(Buffer<int>::from(owner, std::vector<int>{7}).to_host(), std::vector<int>{7});
}

TEST(Streams, WrapTheLegacyDefaultStreamOfEveryDevice) {
  LANKY_DEVICE_OR_SKIP(first, DeviceKind::cuda);
  for (int index = first.index(); index < Device::cuda_count(); ++index) {
    const Device device = Device::cuda(index);
    const Stream stream = Stream::wrap(nullptr, device);
    const Stream other(device);
    Event reached(device);
    const auto buffer = Buffer<int>::from(stream, std::vector<int>{index, 7});
    reached.record(stream);
    other.wait(reached);
    other.synchronize();
    EXPECT_TRUE(reached.done());
    EXPECT_EQ(buffer.to_host(), (std::vector<int>{index, 7}));
  }
}

TEST(Streams, OfTheCpuHaveNoNativeHandle) {
  EXPECT_EQ(Stream(Device::cpu()).native(), nullptr);
  expect_error([] { Stream::wrap(nullptr, Device::cpu()); }, ErrorCode::invalid_argument, {"cpu"});
}

TEST(Streams, DifferentDevicesAreTold) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  EXPECT_NO_THROW(check_same_device(device, device));
  expect_error([&] { check_same_device(device, Device::cpu()); }, ErrorCode::wrong_memory,
               {device.name(), "cpu"});
  Event event(device);
  expect_error([&] { event.record(Stream(Device::cpu())); }, ErrorCode::invalid_argument,
               {"cuda:0", "cpu"});
}

TEST(Events, MustBeRecordedBeforeTheyAreTimed) {
  const Event a(Device::cpu());
  const Event b(Device::cpu());
  expect_error([&] { Event::elapsed_ms(a, b); }, ErrorCode::invalid_argument, {"recorded"});
}

TEST(Scalars, InDeviceMemoryNeedAPointer) {
  const double value = 2.5;
  EXPECT_EQ(Scalar<double>::on_device(&value).pointer(), &value);
  expect_error([] { Scalar<double>::on_device(nullptr); }, ErrorCode::invalid_argument,
               {"null pointer"});
}

TEST(Views, AreTriviallyCopyable) {
  EXPECT_TRUE(std::is_trivially_copyable_v<VectorView<double>>);
  EXPECT_TRUE(std::is_trivially_copyable_v<MatrixView<const half>>);
  EXPECT_TRUE(std::is_trivially_copyable_v<CsrView<float>>);
}

TEST(Views, TurnIntoViewsOfConst) {
  double data[6] = {};
  const VectorView<double> x{data, 6};
  const VectorView<const double> cx = x;
  EXPECT_EQ(cx.data, x.data);
  const MatrixView<const double> cm = MatrixView<double>{data, 2, 3, 2, Layout::col};
  EXPECT_EQ(cm.cols, 3);
  const std::int32_t narrow[] = {0, 2};
  const std::int64_t wide[] = {0, 3};
  EXPECT_EQ(RowOffsets(narrow)[1], 2);
  EXPECT_EQ(RowOffsets(wide)[1], 3);
  EXPECT_EQ(RowOffsets(narrow).bytes_per_offset(), 4);
}

TEST(SharedLibraries, ReportWhatIsMissing) {
  const SharedLibrary none({"liblanky-does-not-exist.so"});
  EXPECT_FALSE(none.loaded());
  EXPECT_NE(none.failure().find("liblanky-does-not-exist"), std::string::npos);
  EXPECT_EQ(none.function<void()>("anything"), nullptr);
  const SharedLibrary math({"liblanky-does-not-exist.so", "libm.so.6"});
  ASSERT_TRUE(math.loaded()) << math.failure();
  auto* cosine = math.function<double(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
}

TEST(Modules, StandBesideTheProgramOrAreLeftToTheLoader) {
  const std::filesystem::path program = program_path();
  EXPECT_EQ(program, std::filesystem::read_symlink("/proc/self/exe"));
  const std::string file = program.filename().string();  // any file that stands there
  EXPECT_EQ(module_path(file), program.string());
  EXPECT_EQ(module_path("liblanky-does-not-exist.so"), "liblanky-does-not-exist.so");
}

TEST(LineReaders, GiveEachLineItsPlace) {
  const testing::TemporaryDirectory folder;
  const std::string path = folder.file("lines", "\xef\xbb\xbf{}\r\n \t\r\n\n[1]\n{\"half");
  LineReader lines(path);
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.text(), "{}");
  EXPECT_EQ(lines.place(), path + ":1");
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.text(), "[1]");
  EXPECT_EQ(lines.place(), path + ":4");
  EXPECT_TRUE(lines.is_whole());
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.text(), "{\"half");
  EXPECT_FALSE(lines.is_whole());
  EXPECT_FALSE(lines.next());
}

TEST(LineReaders, EndAtALineWithoutAnEnd) {
  const testing::TemporaryDirectory folder;
  const std::string path = folder.file("lines", "{}\n");
  std::filesystem::resize_file(path, 4 * kLongestLine);
  LineReader lines(path);
  ASSERT_TRUE(lines.next());
  expect_error([&] { lines.next(); }, ErrorCode::parse, {path + ":2: is longer than 67108864 b"});
  std::filesystem::resize_file(path, 100000);  // longer than a block
  LineReader shorter(path);
  ASSERT_TRUE(shorter.next());
  ASSERT_TRUE(shorter.next());
  EXPECT_EQ(shorter.text(), std::string(99997, '\0'));
}

TEST(LineReaders, TellWhyAFileCannotBeOpened) {
  const testing::TemporaryDirectory folder;
  const std::string path = folder.path();
  expect_error([&] { LineReader{path}; }, ErrorCode::io, {path + ": cannot be opened: Is a dir"});
  expect_error([&] { LineReader{path + "/none"}; }, ErrorCode::io, {"/none: cannot be opened: No"});
}

}  // namespace
}  // namespace lanky
