// The command lines of spmv, spmm, sddmm, gemm, batch and tune.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <lanky/error.hpp>
#include <lanky/tuning.hpp>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "bench/cases/grid.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/worker.hpp"
#include "collection/quantity.hpp"

namespace lanky::cli {

namespace {

/// Text of a GemmCase that is still to be parsed.
struct GemmText {
  bench::GemmCase gemm;
  std::string op_a = "n";
  std::string op_b = "n";
  std::string layout = "col";
  std::string ld = "tight";
  std::string out;
};

/// A list with commas between, or the option again; the word after it is not of the list, so that
/// a file may follow.
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<std::string>& list,
                      const char* what) {
  return command.add_option(name, list, what)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
}

std::vector<std::string> sparse_types() {
  return {"f64", "f32", "f16", "bf16", "c64", "c128"};
}
std::vector<std::string> dense_types() {
  return {"f64", "f32", "tf32", "tf32x3", "f16", "bf16", "c64", "c128"};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

void add_run_options(CLI::App& command, RunOptions& options,
                     const std::vector<std::string>& types) {
  command.add_option("--device", options.device, "cpu, cuda or cuda:INDEX (default: the best)");
  add_list(command, "--dtype", options.dtypes,
           ("element types, of " + joined(types) + "; commas between").c_str())
      ->check(CLI::IsMember(types), "")
      ->capture_default_str();
  command.add_flag(
      "--no-vendor", options.no_vendor,
      "measure lanky alone, without cuSPARSE, cuBLAS, OpenBLAS, MKL or the plain CSR loop");
  command.add_flag("--quick", options.quick,
                   "short timing: see that all works, trust no third digit");
  command.add_flag("--explain", options.explain, "print what each plan says of itself");
  command.add_option("--json", options.json,
                     "append JSON lines to this file; - is standard output (table on stderr)");
}

void add_generators(CLI::App& command, Work& work) {
  command
      .add_option("--generate", work.generators,
                  "a generated matrix such as stencil27:64 (lanky info lists all); can be repeated")
      ->allow_extra_args(false)
      ->type_name("SPEC");
}

void add_plan_options(CLI::App& command, RunOptions& options) {
  add_list(command, "--path", options.paths_of_rows,
           "lanky's kernels: auto, mma, cuda; of f32 tf32, tf32x3; commas between")
      ->check(CLI::IsMember({"auto", "mma", "cuda", "tf32", "tf32x3"}), "");
  command.add_flag("--tune", options.tuned,
                   "one more plan of lanky, tuned: it measures shapes of the matrix (on a GPU)");
}

/// A whole number from 0 to 2^63 - 1; CLI11 itself takes what is larger for the largest.
std::string check_size(const std::string& text) {
  std::int64_t size = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, size);
  if (error == std::errc() && stop == end && size >= 0) return "";
  return "\"" + text + "\" is not a whole number such as 10000000";
}

/// A whole number of columns; 32 bits are enough for every rival.
std::string check_columns(const std::string& text) {
  std::int32_t columns = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, columns);
  if (error == std::errc() && stop == end && columns >= 1) return "";
  return "\"" + text + "\" is not a number of columns such as 8";
}

/// `options` has the columns that are the default.
void add_columns_options(CLI::App& command, RunOptions& options, const char* what) {
  add_list(command, "--columns", options.columns, what)
      ->check(check_columns, "")
      ->capture_default_str();
  add_list(command, "--layout", options.layouts,
           "of X and Y where they have several columns: row, col; commas between")
      ->check(CLI::IsMember({"row", "col"}), "")
      ->capture_default_str();
}

