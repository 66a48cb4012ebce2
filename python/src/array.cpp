// Arrays of NumPy, CuPy, PyTorch and others, read in place: their memory, type, extents and
// strides. Everything here is called with the GIL held.
#include "array.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "exchange.hpp"
#include "names.hpp"

namespace lanky::python {

namespace {

/// What `__array_struct__` points to: the C side of NumPy's array interface, version 3.
struct ArrayStruct {
  int two;
  int rank;
  char kind;
  int item_bytes;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
  PyObject* descr;
};
constexpr int kAligned = 0x100;
constexpr int kNativeBytes = 0x200;
constexpr int kWritable = 0x400;

nb::object call_method(nb::handle object, const Name& name) {
  PyObject* arguments[1] = {object.ptr()};
  PyObject* value = PyObject_VectorcallMethod(name.ptr(), arguments, 1, nullptr);
  if (value == nullptr) throw nb::python_error();
  return nb::steal(value);
}

nb::object call(nb::handle function, std::initializer_list<nb::handle> arguments) {
  std::array<PyObject*, 6> list{};
  std::size_t count = 0;
  for (nb::handle argument : arguments)
    list[count++] = argument.ptr();
  PyObject* value = PyObject_Vectorcall(function.ptr(), list.data(), count, nullptr);
  if (value == nullptr) throw nb::python_error();
  return nb::steal(value);
}

bool flag(nb::handle value) {
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

/// The objects of the libraries that arrays come from, looked up once. Leaked: they are used until
/// the process ends.
struct NumPy {
  nb::object module = nb::module_::import_("numpy");
  nb::object array_type = module.attr("ndarray");
  nb::object empty = module.attr("empty");
  nb::object dtype = module.attr("dtype");
  std::array<nb::object, 8> dtypes;  // by Element; bf16 where ml_dtypes is there
  nb::object by_rows = nb::str("C");
  nb::object by_columns = nb::str("F");
  nb::object none = nb::none();

  NumPy() {
    constexpr std::array<const char*, 8> kNames{"float64",   "float32",    "float16", "",
                                                "complex64", "complex128", "int32",   "int64"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i][0] != '\0') dtypes[i] = dtype(kNames[i]);
    }
  }

  nb::handle of(Element element) {
    nb::object& type = dtypes[static_cast<std::size_t>(element)];
    if (!type.is_valid() && element == Element::bf16) {
      try {
        type = dtype(nb::module_::import_("ml_dtypes").attr("bfloat16"));
      } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ImportError)) throw;
        throw_type_error("NumPy has bfloat16 by way of ml_dtypes alone: pip install ml_dtypes");
      }
    }
    return type;
  }
};

NumPy& numpy() {
  static NumPy& library = *new NumPy;
  return library;
}

struct CuPy {
  nb::object module = nb::module_::import_("cupy");
  nb::object array_type = module.attr("ndarray");
};

CuPy& cupy() {
  static CuPy& library = *new CuPy;
  return library;
}

struct Torch {
  nb::object module = nb::module_::import_("torch");
  nb::object array_type = module.attr("Tensor");
  nb::object empty = module.attr("empty");
  nb::object grad_enabled = module.attr("is_grad_enabled");
  nb::object strided = module.attr("strided");
  std::array<nb::object, 8> dtypes{
      module.attr("float64"),  module.attr("float32"),   module.attr("float16"),
      module.attr("bfloat16"), module.attr("complex64"), module.attr("complex128"),
      module.attr("int32"),    module.attr("int64"),
  };
  nb::object dtype_keyword = nb::make_tuple("dtype");
  // What needs no call of Python; PyTorch 2.10 and later have it, and older ones are asked in
  // Python.
  const Exchange* exchange = exchange_of_torch();
  nb::object parameter_type = module.attr("nn").attr("Parameter");
  // What the code calls that PyTorch's compiler writes: a third of the time of new_empty().
  nb::object empty_on_host = allocator("_empty_strided_cpu");
  nb::object empty_on_device = allocator("_empty_strided_cuda");

  nb::object allocator(const char* name) const {
    nb::object found = module.attr("_C");
    for (const char* part : {"_dynamo", "guards", name})
      found = nb::getattr(found, part, nb::none());
    return found;
  }

  /// Whether its memory is all there is to it: other subclasses may mean something else.
  bool is_plain(nb::handle tensor) const {
    return tensor.type().is(array_type) || tensor.type().is(parameter_type);
  }
};

Torch& torch() {
  static Torch& library = *new Torch;
  return library;
}

