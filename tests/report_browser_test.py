"""The page of `lanky report` as its reader meets it, in a headless Chromium: figures against those computed here from the
JSON lines, sorting, filtering, switching the type, hovering, dark, print, without scripts, 12,000 rows, hostile names.

    tests/report_browser_test.py LANKY FOLDER      FOLDER takes the pages and the screenshots

Exits with 77 where there is no Chromium.
"""

import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))

from devtools import Browser, find_browser  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results/h200"
SPARSE, DENSE = RESULTS / "spmv_core.jsonl", RESULTS / "gemm_gram.jsonl"
TYPES = ("f64", "f32", "f16", "bf16")
MOST_BYTES = 12 * 2**20
MOST_FILTER_MS = 100
ROWS_AT_ONCE = 100
THIN = "\u2009"


class Point:
    """A sparse case in one type: lanky's line beside the best rival's."""

    def __init__(self, lanky, rival):
        self.lanky, self.rival = lanky, rival
        self.case, self.dtype = lanky["case"], lanky["dtype"]
        self.speedup = rival["graph_us"] / lanky["graph_us"]
        self.share = lanky["floor_us"] / lanky["graph_us"]
        self.setup_runs = lanky["setup_us"] / lanky["graph_us"]
        self.within_noise = abs(math.log(self.speedup)) <= math.hypot(lanky["noise"] or 0, rival["noise"] or 0)


def sparse_points():
    """Of SPARSE. Rivals without a graph are those that took far too long for one."""
    cases = {}
    for text in SPARSE.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if line["kind"] == "spmv" and line["status"] == "ok":
            cases.setdefault((line["case"], line["dtype"]), []).append(line)
    points = []
    for lines in cases.values():
        lanky = [line for line in lines if line["contestant"] == "lanky"]
        rivals = [line for line in lines if line["contestant"] != "lanky" and line["graph_us"]]
        points.append(Point(lanky[0], min(rivals, key=lambda line: line["graph_us"])))
    return points


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def bootstrap(points):
    """(low, high) by resampling matrices, with other random numbers than the program's."""
    clusters = {}
    for point in points:
        clusters.setdefault(point.case, []).append(math.log(point.speedup))
    draw, means = random.Random(1), []
    for _ in range(2000):
        drawn = [value for cluster in draw.choices(list(clusters.values()), k=len(clusters)) for value in cluster]
        means.append(math.exp(statistics.fmean(drawn)))
    means.sort()
    return means[50], means[1949]


