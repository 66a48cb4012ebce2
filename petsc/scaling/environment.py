"""The first line of a file of results, as bench/scripts writes it on a machine without a GPU (docs/measuring.md)."""

import datetime
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def commit():
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()

    return git("rev-parse", "HEAD") + ("+dirty" if git("status", "--porcelain", "--untracked-files=no") else "")


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def env_line(**more):
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"kind": "env", "schema": 1, "commit": commit(), "utc": f"{now:%Y-%m-%dT%H:%M:%SZ}", "argv": " ".join(sys.argv), "cpu": cpu(),
            "cores": os.cpu_count(), "kernel": platform.release(),
            "python": platform.python_version(), **more}