/// Types that were met, with their kinds: a look-up by pointer. Types are kept alive, so that a
/// pointer tells one type.
class KnownTypes {
 public:
  Kind kind_of(nb::handle object) {
    PyTypeObject* type = Py_TYPE(object.ptr());
    for (const auto& [known, kind] : types_) {
      if (known == type) return kind;
    }
    const Kind kind = find(object);
    if (types_.size() < kMost) {
      Py_INCREF(reinterpret_cast<PyObject*>(type));
      types_.emplace_back(type, kind);
    }
    return kind;
  }

 private:
  static constexpr std::size_t kMost = 32;

  static Kind find(nb::handle object) {
    if (PyObject_IsInstance(object.ptr(), numpy().array_type.ptr()) == 1) return Kind::numpy;
    if (loaded_module("cupy").is_valid() &&
        PyObject_IsInstance(object.ptr(), cupy().array_type.ptr()) == 1)
      return Kind::cupy;
    if (loaded_module("torch").is_valid() &&
        PyObject_IsInstance(object.ptr(), torch().array_type.ptr()) == 1)
      return Kind::torch;
    return Kind::other;
  }

  std::vector<std::pair<PyTypeObject*, Kind>> types_;
};

Kind kind_of(nb::handle object) {
  static KnownTypes& types = *new KnownTypes;
  return types.kind_of(object);
}

std::size_t item_bytes(Element element) {
  switch (element) {
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::f32:
    case Element::i32:
      return 4;
    case Element::c128:
      return 16;
    default:
      return 8;
  }
}

Element element_of_letter(char kind, int bytes) {
  if (kind == 'f') {
    if (bytes == 8) return Element::f64;
    if (bytes == 4) return Element::f32;
    if (bytes == 2) return Element::f16;
  }
  if (kind == 'c') {
    if (bytes == 8) return Element::c64;
    if (bytes == 16) return Element::c128;
  }
  if (kind == 'i') {
    if (bytes == 4) return Element::i32;
    if (bytes == 8) return Element::i64;
  }
  return Element::unknown;
}

std::string text_of(nb::handle object) {
  return nb::cast<std::string>(nb::str(object));
}

/// The array's own name of its type.
std::string type_text(const Array& array) {
  try {
    return text_of(array.object.attr("dtype"));
  } catch (nb::python_error&) {
    return "of an unknown type";
  }
}

/// "float64" of "torch.float64", too.
std::string without_library(std::string type) {
  constexpr std::string_view kTorch = "torch.";
  if (type.starts_with(kTorch)) type.erase(0, kTorch.size());
  return type;
}

bool is_integer_or_bool(const Array& array) {
  if (array.element == Element::i32 || array.element == Element::i64) return true;
  const std::string type = without_library(type_text(array));
  return type.starts_with("int") || type.starts_with("uint") || type.starts_with("bool");
}

constexpr char kMultiplied[] =
    "; lanky multiplies float64, float32, float16, bfloat16, complex64 and complex128";

/// The cast, in the words of the array's library.
std::string cast_text(const Array& array, const std::string& type) {
  if (array.kind == Kind::torch) return std::string(array.name) + ".to(torch." + type + ")";
  return std::string(array.name) + ".astype('" + type + "')";
}

void require_rank(std::int64_t rank, const char* name, bool scalars) {
  if (rank == 1 || rank == 2 || (rank == 0 && scalars)) return;
  throw_value_error(std::string(name) + " has " + std::to_string(rank) +
                    " dimensions; lanky multiplies vectors and matrices, of 1 and 2 dimensions");
}

void set_strides_in_bytes(Array& array, const std::array<std::int64_t, 2>& bytes) {
  if (array.element == Element::unknown) return;  // refused by whoever needs its type
  const auto item = static_cast<std::int64_t>(item_bytes(array.element));
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.rank); ++i) {
    if (bytes[i] % item != 0) {
      throw_value_error(std::string(array.name) + " has a stride of " + std::to_string(bytes[i]) +
                        " bytes, which counts no whole elements of " + std::to_string(item));
    }
    array.strides[i] = bytes[i] / item;
  }
}

