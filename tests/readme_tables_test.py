"""bench/scripts/readme_tables.py, plots.py and targets.py in a tree of their own: what they write, and that
each check can fail."""

import json
import lzma
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "bench" / "scripts"
ENV = {"kind": "env", "schema": 1, "gpu": "NVIDIA H200", "cuda": "13.0", "cusparse": "12.6",
       "cublas": "13.1", "commit": "0123456789abcdef", "utc": "2026-01-02T03:04:05Z"}


def spmv(case, contestant, variant, graph_us, **changes):
    line = {"kind": "spmv", "case": case, "m": 20000, "n": 3, "nnz": 1234567, "dtype": "f64",
            "contestant": contestant, "variant": variant, "status": "ok", "warm_us": 99.0,
            "graph_us": graph_us, "floor_us": 4.0, "floor_batch_us": 50.0}
    return {**line, **changes}


def gemm(contestant, warm_us, **changes):
    line = {"kind": "gemm", "case": "gram-1e6x16", "family": "gram", "m": 16, "n": 16,
            "k": 1000000, "op_a": "t", "op_b": "n", "layout": "col", "ld": "tight", "beta": 0,
            "dtype": "f32", "contestant": contestant,
            "variant": "auto" if contestant == "lanky" else "gemmex", "status": "ok",
            "warm_us": warm_us, "graph_us": 1.0, "floor_us": 1.0, "floor_batch_us": 8.0}
    return {**line, **changes}


