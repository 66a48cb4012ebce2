// Handles that several files of the C interface open, and callers' allocators.
#pragma once

#include <lanky/lanky.h>

#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <lanky/tuning.hpp>
#include <memory>

struct lanky_stream {
  lanky::Stream stream;
};

struct lanky_gemm_tuning {
  lanky::GemmTuning tuning;
};

namespace lanky::capi {

/// The caller's functions as an Allocator; null for null. Throws Error(invalid_argument) where one
/// of the functions is missing.
std::unique_ptr<Allocator> to_allocator(const lanky_allocator* allocator);

}  // namespace lanky::capi