void read_numpy(Array& array, bool scalars) {
  static const Name array_struct_name("__array_struct__");
  const nb::object capsule = get(array.object, array_struct_name);
  const auto* read = static_cast<const ArrayStruct*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (read == nullptr) throw nb::python_error();
  require_rank(read->rank, array.name, scalars);
  array.rank = read->rank;
  array.data = read->data;
  array.writable = (read->flags & kWritable) != 0;
  array.element = element_of_letter(read->kind, read->item_bytes);
  if (array.element == Element::unknown && read->item_bytes == 2 && type_text(array) == "bfloat16")
    array.element = Element::bf16;
  if ((read->flags & kNativeBytes) == 0 && array.element != Element::bf16)
    throw_type_error(std::string(array.name) + " is " + type_text(array) +
                     ", whose bytes are in the other order; use " + array.name +
                     ".astype(x.dtype.newbyteorder('='))");
  if ((read->flags & kAligned) == 0)
    throw_value_error(std::string(array.name) + " is not aligned to its elements");
  std::array<std::int64_t, 2> strides{0, 0};
  for (std::size_t i = 0; i < static_cast<std::size_t>(read->rank); ++i) {
    array.shape[i] = read->shape[i];
    strides[i] = read->strides[i];
  }
  set_strides_in_bytes(array, strides);
}

/// Integers of a tuple of at most two; its length.
int integers(nb::handle tuple, std::array<std::int64_t, 2>& values, const char* name,
             bool scalars) {
  const Py_ssize_t rank = PyTuple_Size(tuple.ptr());
  if (rank < 0) throw nb::python_error();
  require_rank(rank, name, scalars);
  for (Py_ssize_t i = 0; i < rank; ++i)
    values[static_cast<std::size_t>(i)] = integer(PyTuple_GetItem(tuple.ptr(), i));
  return static_cast<int>(rank);
}

template <class Library>
Element element_of_dtype(const Library& library, nb::handle dtype) {
  for (std::size_t i = 0; i < library.dtypes.size(); ++i) {
    if (library.dtypes[i].is_valid() && library.dtypes[i].is(dtype)) return static_cast<Element>(i);
  }
  return Element::unknown;
}

Element element_of_numpy_dtype(nb::handle dtype) {
  const Element known = element_of_dtype(numpy(), dtype);
  if (known != Element::unknown) return known;
  if (text_of(dtype) == "bfloat16") return Element::bf16;
  const std::string kind = text_of(dtype.attr("kind"));
  if (!flag(dtype.attr("isnative"))) return Element::unknown;
  return element_of_letter(kind[0], static_cast<int>(integer(dtype.attr("itemsize"))));
}

void read_cupy(Array& array, bool scalars) {
  static const Name data_name("data");
  static const Name pointer_name("ptr");
  static const Name device_name("device_id");
  static const Name shape_name("shape");
  static const Name strides_name("strides");
  static const Name dtype_name("dtype");
  const nb::object memory = get(array.object, data_name);
  array.data = reinterpret_cast<void*>(integer(get(memory, pointer_name)));
  array.device = static_cast<int>(integer(get(memory, device_name)));
  array.element = element_of_numpy_dtype(get(array.object, dtype_name));
  array.writable = true;
  array.rank = integers(get(array.object, shape_name), array.shape, array.name, scalars);
  std::array<std::int64_t, 2> strides{0, 0};
  integers(get(array.object, strides_name), strides, array.name, scalars);
  set_strides_in_bytes(array, strides);
}

void refuse_gradient(const Array& array) {
  static const Name gradient_name("requires_grad");
  if (flag(get(array.object, gradient_name)) && flag(call(torch().grad_enabled, {})))
    throw_type_error(std::string(array.name) +
                     " requires a gradient, which only lanky.torch computes; use that, or " +
                     array.name + ".detach()");
}

void refuse_lazy_bits(const Array& array) {
  static const Name conjugate_name("is_conj");
  static const Name negative_name("is_neg");
  if (is_complex(array) && flag(call_method(array.object, conjugate_name)))
    throw_value_error(std::string(array.name) +
                      " is a conjugate that PyTorch has not written; use " + array.name +
                      ".resolve_conj()");
  if (flag(call_method(array.object, negative_name)))
    throw_value_error(std::string(array.name) +
                      " is a negative that PyTorch has not written; use " + array.name +
                      ".resolve_neg()");
}

Element element_of_dlpack(const nb::dlpack::dtype& type) {
  if (type.lanes != 1) return Element::unknown;
  const int bytes = type.bits / 8;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Float:
      return element_of_letter('f', bytes);
    case nb::dlpack::dtype_code::Complex:
      return element_of_letter('c', bytes);
    case nb::dlpack::dtype_code::Int:
      return element_of_letter('i', bytes);
    case nb::dlpack::dtype_code::Bfloat:
      return bytes == 2 ? Element::bf16 : Element::unknown;
    default:
      return Element::unknown;
  }
}

