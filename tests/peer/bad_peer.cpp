// A contestant that does all that befalls a batch, by the number of rows of the matrix it is given.
#include <lanky/peer.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "deeds.hpp"

namespace {

/// "" where the rows ask for nothing.
std::string deed_of(std::int64_t rows) {
  switch (rows) {
    case 11:
      return "segv";
    case 12:
      return "hang";
    case 13:
      return "hoard";
    case 14:
      return "exit7";
    case 17:
      return "garbage";
    case 18:
      return "list";
    case 19:
      return "flood";
    case 20:
      return "child";  // which keeps the pipe open
    case 21:
      return "flooding-child";
    case 22:
      return "forge";
    case 23:
      return "close";
    case 24:
      return "stop";
    default:
      return "";
  }
}

}  // namespace

extern "C" {

const char* lanky_peer_name() {
  return "bad";
}

const char* lanky_peer_version() {
  const char* version = std::getenv("LANKY_BAD_PEER_VERSION");
  return version != nullptr ? version : "1";
}

int lanky_peer_setup(const lanky_peer_matrix* matrix, void** plan, lanky_peer_report* report) {
  lanky::testing::do_deed(deed_of(matrix->rows));
  if (matrix->rows == 15) {
    std::strcpy(report->message, "not today");
    return LANKY_PEER_FAILED;
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