def synthetic_lines(matrices, dtypes, contestants):
    draw = random.Random(3)
    yield {"kind": "env", "schema": 1, "gpu": "NVIDIA H200", "read_floor_tbs": 4.6, "argv": "lanky batch"}
    for number in range(matrices):
        rows = int(10 ** draw.uniform(3, 7))
        nnz = int(rows * 10 ** draw.uniform(0.3, 1.7))
        name = f"Group{number % 97}/matrix_{number:04}"
        head = {"kind": "spmv", "case": name, "class": draw.choice(("real", "stencil", "power")),
                "m": rows, "n": rows, "nnz": nnz, "op": "n"}
        for dtype in dtypes:
            time = 1 + nnz / 4e5
            for contestant, variant in contestants:
                slower = 1 if contestant == "lanky" else draw.uniform(0.9, 4)
                yield {**head, "dtype": dtype, "contestant": contestant, "variant": variant, "status": "ok",
                       "warm_us": time * slower + 2, "graph_us": time * slower, "cold_us": time * slower + 4,
                       "setup_us": 200 + time, "floor_us": time * 0.8, "floor_batch_us": time, "noise": 0.02,
                       "bytes": 12 * nnz + 8 * rows, "flops": 2 * nnz, "plan_bytes": 9 * nnz, "padding": 0.01,
                       "path": "cuda"}
        yield {"kind": "matrix", "case": name, "class": head["class"], "status": "ok", "m": rows, "n": rows, "nnz": nnz,
               "dtypes": list(dtypes), "seconds": 1.5, "max_row": 70,
               "rows": {"empty": 1, "short": rows // 2, "medium": rows // 3, "long": rows // 9}}


def hostile_lines():
    """Names and messages that are markup, and a matrix of every fate."""
    evil = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>\"'&"
    yield {"kind": "env", "schema": 1, "gpu": evil, "argv": evil, "commit": evil}
    for contestant, time in (("lanky", 2.0), (evil, 3.0)):
        yield {"kind": "spmv", "case": evil, "class": evil, "m": 10, "n": 10, "nnz": 30, "dtype": "f64\" onclick=\"x",
               "contestant": contestant, "variant": "auto", "status": "ok", "graph_us": time, "warm_us": time + 2,
               "setup_us": 5, "flops": 60, "bytes": 400, "floor_us": 1.5, "padding": 0.25, "path": "mma"}
    yield {"kind": "matrix", "case": evil, "status": "ok", "max_row": 9, "source": evil,
           "rows": {"empty": 1, "short": 6, "medium": 3, "long": 0}}
    yield {"kind": "matrix", "case": "huge", "status": "oom", "reason": "needs <90> GB", "dtypes": ["f64", "f32"],
           "seconds": 12.5, "memory_bytes": 9e10}
    yield {"kind": "matrix", "case": "cursed", "status": "crash", "reason": "ended by a signal", "signal": 11}


class Page(unittest.TestCase):
    """Runs in the order of the names: a browser starts once."""

    program = folder = browser = None

    @classmethod
    def setUpClass(cls):
        cls.folder.mkdir(parents=True, exist_ok=True)
        cls.browser = Browser(find_browser())
        cls.points = sparse_points()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        self.browser.complaints.clear()
        self.browser.size(1280)
        self.browser.media()

    def tearDown(self):
        self.assertEqual(self.browser.complaints, [], "the page complains, or asks for something")

    def report(self, name, *files):
        page = self.folder / f"{name}.html"
        command = [self.program, "report", *map(str, files), "-o", str(page), "--force"]
        subprocess.run(command, check=True, capture_output=True)
        self.browser.open(page)
        return page

    def lines_file(self, name, lines):
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    def texts(self, selector):
        """Of the elements that are shown."""
        return self.browser.run(f"Array.from(document.querySelectorAll({json.dumps(selector)}))"
                                ".filter((e) => e.checkVisibility()).map((e) => e.textContent)")

    def text(self, selector):
        found = self.texts(selector)
        self.assertEqual(len(found), 1, f"{selector}: {found}")
        return found[0]

    def column(self, number, section="spmv"):
        return self.texts(f"#{section}-cases tbody[id] > tr:first-child > :nth-child({number})")

    def number_column(self, number):
        return [float(text.replace(THIN, "")) for text in self.column(number)]

    def filter_ms(self, text):
        before = self.browser.busy_ms()
        self.browser.run(f"""(() => {{
          const input = document.querySelector('#spmv-cases input');
          input.value = {json.dumps(text)};
          input.dispatchEvent(new Event('input'));
          document.querySelector('#spmv-cases').getBoundingClientRect(); }})()""")
        return self.browser.busy_ms() - before

    def of_type(self, dtype):
        return [point for point in self.points if dtype in ("all", point.dtype)]

    def check_cards(self, dtype):
        points = self.of_type(dtype)
        speedups = [point.speedup for point in points]
        self.assertEqual(self.text("#spmv .card.speedup b"), f"{geometric_mean(speedups):.2f}")
        self.assertEqual(self.text("#spmv .card.wins b"), str(sum(s > 1 for s in speedups)))
        self.assertIn(f"of {len(points)}", self.text("#spmv .card.wins .figure"))
        below = self.text("#spmv .card.wins .below")
        self.assertIn(f"{sum(s < 1 for s in speedups)} slower", below)
        noisy = sum(point.within_noise for point in points)
        self.assertEqual(f"{noisy} of all within the noise" in below, noisy > 0, below)
        self.assertEqual(self.text("#spmv .card.floor b"), f"{100 * geometric_mean([p.share for p in points]):.1f}")
        self.assertEqual(self.text("#spmv .card.setup b"), f"{statistics.median(p.setup_runs for p in points):.3g}")
        low, high = map(float, self.text("#spmv .card.speedup .below").removeprefix("95 % interval ").split(" – "))
        expected = bootstrap(points)
        self.assertAlmostEqual(low, expected[0], delta=0.025)
        self.assertAlmostEqual(high, expected[1], delta=0.025)
        worst = sorted(points, key=lambda point: point.speedup)[:10]
        self.assertEqual(self.texts("#spmv .worst tbody th a"), [point.case for point in worst])

    def test_1_cards_of_each_type(self):
        self.report("spmv", SPARSE)
        self.assertEqual(self.texts(".types button"), ["all types", *TYPES])
        self.check_cards("all")
        for number, dtype in enumerate(TYPES, 2):
            self.browser.click(f".types button:nth-child({number})")
            self.check_cards(dtype)
            self.assertEqual(set(self.column(3)), {dtype})
            shown = self.browser.run("Array.from(document.querySelectorAll('#spmv-speedup .points')).filter("
                                     "(e) => getComputedStyle(e).display !== 'none').map((e) => e.dataset.type)")
            self.assertEqual(shown, [dtype])
            self.assertEqual(len(self.texts("#spmv-roofline .panel")), 1)
        self.browser.click(".types button:first-child")
        self.check_cards("all")
        self.assertEqual(len(self.texts("#spmv-roofline .panel")), len(TYPES))

    def test_2_sort(self):
        self.report("spmv", SPARSE)
        heading = "#spmv-cases thead th:nth-child({})"
        self.browser.click(heading.format(9))
        speedups = self.number_column(9)
        self.assertEqual(speedups, sorted(speedups))
        self.assertEqual(speedups[0], float(f"{min(point.speedup for point in self.points):.2f}"))
        self.browser.click(heading.format(9))
        speedups = self.number_column(9)
        self.assertEqual(speedups, sorted(speedups, reverse=True))
        self.assertEqual(speedups[0], float(f"{max(point.speedup for point in self.points):.2f}"))
        self.browser.click(heading.format(5))
        entries = self.number_column(5)
        self.assertEqual(entries, sorted(entries))
        self.assertEqual(entries[0], min(point.lanky["nnz"] for point in self.points))
        self.assertEqual(self.browser.run("document.querySelectorAll('#spmv-cases [aria-sort]').length"), 1)
        self.browser.click(heading.format(14))
        self.browser.click(heading.format(14))
        self.assertEqual(self.column(14)[0], "never")  # beyond every number

    def test_3_filter(self):
        self.report("spmv", SPARSE)
        self.assertEqual(self.text("#spmv-cases output"), f"{len(self.points)} of {len(self.points)} cases")
        self.browser.type("#spmv-cases input", "stencil F16")
        expected = [p for p in self.points if "stencil" in p.case + p.lanky["class"] and p.dtype.endswith("f16")]
        self.assertEqual(self.column(1), [point.case for point in expected])
        self.assertEqual(self.text("#spmv-cases output"), f"{len(expected)} of {len(self.points)} cases")
        self.browser.screenshot(self.folder / "filtered.png")
        self.browser.type("#spmv-cases input", "no such matrix")
        self.assertEqual(self.column(1), [])
        self.browser.type("#spmv-cases input", "")
        self.browser.run("(() => { const s = document.querySelector('#spmv-cases select'); s.value = 'loss';"
                         " s.dispatchEvent(new Event('input')); })()")
        losses = [p for p in self.points if p.speedup < 1 and not p.within_noise]
        self.assertEqual(self.column(1), [point.case for point in losses])

    def test_4_hover_and_click(self):
        self.report("spmv", SPARSE)
        number, point = max(enumerate(self.points), key=lambda pair: pair[1].speedup)
        self.browser.hover(f"#spmv-speedup circle[data-i='{number}']")
        tip = self.text("#tip")
        for part in (point.case, point.dtype, f"{point.speedup:.2f}", point.rival["variant"]):
            self.assertIn(part, tip)
        self.browser.screenshot(self.folder / "tooltip.png")
        self.browser.click(f"#spmv-speedup circle[data-i='{number}']")
        self.assertEqual(self.texts("#tip"), [])
        details = self.text("#spmv-cases .more")
        self.assertIn("cusparse/alg2", details)
        top, height = self.browser.run(f"[document.querySelector('#spmv-{number}').getBoundingClientRect().top,"
                                       " innerHeight]")
        self.assertTrue(0 < top < height, "the case is not in view")
        self.browser.screenshot(self.folder / "details.png")

    def test_5_looks(self):
        self.report("both", SPARSE, DENSE)
        paper = "getComputedStyle(document.body).backgroundColor"
        for scheme in ("light", "dark"):
            self.browser.media(scheme=scheme)
            light = sum(map(int, self.browser.run(paper)[4:-1].split(","))) > 384
            self.assertEqual(light, scheme == "light")
            for width in (600, 1600) if light else (1280,):
                self.browser.size(width)
                self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)
                self.browser.screenshot(self.folder / f"{scheme}-{width}.png", 3200)
        self.browser.click(".types button:nth-child(2)")
        self.browser.click(".types button:last-child")  # a type of dense products alone
        self.assertTrue(any("none of this type" in text for text in self.texts("#spmv .none")))
        self.assertEqual(self.texts("#gemm .none"), [])
        self.browser.click(".types button:first-child")
        self.browser.media("print", "dark")
        self.assertEqual(self.browser.run(paper), "rgb(255, 255, 255)")
        self.assertEqual(self.texts(".types, .filter, .rest"), [])
        self.assertEqual(len(self.column(1)), len(self.points))
        self.browser.media()
        self.browser.pdf(self.folder / "print.pdf")

    def test_6_without_scripts(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.report("plain", SPARSE)
            self.assertEqual(len(self.column(1)), len(self.points))
            self.assertEqual(len(self.texts("#spmv-cases .more")), len(self.points))
            self.assertEqual(len(self.texts("#spmv .summary")), 1)
            self.assertEqual(len(self.texts("#spmv figure")), 7)
        finally:
            self.browser.call("Emulation.setScriptExecutionDisabled", value=False)

    def test_7_one_section_alone(self):
        self.report("gemm", DENSE)
        self.assertEqual(self.browser.run("document.querySelectorAll('#spmv').length"), 0)
        self.assertEqual(len(self.texts("#gemm .card.speedup")), 1)
        self.browser.size(1280)
        self.browser.screenshot(self.folder / "dense.png", 2600)

    def test_8_hostile_names(self):
        lines = list(hostile_lines())
        self.report("hostile", self.lines_file("hostile", lines))
        evil = lines[1]["case"]
        self.assertEqual(self.column(1), [evil])
        self.assertIn(evil, self.browser.run("document.title"))
        self.assertEqual(self.browser.run("document.querySelectorAll('script').length"), 2)
        self.assertEqual(self.browser.run("document.querySelectorAll('img, [onclick]').length"), 0)
        self.browser.click("#spmv-cases tbody th button")
        details = self.text("#spmv-cases .more")
        for part in ("padding 25.0 %", "path mma", "longest row 9", "1–4: 6", "5–255: 3", evil):
            self.assertIn(part, details)
        self.assertEqual(self.browser.run("document.querySelector('.rows').style.cssText"),
                         "--r0: 10.0%; --r1: 70.0%; --r2: 100%;")
        fates = self.text("#unmeasured")
        for part in ("huge", "oom", "needs <90> GB", "cursed", "crash, signal 11"):
            self.assertIn(part, fates)
        self.browser.screenshot(self.folder / "hostile.png", 3200)

    def test_9_three_thousand_matrices(self):
        contestants = [("lanky", "auto"), ("cusparse", "alg1"), ("cusparse", "alg2"), ("cusparse", "sell")]
        page = self.report("large", self.lines_file("large", synthetic_lines(3000, TYPES, contestants)))
        self.assertLess(page.stat().st_size, MOST_BYTES)
        times = [min(self.filter_ms(text) for _ in range(4)) for text in ("m", "matrix_1", "sell", "matrix_0042", "")]
        print("page of 12,000 cases:", page.stat().st_size, "bytes; filter, ms:", [round(t, 1) for t in times])
        self.assertLess(max(times), MOST_FILTER_MS)
        self.assertEqual(self.text("#spmv-cases output"), "12000 of 12000 cases")
        self.assertEqual(len(self.column(1)), ROWS_AT_ONCE)
        self.browser.click("#spmv-cases .rest button")
        self.assertEqual(len(self.column(1)), 12000)


def main():
    if find_browser() is None:
        print("SKIPPED: needs Chromium without a head: apt-get install chromium-headless-shell")
        sys.exit(77)
    Page.program = pathlib.Path(sys.argv.pop(1)).resolve()
    Page.folder = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
