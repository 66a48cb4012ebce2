"""Attacks the built program by chance, for a while, and prints how many cases of each kind were tried and failed.
What fails is kept with its reason and the command that tries it again; the exit status is then 1."""

import argparse
import importlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from case import ROOT, Case, Finding

KINDS = ("mutations", "kills", "contestants", "server", "lines", "outputs")
LARGEST_KEPT = 32 << 20  # bytes of a file that is kept with a finding
STOPPED = threading.Event()  # by Ctrl-C or SIGTERM: no further case is begun, and the table is printed
MOST_KEPT = 10  # findings of one attack; others are counted, and drawn again by the same seed


class Tally:
    """What was tried of one kind."""

    def __init__(self):
        self.tried = {}  # cases by attack
        self.failed = {}
        self.seconds = 0.0
        self.lock = threading.Lock()

    def count(self, attack, is_failure):
        with self.lock:
            self.tried[attack] = self.tried.get(attack, 0) + 1
            self.failed[attack] = self.failed.get(attack, 0) + is_failure

    def failures(self):
        return sum(self.failed.values())


def run_case(kind, number, options, tally=None):
    """(what was tried, the Finding or None) of one case, whose folder is kept only where there is one."""
    folder = pathlib.Path(options.work) / f"{kind}-{number}"
    case = Case(kind, number, options.seed, options.bin, folder, options.patience)
    finding = None
    try:
        module(kind).attack(case)
        case.require_no_survivors()
    except Finding as found:
        finding = found
    except Exception:  # a defect of the attack itself must not pass for a success
        finding = Finding("the attack itself failed:\n" + traceback.format_exc())
    finally:
        case.end_processes()
        if finding and (tally is None or tally.failed.get(case.attack, 0) < MOST_KEPT):
            keep(case, finding, options)
        shutil.rmtree(folder, ignore_errors=True)
    return case.attack, finding


def module(kind):
    return importlib.import_module(kind)


def keep(case, finding, options):
    """The folder of a case that failed, with what is needed to try it again."""
    kept = pathlib.Path(options.findings) / f"{case.kind}-{options.seed}-{case.number}"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for path in sorted(case.folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST_KEPT:
            target = kept / path.relative_to(case.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    again = f"./dev attack --seed {options.seed} --only {case.kind} --case {case.number}"
    steps = "\n".join(f"  {command}" for command in case.commands)
    text = f"{case.attack}: {finding}\n\nAgain: {again}\nCommands, in this folder:\n{steps}\n"
    (kept / "finding.txt").write_text(text)
    said = f"\nFAILED {case.kind} {case.number} ({case.attack}): {finding}\n  again: {again}\n  kept: {kept}"
    print(said, flush=True)


def run_kind(kind, options, seconds):
    """Cases 0, 1, 2 and so on, by several threads, until the time or the number of cases is up."""
    tally = Tally()
    numbers = iter(range(options.cases or sys.maxsize))
    begin = time.monotonic()

    def work():
        while time.monotonic() - begin < seconds and not STOPPED.is_set():
            with tally.lock:
                number = next(numbers, None)
            if number is None:
                return
            attack, finding = run_case(kind, number, options, tally)
            tally.count(attack, finding is not None)

    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.seconds = time.monotonic() - begin
    return tally


def print_table(tallies, details):
    print(f"\n{'attack':44} {'tried':>7} {'failed':>7} {'seconds':>8}")
    for kind, tally in tallies.items():
        print(f"{kind:44} {sum(tally.tried.values()):7} {tally.failures():7} {tally.seconds:8.1f}")
        for attack in sorted(tally.tried):
            if details or tally.failed[attack]:
                print(f"  {attack[:42]:42} {tally.tried[attack]:7} {tally.failed[attack]:7}")
    tried = sum(sum(t.tried.values()) for t in tallies.values())
    print(f"{'all':44} {tried:7} {sum(t.failures() for t in tallies.values()):7}", flush=True)


def attack_all(options):
    """The tallies by kind; the time is divided over the kinds by their shares."""
    kinds = list(options.only or KINDS)
    if not (options.bin / "liblanky_download.so").exists() and "server" in kinds:
        kinds.remove("server")
        print("server is left out: this lanky was built without libcurl, and fetches nothing")
    shares = {kind: module(kind).SHARE for kind in kinds}
    return {kind: run_kind(kind, options, options.seconds * share / sum(shares.values()))
            for kind, share in shares.items() if not STOPPED.is_set()}


def replay(options):
    kind, = options.only
    attack, finding = run_case(kind, options.case, options)
    print(f"{kind} {options.case} ({attack}): {'failed' if finding else 'passed'}")
    return 1 if finding else 0


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev attack", description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=600, help="time for all kinds together (600)")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/dev/bin",
                        help="folder of lanky and the peers")
    parser.add_argument("--seed", type=int, help="draws the cases (by default another one each time)")
    parser.add_argument("--only", action="append", choices=KINDS, help="this kind alone; may be given again")
    parser.add_argument("--case", type=int, help="one case alone, of the kind that --only names")
    parser.add_argument("--cases", type=int, help="at most so many cases a kind")
    parser.add_argument("--jobs", type=int, default=2, help="cases side by side (2)")
    parser.add_argument("--patience", type=float, default=1, help="multiplies all limits of time (1)")
    parser.add_argument("--details", action="store_true", help="tell every attack in the table")
    parser.add_argument("--self-check", action="store_true", help="attack broken programs, which must all be found out")
    parser.add_argument("--findings", type=pathlib.Path, default=ROOT / "build/attack/findings")
    options = parser.parse_args(arguments)
    if options.case is not None and len(options.only or ()) != 1:
        parser.error("--case needs one --only KIND")
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(4), "little")
    options.bin = options.bin.resolve()
    return options


def catch_signals():
    """The first ones end the attack. A signal that is ignored here (nohup) would be ignored by all that is started, too;
    one that is caught is not."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        is_ignored = number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN
        signal.signal(number, (lambda *_: None) if is_ignored else (lambda *_: STOPPED.set()))


def version(program):
    """The program's name, version and commit, as it tells them."""
    told = subprocess.run([program, "info"], capture_output=True, text=True, timeout=60)
    return " ".join(told.stdout.partition("\n")[0].split())


def main(arguments):
    options = parse(arguments)
    catch_signals()
    if options.self_check:
        return module("self_check").main()
    if not (options.bin / "lanky").exists():
        sys.exit(f"attack: no lanky in {options.bin}")
    with tempfile.TemporaryDirectory(prefix="lanky_attack_") as options.work:
        os.chmod(options.work, 0o755)  # some cases run as another user
        print(f"{version(options.bin / 'lanky')}; seed {options.seed}", flush=True)
        if options.case is not None:
            return replay(options)
        tallies = attack_all(options)
    print_table(tallies, options.details)
    if STOPPED.is_set():
        sys.exit("attack: stopped")
    return 1 if any(tally.failures() for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
