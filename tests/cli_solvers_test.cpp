// lanky eigs, svds and solve as a user meets them: known spectra, files, drawings, Ctrl-C, errors.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <lanky/io.hpp>
#include <numbers>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/program.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;
using testing::content;
using testing::Ran;
using Json = nlohmann::json;

/// Eigenvalue j, from 0 on, of the tridiagonal matrix (-1, `diagonal`, -1) of n rows.
double path_value(int n, int j, double diagonal = 2) {
  return diagonal - 2 * std::cos(std::numbers::pi * (j + 1) / (n + 1));
}

class CliSolvers : public testing::ProgramTest {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// (-1, `diagonal`, -1), of n rows; its lower triangle.
  std::string path_matrix(const std::string& name, int n, const std::string& diagonal = "2") const {
    std::string text = "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(n) +
                       " " + std::to_string(n) + " " + std::to_string(2 * n - 1) + "\n";
    for (int i = 1; i <= n; ++i) {
      text += std::to_string(i) + " " + std::to_string(i) + " " + diagonal + "\n";
      if (i < n) text += std::to_string(i + 1) + " " + std::to_string(i) + " -1\n";
    }
    return write(name, text);
  }
  /// The graph that is a path of n nodes, as a pattern.
  std::string path_graph(const std::string& name, int n) const {
    std::string text = "%%MatrixMarket matrix coordinate pattern symmetric\n" + std::to_string(n) +
                       " " + std::to_string(n) + " " + std::to_string(n - 1) + "\n";
    for (int i = 1; i < n; ++i)
      text += std::to_string(i + 1) + " " + std::to_string(i) + "\n";
    return write(name, text);
  }
  std::string scaled_identity(const std::string& name, int n, int scale) const {
    std::string text = "%%MatrixMarket matrix coordinate integer general\n" + std::to_string(n) +
                       " " + std::to_string(n) + " " + std::to_string(n) + "\n";
    for (int i = 1; i <= n; ++i)
      text += std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(scale) + "\n";
    return write(name, text);
  }

  /// Runs `lanky arguments --json`; the one line of `kind`.
  Json solve(const std::string& kind, const std::string& arguments, int exit_code = 0) {
    fs::remove(json());
    ran_ = lanky(kind + " --device cpu --json '" + json() + "' " + arguments);
    EXPECT_EQ(ran_.exit_code, exit_code) << arguments << "\n" << ran_.out << ran_.err;
    const std::vector<Json> all = lines();
    if (all.size() != 2 || all[0]["kind"] != "env" || all[1]["kind"] != kind) {
      ADD_FAILURE() << arguments << ": not an env line and a line of " << kind << "\n" << ran_.err;
      return Json::object();
    }
    return all[1];
  }

  Ran ran_;
};

/// Of values, residuals and history: what holds of every solution that has converged.
void expect_converged(const Json& line, int k) {
  EXPECT_EQ(line["status"], "converged");
  EXPECT_EQ(line["converged"], k);
  EXPECT_EQ(line["k"], k);
  EXPECT_EQ(line["residuals"].size(), static_cast<std::size_t>(k));
  const Json& history = line["history"];
  for (const char* field : {"iteration", "converged", "residual", "seconds"})
    EXPECT_EQ(history[field].size(), history["iteration"].size()) << field;
  ASSERT_FALSE(history["residual"].empty());
  EXPECT_LE(history["residual"].back(), line["tolerance"]);
  EXPECT_GE(history["iteration"].back(), line["iterations"]);  // tests may be some iterations apart
  for (const char* field : {"seconds", "setup_seconds", "read_seconds", "product_seconds"})
    EXPECT_GE(line[field].get<double>(), 0) << field;
}

