// The lanky program: the command line, and the exit codes.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <lanky/error.hpp>
#include <lanky/version.hpp>
#include <new>
#include <string>
#include <vector>

#include "bench/records/environment.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/places.hpp"
#include "cli/signals.hpp"
#include "collection/spelling.hpp"

namespace lanky::cli {

namespace {

constexpr char kAbout[] =
    "lanky multiplies sparse matrices with vectors (SpMV, SpMM), samples dense products at their\n"
    "entries (SDDMM) and multiplies tall, skinny dense matrices (GEMM). It checks every result,\n"
    "and compares its speed with the vendor's library. It computes eigenpairs and singular values\n"
    "of sparse matrices and solves linear systems with them.";

constexpr char kExamples[] =
    "Examples:\n"
    "  lanky info                                    what this machine and this build can do\n"
    "  lanky spmv cant.mtx.gz                        one matrix on the best device\n"
    "  lanky convert cant.mtx.gz cant.lanky          a binary copy, which loads at memory speed\n"
    "  lanky spmv --generate stencil27:64 --dtype f64,f32 --explain\n"
    "  lanky spmm cant.mtx.gz --columns 2,8,32 --layout row,col      several vectors at once\n"
    "  lanky sddmm cant.mtx.gz --columns 8,32,128    X Y^T at the entries of the matrix\n"
    "  lanky gemm --m 16 --n 16 --k 10000000 --op-a t --dtype f32      G = Q^T Q\n"
    "  lanky tune --m 4096 --n 48 --k 4096 --dtype f32   for plans with GemmOptions::tuning\n"
    "  lanky ladder gemm-gpu --plot gemm.svg         from a thread an element to tensor cores\n"
    "Solvers, with the values of the file:\n"
    "  lanky eigs cant.mtx.gz -k 10 --preconditioner jacobi --plot convergence.svg\n"
    "  lanky eigs --generate stencil27:64 --laplacian --json eigs.jsonl --vectors x.npy\n"
    "  lanky svds cant.mtx.gz -k 20 --method randomized\n"
    "  lanky solve cant.mtx.gz --rhs random:8 --method block-cg --preconditioner block-jacobi:8\n"
    "Many of them (batch.md):\n"
    "  lanky fetch --where 'nnz in 1e5..1e8 and kind ~ circuit and square'    of SuiteSparse\n"
    "  lanky batch --where 'kind ~ circuit' --dtype f64,f32,f16,bf16 --resume --json spmv.jsonl\n"
    "  lanky batch folder/ stencil27:200 --gemm small --json results.jsonl\n"
    "  lanky batch --gemm core --family gram --type f32,tf32x3 --json gram.jsonl\n"
    "  lanky report spmv.jsonl gram.jsonl -o report.html\n"
    "  lanky compare before.jsonl after.jsonl        exit code 1 where something got slower\n"
    "\n"
    "Products are of random numbers, also where a file has values: it gives its pattern alone.\n"
    "measuring.md tells what times and JSON lines mean. Such pages stand in share/doc/lanky where\n"
    "lanky is installed (Debian: /usr/share/doc/lanky), and in docs/ of the sources.\n"
    "\n"
    "Exit codes:\n"
    "  0  all right; a batch passes over what is not supported, such as complex matrices, with\n"
    "     a line that says so\n"
    "  1  a result was wrong, a case of a batch failed, or the vendor's library did; a solver did\n"
    "     not converge; a matrix was not fetched; compare found something slower, wrong or gone\n"
    "  2  wrong usage\n"
    "  3  the one matrix, grid, index or file of results asked for cannot be read or is not\n"
    "     supported, or the file for results cannot be written\n"
    "  4  no such device\n"
    "  5  out of memory, or an error of the device or the system\n"
    "  128 + N  ended by signal N";

constexpr char kMore[] = "Examples, exit codes, and where pages of this manual stand: lanky --help";

int complain(const std::string& message, int code) {
  std::fprintf(stderr, "lanky: %s\n", message.c_str());
  return code;
}

/// What is wrong with a command or an option that there is none of; "" for other mistakes.
std::string unknown_word(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  std::vector<std::string> known;
  if (chosen.empty()) {
    if (words.empty() || words.front().starts_with("-")) return "";
    for (const CLI::App* command : app.get_subcommands(nullptr))
      known.push_back(command->get_name());
    return "there is no command \"" + words.front() + "\"" +
           collection::did_you_mean(words.front(), known);
  }
  for (const CLI::Option* option : chosen.front()->get_options()) {
    for (const std::string& name : option->get_lnames())
      known.push_back("--" + name);
  }
  for (const std::string& word : words) {
    if (!word.starts_with("--") || word == "--") continue;
    const std::string name = word.substr(0, word.find('='));  // "--dtype" of "--dtype=f32"
    return chosen.front()->get_name() + " has no option " + name +
           collection::did_you_mean(name, known);
  }
  return "";
}

int complain_of_usage(const CLI::App& app, const CLI::ParseError& error) {
  const bool usage = error.get_exit_code() != 0;  // help is asked for by an exception, too
  const std::string unknown = usage ? unknown_word(app) : "";
  if (unknown.empty()) return app.exit(error) == 0 ? kOk : kUsage;
  return complain(unknown + "\nRun with --help for more information.", kUsage);
}

/// Parses and runs; throws Error and CLI::ParseError.
int run(CLI::App& app, int argc, char** argv) {
  Action action;
  app.require_subcommand(1);
  app.set_version_flag("--version", "lanky " + std::string(build_description()) + ", commit " +
                                        bench::build_commit());
  app.footer(kMore);  // of each command
  add_info(app, action, argc, argv);
  add_measuring(app, action, argc, argv);
  for (const auto add : {add_eigs, add_svds, add_solve, add_ladder})
    add(app, action, argc, argv);
  for (const auto add : {add_fetch, add_convert, add_report, add_compare, add_merge})
    add(app, action);
  app.footer(kExamples);
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return kUsage;
  }
  app.parse(argc, argv);
  return action();
}

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return kUsage;
    case ErrorCode::parse:
    case ErrorCode::io:
    case ErrorCode::unsupported:
      return kInput;
    case ErrorCode::no_device:
      return kNoDevice;
    default:
      return kBroken;
  }
}

