// Every situation in every operation and type, in several variants (lengths, layouts, engines):
// judged, compared between devices and written as the page docs/guide/special_values.md.
#include "random/ieee.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "core/text.hpp"
#include "random/operand.hpp"
#include "random/report.hpp"
#include "random/situations.hpp"
#include "random/worker.hpp"

namespace lanky::random_cases {

namespace {

constexpr const char* kOperations[] = {"SpMV", "SpMM", "SDDMM", "panel", "update", "gram"};
constexpr int kOperationCount = 6;
constexpr std::int64_t kLong = 300;  // products of a long sum

bool is_dense(int operation) {
  return operation >= 3;
}

/// The outcomes of one situation: of each operation and type those of all variants.
using Outcomes = std::map<std::pair<int, std::string>, std::set<std::string>>;

struct Row {
  std::string text;
  bool promised;
  Outcomes by_ieee{};  // one each
  Outcomes computed{};
};

/// Products of a sum of `length`: the situation's, with the rest between them.
std::vector<std::pair<Number, Number>> stretched(const Terms& terms, std::int64_t length) {
  const auto count = static_cast<std::int64_t>(terms.products.size());
  length = std::max(length, count);
  std::vector<std::pair<Number, Number>> products(static_cast<std::size_t>(length), terms.rest);
  for (std::int64_t p = 0; p < count; ++p)
    products[static_cast<std::size_t>(p * length / count)] = terms.products[p];
  return products;
}

/// What stands around a sum: ones, or NaN and Inf in turn.
template <class T>
T around(const Terms& terms, std::int64_t index) {
  if (!terms.elsewhere) return testing::element<T>(1.0);
  return testing::element<T>(index % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : kInfinity);
}

template <class T, class TOut>
class SparseSituation {
  using Sum = Accumulator<T>;

 public:
  SparseSituation(Worker& worker, const Terms& terms, std::int64_t length)
      : worker_(worker), terms_(terms), products_(stretched(terms, length)) {}

  /// Column 2 of `n`; one vector where n is 0.
  TOut multiply(const SparseOptions& options, std::int64_t n, Layout layout) {
    constexpr std::int64_t kRows = 70;
    constexpr std::int64_t kRow = 33;
    const auto length = static_cast<std::int64_t>(products_.size());
    CsrMatrix<T> a;
    a.rows = kRows;
    a.cols = 2 * length + 40;
    for (std::int64_t i = 0; i < kRows; ++i) {
      if (i == kRow) {
        for (std::int64_t p = 0; p < length; ++p) {
          a.col_indices.push_back(static_cast<std::int32_t>(2 * p + 1));
          a.values.push_back(testing::element<T>(products_[p].first));
        }
      } else {
        for (std::int64_t p = 0; p < 1 + i % 7; ++p) {
          a.col_indices.push_back(static_cast<std::int32_t>(2 * p));
          a.values.push_back(around<T>(terms_, i + p));
        }
      }
      a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
    }
    const std::int64_t columns = std::max<std::int64_t>(n, 1);
    const std::int64_t column = std::min<std::int64_t>(2, columns - 1);
    Operand<T> x(a.cols, columns, {.layout = layout, .padding = n == 0 ? 0 : 3}, quiet_nan<T>());
    Operand<TOut> y(a.rows, columns, {.layout = layout, .padding = n == 0 ? 0 : 3}, TOut{});
    for (std::int64_t i = 0; i < a.cols; ++i) {
      for (std::int64_t j = 0; j < columns; ++j)
        x.at(i, j) = around<T>(terms_, i + j);
    }
    for (std::int64_t p = 0; p < length; ++p)
      x.at(2 * p + 1, column) = testing::element<T>(products_[p].second);
    y.fill(testing::element<TOut>(terms_.old));
    const SparsePlan<T, TOut> plan(worker_.stream, a.view(), options);
    Arena& operands = worker_.arena(How{});
    const std::size_t of_x = operands.add(x.memory);
    const auto after = worker_.run(
        How{}, 0, testing::element<Sum>(terms_.alpha), testing::element<Sum>(terms_.beta), y.memory,
        [&](const Stream& stream, Scalar<Sum> alpha, Scalar<Sum> beta, const Workspace*,
            TOut* result) {
          const MatrixView<const T> from{operands.data<T>(of_x), x.rows, x.cols, x.ld, x.layout};
          if (n == 0)
            return plan.run(stream, alpha, VectorView<const T>(from.data, x.rows), beta,
                            y.vector(result));
          plan.run(stream, alpha, from, beta, y.view(result));
        });
    return after[y.index(kRow, column)];
  }

