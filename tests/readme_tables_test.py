"""bench/readme_tables.py in a tree of its own: what it writes, and that --check can fail."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "bench" / "readme_tables.py"
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
            "dtype": "f32", "contestant": contestant, "variant": "auto", "status": "ok",
            "warm_us": warm_us, "graph_us": 1.0, "floor_us": 1.0, "floor_batch_us": 8.0}
    return {**line, **changes}


class ReadmeTables(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="lanky_tables_"))
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "bench").mkdir()
        (self.root / "docs").mkdir()
        shutil.copy(SCRIPT, self.root / "bench")

    def write(self, lines, kinds):
        (self.root / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        text = "".join(f"<!-- table: {kind} r.jsonl -->\n<!-- end table -->\nkept\n" for kind in kinds)
        (self.root / "README.md").write_text("# head\n" + text)

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, self.root / "bench" / "readme_tables.py", *arguments],
                              capture_output=True, text=True, check=False)

    def page(self):
        return (self.root / "README.md").read_text()

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
        self.write([ENV, spmv("a", "lanky", "auto", 5.0), spmv("a", "lanky", "cuda", 10.0),
                    spmv("b", "lanky", "auto", 4.0), spmv("b", "lanky", "cuda", 2.0),
                    spmv("c", "lanky", "auto", 4.0)], ["spmv-paths"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| f64 | 2 | 1.000 | 0.50 | 2.00 |", self.page())

    def test_gemm_goes_by_batch(self):
        self.write([ENV, gemm("lanky", 10.0), gemm("cublas", 30.0)], ["gemm", "gemm-summary"])
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn("| gram-1e6x16 | 16 x 16 x 1M | col | 3.00 (80%) |", self.page())
        self.assertIn("| gram | f32 | 1 | 3.00 | 3.00 | 3.00 | 1 | 80% | 0 |", self.page())

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


if __name__ == "__main__":
    unittest.main()
