// The tuning file of dense products: what it keeps, what it refuses, and that plans follow it only
// where they are told to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <lanky/lanky.hpp>

#include "support/dense_oracle.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

using testing::Data;
using testing::DenseCase;
using testing::DeviceMatrix;
using testing::TemporaryDirectory;

constexpr GemmShape kGram{.m = 16, .n = 16, .k = 100'000, .op_a = Op::trans};

GemmQuery query_of(const GemmShape& shape, DType type = DType::f32) {
  return {Device::cpu(), shape, type, type};
}

TEST(GemmTuning, KnowsClassesOfProducts) {
  GemmTuning tuning;
  EXPECT_EQ(tuning.find(query_of(kGram)), nullptr);
  tuning.set(query_of(kGram), {true, "00ff"});
  ASSERT_NE(tuning.find(query_of(kGram)), nullptr);
  EXPECT_EQ(*tuning.find(query_of(kGram)), (GemmChoice{true, "00ff"}));
  GemmShape near = kGram;
  near.k = 120'000;
  EXPECT_NE(tuning.find(query_of(near)), nullptr) << "the same half power of two";
  for (const auto& change : std::vector<void (*)(GemmShape&)>{
           [](GemmShape& s) { s.k = 90'000; }, [](GemmShape& s) { s.n = 15; },
           [](GemmShape& s) { s.layout = Layout::row; }, [](GemmShape& s) { s.op_b = Op::trans; },
           [](GemmShape& s) { s.lda = 100'001; }}) {
    GemmShape other = kGram;
    change(other);
    EXPECT_EQ(tuning.find(query_of(other)), nullptr);
  }
  EXPECT_EQ(tuning.find(query_of(kGram, DType::f64)), nullptr);
  GemmQuery rounded = query_of(kGram);
  rounded.math = Math::tf32;
  EXPECT_EQ(tuning.find(rounded), nullptr);
  tuning.set(query_of(near), {});
  EXPECT_EQ(tuning.size(), 1U) << "the newer choice replaces the older";
  GemmQuery same = query_of(kGram);
  same.same_operands = true;
  EXPECT_NE(tuning.find(same), nullptr) << "no class of its own on a CPU";
  GemmQuery adding = query_of(kGram);
  adding.adds = true;
  EXPECT_NE(tuning.find(adding), nullptr) << "no class of its own on a CPU";
  GemmShape wide = kGram;
  wide.n = 33;
  tuning.set(query_of(wide), {});
  wide.n = 40;
  EXPECT_NE(tuning.find(query_of(wide)), nullptr) << "the same multiple of 8";
}

TEST(GemmTuning, ClassesPassOverWhatTakesNoTime) {
  const auto one_class = [](const GemmQuery& a, const GemmQuery& b) {
    GemmTuning tuning;
    tuning.set(a, {});
    return tuning.find(b) != nullptr;
  };
  constexpr GemmShape kPanel{.m = 4096, .n = 16, .k = 4096};
  GemmShape turned = kPanel;
  turned.op_b = Op::trans;
  EXPECT_TRUE(one_class(query_of(kPanel, DType::f16), query_of(kPanel, DType::bf16)));
  EXPECT_TRUE(one_class(query_of(kPanel), query_of(turned))) << "a small B";
  turned.op_b = Op::conj_trans;
  EXPECT_TRUE(one_class(query_of(kPanel, DType::c64), query_of(turned, DType::c64)));
  GemmShape column = kPanel;
  column.n = 1;
  GemmShape conjugated = column;
  column.op_b = Op::trans;
  conjugated.op_b = Op::conj_trans;
  EXPECT_FALSE(one_class(query_of(column, DType::c64), query_of(conjugated, DType::c64)));
  EXPECT_TRUE(one_class(query_of(column), query_of(conjugated))) << "no complex numbers";
  const GemmQuery wide{Device::cpu(), kPanel, DType::f16, DType::f32};
  EXPECT_TRUE(one_class(query_of(kPanel, DType::f16), wide)) << "a small C";
  constexpr GemmShape kUpdate{.m = 1'000'000, .n = 16, .k = 16};
  const GemmQuery wide_update{Device::cpu(), kUpdate, DType::f16, DType::f32};
  EXPECT_FALSE(one_class(query_of(kUpdate, DType::f16), wide_update)) << "a C as large as A";
  EXPECT_FALSE(one_class(query_of(kPanel, DType::f16), query_of(kPanel)));
  GemmShape rows = kGram;
  rows.layout = Layout::row;
  rows.op_a = Op::none;
  rows.op_b = Op::trans;
  EXPECT_TRUE(one_class(query_of(kGram), query_of(rows))) << "the same A and B, C transposed";
}

TEST(GemmTuning, LankysOwnIsReadable) {
  EXPECT_GT(GemmTuning::of_lanky().size(), 0U);
}

TEST(GemmTuning, WritesWhatItReads) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "new" / "gemm.jsonl";
  EXPECT_EQ(GemmTuning::read(path).size(), 0U) << "no file is no error";
  GemmTuning tuning;
  tuning.set(query_of(kGram), {true, "12\"\\34"});
  tuning.set(query_of(kGram, DType::f64), {});
  tuning.write(path);
  tuning.write(path);
  const GemmTuning again = GemmTuning::read(path);
  EXPECT_EQ(again.size(), 2U);
  EXPECT_EQ(*again.find(query_of(kGram)), (GemmChoice{true, "12\"\\34"}));
  EXPECT_EQ(*again.find(query_of(kGram, DType::f64)), GemmChoice{});
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
    ++files;
  EXPECT_EQ(files, 1U) << "nothing half-written is left";
}

TEST(GemmTuning, RefusesOtherFilesWithTheLine) {
  const TemporaryDirectory folder;
  const std::string head = "{\"format\": \"lanky gemm tuning 3\"}\n";
  const std::string good = R"({"class": "x", "kernel": "lanky", "algorithm": ""})";
  const auto refused = [&](const std::string& content, const std::string& fragment) {
    const auto path = folder.file("tuning", content);
    expect_error([&] { GemmTuning::read(path); }, ErrorCode::parse, {path.string(), fragment});
  };
  EXPECT_EQ(GemmTuning::read(folder.file("good", head + good + "\n")).size(), 1U);
  refused("hello\n", "line 1");
  refused("{\"format\": \"lanky gemm tuning 1\"}\n" + good, "line 1");
  refused(head + good + "\n" + good.substr(0, 30), "line 3");
  refused(head + R"({"class": "x", "kernel": "other", "algorithm": ""})", "line 2");
  refused(head + R"({"kernel": "lanky", "algorithm": ""})", "line 2");
  refused(head + good + "]", "line 2");
  expect_error([&] { GemmTuning::read(folder.path()); }, ErrorCode::io, {folder.path().string()});
  expect_error([&] { GemmTuning().write(folder.file("file", "") / "gemm.jsonl"); }, ErrorCode::io,
               {"gemm.jsonl"});
}

TEST(GemmTuning, StandsWhereTheEnvironmentSays) {
  ASSERT_EQ(setenv("LANKY_TUNE_CACHE", "/a/b.jsonl", 1), 0);
  EXPECT_EQ(GemmTuning::default_path(), "/a/b.jsonl");
  unsetenv("LANKY_TUNE_CACHE");
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "/c", 1), 0);
  EXPECT_EQ(GemmTuning::default_path(), "/c/lanky/gemm.jsonl");
  unsetenv("XDG_CACHE_HOME");
  ASSERT_EQ(setenv("HOME", "/d", 1), 0);
  EXPECT_EQ(GemmTuning::default_path(), "/d/.cache/lanky/gemm.jsonl");
}

TEST(GemmTuning, AnUnusableFileOfTheUserIsIgnoredAloud) {
  const TemporaryDirectory folder;
  ASSERT_EQ(setenv("LANKY_TUNE_CACHE", folder.file("broken", "?").c_str(), 1), 0);
  const GemmPlan<float> plan(Stream(Device::cpu()), kGram, {.tuning = &GemmTuning::of_this_user()});
  EXPECT_NE(plan.explain().find("tuning: ignored: "), std::string::npos) << plan.explain();
  unsetenv("LANKY_TUNE_CACHE");
}

/// Every choice there is for a shape computes it rightly, in a plan that says so.
void follow_all_choices(DeviceKind kind, GemmShape shape) {
  LANKY_DEVICE_OR_SKIP(device, kind);
  const Stream stream(device);
  const DenseCase<float, float> dense(shape, Data::integers, 51);
  const GemmQuery query{device, dense.shape, DType::f32, DType::f32};
  const std::vector<GemmChoice> choices = gemm_choices(query, 4);
  ASSERT_FALSE(choices.empty());
  EXPECT_NE(std::find(choices.begin(), choices.end(), GemmChoice{}), choices.end());
  const bool regular = gemm_family(shape.m, shape.n, shape.k) == GemmFamily::regular;
  EXPECT_TRUE(!regular || choices.front().vendor == (choices.size() > 1)) << "a plan's own choice";
  for (const GemmChoice& choice : choices) {
    GemmTuning tuning;
    tuning.set(query, choice);
    const GemmPlan<float> plan(stream, dense.shape, {.tuning = &tuning});
    SCOPED_TRACE(plan.explain());
    EXPECT_NE(plan.explain().find(choice.vendor ? "fastest is the vendor" : "fastest is lanky"),
              std::string::npos);
    DeviceMatrix<float> a(stream, dense.a);
    DeviceMatrix<float> b(stream, dense.b);
    DeviceMatrix<float> c(stream, dense.c);
    plan.run(stream, a.view(), b.view(), c.view());
    dense.expect_exact(c.download());
  }
}

/// Runs whose B is A follow their own choice, whatever the choice for two operands is.
TEST(GemmTuning, PlansFollowChoicesOfOneOperandTwice) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  DenseCase<float, float> dense(kGram, Data::integers, 52);
  dense.b = dense.a;
  const auto expected = dense.expected();
  for (const GemmChoice& general : gemm_choices({device, dense.shape, DType::f32, DType::f32}, 1)) {
    const GemmQuery same{device, dense.shape, DType::f32, DType::f32, true};
    for (const GemmChoice& choice : gemm_choices(same, 3)) {
      GemmTuning tuning;
      tuning.set({device, dense.shape, DType::f32, DType::f32}, general);
      tuning.set(same, choice);
      const GemmPlan<float> plan(stream, dense.shape, {.tuning = &tuning});
      SCOPED_TRACE(plan.explain());
      const std::string note =
          std::string("where A is B ") + (choice.vendor ? "the vendor" : "lanky");
      EXPECT_NE(plan.explain().find(note), std::string::npos);
      DeviceMatrix<float> a(stream, dense.a);
      DeviceMatrix<float> b(stream, dense.b);
      for (DeviceMatrix<float>* second : {&a, &b}) {
        DeviceMatrix<float> c(stream, dense.c);
        plan.run(stream, a.view(), second->view(), c.view());
        dense.expect_equal(c.download(), expected);
      }
    }
  }
}