  TOut sample(std::int64_t expected_columns, Layout layout) {
    CsrMatrix<T> a;
    a.rows = 5;
    a.cols = 6;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int32_t j = 0; j < 6; ++j)
        a.col_indices.push_back(j);
      a.row_offsets.push_back(static_cast<std::int64_t>(a.col_indices.size()));
    }
    a.values.resize(a.col_indices.size());
    const auto length = static_cast<std::int64_t>(products_.size());
    Operand<T> x(a.rows, length, {.layout = layout, .padding = 3}, quiet_nan<T>());
    Operand<T> y(a.cols, length, {.layout = layout, .padding = 3}, quiet_nan<T>());
    for (std::int64_t p = 0; p < length; ++p) {
      for (std::int64_t i = 0; i < a.rows; ++i)
        x.at(i, p) = around<T>(terms_, i + p);
      for (std::int64_t j = 0; j < a.cols; ++j)
        y.at(j, p) = around<T>(terms_, j + p);
      x.at(2, p) = testing::element<T>(products_[p].first);
      y.at(3, p) = testing::element<T>(products_[p].second);
    }
    const SddmmPlan<T, TOut> plan(worker_.stream, a.view(), {.expected_columns = expected_columns});
    Arena& operands = worker_.arena(How{});
    const std::size_t of_x = operands.add(x.memory);
    const std::size_t of_y = operands.add(y.memory);
    const std::vector<TOut> before(a.values.size(), testing::element<TOut>(terms_.old));
    const auto after = worker_.run(
        How{}, 0, testing::element<Sum>(terms_.alpha), testing::element<Sum>(terms_.beta), before,
        [&](const Stream& stream, Scalar<Sum> alpha, Scalar<Sum> beta, const Workspace*,
            TOut* result) {
          plan.run(stream, alpha,
                   MatrixView<const T>{operands.data<T>(of_x), x.rows, x.cols, x.ld, x.layout},
                   MatrixView<const T>{operands.data<T>(of_y), y.rows, y.cols, y.ld, y.layout},
                   beta, VectorView<TOut>{result, a.nnz()});
        });
    return after[2 * 6 + 3];
  }

 private:
  Worker& worker_;
  const Terms& terms_;
  std::vector<std::pair<Number, Number>> products_;
};

/// Element (m / 2, n / 2) of C.
template <class T, class TOut>
TOut multiply_dense(Worker& worker, const Terms& terms, GemmShape shape) {
  using Sum = GemmAccumulator<T, TOut>;
  const auto products = stretched(terms, shape.k);
  shape.k = static_cast<std::int64_t>(products.size());
  const Place place{.layout = shape.layout, .padding = 8};
  const bool turned = shape.op_a != Op::none;
  Operand<T> a(turned ? shape.k : shape.m, turned ? shape.m : shape.k, place, quiet_nan<T>());
  Operand<T> b(shape.k, shape.n, place, quiet_nan<T>());
  Operand<TOut> c(shape.m, shape.n, place, TOut{});
  const std::int64_t row = shape.m / 2;
  const std::int64_t column = shape.n / 2;
  for (std::int64_t p = 0; p < shape.k; ++p) {
    for (std::int64_t i = 0; i < shape.m; ++i) {
      const T value = i == row ? testing::element<T>(products[p].first) : around<T>(terms, i + p);
      (turned ? a.at(p, i) : a.at(i, p)) = value;
    }
    for (std::int64_t j = 0; j < shape.n; ++j)
      b.at(p, j) = j == column ? testing::element<T>(products[p].second) : around<T>(terms, j + p);
  }
  c.fill(testing::element<TOut>(terms.old));
  shape.lda = a.ld;
  shape.ldb = b.ld;
  shape.ldc = c.ld;
  const GemmPlan<T, TOut> plan(worker.stream, shape);
  Arena& operands = worker.arena(How{});
  const std::size_t first = operands.add(a.memory);
  const std::size_t second = operands.add(b.memory);
  const auto after = worker.run(
      How{}, 0, testing::element<Sum>(terms.alpha), testing::element<Sum>(terms.beta), c.memory,
      [&](const Stream& stream, Scalar<Sum> alpha, Scalar<Sum> beta, const Workspace*,
          TOut* result) {
        plan.run(stream, alpha,
                 MatrixView<const T>{operands.data<T>(first), a.rows, a.cols, a.ld, a.layout},
                 MatrixView<const T>{operands.data<T>(second), b.rows, b.cols, b.ld, b.layout},
                 beta, c.view(result));
      });
  return after[c.index(row, column)];
}