/// Idle threads of OpenMP and of OpenBLAS usually spin for milliseconds, on cores that the other's
/// need: each contestant would be timed with the one before in its way. libgomp reads how threads
/// are to wait before main() begins, so the program begins again, unless the user has said how.
void let_idle_threads_sleep(char** argv) {
  constexpr char kPolicy[] = "OMP_WAIT_POLICY";
  setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);  // 2^4 clocks, the shortest; read when it is opened
  if (std::getenv(kPolicy) != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  const std::string program = bench::program_path();
  if (program.empty() || setenv(kPolicy, "passive", 0) != 0) return;
  Places().unbind();
  execv(program.c_str(), argv);  // where that fails, threads spin
}

}  // namespace

int guarded_main(int argc, char** argv) {
  install_signal_messages();
  CLI::App app(kAbout, "lanky");
  try {
    const int code = run(app, argc, argv);
    if (std::ferror(stdout) != 0 || std::fflush(stdout) != 0)
      return complain("standard output cannot be written", kBroken);
    return code;
  } catch (const CLI::ParseError& error) {
    return complain_of_usage(app, error);
  } catch (const Error& error) {
    return complain(error.what(), exit_code_of(error.code()));
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kBroken);
  } catch (const std::exception& error) {
    return complain(error.what(), kBroken);
  }
}

}  // namespace lanky::cli

int main(int argc, char** argv) {
  lanky::cli::let_idle_threads_sleep(argv);
  return lanky::cli::guarded_main(argc, argv);
}