/// Runs that add to C follow their own choice, wherever their beta stands.
TEST(GemmTuning, PlansFollowChoicesOfRunsThatAdd) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  constexpr GemmShape kUpdate{.m = 5000, .n = 16, .k = 16};
  const DenseCase<float, float> plain(kUpdate, Data::integers, 53);
  const DenseCase<float, float> adding(kUpdate, Data::integers, 53, 2, -1);
  const GemmQuery query{device, plain.shape, DType::f32, DType::f32};
  GemmQuery adds = query;
  adds.adds = true;
  EXPECT_NE(gemm_class(query), gemm_class(adds));
  GemmQuery small = adds;
  small.shape = kGram;
  EXPECT_EQ(gemm_class(small), gemm_class({device, kGram, DType::f32, DType::f32}));
  const std::vector<GemmChoice> choices = gemm_choices(query, 2);
  const auto scalars = Buffer<float>::from(stream, {2, -1});
  for (const GemmChoice& general : choices) {
    for (const GemmChoice& choice : choices) {
      GemmTuning tuning;
      tuning.set(query, general);
      tuning.set(adds, choice);
      const GemmPlan<float> plan(stream, plain.shape, {.tuning = &tuning});
      SCOPED_TRACE(plan.explain());
      const GemmInfo info = plan.info();
      const auto vendor = [&](bool added) {
        return info.routes[static_cast<std::size_t>(info.of_aligned[0][added])].vendor;
      };
      EXPECT_EQ(vendor(false), general.vendor);
      EXPECT_EQ(vendor(true), choice.vendor);
      DeviceMatrix<float> a(stream, plain.a);
      DeviceMatrix<float> b(stream, plain.b);
      DeviceMatrix<float> c(stream, plain.c);
      plan.run(stream, a.view(), b.view(), c.view());
      plain.expect_exact(c.download());
      const auto alpha = Scalar<float>::on_device(scalars.data());
      const auto beta = Scalar<float>::on_device(scalars.data() + 1);
      for (const bool on_device : {false, true}) {
        DeviceMatrix<float> sum(stream, adding.c);
        if (on_device) {
          plan.run(stream, alpha, a.view(), b.view(), beta, sum.view());
        } else {
          plan.run(stream, 2, a.view(), b.view(), -1, sum.view());
        }
        adding.expect_exact(sum.download());
      }
    }
  }
}