template <class T, class TOut>
void add_sparse(Worker& worker, const Terms& terms, Row& row) {
  const auto exact = exact_result<T>(terms, Domain::sparse);
  const std::string type = type_text<T, TOut>();
  const auto add = [&](int operation, TOut value) {
    row.computed[{operation, type}].insert(outcome_of(value, exact));
  };
  for (int operation = 0; operation < 3; ++operation)
    row.by_ieee[{operation, type}] = {
        outcome_of(by_ieee<T, TOut, Accumulator<T>>(terms, Domain::sparse), exact)};
  for (const std::int64_t length : {std::int64_t{0}, kLong}) {
    SparseSituation<T, TOut> situation(worker, terms, length);
    for (const Engine engine : {Engine::automatic, Engine::cuda_cores, Engine::tensor_cores}) {
      const bool one =
          engine != Engine::tensor_cores || (!kIsComplex<T> && kDType<T> != DType::f32);
      if (one) add(0, situation.multiply({.engine = engine}, 0, Layout::col));
      if (engine == Engine::tensor_cores && kIsComplex<T>) continue;
      for (const Layout layout : {Layout::col, Layout::row}) {
        if (one) add(1, situation.multiply({.engine = engine}, 3, layout));
        add(1,
            situation.multiply(
                {.engine = engine, .expected_columns = 16, .expected_layout = layout}, 16, layout));
      }
    }
    for (const std::int64_t expected : {0, 400}) {
      for (const Layout layout : {Layout::col, Layout::row})
        add(2, situation.sample(expected, layout));
    }
  }
}

template <class T, class TOut>
void add_dense(Worker& worker, const Terms& terms, Row& row) {
  const auto exact = exact_result<T>(terms, Domain::dense);
  const std::string type = type_text<T, TOut>();
  const auto add = [&](int operation, GemmShape shape) {
    row.by_ieee[{operation, type}] = {
        outcome_of(by_ieee<T, TOut, GemmAccumulator<T, TOut>>(terms, Domain::dense), exact)};
    for (const Layout layout : {Layout::col, Layout::row}) {
      shape.layout = layout;
      row.computed[{operation, type}].insert(
          outcome_of(multiply_dense<T, TOut>(worker, terms, shape), exact));
    }
  };
  add(3, {.m = 300, .n = 8, .k = 260});
  for (const std::int64_t k : {0, 16})  // as many as there are terms
    add(4, {.m = 300, .n = 8, .k = k});
  add(5, {.m = 8, .n = 8, .k = 1000, .op_a = Op::trans});
}

