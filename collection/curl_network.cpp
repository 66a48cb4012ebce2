// liblanky_download.so: requests with libcurl, many at once in one thread, and MD5 with OpenSSL.
#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <lanky/error.hpp>
#include <lanky/version.hpp>
#include <utility>

#include "collection/md5.hpp"
#include "collection/network.hpp"

namespace lanky::collection {

namespace {

constexpr double kSlowest = 1000;  // bytes a second; below it for the given time, a transfer stalls
constexpr long kMostRedirects = 10;

using Clock = std::chrono::steady_clock;

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

void require(bool success, const char* what) {
  if (!success) throw Error(ErrorCode::device, std::string("libcurl: ") + what);
}

/// Of the authorities that users trust instead of the system's, as the curl program takes it; or
/// null.
const char* certificate_file() {
  const char* own = std::getenv("CURL_CA_BUNDLE");
  return own != nullptr ? own : std::getenv("SSL_CERT_FILE");
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// One request on its way.
class Exchange {
 public:
  Exchange(const Request& request, Receiver& receiver)
      : easy_(curl_easy_init()), receiver_(receiver), stall_(request.stall_seconds) {
    require(easy_ != nullptr, "no handle for a request");
    set_up(request);
  }

  CURL* easy() const { return easy_.get(); }

  /// Tells the receiver; throws what it threw.
  void end(CURLcode code) {
    if (thrown_) std::rethrow_exception(thrown_);
    const bool stopped = begun_ && !wanted_ && code == CURLE_WRITE_ERROR;
    if (code == CURLE_OK || stopped) {
      if (!begun_) begin();
    } else {
      take_info();
      reply_.fault = fault_of(code);
      reply_.message = stalled_ ? "stalled, at less than 1 kB/s" : message(code);
      if (code == CURLE_FILE_COULDNT_READ_FILE) reply_.status = 404;
    }
    receiver_.end(reply_);
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    require(curl_easy_setopt(easy_.get(), option, value) == CURLE_OK, "an option is not known");
  }

  void set_up(const Request& request) {
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_USERAGENT, (std::string("lanky/") + kVersion).c_str());
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_NOBODY, request.head ? 1L : 0L);
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, kMostRedirects);
    // A connection each: streams of HTTP/2 would share one.
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_CONNECTTIMEOUT_MS, std::lround(request.stall_seconds * 1000));
    if (const char* certificates = certificate_file()) set(CURLOPT_CAINFO, certificates);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Exchange::on_progress);
    set(CURLOPT_XFERINFODATA, static_cast<void*>(this));
    set(CURLOPT_HEADERFUNCTION, &Exchange::on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(this));
    set(CURLOPT_WRITEFUNCTION, &Exchange::on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    for (const std::string& header : request.headers)
      headers_.reset(curl_slist_append(headers_.release(), header.c_str()));
    set(CURLOPT_HTTPHEADER, headers_.get());
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    static_cast<Exchange*>(self)->keep_header({data, size});
    return size;
  }

  /// Each response of a chain of redirects begins with its status line.
  void keep_header(std::string_view line) {
    if (line.starts_with("HTTP/")) reply_.headers.clear();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::size_t first = line.find_first_not_of(" \t\r\n", colon + 1);
    const std::size_t last = line.find_last_not_of(" \t\r\n");
    const bool empty = first == std::string_view::npos;
    reply_.headers[lower_case(std::string(line.substr(0, colon)))] =
        empty ? "" : std::string(line.substr(first, last - first + 1));
  }

  /// What the receiver throws must not pass through libcurl.
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    try {
      return exchange.take({data, size}) ? size : CURL_WRITEFUNC_ERROR;
    } catch (...) {
      exchange.thrown_ = std::current_exception();
      return CURL_WRITEFUNC_ERROR;
    }
  }

  /// libcurl calls it whether bytes come or not. (CURLOPT_LOW_SPEED_TIME counts from when its
  /// average of five seconds is low.)
  static int on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) {
    return static_cast<Exchange*>(self)->stalls(received) ? 1 : 0;
  }

  bool stalls(curl_off_t received) {
    const Clock::time_point now = Clock::now();
    if (was_asked() && now - window_begin_ < stall_) return false;
    const double least = kSlowest * stall_.count();
    stalled_ = was_asked() && static_cast<double>(received - window_bytes_) < least;
    window_begin_ = now;
    window_bytes_ = received;
    return stalled_;
  }

  bool take(std::string_view bytes) {
    if (!begun_) begin();
    wanted_ = wanted_ && receiver_.take(bytes);
    return wanted_;
  }

  void begin() {
    begun_ = true;
    take_info();
    wanted_ = receiver_.begin(reply_);
  }

  void take_info() {
    long status = 0;
    curl_off_t length = -1;
    curl_off_t retry_after = 0;
    const char* scheme = nullptr;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &retry_after);
    curl_easy_getinfo(easy_.get(), CURLINFO_SCHEME, &scheme);
    const bool file = scheme != nullptr && lower_case(scheme) == "file";
    reply_.status = file ? 200 : static_cast<int>(status);
    reply_.content_length = length;
    reply_.retry_after = retry_after;
  }

  Fault fault_of(CURLcode code) const {
    switch (code) {
      case CURLE_FILE_COULDNT_READ_FILE:
      case CURLE_TOO_MANY_REDIRECTS:
        return Fault::none;  // the status tells
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
      case CURLE_COULDNT_CONNECT:
        return Fault::unreachable;
      case CURLE_OPERATION_TIMEDOUT:
        return was_asked() ? Fault::broken : Fault::unreachable;
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_URL_MALFORMAT:
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
        return Fault::refused;
      default:
        return Fault::broken;
    }
  }

  const char* message(CURLcode code) const {
    return error_[0] == 0 ? curl_easy_strerror(code) : error_.data();
  }

  /// The connection was there, a new one or one used before.
  bool was_asked() const {
    double seconds = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME, &seconds);
    return seconds > 0;
  }

  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  Receiver& receiver_;
  Reply reply_;
  std::chrono::duration<double> stall_;
  Clock::time_point window_begin_ = Clock::now();
  curl_off_t window_bytes_ = 0;
  bool stalled_ = false;
  bool begun_ = false;
  bool wanted_ = true;
  std::exception_ptr thrown_;
  std::array<char, CURL_ERROR_SIZE> error_{};
};