TEST(GemmTuning, PlansPassOverAlgorithmsThatAreNotOffered) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  GemmTuning tuning;
  tuning.set({device, kGram, DType::f32, DType::f32}, {true, "99 tile 99"});
  const GemmPlan<float> plan(Stream(device), kGram, {.tuning = &tuning});
  EXPECT_NE(plan.explain().find("tuning: knows no such product"), std::string::npos)
      << plan.explain();
}

class TunedPlan : public ::testing::TestWithParam<DeviceKind> {};
INSTANTIATE_TEST_SUITE_P(Executors, TunedPlan, ::testing::Values(DeviceKind::cpu, DeviceKind::cuda),
                         [](const auto& test) {
                           return test.param == DeviceKind::cuda ? "cuda" : "cpu";
                         });

TEST_P(TunedPlan, FollowsEveryChoice) {
  for (const GemmShape& shape :
       {kGram, GemmShape{.m = 700, .n = 24, .k = 600}, GemmShape{.m = 200, .n = 150, .k = 170},
        GemmShape{.m = 3, .n = 3000, .k = 40, .layout = Layout::row}})
    follow_all_choices(GetParam(), shape);
}

TEST_P(TunedPlan, HasOneChoiceForAnEmptyResult) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const GemmShape& shape : {GemmShape{.m = 0, .n = 8, .k = 16}, {.m = 1000, .n = 0, .k = 16}})
    EXPECT_EQ(gemm_choices({device, shape, DType::f32, DType::f32}),
              std::vector<GemmChoice>{GemmChoice{}});
}

