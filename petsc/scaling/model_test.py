"""Invariants of the model of scaling, on kernels whose times follow from their sizes."""

import json
import math
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import check  # noqa: E402
import model  # noqa: E402
from messages import Box  # noqa: E402


def write_kernels(path, slowness=1.0):
    """A device of 4 TB/s and 2 us a kernel; cuSPARSE takes half as long again."""
    with open(path, "w", encoding="utf-8") as file:
        def write(**line):
            print(json.dumps(line), file=file)

        write(kind="env", gpu="none", commit="none")
        write(kind="scaling_host", launch_us=2, launch_and_wait_us=8, dot_to_host_us=15, lanky_dot_to_host_us=12)
        for problem in model.problems():
            size, sides, *unknowns = problem.split(":")
            rows = math.prod(map(int, size.split(","))) * int(*unknowns or "1")
            write(kind="scaling_vectors", problem=problem, rows=rows, axpy_us=2 + 24 * rows / 4e6, dot_us=2 + 16 * rows / 4e6,
                  lanky_dot_us=2 + 16 * rows / 4e6)
            for columns in model.COLUMNS:
                write(kind="scaling_rows", problem=problem, columns=columns, gather_us=3, add_us=4)
            for block, entries in (("diagonal", 27 * rows), ("off_diagonal", 9 * rows ** (2 / 3) * sides.count("1"))):
                for columns in model.COLUMNS:
                    for contestant, factor in (("lanky", 1), ("cusparse", 1.5)):
                        for variant, whole in (("auto", 16 * rows), ("auto-nonempty-rows", 0))[:1 if block == "diagonal" else 2]:
                            if entries:
                                us = slowness * factor * (2 + (whole + (10 + columns) * entries) / 4e6)
                                write(kind="scaling_kernel", status="ok", problem=problem, block=block, columns=columns, rows=rows,
                                      contestant=contestant, variant=variant, us=us)


