"""Absurd lines of results: report, compare, merge, ladder and batch --resume end in time and within memory, with
documented exit codes; they leave their inputs alone, and no name becomes markup of the page."""

import csv
import functools
import html.parser
import io
import json
import re
import threading

from case import FAILED, INPUT, MIB, OK, ROOT, USAGE
from results import lines_of, whole_part

SHARE = 2  # of the time

RESULTS = ROOT / "bench/results"
FILES = ("h200/spmv_core.jsonl", "h200/gemm_gram.jsonl", "h200/gemm_panel.jsonl", "h200/ladder_spmv.jsonl",
         "h200/ladder_tsm2.jsonl", "h200/ladder_gemm_gpu.jsonl", "h200/solvers.jsonl", "h200/kmeans.jsonl",
         "cpu/gemm.jsonl", "cpu/read_speed.jsonl")
MARKUP = ('<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "</script><script>alert(1)",
          "' onmouseover='alert(1)", "<!-- alert(1)", "</title><b>alert(1)", "]]><svg onload=alert(1)>",
          "&lt;script&gt;alert(1)", "`${alert(1)}`")
NUMBERS = (0, -1, 1, 1e308, -1e308, 5e-324, 2**31, 2**63, -(2**63), 2**64 - 1, 2**64, 10**400, float("nan"),
           float("inf"), 1e18, 0.1, True)
TEXTS = ("", "x" * 100_000, "\0", "a\nb", "a\r\nb", "a|b", "a,b;\"c\"", "\u202etxt", "\ud800", "%s%n",
         "../../etc/passwd", "=1+1", "\t", "🂡" * 500,
         "nan", "1e5", "lanky", "ok", *MARKUP)
OTHERS = (None, [], {}, [[1]], {"a": 1}, [None], False, ["f64", 7], ["f99"])


@functools.cache
def lines_of_results(name):
    lines = (RESULTS / name).read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def absurd(random):
    return random.choice(random.choice((NUMBERS, NUMBERS, TEXTS, OTHERS)))


def nested(depth):
    return "[" * depth + "]" * depth


def absurd_line(random, line):
    """The text of a line, of which a field or all is absurd; what was done to it."""
    line = dict(line)
    how = random.choice(("field", "field", "field", "fields", "missing", "kind", "names", "nested", "duplicate key",
                         "text", "long", "pretty"))
    keys = list(line)
    if how == "field":
        line[random.choice(keys)] = absurd(random)
    elif how == "fields":
        for key in random.sample(keys, len(keys) // 2):
            line[key] = absurd(random)
    elif how == "missing":
        for key in random.sample(keys, random.randrange(1, len(keys))):
            del line[key]
    elif how == "kind":
        line["kind"] = random.choice(("spmv", "gemm", "matrix", "env", "ladder", "read", "", "unknown", 7, None))
    elif how == "names":
        for key in keys:
            if isinstance(line[key], str) and key not in ("kind", "dtype", "status", "contestant"):
                line[key] = random.choice(MARKUP)
    elif how == "pretty":
        return json.dumps(line, indent=2).encode(), how
    text = json.dumps(line, separators=(",", ":")).encode()
    if how == "nested":
        key, depth = random.choice(("more", *keys)), random.choice((10, 1000, 100_000, 100_000))
        text = text[:-1] + f",{json.dumps(key)}:{nested(depth)}}}".encode()
    elif how == "duplicate key":
        text = text[:-1] + f',{json.dumps(random.choice(keys))}:{json.dumps(absurd(random))}}}'.encode()
    elif how == "long":
        text = text[:-1] + b',"more":"' + b"x" * random.choice((10_000, 3_000_000)) + b'"}'
    elif how == "text":
        text = absurd_text(random, text)
    return text, how


def absurd_text(random, text):
    at = random.randrange(len(text))
    more = random.choice((random.randbytes(random.randrange(1, 20)), b"\xff", b"\0"))
    return random.choice((text[:at], text[:at] + text[at + 1 :], text[:at] + more + text[at:], text + text, b"",
                          b"milk", b"null", b"[1,2]", b"\"kind\"", b"{}", b"{\"kind\":7}", nested(200_000).encode(),
                          b'{"kind":' * 50_000, text.replace(b":", b"="), b"\0" * 100))


def absurd_file(random, lines=None):
    """The bytes of a file of results, mostly of one tool's lines, and what is absurd about it."""
    lines = lines or lines_of_results(random.choice(FILES))
    first = random.randrange(len(lines))
    chosen = ([lines[0]] if random.random() < 0.8 else []) + lines[first : first + random.choice((1, 5, 40))]
    chosen += random.choices(lines_of_results(random.choice(FILES)), k=random.choice((0, 0, 3)))
    if random.random() < 0.5:
        chosen.append(matrix_line(random, chosen[-1]))
    texts = [json.dumps(line, separators=(",", ":")).encode() for line in chosen]
    what = "sound"
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(chosen))
        texts[at], what = absurd_line(random, chosen[at])
    end = random.choice((b"\n", b"\n", b"\n", b"\r\n"))
    data = end.join(texts) + random.choice((end, end, b""))
    if random.random() < 0.1:
        data, what = b"\xef\xbb\xbf" + data, "byte order mark"
    if random.random() < 0.1:
        data, what = data[: random.randrange(len(data) + 1)], "cut"
    if random.random() < 0.03:
        data, what = data.decode(errors="replace").encode("utf-16"), "UTF-16"
    return data, what