void add_gemm_options(CLI::App& command, GemmText& text, bool sizes_required) {
  const auto size = [&](const char* name, std::int64_t& value, const char* what) {
    command.add_option(name, value, what)->required(sizes_required)->check(check_size, "");
  };
  size("--m", text.gemm.m, "rows of C");
  size("--n", text.gemm.n, "columns of C");
  size("--k", text.gemm.k, "columns of op(A), rows of op(B)");
  const CLI::IsMember ops({"n", "t", "c"});
  command.add_option("--op-a", text.op_a, "A as it is (n), transposed (t), conjugated (c)")
      ->check(ops)
      ->capture_default_str();
  command.add_option("--op-b", text.op_b, "the same for B")->check(ops)->capture_default_str();
  command.add_option("--layout", text.layout, "of A, B and C: col or row major")
      ->check(CLI::IsMember({"col", "row"}))
      ->capture_default_str();
  command.add_option("--ld", text.ld, "leading dimensions: tight, or padded by 8 elements")
      ->check(CLI::IsMember({"tight", "padded"}))
      ->capture_default_str();
  command.add_option("--alpha", text.gemm.alpha, "C = alpha op(A) op(B) + beta C")
      ->capture_default_str();
  command.add_option("--beta", text.gemm.beta, "the same")->capture_default_str();
  command
      .add_option("--out", text.out,
                  "type of C: f32 for f16, bf16; f64 for these and f32 (default: that of A)")
      ->check(CLI::IsMember({"f32", "f64"}), "");
  command.add_flag("--symmetric", text.gemm.symmetric, "B is A: C = op(A) op(A) transposed");
}

/// (2, 8) of "2/8"; nothing for other text.
std::optional<std::pair<std::size_t, std::size_t>> parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  std::size_t part = 0;
  std::size_t parts = 0;
  const char* middle = text.data() + slash;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), middle, part);
  const auto second = std::from_chars(middle + 1, end, parts);
  if (first.ec != std::errc() || first.ptr != middle || second.ec != std::errc() ||
      second.ptr != end || part >= parts)
    return std::nullopt;
  return std::pair{part, parts};
}

void add_grid_options(CLI::App& command, bench::GridChoice& grid, std::string& shard) {
  command
      .add_option(
          "--gemm", grid.grid,
          "dense products: demo, small, core, sample, scattered, scattered-cpu\n"
          "(measuring.md), or a JSON file of your own; demo, small and files name their types")
      ->type_name("GRID");
  add_list(command, "--family", grid.families, "of the grid: panel, update, gram, syrk alone")
      ->check(CLI::IsMember({"panel", "update", "gram", "syrk"}), "");
  add_list(command, "--type", grid.types, "of the grid: these element types alone")
      ->check(CLI::IsMember(dense_types()), "");
  command.add_option("--seed", grid.seed,
                     "that sample, scattered or drawn is drawn with (default: a new one)");
  command.add_option("--share", grid.share, "of all combinations beyond the core, in the sample")
      ->check(CLI::Range(0.0, 1.0), "")
      ->capture_default_str();
  command
      .add_option("--shard", shard,
                  "I/N: every N-th product of the grid, and matrix, beginning with number I")
      ->check(
          [](const std::string& text) {
            return parse_shard(text) ? "" : "\"" + text + "\" is not I/N with I below N";
          },
          "");
}

std::vector<bench::GemmCase> products_of(const GemmText& text, const RunOptions& options) {
  std::vector<bench::GemmCase> products;
  for (const std::string& dtype : options.dtypes) {
    bench::GemmCase gemm = text.gemm;
    gemm.op_a = bench::parse_op(text.op_a);
    gemm.op_b = bench::parse_op(text.op_b);
    gemm.layout = bench::parse_layout(text.layout);
    gemm.padded = text.ld == "padded";
    gemm.type = bench::parse_gemm_type(dtype);
    if (!text.out.empty()) gemm.type.out = parse_dtype(text.out);
    products.push_back(gemm);
  }
  return products;
}