Row run_situation(Worker& worker, const Situation& situation, bool complex) {
  Row row{situation.text, situation.promised};
  const auto terms_of = [&]<class T, class Sum>(std::type_identity<T>, std::type_identity<Sum>) {
    return situation.terms(format_of<T, Sum>());
  };
  const auto both = [&]<class T, class TOut>(std::type_identity<T> in, std::type_identity<TOut>) {
    const Terms terms = terms_of(in, std::type_identity<Accumulator<T>>{});
    add_sparse<T, TOut>(worker, terms, row);
    add_dense<T, TOut>(worker, terms, row);
  };
  const auto wide = [&]<class T>(std::type_identity<T> in) {
    add_dense<T, double>(worker, terms_of(in, std::type_identity<double>{}), row);
  };
  constexpr std::type_identity<double> kF64;
  constexpr std::type_identity<float> kF32;
  constexpr std::type_identity<half> kF16;
  constexpr std::type_identity<bfloat16> kBf16;
  constexpr std::type_identity<std::complex<float>> kC64;
  constexpr std::type_identity<std::complex<double>> kC128;
  if (complex) {
    both(kC64, kC64);
    both(kC128, kC128);
    return row;
  }
  both(kF64, kF64);
  both(kF32, kF32);
  both(kF16, kF16);
  both(kF16, kF32);
  both(kBf16, kBf16);
  both(kBf16, kF32);
  wide(kF32);
  wide(kF16);
  wide(kBf16);
  return row;
}

std::vector<Row> run_all(Worker& worker, bool complex) {
  std::vector<Row> rows;
  for (const Situation& situation : situations(complex))
    rows.push_back(run_situation(worker, situation, complex));
  return rows;
}

std::string joined(const std::set<std::string>& outcomes) {
  std::string text;
  for (const std::string& outcome : outcomes)
    text += (text.empty() ? "" : " or ") + outcome;
  return text;
}

/// The outcomes of an operation, types of the same one together: "NaN", "+Inf (f16: exact)".
std::string cell(const Outcomes& outcomes, const std::vector<int>& operations) {
  std::map<std::string, std::set<std::string>> types;  // by outcome
  std::set<std::string> all;
  for (const auto& [key, values] : outcomes) {
    if (std::find(operations.begin(), operations.end(), key.first) == operations.end()) continue;
    types[joined(values)].insert(key.second);
    all.insert(key.second);
  }
  const auto most = std::max_element(types.begin(), types.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  std::string text = most->first;
  for (auto group = types.begin(); group != types.end(); ++group) {
    if (group == most) continue;
    std::string names;
    for (const std::string& type : group->second)
      names += (names.empty() ? "" : " ") + type;
    text += "; " + names + ": " + group->first;
  }
  return text;
}

/// Whether each type has one outcome, whatever the operation.
bool agree(const Outcomes& outcomes) {
  std::map<std::string, std::set<std::string>> of_type;
  for (const auto& [key, values] : outcomes)
    of_type[key.second].insert(values.begin(), values.end());
  return std::all_of(of_type.begin(), of_type.end(),
                     [](const auto& type) { return type.second.size() == 1; });
}

std::string table(const std::vector<Row>& rows) {
  std::ostringstream text;
  text << "| sum | IEEE, in order | promised |";
  for (const char* operation : kOperations)
    text << ' ' << operation << " |";
  text << "\n|---|---|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    text << "| " << row.text << " | ";
    if (agree(row.by_ieee)) {
      text << cell(row.by_ieee, {0, 1, 2, 3, 4, 5});
    } else {
      text << cell(row.by_ieee, {0, 1, 2}) << "; dense: " << cell(row.by_ieee, {3, 4, 5});
    }
    text << " | " << (row.promised ? "yes" : "no") << " |";
    for (int operation = 0; operation < kOperationCount; ++operation)
      text << ' ' << cell(row.computed, {operation}) << " |";
    text << '\n';
  }
  return text.str();
}

constexpr const char* kHead = R"(# NaN, Inf, zeros and subnormals

<!-- Written by random_cases --kind ieee --device cpu --table FILE; a test compares it. -->

The table has what sums α Σ a x + β y with special values become in each operation: a row is a sum, a cell is the result on
a CPU@. `./dev gpu-test` runs the same sums on the GPU, by every engine and layout, and fails where a promised row
differs.

- *exact* is the exact result, rounded once. M is the largest finite number of the operands' type.
- *IEEE, in order* evaluates the sum from its first term to its last in the type of the sums, and rounds once to the type of the result.
- *promised*: every operation gives what IEEE says, in every type, on every device. Other rows depend on the order of the sum or on
  fused multiply-adds, and may differ between devices and versions.