TEST_F(CliSolvers, EigsFindsAKnownSpectrumWithTheValuesOfTheFile) {
  const Json line = solve("eigs", path_matrix("p.mtx", 200, "2.25") + " -k 4");
  expect_converged(line, 4);
  EXPECT_EQ(line["matrix"], "p");
  EXPECT_EQ(line["rows"], 200);
  EXPECT_EQ(line["nnz"], 598);
  EXPECT_EQ(line["dtype"], "f64");
  EXPECT_EQ(line["device"], "cpu");
  EXPECT_EQ(line["method"], "lobpcg");
  EXPECT_EQ(line["content"].get<std::string>().rfind("xxh3:", 0), 0U);
  for (int j = 0; j < 4; ++j) {
    const double exact = path_value(200, j, 2.25);
    EXPECT_NEAR(line["values"][j], exact, 1e-12) << j;
    EXPECT_LE(std::abs(line["values"][j].get<double>() - exact), line["bounds"][j]) << j;
  }
  EXPECT_NE(ran_.out.find("values of the file"), std::string::npos) << ran_.out;
  EXPECT_NE(ran_.out.find("4 of 4 eigenpairs converged after"), std::string::npos) << ran_.out;
  EXPECT_NE(ran_.out.find("0.250244"), std::string::npos) << ran_.out;
  EXPECT_EQ(ran_.err, "");
}

TEST_F(CliSolvers, EigsTakesEitherEndOfTheSpectrumInAnyType) {
  const std::string file = path_matrix("p.mtx", 300);
  for (const char* dtype : {"f64", "f32", "c64", "c128"}) {
    const Json line = solve("eigs", file + " -k 3 --end largest --dtype " + dtype);
    expect_converged(line, 3);
    EXPECT_EQ(line["dtype"], dtype);
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(line["values"][j], path_value(300, 299 - j), line["bounds"][j].get<double>())
          << dtype << " " << j;
    }
  }
}

TEST_F(CliSolvers, EigsOfAGraphAreThoseOfItsLaplacian) {
  const std::string graph = path_graph("g.mtx", 100);
  const Json line = solve("eigs", graph + " --laplacian -k 3 --preconditioner block-jacobi:4");
  expect_converged(line, 3);
  EXPECT_EQ(line["nnz"], 298);
  EXPECT_EQ(line["laplacian"], true);
  EXPECT_EQ(line["preconditioner"], "block-jacobi:4");
  for (int j = 0; j < 3; ++j)
    EXPECT_NEAR(line["values"][j], 2 - 2 * std::cos(std::numbers::pi * j / 100), 1e-10) << j;

  // Entries of a pattern are 1, which is told.
  const Json adjacency = solve("eigs", graph + " --end largest -k 2");
  EXPECT_NEAR(adjacency["values"][0], 2 * std::cos(std::numbers::pi / 101), 1e-10);
  EXPECT_NE(ran_.out.find("a pattern, whose entries are 1"), std::string::npos) << ran_.out;

  const Json mixed = solve("eigs", graph + " --laplacian -k 3 --mixed");
  EXPECT_TRUE(mixed["mixed"]);
  EXPECT_NEAR(mixed["values"][1].get<double>(), line["values"][1].get<double>(), 1e-8);
  const Json generated = solve("eigs", "--generate stencil5:12 --laplacian -k 2");
  EXPECT_NEAR(generated["values"][1], 2 - 2 * std::cos(std::numbers::pi / 12), 1e-10);
  EXPECT_EQ(generated["content"], "spec:stencil5:12");
}

TEST_F(CliSolvers, EigsOfAHermitianFileAreComplexUnlessTold) {
  constexpr int kRows = 60;
  std::string text = "%%MatrixMarket matrix coordinate complex hermitian\n60 60 119\n";
  for (int i = 1; i <= kRows; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " 2 0\n";
    if (i < kRows) text += std::to_string(i + 1) + " " + std::to_string(i) + " 0 1\n";
  }
  const std::string file = write("h.mtx", text);
  const Json line = solve("eigs", file + " -k 3");  // similar to (-1, 2, -1)
  expect_converged(line, 3);
  EXPECT_EQ(line["dtype"], "c128");
  for (int j = 0; j < 3; ++j)
    EXPECT_NEAR(line["values"][j], path_value(kRows, j), 1e-10) << j;

  const Ran real = lanky("eigs --dtype f64 " + file);
  EXPECT_EQ(real.exit_code, 2);
  EXPECT_NE(real.err.find("h.mtx: has complex entries; --dtype f64 has none"), std::string::npos)
      << real.err;
}

