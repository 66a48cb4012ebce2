// What no element type can hold, or no CSR matrix of lanky, is refused before memory is taken.
#pragma once

#include <cstdint>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <limits>
#include <string>

#include "core/text.hpp"
#include "io/element.hpp"
#include "io/memory_limit.hpp"

namespace lanky::inline v1::io {

/// Throws Error(unsupported) for complex entries of a real T and for more columns than 32-bit
/// indices count, Error(out_of_memory) for more rows than memory holds. `name` is the file's.
template <class T>
void check_readable_as(const Header& header, const std::string& name) {
  if (header.field == Field::complex && !kIsComplex<T>) {
    throw Error(ErrorCode::unsupported,
                concat(name, ": has complex entries, which type ", lanky::to_string(kDType<T>),
                       " cannot hold; read it as c64 or c128"));
  }
  constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max();
  if (header.cols > kMostColumns) {
    throw Error(ErrorCode::unsupported,
                concat(name, ": has ", header.cols, " columns, but at most ", kMostColumns,
                       " are supported"));
  }
  MemoryLimit(sizeof(std::int64_t), concat(name, " (", header.rows, " rows)")).check(header.rows);
}

}  // namespace lanky::inline v1::io
