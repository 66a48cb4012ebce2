#define LANKY_ISA avx2
#define Eigen EigenOfAvx2
#include "solvers/dense_kernels_eigen.hpp"
