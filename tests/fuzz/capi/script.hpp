// Bytes as the decisions of a C caller: which call comes next, with which arguments. A byte of 0
// always means the ordinary thing, so that short inputs make sense.
#pragma once

#include <lanky/lanky.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/target.hpp"

namespace lanky::fuzz::capi {

/// Memory of exactly so many bytes, so that AddressSanitizer sees every step beyond it.
class Memory {
 public:
  explicit Memory(std::size_t bytes = 0) : data_(bytes == 0 ? nullptr : std::malloc(bytes)) {}
  void* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* data) const noexcept { std::free(data); }
  };
  std::unique_ptr<void, Free> data_;
};

class Script {
 public:
  explicit Script(Bytes bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  /// One time in `of`, at most; never where the script has ended.
  bool rarely(int of = 8) { return byte() % of == of - 1; }
  int below(int count) { return byte() % count; }

  /// A constant of 0 to count - 1, rarely one that there is not.
  std::int32_t constant(int count) {
    const std::uint8_t choice = byte();
    if (choice < 240) return choice % count;
    static constexpr std::array kWild = {-1, 100, 1 << 30,
                                         std::numeric_limits<std::int32_t>::min()};
    return kWild[choice % kWild.size()];
  }
  /// An extent: small, rarely absurd.
  std::int64_t extent(int most = 40) {
    const std::uint8_t choice = byte();
    if (choice < 232) return choice % (most + 1);
    static constexpr std::array kWild = {std::int64_t{-1},
                                         std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::max(),
                                         std::int64_t{1} << 31,
                                         (std::int64_t{1} << 31) - 1,
                                         std::int64_t{1} << 32,
                                         std::int64_t{1} << 62,
                                         std::int64_t{70000}};
    return kWild[choice % kWild.size()];
  }
  double number() {
    static constexpr std::array kNumbers = {
        1.0,   0.0,  -1.0,   0.5,    1e-8,
        1e300, -0.0, 1e-320, 2.0,    std::numeric_limits<double>::infinity(),
        -1e18, 3e38, 65504., 1e-300, std::numeric_limits<double>::quiet_NaN()};
    return kNumbers[byte() % kNumbers.size()];
  }
  /// A text without zeros, of the script's next bytes.
  std::string text(int most = 24) {
    std::string text;
    for (int left = below(most + 1); left > 0; --left) {
      const char c = static_cast<char>(byte());
      text += c == '\0' ? 'x' : c;
    }
    return text;
  }
  /// Null, rarely.
  template <class T>
  T* maybe(T* pointer) {
    return rarely(16) ? nullptr : pointer;
  }
  /// So many bytes, kept to the end of the script: null for none or for too many to exist. Filled
  /// with small numbers of the type, or with bytes of the script.
  void* memory(std::int64_t bytes, lanky_dtype type = LANKY_DTYPE_F64) {
    constexpr std::int64_t kMost = 1 << 20;
    if (bytes <= 0 || bytes > kMost) return nullptr;
    memories_.emplace_back(static_cast<std::size_t>(bytes));
    void* data = memories_.back().data();
    fill(data, static_cast<std::size_t>(bytes), type);
    return data;
  }

 private:
  void fill(void* data, std::size_t bytes, lanky_dtype type);

  Bytes rest_;
  std::vector<Memory> memories_;
};

/// A struct in memory of its own size, which may be told as another one. `init` sets defaults.
template <class S>
class Struct {
 public:
  Struct(Script& script, lanky_status (*init)(S*, std::size_t)) {
    require(init(&value, sizeof(S)) == LANKY_SUCCESS, "a struct has no defaults");
    told_ = sizeof(S);
    if (script.rarely(32)) told_ = static_cast<std::size_t>(script.byte());
    if (script.rarely(64)) told_ = std::numeric_limits<std::size_t>::max();
  }

  /// What the caller hands over: bytes behind the members are zeros, or rarely not.
  S* pointer(Script& script) {
    constexpr std::size_t kMost = 4096;  // more is no size
    value.size = told_;
    memory_ = Memory(told_ > kMost ? sizeof(S) : std::max(told_, sizeof value.size));
    auto* bytes = static_cast<unsigned char*>(memory_.data());
    const std::size_t all = told_ > kMost ? sizeof(S) : std::max(told_, sizeof value.size);
    std::memset(bytes, script.rarely(32) ? 1 : 0, all);
    std::memcpy(bytes, &value, std::min(all, sizeof(S)));
    return reinterpret_cast<S*>(bytes);
  }

  S value;

