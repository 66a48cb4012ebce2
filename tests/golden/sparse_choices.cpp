// Prints what is chosen for sparse matrices on a GPU like an H200, a line a choice: shapes of drawn
// facts and those near them, headers of packed matrices, and launches of their products.
// tests/golden/check.py compares the lines with tests/data/golden/sparse_choices.txt.xz.
#include <complex>
#include <cstdio>
#include <lanky/error.hpp>
#include <lanky/half.hpp>
#include <lanky/io.hpp>
#include <string>
#include <vector>

#include "bench/regret/matrix_of_ones.hpp"
#include "core/machine.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "golden/draw_sparse.hpp"
#include "sparse/cpu/steps.hpp"
#include "sparse/cuda/multiply/policy.hpp"
#include "sparse/plan.hpp"
#include "sparse/policy.hpp"
#include "sparse/shapes.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {
namespace {

constexpr int kDrawn = 2000;
constexpr int kTuned = 200;  // of these

const Machine kMachine = known_machine("H200");

void print(const std::string& input, const std::string& choice) {
  std::printf("%s | %s\n", input.c_str(), choice.c_str());
}

std::string text_of(const Shape& s) {
  return concat("lane=", s.lane_pieces, " fill=", s.wide_fill, " piece=", s.piece_most,
                " row_cost=", s.row_cost, " granule=", s.granule, " window=", s.window_cost,
                " stage=", s.stage_most, " bands=", s.bands, " hot=", s.hot_least,
                " warps=", s.warps);
}

template <class Array>
std::string list_of(const Array& values) {
  std::string text;
  for (const auto value : values)
    text += concat(text.empty() ? "" : ",", value);
  return text;
}

std::string text_of(const PackedHeader& h) {
  return concat(text_of(h.shape), " rows=", h.rows, " cols=", h.cols, " nnz=", h.nnz,
                " slices=", h.slices_most, " cells=", h.cells_most, " columns=", h.columns_most,
                " windows=", h.windows, " slots=", h.slots, " units=", h.index_units,
                " bases=", h.bases, " told=", h.pieces_told, " row_cells=", h.row_cells,
                " split=", h.split_rows, " partials=", h.partials, " hot_columns=", h.hot,
                " hot_sampled=", h.hot_sampled, " class_rows=", list_of(h.class_rows),
                " class_entries=", list_of(h.class_entries),
                " kind_entries=", list_of(h.kind_entries));
}

std::string text_of(const RowFacts& f) {
  return concat(f.rows, "x", f.cols, " nnz ", f.nnz, " longest ", f.longest, " empty ", f.empty,
                " pieces ", f.pieces8, " ", f.pieces16, " reach ", f.reach, " repeated ",
                f.repeated, " hot ", f.hot_least, " ", f.hot_entries);
}

std::string text_of(const Launch& l) {
  return concat("slices=", static_cast<int>(l.slices), " wide=", l.wide, " hot=", l.hot,
                " grid=", l.blocks, " threads=", l.threads, " shared=", l.shared_bytes,
                " teams=", l.teams, " shares=", l.shares.values, ",", l.shares.indices, ",",
                l.shares.x, " ahead=", l.fetch_ahead);
}

/// By every path that multiplies T, both launches of each.
template <class T>
void print_launches(const std::string& input, const PackedHeader& a) {
  for (const Path path : {Path::cuda, Path::mma, Path::tf32, Path::tf32x3}) {
    const bool tf32 = path == Path::tf32 || path == Path::tf32x3;
    const bool known =
        path == Path::cuda || (a.hot == 0 && (tf32 ? kDType<T> == DType::f32 : has_mma(kDType<T>)));
    if (!known) continue;
    const Launches launches = cuda::choose_launches(a, kDType<T>, path, kMachine);
    print(concat(input, " by ", to_string(path)),
          concat("any beta: ", text_of(launches.adds), "; beta 0: ", text_of(launches.overwrites)));
  }
}

void print_paths() {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    for (const DType dtype :
         {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
      for (const Engine engine : {Engine::automatic, Engine::cuda_cores, Engine::tensor_cores}) {
        for (const Math math : {Math::ieee, Math::tf32, Math::tf32x3}) {
          const auto input =
              concat("path by ", to_string(engine), " in ", to_string(math), " of ",
                     to_string(dtype), " on ", kind == DeviceKind::cpu ? "cpu" : "cuda");
          try {
            const PathChoice choice = choose_path({.engine = engine, .math = math}, dtype, kind);
            print(input, concat("path=", to_string(choice.path), " ", choice.reason));
          } catch (const Error& error) {
            print(input, error.what());
          }
        }
      }
    }
  }
}

template <class T>
void print_drawn(const RowFacts& facts, int number, golden::Draw& draw) {
  constexpr DType kType = kDType<T>;
  const std::string input = concat(number, ": ", text_of(facts), " ", to_string(kType));
  const std::vector<Shape> all = candidates(facts, kType, kMachine);
  const Shape chosen = choose_shape(facts, kType, kMachine).shape;
  print(input, concat(text_of(chosen), " of=", all.size(),
                      " may_have_hot_columns=", may_have_hot_columns(facts)));
  const Shape& any = all[draw.below(std::ssize(all))];
  print_launches<T>(concat(number, " launch ", to_string(kType)),
                    golden::draw_header(facts, number % 2 == 0 ? any : chosen, kType, draw));
  if (number >= kTuned) return;
  std::string shapes;
  for (const Shape& shape : shapes_near(chosen, facts, kType, kMachine))
    shapes += (shapes.empty() ? "" : "; ") + text_of(shape);
  print(concat(number, " near ", to_string(kType)), shapes);
}

/// All types of each: a line is much like the one before, and the file small.
void print_all_drawn() {
  golden::Draw draw(34);
  for (int number = 0; number < kDrawn; ++number) {
    const RowFacts facts = golden::draw_row_facts(draw);
#define LANKY_PRINT(T) print_drawn<T>(facts, number, draw);
    LANKY_FOR_EACH_ELEMENT(LANKY_PRINT)
#undef LANKY_PRINT
  }
}

/// One matrix, packed by the CPU as plans do it, and in shapes that plans choose for larger ones.
template <class T>
void print_packed(const std::string& name_of_matrix, const CsrMatrix<double>& a) {
  constexpr DType kType = kDType<T>;
  const Stream stream(Device::cpu());
  const regret::MatrixOfOnes<T> ones(stream, a);
  const ReachFacts reach = cpu::reach_facts(ones.csr().pattern());
  const HotFacts hot = cpu::hot_facts(ones.csr().pattern(), 200);
  const auto print_header = [&](std::string_view what, const PackedHeader& header) {
    const std::string input = concat(name_of_matrix, " ", to_string(kType), " ", what);
    print(input, text_of(header));
    print_launches<T>(input, header);
  };
  const auto print_shape = [&](std::string_view what, const Shape& shape) {
    print_header(what, cpu::pack(stream, ones.csr(), shape, nullptr).header);
  };
  const Shape chosen = choose_shape(ones.facts(), kDType<T>, known_machine("H200")).shape;
  print_header("as chosen", cpu::pack(stream, ones.csr(), chosen, nullptr).header);
  print_shape(
      "wide",
      {.lane_pieces = kLanePiecesMost<T>, .wide_fill = 75, .piece_most = 16, .window_cost = 4096});
  if (hot.least > 0) {
    print_shape("hot", {.lane_pieces = kLanePiecesMost<T>,
                        .piece_most = 16,
                        .row_cost = 8,
                        .window_cost = 8192,
                        .hot_least = hot.least});
  }
  print_shape("staged", {.lane_pieces = kLanePiecesMost<T>,
                         .wide_fill = 30,
                         .piece_most = 16,
                         .window_cost = 4096,
                         .stage_most = 8192});
  print(concat(name_of_matrix, " ", to_string(kType), " facts"),
        concat("reach=", reach.mean, " repeated=", reach.repeated, " hot_least=", hot.least,
               " hot_entries=", hot.entries));
}

void print_matrices(const std::vector<std::string>& names) {
  for (const std::string& matrix : names) {
    const bool file = matrix.find(".mtx") != std::string::npos;
    const auto a = file ? io::read_csr<double>("matrices/" + matrix) : io::generate<double>(matrix);
#define LANKY_PRINT(T) print_packed<T>(matrix, a);
    LANKY_FOR_EACH_ELEMENT(LANKY_PRINT)
#undef LANKY_PRINT
  }
}

}  // namespace
}  // namespace lanky::sparse

