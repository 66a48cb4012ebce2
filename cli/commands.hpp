// The commands of the program. Each adds itself to `app`; where it is the one given, `action` is
// set to what it does.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace lanky::cli {

/// Returns an ExitCode; throws Error, whose message the program prints: invalid_argument is wrong
/// usage.
using Action = std::function<int()>;

/// info: devices, versions, libraries, generators.
void add_info(CLI::App& app, Action& action, int argc, char** argv);
/// spmv, spmm, sddmm, gemm, batch, tune: one product or many, verified and timed.
void add_measuring(CLI::App& app, Action& action, int argc, char** argv);
/// eigs: a few eigenpairs at one end of the spectrum.
void add_eigs(CLI::App& app, Action& action, int argc, char** argv);
/// svds: the largest singular triplets.
void add_svds(CLI::App& app, Action& action, int argc, char** argv);
/// solve: A x = b by Krylov methods.
void add_solve(CLI::App& app, Action& action, int argc, char** argv);
/// ladder: each step from the naive product to the fastest.
void add_ladder(CLI::App& app, Action& action, int argc, char** argv);
/// fetch: matrices of the SuiteSparse collection.
void add_fetch(CLI::App& app, Action& action);
/// convert: a matrix file into another format.
void add_convert(CLI::App& app, Action& action);
/// report: results as a page, and as tables.
void add_report(CLI::App& app, Action& action);
/// compare: what got slower between two files of results.
void add_compare(CLI::App& app, Action& action);
/// merge: the results of several runs in one file.
void add_merge(CLI::App& app, Action& action);

}  // namespace lanky::cli