[[noreturn]] void wrong_usage(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

/// What the options of one command are parsed into.
struct Parsed {
  RunOptions options;
  Work work;
  GemmText gemm;
  std::string shard;  // "I/N"

  void choose_shard() {
    if (!shard.empty()) std::tie(work.grid.shard, work.grid.shards) = *parse_shard(shard);
  }
  int run() {
    choose_shard();
    return run_work(options, work);
  }
};

constexpr char kValues[] =
    "The entries of A and of all vectors are random numbers between -1 and 1, alike for every\n"
    "contestant. A file gives the pattern of A alone, and its own values are left out: so every\n"
    "element type can be checked, and a time depends on the pattern, not on the values. For the\n"
    "product with the values of a file use the library: lanky.sparse(\"cant.mtx.gz\") @ x in "
    "Python,\n"
    "lanky::io::read_csr<double>(\"cant.mtx.gz\") in C++.\n\n";

/// A command for single matrices.
void add_sparse(CLI::App& command, Action& action, const std::shared_ptr<Parsed>& parsed) {
  command.add_option(
      "files", parsed->work.files,
      "Matrix Market, Rutherford-Boeing, .mat, .lanky, plain or compressed; NAME.tar.gz");
  add_generators(command, parsed->work);
  add_run_options(command, parsed->options, sparse_types());
  command.footer(kValues + command.get_footer());
  command.callback([parsed, &action, name = command.get_name()] {
    action = [parsed, name] {
      Work& work = parsed->work;
      const std::size_t matrices = work.files.size() + work.generators.size();
      if (matrices == 0)
        wrong_usage(name + " needs a file or --generate SPEC; see lanky " + name + " --help");
      work.single = matrices == 1;
      return parsed->run();
    };
  });
}

void add_spmv(CLI::App& app, Action& action, const std::shared_ptr<Parsed>& parsed) {
  CLI::App& spmv = *app.add_subcommand("spmv", "y = A x for a matrix, or each of several");
  add_plan_options(spmv, parsed->options);
  add_sparse(spmv, action, parsed);
}

constexpr char kColumns[] =
    "numbers of columns of X in Y = A X, such as 2,8,32; 1 is a vector, as in spmv";

void add_spmm(CLI::App& app, Action& action, const std::shared_ptr<Parsed>& parsed) {
  CLI::App& spmm = *app.add_subcommand("spmm", "Y = A X, X of several columns");
  parsed->options.columns = {"8"};
  add_columns_options(spmm, parsed->options, kColumns);
  add_plan_options(spmm, parsed->options);
  add_sparse(spmm, action, parsed);
}

void add_sddmm(CLI::App& app, Action& action, const std::shared_ptr<Parsed>& parsed) {
  CLI::App& sddmm =
      *app.add_subcommand("sddmm", "X Y^T, sampled at the entries of a matrix (SDDMM)");
  parsed->options.sddmm = true;
  parsed->options.columns = {"8", "32", "128"};
  add_columns_options(sddmm, parsed->options, "numbers of columns of X and of Y, such as 8,32,128");
  add_sparse(sddmm, action, parsed);
}

void add_gemm(CLI::App& app, Action& action, const std::shared_ptr<Parsed>& parsed) {
  CLI::App& gemm = *app.add_subcommand("gemm", "C = op(A) op(B) + beta C for one shape");
  add_gemm_options(gemm, parsed->gemm, true);
  add_run_options(gemm, parsed->options, dense_types());
  gemm.callback([parsed, &action] {
    action = [parsed] {
      parsed->work.products = products_of(parsed->gemm, parsed->options);
      parsed->work.single = true;
      return parsed->run();
    };
  });
}

std::string check_memory(const std::string& text) {
  const auto bytes = collection::parse_quantity(text);
  return bytes && *bytes >= 1 ? "" : "\"" + text + "\" is no size such as 64G";
}

void add_batch(CLI::App& app, Action& action, const std::shared_ptr<Parsed>& parsed) {
  RunOptions& options = parsed->options;
  Work& work = parsed->work;
  CLI::App& batch = *app.add_subcommand(
      "batch", "Many matrices and products, one line each; what fails never ends the batch");
  batch.add_option(
      "paths", work.files,
      "matrices, or folders with .mtx* and .tar.gz anywhere below; specs of generated\n"
      "ones such as stencil27:64");
  batch
      .add_option("--where", work.where,
                  "of the SuiteSparse index, what lanky fetch has brought into the cache, as in\n"
                  "'nnz in 1e5..1e8 and kind ~ circuit and square' (fetch.md)")
      ->type_name("FILTER");
  batch.add_option("--cache", work.cache, "folder of what was fetched")->type_name("DIR");
  batch
      .add_option("--spmv", work.set.set,
                  "generated matrices: core, or drawn or irregular with --seed (measuring.md)")
      ->check(CLI::IsMember({"core", "drawn", "irregular"}), "")
      ->type_name("SET");
  add_grid_options(batch, work.grid, parsed->shard);
  batch.add_flag("--resume", options.resume,
                 "leave out what this very program has in the JSON file already; a sample goes on\n"
                 "with the seed that stands there");
  batch.add_flag("--retry", options.retry, "with --resume: but do again what failed");
  batch.add_option("--seconds", options.seconds, "begin no product after so many seconds")
      ->check(CLI::PositiveNumber, "");
  batch.add_option("--timeout", options.timeout, "seconds that a matrix, or a product, may take")
      ->check(CLI::PositiveNumber, "")
      ->capture_default_str();
  batch
      .add_option_function<std::string>(
          "--memory",
          [&options](const std::string& size) {
            options.memory_bytes = static_cast<std::int64_t>(*collection::parse_quantity(size));
          },
          "main memory that a matrix may take, such as 64G (default: nine tenths of all)")
      ->check(check_memory, "")
      ->type_name("SIZE");
  add_list(batch, "--peer", options.peers,
           "shared libraries with further contestants (lanky/peer.h, batch.md)");
  const auto worker = std::make_shared<bool>(false);
  batch.add_flag("--worker", *worker)->group("");
  add_generators(batch, work);
  add_plan_options(batch, options);
  add_columns_options(batch, options, kColumns);
  add_run_options(batch, options, sparse_types());
  batch.footer(kValues + batch.get_footer());
  batch.callback([parsed, worker, &action] {
    action = [parsed, worker] {
      if (!parsed->work.any())
        wrong_usage("batch needs paths, specs, --where FILTER, --spmv SET or --gemm GRID");
      parsed->choose_shard();
      if (!*worker) return run_batch(parsed->options, parsed->work);
      std::erase(parsed->options.argv, "--worker");
      return run_worker(parsed->options, parsed->work);
    };
  });
}

/// The one product of the command line, where its sizes are given; throws where neither they nor a
/// grid are.
void choose_tuned_products(Parsed& parsed, const CLI::App& tune) {
  const bool m = tune.count("--m") > 0;
  const bool n = tune.count("--n") > 0;
  const bool k = tune.count("--k") > 0;
  if (m && n && k) {
    parsed.work.products = products_of(parsed.gemm, parsed.options);
    parsed.work.single = true;
  } else if (m || n || k || parsed.work.grid.grid.empty()) {
    wrong_usage("tune needs --m, --n and --k, or --gemm GRID");
  }
}

void add_tune(CLI::App& app, Action& action, const std::shared_ptr<Parsed>& parsed) {
  RunOptions& options = parsed->options;
  CLI::App& tune = *app.add_subcommand(
      "tune", "Times every way to compute a product, and keeps the fastest for plans that ask");
  add_gemm_options(tune, parsed->gemm, false);
  add_grid_options(tune, parsed->work.grid, parsed->shard);
  tune.add_option("--file", options.tuning,
                  "where the choices are kept (default: $LANKY_TUNE_CACHE, or lanky/gemm.jsonl in\n"
                  "$XDG_CACHE_HOME or ~/.cache)");
  tune.add_option("--least-gain", options.least_gain,
                  "keep a choice only where a plan without it takes so many times as long");
  tune.add_option(
          "--candidates", options.candidates,
          "of lanky's own ways, time only so many that are predicted fastest (default: all)")
      ->check(CLI::PositiveNumber, "");
  tune.add_option("--seconds", options.seconds, "begin no product after so many seconds")
      ->check(CLI::PositiveNumber, "");
  add_run_options(tune, options, dense_types());
  tune.callback([parsed, &tune, &action] {
    action = [parsed, &tune] {
      std::string& tuning = parsed->options.tuning;
      if (tuning.empty()) tuning = GemmTuning::default_path().string();
      choose_tuned_products(*parsed, tune);
      return parsed->run();
    };
  });
}

}  // namespace

void add_measuring(CLI::App& app, Action& action, int argc, char** argv) {
  for (const auto add : {add_spmv, add_spmm, add_sddmm, add_gemm, add_batch, add_tune}) {
    const auto parsed = std::make_shared<Parsed>();
    parsed->options.argv.assign(argv, argv + argc);
    add(app, action, parsed);
  }
}

}  // namespace lanky::cli
