/* Devices, streams, events and buffers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "operands.h"

static int same_device(lanky_device a, lanky_device b) {
  return a.kind == b.kind && a.index == b.index;
}

static void test_names(lanky_device device) {
  lanky_device found = {7, 7};
  lanky_device unknown = {2, 0};
  lanky_device_properties properties;
  char text[64] = "";
  char cut[3] = "";
  size_t length = 0;

  OK(lanky_device_name(device, text, sizeof(text), &length));
  CHECK(length == strlen(text));
  OK(lanky_device_parse(text, &found));
  CHECK(same_device(found, device));
  OK(lanky_device_name(device, cut, sizeof(cut), &length));
  CHECK(length == strlen(text) && strlen(cut) == 2 && strncmp(cut, text, 2) == 0);
  OK(lanky_device_name(device, NULL, 0, &length));
  CHECK(length == strlen(text));
  OK(lanky_device_name(device, text, sizeof(text), NULL));
  FAILS(lanky_device_name(device, NULL, 5, &length), LANKY_INVALID_ARGUMENT, "text is NULL");
  FAILS(lanky_device_name(unknown, text, sizeof(text), &length), LANKY_INVALID_ARGUMENT,
        "kind of the device is 2");
  CHECK(text[0] == '\0' && length == 0);

  OK(lanky_device_get_properties(device, &properties, sizeof(properties)));
  CHECK(strlen(properties.name) > 0 && properties.multiprocessors > 0);
  CHECK(properties.memory_bytes > 0);
  CHECK((properties.compute_capability != 0) == (device.kind == LANKY_DEVICE_KIND_CUDA));

  OK(lanky_device_best(&found));
  OK(lanky_device_cuda_absence(NULL, 0, &length));
  CHECK((length == 0) == (found.kind == LANKY_DEVICE_KIND_CUDA));
  CHECK(lanky_device_cuda_count() >= (device.kind == LANKY_DEVICE_KIND_CUDA ? 1 : 0));
  FAILS(lanky_device_best(NULL), LANKY_INVALID_ARGUMENT, "device is NULL");
  FAILS(lanky_device_parse("gpu", &found), LANKY_INVALID_ARGUMENT, "gpu");
  CHECK(found.kind == -1);
  FAILS(lanky_device_parse(NULL, &found), LANKY_INVALID_ARGUMENT, "text is NULL");
  FAILS(lanky_device_cuda(1000, &found), LANKY_NO_DEVICE, "no CUDA device");
  FAILS(lanky_device_cuda(0, NULL), LANKY_INVALID_ARGUMENT, "device is NULL");
  if (device.kind == LANKY_DEVICE_KIND_CUDA) {
    OK(lanky_device_cuda(0, &found));
    CHECK(same_device(found, device));
  }
}

static void test_streams(const lanky_stream* given) {
  lanky_device device = lanky_stream_device(given);
  lanky_device cpu = lanky_device_cpu();
  lanky_device wrong = {LANKY_DEVICE_KIND_CPU, 3};
  lanky_stream* stream = NULL;
  lanky_stream* wrapped = NULL;
  lanky_event* start = NULL;
  lanky_event* end = NULL;
  lanky_event* other = NULL;
  int32_t done = 7;
  double ms = -1;

  CHECK(same_device(cpu, lanky_device_cpu()));
  OK(lanky_stream_create(device, &stream));
  CHECK(same_device(lanky_stream_device(stream), device));
  CHECK((lanky_stream_native(stream) == NULL) == (device.kind == LANKY_DEVICE_KIND_CPU));
  OK(lanky_event_create(device, &start));
  OK(lanky_event_create(device, &end));
  CHECK(same_device(lanky_event_device(start), device));
  OK(lanky_event_record(start, stream));
  OK(lanky_event_record(end, stream));
  OK(lanky_stream_wait(given, end));
  OK(lanky_event_synchronize(end));
  OK(lanky_event_done(end, &done));
  CHECK(done == 1);
  OK(lanky_event_elapsed_ms(start, end, &ms));
  CHECK(ms >= 0);
  done = 7;
  OK(lanky_stream_is_capturing(stream, &done));
  CHECK(done == 0);
  OK(lanky_stream_synchronize(stream));
  if (device.kind == LANKY_DEVICE_KIND_CUDA) {
    OK(lanky_stream_wrap(lanky_stream_native(stream), device, &wrapped));
    CHECK(lanky_stream_native(wrapped) == lanky_stream_native(stream));
    CHECK(lanky_stream_equal(wrapped, stream) == 1);
    OK(lanky_stream_synchronize(wrapped));
    lanky_stream_destroy(wrapped); /* the handle alone: what it wrapped goes on */
    OK(lanky_stream_synchronize(stream));
    OK(lanky_event_create(cpu, &other));
    FAILS(lanky_event_record(other, stream), LANKY_INVALID_ARGUMENT, "cpu");
    FAILS(lanky_event_elapsed_ms(start, other, &ms), LANKY_INVALID_ARGUMENT, "cpu");
  }
  FAILS(lanky_stream_wrap(NULL, cpu, &wrapped), LANKY_INVALID_ARGUMENT, "cpu");

  FAILS(lanky_stream_create(wrong, &wrapped), LANKY_INVALID_ARGUMENT, "3");
  CHECK(wrapped == NULL);
  FAILS(lanky_stream_create(device, NULL), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_stream_wrap(NULL, device, NULL), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_stream_synchronize(NULL), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_stream_is_capturing(NULL, &done), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_stream_is_capturing(stream, NULL), LANKY_INVALID_ARGUMENT, "capturing is NULL");
  FAILS(lanky_stream_wait(NULL, end), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_stream_wait(stream, NULL), LANKY_INVALID_ARGUMENT, "event is NULL");
  FAILS(lanky_event_create(device, NULL), LANKY_INVALID_ARGUMENT, "event is NULL");
  FAILS(lanky_event_record(NULL, stream), LANKY_INVALID_ARGUMENT, "event is NULL");
  FAILS(lanky_event_record(start, NULL), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_event_synchronize(NULL), LANKY_INVALID_ARGUMENT, "event is NULL");
  FAILS(lanky_event_done(NULL, &done), LANKY_INVALID_ARGUMENT, "event is NULL");
  CHECK(done == 0);
  FAILS(lanky_event_done(end, NULL), LANKY_INVALID_ARGUMENT, "done is NULL");
  FAILS(lanky_event_elapsed_ms(NULL, end, &ms), LANKY_INVALID_ARGUMENT, "start is NULL");
  FAILS(lanky_event_elapsed_ms(start, NULL, &ms), LANKY_INVALID_ARGUMENT, "end is NULL");
  FAILS(lanky_event_elapsed_ms(start, end, NULL), LANKY_INVALID_ARGUMENT, "ms is NULL");
  CHECK(lanky_stream_device(NULL).kind == -1 && lanky_event_device(NULL).kind == -1);
  CHECK(lanky_stream_native(NULL) == NULL);
  CHECK(lanky_stream_equal(NULL, NULL) == 0);
  CHECK(strcmp(lanky_last_error(), "stream is NULL") == 0);

  lanky_event_destroy(other);
  lanky_event_destroy(end);
  lanky_event_destroy(start);
  lanky_event_destroy(NULL);
  lanky_stream_destroy(stream);
  lanky_stream_destroy(NULL);
}