constexpr int kDlpackCpu = 1;
constexpr int kDlpackCuda = 2;
constexpr int kDlpackPinned = 3;

void require_known_device(const Array& array, int type) {
  if (type == kDlpackCpu || type == kDlpackCuda || type == kDlpackPinned) return;
  throw_value_error(std::string(array.name) + " is on a device of DLPack's type " +
                    std::to_string(type) + "; lanky computes on the CPU and on CUDA devices");
}

/// Everything but who holds the memory, and whether it may be written to.
void take_tensor(Array& array, const nb::dlpack::dltensor& tensor, bool scalars) {
  require_known_device(array, tensor.device.device_type);
  require_rank(tensor.ndim, array.name, scalars);
  array.device = tensor.device.device_type == kDlpackCuda ? tensor.device.device_id : -1;
  array.rank = tensor.ndim;
  array.element = element_of_dlpack(tensor.dtype);
  array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  std::int64_t tight = 1;
  for (auto i = static_cast<std::size_t>(tensor.ndim); i-- > 0;) {
    array.shape[i] = tensor.shape[i];
    array.strides[i] = tensor.strides != nullptr ? tensor.strides[i] : tight;
    tight *= array.shape[i];
  }
}

/// false where PyTorch has no table, or the tensor no memory: read_torch() says why.
bool describe_torch(nb::handle tensor, nb::dlpack::dltensor& description) {
  const Torch& library = torch();
  if (library.exchange == nullptr || !library.is_plain(tensor)) return false;
  if (library.exchange->describe(tensor.ptr(), &description) == 0) return true;
  PyErr_Clear();
  return false;
}

void read_torch(Array& array, bool scalars) {
  static const Name pointer_name("data_ptr");
  static const Name device_name("get_device");
  static const Name shape_name("shape");
  static const Name strides_name("stride");
  static const Name dtype_name("dtype");
  static const Name layout_name("layout");
  static const Name is_cpu_name("is_cpu");
  static const Name is_cuda_name("is_cuda");
  array.writable = true;
  nb::dlpack::dltensor description;
  if (describe_torch(array.object, description)) {
    take_tensor(array, description, scalars);
    refuse_gradient(array);
    return refuse_lazy_bits(array);
  }
  Torch& library = torch();
  if (!get(array.object, layout_name).is(library.strided))
    throw_type_error(std::string(array.name) + " is a tensor of " +
                     text_of(array.object.attr("layout")) + "; a dense one is needed here");
  array.device = static_cast<int>(integer(call_method(array.object, device_name)));
  if (!flag(get(array.object, array.device < 0 ? is_cpu_name : is_cuda_name)))
    throw_value_error(std::string(array.name) + " is on " + text_of(array.object.attr("device")) +
                      "; lanky computes on the CPU and on CUDA devices");
  refuse_gradient(array);
  array.element = element_of_dtype(library, get(array.object, dtype_name));
  refuse_lazy_bits(array);
  array.rank = integers(get(array.object, shape_name), array.shape, array.name, scalars);
  integers(call_method(array.object, strides_name), array.strides, array.name, scalars);
  array.data = reinterpret_cast<void*>(integer(call_method(array.object, pointer_name)));
}

template <class View>
void take_view(Array& array, const View& view, bool scalars) {
  nb::dlpack::dltensor tensor;
  tensor.data = const_cast<void*>(static_cast<const void*>(view.data()));
  tensor.device = {view.device_type(), view.device_id()};
  tensor.ndim = static_cast<std::int32_t>(view.ndim());
  tensor.dtype = view.dtype();
  tensor.shape = const_cast<std::int64_t*>(view.shape_ptr());
  tensor.strides = const_cast<std::int64_t*>(view.stride_ptr());
  take_tensor(array, tensor, scalars);
  array.keep =
      nb::capsule(new View(view), [](void* held) noexcept { delete static_cast<View*>(held); });
}

/// numba's arrays and others that have no DLPack.
bool read_cuda_interface(Array& array, bool scalars) {
  const nb::object found = nb::getattr(array.object, "__cuda_array_interface__", nb::none());
  if (!nb::isinstance<nb::dict>(found)) return false;
  const auto interface = nb::cast<nb::dict>(found);
  const nb::object memory = interface["data"];
  array.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(memory[0]));
  array.writable = !nb::cast<bool>(memory[1]);
  array.element = element_of_numpy_dtype(numpy().dtype(interface["typestr"]));
  array.rank = integers(nb::object(interface["shape"]), array.shape, array.name, scalars);
  array.device = Device::cuda_count() > 1
                     ? static_cast<int>(nb::cast<std::int64_t>(nb::getattr(
                           nb::getattr(array.object, "device", nb::int_(0)), "id", nb::int_(0))))
                     : 0;
  std::array<std::int64_t, 2> strides{0, 0};
  const bool tight = !interface.contains("strides") || nb::object(interface["strides"]).is_none();
  if (tight) {
    const auto item = static_cast<std::int64_t>(item_bytes(array.element));
    strides = {array.rank == 2 ? array.shape[1] * item : item, item};
  } else {
    integers(nb::object(interface["strides"]), strides, array.name, scalars);
  }
  set_strides_in_bytes(array, strides);
  return true;
}