TEST_F(CliSolvers, EigsOfAPencil) {
  const std::string b = scaled_identity("b.mtx", 200, 4);
  const Json line = solve("eigs", path_matrix("p.mtx", 200) + " -k 3 --b " + b);
  expect_converged(line, 3);
  EXPECT_EQ(line["b"], b);
  for (int j = 0; j < 3; ++j) {
    EXPECT_NEAR(line["values"][j], path_value(200, j) / 4, 1e-12) << j;
    EXPECT_TRUE(line["bounds"][j].is_null()) << line["bounds"];
  }
}

/// |A x - lambda x| of the tridiagonal matrix, x of length 1.
double path_residual(const std::vector<double>& x, double lambda) {
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double left = i > 0 ? x[i - 1] : 0;
    const double right = i + 1 < x.size() ? x[i + 1] : 0;
    squares += std::pow((2 - lambda) * x[i] - left - right, 2);
  }
  return std::sqrt(squares);
}

TEST_F(CliSolvers, EigenvectorsAreWrittenForOtherPrograms) {
  const std::string file = path_matrix("p.mtx", 120);
  const std::string mtx = path("x.mtx");
  const Json line = solve("eigs", file + " -k 2 --vectors " + mtx);
  const CsrMatrix<double> vectors = io::read_csr<double>(mtx);
  ASSERT_EQ(vectors.rows, 120);
  ASSERT_EQ(vectors.cols, 2);
  ASSERT_EQ(vectors.nnz(), 240);
  std::string rows;
  for (std::size_t j = 0; j < 2; ++j) {
    std::vector<double> x;
    double squares = 0;
    for (std::size_t i = 0; i < 120; ++i) {
      x.push_back(vectors.values[2 * i + j]);
      squares += x.back() * x.back();
    }
    EXPECT_NEAR(squares, 1, 1e-12);
    EXPECT_NEAR(path_residual(x, line["values"][j]), line["residuals"][j], 1e-14);
  }

  const std::string npy = path("x.npy");
  solve("eigs", file + " -k 2 --vectors " + npy);
  const std::string bytes = content(npy);
  ASSERT_EQ(bytes.size() % 64, 240 * sizeof(double) % 64);
  EXPECT_EQ(bytes.substr(1, 5), "NUMPY");
  EXPECT_NE(bytes.find("'descr': '<f8', 'fortran_order': False, 'shape': (120, 2)"),
            std::string::npos);
  const std::string elements(reinterpret_cast<const char*>(vectors.values.data()),
                             240 * sizeof(double));
  EXPECT_EQ(bytes.substr(bytes.size() - elements.size()), elements);

  // Nothing is replaced unasked.
  EXPECT_EQ(lanky("eigs " + file + " --vectors " + npy).exit_code, 3);
  EXPECT_EQ(lanky("eigs " + file + " --force --vectors " + npy).exit_code, 0);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST_F(CliSolvers, APlotHasTheResidualOfEachIteration) {
  const std::string svg = path("p.svg");
  const Json line = solve("eigs", path_matrix("p.mtx", 200) + " -k 3 --plot " + svg);
  const std::string text = content(svg);
  EXPECT_EQ(text.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0U) << text;
  const std::string begin = "<path class=\"residual\" d=\"M";
  const std::size_t at = text.find(begin);
  ASSERT_NE(at, std::string::npos) << text;
  const std::string curve = text.substr(at, text.find('/', at) - at);
  EXPECT_EQ(count_of(curve, "L") + 1, line["history"]["residual"].size());
  EXPECT_EQ(count_of(text, "class=\"tolerance\""), 1U);
  EXPECT_EQ(count_of(text, "tolerance 1e-08"), 1U);
  const Ran parsed = shell(
      "python3 -c 'import sys, xml.etree.ElementTree as tree; "
      "tree.parse(sys.argv[1])' " +
      svg);
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
  const Ran drawn = lanky("eigs " + path("p.mtx") + " -k 3 --plot -");
  EXPECT_EQ(drawn.out, text);
  EXPECT_NE(drawn.err.find("3 of 3 eigenpairs"), std::string::npos) << drawn.err;
}

TEST_F(CliSolvers, WhatHasNotConvergedIsToldAndExitsWithOne) {
  const std::string file = path_matrix("p.mtx", 2000);
  const Json line = solve("eigs", file + " -k 3 --max-iterations 5", 1);
  EXPECT_EQ(line["status"], "iterations_exhausted");
  EXPECT_EQ(line["iterations"], 5);
  EXPECT_EQ(line["values"].size(), 3U);
  EXPECT_LT(line["converged"], 3);
  EXPECT_NE(ran_.err.find("eigenpairs have not converged to 1e-08: it ended after 5"),
            std::string::npos)
      << ran_.err;
  EXPECT_NE(ran_.out.find("of 3 eigenpairs converged after 5 iterations"), std::string::npos)
      << ran_.out;
}

TEST_F(CliSolvers, SmallMatricesAreSolvedWithoutIterations) {
  const Json line = solve("eigs", path_matrix("p.mtx", 12) + " -k 12 --plot " + path("p.svg"));
  EXPECT_EQ(line["iterations"], 0);
  for (int j = 0; j < 12; ++j)
    EXPECT_NEAR(line["values"][j], path_value(12, j), 1e-13);
  EXPECT_NE(ran_.out.find("without iterations"), std::string::npos) << ran_.out;
  EXPECT_NE(ran_.err.find("the drawing has no curve"), std::string::npos) << ran_.err;
}

/// Runs `lanky arguments` in a process of its own, sends it SIGINT when `file` has a line and its
/// solver is at work, and returns its exit code.
int interrupt(const std::string& arguments, const std::string& file, const std::string& err) {
  const std::string command = "exec '" + testing::beside_the_test("lanky") + "' " + arguments +
                              " >/dev/null 2>'" + err + "'";
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    setenv("OMP_NUM_THREADS", "1", 1);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  using namespace std::chrono_literals;
  for (int looks = 0; content(file).empty() && looks < 1000; ++looks)
    std::this_thread::sleep_for(20ms);
  std::this_thread::sleep_for(2s);
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(CliSolvers, AnInterruptLeavesTheBestSoFar) {
  const std::string vectors = path("x.npy");
  const int code =
      interrupt("eigs --device cpu --generate stencil7:60 --laplacian -k 5 --vectors " + vectors +
                    " --json " + json(),
                json(), path("err"));
  const std::string err = content(path("err"));
  EXPECT_EQ(code, 128 + SIGINT) << err;
  const std::vector<Json> found = of_kind("eigs");
  ASSERT_EQ(found.size(), 1U) << err;
  EXPECT_EQ(found[0]["status"], "stopped");
  EXPECT_LT(found[0]["converged"], 5);
  ASSERT_EQ(found[0]["values"].size(), 5U);
  EXPECT_FALSE(found[0]["history"]["residual"].empty());
  for (int j = 0; j < 5; ++j) {
    EXPECT_GT(found[0]["values"][j], -1e-9);
    EXPECT_LT(found[0]["values"][j], 12);
  }
  EXPECT_EQ(content(vectors).substr(1, 5), "NUMPY");
  EXPECT_NE(err.find("a signal ended it"), std::string::npos) << err;
}

TEST_F(CliSolvers, ATerminalSeesHowFarASolverIs) {
  const std::string command =
      "eigs --device cpu -k 8 --tolerance 1e-12 " + path_matrix("p.mtx", 20000, "2.5");
  EXPECT_EQ(lanky(command + " --max-iterations 20").err.find("iteration 1:"), std::string::npos);
  const Ran ran = shell("timeout 60 script -qec '" + testing::beside_the_test("lanky") + " " +
                        command + " --max-iterations 120' /dev/null");
  for (const char* text :
       {"iteration 1: 0/8 converged, residual ", " to 1e-12", ", by slope ", " left"})
    EXPECT_NE(ran.out.find(text), std::string::npos) << text << " is not in " << ran.out;
}

TEST_F(CliSolvers, MatricesThatCannotBeUsedAreToldWithTheirEntries) {
  const std::string header = "%%MatrixMarket matrix coordinate ";
  const auto file = [&](const std::string& name, const std::string& text) {
    return write(name, header + text);
  };
  const std::string good = path_matrix("p.mtx", 4);
  for (const auto& [arguments, said] : std::vector<std::pair<std::string, std::string>>{
           {file("values.mtx", "real general\n2 2 4\n1 1 1\n1 2 3\n2 1 4\n2 2 1\n"),
            "values.mtx: is not symmetric or Hermitian: entry (1, 2) is 3, entry (2, 1) is 4"},
           {file("pattern.mtx", "real general\n3 3 2\n1 1 1\n3 1 4\n"),
            "pattern.mtx: is not symmetric: there is an entry (3, 1), and none at (1, 3)"},
           {path("pattern.mtx") + " --laplacian", "there is an entry (3, 1), and none at (1, 3)"},
           {file("nan.mtx", "real general\n2 2 2\n1 1 1\n2 2 nan\n"),
            "nan.mtx: entry (2, 2) is nan; it must be finite"},
           {file("wide.mtx", "real general\n2 3 1\n1 1 1\n"),
            "wide.mtx: has 2 rows and 3 columns; a square matrix is needed"},
           {path("wide.mtx") + " --laplacian", "has 2 rows and 3 columns"},
           {file("c.mtx", "complex general\n2 2 2\n1 1 1 2\n2 2 1 0\n"),
            "c.mtx: is not Hermitian: entry (1, 1) is (1,2), which is not real"},
           {"--generate stencil5:4", "stencil5:4: is not symmetric or Hermitian: entry (1, 2) is "},
           {good + " --b " + path("values.mtx"),
            "values.mtx: has 2 rows and 2 columns; the "
            "matrix has 4 of each"},
           {good + " --b " + scaled_identity("b.mtx", 4, -1), "positive definite"},
           {path("absent.mtx"), "absent.mtx: cannot be opened"}}) {
    const Ran ran = lanky("eigs -k 1 --device cpu " + arguments);
    EXPECT_EQ(ran.exit_code, 3) << arguments << ": " << ran.err;
    EXPECT_NE(ran.err.find(said), std::string::npos) << arguments << "\n" << ran.err;
    EXPECT_EQ(count_of(ran.err, "\n"), 1U) << ran.err;
  }
}

TEST_F(CliSolvers, WrongUsageOfEigsIsToldWithItsValues) {
  const std::string good = path_matrix("p.mtx", 4);
  for (const auto& [arguments, said] : std::vector<std::pair<std::string, std::string>>{
           {"", "eigs needs a file or --generate SPEC"},
           {good + " --generate diagonal:5", "not both"},
           {good + " -k 5", "-k 5: the matrix has 4 rows"},
           {good + " -k 0", "0"},
           {good + " -k 2 --block 1", "--block 1: -k 2 eigenpairs need at least as many vectors"},
           {good + " --tolerance 2", "\"2\" is no tolerance such as 1e-8"},
           {good + " --tolerance nan", "\"nan\" is no tolerance"},
           {good + " --max-iterations 0", "0"},
           {good + " --seed -1", "\"-1\" is no whole number"},
           {good + " --end middle", "middle"},
           {good + " --dtype f16", "f16"},
           {good + " --preconditioner ilu", "\"ilu\" is no preconditioner"},
           {good + " --preconditioner block-jacobi:65", "\"block-jacobi:65\""},
           {good + " --vectors x.txt", "--vectors x.txt: the name should end with .mtx or .npy"},
           {good + " --json - --plot -", "would both write to standard output"},
           {good + " --device tpu", "\"tpu\""},
           {good + " --mixed --preconditioner jacobi", "--mixed is for the polynomial"},
           {good + " --method cg", "eigs has no option --method"}}) {
    const Ran ran = lanky("eigs " + arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments << ": " << ran.err;
    EXPECT_NE(ran.err.find(said), std::string::npos) << arguments << "\n" << ran.err;
    EXPECT_EQ(ran.out, "") << arguments;
  }
}

TEST_F(CliSolvers, SvdsFindsTheLargestSingularValues) {
  // Rows of a bidiagonal matrix, 1 and -1: A^T A is (-1, 2, -1) but for a corner, and its singular
  // values are 2 sin(pi (2 j + 1) / (4 n + 2)).
  constexpr int kCols = 150;
  std::string text = "%%MatrixMarket matrix coordinate real general\n150 150 299\n";
  for (int i = 1; i <= kCols; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " 1\n";
    if (i < kCols) text += std::to_string(i) + " " + std::to_string(i + 1) + " -1\n";
  }
  const std::string file = write("d.mtx", text);
  const std::string u = path("u.npy");
  const Json line =
      solve("svds", file + " -k 3 --u " + u + " --v " + path("v.mtx") + " --plot " + path("s.svg"));
  expect_converged(line, 3);
  EXPECT_EQ(line["method"], "golub-kahan");
  for (int j = 0; j < 3; ++j) {
    const double exact = 2 * std::sin(std::numbers::pi * (2 * (kCols - j) - 1) / (4 * kCols + 2));
    EXPECT_NEAR(line["values"][j], exact, 1e-7) << j;
  }
  EXPECT_NE(content(u).find("'shape': (150, 3)"), std::string::npos);
  EXPECT_EQ(io::read_header(path("v.mtx")).rows, kCols);
  EXPECT_NE(content(path("s.svg")).find("class=\"residual\""), std::string::npos);

  const Json randomized = solve("svds", file + " -k 3 --method randomized --power-iterations 8");
  EXPECT_EQ(randomized["method"], "randomized");
  EXPECT_TRUE(randomized["tolerance"].is_null());
  EXPECT_NE(ran_.out.find("3 singular triplets after "), std::string::npos) << ran_.out;
  for (int j = 0; j < 3; ++j) {
    EXPECT_NEAR(randomized["values"][j], line["values"][j], 0.05) << j;
    EXPECT_LE(randomized["values"][j].get<double>(), line["values"][j].get<double>() + 1e-7) << j;
  }

  const Ran many = lanky("svds " + file + " -k 151");
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_NE(many.err.find("-k 151: a matrix of 150 rows and 150 columns has 150 singular values"),
            std::string::npos)
      << many.err;
}

TEST_F(CliSolvers, CenteredSingularValuesAreThoseOfDeviations) {
  // The first column is 3 or 5, 4 on the average; the others are constant.
  std::string text = "%%MatrixMarket matrix array real general\n100 20\n";
  for (int j = 0; j < 20; ++j) {
    for (int i = 0; i < 100; ++i)
      text += j == 0 && i % 2 == 1 ? "3\n" : "5\n";
  }
  const std::string file = write("a.mtx", text);
  const Json line = solve("svds", file + " -k 1 --center");
  EXPECT_EQ(line["center"], true);
  EXPECT_NEAR(line["values"][0], std::sqrt(100.0), 1e-10);
  EXPECT_GT(solve("svds", file + " -k 1")["values"][0], 100);
}

/// |b - A x| / |b| of the tridiagonal matrix, b = 1.
double ones_residual(const std::vector<double>& x, double diagonal) {
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double left = i > 0 ? x[i - 1] : 0;
    const double right = i + 1 < x.size() ? x[i + 1] : 0;
    squares += std::pow(1 - (diagonal * x[i] - left - right), 2);
  }
  return std::sqrt(squares / static_cast<double>(x.size()));
}

TEST_F(CliSolvers, SolveFindsTheSolutionByEachMethod) {
  const std::string file = path_matrix("p.mtx", 500, "2.25");
  for (const char* method : {"cg", "block-cg", "minres"}) {
    for (const char* preconditioner : {"none", "jacobi", "block-jacobi:5"}) {
      const std::string x = path("x.mtx");
      const Json line = solve("solve", file + " --force --x " + x + " --method " + method +
                                           " --preconditioner " + preconditioner);
      expect_converged(line, 1);
      EXPECT_EQ(line["method"], method);
      EXPECT_EQ(line["rhs"], "ones");
      const std::vector<double> solution = io::read_csr<double>(x).values;
      ASSERT_EQ(solution.size(), 500U);
      EXPECT_LE(line["residuals"][0], 1e-8);
      EXPECT_NEAR(ones_residual(solution, 2.25), line["residuals"][0], 1e-13) << method;
    }
  }
}

TEST_F(CliSolvers, SolveTakesRightHandSidesFromFilesAndByChance) {
  const std::string file = path_matrix("p.mtx", 300, "2.5");
  const Json drawn = solve("solve", file + " --rhs random:5 --method block-cg --seed 7");
  expect_converged(drawn, 5);
  EXPECT_EQ(drawn["rhs"], "random:5");

  // The columns of b are A e1 and 2 A e3, so that x is known.
  const std::string b = write("b.mtx",
                              "%%MatrixMarket matrix coordinate real general\n300 2 5\n"
                              "1 1 2.5\n2 1 -1\n2 2 -2\n3 2 5\n4 2 -2\n");
  const std::string x = path("x.mtx");
  expect_converged(solve("solve", file + " --rhs " + b + " --x " + x + " --tolerance 1e-12"), 2);
  const CsrMatrix<double> solution = io::read_csr<double>(x);
  EXPECT_EQ(solution.rows, 300);
  EXPECT_EQ(solution.cols, 2);
  for (std::int64_t i = 0; i < solution.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t e = solution.row_offsets[row]; e < solution.row_offsets[row + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const int j = solution.col_indices[at];
      const double exact = j == 0 && i == 0 ? 1 : j == 1 && i == 2 ? 2 : 0;
      EXPECT_NEAR(solution.values[at], exact, 1e-10) << i << " " << j;
    }
  }

  const Json complex = solve("solve", file + " --rhs random:2 --dtype c64");
  expect_converged(complex, 2);
  const Json shifted = solve("solve", "--generate stencil7:8 --laplacian --shift 0.5 --rhs random");
  expect_converged(shifted, 1);
  EXPECT_EQ(shifted["shift"], 0.5);
}

TEST_F(CliSolvers, WhatIsNotSolvedIsToldAndExitsWithOne) {
  const Json line = solve("solve", path_matrix("p.mtx", 2000) + " --max-iterations 4", 1);
  EXPECT_EQ(line["status"], "iterations_exhausted");
  EXPECT_EQ(line["converged"], 0);
  EXPECT_NE(ran_.err.find("1 of 1 right-hand sides have not converged to 1e-08"), std::string::npos)
      << ran_.err;
}

TEST_F(CliSolvers, WrongUsageOfSolveAndSvdsIsToldWithItsValues) {
  const std::string good = path_matrix("p.mtx", 4);
  const std::string indefinite = path_matrix("i.mtx", 40, "-1");
  const std::string tall =
      write("t.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
  for (const auto& [arguments, code, said] : std::vector<std::tuple<std::string, int, std::string>>{
           {"solve", 2, "solve needs a file or --generate SPEC"},
           {"svds", 2, "svds needs a file or --generate SPEC"},
           {"solve " + good + " --rhs random:0", 2, "--rhs random:0: 1 to 4096"},
           {"solve " + good + " --rhs random:x", 2, "--rhs random:x"},
           {"solve " + good + " --method gmres", 2, "gmres"},
           {"solve " + good + " --shift x", 2, "\"x\" is no number"},
           {"solve " + good + " --x x.txt", 2, "--x x.txt: the name should end with"},
           {"svds " + good + " --method lanczos", 2, "lanczos"},
           {"svds " + good + " --method randomized --tolerance 1e-3", 2, "no --tolerance"},
           {"svds " + good + " --u u.txt", 2, "--u u.txt: the name should end with"},
           {"solve " + good + " --rhs " + tall, 3, "t.mtx: has 3 rows and 1 columns; 4 rows and 1"},
           {"solve " + good + " --rhs absent.mtx", 3, "absent.mtx: cannot be opened"},
           {"solve " + indefinite, 3, "positive definite"},
           {"solve --generate stencil5:4", 3, "stencil5:4: is not symmetric or Hermitian"}}) {
    const Ran ran = lanky(arguments);
    EXPECT_EQ(ran.exit_code, code) << arguments << ": " << ran.err;
    EXPECT_NE(ran.err.find(said), std::string::npos) << arguments << "\n" << ran.err;
  }
}

}  // namespace
}  // namespace lanky
