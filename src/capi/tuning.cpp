// Ways to compute dense products, and what was measured of them.
#include <lanky/tuning.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "capi/arguments.hpp"
#include "capi/dense.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"

struct lanky_gemm_trials {
  std::vector<lanky::GemmTrial> trials;
};

namespace lanky::capi {

namespace {

GemmQuery to_query(const lanky_gemm_query* query) {
  const lanky_gemm_query given = read_struct(require(query, "query"), lanky_gemm_query{});
  check_reserved(given.reserved, "lanky_gemm_query");
  const DType in = to_dtype(given.type, "type");
  const DType out = to_dtype(given.out, "out");
  check_types(in, out);
  return {.device = to_device(given.device),
          .shape = to_shape(given.shape),
          .in = in,
          .out = out,
          .same_operands = given.same_operands != 0,
          .adds = given.adds != 0,
          .math = to_math(given.math)};
}

lanky_gemm_choice from_trial(const GemmTrial& trial) {
  lanky_gemm_choice result = {};
  copy_name(result.algorithm, trial.choice.algorithm);
  result.vendor = trial.choice.vendor ? 1 : 0;
  result.us = trial.us;
  return result;
}

/// A handle on a store of choices.
template <class Make>
lanky_status make_tuning(lanky_gemm_tuning** tuning, Make&& make) noexcept {
  return make_handle(tuning, "tuning", [&] {
    return std::make_unique<lanky_gemm_tuning>(lanky_gemm_tuning{make()});
  });
}

}  // namespace

}  // namespace lanky::capi

lanky_status lanky_gemm_query_init(lanky_gemm_query* query, size_t size) {
  return capi::init_struct(query, size, {});
}

lanky_status lanky_gemm_class(const lanky_gemm_query* query, char* text, size_t size,
                              size_t* length) {
  return capi::make_text(text, size, length,
                         [&] { return lanky::gemm_class(capi::to_query(query)); });
}

lanky_status lanky_gemm_choices(const lanky_gemm_query* query, int32_t most_algorithms,
                                lanky_gemm_trials** trials) {
  return capi::make_handle(trials, "trials", [&] {
    auto list = std::make_unique<lanky_gemm_trials>();
    for (lanky::GemmChoice& choice : lanky::gemm_choices(capi::to_query(query), most_algorithms)) {
      list->trials.push_back({std::move(choice), 0});
    }
    return list;
  });
}

lanky_status lanky_measure_choices(const lanky_stream* stream, lanky_dtype type, lanky_dtype out,
                                   const lanky_gemm_shape* shape, const void* alpha,
                                   const lanky_matrix_view* a, const lanky_matrix_view* b,
                                   const void* beta, const lanky_matrix_view* c, lanky_math math,
                                   lanky_gemm_tuning* tuning, lanky_gemm_trials** trials) {
  return capi::guarded([&] {
    if (trials != nullptr) *trials = nullptr;
    auto list = std::make_unique<lanky_gemm_trials>();
    capi::visit_gemm_types(
        type, out, [&]<class T, class TOut>(std::type_identity<T>, std::type_identity<TOut>) {
          list->trials = lanky::measure_choices<T, TOut>(
              capi::require(stream, "stream").stream, capi::to_shape(shape),
              {.alpha = capi::to_host_scalar<lanky::GemmAccumulator<T, TOut>>(alpha, 1),
               .a = capi::to_matrix<const T>(a, "a"),
               .b = capi::to_matrix<const T>(b, "b"),
               .beta = capi::to_host_scalar<lanky::GemmAccumulator<T, TOut>>(beta, 0),
               .c = capi::to_matrix<TOut>(c, "c")},
              capi::require(tuning, "tuning").tuning, capi::to_math(math));
        });
    if (trials != nullptr) *trials = list.release();
  });
}

void lanky_gemm_trials_destroy(lanky_gemm_trials* trials) {
  delete trials;
}

int64_t lanky_gemm_trials_size(const lanky_gemm_trials* trials) {
  return capi::property(trials, "trials", std::int64_t{-1},
                        [](const lanky_gemm_trials& given) { return given.trials.size(); });
}

lanky_status lanky_gemm_trials_get(const lanky_gemm_trials* trials, int64_t index,
                                   lanky_gemm_choice* choice, size_t size) {
  return capi::make_struct(choice, size, [&] {
    const auto& list = capi::require(trials, "trials").trials;
    capi::check_index(index, list.size(), "trials");
    return capi::from_trial(list[static_cast<std::size_t>(index)]);
  });
}

lanky_status lanky_gemm_tuning_create(lanky_gemm_tuning** tuning) {
  return capi::make_tuning(tuning, [] { return lanky::GemmTuning(); });
}

lanky_status lanky_gemm_tuning_read(const char* path, lanky_gemm_tuning** tuning) {
  return capi::make_tuning(
      tuning, [&] { return lanky::GemmTuning::read(capi::require_text(path, "path")); });
}

lanky_status lanky_gemm_tuning_of_this_user(lanky_gemm_tuning** tuning) {
  return capi::make_tuning(tuning, [] { return lanky::GemmTuning::of_this_user(); });
}

lanky_status lanky_gemm_tuning_of_lanky(lanky_gemm_tuning** tuning) {
  return capi::make_tuning(tuning, [] { return lanky::GemmTuning::of_lanky(); });
}

void lanky_gemm_tuning_destroy(lanky_gemm_tuning* tuning) {
  delete tuning;
}

lanky_status lanky_gemm_tuning_default_path(char* text, size_t size, size_t* length) {
  return capi::make_text(text, size, length,
                         [] { return lanky::GemmTuning::default_path().string(); });
}

lanky_status lanky_gemm_tuning_write(const lanky_gemm_tuning* tuning, const char* path) {
  return capi::guarded(
      [&] { capi::require(tuning, "tuning").tuning.write(capi::require_text(path, "path")); });
}

int64_t lanky_gemm_tuning_size(const lanky_gemm_tuning* tuning) {
  return capi::property(tuning, "tuning", std::int64_t{-1},
                        [](const lanky_gemm_tuning& given) { return given.tuning.size(); });
}

lanky_status lanky_gemm_tuning_note(const lanky_gemm_tuning* tuning, char* text, size_t size,
                                    size_t* length) {
  return capi::make_text(text, size, length,
                         [&] { return capi::require(tuning, "tuning").tuning.note(); });
}

lanky_status lanky_gemm_tuning_set(lanky_gemm_tuning* tuning, const lanky_gemm_query* query,
                                   int32_t vendor, const char* algorithm) {
  return capi::guarded([&] {
    capi::require(tuning, "tuning")
        .tuning.set(
            capi::to_query(query),
            {.vendor = vendor != 0, .algorithm = capi::require_text(algorithm, "algorithm")});
  });
}

lanky_status lanky_gemm_tuning_find(const lanky_gemm_tuning* tuning, const lanky_gemm_query* query,
                                    lanky_gemm_choice* choice, size_t size, int32_t* found) {
  return capi::make_struct(choice, size, [&]() -> lanky_gemm_choice {
    capi::require(found, "found") = 0;
    const lanky::GemmChoice* known =
        capi::require(tuning, "tuning").tuning.find(capi::to_query(query));
    if (known == nullptr) return {};
    *found = 1;
    return capi::from_trial({*known, 0});
  });
}
