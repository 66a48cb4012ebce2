// What must hold for any bytes that stand in a matrix file: an Error, or a sound matrix that comes
// back the same from the binary cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanky::fuzz {

/// Reads these bytes as a file, its last byte choosing element type and options. Throws
/// std::logic_error where what comes out is unsound; an Error of the reader is as good as a matrix.
void check_input(std::span<const std::uint8_t> bytes);

/// A cache file whose checksums are made right, so that what stands behind them is tested too.
void check_forged_cache(std::span<const std::uint8_t> bytes);

}  // namespace lanky::fuzz
