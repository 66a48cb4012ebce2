#!/usr/bin/env python3
"""The plug-ins inside PETSc and SLEPc, as programs load them by -dll_append.

plugin_test.py PART FOLDER MPIRUN [unittest's arguments]

FOLDER holds liblankypetsc.so and, where there is SLEPc, liblankyslepc.so; its tests/ holds the programs.
PART is one of: Programs (matrix_test and solver_test on 1, 2 and 4 ranks), Examples (PETSc's and SLEPc's own
programs print with lanky what they print without), Errors (they end all ranks, with a message), and Memory
(the programs under valgrind).
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PART, FOLDER, MPIRUN = sys.argv[1].capitalize(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
TESTS = FOLDER / "tests"
PETSC = FOLDER / "liblankypetsc.so"
SLEPC = FOLDER / "liblankyslepc.so"
OPEN_MPI_SUPPRESSIONS = pathlib.Path("/usr/share/openmpi/openmpi-valgrind.supp")
NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")


def is_open_mpi() -> bool:
    version = subprocess.run([MPIRUN, "--version"], capture_output=True, text=True, check=False).stdout
    return "Open MPI" in version or "OpenRTE" in version


# A rank that waits gives its core away: here are more ranks than cores.
OPEN_MPI = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"] if is_open_mpi() else []


class Run:
    """A program that was run on so many ranks."""

    def __init__(self, ranks: int, command: list, options: str = "", timeout: float = 240):
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PETSC_OPTIONS=options,
                           OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        with tempfile.TemporaryDirectory() as folder:  # for what programs write
            with subprocess.Popen([MPIRUN, *OPEN_MPI, "-n", str(ranks), *map(str, command)], env=environment,
                                  cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  errors="replace", start_new_session=True) as process:
                try:
                    self.out, self.err = process.communicate(timeout=timeout)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGTERM)  # mpirun ends its ranks
                    self.out, self.err = process.communicate()
                    self.err += f"\nit ran for more than {timeout} s"
        self.status = process.returncode
        self.all = self.out + self.err

    def passed(self) -> str:
        """What it printed; a failure where its status was not 0."""
        if self.status != 0:
            raise AssertionError(f"status {self.status}:\n{self.all[-6000:]}")
        return self.out


def plug_ins(slepc: bool = True) -> str:
    return f"{PETSC},{SLEPC}" if slepc and SLEPC.exists() else str(PETSC)


def words(text: str) -> list:
    return [float(word) if NUMBER.match(word) else word for word in re.split(r"[\s,:()=]+", text) if word]


class Programs(unittest.TestCase):
    def check(self, name: str, ranks: int, *options: str) -> None:
        if not (TESTS / name).exists():
            self.skipTest(f"needs SLEPc: there is no {TESTS / name}")
        out = Run(ranks, [TESTS / name, "-dll_append", plug_ins(name != "matrix_test"), *options]).passed()
        self.assertRegex(out, rf"{name}: \d+ checks on {ranks} ranks, 0 failed")

    def test_matrices(self):
        self.check("matrix_test", 1)

    def test_matrices_on_two_ranks(self):
        self.check("matrix_test", 2)

    def test_matrices_on_four_ranks(self):
        self.check("matrix_test", 4, "-brief")

    def test_solvers(self):
        self.check("solver_test", 1)

    def test_solvers_on_two_ranks(self):
        self.check("solver_test", 2)

    def test_solvers_on_four_ranks(self):
        self.check("solver_test", 4, "-brief")

    def test_nothing_is_left(self):
        """PETSc lists what was not freed, and on one rank looks at the ends of all its memory at every turn."""
        for name in ("matrix_test", "solver_test"):
            for ranks, options in ((1, ["-malloc_debug", "-malloc_dump"]), (2, ["-malloc_dump"])):
                with self.subTest(name, ranks=ranks):
                    if not (TESTS / name).exists():
                        self.skipTest("needs SLEPc")
                    run = Run(ranks, [TESTS / name, "-dll_append", plug_ins(), "-brief", *options])
                    run.passed()
                    self.assertNotRegex(run.all, r"\[ *\d+\] *\d+ bytes|corrupt")


class Examples(unittest.TestCase):
    def compare(self, name: str, ranks: int, *arguments: str, matrix: str = "-mat_type", blocks: bool = False) -> str:
        program = TESTS / name
        if not program.exists():
            self.skipTest(f"needs PETSc's and SLEPc's examples: there is no {program}")
        command = [program, *arguments]
        plain = Run(ranks, command, f"{matrix} aij").passed()
        options = f"-dll_append {plug_ins(blocks)} {matrix} aijlanky" + (" -bv_type lanky" if blocks else "")
        lanky = Run(ranks, command, options).passed()
        self.assertTrue(plain.strip())
        self.assertNotIn("lanky", plain)
        got, want = words(lanky.replace("aijlanky", "aij")), words(plain)
        self.assertEqual(len(got), len(want), f"{lanky}\ninstead of\n{plain}")
        for before, mine, other in zip(["", *want], got, want):
            if isinstance(mine, float) and isinstance(other, float):
                # Residuals below the solvers' tolerance (1e-8) are rounding, and may take a step more.
                margin = 1 if before == "iterations" else 2e-8
                close = abs(mine - other) <= 1e-4 * max(abs(mine), abs(other)) + margin
                self.assertTrue(close, f"{mine}, not {other}:\n{lanky}\ninstead of\n{plain}")
            else:
                self.assertEqual(mine, other, f"{lanky}\ninstead of\n{plain}")
        return options

    def on_ranks(self, *arguments, **keywords) -> None:
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                self.compare(arguments[0], ranks, *arguments[1:], **keywords)

    def test_ksp_ex2(self):
        self.on_ranks("ksp_ex2", "-m", "31", "-n", "27", "-ksp_monitor_short")
        self.on_ranks("ksp_ex2", "-m", "31", "-n", "27", "-ksp_type", "cg", "-pc_type", "jacobi", "-ksp_monitor_short")

    def test_ksp_ex23(self):
        self.on_ranks("ksp_ex23", "-n", "40", "-ksp_gmres_cgs_refinement_type", "refine_always")

    def test_snes_ex19(self):
        self.on_ranks("snes_ex19", "-da_grid_x", "10", "-da_grid_y", "10", "-snes_monitor_short",
                      "-snes_converged_reason", matrix="-dm_mat_type")

    def test_eps_ex2(self):
        self.on_ranks("eps_ex2", "-n", "18", "-eps_nev", "4", "-eps_terse", blocks=True)
        self.on_ranks("eps_ex2", "-n", "18", "-eps_nev", "4", "-eps_terse", "-eps_type", "lobpcg",
                      "-eps_smallest_real", blocks=True)

    def test_eps_ex3(self):
        self.compare("eps_ex3", 1, "-n", "20", "-eps_nev", "4", "-eps_terse", blocks=True)

    def test_eps_ex13(self):
        self.on_ranks("eps_ex13", "-n", "14", "-eps_nev", "3", "-eps_terse", "-st_ksp_type", "cg", "-st_pc_type",
                      "jacobi", "-st_ksp_rtol", "1e-12", blocks=True)

    def test_what_the_views_tell(self):
        program = TESTS / "ksp_ex2"
        if not program.exists():
            self.skipTest(f"needs PETSc's examples: there is no {program}")
        for ranks, kind in ((1, "seqaijlanky"), (2, "mpiaijlanky")):
            options = f"-dll_append {PETSC} -mat_type aijlanky -pc_type jacobi -log_view -ksp_view -mat_view ::ascii_info"
            out = Run(ranks, [program], options).passed()
            self.assertIn(f"type: {kind}", out)
            for event in ("LankyPlan", "LankyMult"):
                row = re.search(rf"^{event} +(\d+) \S+ \S+ \S+ (\S+) ", out, re.MULTILINE)
                self.assertIsNotNone(row, f"no {event} in\n{out}")
                self.assertGreater(int(row[1]), 0)
                if event == "LankyMult":
                    self.assertGreater(float(row[2]), 0, "flops")
            self.assertEqual("LankyExchange" in out, ranks > 1)

    def test_what_the_view_of_a_block_tells(self):
        program = TESTS / "eps_ex2"
        if not program.exists():
            self.skipTest(f"needs SLEPc's examples: there is no {program}")
        options = f"-dll_append {plug_ins()} -mat_type aijlanky -bv_type lanky -eps_view -log_view"
        out = Run(2, [program, "-n", "12"], options).passed()
        self.assertRegex(out, r"BV Object[^\n]*\n +type: lanky")
        self.assertRegex(out, r"(?m)^LankyGemm +[1-9]")


class Errors(unittest.TestCase):
    def test_an_error_on_one_rank_ends_all(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                run = Run(ranks, [TESTS / "matrix_test", "-dll_append", PETSC, "-fail_on_one_rank"], timeout=30)
                self.assertNotIn("it ran for more than", run.err)
                self.assertGreater(run.status, 0)
                self.assertRegex(run.all, r"lanky: entry 3 of A, in row \d+, has column 1000000")
                self.assertRegex(run.all, r"#\d+ MatMult\(\)")

    def test_a_plug_in_that_is_not_there(self):
        run = Run(1, [TESTS / "matrix_test", "-dll_append", "/nonexistent/liblankypetsc.so"], timeout=30)
        self.assertGreater(run.status, 0)
        self.assertIn("/nonexistent/liblankypetsc.so", run.all)
        self.assertRegex(run.all, r"Unable to (locate|open) .*dynamic library")

    def test_no_plug_in(self):
        run = Run(2, [TESTS / "matrix_test"], timeout=30)
        self.assertGreater(run.status, 0)
        self.assertRegex(run.all, "Unknown Mat type given: aijlanky")

    @unittest.skipUnless(SLEPC.exists(), "needs SLEPc")
    def test_no_plug_in_for_slepc(self):
        run = Run(1, [TESTS / "solver_test", "-dll_append", PETSC], timeout=30)
        self.assertGreater(run.status, 0)
        self.assertIn("Unable to find requested BV type lanky", run.all)


@unittest.skipUnless(shutil.which("valgrind"), "needs valgrind")
class Memory(unittest.TestCase):
    # Debian's two kinds of PETSc share the work.
    MATRICES_ON, SOLVERS_ON = {"real": ((2,), (1,)), "complex": ((1,), (2,))}.get(FOLDER.name, ((1, 2), (1, 2)))

    def check(self, name: str, ranks: int) -> None:
        if not (TESTS / name).exists():
            self.skipTest("needs SLEPc")
        suppressions = [f"--suppressions={OPEN_MPI_SUPPRESSIONS}"] if OPEN_MPI_SUPPRESSIONS.exists() else []
        with tempfile.TemporaryDirectory() as folder:
            # PETSc unloads the plug-ins before leaks are looked for: without their symbols none would be theirs.
            command = ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=40",
                       "--keep-debuginfo=yes", "--xml=yes", f"--xml-file={folder}/%p.xml",
                       *suppressions, TESTS / name, "-dll_append",
                       plug_ins(name != "matrix_test"), "-brief"]
            Run(ranks, command).passed()
            reports = list(pathlib.Path(folder).glob("*.xml"))
            found = []
            for report in reports:
                for error in xml.etree.ElementTree.parse(report).getroot().iter("error"):
                    frames = [f"{frame.findtext('obj')}: {frame.findtext('fn')} ({frame.findtext('file')}:"
                              f"{frame.findtext('line')})" for frame in error.iter("frame")]
                    if any("liblanky" in frame or "lanky::" in frame or "lanky_petsc::" in frame for frame in frames):
                        found.append("\n  ".join([error.findtext("kind"), *frames]))
        self.assertGreaterEqual(len(reports), ranks)
        self.assertFalse(found, "\n".join(found))

    def test_matrices(self):
        for ranks in self.MATRICES_ON:
            with self.subTest(ranks=ranks):
                self.check("matrix_test", ranks)

    def test_solvers(self):
        for ranks in self.SOLVERS_ON:
            with self.subTest(ranks=ranks):
                self.check("solver_test", ranks)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *(sys.argv[4:] or [PART])])
