"""tests/sanitize_cases.py beside a sanitizer that says what it is told to: reports, hangs and silence are failures."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

DRIVER = pathlib.Path(__file__).with_name("sanitize_cases.py")


class SanitizeCases(unittest.TestCase):
    def run_driver(self, body, *more):
        """(exit status, lines) where the sanitizer is this shell script, whose $2 is the tool."""
        with tempfile.TemporaryDirectory() as folder:
            sanitizer = pathlib.Path(folder) / "sanitizer"
            sanitizer.write_text("#!/bin/sh\n" + body)
            sanitizer.chmod(0o755)
            lines = pathlib.Path(folder) / "lines.jsonl"
            ran = subprocess.run([sys.executable, DRIVER, "--sanitizer", sanitizer, "--logs", f"{folder}/logs", "--json",
                                  lines, "--cases", "64", *more], capture_output=True, text=True, check=False)
            return ran.returncode, [json.loads(line) for line in lines.read_text().splitlines()]

    def test_clean_runs_pass(self):
        status, lines = self.run_driver("""
[ "$2" = racecheck ] && echo '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)'
[ "$2" = racecheck ] || echo '========= ERROR SUMMARY: 0 errors'
""")
        self.assertEqual(status, 0)
        self.assertEqual(len(lines), 8)
        self.assertTrue(all(line["tried"] == 64 and line["failed"] == 0 for line in lines))

    def test_each_report_is_a_failure(self):
        status, lines = self.run_driver("""
[ "$2" = initcheck ] && { echo '========= ERROR SUMMARY: 3 errors'; exit 99; }
echo '========= ERROR SUMMARY: 0 errors'
""", "--shards", "1")
        self.assertEqual(status, 1)
        failed = {line["check"]: line["failed"] for line in lines if line["failed"]}
        self.assertEqual(failed, {"compute-sanitizer initcheck, sparse": 3, "compute-sanitizer initcheck, dense": 3})

    def test_hazards_are_reports(self):
        status, lines = self.run_driver(
            "echo '========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)'; exit 99", "--tool",
            "racecheck", "--shards", "1")
        self.assertEqual(status, 1)
        self.assertEqual([line["failed"] for line in lines], [2, 2])

    def test_silence_is_a_failure(self):
        status, lines = self.run_driver("exit 0", "--tool", "memcheck", "--shards", "1")
        self.assertEqual(status, 1)
        self.assertEqual([line["failed"] for line in lines], [1, 1])

    def test_wrong_products_are_a_failure(self):
        status, _ = self.run_driver("echo '========= ERROR SUMMARY: 0 errors'; exit 1", "--tool", "memcheck")
        self.assertEqual(status, 1)

    def test_a_hang_is_a_failure(self):
        status, lines = self.run_driver("exec sleep 20", "--tool", "memcheck", "--shards", "1", "--seconds", "1")
        self.assertEqual(status, 1)
        self.assertEqual([(line["tried"], line["failed"]) for line in lines], [(0, 1), (0, 1)])


if __name__ == "__main__":
    unittest.main()