/// A plan follows what was measured, whether it is its own way or not, and is right.
void follow_measured(DeviceKind kind, const GemmShape& shape, double beta, bool same) {
  LANKY_DEVICE_OR_SKIP(device, kind);
  const Stream stream(device);
  DenseCase<float, float> dense(shape, Data::integers, 54, 2, beta);
  if (same) dense.b = dense.a;
  DeviceMatrix<float> a(stream, dense.a);
  DeviceMatrix<float> b(stream, dense.b);
  DeviceMatrix<float> c(stream, dense.c);
  DeviceMatrix<float>& second = same ? a : b;
  GemmTuning tuning;
  const std::vector<GemmTrial> trials = measure_choices<float>(stream, dense.shape,
                                                               {.alpha = 2,
                                                                .a = a.view(),
                                                                .b = second.view(),
                                                                .beta = static_cast<float>(beta),
                                                                .c = c.view()},
                                                               tuning);
  ASSERT_GE(trials.size(), 2U);
  for (const GemmTrial& trial : trials)
    EXPECT_GT(trial.us, 0) << trial.choice.algorithm;
  EXPECT_LE(tuning.size(), 1U);
  const GemmQuery query{device, dense.shape, DType::f32, DType::f32, same, !same && beta != 0};
  if (const GemmChoice* const kept = tuning.find(query)) {
    const auto is_kept = [&](const GemmTrial& trial) { return trial.choice == *kept; };
    EXPECT_TRUE(std::any_of(trials.begin() + 1, trials.end(), is_kept)) << kept->algorithm;
  }
  const GemmPlan<float> plan(stream, dense.shape, {.tuning = &tuning});
  SCOPED_TRACE(plan.explain());
  DeviceMatrix<float> result(stream, dense.c);
  plan.run(stream, 2, a.view(), second.view(), static_cast<float>(beta), result.view());
  dense.expect_exact(result.download());
}