class ReadmeTables(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="lanky_tables_"))
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "docs").mkdir()
        shutil.copytree(SCRIPTS, self.root / "bench" / "scripts", ignore=shutil.ignore_patterns("__pycache__"))

    def write(self, lines, kinds):
        (self.root / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        text = "".join(f"<!-- table: {kind} r.jsonl -->\n<!-- end table -->\nkept\n" for kind in kinds)
        (self.root / "README.md").write_text("# head\n" + text)

    def run_script(self, *arguments, script="readme_tables.py"):
        return subprocess.run([sys.executable, self.root / "bench" / "scripts" / script, *arguments],
                              capture_output=True, text=True, check=False)

    def page(self):
        return (self.root / "README.md").read_text()

    def test_unseen_inputs_stand_beside_the_best_vendor(self):
        trials = [{"shape": "a", "path": "cuda", "ratio": 1.0}, {"shape": "b", "path": "cuda", "ratio": 0.8}]
        own = {"variant": "auto", "out": "f32", "alpha": 1}
        self.write([ENV, spmv("m", "lanky", "auto", 2.0, cold_us=6.0), spmv("m", "cusparse", "alg1", 3.0, cold_us=4.5),
                    spmv("m", "cusparse", "sell", 4.0, cold_us=9.0), spmv("m", "lanky", "tuned", 1.6, cold_us=6.0, trials=trials),
                    gemm("lanky", 5.0, graph_us=2.0, predicted_us=3.0, **own),
                    gemm("cublas", 1.0, graph_us=1.9, out="f32", alpha=1)], ["unseen-spmv", "unseen-gemm"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| f64 | 1 | 1.50 (100%) | 1.50 | 0.75 (0%) | 1.88 (100%) | 1.88 | 1.250 |", self.page())
        self.assertIn("| gram | 1 | 0.95 | 0% | 0.95 (gram-1e6x16) | 0% |", self.page())

    def test_reading_stands_beside_scipy(self):
        env = {"kind": "env", "schema": 1, "cpu": "CPU", "cores": 2, "scipy": "1.17", "commit": "0123456789abcdef",
               "utc": "2026-01-02T03:04:05Z"}
        line = {"kind": "read", "case": "real", "status": "ok", "nnz": 4000000, "file_bytes": 100e6, "csr_bytes": 5e7}
        lines = [{**line, "contestant": "lanky", "median_s": 0.1, "peak_bytes": 7e7},
                 {**line, "contestant": "scipy-mmread", "median_s": 0.2, "peak_bytes": 8e7},
                 {**line, "contestant": "scipy-mmread-tocsr", "median_s": 0.25, "peak_bytes": 1e8},
                 {**line, "contestant": "lanky-cache", "median_s": 0.04, "file_bytes": 5e7, "peak_bytes": 5e7},
                 {**line, "contestant": "bytes-of-cache", "median_s": 0.03, "file_bytes": 5e7, "peak_bytes": None}]
        self.write([env, *lines], ["read"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| real, 4M entries | 100 MB | 1000 MB/s (**2.00**, **2.50**) | 500 MB/s | 400 MB/s | "
                      "1.40 (1.60, 2.00) | 1250 MB/s (0.75) |", self.page())
        lines[1]["status"] = "wrong"
        self.write([env, *lines], ["read"])
        self.assertEqual(self.run_script().returncode, 1)

    def test_spmv_takes_the_best_vendor_by_graph(self):
        self.write([ENV, spmv("a", "lanky", "auto", 5.0), spmv("a", "cusparse", "alg1", 12.0),
                    spmv("a", "cusparse", "alg2", 10.0), spmv("a", "lanky", "mma", 1.0), spmv("b", "lanky", "auto", 8.0),
                    spmv("b", "cusparse", "alg1", 4.0)], ["spmv", "spmv-summary"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| a | 20k | 1.23M | 2.00 (80%) |", self.page())
        self.assertIn("| b | 20k | 1.23M | 0.50 (50%) |", self.page())
        self.assertIn("| f64 | 2 | 1.00 | 0.50 | 2.00 | 1 | 65% | 0 |", self.page())
        self.assertIn("`r.jsonl`: NVIDIA H200, CUDA 13.0, cuSPARSE 12.6, commit 0123456789ab, 2026-01-02",
                      self.page())
        self.assertEqual(self.page().count("kept"), 2)
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_paths_compare_lankys_own_kernels(self):
        self.write([ENV, spmv("a", "lanky", "mma", 5.0), spmv("a", "lanky", "cuda", 10.0),
                    spmv("b", "lanky", "mma", 4.0), spmv("b", "lanky", "cuda", 2.0),
                    spmv("c", "lanky", "cuda", 4.0)], ["spmv-paths"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| f64 mma |", self.page())
        self.assertIn("| a |  | 1.23M | 0.50 |", self.page())
        self.assertIn("| b |  | 1.23M | 2.00 |", self.page())
        self.assertIn("| c |  | 1.23M |  |", self.page())

    def test_gemm_goes_by_batch(self):
        self.write([ENV, gemm("lanky", 10.0), gemm("cublas", 30.0)], ["gemm", "gemm-overview"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| gram-1e6x16 | 16 x 16 x 1M | col | 3.00 (80%) |", self.page())
        self.assertIn("| f32 | **3.00** (80%, \u2265 3.00) |", self.page())

    def test_the_core_and_the_sample_do_not_mix(self):
        grid = [ENV, gemm("lanky", 10.0), gemm("cublas", 30.0), gemm("cublaslt", 20.0, variant="best"),
                gemm("lanky", 10.0, beta=0.5, alpha=2.0), gemm("cublas", 9.0, beta=0.5, alpha=2.0),
                gemm("lanky", 10.0, dtype="f16", out="f32"), gemm("cublas", 5.0, dtype="f16", out="f32"),
                gemm("lanky", 16.0, dtype="f16", out="f16", layout="row"),
                gemm("cublas", 8.0, dtype="f16", out="f16", layout="row")]
        self.write(grid, ["gemm-overview", "gemm-worst", "gemm-sample", "gemm-grid:gram"])
        self.assertEqual(self.run_script().returncode, 0)
        page = self.page()
        self.assertIn("| f32 | **2.00** (80%, \u2265 2.00) |", page)
        self.assertIn("| f16 row-major | **0.50** (50%, \u2265 0.50) |", page)
        self.assertNotIn("| f16 | **", page)
        self.assertIn("| gram-1e6x16 f16>f32 col | 0.50 | 80% | 10.0 | 5.0 | cublas gemmex |", page)
        self.assertIn("| all | 2 | 0.67 | 0.50 | 2 | 80% | 0 |", page)
        self.assertIn("| alpha 2, beta 0.5 | 1 | 0.90 | 0.90 | 1 | 80% | 0 |", page)
        self.assertIn("| gram | f32 | f16 row |", page)
        self.assertIn("| 1e6x16 | 2.00 (80%) | 0.50 (50%) |", page)

    def test_arithmetic_can_be_the_limit(self):
        self.write([ENV, gemm("lanky", 20.0, peak_us=16.0), gemm("cublas", 30.0, peak_us=16.0)],
                   ["gemm-overview"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| f32 | **1.50** (80%, \u2265 1.50) |", self.page())

    def test_several_files_make_one_table(self):
        self.write([ENV, gemm("lanky", 10.0), gemm("cublas", 30.0)], [])
        (self.root / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [
            {**ENV, "commit": "fedcba9876543210"}, gemm("lanky", 10.0, case="gram-1e7x16", k=10**7),
            gemm("cublas", 10.0, case="gram-1e7x16", k=10**7)]))
        (self.root / "README.md").write_text(
            "<!-- table: gemm-overview [rs].jsonl -->\n<!-- end table -->\n")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("**1.73** (80%, \u2265 1.00)", self.page())
        self.assertIn("commit 0123456789ab, fedcba987654", self.page())

    def test_plots_follow_from_the_results(self):
        folder = self.root / "bench" / "results" / "h200"
        folder.mkdir(parents=True)
        lines = [ENV] + [gemm(who, time, n=n, m=n, case=f"gram-1e6x{n}", peak_us=peak)
                         for n, peak in ((16, 1.0), (32, 16.0))
                         for who, time in (("lanky", 10.0), ("cublas", 30.0))]
        (folder / "gemm_gram.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (self.root / "README.md").write_text("no table\n")
        self.assertEqual(self.run_script("--check").returncode, 1)
        self.assertEqual(self.run_script().returncode, 0)
        plot = self.root / "docs" / "plots" / "gemm_gram.svg"
        drawn = xml.etree.ElementTree.fromstring(plot.read_text())
        lines = {e.get("class"): e.get("points") for e in drawn.iter() if e.tag.endswith("polyline")}
        heights = {kind: [float(p.split(",")[1]) for p in points.split()] for kind, points in lines.items()}
        self.assertEqual(heights["lanky"][0], heights["lanky"][1])       # .8 of the floor
        self.assertLess(heights["lanky"][0], heights["vendor"][0])       # higher up
        self.assertLess(heights["limit"][0], heights["limit"][1])        # 1, then .5
        self.assertEqual(self.run_script("--check").returncode, 0)
        plot.write_text(plot.read_text().replace("polyline", "polygon"))
        self.assertEqual(self.run_script("--check").returncode, 1)

    def test_targets_are_met_or_missed(self):
        def judged(time, **changes):
            line = {"case": "gram-1e7x8", "k": 10**7, "m": 8, "n": 8, "floor_batch_us": 96.0, **changes}
            self.write([ENV, gemm("lanky", time, **line), gemm("cublas", 300.0, **line)], [])
            out = self.run_script(str(self.root / "r.jsonl"), script="targets.py")
            self.assertEqual(out.returncode, 1)  # most targets were not measured
            return next(row for row in out.stdout.splitlines() if row.startswith("| gram n <= 8, k = 1e7"))

        self.assertIn("| 0.96 (0.96) | 1 of 1 | met | gram-1e7x8 f32 col |", judged(100.0))
        self.assertIn("| 0.914 (0.96) | 0 of 1 | missed |", judged(105.0))
        self.assertIn("not measured", judged(105.0, peak_us=100.0))  # bound by arithmetic
        self.assertIn("| 0.914 (0.88) | 1 of 1 | met |", judged(105.0, dtype="f16", n=2, m=2))

    def sparse_target(self, name, lines):
        """The verdict's row, of lines that leave other targets unmeasured."""
        self.write([ENV] + lines, [])
        out = self.run_script(str(self.root / "r.jsonl"), script="spmv_targets.py")
        self.assertEqual(out.returncode, 1)
        return next(row for row in out.stdout.splitlines() if row.startswith(f"| {name} |"))

    def test_sparse_targets_are_met_or_missed(self):
        def both(case, time, **changes):
            return [spmv(case, "lanky", "auto", time, **changes), spmv(case, "cusparse", "sell", 9.0, **changes),
                    spmv(case, "cusparse", "alg1", 12.0, **changes)]

        mean = "mean speed-up, all matrices"
        self.assertIn("| 1.73, worst 1.50 (1.5) | - | - | - | not measured | b f64 |",
                      self.sparse_target(mean, both("a", 4.5) + both("b", 6.0)))
        four = [line for dtype in ("f64", "f32", "f16", "bf16") for line in both("a", 4.5, dtype=dtype)]
        self.assertIn("| 2.00 (1.5) | 2.00 (1.8) | 2.00 (2) | 2.00 (2) | met | a f64 |",
                      self.sparse_target(mean, four))
        self.assertIn("| missed | a f16 |", self.sparse_target(mean, four + both("a", 4.6, dtype="f16")))
        self.assertIn("| 0.50, worst 0.90 (0.97) |",
                      self.sparse_target("wins: share of matrices", both("a", 9.0) + both("b", 10.0)))
        wrong = spmv("b", "lanky", "auto", None, status="wrong", warm_us=None)
        self.assertIn("| 0.00 (0.97) |",
                      self.sparse_target("the worst matrix", both("a", 4.5) + both("b", 4.5)[1:] + [wrong]))

    def test_speedups_of_several_columns(self):
        def spmm(contestant, variant, graph_us, warm_us, columns, layout, **changes):
            return spmv("a", contestant, variant, graph_us, kind="spmm", warm_us=warm_us, columns=columns,
                        layout=layout, **{"class": "real", "bytes": 1e6, "reproducible": True, **changes})

        lines = [ENV]
        for layout, factor in (("row", 1), ("col", 2)):
            lines += [spmm("lanky", "auto", 2.0, 9.0, 8, layout),
                      spmm("lanky", "columns", 5.0, 5.0, 8, layout),
                      spmm("cusparse", "alg1", 3.0 * factor, 1.0, 8, layout, reproducible=False),
                      spmm("cusparse", "alg3", 8.0 * factor, 1.0, 8, layout),
                      spmm("cusparse", "mv", 5.0 * factor, 1.0, 8, layout),
                      spmm("lanky", "auto", 1.0, 10.0, 64, layout, bytes=6e7),
                      spmm("cusparse", "alg3", 9.0, 5.0, 64, layout, bytes=6e7)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        with lzma.open(self.root / "r.jsonl.xz", "wt") as file:
            file.write(text)
        out = self.run_script(str(self.root / "r.jsonl.xz"), script="spmm_targets.py")
        self.assertEqual(out.returncode, 0, out.stderr)
        for row in ("| speed-up by rows, up to 8 columns | 1.50 |", "| speed-up by columns, up to 8 columns | 3.00",
                    "| speed-up by rows, 33 to 128 columns | 0.50 |", "| wins by rows: share of products | 0.50",
                    "| over alg3 by rows | 1.41, worst 0.50 |", "| speed-up by rows, real | 0.87, worst 0.50 |",
                    "| over cuSPARSE's SpMM by columns | 1.22, worst 0.50 |", "| over cuSPARSE's SpMV, column after column | 5.00",
                    "| over lanky's own, column after column | 2.50 |",
                    "| reproducible: share of products, cusparse alg1 | 0.00 |",
                    "| reproducible: share of products, lanky auto | 1.00 |"):
            self.assertIn(row, out.stdout)
        below = self.run_script("--below", "1", str(self.root / "r.jsonl.xz"), script="spmm_targets.py")
        self.assertIn("cusparse alg3 5.00: a f64 x 64 row (real", below.stdout)

    def test_sampled_products_have_a_table(self):
        def sddmm(contestant, variant, graph_us, columns, layout, **changes):
            return spmv("a", contestant, variant, graph_us, kind="sddmm", columns=columns, layout=layout,
                        **{"bytes": 1e6, "reproducible": True, **changes})

        long = {"bytes": 6e7, "warm_us": 8.0}  # a batch counts
        lines = [ENV,
                 sddmm("lanky", "auto", 2.0, 8, "row"), sddmm("cusparse", "default", 3.0, 8, "row", reproducible=False),
                 sddmm("lanky", "auto", 2.0, 32, "col"), sddmm("cusparse", "default", 8.0, 32, "col"), sddmm("cusparse", "plain", 6.0, 32, "col"),
                 sddmm("lanky", "auto", 9.0, 128, "row", **long), sddmm("cusparse", "default", 1.0, 128, "row", **{**long, "warm_us": 4.0}),
                 sddmm("lanky", "auto", 2.0, 8, "row", dtype="bf16"),
                 sddmm("cusparse", "default", None, 8, "row", dtype="bf16", status="unsupported", warm_us=None, reproducible=None)]
        self.write(lines, ["sddmm"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| f64 | 1.50 (100%) | – | 0.50 (0%) | – | 3.00 (100%) | – | 0.50 (a f64 x 128 row) | 100%, 67% |", self.page())
        self.assertIn("| bf16 | – | – | – | – | – | – | – | 100% |", self.page())
        self.assertIn("`r.jsonl`: NVIDIA H200, CUDA 13.0, commit 0123456789ab, 2026-01-02; speed-up: the better time of cusparseSDDMM", self.page())
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_copies_for_several_columns_have_a_table(self):
        def spmm(case, variant, graph_us, **changes):
            return spmv(case, "lanky", variant, graph_us, kind="spmm", **{"columns": 16, "layout": "row", "bytes": 1e6, **changes})

        lines = [ENV,
                 spmm("a", "auto", 2.0), spmm("a", "mma", 2.0), spmm("a", "cuda", 8.0),
                 spmm("b", "auto", 3.0), spmm("b", "mma", 2.0), spmm("b", "cuda", 3.0),
                 spmm("c", "auto", 3.0),  # has no other
                 spmm("a", "auto", 1.0, dtype="f32", layout="col", columns=64), spmm("a", "mma", 2.0, dtype="f32", layout="col", columns=64),
                 spmm("a", "cuda", 1.0, dtype="f32", layout="col", columns=64)]
        self.write(lines, ["spmm-paths"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| f64 | by rows | 16 | 2 | 2.45 | 50% | 1.225 | 1.50 | 1.50 (b) |", self.page())
        self.assertIn("| f32 | by columns | 64 | 1 | 0.50 | 0% | 1.000 | 1.00 | 1.00 (a) |", self.page())

    def test_sparse_targets_by_size_and_class(self):
        large = {"class": "regular", "nnz": 2 * 10**7}
        share = "share of the floor, large regular"
        self.assertIn("| 1.25 (1.15) |", self.sparse_target(share, [spmv("a", "lanky", "auto", 3.2, **large)]))
        for other in ({**large, "nnz": 10**7}, {**large, "class": "power"}):
            self.assertIn("not measured",
                          self.sparse_target(share, [spmv("a", "lanky", "auto", 3.2, **other)]))
        small = [spmv("a", "lanky", "auto", 6.0, **{"class": "empty", "nnz": 200000})]
        self.assertIn("| 1.50 (2) |", self.sparse_target("time over the floor's, small irregular", small))

    def test_sparse_targets_of_cold_setup_and_memory(self):
        csr = 1234567 * 12 + 20001 * 4
        lines = [spmv("a", "lanky", "auto", 5.0, cold_us=8.0, setup_us=300.0, plan_bytes=csr // 2),
                 spmv("a", "cusparse", "alg1", 5.0, cold_us=20.0), spmv("a", "cusparse", "alg2", 6.0, cold_us=12.0)]
        self.assertIn("| 1.50 (1.3) |", self.sparse_target("cold: mean speed-up, all matrices", lines))
        self.assertIn("| 0.50 (1) |", self.sparse_target("setup over 20 products and 0.5 ms, each", lines))
        self.assertIn("| 0.50 (1) |", self.sparse_target("memory of the plan over CSR's, each", lines))
        lines.append(spmv("b", "lanky", "auto", 5.0, setup_us=1200.0, plan_bytes=0))
        row = self.sparse_target("setup over 20 products and 0.5 ms, each", lines)
        self.assertIn("worst 2.00 (1)", row)  # one that takes too long is one too many
        self.assertIn("| missed | b f64 |", row)

    def test_sparse_targets_of_updates_and_transient_memory(self):
        twice_csr = 2 * (1234567 * 12 + 20001 * 4)
        memory, update = "memory of the setup beyond the plan over twice CSR's, each", "update_values over 2 products, each"
        without = [spmv("a", "lanky", "auto", 5.0), spmv("b", "lanky", "auto", 5.0, update_us=None, setup_bytes=None)]
        for name in (memory, update):  # of files of earlier versions too
            self.assertIn("| - | - | - | - | not measured |", self.sparse_target(name, without))
        lines = [spmv("a", "lanky", "auto", 5.0, update_us=5.0, setup_bytes=twice_csr // 4),
                 spmv("a", "lanky", "mma", 5.0, update_us=99.0, setup_bytes=9 * twice_csr)]
        self.assertIn("| 0.25 (1) |", self.sparse_target(memory, lines))
        self.assertIn("| 0.50 (1) |", self.sparse_target(update, lines))
        lines.append(spmv("b", "lanky", "auto", 5.0, update_us=20.0, setup_bytes=0))
        self.assertIn("| 1.00, worst 2.00 (1) | - | - | - | missed | b f64 |", self.sparse_target(update, lines))
        self.assertIn("| 0.00, worst 0.25 (1) |", self.sparse_target(memory, lines))

    def test_a_setup_pays_after_so_many_products(self):
        self.write([ENV, spmv("a", "lanky", "auto", 5.0, setup_us=100.0), spmv("a", "cusparse", "alg1", 7.0),
                    spmv("a", "cusparse", "sell", 9.0), spmv("b", "lanky", "auto", 5.0, setup_us=300.0),
                    spmv("b", "cusparse", "alg1", 4.0), spmv("c", "lanky", "auto", 5.0, setup_us=1.0),
                    spmv("d", "lanky", "auto", 1.0, setup_us=30.0, nnz=1000), spmv("d", "cusparse", "alg1", 3.0, nnz=1000)],
                   ["spmv-break-even"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| below 1e5 | f64 | 1 | 30 | 15 | 15 | 0 |\n| 1e6 to 1e7 | f64 | 2 | 200 | – | – | 1 |\n", self.page())

    def test_classes_and_plots_of_sparse_products(self):
        folder = self.root / "bench" / "results" / "h200"
        folder.mkdir(parents=True)
        lines = [ENV] + [spmv(f"{name}{nnz}", who, "auto", time, bytes=nnz * 12, nnz=nnz, **{"class": name})
                         for name, times in (("stencil", (2.0, 5.0)), ("real", (4.0, 2.0)))
                         for nnz in (10**4, 10**6) for who, time in zip(("lanky", "cusparse"), times)]
        (folder / "spmv_core.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (self.root / "README.md").write_text(
            "<!-- table: spmv-classes bench/results/h200/spmv_*.jsonl -->\n<!-- end table -->\n")
        self.assertEqual(self.run_script("--check").returncode, 1)
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| stencil | 2 | **2.50** (200%, \u2265 2.50) |", self.page())
        self.assertIn("| all | 4 | **1.12** (141%, \u2265 0.50) |", self.page())

        def dots(plot, kind):
            drawn = xml.etree.ElementTree.fromstring((self.root / "docs" / "plots" / f"{plot}.svg").read_text())
            return [(float(e.get("cx")), float(e.get("cy"))) for e in drawn.iter()
                    if e.tag.endswith("circle") and e.get("class") == kind and len(e)]

        for plot in ("spmv_speedup", "spmv_floor"):
            faster, slower = dots(plot, "stencil"), dots(plot, "real")
            self.assertEqual((len(faster), len(slower)), (2, 2))
            self.assertLess(faster[0][1], slower[0][1])  # higher up
            self.assertLess(faster[0][0], faster[1][0])  # more entries, further right
        self.assertEqual(len(dots("spmv_bandwidth", "lanky")), 4)
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_a_class_has_a_line_over_the_number_of_columns(self):
        folder = self.root / "bench" / "results" / "h200"
        folder.mkdir(parents=True)
        lines = [ENV] + [spmv(f"{name}{i}", who, variant, time, kind="spmm", bytes=1000, columns=n, layout="row", **{"class": name})
                         for name, i, n, rival in (("stencil", 1, 2, 4.0), ("stencil", 2, 2, 16.0), ("stencil", 1, 8, 4.0),
                                                   ("real", 3, 2, 1.0))
                         for who, variant, time in (("lanky", "auto", 2.0), ("cusparse", "alg2", rival),
                                                    ("cusparse", "alg3", 2 * rival))]
        (folder / "spmm.raw.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (self.root / "README.md").write_text("<!-- table: spmm bench/results/h200/spmm.raw.jsonl -->\n<!-- end table -->\n")
        self.assertEqual(self.run_script("--check").returncode, 1)
        self.assertEqual(self.run_script().returncode, 0)
        drawn = (self.root / "docs" / "plots" / "spmm_speedup.svg").read_text()
        titles = [e.text for e in xml.etree.ElementTree.fromstring(drawn).iter() if e.tag.endswith("title")]
        self.assertEqual(titles, ["stencil, n = 2: 4.00, 2 matrices", "stencil, n = 8: 2.00, 1 matrix", "real, n = 2: 0.50, 1 matrix"])
        self.assertEqual(drawn.count("<polyline"), 2)
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_a_wrong_result_has_no_speed(self):
        self.write([ENV, spmv("a", "lanky", "auto", None, status="wrong", warm_us=None),
                    spmv("a", "cusparse", "alg1", 4.0)], ["spmv", "spmv-summary"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| wrong |", self.page())
        self.assertIn("| f64 | 1 | - | - | - | - | - | 1 |", self.page())

    def test_check_fails_for_a_changed_figure(self):
        self.write([ENV, spmv("a", "lanky", "auto", 5.0), spmv("a", "cusparse", "alg1", 10.0)], ["spmv"])
        self.run_script()
        (self.root / "README.md").write_text(self.page().replace("2.00", "2.01"))
        checked = self.run_script("--check")
        self.assertEqual(checked.returncode, 1)
        self.assertIn("2.01", checked.stderr)
        self.assertIn("2.01", self.page())  # changed nothing

    def test_pages_in_folders_of_docs_are_checked(self):
        self.write([ENV, spmv("a", "lanky", "auto", 5.0), spmv("a", "cusparse", "alg1", 10.0)], ["spmv"])
        page = self.root / "docs" / "lab" / "page.md"
        page.parent.mkdir()
        shutil.move(self.root / "README.md", page)
        self.assertEqual(self.run_script("--check").returncode, 1)
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| 2.00 (80%) |", page.read_text())
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_products_on_a_cpu_beside_each_rival(self):
        cpu = {**ENV, "gpu": "", "cuda": "", "cpu": "EPYC", "threads": 2, "openblas": "",
               "mkl": "oneMKL Version 2026.2-Product Build, kernels def"}
        lines = [spmv("a", "lanky", "auto", None, warm_us=10.0), spmv("a", "cpu-csr", "static", None, warm_us=30.0),
                 spmv("a", "cpu-csr", "guided", None, warm_us=20.0), spmv("a", "cpu-csr", "serial", None, warm_us=40.0),
                 spmv("a", "mkl", "mv", None, warm_us=25.0), spmv("b", "lanky", "auto", None, warm_us=10.0),
                 spmv("b", "cpu-csr", "static", None, warm_us=5.0), spmv("b", "mkl", "mv", None, warm_us=1.0, status="wrong"),
                 spmv("c", "lanky", "auto", None, warm_us=10.0)]
        (self.root / "cpu.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [cpu, *lines]))
        tables = "".join(f"<!-- table: {kind} cpu.jsonl -->\n<!-- end table -->\n" for kind in ("cpu-spmv", "cpu-spmv-losses"))
        (self.root / "README.md").write_text(tables)
        self.assertEqual(self.run_script().returncode, 0)
        text = (self.root / "README.md").read_text()
        self.assertIn("| f64 | 2 | 1.00 (50%) | 2.50 (100%) | 4.00 (100%) | 1.00 (50%) | 0.50 (b) |\n", text)
        self.assertIn("| b | f64 | 10.0 | CSR loop | 5.0 | 0.50 |\n", text)
        self.assertIn('oneMKL 2026.2-Product with its kernels "def"', text)

    def test_products_of_several_columns_on_a_cpu(self):
        cpu = {**ENV, "gpu": "", "cuda": "", "cpu": "EPYC", "threads": 2, "openblas": "", "mkl": ""}
        several = {"kind": "spmm", "columns": 8, "layout": "row"}
        lines = [{**spmv(case, contestant, variant, None, warm_us=us), **several}
                 for case, contestant, variant, us in (("a", "lanky", "auto", 10.0), ("a", "mkl", "mm", 40.0),
                                                       ("a", "cpu-csr", "static", 20.0), ("b", "lanky", "auto", 10.0),
                                                       ("b", "mkl", "mm", 5.0))]
        lines += [spmv("a", "lanky", "auto", None, warm_us=1.0), spmv("a", "mkl", "mv", None, warm_us=1.0)]
        (self.root / "cpu.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [cpu, *lines]))
        (self.root / "README.md").write_text("<!-- table: cpu-spmm cpu.jsonl -->\n<!-- end table -->\n")
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| type | X and Y | columns | products | CSR loop | MKL | best | worst |\n", (self.root / "README.md").read_text())
        self.assertIn("| f64 | by rows | 8 | 2 | 2.00 (100%) | 1.41 (50%) | 1.00 (50%) | 0.50 (b) |\n",
                      (self.root / "README.md").read_text())

    def test_what_cannot_be_a_table_is_an_error(self):
        good = spmv("a", "lanky", "auto", 5.0)
        for lines, kind, message in (([{**ENV, "void": True}, good], "spmv", "void"),
                                     ([good], "spmv", "no env line"),
                                     ([ENV, good], "gemm", "no gemm lines"),
                                     ([ENV, good], "spam", "unknown table")):
            self.write(lines, [kind])
            ran = self.run_script("--check")
            self.assertEqual(ran.returncode, 1)
            self.assertIn(message, ran.stderr)
        self.write([ENV, good], ["spmv"])
        (self.root / "r.jsonl").unlink()
        self.assertIn("does not exist", self.run_script("--check").stderr)
        (self.root / "README.md").write_text("<!-- table: spmv r.jsonl -->\n")
        self.assertEqual(self.run_script("--check").returncode, 1)

    def test_ladders_stand_rung_by_rung(self):
        env = {**ENV, "gpu": "", "cpu": "CPU", "threads": 2, "openblas": "OpenBLAS 0.3"}
        rung = {"kind": "ladder", "ladder": "gemm-cpu", "contestant": "gemm-cpu", "status": "ok", "idea": "three loops",
                "case": "gemm-8x8x8", "dtype": "f32", "peak_gflops": 100.0}
        self.write([env, {**rung, "rung": "loops", "us": 2000.0, "gflops": 5.0, "speedup_first": 1.0, "speedup_vendor": 0.25},
                    {**rung, "rung": "blocks", "us": 1000.0, "gflops": 10.0, "speedup_first": 2.0, "speedup_vendor": 0.5}],
                   ["ladder-gemm-cpu"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| loops | three loops | 2 | 5.00 | 5.0% | 1.0 | 0.250 |", self.page())
        self.assertIn("| blocks | three loops | 1 | 10.00 | 10.0% | 2.0 | 0.500 |", self.page())
        self.assertEqual(self.run_script("--check").returncode, 0)
        self.write([env, {**rung, "ladder": "tsm2"}], ["ladder-gemm-cpu"])
        self.assertNotEqual(self.run_script().returncode, 0)

    def test_the_ladder_of_several_columns_has_a_row_a_matrix(self):
        rung = {"kind": "ladder", "ladder": "spmm", "contestant": "spmm", "status": "ok", "case": "a", "dtype": "f32",
                "columns": 32, "nnz": 200000}
        times = {"element": 80.0, "warp-row": 40.0, "words": 20.0, "row-split": 20.0, "staged": 16.0}
        self.write([ENV, *({**rung, "rung": name, "us": us} for name, us in times.items()),
                    {**rung, "rung": "tensor", "status": "unsupported", "us": None},
                    {**rung, "contestant": "lanky", "rung": "lanky", "us": 10.0},
                    {**rung, "contestant": "cusparse", "rung": "cusparse alg2", "us": 40.0},
                    {**rung, "contestant": "cusparse", "rung": "cusparse alg3", "us": 30.0}], ["ladder-spmm"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| f32, 32, a | 2e+05 | 80.0 | 40.0 | 20.0 | 20.0 | 16.0 | - | 10.0 | 30.0 |", self.page())
        self.assertIn("| **0.38** | **0.75** | **1.50** | **1.50** | **1.88** | - | **3.00** | 1 |", self.page())

    def reliability(self, lines, *keys):
        """Runs the script over a page with a row for each of the keys, and the lines, if there are any."""
        if lines:
            (self.root / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        rows = "".join(f"| right | drawn | <!-- {key} --> typed by hand | 7 | NaN |\n" for key in keys)
        (self.root / "README.md").write_text("<!-- table: reliability:numbers r*.jsonl -->\n\n| promise | how | tried | failed | remains |\n"
                                             f"| --- | --- | --- | --- | --- |\n{rows}<!-- end table -->\n")
        return self.run_script()

    def test_promises_say_how_much_was_tried_and_what_failed(self):
        line = {"kind": "reliability", "part": "numbers", "check": "spmv random", "device": "cuda:0", "tried": 1000000,
                "unit": "products", "failed": 0, "worst": 0.25, "seconds": 2000.0}
        env = {**ENV, "lanky": "1.0.0"}
        self.assertEqual(self.reliability([], "spmv*").returncode, 0)
        self.assertIn("| right | drawn | <!-- spmv* --> not yet measured |  | NaN |", self.page())
        rows = [env, line, {**line, "dtype": "f32", "worst": 0.9999}, {**line, "device": "cpu", "tried": 5, "worst": None},
                {**line, "check": "spmm bits", "unit": "pairs", "tried": 3, "failed": 2, "skipped": 4, "cpu_seconds": 7200},
                {**line, "check": "reach", "unit": "lines", "tried": 200, "covered": 150, "worst": None}]
        (self.root / "h100").mkdir()
        (self.root / "h100" / "printed.txt").write_text("[  PASSED  ] 30 tests.\n[  FAILED  ] 2 tests, listed below:\n 2 FAILED TESTS\n")
        self.assertEqual(self.reliability(rows, "*?bits reach", "sp*", "h100/printed.txt").returncode, 0)
        self.assertIn("--> 2,000,000 products on an H200; 5 products on the CPU; at worst 0.999 of the bound | 0 | NaN |", self.page())
        self.assertIn("--> 3 pairs on an H200; 2.0 CPU hours; 75% of 200 lines reached; at worst 0.250 of the bound; 4 not tried | **2** | NaN |",
                      self.page())
        self.assertIn("<!-- h100/printed.txt --> 32 tests on an H100 | **2** | NaN |", self.page())
        self.assertIn("From `h100/printed.txt`, `r.jsonl` (NVIDIA H200, commit 0123456789ab, 2026-01-02).", self.page())
        self.assertEqual(self.run_script("--check").returncode, 0)
        (self.root / "README.md").write_text(self.page().replace("3 pairs", "4 pairs"))
        self.assertEqual(self.run_script("--check").returncode, 1)

    def test_nothing_that_was_tried_is_left_out(self):
        line = {"kind": "reliability", "part": "numbers", "check": "spmv", "device": "cpu", "tried": 1, "unit": "products", "failed": 1}
        for lines, keys, message in (([ENV, line], ["gemm*"], "no row of the table of numbers shows spmv"),
                                     ([ENV, {**line, "part": "number"}], ["*"], "no result of a part"),
                                     ([ENV, {**line, "tried": 0}], ["*"], "no result of a part"),
                                     ([line], ["*"], "no env line"),
                                     ([ENV, line], ["absent.txt"], "absent.txt does not exist")):
            ran = self.reliability(lines, *keys)
            self.assertEqual(ran.returncode, 1)
            self.assertIn(message, ran.stderr)

    def test_a_wrong_application_has_no_table(self):
        line = {"kind": "kmeans", "dtype": "f32", "n": 1024, "d": 4096, "status": "ok", "total_ms": 2.0, "product_ms": 1.0,
                "assign_ms": 0.2, "update_ms": 0.6}
        rows = [ENV, {**line, "contestant": "lanky"}, {**line, "contestant": "cublas", "total_ms": 3.0, "product_ms": 2.0}]
        self.write(rows, ["kmeans"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| f32, 1024 | 2 | 3 | **1.50** | 2.00 | 50%, 10%, 30%, 10% |  |", self.page())
        rows[1]["status"] = "wrong"
        self.write(rows, ["kmeans"])
        self.assertNotEqual(self.run_script().returncode, 0)

    def test_applications_and_the_sparse_ladder_are_drawn(self):
        abft = {"kind": "abft", "part": "time", "dtype": "f64", "m": 512}
        qr = {"kind": "cholqr", "dtype": "f32", "m": 1000, "n": 8, "condition": 1.0}
        cg = {"kind": "cg", "matrix": "a.mtx", "dtype": "f64", "nnz": 10}
        rung = {"kind": "ladder", "ladder": "spmv", "dtype": "f64", "case": "a", "nnz": 200000, "status": "ok"}
        timed = {"kind": "kmeans", "dtype": "f32", "n": 1024, "status": "ok"}
        files = {
            "kmeans": [{**timed, "contestant": "lanky", "total_ms": 2.0, "product_ms": 1.0},
                       {**timed, "contestant": "cublas", "total_ms": 3.0, "product_ms": 2.0}],
            "abft": [{**abft, "contestant": who, "total_ms": 10.0, "encode_ms": ms} for who, ms in (("lanky", 1.0), ("cublas", 2.5))],
            "cholqr": [{**qr, "contestant": who, "ms": ms}
                       for who, ms in (("lanky-cholqr2", 1.0), ("cusolver", 50.0), ("cublas-cholqr2", 4.0))],
            "solvers": [{**cg, "contestant": who, "graph": graph, "us_per_iteration": us, "spmv_us": us}
                        for who, graph, us in (("lanky", False, 5.0), ("lanky", True, 4.0), ("cusparse", False, 7.0),
                                               ("cusparse", True, 6.0))],
            "ladder_spmv": [{**rung, "contestant": "spmv", "rung": "dasp", "us": 20.0, "gathers_us": 5.0,
                             "arithmetic_us": -1.0, "rest_us": 16.0},
                            {**rung, "contestant": "lanky", "rung": "lanky", "us": 5.0},
                            {**rung, "contestant": "cusparse", "rung": "cusparse alg1", "us": 10.0}]}
        folder = self.root / "bench" / "results" / "h200"
        folder.mkdir(parents=True)
        for name, lines in files.items():
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [ENV, *lines]))
        (self.root / "README.md").write_text("no table\n")
        self.assertEqual(self.run_script().returncode, 0)

        def drawn(plot):
            """{title: its element}"""
            tree = xml.etree.ElementTree.fromstring((self.root / "docs" / "plots" / f"{plot}.svg").read_text())
            return {title.text: e for e in tree.iter() for title in e if title.tag.endswith("title")}

        dots = drawn("applications")
        self.assertEqual(sorted(dots), sorted([
            "1024, f32: 1.50", "1024, f32, product: 2.00", "512, f64: 1.00", "512, f64, product: 2.50", "1000, 8, f32: 4.00",
            "a, f64: 1.50", "a, f64, product: 1.50"]))
        self.assertLess(float(dots["1024, f32, product: 2.00"].get("cy")), float(dots["1024, f32: 1.50"].get("cy")))
        bars = {title: float(e.get("height")) for title, e in drawn("ladder_spmv").items()}
        self.assertEqual(bars["a, dasp, arithmetic: 0.0 us"], 0)
        self.assertAlmostEqual(bars["a, dasp, gathers: 5.0 us"], bars["a, lanky, lanky: 5.0 us"], delta=0.2)
        self.assertEqual(self.run_script("--check").returncode, 0)
        rewritten = (folder / "kmeans.jsonl").read_text().replace('"ok"', '"wrong"')
        (folder / "kmeans.jsonl").write_text(rewritten)
        self.assertEqual(self.run_script("--check").returncode, 1)


if __name__ == "__main__":
    unittest.main()