bool read_dlpack(Array& array, bool scalars) {
  if (!nb::hasattr(array.object, "__dlpack__") || !nb::hasattr(array.object, "__dlpack_device__"))
    return false;
  // JAX computes in streams that it does not tell.
  if (nb::hasattr(array.object, "block_until_ready")) array.object.attr("block_until_ready")();
  nb::ndarray<> writable;
  if (nb::try_cast(array.object, writable, false)) {
    array.writable = true;
    take_view(array, writable, scalars);
    return true;
  }
  PyErr_Clear();
  nb::ndarray<nb::ro> readable;
  if (!nb::try_cast(array.object, readable, false)) {
    PyErr_Clear();
    return false;
  }
  take_view(array, readable, scalars);
  return true;
}

void read_other(Array& array, bool scalars) {
  if (read_dlpack(array, scalars) || read_cuda_interface(array, scalars)) return;
  throw_type_error(
      std::string(array.name) + " is a " + nb::type_name(array.object.type()).c_str() +
      "; lanky takes arrays of NumPy, CuPy, PyTorch, JAX and others with __dlpack__ or "
      "__cuda_array_interface__");
}

/// NumPy's subclasses that mean something else by their elements.
void refuse_subclasses(const Array& array) {
  if (Py_TYPE(array.object.ptr()) == reinterpret_cast<PyTypeObject*>(numpy().array_type.ptr()))
    return;
  const std::string type = nb::type_name(array.object.type()).c_str();
  if (type.find("MaskedArray") != std::string::npos)
    throw_type_error(std::string(array.name) +
                     " is a masked array, whose mask lanky would lose; use " + array.name +
                     ".filled(0)");
}

nb::tuple shape_tuple(int rank, std::int64_t rows, std::int64_t cols) {
  return rank == 1 ? nb::make_tuple(rows) : nb::make_tuple(rows, cols);
}

std::array<std::int64_t, 2> tight_strides(int rank, std::int64_t rows, std::int64_t cols,
                                          Layout layout) {
  if (rank == 1) return {1, 1};
  return layout == Layout::row ? std::array<std::int64_t, 2>{std::max<std::int64_t>(1, cols), 1}
                               : std::array<std::int64_t, 2>{1, std::max<std::int64_t>(1, rows)};
}

/// An array that is to be made; its memory is not there yet.
Array planned(const Array& like, DType dtype, int rank, std::int64_t rows, std::int64_t cols,
              Layout layout) {
  Array array;
  array.name = "out";
  array.kind = like.kind;
  array.element = static_cast<Element>(dtype);
  array.writable = true;
  array.device = like.device;
  array.rank = rank;
  array.shape = {rows, cols};
  array.strides = tight_strides(rank, rows, cols, layout);
  return array;
}

nb::object empty_numpy(const Array& wanted, Layout layout) {
  NumPy& library = numpy();
  const nb::tuple shape = shape_tuple(wanted.rank, wanted.shape[0], wanted.shape[1]);
  return call(library.empty, {shape, library.of(wanted.element),
                              layout == Layout::row ? library.by_rows : library.by_columns});
}

/// Makes a device CuPy's current one, on which it allocates.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) : device_(cupy().module.attr("cuda").attr("Device")(device)) {
    device_.attr("__enter__")();
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() {
    try {
      device_.attr("__exit__")(nb::none(), nb::none(), nb::none());
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("lanky: the device of CuPy");
    }
  }

 private:
  nb::object device_;
};

