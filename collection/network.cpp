#include <chrono>
#include <lanky/error.hpp>
#include <mutex>
#include <thread>

#include "collection/network.hpp"
#include "core/module_path.hpp"
#include "core/shared_library.hpp"

namespace lanky::collection {

namespace {

std::unique_ptr<Network> open_module() {
  static const SharedLibrary module({module_path("liblanky_download.so")});
  auto* create = module.function<Network*()>("lanky_download");
  if (create == nullptr)
    throw Error(ErrorCode::unsupported,
                "downloads need libcurl 4 and OpenSSL 3: " + module.failure() +
                    "; install Debian's libcurl4 and libssl3 (to build lanky with them: "
                    "libcurl4-openssl-dev and libssl-dev)");
  return std::unique_ptr<Network>(create());
}

class DeferredNetwork final : public Network {
 public:
  void start(const Request& request, Receiver& receiver) override {
    opened().start(request, receiver);
  }
  void wait(int milliseconds) override {
    if (is_open()) return opened().wait(milliseconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  std::string md5(const std::string& path) const override { return opened().md5(path); }

 private:
  bool is_open() const {
    const std::lock_guard lock(opening_);
    return network_ != nullptr;
  }

  /// From any thread.
  Network& opened() const {
    const std::lock_guard lock(opening_);
    if (network_ == nullptr) network_ = open_module();
    return *network_;
  }

  mutable std::mutex opening_;
  mutable std::unique_ptr<Network> network_;
};

}  // namespace

std::unique_ptr<Network> make_network() {
  return std::make_unique<DeferredNetwork>();
}

}  // namespace lanky::collection
