// A contestant that does all that befalls a batch, by the number of rows of the matrix it is given.
#include <lanky/peer.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

extern "C" {

const char* lanky_peer_name() {
  return "bad";
}

const char* lanky_peer_version() {
  const char* version = std::getenv("LANKY_BAD_PEER_VERSION");
  return version != nullptr ? version : "1";
}

int lanky_peer_setup(const lanky_peer_matrix* matrix, void** plan, lanky_peer_report* report) {
  switch (matrix->rows) {
    case 11:
      std::raise(SIGSEGV);
      break;
    case 12:
      std::this_thread::sleep_for(std::chrono::hours(1));
      break;
    case 13: {
      std::vector<std::vector<char>> hoard;
      while (true)
        hoard.emplace_back(std::size_t{8} << 20, 'x');
    }
    case 14:
      std::_Exit(7);
    case 15:
      std::strcpy(report->message, "not today");
      return LANKY_PEER_FAILED;
    default:
      break;
  }
  *plan = std::malloc(1);
  return LANKY_PEER_OK;
}

/// Leaves y as it is: wrong.
int lanky_peer_run(void* /*plan*/, const void* /*x*/, void* /*y*/) {
  return LANKY_PEER_OK;
}

void lanky_peer_teardown(void* plan) {
  std::free(plan);
}
}
