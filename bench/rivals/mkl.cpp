#include "bench/rivals/mkl.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <fstream>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <lanky/half.hpp>
#include <utility>

#include "core/plan_types.hpp"
#include "core/text.hpp"

namespace lanky::bench {

namespace {

// mkl_spblas.h and mkl_service.h, which are not needed to build lanky.
constexpr int kInterfaceLp64 = 0;
constexpr int kThreadingGnu = 3;  // of libgomp, as lanky's
constexpr int kBaseZero = 0;
constexpr int kOperationNone = 10;
constexpr int kGeneral = 20;
constexpr int kLayoutRow = 101;
constexpr int kLayoutColumn = 102;
constexpr int kSuccess = 0;
constexpr int kManyProducts = 1000;

struct MatrixDescription {
  int type = kGeneral;
  int mode = 0;      // read for other types alone
  int diagonal = 0;  // likewise
};

template <class T>
using CreateCsr = int(void** handle, int base, int rows, int cols, int* rows_start, int* rows_end,
                      int* columns, T* values);
template <class T>
using Multiply = int(int operation, T alpha, void* handle, MatrixDescription description,
                     const T* x, T beta, T* y);
template <class T>
using MultiplyColumns = int(int operation, T alpha, void* handle, MatrixDescription description,
                            int layout, const T* x, int columns, int ldx, T beta, T* y, int ldy);
using SetHint = int(void* handle, int operation, MatrixDescription description, int products);
using SetColumnsHint = int(void* handle, int operation, MatrixDescription description, int layout,
                           int columns, int products);
using Optimize = int(void* handle);
using Destroy = int(void* handle);
using SetInt = int(int value);
using SetThreads = void(int threads);
using VersionText = void(char* text, int length);

template <class Function>
Function* needed(const char* name) {
  if (!mkl_library().loaded())
    throw Error(ErrorCode::unsupported, concat("MKL cannot be opened: ", mkl_library().failure()));
  Function* const function = mkl_library().function<Function>(name);
  if (function == nullptr) throw Error(ErrorCode::unsupported, concat("MKL has no ", name));
  return function;
}

void check(int status, const char* what) {
  if (status != kSuccess)
    throw Error(ErrorCode::unsupported, concat(what, " ended with status ", status));
}

/// MKL's functions by the letter of a type: mkl_sparse_d_mv.
template <class Function>
Function* of_type(char letter, const char* name) {
  return needed<Function>(concat("mkl_sparse_", letter, "_", name).c_str());
}

/// The matrix, prepared for products that a class below runs.
template <class T>
class MklHandle : public MklSpmv {
 public:
  MklHandle(const CsrView<T>& a, char letter) : destroy_(needed<Destroy>("mkl_sparse_destroy")) {
    if (a.row_offsets.wide())
      throw Error(ErrorCode::unsupported, "MKL's LP64 interface has no 64-bit row offsets");
    auto* const offsets =
        static_cast<int*>(const_cast<void*>(static_cast<const void*>(a.row_offsets.data())));
    check(of_type<CreateCsr<T>>(letter, "create_csr")(
              &handle_, kBaseZero, static_cast<int>(a.rows), static_cast<int>(a.cols), offsets,
              offsets + 1, const_cast<int*>(a.col_indices), const_cast<T*>(a.values)),
          "mkl_sparse_create_csr");
  }
  MklHandle(const MklHandle&) = delete;
  MklHandle& operator=(const MklHandle&) = delete;
  ~MklHandle() override { destroy_(handle_); }

 protected:
  void* handle() const { return handle_; }
  /// After the hint. Neither fails where MKL has no better form: products go on by CSR.
  void optimize() { needed<Optimize>("mkl_sparse_optimize")(handle_); }

 private:
  Destroy* destroy_;
  void* handle_ = nullptr;
};

template <class T>
class MklVector final : public MklHandle<T> {
 public:
  MklVector(const CsrView<T>& a, char letter, const T* x, T* y)
      : MklHandle<T>(a, letter), multiply_(of_type<Multiply<T>>(letter, "mv")), x_(x), y_(y) {
    needed<SetHint>("mkl_sparse_set_mv_hint")(this->handle(), kOperationNone, {}, kManyProducts);
    this->optimize();
  }
  void run() override {
    check(multiply_(kOperationNone, T{1}, this->handle(), {}, x_, T{0}, y_), "mkl_sparse_mv");
  }

