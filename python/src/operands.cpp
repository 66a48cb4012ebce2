// What the products of all plans have in common: factors, results, and operands that are copied to
// the device of a plan and back because the caller asked for that.
#include "operands.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <lanky/buffer.hpp>
#include <span>
#include <utility>
#include <vector>

#include "errors.hpp"

namespace lanky::python {

namespace {

/// The elements from the first to the last, gaps between rows or columns included.
std::int64_t span_of(const Dense& operand) {
  const bool by_rows = operand.layout == Layout::row;
  const std::int64_t lines = by_rows ? operand.rows : operand.cols;
  const std::int64_t length = by_rows ? operand.cols : operand.rows;
  return lines == 0 || length == 0 ? 0 : (lines - 1) * operand.ld + length;
}

/// The elements of `operand` from memory where it stands in the same way; gaps stay as they are.
void copy_lines(const Dense& operand, const std::byte* source, std::size_t item_bytes) {
  const bool by_rows = operand.layout == Layout::row;
  const std::int64_t lines = by_rows ? operand.rows : operand.cols;
  const auto length = static_cast<std::size_t>(by_rows ? operand.cols : operand.rows) * item_bytes;
  if (length == 0) return;
  for (std::int64_t i = 0; i < lines; ++i) {
    const auto offset = static_cast<std::size_t>(i * operand.ld) * item_bytes;
    std::memcpy(static_cast<std::byte*>(operand.data) + offset, source + offset, length);
  }
}

std::complex<double> complex_of(nb::handle value, const char* name) {
  nb::object number = nb::borrow(value);
  if (!PyFloat_Check(value.ptr()) && !PyLong_Check(value.ptr()) && !PyComplex_Check(value.ptr()) &&
      nb::hasattr(value, "__complex__"))
    number = value.attr("__complex__")();
  if (PyComplex_Check(number.ptr()))
    return {PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr())};
  const double real = PyFloat_AsDouble(number.ptr());
  if (real == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw_type_error(std::string(name) + " is a " + nb::type_name(value.type()).c_str() +
                     "; a number is needed");
  }
  return {real, 0};
}

/// `given`: the factor's value, or "complex".
[[noreturn]] void refuse_complex(const char* name, const std::string& given, DType dtype) {
  throw_value_error(std::string(name) + " is " + given + ", and the product is real (" +
                    numpy_name(dtype) + ")");
}

/// Whether a factor may be an array on a device: those have no way to be numbers without a wait.
bool is_plain_number(nb::handle value) {
  return PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr()) || PyComplex_Check(value.ptr());
}

}  // namespace

DType accumulator_of(DType dtype) {
  return is_half(dtype) ? DType::f32 : dtype;
}

Factor factor_of(nb::handle value, const char* name, DType dtype, int device) {
  if (!is_plain_number(value) && nb::hasattr(value, "__dlpack__")) {
    const Array array = read_array(value, name, true);
    if (!array.on_host()) {
      if (is_complex(array) && !is_complex(dtype)) refuse_complex(name, "complex", dtype);
      require_dtype(array, accumulator_of(dtype), {"the product"});
      require_place(array, device, false);
      if (array.size() != 1)
        throw_value_error(std::string(name) + " has shape " + shape_text(array) +
                          "; one element is needed");
      return {0, array.data, is_foreign(array)};
    }
  }
  const std::complex<double> number = complex_of(value, name);
  if (number.imag() != 0 && !is_complex(dtype))
    refuse_complex(name, nb::cast<std::string>(nb::str(value)), dtype);
  return {number};
}

void refuse_result_type(DType in, DType out) {
  throw_type_error(std::string("results of ") + numpy_name(out) + " are asked of a product of " +
                   numpy_name(in) +
                   (is_half(in) ? ", whose results are of that type or float32"
                                : ", whose results are of that type"));
}

DType result_type(nb::handle wanted, DType in) {
  return wanted.is_none() ? in : dtype_from(wanted);
}

int device_index(nb::handle device) {
  const std::string text = nb::cast<std::string>(nb::str(device));
  const Device parsed = Device::parse(text);
  return parsed.is_cuda() ? parsed.index() : -1;
}

