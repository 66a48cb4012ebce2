// lanky/cuda.hpp: CUDA's element types and streams as they stand in a CUDA program.
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <complex>
#include <lanky/cuda.hpp>
#include <lanky/io.hpp>
#include <lanky/sparse.hpp>
#include <type_traits>
#include <vector>

#include "support/executor.hpp"

namespace lanky {
namespace {

template <class From, class To>
constexpr bool kElementsAre =
    std::is_same_v<decltype(elements(static_cast<From*>(nullptr))), To*>&&
        std::is_same_v<decltype(elements(static_cast<const From*>(nullptr))), const To*> &&
    sizeof(From) == sizeof(To);

static_assert(kElementsAre<__half, half>);
static_assert(kElementsAre<__nv_bfloat16, bfloat16>);
static_assert(kElementsAre<cuComplex, std::complex<float>>);
static_assert(kElementsAre<cuDoubleComplex, std::complex<double>>);

TEST(CudaHeader, BitsOfHalvesAreThoseOfCuda) {
  for (const float value : {0.0F, -1.5F, 65504.0F, 1e-7F, 3.14159F}) {
    const __half theirs = __float2half(value);
    EXPECT_EQ(elements(&theirs)->bits, half(value).bits) << value;
    const __nv_bfloat16 wide = __float2bfloat16(value);
    EXPECT_EQ(elements(&wide)->bits, bfloat16(value).bits) << value;
  }
  const cuComplex number = make_cuComplex(2, -3);
  EXPECT_EQ(*elements(&number), (std::complex<float>{2, -3}));
}

TEST(CudaHeader, ProductsOfCudasOwnArraysOnCudasOwnStream) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  cudaStream_t native = nullptr;
  ASSERT_EQ(cudaStreamCreate(&native), cudaSuccess);
  {
    const Stream stream = wrap(native);
    EXPECT_EQ(stream.device(), device);
    EXPECT_EQ(stream.native(), native);
    const auto a = io::generate<half>("stencil5:10,values=int");
    const SparsePlan<half> plan(stream, a.view());
    const std::vector<__half> ones(100, __float2half(1));
    __half* x = nullptr;
    __half* y = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&x), 200), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&y), 200), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(x, ones.data(), 200, cudaMemcpyHostToDevice), cudaSuccess);
    plan.run(stream, {elements(x), 100}, VectorView<half>(elements(y), 100));
    stream.synchronize();
    std::vector<__half> got(100);
    ASSERT_EQ(cudaMemcpy(got.data(), y, 200, cudaMemcpyDeviceToHost), cudaSuccess);
    for (std::size_t i = 0; i < 100; ++i) {
      float sum = 0;
      for (auto p = a.row_offsets[i]; p < a.row_offsets[i + 1]; ++p)
        sum += static_cast<float>(a.values[static_cast<std::size_t>(p)]);
      EXPECT_EQ(__half2float(got[i]), sum) << i;
    }
    cudaFree(x);
    cudaFree(y);
  }
  cudaStreamDestroy(native);
}

}  // namespace
}  // namespace lanky