 private:
  Multiply<T>* multiply_;
  const T* x_;
  T* y_;
};

template <class T>
class MklColumns final : public MklHandle<T> {
 public:
  MklColumns(const CsrView<T>& a, char letter, const T* x, T* y, SpmvColumns columns)
      : MklHandle<T>(a, letter),
        multiply_(of_type<MultiplyColumns<T>>(letter, "mm")),
        columns_(static_cast<int>(columns.count)),
        layout_(columns.layout == Layout::row ? kLayoutRow : kLayoutColumn),
        ldx_(columns.layout == Layout::row ? columns_ : static_cast<int>(a.cols)),
        ldy_(columns.layout == Layout::row ? columns_ : static_cast<int>(a.rows)),
        x_(x),
        y_(y) {
    needed<SetColumnsHint>("mkl_sparse_set_mm_hint")(this->handle(), kOperationNone, {}, layout_,
                                                     columns_, kManyProducts);
    this->optimize();
  }
  void run() override {
    check(multiply_(kOperationNone, T{1}, this->handle(), {}, layout_, x_, columns_, ldx_, T{0}, y_,
                    ldy_),
          "mkl_sparse_mm");
  }

 private:
  MultiplyColumns<T>* multiply_;
  int columns_;
  int layout_;
  int ldx_;
  int ldy_;
  const T* x_;
  T* y_;
};

/// Of the libraries that MKL opened for a processor, the one that is mapped.
std::string mapped_kernels() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.rfind('/');
    if (slash == std::string::npos) continue;
    const std::string file = line.substr(slash + 1);
    for (const char* const isa : {"avx512", "avx10", "avx2", "mc3", "def"}) {
      if (file.rfind(concat("libmkl_", isa, ".so"), 0) == 0) return isa;
    }
  }
  return "";
}

}  // namespace

const SharedLibrary& mkl_library() {
  static const SharedLibrary instance = [] {
    SharedLibrary mkl({"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"});
    if (auto* const set = mkl.function<SetInt>("MKL_Set_Interface_Layer")) set(kInterfaceLp64);
    if (auto* const set = mkl.function<SetInt>("MKL_Set_Threading_Layer")) set(kThreadingGnu);
    if (auto* const set = mkl.function<SetThreads>("MKL_Set_Num_Threads"))
      set(Device::cpu().properties().multiprocessors);
    return mkl;
  }();
  return instance;
}

template <class T>
std::unique_ptr<MklSpmv> mkl_spmv(const CsrView<T>& a, const T* x, T* y, SpmvColumns columns) {
  if constexpr (!is_half(kDType<T>)) {
    // MKL_Complex8 and MKL_Complex16 are passed as std::complex is.
    constexpr char kLetter = kDType<T> == DType::f64   ? 'd'
                             : kDType<T> == DType::f32 ? 's'
                             : kDType<T> == DType::c64 ? 'c'
                                                       : 'z';
    if (columns.count == 1) return std::make_unique<MklVector<T>>(a, kLetter, x, y);
    return std::make_unique<MklColumns<T>>(a, kLetter, x, y, columns);
  } else {
    throw Error(ErrorCode::unsupported,
                concat("MKL has no sparse product of ", to_string(kDType<T>)));
  }
}

std::string mkl_version() {
  auto* const text_of = mkl_library().function<VersionText>("mkl_get_version_string");
  if (text_of == nullptr) return "";
  std::array<char, 256> text{};
  text_of(text.data(), static_cast<int>(text.size()) - 1);
  std::string version(text.data());
  version.erase(version.find_last_not_of(' ') + 1);
  // The kernels are opened with the first product.
  std::array<int, 2> offsets = {0, 1};
  std::array<int, 1> columns = {0};
  std::array<double, 1> one = {1};
  std::array<double, 1> y = {0};
  try {
    mkl_spmv<double>({1, 1, 1, offsets.data(), columns.data(), one.data(), 0}, one.data(), y.data())
        ->run();
  } catch (const Error&) {
    return version;
  }
  return concat(version, ", kernels ", mapped_kernels());
}

#define LANKY_INSTANTIATE(T) \
  template std::unique_ptr<MklSpmv> mkl_spmv(const CsrView<T>&, const T*, T*, SpmvColumns);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::bench
