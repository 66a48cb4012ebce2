// A contestant that does all that befalls a batch, by the number of rows of the matrix it is given.
#include <fcntl.h>
#include <lanky/peer.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Into every descriptor that is open, the standard ones aside.
void write_everywhere(const std::string& text) {
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    const ssize_t ignored = write(descriptor, text.data(), text.size());
    static_cast<void>(ignored);
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
    case 17:
      write_everywhere("garbage\n");
      break;
    case 18:
      write_everywhere("[1,2]\n");
      break;
    case 19:
      while (true)
        write_everywhere(std::string(1 << 16, 'x'));
    case 20:
      if (fork() == 0) pause();  // and keeps the pipe open
      break;
    case 21:
      if (fork() == 0) {
        while (true)
          write_everywhere("x");
      }
      break;
    case 22:
      write_everywhere(R"({"reply":"done","status":0,"reason":"","clock_mhz":0})"
                       "\n");
      break;
    case 23:
      for (int descriptor = 3; descriptor < 64; ++descriptor)
        close(descriptor);
      pause();
      break;
    case 24:
      std::raise(SIGSTOP);
      break;
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
