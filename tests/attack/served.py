"""A server with a few archives of the collection, and `lanky fetch` on it: what is in the cache must be the archives'
own content or nothing. The server is that of tests/fetch_test.py."""

import gzip
import sys
import zlib

from case import INPUT, FAILED, MIB, OK, ROOT


def load_fetch_test():
    """tests/fetch_test.py takes its program from sys.argv, which has none for it here."""
    arguments, sys.argv = sys.argv, sys.argv[:1]
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        import fetch_test
    finally:
        sys.argv = arguments
    return fetch_test


fetch_test = load_fetch_test()

NAMES = ("HB/1138_bus", "HB/bcsstk13", "HB/west0479")
INDEX = "/files/ssstats.csv"
# Bytes of each archive: a part may grow as far as its matrix could need, which is 64 MiB and some.
LARGEST_CACHE = 80 * MIB


def unpacked(archive):
    """What is in an archive; None where it is damaged."""
    try:
        return gzip.decompress(archive)
    except (EOFError, OSError, zlib.error):
        return None


class Offer:
    """The server, of two or three archives; `contents` are their bytes."""

    def __init__(self, case):
        self.case = case
        self.server = fetch_test.Server()
        self.server.files[INDEX] = fetch_test.File((fetch_test.DATA / "ssstats.csv").read_bytes())
        self.contents = {}
        for name in NAMES[: case.random.randrange(1, 4)]:
            content = fetch_test.archive(name.split("/")[1], case.random.choice((500, 20000, 150000)))
            self.contents[name] = content
            self.server.files[self.path(name)] = fetch_test.File(content)
            if case.random.random() < 0.7:
                self.server.files[self.path(name) + ".md5"] = fetch_test.File(
                    f"{fetch_test.hashlib.md5(content).hexdigest()}  {name.split('/')[1]}.tar.gz\n".encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stop_waiting.set()
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def path(name):
        return f"/MM/{name}.tar.gz"

    def paths(self):
        return [self.path(name) for name in self.contents]

    @staticmethod
    def slowly(pause):
        return fetch_test.slow(pause)

    def start(self, *more):
        patience = ("--pause", "0.01", "--retries", "2", "--timeout", "2")
        return self.case.start("fetch", "--cache", "cache", "--mirror", self.server.url, *patience, *more,
                               *self.contents, memory=2048 * MIB)

    def cached(self, name):
        return f"cache/suitesparse/{name}.tar.gz"

    def judge_cache(self):
        """Of an archive, what is there is the archive. There is no huge file."""
        for name, content in self.contents.items():
            if self.case.exists(self.cached(name)):
                # No checksum covers a gzip header's time, nor zeros behind the stream.
                same = unpacked(self.case.read(self.cached(name))) == unpacked(content)
                self.case.require(same, f"{name} is in the cache with other content")
        folder = self.case.folder / "cache"
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        self.case.require(size < LARGEST_CACHE * len(self.contents), f"the cache has grown to {size} bytes")

    def judge(self, ran):
        """Right bytes, or a clean error."""
        self.case.judge(ran, (OK, FAILED, INPUT))
        self.judge_cache()
        there = [name for name in self.contents if self.case.exists(self.cached(name))]
        if ran.code == OK:
            self.case.require(len(there) == len(self.contents), f"exit code 0, and there are only {there}")
        else:
            self.case.require("lanky: " in ran.err or " failed: " in ran.err, f"no error is told: {ran.err!r}")

    def complete(self):
        """The server does as it should now: everything is fetched."""
        ran = self.case.finish(self.start(), 20)
        self.judge(ran)
        self.case.require(ran.code == OK, f"exit code {ran.code} with a sound server: {ran.err[-400:]}")
        for name in self.contents:
            with gzip.open(self.case.folder / self.cached(name)) as stream:
                stream.read()