def matrix_line(random, like):
    """A final line of a batch."""
    status = random.choice(("ok", "crash", "oom", "timeout", "unreadable"))
    return {"kind": "matrix", "case": like.get("case", "m"), "class": "real", "source": "m.mtx", "content": "xxh3:0",
            "m": 3, "n": 3, "nnz": 4, "rows": {"empty": 0, "short": 3, "medium": 0, "long": 0}, "max_row": 2,
            "dtypes": ["f64"], "stamp": {"bytes": 81, "modified_ns": 1}, "status": status,
            "reason": random.choice(("", "why", MARKUP[0])), "seconds": 0.1, "read_seconds": 0.01, "memory_bytes": 1}


def attack(case):
    command = case.random.choice((report, report, compare, merge, ladder, resume))
    # --resume looks closely at lines of the same program and options alone.
    data, what = absurd_file(case.random, own_lines(case) if command is resume and case.random.random() < 0.8 else None)
    case.write("a.jsonl", data)
    other, _ = absurd_file(case.random)
    case.write("b.jsonl", other)
    case.attack = f"{command.__name__}, {what}"
    command(case)
    if command is not resume:
        case.require(case.read("a.jsonl") == data and case.read("b.jsonl") == other, "an input was changed")


def run(case, *arguments, codes):
    ran = case.run(*arguments, codes=codes, memory=2048 * MIB)
    if ran.code == INPUT:
        case.require("lanky: " in ran.err, f"no error of lanky: {ran.command}: {ran.err[:300]!r}")
    return ran


def report(case):
    files = ("a.jsonl", "b.jsonl") if case.random.random() < 0.5 else ("a.jsonl",)
    outputs = ("-o", "page.html", "--csv", "table.csv", "--markdown", "table.md")
    ran = run(case, "report", *files, *outputs, codes=(OK, INPUT))
    if ran.code == OK:
        judge_page(case, case.read("page.html").decode(errors="replace"))
        judge_csv(case, case.read("table.csv").decode(errors="replace"))
        judge_markdown(case, case.read("table.md").decode(errors="replace"))
    else:
        left = [name for name in ("page.html", "table.csv", "table.md") if case.exists(name)]
        case.require(not left, f"an error left {left}")


class Page(html.parser.HTMLParser):
    """What a browser would take for markup."""

    NUMERIC = re.compile(r"^(x|y|x1|y1|x2|y2|cx|cy|r|rx|ry|d|points|width|height|transform|viewbox)$")
    NO_NUMBER = re.compile(r"(?<![a-z])(nan|inf)(?![a-z])", re.IGNORECASE)

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.wrong = []
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        if tag in ("img", "iframe", "object", "embed", "link", "base"):
            self.wrong.append(f"an element {tag}")
        for name, value in attrs:
            if name.startswith("on"):
                self.wrong.append(f"an attribute {name}={value!r}")
            if self.NUMERIC.match(name) and self.NO_NUMBER.search(value or ""):
                self.wrong.append(f"{tag} {name}={value[:80]!r}")

    handle_startendtag = handle_starttag