void test_devices(const lanky_stream* stream) {
  test_names(lanky_stream_device(stream));
  test_streams(stream);
}

void test_buffers(const lanky_stream* stream) {
  const int32_t source[4] = {1, 2, 3, 4};
  int32_t target[4] = {0, 0, 0, 0};
  lanky_buffer* buffer = NULL;
  Pool pool;
  lanky_allocator allocator;
  lanky_allocator broken;

  memset(&pool, 0, sizeof(pool));
  allocator = allocator_of(&pool);
  OK(lanky_buffer_create(stream, sizeof(source), NULL, &buffer));
  CHECK(lanky_buffer_bytes(buffer) == 16);
  CHECK((uintptr_t)lanky_buffer_data(buffer) % 256 == 0);
  OK(lanky_buffer_copy_from(buffer, source, 16));
  OK(lanky_buffer_to_host(buffer, target, 8));
  CHECK(target[0] == 1 && target[1] == 2 && target[2] == 0);
  OK(lanky_buffer_fill_zero(buffer));
  OK(lanky_buffer_copy_from(buffer, source, 4));
  OK(lanky_buffer_to_host(buffer, target, 16));
  CHECK(target[0] == 1 && target[1] == 0 && target[3] == 0);
  OK(lanky_buffer_copy_from(buffer, NULL, 0));
  FAILS(lanky_buffer_copy_from(buffer, source, 17), LANKY_SIZE_MISMATCH, "17 bytes");
  FAILS(lanky_buffer_to_host(buffer, target, 17), LANKY_SIZE_MISMATCH, "17 bytes");
  FAILS(lanky_buffer_copy_from(buffer, source, -1), LANKY_INVALID_ARGUMENT, "-1");
  FAILS(lanky_buffer_to_host(buffer, target, -1), LANKY_INVALID_ARGUMENT, "-1");
  FAILS(lanky_buffer_copy_from(buffer, NULL, 4), LANKY_INVALID_ARGUMENT, "host is NULL");
  FAILS(lanky_buffer_to_host(buffer, NULL, 4), LANKY_INVALID_ARGUMENT, "host is NULL");
  FAILS(lanky_buffer_copy_from(NULL, source, 4), LANKY_INVALID_ARGUMENT, "buffer is NULL");
  FAILS(lanky_buffer_to_host(NULL, target, 4), LANKY_INVALID_ARGUMENT, "buffer is NULL");
  FAILS(lanky_buffer_fill_zero(NULL), LANKY_INVALID_ARGUMENT, "buffer is NULL");
  CHECK(lanky_buffer_data(NULL) == NULL && lanky_buffer_bytes(NULL) == -1);
  lanky_buffer_destroy(buffer);
  lanky_buffer_destroy(NULL);

  OK(lanky_buffer_create(stream, 0, NULL, &buffer));
  CHECK(lanky_buffer_data(buffer) == NULL && lanky_buffer_bytes(buffer) == 0);
  lanky_buffer_destroy(buffer);
  FAILS(lanky_buffer_create(stream, -8, NULL, &buffer), LANKY_INVALID_ARGUMENT, "-8");
  CHECK(buffer == NULL);
  FAILS(lanky_buffer_create(stream, INT64_C(1) << 60, NULL, &buffer), LANKY_OUT_OF_MEMORY,
        "1152921504606846976");
  FAILS(lanky_buffer_create(NULL, 8, NULL, &buffer), LANKY_INVALID_ARGUMENT, "stream is NULL");
  FAILS(lanky_buffer_create(stream, 8, NULL, NULL), LANKY_INVALID_ARGUMENT, "buffer is NULL");

  OK(lanky_buffer_create(stream, 100, &allocator, &buffer));
  CHECK(pool.live == 1 && pool.served == 1);
  CHECK(lanky_buffer_data(buffer) == lanky_buffer_data(pool.buffers[0]));
  lanky_buffer_destroy(buffer);
  CHECK(pool.live == 0);
  pool.refuse = 1;
  FAILS(lanky_buffer_create(stream, 100, &allocator, &buffer), LANKY_OUT_OF_MEMORY, "100 bytes");
  pool.refuse = 0;
  pool.misalign = 1;
  FAILS(lanky_buffer_create(stream, 100, &allocator, &buffer), LANKY_INVALID_ARGUMENT, "256");
  CHECK(pool.live == 0);
  broken = allocator;
  broken.allocate = NULL;
  FAILS(lanky_buffer_create(stream, 8, &broken, &buffer), LANKY_INVALID_ARGUMENT, "allocate");
  broken = allocator;
  broken.deallocate = NULL;
  FAILS(lanky_buffer_create(stream, 8, &broken, &buffer), LANKY_INVALID_ARGUMENT, "deallocate");
  broken.size = 0;
  FAILS(lanky_buffer_create(stream, 8, &broken, &buffer), LANKY_INVALID_ARGUMENT,
        "lanky_allocator");
}
