#include "bench/rivals/peer.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <type_traits>
#include <utility>

namespace lanky::bench {

namespace {

/// Throws where a function of `peer` did not end well.
void check(int status, const std::string& peer, const char* function, const std::string& message) {
  if (status == LANKY_PEER_OK) return;
  const ErrorCode code = status == LANKY_PEER_UNSUPPORTED     ? ErrorCode::unsupported
                         : status == LANKY_PEER_OUT_OF_MEMORY ? ErrorCode::out_of_memory
                                                              : ErrorCode::device;
  std::string text = peer + ": " + function + " gave status " + std::to_string(status);
  if (!message.empty()) text += ": " + message;
  throw Error(code, text);
}

}  // namespace

template <class Function>
Function* Peer::function(const std::string& path, const char* name) const {
  void* const symbol = dlsym(handle_, name);
  if (symbol == nullptr)
    throw Error(ErrorCode::io, path + ": has no function " + name + " (see lanky/peer.h)");
  return reinterpret_cast<Function*>(symbol);
}

Peer::Peer(const std::string& path) {
  // A name without a slash would be looked for in the system's folders.
  const std::string absolute = std::filesystem::absolute(path).string();
  handle_ = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw Error(ErrorCode::io, std::string("--peer: ") + dlerror());
  setup_ = function<decltype(lanky_peer_setup)>(path, "lanky_peer_setup");
  run_ = function<decltype(lanky_peer_run)>(path, "lanky_peer_run");
  run_columns_ = reinterpret_cast<decltype(run_columns_)>(dlsym(handle_, "lanky_peer_run_columns"));
  teardown_ = function<decltype(lanky_peer_teardown)>(path, "lanky_peer_teardown");
  name_ = function<decltype(lanky_peer_name)>(path, "lanky_peer_name")();
  version_ = function<decltype(lanky_peer_version)>(path, "lanky_peer_version")();
  if (name_.empty() || name_ == "lanky")
    throw Error(ErrorCode::io, path + ": its name is \"" + name_ + "\"; give it one of its own");
}

Product Peer::product(std::shared_ptr<void> plan, const lanky_peer_matrix& matrix,
                      SpmvColumns columns, const void* x, void* y) const {
  if (columns.count == 1) {
    return [this, plan = std::move(plan), x, y](const Stream&, int /*slot*/) {
      check(run_(plan.get(), x, y), name_, "lanky_peer_run", "");
    };
  }
  const bool by_rows = columns.layout == Layout::row;
  if (run_columns_ != nullptr) {
    return
        [this, plan = std::move(plan), count = columns.count, x, y,
         ldx = by_rows ? columns.count : matrix.cols, ldy = by_rows ? columns.count : matrix.rows,
         layout = by_rows ? LANKY_PEER_BY_ROWS : LANKY_PEER_BY_COLUMNS](const Stream&,
                                                                        int /*slot*/) {
          check(run_columns_(plan.get(), count, x, ldx, layout, y, ldy, layout), name_,
                "lanky_peer_run_columns", "");
        };
  }
  if (by_rows) {
    throw Error(ErrorCode::unsupported,
                name_ +
                    " has no lanky_peer_run_columns, and a column of a row-major X is no vector "
                    "that lanky_peer_run takes (see lanky/peer.h)");
  }
  const auto size = static_cast<std::int64_t>(size_of(parse_dtype(matrix.dtype)));
  return [this, plan = std::move(plan), count = columns.count, x = static_cast<const char*>(x),
          y = static_cast<char*>(y), x_bytes = matrix.cols * size,
          y_bytes = matrix.rows * size](const Stream&, int /*slot*/) {
    for (std::int64_t c = 0; c < count; ++c)
      check(run_(plan.get(), x + c * x_bytes, y + c * y_bytes), name_, "lanky_peer_run", "");
  };
}

Contestant Peer::contest(const Stream& stream, const lanky_peer_matrix& matrix, SpmvColumns columns,
                         const void* x, void* y) const {
  const bool one_by_one = columns.count > 1 && run_columns_ == nullptr;
  const std::string variant = one_by_one ? version_ + " mv" : version_;
  return make_contestant(name_, variant, stream, [&](Contestant& contestant) {
    void* plan = nullptr;
    lanky_peer_report report{};
    const int status = setup_(&matrix, &plan, &report);
    report.message[sizeof report.message - 1] = 0;
    check(status, name_, "lanky_peer_setup", report.message);
    contestant.plan_bytes = report.plan_bytes;
    contestant.run = product({plan, teardown_}, matrix, columns, x, y);
  });
}

}  // namespace lanky::bench
