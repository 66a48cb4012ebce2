"""`lanky fetch` against a server that this test starts, and that misbehaves as it is told.

fetch_test.py LANKY: what is fetched, byte for byte, what is left in the cache, what the program says
and how it exits."""

import email.utils
import gzip
import hashlib
import http.server
import io
import os
import pathlib
import pty
import random
import resource
import shutil
import signal
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest

DATA = pathlib.Path(__file__).resolve().parent / "data" / "collection"
LANKY = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
MODULE = "liblanky_download.so"


def archive(name, size):
    """The bytes of NAME.tar.gz: `size` bytes that no compression makes shorter, always the same."""
    content = random.Random(name).randbytes(size)
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode="w") as tar:
            member = tarfile.TarInfo(f"{name}/{name}.mtx")
            member.size = size
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


class File:
    """What a server has at a path."""

    def __init__(self, content, etag=None, modified=None, length=True):
        self.content = content
        self.etag = f'"{hashlib.sha1(content).hexdigest()}"' if etag is None else etag
        self.modified = modified
        self.length = length  # of the content is told


class Server(http.server.ThreadingHTTPServer):
    """Serves `files`. Each request of a path takes one of its `faults`, if there is one: a function of the
    handler that does part of the work, or all of it (it then returns True)."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {}
        self.faults = {}
        self.requests = []
        self.stop_waiting = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass  # clients that were killed

    def asked(self, path, method="GET"):
        """The headers of each request of a path."""
        return [headers for m, p, headers in self.requests if (m, p) == (method, path)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    limit = None  # bytes of the body after which the line is cut
    pause = 0.0  # between pieces
    ranges = True
    heed_if_range = True

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        server = self.server
        server.requests.append((self.command, self.path, dict(self.headers)))
        faults = server.faults.get(self.path, [])
        self.limit, self.pause, self.ranges, self.heed_if_range = None, 0.0, True, True
        if faults and self.command == "GET" and faults.pop(0)(self):
            return
        if self.path in server.files:
            self.send_file(server.files[self.path])
        else:
            self.send_status(404)

    def send_status(self, status, **headers):
        body = b"<html>a page for people</html>"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
        return True

    def first_byte(self, file):
        """Of the range asked for; 0 where the whole file is due."""
        asked = self.headers.get("Range")
        if not asked or not self.ranges:
            return 0
        if self.heed_if_range and self.headers.get("If-Range") not in (file.etag, file.modified):
            return 0
        return int(asked.removeprefix("bytes=").removesuffix("-"))

    def send_file(self, file):
        first = self.first_byte(file)
        total = len(file.content)
        if first >= total > 0:
            return self.send_status(416, Content_Range=f"bytes */{total}")
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{total - 1}/{total}")
        if file.etag:
            self.send_header("ETag", file.etag)
        if file.modified:
            self.send_header("Last-Modified", file.modified)
        if file.length:
            self.send_header("Content-Length", str(total - first))
        else:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "GET":
            self.send_body(file.content[first:])

    def send_body(self, body):
        piece = 10000 if self.pause else 1 << 20
        sent = body if self.limit is None else body[: self.limit]
        for begin in range(0, len(sent), piece):
            self.wfile.write(sent[begin : begin + piece])
            if self.pause and self.server.stop_waiting.wait(self.pause):
                break
        if len(sent) < len(body):
            self.close_connection = True


# Faults, for Server.faults.


def cut(after):
    def fault(handler):
        handler.limit = after

    return fault


def slow(pause, after=None):
    def fault(handler):
        handler.pause = pause
        handler.limit = after

    return fault


def status(code, **headers):
    return lambda handler: handler.send_status(code, **headers)


def no_ranges(handler):
    handler.ranges = False


def ranges_of_anything(handler):
    handler.heed_if_range = False


def stall(after):
    """Sends some bytes, then nothing."""

    def fault(handler):
        file = handler.server.files[handler.path]
        handler.send_response(200)
        handler.send_header("ETag", file.etag)
        handler.send_header("Content-Length", str(len(file.content)))
        handler.end_headers()
        handler.wfile.write(file.content[:after])
        handler.server.stop_waiting.wait(10)
        handler.close_connection = True
        return True

    return fault


def becomes(file):
    """The server has another file from now on."""

    def fault(handler):
        handler.server.files[handler.path] = file

    return fault


def wrong_range(handler):
    file = handler.server.files[handler.path]
    handler.send_response(206)
    handler.send_header("ETag", file.etag)
    handler.send_header("Content-Range", f"bytes 0-{len(file.content) - 1}/{len(file.content)}")
    handler.send_header("Content-Length", str(len(file.content)))
    handler.end_headers()
    handler.wfile.write(file.content)
    return True


class Endless:
    """A body that does not end by itself: `length` is what the header promises, if anything; `sent` is how
    much the client took before it hung up."""

    MOST = 400 << 20  # where the test gives up

    def __init__(self, content=b"", length=None, code=200, **headers):
        self.content, self.length, self.code, self.headers = content, length, code, headers
        self.sent = 0

    def __call__(self, handler):
        handler.send_response(self.code)
        for name, value in self.headers.items():
            handler.send_header(name.replace("_", "-"), value)
        if self.length is not None:
            handler.send_header("Content-Length", str(self.length))
        handler.close_connection = True
        handler.end_headers()
        piece = random.Random(1).randbytes(1 << 16)
        try:
            handler.wfile.write(self.content)
            while self.sent < self.MOST and not handler.server.stop_waiting.is_set():
                handler.wfile.write(piece)
                self.sent += len(piece)
        except OSError:
            pass  # the client hung up
        return True


class Ran:
    def __init__(self, process):
        self.out, self.err = process.communicate(timeout=30)
        self.code = process.returncode


class Fetch(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lanky_fetch_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = self.folder / "cache"
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.stop_waiting.set)

    def offer(self, name, size=50000, md5=True, **options):
        """The server has GROUP/NAME from now on; its bytes."""
        content = archive(name.split("/")[1], size)
        self.server.files[self.path(name)] = File(content, **options)
        if md5:
            self.offer_md5(name, content)
        return content

    def offer_md5(self, name, content):
        digest = hashlib.md5(content).hexdigest()
        text = f"{digest}  {name.split('/')[1]}.tar.gz\n"
        self.server.files[self.path(name) + ".md5"] = File(text.encode())

    @staticmethod
    def path(name):
        return f"/MM/{name}.tar.gz"

    def cached(self, name):
        return self.cache / "suitesparse" / f"{name}.tar.gz"

    def start(self, *arguments, url=None, index=DATA / "ssstats.csv", program=LANKY, trusted=None,
              through=(), **options):
        command = [*through, program, "fetch", "--cache", self.cache, "--mirror", url or self.server.url,
                   "--pause", "0.02"]
        if index:
            command += ["--index", index]
        environment = {**os.environ, "no_proxy": "*", "LANKY_CACHE": "/nonexistent"}
        if trusted:
            environment["CURL_CA_BUNDLE"] = str(trusted)
        return subprocess.Popen([str(a) for a in [*command, *arguments]], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def fetch(self, *arguments, **options):
        return Ran(self.start(*arguments, **options))

    def assert_fetched(self, contents, ran):
        """Exactly these archives, byte for byte, and nothing half-written."""
        self.assertEqual(ran.code, 0, ran.err + ran.out)
        for name, content in contents.items():
            self.assertTrue(self.cached(name).read_bytes() == content, f"{name} has other bytes")
        self.assert_files(contents)

    def assert_files(self, names):
        """Archives of these names and their records are all that there is of archives."""
        found = {p.relative_to(self.cache / "suitesparse").as_posix()
                 for p in self.cache.rglob("*") if p.is_file() and "ssstats" not in p.name}
        expected = {f"{n}.tar.gz{suffix}" for n in names for suffix in ("", ".origin")}
        self.assertEqual(found, expected)

    def wait_for_part(self, name, size):
        part = self.cached(name).with_suffix(".gz.part")
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if part.exists() and part.stat().st_size >= size:
                return part
            time.sleep(0.005)
        self.fail(f"{part} did not grow to {size} bytes")

    def closed_url(self):
        other = Server()
        url = other.url
        other.shutdown()
        other.server_close()
        return url


class Whole(Fetch):
    """Servers that do as they should."""

    def test_fetches_what_a_filter_selects(self):
        contents = {n: self.offer(n) for n in ("HB/1138_bus", "HB/bcsstk13", "HB/west0479")}
        ran = self.fetch("--where", "group = HB and nnz in 1e3..1e5")
        self.assert_fetched(contents, ran)
        self.assertEqual(ran.err, "")
        self.assertIn("3 archives: 3 fetched", ran.out)
        self.assertIn(str(self.cached("HB/west0479")), ran.out)
        self.assertNotIn("\r", ran.out + ran.err)

    def test_names_with_group_and_without_and_one_of_no_checksum(self):
        contents = {"HB/west0479": self.offer("HB/west0479", md5=False),
                    "Williams/cant": self.offer("Williams/cant")}
        ran = self.fetch("west0479", "Williams/cant")
        self.assert_fetched(contents, ran)
        origin = (self.cache / "suitesparse/HB/west0479.tar.gz.origin").read_text()
        self.assertIn("checked gzip", origin)
        origin = (self.cache / "suitesparse/Williams/cant.tar.gz.origin").read_text()
        self.assertIn("checked md5", origin)

    def test_what_is_there_is_not_asked_for_again(self):
        contents = {"HB/west0479": self.offer("HB/west0479")}
        self.assert_fetched(contents, self.fetch("west0479"))
        ran = self.fetch("west0479", url=self.closed_url())
        self.assert_fetched(contents, ran)
        self.assertIn("1 there already", ran.out)
        self.cached("HB/west0479").write_bytes(b"shorter")
        self.assert_fetched(contents, self.fetch("west0479"))

    def test_verify_fetches_the_damaged_again(self):
        names = ("HB/west0479", "HB/1138_bus")
        contents = {n: self.offer(n) for n in names}
        self.assert_fetched(contents, self.fetch(*names))
        damaged = bytearray(contents["HB/west0479"])
        damaged[100] ^= 1
        self.cached("HB/west0479").write_bytes(damaged)
        self.assertEqual(self.fetch(*names).code, 0)
        self.assertTrue(self.cached("HB/west0479").read_bytes() == damaged, "of the right size")
        ran = self.fetch(*names, "--verify")
        self.assert_fetched(contents, ran)
        self.assertIn("HB/west0479: what is there is damaged", ran.err)
        self.assertIn("1 fetched", ran.out)
        self.assertEqual(len(self.server.asked(self.path("HB/1138_bus"))), 1)

    def test_follows_redirects_and_file_addresses(self):
        content = self.offer("HB/west0479", md5=False)
        self.server.files["/elsewhere"] = self.server.files.pop(self.path("HB/west0479"))
        self.server.faults[self.path("HB/west0479")] = [status(302, Location="/elsewhere")]
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))
        mirror = self.folder / "mirror"
        (mirror / "MM/HB").mkdir(parents=True)
        other = archive("1138_bus", 3000)
        (mirror / "MM/HB/1138_bus.tar.gz").write_bytes(other)
        ran = self.fetch("1138_bus", "west0479", url=f"file://{mirror}")
        self.assert_fetched({"HB/west0479": content, "HB/1138_bus": other}, ran)
        ran = self.fetch("cant", url=f"file://{mirror}")
        self.assertEqual(ran.code, 1)
        self.assertRegex(ran.err, f"Couldn't open file {mirror}/MM/.*/cant.tar.gz")

    def test_several_connections_at_once(self):
        names = ("HB/1138_bus", "HB/bcsstk13", "HB/west0479", "Williams/cant")
        contents = {n: self.offer(n) for n in names}
        meeting = threading.Barrier(4)  # broken, unless four requests are under way together

        def meet(_):
            meeting.wait(5)

        for name in names:
            self.server.faults[self.path(name)] = [meet]
        self.assert_fetched(contents, self.fetch(*names, "--connections", "4"))

    def test_progress_on_a_terminal(self):
        self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479")] = [slow(0.08)]
        master, slave = pty.openpty()
        command = [LANKY, "fetch", "west0479", "--cache", self.cache, "--mirror", self.server.url,
                   "--index", DATA / "ssstats.csv"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave,
                                   env={**os.environ, "no_proxy": "*"})
        self.assertEqual(process.wait(20), 0)
        os.close(slave)
        text = os.read(master, 1 << 16).decode()
        os.close(master)
        self.assertRegex(text, r"\r\x1b\[K0 of 1 files, [\d.]+ k?B.*/s, ETA [-\d]+:")
        self.assertTrue(text.endswith("\r\x1b[K"), "the line is removed at the end")

    def test_list_and_dry_run_fetch_nothing(self):
        content = self.offer("HB/west0479")
        self.offer("HB/1138_bus")
        self.fetch("west0479")
        self.server.requests.clear()
        ran = self.fetch("--list", "--where", "nnz < 5000", "--sort", "nnz")
        rows = [line.split()[:2] for line in ran.out.splitlines()]
        self.assertEqual(rows, [["id", "matrix"], ["3", "HB/west0479"], ["1", "HB/1138_bus"]])
        self.assertEqual(self.server.requests, [])
        ran = self.fetch("--dry-run", "--where", "nnz < 5000")
        size = len(self.server.files[self.path("HB/1138_bus")].content)
        self.assertIn(f"2 archives: 1 there, 1 to fetch, {size / 1e3:.1f} kB", ran.out)
        self.assertEqual([r[:2] for r in self.server.requests], [("HEAD", self.path("HB/1138_bus"))])
        self.assert_fetched({"HB/west0479": content}, ran)

    def test_max_bytes_lets_the_first_through_that_fit(self):
        contents = {n: self.offer(n, 20000) for n in ("HB/west0479", "HB/1138_bus")}
        self.offer("Rajat/rajat01", 20000)
        ran = self.fetch("--where", "nnz < 5e4", "--sort", "nnz", "--max-bytes", "45k")
        self.assert_fetched(contents, ran)
        self.assertIn("1 of 3 archives are beyond --max-bytes 45k", ran.err)

    def test_its_help_fits_a_terminal(self):
        ran = self.fetch("--help")
        self.assertEqual(ran.code, 0)
        self.assertIn("--max-bytes", ran.out)
        self.assertLessEqual(max(map(len, ran.out.splitlines())), 120)

    def test_wrong_usage(self):
        ran = self.fetch("--where", "nnz > 5 and nzn < 3")
        self.assertEqual(ran.code, 2)
        self.assertIn("lanky: --where: column 13: there is no field \"nzn\"; did you mean nnz?\n"
                      "  nnz > 5 and nzn < 3\n              ^\n", ran.err)
        for arguments, said in ((["west0497"], "did you mean west0479?"), ([], "needs to know what"),
                                (["--max-bytes", "5x", "cant"], "no size"),
                                (["--sort", "size", "cant"], "--sort")):
            ran = self.fetch(*arguments)
            self.assertEqual(ran.code, 2, arguments)
            self.assertIn(said, ran.err)
        self.assertFalse(self.cache.exists())


class Misbehaving(Fetch):
    """Servers and lines that fail, and what was begun goes on."""

    def test_goes_on_where_the_line_was_cut(self):
        content = self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479")] = [cut(20000), cut(10000)]
        ran = self.fetch("west0479")
        self.assert_fetched({"HB/west0479": content}, ran)
        asked = self.server.asked(self.path("HB/west0479"))
        self.assertEqual([h.get("Range") for h in asked], [None, "bytes=20000-", "bytes=30000-"])
        etag = self.server.files[self.path("HB/west0479")].etag
        self.assertEqual([h.get("If-Range") for h in asked], [None, etag, etag])
        self.assertIn("HB/west0479: ", ran.err)
        self.assertIn("again in", ran.err)

    def test_goes_on_by_the_date_of_the_file(self):
        modified = email.utils.formatdate(1e9, usegmt=True)
        content = self.offer("HB/west0479", etag="", modified=modified)
        self.server.faults[self.path("HB/west0479")] = [cut(20000)]
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))
        self.assertEqual(self.server.asked(self.path("HB/west0479"))[1]["If-Range"], modified)

    def test_without_a_validator_it_begins_anew(self):
        content = self.offer("HB/west0479", etag="")
        self.server.faults[self.path("HB/west0479")] = [cut(20000)]
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))
        self.assertNotIn("Range", self.server.asked(self.path("HB/west0479"))[1])

    def test_progress_counts_retries_anew(self):
        content = self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479")] = [cut(5000)] * 8
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479", "--retries", "1"))

    def test_a_line_that_is_always_cut_ends_after_the_retries(self):
        self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479")] = [cut(0)] * 9
        ran = self.fetch("west0479", "--retries", "2")
        self.assertEqual(ran.code, 1)
        self.assertEqual(len(self.server.asked(self.path("HB/west0479"))), 3)
        self.assertIn("HB/west0479 failed: ", ran.err)
        self.assert_files([])

    def test_a_file_that_changed_is_not_glued_to_its_old_half(self):
        self.offer("HB/west0479")
        new = archive("west0479", 60000)[:-1] + b"\0"  # other bytes
        new = gzip.compress(new, mtime=0)
        self.server.faults[self.path("HB/west0479")] = [cut(20000), becomes(File(new))]
        self.offer_md5("HB/west0479", new)
        self.assert_fetched({"HB/west0479": new}, self.fetch("west0479"))
        self.assertEqual(self.server.asked(self.path("HB/west0479"))[1]["Range"], "bytes=20000-")

    def test_servers_that_do_not_heed_if_range(self):
        new = self.offer("HB/west0479")[::-1]  # as long as the old one
        self.offer_md5("HB/west0479", new)

        def changed(handler):
            handler.server.files[handler.path] = File(new)
            handler.heed_if_range = False

        self.server.faults[self.path("HB/west0479")] = [cut(20000), changed]
        ran = self.fetch("west0479")
        self.assert_fetched({"HB/west0479": new}, ran)
        self.assertIn("the server has other bytes", ran.err)

    def test_what_a_redirect_says_of_itself_is_not_of_the_file(self):
        content = self.offer("HB/west0479", md5=False)
        self.server.files["/elsewhere"] = File(content, etag="")
        redirect = status(302, Location="/elsewhere", ETag='"of the redirect"')
        self.server.faults = {self.path("HB/west0479"): [redirect] * 2, "/elsewhere": [cut(20000)]}
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))
        self.assertNotIn("Range", self.server.asked("/elsewhere")[1])

    def test_a_file_that_shrank(self):
        self.offer("HB/west0479", md5=False)
        new = archive("west0479b", 5000)
        self.server.faults[self.path("HB/west0479")] = [cut(20000), becomes(File(new))]
        self.assert_fetched({"HB/west0479": new}, self.fetch("west0479", "--retries", "1"))

    def test_a_part_of_another_mirror_is_dropped(self):
        self.offer("HB/west0479", md5=False, etag='"same"')
        self.server.faults[self.path("HB/west0479")] = [cut(20000)]
        self.assertEqual(self.fetch("west0479", "--retries", "0").code, 1)
        self.assertEqual(self.cached("HB/west0479").with_suffix(".gz.part").stat().st_size, 20000)
        other = Server()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        content = archive("west0479b", 50000)
        other.files[self.path("HB/west0479")] = File(content, etag='"same"')
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479", url=other.url))
        self.assertNotIn("Range", other.asked(self.path("HB/west0479"))[0])

    def test_servers_without_ranges(self):
        content = self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479")] = [cut(20000), no_ranges]
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))

    def test_another_range_than_asked_for(self):
        content = self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479")] = [cut(20000), wrong_range]
        ran = self.fetch("west0479")
        self.assert_fetched({"HB/west0479": content}, ran)
        self.assertIn("the server has other bytes", ran.err)
        asked = self.server.asked(self.path("HB/west0479"))
        self.assertEqual([h.get("Range") for h in asked], [None, "bytes=20000-", None])

    def test_a_checksum_that_is_wrong_once(self):
        content = self.offer("HB/west0479")
        damaged = bytearray(content)
        damaged[30000] ^= 1
        self.server.files[self.path("HB/west0479")] = File(bytes(damaged), etag='"same"')
        self.server.faults[self.path("HB/west0479")] = [
            lambda handler: None, becomes(File(content, etag='"same"'))]
        ran = self.fetch("west0479")
        self.assert_fetched({"HB/west0479": content}, ran)
        self.assertIn("wrong checksum", ran.err)
        self.assertNotIn("Range", self.server.asked(self.path("HB/west0479"))[1])

    def test_a_checksum_that_stays_wrong(self):
        self.offer("HB/west0479")
        self.offer_md5("HB/west0479", b"something else")
        good = self.offer("HB/1138_bus")
        ran = self.fetch("west0479", "1138_bus", "--retries", "1")
        self.assertEqual(ran.code, 1)
        self.assertIn(hashlib.md5(b"something else").hexdigest(), ran.err)
        self.assertIn("1 fetched", ran.out)
        self.assertIn("1 failed", ran.out)
        self.assert_files(["HB/1138_bus"])
        self.assertTrue(self.cached("HB/1138_bus").read_bytes() == good)

    def test_short_files(self):
        for length in (True, False):
            with self.subTest(length=length):
                content = self.offer("HB/west0479", md5=False)
                short = File(content[:30000], length=length)
                self.server.files[self.path("HB/west0479")] = short
                ran = self.fetch("west0479", "--retries", "1")
                self.assertEqual(ran.code, 1)
                self.assertRegex(ran.err, "what came (ends before|is damaged)")
                self.assert_files([])

    def test_a_length_that_is_not_told(self):
        content = self.offer("HB/west0479", md5=False, length=False)
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))

    def test_pages_instead_of_archives_and_checksums(self):
        content = self.offer("HB/west0479")
        page = File(b"<html>no such file</html>")
        self.server.files[self.path("HB/west0479") + ".md5"] = page
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))
        self.server.files[self.path("HB/1138_bus")] = page
        ran = self.fetch("1138_bus", "--retries", "0")
        self.assertEqual(ran.code, 1)
        self.assertIn("is no gzip file", ran.err)
        self.assert_files(["HB/west0479"])

    def test_what_is_not_there_is_asked_for_once(self):
        for code in (404, 403):
            self.server.requests.clear()
            self.server.faults[self.path("HB/west0479")] = [status(code)] * 9
            ran = self.fetch("west0479")
            self.assertEqual(ran.code, 1)
            self.assertIn(f"HB/west0479 failed: HTTP {code}", ran.err)
            self.assertIn(self.server.url + self.path("HB/west0479"), ran.err)
            self.assertEqual(len(self.server.asked(self.path("HB/west0479"))), 1)
            self.assert_files([])

    def test_retry_after_is_honoured(self):
        content = self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479")] = [status(503, Retry_After="1"), status(500)]
        begin = time.monotonic()
        ran = self.fetch("west0479")
        self.assert_fetched({"HB/west0479": content}, ran)
        self.assertGreater(time.monotonic() - begin, 1)
        self.assertIn("HTTP 503 (unavailable); again in 1.0 s (1 of 5)", ran.err)

    def test_a_server_that_asks_for_a_long_pause(self):
        self.server.faults[self.path("HB/west0479")] = [status(429, Retry_After="86400")] * 9
        ran = self.fetch("west0479")
        self.assertEqual(ran.code, 1)
        self.assertEqual(len(self.server.asked(self.path("HB/west0479"))), 1)
        self.assertIn("HTTP 429 (too many requests), to be asked again in 86400 s", ran.err)

    def test_redirects_in_a_circle(self):
        circle = status(302, Location=self.path("HB/west0479"))
        self.server.faults[self.path("HB/west0479")] = [circle] * 99
        content = self.offer("HB/1138_bus")
        ran = self.fetch("west0479", "1138_bus")
        self.assertEqual(ran.code, 1)
        self.assertRegex(ran.err, r"HB/west0479 failed: Maximum \(\d+\) redirects followed")
        self.assert_files(["HB/1138_bus"])
        self.assertTrue(self.cached("HB/1138_bus").read_bytes() == content)

    def test_a_checksum_that_is_late(self):
        content = self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479") + ".md5"] = [status(503), cut(5)]
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))
        self.assertEqual(len(self.server.asked(self.path("HB/west0479"))), 1)

    def test_a_line_that_stalls(self):
        content = self.offer("HB/west0479")
        self.server.faults[self.path("HB/west0479")] = [stall(20000)]
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479", "--timeout", "0.5"))
        self.assertEqual(self.server.asked(self.path("HB/west0479"))[1]["Range"], "bytes=20000-")


class Oversized(Fetch):
    """Servers that send more than there can be."""

    BUFFERS = 16 << 20  # what sockets may hold of it

    def assert_nothing_left(self):
        self.assertEqual([p for p in self.cache.rglob("*") if p.is_file()], [])

    def test_a_checksum_without_end(self):
        content = self.offer("HB/west0479")
        endless = Endless()
        self.server.faults[self.path("HB/west0479") + ".md5"] = [endless]
        ran = self.fetch("west0479")
        self.assert_fetched({"HB/west0479": content}, ran)
        self.assertIn(f"HB/west0479: {self.server.url}{self.path('HB/west0479')}.md5 has more than 4096 bytes", ran.err)
        self.assertLess(endless.sent, self.BUFFERS)
        origin = (self.cache / "suitesparse/HB/west0479.tar.gz.origin").read_text()
        self.assertIn("checked gzip", origin)

    # west0479 has 1910 entries, 479 rows and 479 columns (tests/data/collection/ssstats.csv).
    MOST = (64 << 20) + 80 * 1910 + 1024 * (479 + 479)

    def test_an_archive_without_length_or_end(self):
        self.offer("HB/west0479")
        endless = Endless(self.server.files[self.path("HB/west0479")].content)
        self.server.faults[self.path("HB/west0479")] = [endless]
        ran = self.fetch("west0479")
        self.assertEqual(ran.code, 1)
        self.assertIn(f"HB/west0479 failed: more than {self.MOST} bytes came, the most that the archive of "
                      f"1910 entries, 479 rows and 479 columns may have: "
                      f"{self.server.url}{self.path('HB/west0479')}\n", ran.err)
        self.assertLess(endless.sent, self.MOST + self.BUFFERS)
        self.assertEqual(len(self.server.asked(self.path("HB/west0479"))), 1)
        self.assert_nothing_left()

    def test_an_archive_of_a_length_that_cannot_be(self):
        self.offer("HB/west0479")
        endless = Endless(length=10**15)
        self.server.faults[self.path("HB/west0479")] = [endless]
        ran = self.fetch("west0479")
        self.assertEqual(ran.code, 1)
        self.assertIn(f"HB/west0479 failed: the server announces {10**15} bytes, but {self.MOST} are the most "
                      "that the archive of 1910 entries, 479 rows and 479 columns may have: ", ran.err)
        self.assertLess(endless.sent, self.BUFFERS)
        self.assert_nothing_left()

    def test_more_than_was_announced(self):
        content = self.offer("HB/west0479")
        file = self.server.files[self.path("HB/west0479")]
        endless = Endless(content[20000:], code=206, ETag=file.etag,
                          Content_Range=f"bytes 20000-{len(content) - 1}/{len(content)}")
        self.server.faults[self.path("HB/west0479")] = [cut(20000), endless]
        ran = self.fetch("west0479")
        self.assert_fetched({"HB/west0479": content}, ran)
        self.assertIn(f"more than the {len(content)} bytes came that the server announced; again in", ran.err)
        self.assertLess(endless.sent, self.BUFFERS)

    def test_an_index_without_end(self):
        for endless in (Endless(), Endless(length=10**12)):
            self.server.faults["/files/ssstats.csv"] = [endless]
            ran = self.fetch("--list", "--limit", "1", index=None)
            self.assertEqual(ran.code, 3)
            self.assertEqual(ran.err, f"lanky: {self.server.url}/files/ssstats.csv has more than "
                             f"{32 << 20} bytes, and is no index of the collection\n")
            most = self.BUFFERS if endless.length else (32 << 20) + self.BUFFERS
            self.assertLess(endless.sent, most)
            self.assert_nothing_left()

    def test_bytes_behind_the_archive(self):
        content = self.offer("HB/west0479", md5=False)
        self.server.files[self.path("HB/west0479")] = File(content + b"more")
        ran = self.fetch("west0479", "--retries", "0")
        self.assertEqual(ran.code, 1)
        self.assertIn(f"what came is damaged (byte {len(content)} is behind the end of the gzip stream", ran.err)
        self.assert_nothing_left()
        padded = content + bytes(5000)
        self.server.files[self.path("HB/west0479")] = File(padded)
        self.assert_fetched({"HB/west0479": padded}, self.fetch("west0479"))


class Interrupted(Fetch):
    """Programs that end, and several at once."""

    def interrupt(self, with_signal):
        content = self.offer("HB/west0479", 200000)
        self.server.faults[self.path("HB/west0479")] = [slow(0.15)]
        process = self.start("west0479")
        part = self.wait_for_part("HB/west0479", 20000)
        process.send_signal(with_signal)
        ran = Ran(process)
        begun = part.stat().st_size
        self.assertTrue(part.read_bytes() == content[:begun])
        self.assertFalse(self.cached("HB/west0479").exists())
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479"))
        asked = self.server.asked(self.path("HB/west0479"))
        self.assertEqual(asked[1]["Range"], f"bytes={begun}-")
        return ran

    def test_killed_it_goes_on_the_next_time(self):
        self.assertEqual(self.interrupt(signal.SIGKILL).code, -signal.SIGKILL)

    def test_interrupted_it_goes_on_the_next_time(self):
        ran = self.interrupt(signal.SIGINT)
        self.assertEqual(ran.code, 128 + signal.SIGINT)
        self.assertIn("go on with the next one", ran.err)

    def test_two_at_once_fetch_each_archive_once(self):
        names = ("HB/1138_bus", "HB/bcsstk13", "HB/west0479", "Williams/cant")
        contents = {n: self.offer(n, 60000) for n in names}
        for name in names:
            self.server.faults[self.path(name)] = [slow(0.03)]
        processes = [self.start(*names, "--connections", "2") for _ in range(2)]
        for process in processes:
            self.assert_fetched(contents, Ran(process))
        for name in names:
            self.assertEqual(len(self.server.asked(self.path(name))), 1, name)

    def test_what_the_disk_does_not_hold_is_one_error(self):
        names = ("HB/west0479", "HB/1138_bus")
        for name in names:
            self.offer(name, 100000)

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))

        # Python ignores SIGXFSZ, and so does the child: writing then fails, as on a full disk.
        ran = self.fetch(*names, preexec_fn=small_files, restore_signals=False)
        self.assertEqual(ran.code, 1)
        self.assertRegex(ran.err, r"\Alanky: cannot write .*\.tar\.gz\.part: File too large\n\Z")
        self.assertEqual(list(self.cache.rglob("*.tar.gz")), [])

    def test_a_cache_that_cannot_be_written_is_one_error(self):
        self.offer("HB/west0479")
        self.cache.write_text("a file")
        ran = self.fetch("west0479")
        self.assertEqual(ran.code, 1)
        self.assertRegex(ran.err, r"\Alanky: cannot create the folder .*: Not a directory\n\Z")


class Unreachable(Fetch):
    """No network, and no libcurl."""

    def test_without_a_network_there_is_one_error(self):
        ran = self.fetch("--where", "nnz < 1e6", url=self.closed_url())
        self.assertEqual(ran.code, 1)
        self.assertRegex(ran.err, r"\Alanky: cannot reach http://127\.0\.0\.1:\d+/MM/.*; is there a network\?\n\Z")
        self.assertEqual([p for p in self.cache.rglob("*") if p.is_file()], [])

    def test_without_a_network_sizes_are_estimates(self):
        ran = self.fetch("--dry-run", "--where", "nnz < 5000", url=self.closed_url())
        self.assertEqual(ran.code, 0)
        self.assertRegex(ran.out, r"2 archives: 0 there, 2 to fetch, about [\d.]+ kB\n"
                                  r"2 of these sizes estimated from nnz: cannot reach ")

    def test_without_the_module_it_says_what_to_install(self):
        program = self.folder / "lanky"
        shutil.copy(LANKY, program)
        ran = self.fetch("west0479", program=program)
        self.assertEqual(ran.code, 3)
        self.assertEqual(ran.err.count("\n"), 1)
        self.assertIn("libcurl4", ran.err)
        self.assertIn(MODULE, ran.err)
        self.assertEqual([p for p in self.cache.rglob("*") if p.is_file()], [])
        ran = self.fetch("--dry-run", "west0479", program=program)
        self.assertEqual(ran.code, 0, ran.err)
        self.assertIn("estimated from nnz", ran.out)
        ran = self.fetch("--list", "--where", "kind ~ circuit", program=program)
        self.assertEqual(ran.code, 0, ran.err)
        shutil.copy(LANKY.parent / MODULE, program.parent)
        content = self.offer("HB/west0479")
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479", program=program))
        (self.folder / MODULE).unlink()
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479", program=program))

    def test_an_installed_program_finds_the_module(self):
        for folder in ("bin", "lib/lanky", "elsewhere"):
            (self.folder / folder).mkdir(parents=True)
        program = self.folder / "bin/lanky"
        shutil.copy(LANKY, program)
        shutil.copy(LANKY.parent / MODULE, self.folder / "lib/lanky")
        link = self.folder / "elsewhere/lanky"
        link.symlink_to(program)
        content = self.offer("HB/west0479")
        for started in (program, link):
            self.assert_fetched({"HB/west0479": content}, self.fetch("--verify", "west0479", program=started))
            shutil.rmtree(self.cache)
        # A chroot or a container may have no /proc.
        hidden = ["unshare", "--mount", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"]
        if subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
            self.skipTest("needs the right to unmount /proc")
        self.assert_fetched({"HB/west0479": content}, self.fetch("west0479", program=program, through=hidden))

    def test_addresses_that_are_none_are_one_error(self):
        for url in ("gopherus://x", "http://"):
            ran = self.fetch("--where", "nnz < 1e6", url=url)
            self.assertEqual(ran.code, 1)
            self.assertRegex(ran.err, r"\Alanky: cannot reach .*\n\Z")


    @unittest.skipUnless(shutil.which("openssl"), "needs openssl to make a certificate")
    def test_certificates_are_checked(self):
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-subj", "/CN=localhost", "-days", "2",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        content = self.offer("HB/west0479")
        url = self.server.url.replace("http://127.0.0.1", "https://localhost")
        ran = self.fetch("west0479", url=url)
        self.assertEqual(ran.code, 1)
        self.assertRegex(ran.err, r"\Alanky: cannot reach .*certificate.*\n\Z")
        self.assertEqual(self.server.requests, [])
        ran = self.fetch("west0479", url=url, trusted=certificate)
        self.assert_fetched({"HB/west0479": content}, ran)


class Index(Fetch):
    """Where the index comes from."""

    PATH = "/files/ssstats.csv"

    def setUp(self):
        super().setUp()
        self.index = (DATA / "ssstats.csv").read_bytes()
        self.kept = self.cache / "suitesparse/ssstats.csv"
        self.server.files[self.PATH] = File(self.index)

    def list(self, **options):
        return self.fetch("--list", "--limit", "1", **{"index": None, **options})

    def grow_old(self):
        old = time.time() - 31 * 24 * 3600
        os.utime(self.kept, (old, old))

    def test_it_is_kept_and_refreshed_after_a_month(self):
        self.assertEqual(self.list().code, 0)
        self.assertEqual(self.kept.read_bytes(), self.index)
        self.assertEqual(self.list().code, 0)
        self.assertEqual(len(self.server.asked(self.PATH)), 1)
        self.grow_old()
        self.server.files[self.PATH] = File(b"1\nnew\nG,new,1,1,1,1,0,0,0,0,0,kind\n")
        self.assertIn("G/new", self.list().out)

    def test_the_old_one_serves_without_a_network(self):
        url = self.server.url
        self.list()
        self.grow_old()
        self.server.faults[self.PATH] = [status(404)]
        ran = self.list()
        self.assertEqual(ran.code, 0, ran.err)
        self.assertIn("HB/1138_bus", ran.out)
        self.assertRegex(ran.err, "more than 30 days old .*HTTP 404.*the old one is used")
        self.server.shutdown()
        self.server.server_close()
        ran = self.list(url=url)
        self.assertEqual(ran.code, 0, ran.err)
        self.assertRegex(ran.err, "cannot reach .*the old one is used")

    def test_another_site_has_another_index(self):
        self.list()
        ran = self.list(url=self.closed_url())
        self.assertEqual(ran.code, 3)
        self.assertEqual(self.kept.read_bytes(), self.index)
        ran = self.list(index=self.server.url + self.PATH, url=self.closed_url())
        self.assertEqual(ran.code, 0, ran.err)

    def test_none_at_all_is_one_error(self):
        ran = self.list(url=self.closed_url())
        self.assertEqual(ran.code, 3)
        self.assertRegex(ran.err, r"\Alanky: cannot reach .*ssstats\.csv.*\n\Z")
        self.assertFalse(self.cache.exists())

    def test_pages_and_halves_are_no_index(self):
        self.server.files[self.PATH] = File(b"<html>moved</html>")
        ran = self.list()
        self.assertEqual(ran.code, 3)
        self.assertIn("ssstats.csv:1: ", ran.err)
        self.server.files[self.PATH] = File(self.index[:400])
        self.assertEqual(self.list().code, 3)
        self.assertFalse(self.kept.exists())
        self.server.files[self.PATH] = File(self.index)
        self.server.faults[self.PATH] = [cut(400), status(503)]
        self.assertEqual(self.list().code, 0)
        self.assertEqual(self.kept.read_bytes(), self.index)

    def test_one_that_cannot_be_read(self):
        ran = self.list(index=self.folder / "absent.csv")
        self.assertEqual(ran.code, 3)
        self.assertIn("absent.csv: No such file", ran.err)


if __name__ == "__main__":
    if LANKY is None:
        sys.exit("fetch_test.py needs the lanky program: fetch_test.py build/cpu/bin/lanky")
    unittest.main()
