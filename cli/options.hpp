// What the command line asks for.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <limits>
#include <string>
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/cases/grid.hpp"
#include "bench/cases/spmv_case.hpp"
#include "bench/cases/spmv_set.hpp"

namespace lanky::cli {

/// Options that every measuring command takes.
struct RunOptions {
  std::string device;  // "" for the best
  std::vector<std::string> dtypes = {"f64"};
  std::vector<std::string> paths_of_rows = {"auto"};  // lanky's kernels: auto, mma, cuda
  std::vector<std::string> columns = {"1"};           // of X; 1: a vector
  std::vector<std::string> layouts = {"row", "col"};  // of X and Y where there are several
  bool tuned = false;                                 // a plan with SparseOptions::tune beside them
  bool sddmm = false;  // X Y^T at the entries of matrices, not their products with X
  bool no_vendor = false;
  bool quick = false;
  bool explain = false;
  std::vector<std::string> peers{};  // shared libraries of further contestants (lanky/peer.h)
  std::string json;
  bool resume = false;            // leave out what the JSON lines hold already
  bool retry = false;             // but for what failed
  double seconds = 0;             // begin no product after so many; 0: no limit
  double timeout = 900;           // seconds that a matrix, or a dense product, may take
  std::int64_t memory_bytes = 0;  // that a worker may have; 0: nine tenths of the machine's
  std::string tuning;     // measure every way to compute dense products, and keep the fastest here
  double least_gain = 0;  // of choices that are kept: the time of a plan's own over theirs
  int candidates = std::numeric_limits<int>::max();  // of lanky's own that tune measures
  std::vector<std::string> argv;
};

/// The work of one command.
struct Work {
  std::vector<std::string> files;       // matrices, or folders of them
  std::string where;                    // a filter of the SuiteSparse index; "" for none
  std::string cache;                    // folder of what was fetched; "" for the usual one
  std::vector<std::string> generators;  // specifications for io::generate
  bench::SpmvSetChoice set;             // of generated matrices; none where its name is ""
  bench::GridChoice grid;               // of dense products; none where its name is ""
  std::vector<bench::GemmCase> products;
  bool single = false;  // one thing was asked for: what is wrong with it is the program's exit code

  bool any() const {
    return !(files.empty() && where.empty() && generators.empty() && set.set.empty() &&
             grid.grid.empty() && products.empty());
  }
};

/// Multiplies and measures one matrix or product (or tunes many) in this process; returns an
/// ExitCode.
int run_work(const RunOptions& options, const Work& work);

/// Measures many, each matrix in a worker process of its own, so that nothing that befalls one of
/// them befalls the others. The worker is this program with the same arguments and --worker.
int run_batch(const RunOptions& options, const Work& work);

}  // namespace lanky::cli