- A cell with one entry holds for all types. Types with another result stand behind it: `f16:f32` has operands of f16 and a result of f32.
- "A or B" stands where two variants of the same product (short and long sums, layouts, columns) differ.
- Dense products follow BLAS where α = 0: A and B are not read. Sparse and sampled products multiply as IEEE says.

)";

/// What the order of a sum depends on, on a CPU.
std::string vectors() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return " with AVX-512";
  if (__builtin_cpu_supports("avx2")) return " with AVX2";
#endif
  return " without AVX2";
}

std::string page(Worker& worker) {
  std::string head = kHead;
  head.replace(head.find('@'), 1, vectors());
  return concat(
      head, "## Real types\n\n", table(run_all(worker, false)),
      "\n## Complex types\n\nBoth parts of the result. Products are the plain formula, α = 1 "
      "included: an Inf beside a zero part makes a NaN.\n\n",
      table(run_all(worker, true)));
}

/// The first line of a page that differs from the one that this program writes; "" where none does.
/// On a CPU with other vectors rows that are not promised count by their first columns alone.
std::string difference(const std::string& path, const std::string& expected) {
  std::ifstream file(path);
  std::istringstream lines(expected);
  const bool alike = [&] {
    const std::ifstream again(path);
    std::ostringstream all;
    all << again.rdbuf();
    return all.str().find("a CPU" + vectors() + ".") != std::string::npos;
  }();
  std::string line;
  std::string other;
  while (true) {
    const bool more = static_cast<bool>(std::getline(lines, line));
    if (more != static_cast<bool>(std::getline(file, other))) return "the number of lines";
    if (!more) return "";
    if (!alike) {
      if (line.find("a CPU" + vectors()) == 0) continue;
      const std::size_t end = line.find(" | no |");
      if (end != std::string::npos && other.substr(0, end) == line.substr(0, end)) continue;
    }
    if (line != other) return other + "\nshould be\n" + line;
  }
}

}  // namespace

std::int64_t run_ieee(const Options& options) {
  Common common{.options = options};
  Worker worker(common);
  if (!options.table.empty() || !options.check.empty()) {
    const std::string text = page(worker);
    if (!options.check.empty()) {
      const std::string found = difference(options.check, text);
      if (!found.empty()) std::printf("%s: %s\n", options.check.c_str(), found.c_str());
      return found.empty() ? 0 : 1;
    }
    if (options.table == "-") {
      std::cout << text;
    } else {
      std::ofstream(options.table) << text;
    }
    return 0;
  }
  Options on_cpu = options;
  on_cpu.device = Device::cpu();
  Common common_on_cpu{.options = on_cpu};
  Worker beside(common_on_cpu);
  for (const bool complex : {false, true}) {
    const std::vector<Row> rows = run_all(worker, complex);
    const std::vector<Row> others = worker.is_cuda() ? run_all(beside, complex) : rows;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (const auto& [key, values] : rows[r].computed) {
        const std::string subject = concat(rows[r].text, ", ", kOperations[key.first]);
        std::set<std::string> expected = rows[r].by_ieee.at(key);
        if (options.tampering != Tampering::none) expected = {"something else"};
        const std::string fault = !rows[r].promised || values == expected
                                      ? ""
                                      : concat(joined(values), " instead of ", joined(expected));
        worker.subject = subject;
        if (rows[r].promised)
          worker.count(concat("ieee ", is_dense(key.first) ? "gemm " : "", kOperations[key.first]),
                       key.second, "sums", fault);
        const std::set<std::string>& other = others[r].computed.at(key);
        if (values != other)
          std::printf("%s: %s, %s: %s here, %s on the CPU\n",
                      rows[r].promised ? "differs" : "differs (not promised)", subject.c_str(),
                      key.second.c_str(), joined(values).c_str(), joined(other).c_str());
      }
    }
  }
  if (options.tampering == Tampering::none) return tell(worker.tally, options, 0);
  std::int64_t missed = 0;
  for (const auto& [name, count] : worker.tally)
    missed += count.tried - count.failed;
  return missed;
}

}  // namespace lanky::random_cases