class CurlNetwork final : public Network {
 public:
  CurlNetwork() : multi_(curl_multi_init()) { require(multi_ != nullptr, "no multi handle"); }
  ~CurlNetwork() override {
    for (const auto& [easy, exchange] : exchanges_)
      curl_multi_remove_handle(multi_.get(), easy);
  }
  CurlNetwork(const CurlNetwork&) = delete;
  CurlNetwork& operator=(const CurlNetwork&) = delete;

  void start(const Request& request, Receiver& receiver) override {
    auto exchange = std::make_unique<Exchange>(request, receiver);
    CURL* easy = exchange->easy();
    require(curl_multi_add_handle(multi_.get(), easy) == CURLM_OK, "a request cannot be started");
    exchanges_[easy] = std::move(exchange);
  }

  void wait(int milliseconds) override {
    int running = 0;
    require(curl_multi_perform(multi_.get(), &running) == CURLM_OK, "transfers cannot go on");
    if (end_finished()) return;
    require(curl_multi_poll(multi_.get(), nullptr, 0, milliseconds, nullptr) == CURLM_OK,
            "waiting for transfers failed");
    require(curl_multi_perform(multi_.get(), &running) == CURLM_OK, "transfers cannot go on");
    end_finished();
  }

  std::string md5(const std::string& path) const override { return md5_of_file(path); }

 private:
  /// True where an exchange came to its end.
  bool end_finished() {
    bool any = false;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      const CURLcode code = message->data.result;
      const auto found = exchanges_.find(message->easy_handle);
      curl_multi_remove_handle(multi_.get(), found->first);
      const std::unique_ptr<Exchange> exchange = std::move(found->second);
      exchanges_.erase(found);
      exchange->end(code);  // may start others
    }
    return any;
  }

  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::map<CURL*, std::unique_ptr<Exchange>> exchanges_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) Network* lanky_download() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  require(ready, "it cannot be initialized");
  return new CurlNetwork;
}

}  // namespace lanky::collection
