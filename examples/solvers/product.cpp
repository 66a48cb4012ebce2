#include "examples/solvers/product.hpp"

#include <lanky/error.hpp>
#include <lanky/sparse.hpp>
#include <limits>
#include <vector>

namespace lanky::examples::solvers {

namespace {

template <class T>
class LankyProduct final : public Product<T> {
 public:
  LankyProduct(const Stream& stream, const CsrView<T>& a) : plan_(stream, a) {}

  void run(const Stream& stream, VectorView<const T> x, VectorView<T> y) const override {
    plan_.run(stream, x, y);
  }
  std::string about() const override { return "lanky"; }

 private:
  SparsePlan<T> plan_;
};

bool needs_wide(std::int64_t nnz) {
  return nnz > std::numeric_limits<std::int32_t>::max();
}

}  // namespace

template <class T>
DeviceMatrix<T>::DeviceMatrix(const Stream& stream, const CsrMatrix<double>& matrix)
    : rows_(matrix.rows),
      cols_(matrix.cols),
      wide_(needs_wide(matrix.nnz())),
      wide_offsets_(stream, wide_ ? matrix.rows + 1 : 0),
      short_offsets_(stream, wide_ ? 0 : matrix.rows + 1),
      col_indices_(Buffer<std::int32_t>::from(stream, matrix.col_indices)),
      values_(Buffer<T>::from(stream, std::vector<T>(matrix.values.begin(), matrix.values.end()))) {
  if (wide_) {
    wide_offsets_.copy_from(matrix.row_offsets);
  } else {
    short_offsets_.copy_from(
        std::vector<std::int32_t>(matrix.row_offsets.begin(), matrix.row_offsets.end()));
  }
}

template <class T>
CsrView<T> DeviceMatrix<T>::view() const noexcept {
  const RowOffsets offsets =
      wide_ ? RowOffsets(wide_offsets_.data()) : RowOffsets(short_offsets_.data());
  return {rows_, cols_, values_.size(), offsets, col_indices_.data(), values_.data(), 0};
}

template <class T>
Prepared<T> make_product(std::string_view name, const Stream& stream, const CsrView<T>& a) {
  if (name == "lanky") {
    return prepare<T>(stream, [&] { return std::make_unique<LankyProduct<T>>(stream, a); });
  }
  if (name != "cusparse") {
    throw Error(ErrorCode::invalid_argument,
                "there is no product \"" + std::string(name) + "\"; use lanky or cusparse");
  }
  if (!stream.device().is_cuda()) {
    throw Error(ErrorCode::unsupported, "cuSPARSE multiplies on a GPU, the device is cpu");
  }
  return cusparse_product(stream, a);
}

template class DeviceMatrix<double>;
template class DeviceMatrix<float>;
template Prepared<double> make_product(std::string_view, const Stream&, const CsrView<double>&);
template Prepared<float> make_product(std::string_view, const Stream&, const CsrView<float>&);

}  // namespace lanky::examples::solvers