/// Makes the array, and tells `wanted` where its memory is.
nb::object empty_cupy(Array& wanted, Layout layout) {
  static const Name data_name("data");
  static const Name device_name("device_id");
  static const Name pointer_name("ptr");
  CuPy& library = cupy();
  NumPy& types = numpy();
  const nb::tuple shape = shape_tuple(wanted.rank, wanted.shape[0], wanted.shape[1]);
  nb::object memory;
  const auto make = [&] {
    nb::object made =
        call(library.array_type, {shape, types.of(wanted.element), types.none, types.none,
                                  layout == Layout::row ? types.by_rows : types.by_columns});
    memory = get(made, data_name);
    wanted.data = reinterpret_cast<void*>(integer(get(memory, pointer_name)));
    return made;
  };
  nb::object result = make();
  // Most often the current device is the right one, and asking would take longer than looking.
  if (integer(get(memory, device_name)) == wanted.device || wanted.size() == 0) return result;
  const CurrentDevice current(wanted.device);
  return make();
}

/// By PyTorch's quickest function, which allocates on its current device; null where that is
/// another one, or there is no such function. DLPack's own allocator would not do: its tensors are
/// of foreign memory, for which record_stream() does nothing.
nb::object empty_torch_quickly(const Array& like, Array& wanted) {
  const Torch& library = torch();
  const nb::object& make = wanted.on_host() ? library.empty_on_host : library.empty_on_device;
  if (library.exchange == nullptr || make.is_none() || !library.is_plain(like.object)) return {};
  const nb::tuple shape = shape_tuple(wanted.rank, wanted.shape[0], wanted.shape[1]);
  const nb::tuple strides = shape_tuple(wanted.rank, wanted.strides[0], wanted.strides[1]);
  nb::object result =
      call(make, {shape, strides, library.dtypes[static_cast<std::size_t>(wanted.element)]});
  nb::dlpack::dltensor made;
  if (!describe_torch(result, made)) return {};
  if (!wanted.on_host() && made.device.device_id != wanted.device) return {};
  wanted.data = made.data;
  return result;
}

/// new_empty() takes the device and, where that serves, the type from `like`: half the time of
/// empty().
nb::object empty_torch(const Array& like, Array& wanted, Layout layout) {
  static const Name transpose_name("t");
  static const Name new_empty_name("new_empty");
  static const Name pointer_name("data_ptr");
  nb::object quick = empty_torch_quickly(like, wanted);
  if (quick.is_valid()) return quick;
  Torch& library = torch();
  const bool turned = wanted.rank == 2 && layout == Layout::col;
  const nb::tuple shape = turned ? shape_tuple(2, wanted.shape[1], wanted.shape[0])
                                 : shape_tuple(wanted.rank, wanted.shape[0], wanted.shape[1]);
  const bool same_type = like.element == wanted.element;
  PyObject* arguments[3] = {like.object.ptr(), shape.ptr(),
                            library.dtypes[static_cast<std::size_t>(wanted.element)].ptr()};
  PyObject* made = PyObject_VectorcallMethod(new_empty_name.ptr(), arguments, 2,
                                             same_type ? nullptr : library.dtype_keyword.ptr());
  if (made == nullptr) throw nb::python_error();
  nb::object result = nb::steal(made);
  if (turned) result = call_method(result, transpose_name);
  wanted.data = reinterpret_cast<void*>(integer(call_method(result, pointer_name)));
  return result;
}

nb::dlpack::dtype dlpack_type(Element element) {
  using nb::dlpack::dtype_code;
  const auto bits = static_cast<std::uint8_t>(8 * item_bytes(element));
  switch (element) {
    case Element::c64:
    case Element::c128:
      return {static_cast<std::uint8_t>(dtype_code::Complex), bits, 1};
    case Element::bf16:
      return {static_cast<std::uint8_t>(dtype_code::Bfloat), bits, 1};
    case Element::i32:
    case Element::i64:
      return {static_cast<std::uint8_t>(dtype_code::Int), bits, 1};
    default:
      return {static_cast<std::uint8_t>(dtype_code::Float), bits, 1};
  }
}

/// Memory of lanky's own, as an object with __dlpack__: a cast without a framework would give a
/// bare capsule, which tells no device.
nb::object empty_dlpack(Array& wanted) {
  const Stream stream =
      wanted.on_host() ? Stream(Device::cpu()) : Stream::wrap(nullptr, Device::cuda(wanted.device));
  const auto item = static_cast<std::int64_t>(item_bytes(wanted.element));
  auto memory =
      std::make_unique<Buffer<std::byte>>(stream, std::max<std::int64_t>(1, wanted.size()) * item);
  const std::array<std::size_t, 2> shape{static_cast<std::size_t>(wanted.shape[0]),
                                         static_cast<std::size_t>(wanted.shape[1])};
  wanted.data = memory->data();
  const nb::capsule owner(
      memory.release(), [](void* held) noexcept { delete static_cast<Buffer<std::byte>*>(held); });
  return nb::cast(nb::ndarray<nb::array_api>(
      wanted.data, static_cast<std::size_t>(wanted.rank), shape.data(), owner,
      wanted.strides.data(), dlpack_type(wanted.element),
      wanted.on_host() ? kDlpackCpu : kDlpackCuda, std::max(0, wanted.device)));
}

