#include <lanky/dense.hpp>

#include "examples/kmeans/product.hpp"

namespace lanky::examples {

namespace {

template <class T>
class LankyProduct final : public Product<T> {
 public:
  LankyProduct(const Stream& stream, std::int64_t n, std::int64_t d, std::int64_t k)
      : plan_(stream, {.m = n, .n = k, .k = d, .op_b = Op::trans, .layout = Layout::row}) {}

  void run(const Stream& stream, MatrixView<const T> x, MatrixView<const T> centers,
           MatrixView<T> products) const override {
    plan_.run(stream, T{-2}, x, centers, T{0}, products);
  }
  std::string explain() const override { return plan_.explain(); }

 private:
  GemmPlan<T> plan_;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> make_lanky_product(const Stream& stream, std::int64_t n, std::int64_t d,
                                               std::int64_t k) {
  return std::make_unique<LankyProduct<T>>(stream, n, d, k);
}

template std::unique_ptr<Product<float>> make_lanky_product(const Stream&, std::int64_t,
                                                            std::int64_t, std::int64_t);
template std::unique_ptr<Product<double>> make_lanky_product(const Stream&, std::int64_t,
                                                             std::int64_t, std::int64_t);

}  // namespace lanky::examples
