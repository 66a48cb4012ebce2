// The text of SpmvPlan::explain(): what a packed matrix is made of, and which kernels run it.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <lanky/symmetry.hpp>
#include <string>

#include "sparse/packed.hpp"
#include "sparse/policy.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {

struct PlanFacts {
  Device device;
  DType dtype;      // of A and x
  DType out_dtype;  // of y
  Symmetry symmetry;
  std::int64_t given_entries;  // of the caller's CSR
  Op op;
  PathChoice choice;
  std::int64_t workspace_bytes;
  std::int64_t device_bytes;
  const Tuning* tuning = nullptr;  // where the plan was asked for it
};

std::string explain(const PlanFacts& facts, const PackedHeader& header);

}  // namespace lanky::sparse