int main() {
  using namespace lanky::sparse;
  print_paths();
  print_all_drawn();
  print_matrices({"Maragal_6.pattern.mtx.xz",
                  "arc130.mtx.xz",
                  "bcsstk13.mtx.xz",
                  "bcsstm25.mtx.xz",
                  "delaunay_n15.mtx.xz",
                  "email-Enron.mtx.xz",
                  "finan512.mtx.xz",
                  "memplus.mtx.xz",
                  "minnesota.mtx.xz",
                  "orsirr_1.mtx.xz",
                  "p2p-Gnutella05.mtx.xz",
                  "pilot87.mtx.xz",
                  "rajat01.mtx.xz",
                  "reorientation_1.mtx.xz",
                  "tuma1.mtx.xz",
                  "uk.mtx.xz",
                  "west0479.mtx.xz",
                  "wiki-Vote.mtx.xz",
                  "woodw.mtx.xz",
                  "zenios.mtx.xz",
                  "stencil5:100",
                  "stencil7:24",
                  "stencil27:20",
                  "fem:10",
                  "mesh:6000",
                  "mesh:700:3",
                  "banded:12000:7",
                  "band:8000:2000:16",
                  "diagonal:70000",
                  "dense:300",
                  "dense:30:9000",
                  "uniform:9000:16",
                  "rmat:13:12",
                  "mixed:4000:64,span=1000",
                  "huge:9000:4",
                  "huge:9000:16,span=1000",
                  "empty:120000:90,span=1000",
                  "short:60000:1",
                  "short:40000:0,span=500",
                  "short:50000:4,span=1000"});
}
