// random_cases: draws products at random, judges each against a compensated reference and compares
// the bits of products that are repeated in other ways. docs/measuring.md tells how it is run.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "random/cases.hpp"
#include "random/ieee.hpp"
#include "random/report.hpp"

namespace lanky::random_cases {

namespace {

constexpr const char* kUsage =
    "random_cases --device cpu|cuda:0 --kind sparse|dense|ieee [options]\n"
    "  --cases N      so many products, rounded up to 8, which is what a plan serves\n"
    "  --seconds S    products for so long, if --cases are not done before\n"
    "  --seed N       of all cases (1); case K follows from it and K alone\n"
    "  --threads T    threads of the host, each with streams of its own (1)\n"
    "  --case K       that case alone, after those that its plan served before it\n"
    "  --json FILE    append the counts, a line for each check and type\n"
    "  --table FILE   of ieee: the table as Markdown; - is standard output\n"
    "  --check FILE   of ieee: such a file, of which nothing may differ\n"
    "  --apart        each operand in memory of its own, for compute-sanitizer; slower\n"
    "  --tamper WHAT  make results wrong: bound, bit or padding; each must be noticed\n"
    "  --self-check   all three\n"
    "The status is 0 where every product was right (every wrong one noticed).\n";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::unique_ptr<PlanCases> draw_plan(Worker& worker, std::int64_t plan) {
  return worker.options.kind == "dense" ? draw_dense(worker, plan) : draw_sparse(worker, plan);
}

/// The plan's cases up to `last`; an exception is a failure of the case at work.
void run_plan(Worker& worker, std::int64_t plan, std::int64_t last) {
  worker.number = plan * kCasesOfPlan;
  worker.subject = "making the plan";
  worker.since = now();
  worker.at_work = worker.number;
  try {
    const std::unique_ptr<PlanCases> cases = draw_plan(worker, plan);
    for (; worker.number <= last; ++worker.number) {
      worker.tampered_here = worker.noticed_here = false;
      worker.since = now();
      worker.at_work = worker.number;
      cases->run(worker.number);
      if (!worker.tampered_here) continue;
      ++worker.common.tampered;
      if (worker.noticed_here) ++worker.common.noticed;
      if (!worker.noticed_here)
        std::printf("NOT NOTICED in case %" PRId64 ": %s\n", worker.number, worker.subject.c_str());
    }
  } catch (const Error& error) {
    worker.count("calls", std::string(to_string(error.code())), "calls", error.what());
    if (error.code() == ErrorCode::device) worker.common.over = true;  // later ones tell no more
  } catch (const std::exception& error) {
    worker.count("calls", "exception", "calls", error.what());
  }
  worker.at_work = -1;
}

void work(Worker& worker, double end) {
  const Options& options = worker.options;
  const std::int64_t plans = (options.cases + kCasesOfPlan - 1) / kCasesOfPlan;
  omp_set_num_threads(1);
  while (!worker.common.over && now() < end) {
    const std::int64_t plan = worker.common.next_plan++;
    if (options.cases > 0 && plan >= plans) return;
    run_plan(worker, plan, (plan + 1) * kCasesOfPlan - 1);
  }
}

/// Tells how far the threads are, and ends the program where one hangs.
void watch(const Common& common, const std::vector<std::unique_ptr<Worker>>& workers,
           const std::atomic<int>& at_work, double begin) {
  constexpr double kHangs = 120;
  double told = begin;
  while (at_work > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double time = now();
    for (const auto& worker : workers) {
      const std::int64_t number = worker->at_work;
      if (number < 0 || time - worker->since < kHangs) continue;
      std::printf("FAILED case %" PRId64 ": at work for %.0f s\n", number, time - worker->since);
      std::fflush(stdout);
      std::_Exit(3);
    }
    if (time - told < 30) continue;
    told = time;
    std::printf("%.0f s: %" PRId64 " cases\n", time - begin,
                static_cast<std::int64_t>(common.next_plan) * kCasesOfPlan);
    std::fflush(stdout);
  }
}

/// The number of failures.
std::int64_t run(const Options& options) {
  Common common{.options = options};
  const double begin = now();
  std::vector<std::unique_ptr<Worker>> workers;
  for (int t = 0; t < options.threads; ++t)
    workers.push_back(std::make_unique<Worker>(common));
  if (options.only) {
    const std::int64_t plan = *options.only / kCasesOfPlan;
    run_plan(*workers.front(), plan, *options.only);
  } else {
    const double end = options.seconds > 0 ? begin + options.seconds : begin + 1e9;
    std::atomic<int> at_work = options.threads;
    std::vector<std::thread> threads;
    for (const auto& worker : workers) {
      threads.emplace_back([&, own = worker.get()] {
        work(*own, end);
        --at_work;
      });
    }
    watch(common, workers, at_work, begin);
    for (std::thread& thread : threads)
      thread.join();
  }
  Tally tally;
  for (const auto& worker : workers) {
    for (const auto& [name, count] : worker->tally)
      tally[name].add(count);
  }
  if (options.tampering != Tampering::none) {
    const std::int64_t missed = common.tampered - common.noticed;
    std::printf("%" PRId64 " results were made wrong, %" PRId64 " of them noticed\n",
                common.tampered.load(), common.noticed.load());
    return missed + (common.tampered == 0 ? 1 : 0);
  }
  return tell(tally, options, now() - begin);
}

struct Parsed {
  Options options;
  bool self_check = false;
};

Parsed parse(int argc, char** argv) {
  Parsed parsed;
  Options& options = parsed.options;
  const auto usage = [](const std::string& fault) {
    std::fprintf(stderr, "random_cases: %s\n%s", fault.c_str(), kUsage);
    std::exit(2);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      std::printf("%s", kUsage);
      std::exit(0);
    }
    if (name == "--self-check") {
      parsed.self_check = true;
      continue;
    }
    if (name == "--apart") {
      options.apart = true;
      continue;
    }
    if (++i == argc) usage(concat(name, " needs a value"));
    const std::string value = argv[i];
    const auto number = [&] {
      char* end = nullptr;
      const double read = std::strtod(value.c_str(), &end);
      if (value.empty() || *end != '\0' || read < 0)
        usage(concat(name, " ", value, " is no number"));
      return read;
    };
    if (name == "--device")
      options.device = Device::parse(value);
    else if (name == "--kind")
      options.kind = value;
    else if (name == "--cases")
      options.cases = static_cast<std::int64_t>(number());
    else if (name == "--seconds")
      options.seconds = number();
    else if (name == "--seed")
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--threads")
      options.threads = static_cast<int>(number());
    else if (name == "--case")
      options.only = static_cast<std::int64_t>(number());
    else if (name == "--json")
      options.json = value;
    else if (name == "--table")
      options.table = value;
    else if (name == "--check")
      options.check = value;
    else if (name == "--tamper" && value == "bound")
      options.tampering = Tampering::bound;
    else if (name == "--tamper" && value == "bit")
      options.tampering = Tampering::bit;
    else if (name == "--tamper" && value == "padding")
      options.tampering = Tampering::padding;
    else
      usage(concat("unknown option ", name, " ", value));
  }
  if (options.kind != "sparse" && options.kind != "dense" && options.kind != "ieee")
    usage("--kind is sparse, dense or ieee");
  if (options.threads < 1) usage("--threads is 1 or more");
  if (options.cases == 0 && options.seconds == 0) options.cases = 1000;
  return parsed;
}

}  // namespace

int main(int argc, char** argv) {
  auto [options, self_check] = parse(argc, argv);
  if (options.kind == "ieee") return run_ieee(options) == 0 ? 0 : 1;
  if (!self_check) return run(options) == 0 ? 0 : 1;
  std::int64_t missed = 0;
  for (const Tampering tampering : {Tampering::bound, Tampering::bit, Tampering::padding}) {
    options.tampering = tampering;
    missed += run(options);
  }
  return missed == 0 ? 0 : 1;
}

}  // namespace lanky::random_cases

int main(int argc, char** argv) {
  try {
    return lanky::random_cases::main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "random_cases: %s\n", error.what());
    return 2;
  }
}