/// Whether an array of DLPack can become one of the library of `like`.
bool has_namespace(const Array& like) {
  static const Name namespace_name("__array_namespace__");
  return nb::hasattr(like.object, nb::handle(namespace_name.ptr()));
}

}  // namespace

nb::object loaded_module(const char* name) {
  const nb::object modules = nb::module_::import_("sys").attr("modules");
  const nb::object found = modules.attr("get")(name);
  return found.is_none() ? nb::object() : found;
}

Array read_array(nb::handle object, const char* name, bool scalars) {
  Array array;
  array.name = name;
  array.object = object;
  array.kind = kind_of(object);
  switch (array.kind) {
    case Kind::numpy:
      refuse_subclasses(array);
      read_numpy(array, scalars);
      break;
    case Kind::cupy:
      read_cupy(array, scalars);
      break;
    case Kind::torch:
      read_torch(array, scalars);
      break;
    case Kind::other:
      read_other(array, scalars);
      break;
  }
  return array;
}

DType dtype_of(const Array& array, const char* conversion) {
  if (array.element <= Element::c128) return static_cast<DType>(array.element);
  std::string message = std::string(array.name) + " is " + type_text(array) + kMultiplied;
  if (is_integer_or_bool(array))
    message += "; use " + (conversion != nullptr ? conversion : cast_text(array, "float64"));
  throw_type_error(message);
}

void require_dtype(const Array& array, DType dtype, const Partner& other) {
  if (array.element == static_cast<Element>(dtype)) return;
  const std::string wanted = numpy_name(dtype);
  const std::string what = std::string(array.name) + " is " + type_text(array) + ", and " +
                           other.name + " needs " + wanted;
  if (!is_complex(array) || is_complex(dtype))
    throw_type_error(what + "; lanky converts nothing unasked: use " + cast_text(array, wanted));
  const std::string found = numpy_name(static_cast<DType>(array.element));
  throw_type_error(what + "; a cast of " + array.name + " would lose its imaginary part: " +
                   (other.array != nullptr
                        ? "use " + cast_text(*other.array, found)
                        : "make " + std::string(other.name) + " with dtype='" + found + "'"));
}

void require_result_dtype(const Array& array, DType dtype) {
  if (array.element == static_cast<Element>(dtype)) return;
  const std::string wanted = numpy_name(dtype);
  throw_type_error(std::string(array.name) + " is " + type_text(array) + ", and the result is " +
                   wanted + ": " + array.name + " must be an array of " + wanted);
}

bool is_complex(const Array& array) {
  return array.element == Element::c64 || array.element == Element::c128;
}

bool is_foreign(const Array& array) {
  return array.kind == Kind::other && !array.on_host();
}

void require_writable(const Array& array) {
  if (!array.writable) throw_value_error(std::string(array.name) + " is read-only");
}

bool is_contiguous(const Array& array) {
  return array.rank == 1 && (array.strides[0] == 1 || array.shape[0] <= 1);
}

void require_contiguous(const Array& array) {
  if (is_contiguous(array)) return;
  throw_value_error(std::string(array.name) + " has shape " + shape_text(array) +
                    " and a stride of " + std::to_string(array.strides[0]) +
                    " elements; a contiguous vector is needed");
}

Dense dense(const Array& array, Layout preferred) {
  const std::int64_t rows = array.shape[0];
  const std::int64_t cols = array.rank == 2 ? array.shape[1] : 1;
  const std::int64_t down = array.strides[0];
  const std::int64_t across = array.rank == 2 ? array.strides[1] : std::max<std::int64_t>(1, rows);
  const bool empty = rows == 0 || cols == 0;
  const bool by_rows = empty || ((cols <= 1 || across == 1) &&
                                 (rows <= 1 || down >= std::max<std::int64_t>(1, cols)));
  const bool by_columns = empty || ((rows <= 1 || down == 1) &&
                                    (cols <= 1 || across >= std::max<std::int64_t>(1, rows)));
  if (!by_rows && !by_columns) {
    const std::string what = std::string(array.name) + " has shape " + shape_text(array);
    if (array.rank == 1)
      throw_value_error(what + " and a stride of " + std::to_string(down) +
                        " elements; a stride of 1 or more is needed");
    throw_value_error(
        what + " and strides of " + std::to_string(down) + " and " + std::to_string(across) +
        " elements; its rows or its columns must be contiguous, and must not overlap");
  }
  const Layout layout = preferred == Layout::row ? (by_rows ? Layout::row : Layout::col)
                                                 : (by_columns ? Layout::col : Layout::row);
  std::int64_t ld = std::max<std::int64_t>(1, layout == Layout::row ? cols : rows);
  if (!empty && layout == Layout::row && rows > 1) ld = down;
  if (!empty && layout == Layout::col && cols > 1) ld = across;
  return {array.data, rows, cols, ld, layout};
}

