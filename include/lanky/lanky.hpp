// All of lanky.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/cholesky_qr.hpp>
#include <lanky/csr.hpp>
#include <lanky/dense.hpp>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/eigensolver.hpp>
#include <lanky/error.hpp>
#include <lanky/export.hpp>
#include <lanky/half.hpp>
#include <lanky/io.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/linear_solver.hpp>
#include <lanky/operation.hpp>
#include <lanky/sddmm.hpp>
#include <lanky/solver.hpp>
#include <lanky/sparse.hpp>
#include <lanky/stream.hpp>
#include <lanky/svd.hpp>
#include <lanky/symmetry.hpp>
#include <lanky/tuning.hpp>
#include <lanky/version.hpp>
#include <lanky/view.hpp>
#include <lanky/visit_dtype.hpp>
