// What a contestant can do to a batch that it takes part in, by name: a crash, a hang, floods,
// changes of the process. For bad_peer.cpp, which chooses by the rows of the matrix, and
// hostile_peer.cpp, which is told by its environment.
#pragma once

#include <fcntl.h>
#include <fenv.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lanky::testing {

/// Into every descriptor that is open, the standard ones aside. Waits for none that takes no more.
inline void write_everywhere(const std::string& text) {
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) continue;
    const ssize_t ignored = write(descriptor, text.data(), text.size());
    static_cast<void>(ignored);
    fcntl(descriptor, F_SETFL, flags);
  }
}

/// A pipe and an event counter in which nobody reads, as NVIDIA's driver has them in its process.
inline void open_what_drivers_have() {
  int ends[2];
  if (pipe(ends) != 0 || eventfd(0, 0) < 0) std::abort();
}

inline void close_everything(int first) {
  for (int descriptor = first; descriptor < 64; ++descriptor)
    close(descriptor);
}

[[noreturn]] inline void sleep_for_ever() {
  while (true)
    std::this_thread::sleep_for(std::chrono::hours(1));
}

/// Deeper and deeper, until there is no stack.
inline int overflow_the_stack(volatile int* depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  return *depth < 0 ? 0 : overflow_the_stack(depth) + frame[0];
}

inline void limit(__rlimit_resource resource, rlim_t amount) {
  const rlimit both{amount, amount};
  setrlimit(resource, &both);
}

inline void for_each_signal(void (*handler)(int)) {
  for (int number = 1; number < 32; ++number)
    std::signal(number, handler);
}

/// A child process that does this, and ends.
template <class Deed>
void in_a_child(Deed deed) {
  if (fork() != 0) return;
  deed();
  _exit(0);
}

using DeedOfPeer = std::pair<const char*, void (*)()>;

inline constexpr DeedOfPeer kDeeds[] = {
    // Its end.
    {"segv", [] { std::raise(SIGSEGV); }},
    {"abort", [] { std::abort(); }},
    {"illegal", [] { std::raise(SIGILL); }},
    {"kill", [] { std::raise(SIGKILL); }},
    {"exit0", [] { std::exit(0); }},
    {"exit7", [] { std::_Exit(7); }},
    {"throw", [] { throw std::runtime_error("thrown by a peer"); }},
    {"throw-number", [] { throw 7; }},
    {"overflow",
     [] {
       volatile int depth = 0;
       overflow_the_stack(&depth);
     }},
    {"terminate-thread",
     [] { std::thread([] { throw std::runtime_error("thrown by a thread"); }).detach(); }},
    {"become-true", [] { execl("/bin/true", "true", nullptr); }},
    {"become-sleep", [] { execl("/bin/sleep", "sleep", "1000", nullptr); }},
    // It goes on for ever, or takes all there is.
    {"hang", [] { sleep_for_ever(); }},
    {"stop", [] { std::raise(SIGSTOP); }},
    {"spin",
     [] {
       for (std::atomic<int> i = 0;; ++i) {
       }
     }},
    {"hoard",
     [] {
       std::vector<std::vector<char>> all;
       while (true)
         all.emplace_back(std::size_t{8} << 20, 'x');
     }},
    {"leak", [] { static_cast<void>(new std::vector<char>(std::size_t{64} << 20, 'x')); }},
    // Its parent's end.
    {"end-parent", [] { ::kill(getppid(), SIGTERM); }},
    {"interrupt-parent", [] { ::kill(getppid(), SIGINT); }},
    {"kill-parent", [] { ::kill(getppid(), SIGKILL); }},
    // What it writes.
    {"garbage", [] { write_everywhere("garbage\n"); }},
    {"bytes", [] { write_everywhere(std::string("\0\xff\xfe\n\r", 5)); }},
    {"list", [] { write_everywhere("[1,2]\n"); }},
    {"number", [] { write_everywhere("17\n"); }},
    {"no-line", [] { write_everywhere("{\"reply\":"); }},
    {"nested", [] { write_everywhere(std::string(60'000, '[') + "\n"); }},
    {"forge",
     [] {
       write_everywhere(R"({"reply":"done","status":0,"reason":"","clock_mhz":0})"
                        "\n");
     }},
    {"forge-token",
     [] {
       write_everywhere(R"({"reply":"done","status":0,"reason":"","clock_mhz":0,"token":null})"
                        "\n");
     }},
    {"forge-case",
     [] {
       write_everywhere(R"({"reply":"case","result":{},"token":""})"
                        "\n");
     }},
    {"flood",
     [] {
       open_what_drivers_have();
       while (true)
         write_everywhere(std::string(1 << 16, 'x'));
     }},
    {"flood-lines",
     [] {
       while (true)
         write_everywhere("{}\n");
     }},
    {"close",
     [] {
       close_everything(3);
       pause();
     }},
    {"close-and-go-on", [] { close_everything(0); }},
    // Children.
    {"child", [] { in_a_child([] { pause(); }); }},
    {"flooding-child",
     [] {
       in_a_child([] {
         while (true)
           write_everywhere("x");
       });
     }},
    {"session-child",
     [] {
       in_a_child([] {
         setsid();
         pause();
       });
     }},
    {"child-and-hang",
     [] {
       in_a_child([] { pause(); });
       sleep_for_ever();
     }},
    {"many-children",
     [] {
       for (int i = 0; i < 20; ++i)
         in_a_child([] { pause(); });
     }},
    // What it changes about the process.
    {"folder", [] { static_cast<void>(chdir("/") == 0); }},
    {"few-files", [] { limit(RLIMIT_NOFILE, 3); }},
    {"little-memory", [] { limit(RLIMIT_AS, std::size_t{1} << 20); }},
    {"small-files", [] { limit(RLIMIT_FSIZE, 0); }},
    {"little-time", [] { limit(RLIMIT_CPU, 1); }},
    {"ignored-signals", [] { for_each_signal(SIG_IGN); }},
    {"usual-signals", [] { for_each_signal(SIG_DFL); }},
    {"handled-signals", [] { for_each_signal([](int) {}); }},
    {"blocked-signals",
     [] {
       sigset_t all;
       sigfillset(&all);
       sigprocmask(SIG_BLOCK, &all, nullptr);
     }},
    {"alarm",
     [] {
       const itimerval soon{{0, 1000}, {0, 1000}};
       setitimer(ITIMER_REAL, &soon, nullptr);
     }},
    {"umask", [] { umask(0777); }},
    {"group", [] { setpgid(0, getppid()); }},
    {"fp-exceptions", [] { feraiseexcept(FE_ALL_EXCEPT); }},
    {"fp-traps",
     [] {
       feclearexcept(FE_ALL_EXCEPT);
       feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_INEXACT);
     }},
    {"rounding", [] { fesetround(FE_UPWARD); }},
    {"no-subnormals", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }},
    {"locale", [] { std::setlocale(LC_ALL, "de_DE.UTF-8"); }},
    {"no-environment", [] { clearenv(); }},
    {"not-dumpable", [] { prctl(PR_SET_DUMPABLE, 0); }},
    {"name", [] { prctl(PR_SET_NAME, "a) R 1 (b"); }},
};

/// Whether there is such a deed; it is done then.
inline bool do_deed(const std::string& name) {
  for (const auto& [known, deed] : kDeeds) {
    if (name != known) continue;
    deed();
    return true;
  }
  return false;
}

}  // namespace lanky::testing
