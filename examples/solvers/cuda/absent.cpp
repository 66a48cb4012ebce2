// Stands in for the GPU's side in a build without CUDA, which finds no CUDA device.
#include <lanky/error.hpp>

#include "examples/solvers/product.hpp"
#include "examples/solvers/replay.hpp"
#include "examples/solvers/vector_steps.hpp"

namespace lanky::examples::solvers {

namespace {
[[noreturn]] void absent() {
  throw Error(ErrorCode::unsupported, "solvers on a GPU: this program was built without CUDA");
}
}  // namespace

std::unique_ptr<Replay> cuda_capture(const Stream& /*stream*/,
                                     const std::function<void()>& /*work*/) {
  absent();
}

template <class T>
std::unique_ptr<VectorSteps<T>> cuda_vector_steps(const Stream& /*stream*/) {
  absent();
}
template std::unique_ptr<VectorSteps<double>> cuda_vector_steps(const Stream&);
template std::unique_ptr<VectorSteps<float>> cuda_vector_steps(const Stream&);

template <class T>
Prepared<T> cusparse_product(const Stream& /*stream*/, const CsrView<T>& /*a*/) {
  absent();
}
template Prepared<double> cusparse_product(const Stream&, const CsrView<double>&);
template Prepared<float> cusparse_product(const Stream&, const CsrView<float>&);

}  // namespace lanky::examples::solvers
