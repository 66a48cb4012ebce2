/* Ways to compute dense products, measured and kept. */
#include <stddef.h>
#include <string.h>

#include "check.h"
#include "files.h"
#include "operands.h"

enum { kM = 40, kN = 4, kK = 6 };

static lanky_gemm_query query_of(const lanky_stream* stream, const lanky_gemm_shape* shape) {
  lanky_gemm_query query;
  OK(lanky_gemm_query_init(&query, sizeof(query)));
  query.shape = shape;
  query.device = lanky_stream_device(stream);
  query.type = LANKY_DTYPE_F32;
  query.out = LANKY_DTYPE_F32;
  return query;
}

static void test_store(const lanky_gemm_query* query) {
  lanky_gemm_tuning* tuning = NULL;
  lanky_gemm_tuning* again = NULL;
  lanky_gemm_choice choice;
  lanky_gemm_query wrong = *query;
  lanky_device no_device = {5, 0};
  int32_t found = 7;
  char text[4096];
  size_t length = 0;

  OK(lanky_gemm_tuning_create(&tuning));
  CHECK(lanky_gemm_tuning_size(tuning) == 0);
  OK(lanky_gemm_tuning_find(tuning, query, &choice, sizeof(choice), &found));
  CHECK(found == 0);
  OK(lanky_gemm_tuning_set(tuning, query, 0, "some_kernel"));
  CHECK(lanky_gemm_tuning_size(tuning) == 1);
  OK(lanky_gemm_tuning_find(tuning, query, &choice, sizeof(choice), &found));
  CHECK(found == 1 && choice.vendor == 0 && strcmp(choice.algorithm, "some_kernel") == 0);
  CHECK(choice.us == 0);
  OK(lanky_gemm_tuning_write(tuning, path_of("tuning.jsonl")));
  OK(lanky_gemm_tuning_read(path_of("tuning.jsonl"), &again));
  CHECK(lanky_gemm_tuning_size(again) == 1);
  OK(lanky_gemm_tuning_find(again, query, &choice, sizeof(choice), &found));
  CHECK(found == 1 && strcmp(choice.algorithm, "some_kernel") == 0);
  OK(lanky_gemm_tuning_note(again, text, sizeof(text), &length));
  CHECK(length == 0 && text[0] == '\0');
  lanky_gemm_tuning_destroy(again);
  OK(lanky_gemm_tuning_read(path_of("absent.jsonl"), &again));
  CHECK(lanky_gemm_tuning_size(again) == 0);
  lanky_gemm_tuning_destroy(again);
  OK(lanky_gemm_tuning_of_lanky(&again));
  CHECK(lanky_gemm_tuning_size(again) > 0);
  lanky_gemm_tuning_destroy(again);
  OK(lanky_gemm_tuning_of_this_user(&again));
  CHECK(lanky_gemm_tuning_size(again) >= 0);
  lanky_gemm_tuning_destroy(again);
  OK(lanky_gemm_tuning_default_path(text, sizeof(text), &length));
  CHECK(length > 0 && length == strlen(text));

  write_file(path_of("broken.jsonl"), "{\"not\": \"a choice\n");
  FAILS(lanky_gemm_tuning_read(path_of("broken.jsonl"), &again), LANKY_PARSE_ERROR, "broken.jsonl");
  CHECK(again == NULL);
  FAILS(lanky_gemm_tuning_write(tuning, path_of("tuning.jsonl/no_folder.jsonl")), LANKY_IO_ERROR,
        "no_folder.jsonl");
  FAILS(lanky_gemm_tuning_create(NULL), LANKY_INVALID_ARGUMENT, "tuning is NULL");
  FAILS(lanky_gemm_tuning_read(NULL, &again), LANKY_INVALID_ARGUMENT, "path is NULL");
  FAILS(lanky_gemm_tuning_read("x", NULL), LANKY_INVALID_ARGUMENT, "tuning is NULL");
  FAILS(lanky_gemm_tuning_of_lanky(NULL), LANKY_INVALID_ARGUMENT, "tuning is NULL");
  FAILS(lanky_gemm_tuning_of_this_user(NULL), LANKY_INVALID_ARGUMENT, "tuning is NULL");
  FAILS(lanky_gemm_tuning_default_path(NULL, 3, NULL), LANKY_INVALID_ARGUMENT, "text is NULL");
  FAILS(lanky_gemm_tuning_write(NULL, "x"), LANKY_INVALID_ARGUMENT, "tuning is NULL");
  FAILS(lanky_gemm_tuning_write(tuning, NULL), LANKY_INVALID_ARGUMENT, "path is NULL");
  CHECK(lanky_gemm_tuning_size(NULL) == -1);
  FAILS(lanky_gemm_tuning_note(NULL, text, sizeof(text), NULL), LANKY_INVALID_ARGUMENT,
        "tuning is NULL");
  FAILS(lanky_gemm_tuning_set(NULL, query, 0, ""), LANKY_INVALID_ARGUMENT, "tuning is NULL");
  FAILS(lanky_gemm_tuning_set(tuning, NULL, 0, ""), LANKY_INVALID_ARGUMENT, "query is NULL");
  FAILS(lanky_gemm_tuning_set(tuning, query, 0, NULL), LANKY_INVALID_ARGUMENT, "algorithm is NULL");
  FAILS(lanky_gemm_tuning_find(NULL, query, &choice, sizeof(choice), &found),
        LANKY_INVALID_ARGUMENT, "tuning is NULL");
  CHECK(found == 0);
  FAILS(lanky_gemm_tuning_find(tuning, NULL, &choice, sizeof(choice), &found),
        LANKY_INVALID_ARGUMENT, "query is NULL");
  FAILS(lanky_gemm_tuning_find(tuning, query, NULL, sizeof(choice), &found), LANKY_INVALID_ARGUMENT,
        "lanky_gemm_choice");
  FAILS(lanky_gemm_tuning_find(tuning, query, &choice, sizeof(choice), NULL),
        LANKY_INVALID_ARGUMENT, "found is NULL");

  OK(lanky_gemm_class(query, text, sizeof(text), &length));
  CHECK(length > 0 && length == strlen(text));
  FAILS(lanky_gemm_class(NULL, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT,
        "query is NULL");
  wrong.shape = NULL;
  FAILS(lanky_gemm_class(&wrong, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT,
        "shape is NULL");
  wrong = *query;
  wrong.device = no_device;
  FAILS(lanky_gemm_class(&wrong, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT,
        "kind of the device is 5");
  wrong = *query;
  wrong.type = 8;
  FAILS(lanky_gemm_class(&wrong, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT, "type is 8");
  wrong = *query;
  wrong.out = 8;
  FAILS(lanky_gemm_class(&wrong, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT, "out is 8");
  wrong.out = LANKY_DTYPE_C64;
  FAILS(lanky_gemm_class(&wrong, text, sizeof(text), &length), LANKY_UNSUPPORTED, "c64");
  wrong = *query;
  wrong.math = 8;
  FAILS(lanky_gemm_class(&wrong, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT, "math is 8");
  wrong = *query;
  wrong.reserved = 8;
  FAILS(lanky_gemm_class(&wrong, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT, "reserved");
  lanky_gemm_tuning_destroy(tuning);
  lanky_gemm_tuning_destroy(NULL);
}

static void test_measured(const lanky_stream* stream, const lanky_gemm_query* query) {
  const lanky_dtype f32 = LANKY_DTYPE_F32;
  const float one = 1;
  Operand a = make_operand(stream, f32, kM * kK, 1);
  Operand b = make_operand(stream, f32, kK * kN, 2);
  Operand c = make_operand(stream, f32, kM * kN, 3);
  lanky_matrix_view a_view = matrix_of(&a, kM, kK, kM, LANKY_LAYOUT_COL);
  lanky_matrix_view b_view = matrix_of(&b, kK, kN, kK, LANKY_LAYOUT_COL);
  lanky_matrix_view c_view = matrix_of(&c, kM, kN, kM, LANKY_LAYOUT_COL);
  lanky_gemm_tuning* tuning = NULL;
  lanky_gemm_trials* trials = NULL;
  lanky_gemm_trials* choices = NULL;
  lanky_gemm_choice choice;
  lanky_gemm_options options;
  lanky_gemm_plan* plan = NULL;
  int64_t i = 0;

  OK(lanky_gemm_choices(query, 16, &choices));
  CHECK(lanky_gemm_trials_size(choices) >= 1);
  for (i = 0; i < lanky_gemm_trials_size(choices); ++i) {
    OK(lanky_gemm_trials_get(choices, i, &choice, sizeof(choice)));
    CHECK(choice.us == 0 && (choice.vendor == 0 || choice.vendor == 1));
  }
  FAILS(lanky_gemm_trials_get(choices, i, &choice, sizeof(choice)), LANKY_INVALID_ARGUMENT,
        "trials");
  lanky_gemm_trials_destroy(choices);

  OK(lanky_gemm_tuning_create(&tuning));
  OK(lanky_measure_choices(stream, f32, f32, query->shape, &one, &a_view, &b_view, NULL, &c_view,
                           LANKY_MATH_IEEE, tuning, &trials));
  CHECK(lanky_gemm_trials_size(trials) >= 1);
  for (i = 0; i < lanky_gemm_trials_size(trials); ++i) {
    OK(lanky_gemm_trials_get(trials, i, &choice, sizeof(choice)));
    CHECK(choice.us > 0);
  }
  lanky_gemm_trials_destroy(trials);
  OK(lanky_measure_choices(stream, f32, f32, query->shape, NULL, &a_view, &b_view, NULL, &c_view,
                           LANKY_MATH_IEEE, tuning, NULL));
  CHECK(lanky_gemm_tuning_size(tuning) >= 0);
  OK(lanky_gemm_options_init(&options, sizeof(options)));
  options.tuning = tuning;
  OK(lanky_gemm_plan_create(stream, f32, f32, query->shape, &options, &plan));
  lanky_gemm_tuning_destroy(tuning); /* the plan does not need it any more */
  OK(lanky_gemm_plan_run(plan, stream, NULL, &a_view, &b_view, NULL, &c_view, NULL));
  OK(lanky_stream_synchronize(stream));
  lanky_gemm_plan_destroy(plan);

  OK(lanky_gemm_tuning_create(&tuning));
  FAILS(lanky_measure_choices(NULL, f32, f32, query->shape, NULL, &a_view, &b_view, NULL, &c_view,
                              0, tuning, &trials),
        LANKY_INVALID_ARGUMENT, "stream is NULL");
  CHECK(trials == NULL);
  FAILS(lanky_measure_choices(stream, 6, f32, query->shape, NULL, &a_view, &b_view, NULL, &c_view,
                              0, tuning, &trials),
        LANKY_INVALID_ARGUMENT, "type is 6");
  FAILS(lanky_measure_choices(stream, f32, f32, NULL, NULL, &a_view, &b_view, NULL, &c_view, 0,
                              tuning, &trials),
        LANKY_INVALID_ARGUMENT, "shape is NULL");
  FAILS(lanky_measure_choices(stream, f32, f32, query->shape, NULL, NULL, &b_view, NULL, &c_view, 0,
                              tuning, &trials),
        LANKY_INVALID_ARGUMENT, "a is NULL");
  FAILS(lanky_measure_choices(stream, f32, f32, query->shape, NULL, &a_view, NULL, NULL, &c_view, 0,
                              tuning, &trials),
        LANKY_INVALID_ARGUMENT, "b is NULL");
  FAILS(lanky_measure_choices(stream, f32, f32, query->shape, NULL, &a_view, &b_view, NULL, NULL, 0,
                              tuning, &trials),
        LANKY_INVALID_ARGUMENT, "c is NULL");
  FAILS(lanky_measure_choices(stream, f32, f32, query->shape, NULL, &a_view, &b_view, NULL, &c_view,
                              3, tuning, &trials),
        LANKY_INVALID_ARGUMENT, "math is 3");
  FAILS(lanky_measure_choices(stream, f32, f32, query->shape, NULL, &a_view, &b_view, NULL, &c_view,
                              0, NULL, &trials),
        LANKY_INVALID_ARGUMENT, "tuning is NULL");
  FAILS(lanky_gemm_choices(NULL, 16, &trials), LANKY_INVALID_ARGUMENT, "query is NULL");
  FAILS(lanky_gemm_choices(query, 16, NULL), LANKY_INVALID_ARGUMENT, "trials is NULL");
  CHECK(lanky_gemm_trials_size(NULL) == -1);
  FAILS(lanky_gemm_trials_get(NULL, 0, &choice, sizeof(choice)), LANKY_INVALID_ARGUMENT,
        "trials is NULL");
  lanky_gemm_trials_destroy(NULL);
  lanky_gemm_tuning_destroy(tuning);
  destroy_operand(&c);
  destroy_operand(&b);
  destroy_operand(&a);
}

void test_tuning(const lanky_stream* stream) {
  lanky_gemm_shape shape;
  lanky_gemm_query query;
  OK(lanky_gemm_shape_init(&shape, sizeof(shape)));
  shape.m = kM;
  shape.n = kN;
  shape.k = kK;
  query = query_of(stream, &shape);
  test_store(&query);
  test_measured(stream, &query);
}