def write_link(folder, transport="self,smcuda", way="device"):
    path = pathlib.Path(folder) / "link.jsonl"
    lines = [{"kind": "env", "gpu": "none", "ranks": 2, "mpi": "none", "transport": transport}]
    lines += [{"kind": "scaling_link", "way": way, "bytes": size, "status": "ok", "us": us} for size, us in ((8, 11), (1 << 20, 14), (2 << 20, 18))]
    lines.append({"kind": "scaling_allreduce", "us": 1.0})
    lines += [{"kind": "scaling_reduction", "work_us": work, "us": work + us} for work, us in ((50.0, 1.0), (100.0, 2.0), (200.0, 4.0))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


class Model(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.jsonl"
            write_kernels(path)
            cls.kernels = model.Kernels(path)
            parameters = model.measured_network(write_link(folder))
        cls.network = model.values_of(parameters)
        cls.lines = model.all_lines(cls.kernels, parameters)
        cls.figures = [line for line in cls.lines if line["kind"] == "scaling_model"]

    def predict(self, case="weak 1e7", ranks=64, columns=1, contestant="lanky", **network):
        return model.predict(case, ranks, columns, contestant, self.kernels, {**self.network, **network})

    def test_nothing_is_called_measured(self):
        self.assertEqual({line["measured"] for line in self.lines}, {False})

    def test_one_rank_sends_nothing(self):
        for line in self.figures:
            if line["ranks"] == 1:
                self.assertEqual(line["matmult_us"], line["diagonal_us"])
                self.assertEqual((line["neighbours"], line["ghosts"], line["messages_us"]), (0, 0, 0))

    def test_no_product_is_faster_than_its_parts(self):
        for line in self.figures:
            after = 0 if line["contestant"] == "lanky" else line["packing_us"] + line["off_diagonal_us"]
            self.assertGreaterEqual(line["matmult_us"] * (1 + 1e-12), max(line["diagonal_us"], line["messages_us"]) + after)
            self.assertGreaterEqual(line.get("cg_us", math.inf), line["matmult_us"])
            self.assertTrue(0 <= line["matmult_communication"] < 1)

    def test_lanky_hides_all_but_the_adding(self):
        line = self.predict("weak 1e8", 8)
        self.assertAlmostEqual(line["matmult_us"], line["diagonal_us"] + 4)

    def test_copies_that_wait_for_the_product_are_no_part_of_lanky(self):
        for contestant, more in (("lanky", 0), ("cusparse", self.predict("weak 1e8", 8)["messages_us"])):
            apart = self.predict("weak 1e8", 8, contestant=contestant, copies_overlap=0)["matmult_us"]
            self.assertAlmostEqual(apart - self.predict("weak 1e8", 8, contestant=contestant)["matmult_us"], more)

    def test_latency_and_bytes_cost(self):
        base = self.predict(ranks=4096)
        self.assertGreater(self.predict(ranks=4096, ib_latency_us=500)["matmult_us"], base["matmult_us"])
        self.assertGreater(self.predict(ranks=4096, ib_gb_s=0.1)["matmult_us"], base["matmult_us"])
        self.assertGreater(self.predict(ranks=4096, host_latency_us=50)["cg_us"], base["cg_us"])
        self.assertGreater(self.predict(ranks=4096, nics_a_node=1, ib_gb_s=1)["messages_us"],
                           self.predict(ranks=4096, ib_gb_s=1)["messages_us"])

    def test_a_node_uses_no_adapter(self):
        for ranks in (2, 4, 8):
            self.assertEqual(self.predict(ranks=ranks, ib_gb_s=1e-9, ib_latency_us=1e9), self.predict(ranks=ranks))

    def test_messages_behind_the_product_are_free(self):
        slow = self.predict(ranks=64, ib_latency_us=self.predict(ranks=64)["diagonal_us"] - 100)
        self.assertEqual(slow["matmult_us"], self.predict(ranks=64)["matmult_us"])

    def test_efficiency_falls_in_strong_scaling(self):
        for case in ("strong 1e9", "strong 2e8"):
            shares = [line["matmult_efficiency"] for line in self.figures
                      if (line["case"], line["columns"], line["contestant"], line["network"]) == (case, 1, "lanky", "published")]
            self.assertEqual(shares[0], 1)
            self.assertEqual(sorted(shares, reverse=True), shares)

    def test_slower_kernels_are_dominated_later(self):
        found = {(line["case"], line["columns"], line["what"], line["contestant"]): line["from_ranks"] or math.inf
                 for line in self.lines if line["kind"] == "scaling_dominated" and line["network"] == "published"}
        for (case, columns, what, contestant), ranks in found.items():
            if contestant == "lanky":
                self.assertLessEqual(ranks, found[case, columns, what, "cusparse"])

    def test_what_is_missing_is_told(self):
        with self.assertRaisesRegex(model.ModelError, "does not exist: run lanky_petsc_kernels"):
            model.Kernels("/nowhere.jsonl")
        with self.assertRaisesRegex(model.ModelError, "no time of mkl"):
            self.kernels.product(model.problems()[0], "diagonal", 1, "mkl")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.jsonl"
            path.write_text('{"kind":"env","gpu":"AMD EPYC","commit":"x"}\n', encoding="utf-8")
            with self.assertRaisesRegex(model.ModelError, "not measured on a GPU"):
                model.Kernels(path)

    def test_problems_are_those_of_the_file(self):
        self.assertEqual((HERE / "problems.txt").read_text(encoding="utf-8").split(), model.problems())


class Measured(unittest.TestCase):
    """model.py check, on times that are a tenth above the predictions."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        path = pathlib.Path(self.folder.name) / "kernels.jsonl"
        write_kernels(path)
        self.kernels = model.Kernels(path)

    def test_network_is_what_was_measured(self):
        network = model.values_of(model.measured_network(write_link(self.folder.name)))
        self.assertAlmostEqual(network["nvlink_gb_s"], 262.144)
        self.assertAlmostEqual(network["nvlink_latency_us"] + network["nvlink_message_us"], 11)
        self.assertEqual(network["node_step_us"], 2.0)
        with self.assertRaisesRegex(model.ModelError, "no messages from GPU memory"):
            model.measured_network(write_link(self.folder.name, way="host"))

    def test_errors_are_those_of_the_predictions(self):
        network = model.values_of(model.measured_network(write_link(self.folder.name)))
        measured = []
        for name, ranks, task, contestant in (("box:308,154,154", 2, "matmult", "aijlanky"), ("box:94,94,94,3", 1, "cg", "aijcusparse"),
                                              ("box:154,154,154", 1, "lobpcg", "aijlanky"), ("mesh:1000", 2, "matmult", "aijlanky"),
                                              ("box:308,154,154", 2, "matmatmult", "aijcusparse")):
            measured.append({"case": name, "ranks": ranks, "task": task, "contestant": contestant, "status": "ok", "us": 100.0})
        found = list(model.check(self.kernels, network, measured))
        self.assertEqual([(line["case"], line["ranks"]) for line in found],
                         [("weak 1e8", 2), ("strong 2e8, 3 unknowns", 1), ("weak 1e8", 2)])
        for line in found:
            self.assertAlmostEqual(line["error"], line["predicted_us"] / 100 - 1)
            self.assertEqual(line["within"], abs(line["error"]) <= 0.15)


class Check(unittest.TestCase):
    APART = {"bytes": [8, 16, 32], "one_way_us": [1.0, 2.0, 4.0]}
    TOGETHER = {"bytes": [8, 16, 32], "one_way_us": [3.0, 4.0, 6.0]}
    KERNELS = {"product_us": 100, "diagonal_us": 90, "off_diagonal_us": 15, "vectors_us": 20}

    def test_messages_between_measured_sizes(self):
        for size, us in ((1, 1), (8, 1), (12, 1.5), (32, 4), (64, 8)):
            self.assertEqual(check.one_way(self.APART, size), us)

    def test_one_rank_takes_its_kernels(self):
        self.assertEqual(check.predict(Box((4, 4, 4), (1, 1, 1)), self.KERNELS, self.APART, self.TOGETHER), (100, 125))

    def test_two_ranks_share_no_core(self):
        # A face of one point: a message of 8 bytes; three reductions of one step.
        self.assertEqual(check.predict(Box((2, 1, 1), (2, 1, 1)), self.KERNELS, self.APART, self.TOGETHER), (101, 129))

    def test_ranks_beyond_the_cores_hand_them_over(self):
        # Two ranks a core: 6 messages in all, a switch of 2 us for each rank; reductions of two steps of 3 us.
        self.assertEqual(check.predict(Box((4, 1, 1), (4, 1, 1)), self.KERNELS, self.APART, self.TOGETHER),
                         (107, 125 + 7 + 2 * 3 * 2 * 3))


if __name__ == "__main__":
    unittest.main()
