#include "bench/rivals/peer.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <lanky/error.hpp>
#include <type_traits>

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
  teardown_ = function<decltype(lanky_peer_teardown)>(path, "lanky_peer_teardown");
  name_ = function<decltype(lanky_peer_name)>(path, "lanky_peer_name")();
  version_ = function<decltype(lanky_peer_version)>(path, "lanky_peer_version")();
  if (name_.empty() || name_ == "lanky")
    throw Error(ErrorCode::io, path + ": its name is \"" + name_ + "\"; give it one of its own");
}

Contestant Peer::contest(const Stream& stream, const lanky_peer_matrix& matrix, const void* x,
                         void* y) const {
  return make_contestant(name_, version_, stream, [&](Contestant& contestant) {
    void* plan = nullptr;
    lanky_peer_report report{};
    const int status = setup_(&matrix, &plan, &report);
    report.message[sizeof report.message - 1] = 0;
    check(status, name_, "lanky_peer_setup", report.message);
    const std::shared_ptr<void> owned(plan, teardown_);
    contestant.plan_bytes = report.plan_bytes;
    contestant.run = [this, owned, x, y](const Stream&, int /*slot*/) {
      check(run_(owned.get(), x, y), name_, "lanky_peer_run", "");
    };
  });
}

}  // namespace lanky::bench
