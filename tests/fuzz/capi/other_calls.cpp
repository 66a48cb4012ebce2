// Calls of devices, streams, events, buffers and types; of matrix files and generators.
#include "fuzz/capi/script.hpp"
#include "fuzz/memory_file.hpp"

namespace lanky::fuzz::capi {

namespace {

/// The CPU, or none: of a machine with GPUs, too, since memory here is the host's.
lanky_device device(Script& script) {
  lanky_device device{script.constant(2), script.rarely(8) ? script.constant(2) : 0};
  if (device.kind == LANKY_DEVICE_KIND_CUDA) device.index += kNoGpu;
  return device;
}

void call_texts(Script& script) {
  const auto constant = [&] { return script.constant(12); };
  for (const char* text :
       {lanky_status_to_string(constant()), lanky_dtype_to_string(constant()),
        lanky_math_to_string(constant()), lanky_engine_to_string(constant()),
        lanky_gemm_family_to_string(constant()), lanky_solver_status_to_string(constant())})
    require(text != nullptr && text[0] != '\0', "a constant without a name");
  const std::string word = script.text();
  lanky_dtype type;
  lanky_device parsed;
  checked(lanky_dtype_parse(script.maybe(word.c_str()), script.maybe(&type)));
  checked(lanky_device_parse(script.maybe(word.c_str()), script.maybe(&parsed)));
  lanky_dtype_size_of(constant());
  lanky_dtype_accumulator(constant());
  lanky_dtype_unit_roundoff(constant());
  const double value = script.number();
  require(lanky_f16_from_double(value) == lanky_f16_from_double(static_cast<double>(
                                              lanky_f16_to_float(lanky_f16_from_double(value)))) ||
              value != value,
          "a half is not itself");
  lanky_bf16_to_float(lanky_bf16_from_double(value));
}

void call_devices(Script& script) {
  lanky_device made;
  checked(lanky_device_cuda(script.constant(2), script.maybe(&made)));
  checked(lanky_device_best(script.maybe(&made)));
  require(lanky_device_cuda_count() < kNoGpu, "more GPUs than there are");
  call_for_text(script, lanky_device_cuda_absence);
  const lanky_device any = device(script);
  call_for_text(script, [&](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_device_name(any, text, size, length));
  });
  call_for_struct<lanky_device_properties>(
      script, [&](lanky_device_properties* properties, std::size_t size) {
        checked(lanky_device_get_properties(any, properties, size));
      });
}

void call_streams(Script& script, Handles& handles) {
  lanky_stream* stream = nullptr;
  if (checked(lanky_stream_create(device(script), &stream)) == LANKY_SUCCESS)
    handles.streams.push_back(stream);
  if (script.rarely(4)) {
    lanky_stream* wrapped = nullptr;
    if (checked(lanky_stream_wrap(nullptr, device(script), &wrapped)) == LANKY_SUCCESS)
      handles.streams.push_back(wrapped);
  }
  lanky_event* event = nullptr;
  if (checked(lanky_event_create(device(script), &event)) == LANKY_SUCCESS)
    handles.events.push_back(event);
  const lanky_stream* one = pick(script, handles.streams);
  lanky_event* first = pick(script, handles.events);
  lanky_event* second = pick(script, handles.events);
  int32_t answer;
  double ms;
  lanky_stream_device(one);
  lanky_stream_native(one);
  lanky_event_device(first);
  lanky_stream_equal(one, pick(script, handles.streams));
  checked(lanky_stream_is_capturing(one, script.maybe(&answer)));
  if (!script.rarely(4)) checked(lanky_event_record(first, one));
  checked(lanky_stream_wait(one, second));
  checked(lanky_event_synchronize(first));
  checked(lanky_event_done(second, script.maybe(&answer)));
  checked(lanky_event_elapsed_ms(first, second, script.maybe(&ms)));
  checked(lanky_stream_synchronize(one));
  if (script.rarely(8) && handles.streams.size() > 1) {
    lanky_stream_destroy(handles.streams.back());
    handles.streams.pop_back();
  }
}

void call_buffers(Script& script, Handles& handles) {
  lanky_buffer* buffer = nullptr;
  const lanky_stream* stream = handles.stream(script);
  const std::int64_t bytes = script.extent(200);
  if (script.rarely(4)) {
    const std::int64_t size = bytes < 1000 ? bytes : 16;
    if (checked(lanky_buffer_wrap(stream, script.memory(size), size, &buffer)) == LANKY_SUCCESS)
      handles.buffers.push_back(buffer);
  } else if (checked(lanky_buffer_create(stream, bytes, allocator(script), &buffer)) ==
             LANKY_SUCCESS) {
    handles.buffers.push_back(buffer);
  }
  lanky_buffer* one = pick(script, handles.buffers);
  lanky_buffer_data(one);
  const std::int64_t all = lanky_buffer_bytes(one);
  if (all < (1 << 20)) checked(lanky_buffer_fill_zero(one));
  const std::int64_t some = script.rarely(4) ? script.extent(200) : std::max<std::int64_t>(all, 0);
  if (some > (1 << 20) && some <= all) return;
  void* host = script.memory(some);
  checked(lanky_buffer_copy_from(one, host, some));
  if (host != nullptr) std::memset(host, 0, static_cast<std::size_t>(some));
  checked(lanky_buffer_to_host(one, host, some));
}

const std::string& written_path(bool as_cache) {
  static const std::string text = scratch_folder() / "capi.mtx";
  static const std::string cache = scratch_folder() / "capi.lanky";
  return as_cache ? cache : text;
}

/// What was written is read, in any type.
void call_read(Script& script, Handles& handles, const std::string& path) {
  Struct<lanky_io_read_options> options(script, lanky_io_read_options_init);
  const std::string variable = script.text(8);
  options.value.duplicates = script.constant(3);
  options.value.reserved = script.rarely(32) ? 1 : 0;
  if (script.rarely(4)) options.value.variable = variable.c_str();
  if (script.rarely(16)) options.value.cache = scratch_folder().c_str();
  const lanky_io_read_options* given = script.rarely(2) ? nullptr : options.pointer(script);
  lanky_csr_matrix* matrix = nullptr;
  const lanky_dtype type = dtype(script);
  if (checked(lanky_io_read_csr(script.maybe(path.c_str()), type, given, &matrix)) == LANKY_SUCCESS)
    handles.matrices.emplace_back(matrix, type);
  call_for_struct<lanky_io_header>(script, [&](lanky_io_header* header, std::size_t size) {
    checked(lanky_io_read_header(path.c_str(), given, header, size));
  });
}

void call_generate(Script& script, Handles& handles) {
  static constexpr std::array kSpecs = {"stencil5:4", "uniform:9:3", "rmat:4", "dense:3",
                                        "huge:4:2"};
  const std::string spec = script.rarely(4) ? script.text() : kSpecs[script.byte() % kSpecs.size()];
  std::int64_t entries = 0;
  const lanky_status status = checked(lanky_io_estimated_entries(spec.c_str(), &entries));
  if (status == LANKY_SUCCESS && (entries > 10000 || spec.size() > 12)) return;
  lanky_csr_matrix* matrix = nullptr;
  const lanky_dtype type = dtype(script);
  if (checked(lanky_io_generate(spec.c_str(), type, &matrix)) == LANKY_SUCCESS)
    handles.matrices.emplace_back(matrix, type);
  call_for_text(script, lanky_io_generator_help);
}

void call_matrix(Script& script, Handles& handles) {
  const auto [matrix, type] = pick(script, handles.matrices);
  lanky_csr_view view;
  lanky_csr_matrix_rows(matrix);
  lanky_csr_matrix_cols(matrix);
  lanky_csr_matrix_nnz(matrix);
  lanky_csr_matrix_dtype(matrix);
  call_for_text(script, [handle = matrix](char* text, std::size_t size, std::size_t* length) {
    return checked(lanky_csr_matrix_warnings(handle, text, size, length));
  });
  if (checked(lanky_csr_matrix_view(matrix, script.maybe(&view))) != LANKY_SUCCESS) return;
  const bool as_cache = script.byte() % 2 == 1;
  const std::string& path = written_path(as_cache);
  const std::string comment = script.text();
  checked(as_cache ? lanky_io_write_cache(path.c_str(), type, &view)
                   : lanky_io_write_matrix_market(path.c_str(), type, &view, comment.c_str()));
  call_read(script, handles, path);
}

/// Of anything, which must be checked before it is written.
void call_write(Script& script, Handles& handles) {
  const lanky_dtype type = dtype(script);
  const lanky_csr_view view = csr_view(script, type);
  const bool as_cache = script.byte() % 2 == 1;
  const std::string& path = written_path(as_cache);
  const std::string comment = script.text();
  const lanky_status status =
      as_cache ? lanky_io_write_cache(path.c_str(), type, script.maybe(&view))
               : lanky_io_write_matrix_market(path.c_str(), type, script.maybe(&view),
                                              script.maybe(comment.c_str()));
  if (checked(status) == LANKY_SUCCESS) call_read(script, handles, path);
}

}  // namespace

void call_basics(Script& script, Handles& handles) {
  switch (script.below(4)) {
    case 0:
      return call_streams(script, handles);
    case 1:
      return call_buffers(script, handles);
    case 2:
      return call_texts(script);
    default:
      return call_devices(script);
  }
}

void call_files(Script& script, Handles& handles) {
  switch (script.below(4)) {
    case 0:
      return call_generate(script, handles);
    case 1:
      return call_matrix(script, handles);
    case 2:
      return call_write(script, handles);
    default:
      return call_read(script, handles, written_path(script.rarely(2)));
  }
}

}  // namespace lanky::fuzz::capi
