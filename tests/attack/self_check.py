"""Attacks programs that are broken on purpose in place of lanky: each kind of attack must count every way of being
broken, so that a table without failures means something. `attack.py --self-check` runs it."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

import attack

# Each program stands for lanky. Whatever it is asked for, this is what it does.
BROKEN = {
    "crashes": "os.kill(os.getpid(), 11)",
    "hangs": "time.sleep(100)",
    "says what the C++ library says": "sys.exit('lanky: [json.exception.type_error.302] type must be string')",
    "ends with a code that stands nowhere": "sys.stderr.write('lanky: in.mtx\\n'); sys.exit(77)",
    "does nothing and calls it done": "sys.exit(0)",
    "leaves half a file": "half(); sys.exit(0)",
    "fails, and leaves half a file": "half(); sys.exit('lanky: no') if not half() else None",
    "leaves a process behind": "os.fork() or time.sleep(100); sys.exit(0)",
}
PROGRAM = """#!{python} -SE
import os, sys, time
def half():
    for name in sys.argv[2:]:
        if not name.startswith('-') and '/dev/' not in name:
            try:
                open(name, 'w').write('{{"kind":"sp')
            except OSError:
                pass
if sys.argv[1:3] and sys.argv[-1] == '--help':
    sys.exit(0)
{deed}
"""
CASES = 3  # of each kind and program


class EachKindCountsWhatIsBroken(unittest.TestCase):
    def tally(self, kind, deed):
        with tempfile.TemporaryDirectory(prefix="lanky_attack_check_") as folder:
            os.chmod(folder, 0o755)
            program = pathlib.Path(folder) / "bin/lanky"
            program.parent.mkdir()
            program.write_text(PROGRAM.format(python=sys.executable, deed=deed))
            program.chmod(0o755)
            options = attack.parse(["60", "--bin", str(program.parent), "--seed", "1", "--cases", str(CASES), "--jobs",
                                    "3", "--patience", "0.03", "--findings", folder + "/findings", "--only", kind])
            options.work = folder + "/work"
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                tally = attack.run_kind(kind, options, options.seconds)
            self.assertNotIn("the attack itself failed", said.getvalue())
            kept = list(pathlib.Path(folder).glob("findings/*/finding.txt"))
            self.assertEqual(len(kept), tally.failures(), "each finding is kept")
            for path in kept:
                self.assertIn(f"--seed 1 --only {kind} --case ", path.read_text())
            return tally

    def test_all(self):
        for kind in attack.KINDS:
            for name, deed in BROKEN.items():
                with self.subTest(kind=kind, program=name):
                    tally = self.tally(kind, deed)
                    self.assertEqual(sum(tally.tried.values()), CASES)
                    self.assertEqual(tally.failures(), CASES, f"{kind}: a program that {name} was not always found out")

    def test_what_is_drawn_is_drawn_again(self):
        first, second = (self.tally("mutations", BROKEN["crashes"]).tried for _ in range(2))
        self.assertEqual(first, second)


def main():
    os.environ.pop("PYTHONPATH", None)
    return 0 if unittest.main(module="self_check", argv=["self_check"], exit=False).result.wasSuccessful() else 1