const char* numpy_name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::c64:
      return "complex64";
    case DType::c128:
      return "complex128";
  }
  return "";
}

DType dtype_from(nb::handle dtype) {
  std::string name = text_of(dtype);
  if (PyType_Check(dtype.ptr())) name = text_of(numpy().dtype(dtype));
  name = without_library(std::move(name));
  for (const DType known :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
    if (name == numpy_name(known) || name == to_string(known)) return known;
  }
  throw_type_error("dtype " + name + kMultiplied);
}

std::string place(int device) {
  return device < 0 ? "cpu" : "cuda:" + std::to_string(device);
}

std::string shape_text(const Array& array) {
  if (array.rank == 0) return "()";
  if (array.rank == 1) return "(" + std::to_string(array.shape[0]) + ",)";
  return "(" + std::to_string(array.shape[0]) + ", " + std::to_string(array.shape[1]) + ")";
}

NewArray empty_like(const Array& like, DType dtype, int rank, std::int64_t rows, std::int64_t cols,
                    Layout layout) {
  Array array = planned(like, dtype, rank, rows, cols, layout);
  nb::object object;
  if (like.kind == Kind::cupy) {
    object = empty_cupy(array, layout);
  } else if (like.kind == Kind::torch) {
    object = empty_torch(like, array, layout);
  } else if (like.kind == Kind::other && (!like.on_host() || has_namespace(like))) {
    object = empty_dlpack(array);
  } else {
    object = empty_numpy(array, layout);
    array = read_array(object, "out");
  }
  array.object = object;
  return {std::move(object), std::move(array)};
}

nb::object to_caller(const Array& like, nb::object result) {
  if (like.kind != Kind::other || !has_namespace(like)) return result;
  const nb::object library = like.object.attr("__array_namespace__")();
  nb::object view = library.attr("from_dlpack")(result);
  if (like.on_host()) return view;
  // Memory of others may be let go before kernels that read it are done: XLA orders what it frees
  // by its own streams, for which the legacy stream, where lanky frees, does not wait. A copy is
  // the library's own, and once it is there nobody reads the result any more.
  // JAX's from_dlpack() has a copy= that its GPUs do not implement.
  nb::object copy = library.attr("asarray")(view, nb::arg("copy") = true);
  if (nb::hasattr(copy, "block_until_ready")) copy.attr("block_until_ready")();
  return copy;
}

nb::object borrow_memory(Kind kind, int device, std::int64_t bytes, void** data) {
  static const Name pointer_name("ptr");
  static const Name data_pointer_name("data_ptr");
  nb::object memory;
  if (kind == Kind::cupy) {
    const CurrentDevice current(device);
    memory = cupy().module.attr("cuda").attr("alloc")(bytes);
    *data = reinterpret_cast<void*>(integer(get(memory, pointer_name)));
  } else if (kind == Kind::torch) {
    memory = torch().empty(nb::make_tuple(bytes), nb::arg("dtype") = torch().module.attr("uint8"),
                           nb::arg("device") = place(device));
    *data = reinterpret_cast<void*>(integer(call_method(memory, data_pointer_name)));
  }
  return memory;
}

nb::object numpy_array(void* data, std::int64_t size, Element element, nb::handle owner) {
  const std::array<std::size_t, 1> shape{static_cast<std::size_t>(size)};
  // NumPy's DLPack has no bfloat16: its bits travel as int16.
  const bool bits = element == Element::bf16;
  constexpr int kCpu = 1;
  const nb::dlpack::dtype type =
      bits ? nb::dlpack::dtype{static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int), 16, 1}
           : dlpack_type(element);
  nb::object array =
      nb::cast(nb::ndarray<nb::numpy>(data, 1, shape.data(), owner, nullptr, type, kCpu, 0));
  return bits ? array.attr("view")(numpy().of(element)) : array;
}

}  // namespace lanky::python