def judge_page(case, page):
    for text in MARKUP:
        if text.startswith(("<", '"><', "</", "]]>")):
            case.require(text not in page, f"the page has {text} as it came")
    parser = Page()
    parser.feed(page)
    case.require(not parser.wrong, f"the page has {parser.wrong[:1]}")
    case.require(parser.scripts <= page_scripts(case), f"the page has {parser.scripts} scripts")


@functools.cache
def sound_scripts(page):
    parser = Page()
    parser.feed(page)
    return parser.scripts


def page_scripts(case):
    """The scripts of a page of sound results."""
    case.write("sound.jsonl", "".join(json.dumps(line) + "\n" for line in lines_of_results(FILES[0])[:40]))
    case.run("report", "sound.jsonl", "-o", "sound.html", codes=(OK,))
    return sound_scripts(case.read("sound.html").decode())


def judge_csv(case, text):
    rows = list(csv.reader(io.StringIO(text, newline="")))
    widths = {len(row) for row in rows if row}
    case.require(len(widths) <= 1, f"rows of the CSV have {sorted(widths)} cells")


def judge_markdown(case, text):
    """Each table has as many cells in each row."""
    cells = None
    for line in text.split("\n"):
        if not line.startswith("|"):
            cells = None
            continue
        count = len(re.findall(r"(?<!\\)\|", line))
        case.require(cells in (None, count), f"a row of the Markdown has {count} bars, not {cells}: {line[:200]!r}")
        cells = count


def compare(case):
    more = case.random.choice(((), ("--any-hardware",), ("--absolute", "--all"), ("--contestant", "cusparse")))
    files = case.random.choice((("a.jsonl", "b.jsonl"), ("a.jsonl", "a.jsonl")))
    ran = run(case, "compare", *files, *more, codes=(OK, FAILED, INPUT))
    case.require(ran.code == INPUT or ran.out.strip(), f"it says nothing: {ran.command}")


def merge(case):
    more = case.random.choice(((), ("--mixed-hardware",)))
    ran = run(case, "merge", "a.jsonl", "b.jsonl", "-o", "out.jsonl", *more, codes=(OK, INPUT))
    if ran.code == OK:
        lines_of(case, "out.jsonl")
        again = run(case, "merge", "out.jsonl", "-o", "again.jsonl", *more, codes=(OK,))
        case.require(case.read("again.jsonl") == case.read("out.jsonl"), f"merged again it is another: {again.command}")
    else:
        case.require(not case.exists("out.jsonl"), "an error left out.jsonl")


def ladder(case):
    name = case.random.choice(((), ("spmv",), ("tsm2",)))
    ran = run(case, "ladder", *name, "--from", "a.jsonl", "--plot", "plot.svg", codes=(OK, FAILED, USAGE, INPUT))
    if case.exists("plot.svg"):
        judge_page(case, case.read("plot.svg").decode(errors="replace"))
    case.require(ran.code != OK or case.exists("plot.svg"), "no drawing, and exit code 0")


BATCH = ("batch", "--device", "cpu", "--quick", "--no-vendor", "--resume", "--json")
OWN_LINES = {}
LOCK = threading.Lock()


def own_lines(case):
    """Results of the program that is attacked."""
    with LOCK:
        if case.bin not in OWN_LINES:
            case.run(*BATCH, "own.jsonl", "stencil5:6", "stencil5:7", "banded:20", codes=(OK,))
            OWN_LINES[case.bin] = lines_of(case, "own.jsonl")
        return OWN_LINES[case.bin]


def resume(case):
    """Results of others are refused and stay as they are. To ours a line is added, and only half a last line is taken
    away."""
    before = case.read("a.jsonl")
    ran = run(case, *BATCH, "a.jsonl", "stencil5:5", codes=(OK, INPUT))
    if ran.code == INPUT:
        case.require(case.read("a.jsonl") == before, "a file that was refused was changed")
        return
    kept = before[: before.rfind(b"\n") + 1]
    now = whole_part(case, "a.jsonl")
    case.require(now.startswith(kept), "lines that were there have changed")
    last = json.loads(now.splitlines()[-1])
    is_ours = (last["kind"], last.get("source"), last.get("status")) == ("matrix", "stencil5:5", "ok")
    case.require(is_ours, f"the last line is {last}")
