#define LANKY_ISA baseline
#include "solvers/dense_kernels_eigen.hpp"
