// Plans that measure, for docs/guide/tuning.md.
#include "expect.hpp"

#include <cstdio>
#include <filesystem>
#include <lanky/lanky.hpp>
#include <vector>

int main() {
  const lanky::Stream stream(lanky::Device::best());
  const auto A = lanky::io::generate<double>("fem:8");
  // begin sparse
  const lanky::SparsePlan<double> plan(stream, A.view(), {.tune = true});
  for (const lanky::SparseTrial& trial : plan.info().trials) {
    std::printf("%-40s %.3f\n", trial.shape.c_str(), trial.ratio);  // 1: the model's choice
  }
  // end sparse
  expect(plan.info().kept < plan.info().trials.size() || plan.info().trials.empty());

  // begin dense
  const lanky::GemmShape shape = {.m = 2000, .n = 12, .k = 2000};
  const lanky::GemmPlan<float> tuned(stream, shape, {.tune = true});
  // end dense
  expect(tuned.family() == lanky::GemmFamily::panel);

  const auto path = std::filesystem::temp_directory_path() / "lanky_snippet_tuning.jsonl";
  // begin store
  // Measured once on the caller's own operands, kept in a file, followed by later plans.
  lanky::GemmTuning tuning = lanky::GemmTuning::read(path);  // empty where there is no file
  lanky::Matrix<float> B(stream, 2000, 12);
  lanky::Matrix<float> C(stream, 2000, 12);
  lanky::Matrix<float> D(stream, 2000, 2000);
  B.buffer().fill_zero();
  D.buffer().fill_zero();
  const auto trials =
      lanky::measure_choices<float>(stream, shape, {.a = D, .b = B, .c = C}, tuning);
  tuning.write(path);
  const lanky::GemmPlan<float> followed(stream, shape, {.tuning = &tuning});
  // end store
  expect(!trials.empty());
  std::filesystem::remove(path);
}
