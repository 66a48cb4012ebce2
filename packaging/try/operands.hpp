// Operands that examples of the documentation take for granted: packaging/try_release.py puts this
// before each of them, and defines MATRIX, the file that the example names, to which they fit.
#include <cstdint>
#include <cstdio>
#include <lanky/lanky.hpp>
#include <vector>

struct Operands {
  lanky::Stream on{lanky::Device::best()};
  lanky::CsrMatrix<double> matrix = lanky::io::read_csr<double>(MATRIX);
  lanky::CsrView<double> A = matrix.view();
  lanky::Buffer<double> x{on, A.cols}, y{on, A.rows};
  lanky::Matrix<double> X{on, A.cols, 4}, Y{on, A.rows, 4};
  lanky::Matrix<float> Q{on, 10'000'000, 16}, G{on, 16, 16};
  std::vector<double> new_values = std::vector<double>(static_cast<std::size_t>(A.nnz), 1.0);
};
