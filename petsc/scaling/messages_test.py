"""messages.py against PETSc's own scatter: messages_test.py lanky_petsc_scatter

Stencils on boxes that divide evenly and that do not, and real matrices by rows and by bisection.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import messages  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
MATRICES = HERE.parent.parent / "matrices"
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1"}


def by_petsc(ranks, *words):
    run = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), str(PROGRAM), *words], env=ENVIRONMENT,
                         capture_output=True, text=True, check=False)
    if run.returncode:
        raise AssertionError(run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]


class Messages(unittest.TestCase):
    maxDiff = None

    def expect_stencil(self, points, ranks, width):
        box = messages.Box(points, messages.process_grid(ranks, points), width == 27)
        own = [box.rank(rank).line() for rank in range(ranks)]
        words = ("-points", ",".join(map(str, points)), "-grid", ",".join(map(str, box.grid)), "-stencil", str(width))
        self.assertEqual(own, by_petsc(ranks, *words))

    def test_stencils(self):
        for points, ranks in (((6, 5, 4), 1), ((8, 8, 8), 2), ((9, 5, 7), 4), ((7, 3, 3), 3), ((9, 7, 5), 8), ((9, 8, 7), 12),
                              ((13, 8, 5), 16)):
            for width in (27, 7):
                with self.subTest(points=points, ranks=ranks, width=width):
                    self.expect_stencil(points, ranks, width)

    def expect_matrix(self, name, ranks, partition):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "matrix.petsc"
            pattern = messages.partitioned(messages.read_pattern(MATRICES / f"{name}.mtx.xz"), ranks, partition)
            pattern.write_petsc(path)
            self.assertEqual([rank.line() for rank in messages.split_rows(pattern, ranks)],
                             by_petsc(ranks, "-file", str(path)))

    def test_matrices(self):
        for name, ranks, partition in (("wave", 4, "bisection"), ("memplus", 1, "rows"), ("memplus", 2, "rows"),
                                       ("delaunay_n15", 4, "rows"), ("delaunay_n15", 8, "bisection"),
                                       ("west0479", 5, "rows")):
            with self.subTest(name=name, ranks=ranks, partition=partition):
                self.expect_matrix(name, ranks, partition)

    def test_a_stencil_as_a_matrix(self):
        """The closed form against the general one, for more ranks than a test can start."""
        points, ranks = (12, 12, 12), 216
        for corners in (True, False):
            box = messages.Box(points, messages.process_grid(ranks, points), corners)
            begin = [0]
            for rank in range(ranks):
                begin.append(begin[-1] + box.rank(rank).rows)
            number = {}
            for rank in range(ranks):
                low = [messages.part_begin(points[d], box.grid[d], p) for d, p in enumerate(box.place(rank))]
                size = box.size(rank)
                for k in range(size[0] * size[1] * size[2]):
                    inside = (k % size[0], k // size[0] % size[1], k // size[0] // size[1])
                    number[tuple(a + b for a, b in zip(low, inside))] = begin[rank] + k
            rows = [[] for _ in number]
            for node, row in number.items():
                for step in messages.itertools.product((-1, 0, 1), repeat=3):
                    other = tuple(a + b for a, b in zip(node, step))
                    if other in number and (corners or sum(map(abs, step)) <= 1):
                        rows[row].append(number[other])
            offsets, columns = [0], messages.array.array("i")
            for row in rows:
                columns.extend(sorted(row))
                offsets.append(len(columns))
            self.assertEqual([box.rank(r).line() for r in range(ranks)],
                             [r.line() for r in messages.split_rows(messages.Pattern(offsets, columns), ranks)])

    def test_bisection_is_a_permutation(self):
        pattern = messages.read_pattern(MATRICES / "minnesota.mtx.xz")
        for ranks in (2, 3, 8):
            self.assertEqual(sorted(messages.bisect(pattern, ranks)), list(range(pattern.rows)))

    def test_a_rectangular_matrix_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "it must be square"):
            messages.read_pattern(MATRICES / "pilot87.mtx.xz")


if __name__ == "__main__":
    unittest.main()
