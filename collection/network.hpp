// Requests over a network. What carries them out, with libcurl, is a module of its own,
// liblanky_download.so, opened when first asked for: the lanky program starts without libcurl.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lanky::collection {

struct Request {
  std::string url;
  std::vector<std::string> headers;  // "Range: bytes=100-"
  bool head = false;                 // the header alone
  double stall_seconds = 30;         // without a connection, or under 1000 bytes a second
};

/// Why an exchange did not come to its end.
enum class Fault : std::uint8_t {
  none,
  unreachable,  // no connection
  broken,       // cut off, or stalled
  refused       // before it was asked, for good: an address that is none, a wrong certificate
};

struct Reply {
  Fault fault = Fault::none;
  std::string message;                         // libcurl's, where the transfer failed; else ""
  int status = 0;                              // of HTTP; of a file: 200 or 404
  std::map<std::string, std::string> headers;  // of the last response, names in lower case
  std::int64_t content_length = -1;            // -1 where it is not told
  std::int64_t retry_after = 0;                // seconds that the server asks to wait

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

/// Who gets the reply to a request. What it throws comes out of Network::wait().
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// The header is there. False: the body is not wanted, the exchange ends.
  virtual bool begin(const Reply& reply) = 0;
  /// False: these bytes and all others are not wanted, the exchange ends.
  virtual bool take(std::string_view bytes) = 0;
  /// The exchange is over; begin() may not have been called.
  virtual void end(const Reply& reply) = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  /// `receiver` must live until its end() was called, or the Network is gone.
  virtual void start(const Request& request, Receiver& receiver) = 0;
  /// Moves all exchanges on; returns when something came, or after so many milliseconds.
  virtual void wait(int milliseconds) = 0;
  /// MD5 of a file, in hexadecimal; may be called from any thread. Error(io).
  virtual std::string md5(const std::string& path) const = 0;
};

/// The module's one function; the caller owns the result.
extern "C" lanky::collection::Network* lanky_download();

/// Opens the module when first used. Error(unsupported) then, with the loader's reason and what to
/// install, where it cannot be opened.
std::unique_ptr<Network> make_network();

}  // namespace lanky::collection