 private:
  std::size_t told_;
  Memory memory_;
};

/// Bytes of an element; 8 for types that there are not.
inline std::int64_t element_bytes(lanky_dtype type) {
  const std::size_t bytes = lanky_dtype_size_of(type);
  return bytes == 0 ? 8 : static_cast<std::int64_t>(bytes);
}

/// Calls a function that fills a caller's text, with room for any number of bytes.
template <class Call>
void call_for_text(Script& script, Call&& call) {
  std::size_t length = 0;
  const std::size_t size = script.rarely(4) ? script.byte() : 4096;
  const Memory text(size);
  const lanky_status status =
      call(static_cast<char*>(text.data()), size, script.rarely(8) ? nullptr : &length);
  if (status == LANKY_SUCCESS && size > 0)
    require(std::memchr(text.data(), 0, size) != nullptr, "a text without its end");
}

/// Calls a function that fills a caller's struct, of any told size.
template <class S, class Call>
void call_for_struct(Script& script, Call&& call) {
  constexpr std::size_t kMost = 4096;
  std::size_t size = sizeof(S);
  if (script.rarely(16)) size = script.byte();
  if (script.rarely(32)) size = std::numeric_limits<std::size_t>::max();
  const Memory memory(size > kMost ? sizeof(S) : size);
  call(static_cast<S*>(memory.data()), size);
}

/// Every status is one that the header names, and every failure has a reason.
inline lanky_status checked(lanky_status status) {
  require(status >= LANKY_SUCCESS && status < LANKY_INTERNAL_ERROR, "an internal error");
  require(status == LANKY_SUCCESS || lanky_last_error()[0] != '\0', "a failure without a reason");
  return status;
}

/// What calls before this one have made. Handles live to the end of the script, streams less long.
struct Handles {
  struct Plan {
    void* handle;
    lanky_dtype type, out;
  };

  ~Handles();
  lanky_stream* stream(Script& script);

  std::vector<lanky_stream*> streams;
  std::vector<lanky_event*> events;
  std::vector<lanky_buffer*> buffers;
  std::vector<std::pair<lanky_csr_matrix*, lanky_dtype>> matrices;
  std::vector<Plan> sparse_plans, sddmm_plans, gemm_plans;
  std::vector<lanky_gemm_tuning*> tunings;
  std::vector<std::pair<lanky_linear_operator*, lanky_dtype>> operators;
};

/// One of them, or rarely null.
template <class T>
T pick(Script& script, const std::vector<T>& all) {
  if (all.empty() || script.rarely(24)) return T{};
  return all[script.byte() % all.size()];
}

constexpr int kDtypes = LANKY_DTYPE_C128 + 1;
constexpr int kNoGpu = 1000;  // an index

lanky_dtype dtype(Script& script);
/// Results of products of `type`: mostly one that there is.
lanky_dtype result_type(Script& script, lanky_dtype type);
/// A view of memory that is there, of these extents or, rarely, others.
lanky_matrix_view matrix_view(Script& script, std::int64_t rows, std::int64_t cols,
                              lanky_dtype type, lanky_layout layout);
inline lanky_matrix_view matrix_view(Script& script, std::int64_t rows, std::int64_t cols,
                                     lanky_dtype type) {
  const lanky_layout layout = script.constant(2);
  return matrix_view(script, rows, cols, type, layout);
}
/// The same by rows, as solvers take it, rarely by columns.
inline lanky_matrix_view rows_view(Script& script, std::int64_t rows, std::int64_t cols,
                                   lanky_dtype type) {
  const lanky_layout layout = script.rarely(16) ? LANKY_LAYOUT_COL : LANKY_LAYOUT_ROW;
  return matrix_view(script, rows, cols, type, layout);
}
lanky_vector_view vector_view(Script& script, std::int64_t size, lanky_dtype type);
/// A sparse matrix whose arrays have the length that it tells, and hold anything.
lanky_csr_view csr_view(Script& script, lanky_dtype type);
/// A symmetric matrix with a large diagonal, which solvers are made for.
lanky_csr_view definite_view(Script& script, lanky_dtype type);
/// alpha or beta, in host memory.
const void* scalar(Script& script, lanky_dtype type);
/// An allocator whose functions fail at times; null mostly.
const lanky_allocator* allocator(Script& script);

void call_basics(Script& script, Handles& handles);
void call_files(Script& script, Handles& handles);
void call_sparse(Script& script, Handles& handles);
void call_sddmm(Script& script, Handles& handles);
void call_dense(Script& script, Handles& handles);
void call_tuning(Script& script, Handles& handles);
void call_operators(Script& script, Handles& handles);
void call_solvers(Script& script, Handles& handles);

}  // namespace lanky::fuzz::capi
