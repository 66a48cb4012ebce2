"""The costs of dense launches against committed measurements: dense_cost_test.py PROGRAM

The regret of what is chosen and the share of good predictions, on inputs that rates were fitted to and on others; and
that the table and the measured choices are what their scripts make of the committed files.
"""

import hashlib
import math
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/scripts"))

import fit_cost  # noqa: E402

PROGRAM = sys.argv.pop()
RESULTS = ROOT / "bench/results"


def replayed(kind, cards):
    """Regrets, and logarithms of predicted over measured time, of what costs choose on the cards' files of a set."""
    regrets, errors = [], []
    for card in cards:
        for case in fit_cost.cases_of(PROGRAM, RESULTS / card / f"regret_gemm_{kind}.raw.jsonl.xz"):
            chosen = case.cheapest()
            if chosen is not None:
                regrets.append(chosen.measured / case.best)
                errors.append(abs(math.log(chosen.predicted / chosen.measured)))
    return sorted(regrets), errors


class Costs(unittest.TestCase):
    def expect(self, kind, mean, tail, near, cards=fit_cost.CARDS):
        regrets, errors = replayed(kind, cards)
        self.assertGreater(len(regrets), 200)
        self.assertLess(fit_cost.geometric_mean(regrets), mean)
        self.assertLess(fit_cost.percentile(regrets, 0.9), tail)
        self.assertGreater(sum(error <= math.log(1.25) for error in errors), near * len(errors))

    def test_choices_are_near_the_fastest_of_the_fit_set(self):
        self.expect("fit", 1.05, 1.15, 0.8)

    def test_choices_are_near_the_fastest_of_the_core_grid(self):
        self.expect("core", 1.03, 1.1, 0.9, cards=("h200",))

    def test_choices_are_near_the_fastest_of_inputs_that_nothing_was_fitted_to(self):
        self.expect("validation", 1.06, 1.3, 0.7)

    def test_the_table_is_of_the_committed_files(self):
        files = [ROOT / name for name in fit_cost.FIT]
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
        self.assertIn(digest, fit_cost.TABLE.read_text(encoding="utf-8"))

    def test_an_empty_result_has_no_candidates(self):
        products = "".join(f"{m} {n} 16 n n col 0 ieee f64 f64 0 0 H200\n" for m, n in ((0, 8), (1000, 0), (0, 0)))
        run = subprocess.run([PROGRAM], input=products, capture_output=True, text=True, check=True)
        self.assertEqual([line.split("\t")[1] for line in run.stdout.splitlines()], ["class"] * 3)

    def test_measured_choices_pay(self):
        subprocess.run([sys.executable, ROOT / "bench/scripts/measured_choices.py", "--check", "--program", PROGRAM],
                       check=True)


if __name__ == "__main__":
    unittest.main()