std::shared_ptr<Lane> new_lane(int device, const Array& like, nb::handle stream) {
  if (device < 0) {
    if (!stream.is_none()) throw_value_error("a stream is given, but the plan is for the CPU");
    return std::make_shared<Lane>(Stream(Device::cpu()));
  }
  require_cuda_alive();
  const Device target = Device::cuda(device);
  begin_cuda();
  if (like.on_host() && stream.is_none()) return std::make_shared<Lane>(Stream(target));
  Array here = like;
  here.device = device;
  return lane_on(stream_of(stream, here), here, target);
}

void require_place(const Array& array, int device, bool copies) {
  if (array.device == device || (copies && array.on_host())) return;
  throw_value_error(std::string(array.name) + " is on " + place(array.device) +
                    ", and the product is computed on " + place(device));
}

Result result_of(nb::handle out, const Array& like, DType dtype, int rank, std::int64_t rows,
                 std::int64_t cols, Layout layout, const Factor& beta) {
  if (out.is_none()) {
    if (beta.value != 0.0 || beta.pointer != nullptr)
      throw_value_error("beta is " + std::to_string(beta.value.real()) +
                        ", and there is no out that it multiplies");
    NewArray made = empty_like(like, dtype, rank, rows, cols, layout);
    return {std::move(made.object), std::move(made.array), true};
  }
  Array array = read_array(out, "out");
  require_result_dtype(array, dtype);
  require_writable(array);
  if (array.rank != rank || array.shape[0] != rows || (rank == 2 && array.shape[1] != cols)) {
    const std::string wanted = rank == 1
                                   ? "(" + std::to_string(rows) + ",)"
                                   : "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
    throw_value_error("out has shape " + shape_text(array) + ", and the result has " + wanted);
  }
  if (array.device != like.device)
    throw_value_error("out is on " + place(array.device) + ", and " + like.name + " on " +
                      place(like.device));
  return {nb::borrow(out), std::move(array), false};
}

void run_staged(const Stream& stream, std::size_t item_bytes, std::vector<Dense*> operands,
                Dense& result, std::size_t result_item_bytes, bool adds,
                const std::function<void()>& run) {
  std::vector<Buffer<std::byte>> memory;
  for (Dense* operand : operands) {
    const auto bytes = static_cast<std::size_t>(span_of(*operand)) * item_bytes;
    memory.push_back(Buffer<std::byte>::from(
        stream, std::span(static_cast<const std::byte*>(operand->data), bytes)));
    operand->data = memory.back().data();
  }
  const Dense target = result;
  const std::int64_t bytes = span_of(result) * static_cast<std::int64_t>(result_item_bytes);
  Buffer<std::byte> there(stream, bytes);
  if (adds)
    there.copy_from(
        std::span(static_cast<const std::byte*>(target.data), static_cast<std::size_t>(bytes)));
  result.data = there.data();
  run();
  const std::vector<std::byte> back = there.to_host();
  copy_lines(target, back.data(), result_item_bytes);
}

nb::object finish(const Array& like, Result& result, const Lane& lane, bool others_are_foreign) {
  const bool foreign = others_are_foreign || is_foreign(like) || is_foreign(result.array);
  if (foreign && !lane.stream.is_capturing()) {
    const nb::gil_scoped_release released;
    lane.stream.synchronize();
  }
  return result.fresh ? to_caller(like, result.object) : result.object;
}

Math math_from(const std::string& text) {
  for (const Math math : {Math::ieee, Math::tf32, Math::tf32x3}) {
    if (text == to_string(math)) return math;
  }
  throw_value_error("math is \"" + text + "\"; known are \"ieee\", \"tf32\" and \"tf32x3\"");
}

Engine engine_from(const std::string& text) {
  if (text == "auto") return Engine::automatic;
  for (const Engine engine : {Engine::cuda_cores, Engine::tensor_cores}) {
    if (text == to_string(engine)) return engine;
  }
  throw_value_error("engine is \"" + text +
                    "\"; known are \"auto\", \"cuda_cores\" and \"tensor_cores\"");
}

Op op_from(const std::string& text) {
  if (text == "none") return Op::none;
  if (text == "trans") return Op::trans;
  if (text == "conj_trans") return Op::conj_trans;
  throw_value_error("op is \"" + text + "\"; known are \"none\", \"trans\" and \"conj_trans\"");
}

Layout layout_from(const std::string& text) {
  if (text == "row") return Layout::row;
  if (text == "col") return Layout::col;
  throw_value_error("layout is \"" + text + "\"; known are \"row\" and \"col\"");
}

}  // namespace lanky::python
