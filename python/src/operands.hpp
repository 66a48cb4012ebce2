// What the products of all plans have in common: factors, results, and operands that are copied to
// the device of a plan and back because the caller asked for that.
#pragma once

#include <nanobind/nanobind.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <lanky/visit_dtype.hpp>
#include <memory>
#include <string>

#include "array.hpp"
#include "lanes.hpp"
#include "process.hpp"

namespace lanky::python {

/// alpha or beta.
struct Factor {
  std::complex<double> value;
  const void* pointer = nullptr;  // in device memory
  bool foreign = false;           // memory of an array that is_foreign()
};

/// The type of alpha and beta of products of `dtype`.
DType accumulator_of(DType dtype);

/// A number, or an array of one element in the memory of `device`, which is read when the product
/// runs. ValueError for a complex factor of a real product.
Factor factor_of(nb::handle value, const char* name, DType dtype, int device);

template <class T>
Scalar<Accumulator<T>> scalar(const Factor& factor) {
  using Value = Accumulator<T>;
  if (factor.pointer != nullptr)
    return Scalar<Value>::on_device(static_cast<const Value*>(factor.pointer));
  if constexpr (is_complex(kDType<Value>)) {
    return Value(static_cast<typename Value::value_type>(factor.value.real()),
                 static_cast<typename Value::value_type>(factor.value.imag()));
  } else {
    return static_cast<Value>(factor.value.real());
  }
}

template <class T>
MatrixView<T> matrix_view(const Dense& operand) {
  return {static_cast<T*>(operand.data), operand.rows, operand.cols, operand.ld, operand.layout};
}

/// Calls f(type_identity<T>, type_identity<TOut>) for a product of `in` with results of `out`;
/// TypeError where there is no such product.
template <class F>
decltype(auto) visit_product(DType in, DType out, F&& f);
/// The same of dense products, whose results may be float64.
template <class F>
void visit_dense_product(DType in, DType out, F&& f);
[[noreturn]] void refuse_result_type(DType in, DType out);

/// The type of results that a caller asks for; that of the operands where `wanted` is None.
DType result_type(nb::handle wanted, DType in);

/// What holds a plan of C++, its streams, and where it computes.
template <class Product>
struct PlanState {
  explicit PlanState(Lanes streams) : lanes(std::move(streams)) {}
  PlanState(const PlanState&) = delete;
  PlanState& operator=(const PlanState&) = delete;
  ~PlanState() {
    if (device >= 0 && forked_after_cuda()) {
      static_cast<void>(product.release());  // nothing of CUDA may be touched here
    } else {
      lanes.join();
    }
  }

  /// The lane of a call with `like`; ValueError for a stream beside arrays in host memory.
  std::shared_ptr<Lane> lane_of(nb::handle stream, const Array& like) {
    const StreamHandle given = stream_of(stream, like);
    return like.on_host() ? lanes.made_on() : lanes.find(given, like, product->workspace_bytes());
  }

  Lanes lanes;
  std::unique_ptr<Product> product;
  int device = -1;
  DType in = DType::f64;
  DType out = DType::f64;
  bool copies = false;  // operands in host memory are copied to the device and back
};

/// "cpu", "cuda", "cuda:1", or a device of PyTorch, as an index; -1 is the CPU.
int device_index(nb::handle device);

/// The lane on which a plan is made: the current stream of where `like` comes from, or a stream of
/// lanky's own, where that is in host memory.
std::shared_ptr<Lane> new_lane(int device, const Array& like, nb::handle stream);

/// ValueError where an operand is not where the plan is, and is not copied there.
void require_place(const Array& array, int device, bool copies);

/// The array that a product writes to: `out`, checked, or a new one like `like`.
struct Result {
  nb::object object;
  Array array;
  bool fresh;
};
Result result_of(nb::handle out, const Array& like, DType dtype, int rank, std::int64_t rows,
                 std::int64_t cols, Layout layout, const Factor& beta);

/// Runs with operands in host memory on a GPU: copies them there, runs, copies the result back.
/// `result` is copied there, too, where it is not overwritten.
void run_staged(const Stream& stream, std::size_t item_bytes, std::vector<Dense*> operands,
                Dense& result, std::size_t result_item_bytes, bool adds,
                const std::function<void()>& run);

/// Hands a result to its caller; waits for the stream first where memory of the run may be let go
/// before its end, because `like`, the result, another operand or a factor is foreign. A captured
/// run has not begun, and nothing waits for it.
nb::object finish(const Array& like, Result& result, const Lane& lane, bool others_are_foreign);

Math math_from(const std::string& text);
Engine engine_from(const std::string& text);
Op op_from(const std::string& text);
Layout layout_from(const std::string& text);

template <class F>
decltype(auto) visit_product(DType in, DType out, F&& f) {
  return visit_dtype(in, [&](auto type) -> decltype(auto) {
    using T = typename decltype(type)::type;
    if constexpr (is_half(kDType<T>)) {
      if (out == DType::f32) return f(type, std::type_identity<float>{});
    }
    if (out != in) refuse_result_type(in, out);
    return f(type, type);
  });
}

template <class F>
void visit_dense_product(DType in, DType out, F&& f) {
  if (!has_wide_sums(in, out)) return visit_product(in, out, f);
  const std::type_identity<double> wide;
  if (in == DType::f32) return f(std::type_identity<float>{}, wide);
  if (in == DType::f16) return f(std::type_identity<half>{}, wide);
  f(std::type_identity<bfloat16>{}, wide);
}

}  // namespace lanky::python