TEST_P(TunedPlan, FollowsWhatItMeasured) {
  constexpr GemmShape kSyrk{.m = 20, .n = 20, .k = 3000, .op_a = Op::trans};
  for (const GemmShape& shape : {kGram, GemmShape{.m = 700, .n = 24, .k = 600}, kSyrk}) {
    for (const double beta : {0.0, -1.0})
      follow_measured(GetParam(), shape, beta, false);
  }
  follow_measured(GetParam(), kSyrk, 0, true);
}

TEST_P(TunedPlan, MeasuresOnOperandsOfItsOwn) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  constexpr GemmShape kSyrk{.m = 20, .n = 20, .k = 3000, .op_a = Op::trans};
  for (const GemmShape& shape : {GemmShape{.m = 700, .n = 24, .k = 600}, kSyrk}) {
    DenseCase<float, float> dense(shape, Data::integers, 55, 2, -1, 3);
    if (shape.m == shape.n) dense.b = dense.a;
    const GemmPlan<float> plan(stream, dense.shape, {.tune = true});
    SCOPED_TRACE(plan.explain());
    EXPECT_NE(plan.explain().find("tuning: "), std::string::npos);
    DeviceMatrix<float> a(stream, dense.a);
    DeviceMatrix<float> b(stream, dense.b);
    DeviceMatrix<float> c(stream, dense.c);
    plan.run(stream, 2, a.view(), shape.m == shape.n ? a.view() : b.view(), -1, c.view());
    dense.expect_exact(c.download());
  }
  EXPECT_NO_THROW(GemmPlan<float>(stream, {.m = 0, .n = 8, .k = 16}, {.tune = true}));
}

TEST_P(TunedPlan, MeasuresNothingForAnEmptyResultAndRefusesOthersOperands) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  GemmTuning tuning;
  EXPECT_TRUE(measure_choices<float>(stream, {.m = 0, .n = 8, .k = 16}, {}, tuning).empty());
  Buffer<float> memory(stream, 64);
  const MatrixView<float> view{memory.data(), 8, 8, 8};
  expect_error(
      [&] {
        measure_choices<float>(stream, {.m = 9, .n = 8, .k = 8}, {.a = view, .b = view, .c = view},
                               tuning);
      },
      ErrorCode::size_mismatch, {"A is 8 x 8", "9 x 8"});
  EXPECT_EQ(tuning.size(), 0U);
}

TEST_P(TunedPlan, SaysThatItKnowsNothing) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const GemmTuning none;
  const Stream stream(device);
  const GemmPlan<float> plan(stream, kGram, {.tuning = &none});
  EXPECT_NE(plan.explain().find("tuning: knows no such product"), std::string::npos);
  EXPECT_EQ(GemmPlan<float>(stream, kGram).explain().find("tuning"), std::string::npos);
}

}  // namespace
}  // namespace lanky
