"""Damaged matrix files of all formats: each is read or refused with its name, never crashes or hangs the program.
What is read is the same after trips through the binary cache and Matrix Market."""

import bz2
import functools
import gzip
import lzma
import time

from case import BROKEN, INPUT, MIB, OK, ROOT

SHARE = 3  # of the time

NUMBERS = [b"0", b"-1", b"1", b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807",
           b"-9223372036854775808", b"18446744073709551616", b"1e308", b"1e999", b"-1e-999", b"nan", b"inf", b"1.5",
           b"0x10", b"1d5", b"+7", b"1,5",
           b"%", b"\xef\xbb\xbf", b"\r\n", b"\0", b"\n", b" ", b"99999999", b"100000000000"]
MATRICES = ("arc130", "minnesota", "orsirr_1", "rajat01", "uk", "west0479")


@functools.cache
def seeds():
    """(name, bytes) of sound and of faulty files, small enough for thousands of trials."""
    data = ROOT / "tests/data"
    fuzzed = [f"fuzz/{name}" for name in ("cache", "mat", "matrix_market", "rutherford_boeing")]
    files = [p for folder in ["parser", "formats", *fuzzed, "archives"] for p in sorted((data / folder).rglob("*"))
             if p.is_file() and p.suffix not in (".md", ".csv", ".txt") and "LICENSE" not in p.name]
    found = [(p.name, p.read_bytes()) for p in files]
    for name in MATRICES:
        packed = (ROOT / f"matrices/{name}.mtx.xz").read_bytes()
        found += [(f"{name}.mtx.xz", packed), (f"{name}.mtx", lzma.decompress(packed))]
    return found


@functools.cache
def large_file():
    """Several blocks of text, which several threads read."""
    rows = 300_000
    lines = [f"{i + 1} {i * 7919 % rows + 1} {i * 0.5 - 3}\n" for i in range(rows)]
    return f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {rows}\n{''.join(lines)}".encode()


def flip(random, data):
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def overwrite(random, data):
    at = random.randrange(len(data))
    size = random.choice((1, 2, 4, 8, 100))
    return data[:at] + random.randbytes(size) + data[at + size :]


def insert(random, data):
    at = random.randrange(len(data) + 1)
    more = random.choice((random.choice(NUMBERS), random.randbytes(random.randrange(1, 40)), b"9" * 400, b" " * 5000))
    return data[:at] + more + data[at:]


def remove(random, data):
    at = random.randrange(len(data))
    return data[:at] + data[at + random.choice((1, 2, 10, 100)) :]


def truncate(random, data):
    return data[: random.randrange(len(data))]


def duplicate(random, data):
    first, last = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:last] + data[first:last] * random.choice((1, 1, 2, 20)) + data[last:]


def splice(random, data):
    other = random.choice(seeds())[1]
    return data[: random.randrange(len(data))] + other[random.randrange(len(other) + 1) :]


def swap_lines(random, data):
    lines = data.split(b"\n")
    i, k = random.randrange(len(lines)), random.randrange(len(lines))
    lines[i], lines[k] = lines[k], lines[i]
    return b"\n".join(lines)


def replace_number(random, data):
    words = data.split(b" ")
    words[random.randrange(min(len(words), 40))] = random.choice(NUMBERS)
    return b" ".join(words)


def little_endian(random, data):
    """An absurd number where a binary header may have one."""
    at = random.randrange(len(data))
    size = random.choice((2, 4, 8))
    number = random.choice((0, 1, (1 << 8 * size) - 1, 1 << (8 * size - 1), 1 << 28, 255)) % (1 << 8 * size)
    return data[:at] + number.to_bytes(size, "little") + data[at + size :]


MUTATIONS = (flip, overwrite, insert, remove, truncate, duplicate, splice, swap_lines, replace_number, little_endian)
WRAPPINGS = {".gz": lambda d: gzip.compress(d, 1), ".bz2": bz2.compress, ".xz": lambda d: lzma.compress(d, preset=0)}
UNWRAPPINGS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
BOMBS = {"blank lines": b"\n", "a long line": b"9", "a comment": b"%", "zeros": b"\0", "entries": b"1 1 1\n"}
BOMB_SIZE = 128 * MIB


def mutated(random, data, times):
    names = []
    for _ in range(times):
        mutation = random.choice(MUTATIONS)
        names.append(mutation.__name__)
        data = mutation(random, data or b"\n")
    return data, names


def attack(case):
    draw = case.random.random()
    if draw < 0.02:
        return cut_while_it_is_read(case)
    if draw < 0.022:
        return bomb(case)
    name, data = ("large.mtx", large_file()) if draw < 0.04 else case.random.choice(seeds())
    times = case.random.choice((1, 1, 1, 2, 3))
    wrapping = "." + name.rsplit(".", 1)[-1]
    if wrapping in WRAPPINGS and "bad" not in name and case.random.random() < 0.5:
        data, names = inside(case.random, data, wrapping, times)
        case.attack = f"{names[0]}, inside"
    else:
        data, names = mutated(case.random, data, times)
        case.attack = names[0]
    if case.random.random() < 0.1:
        suffix = case.random.choice(list(WRAPPINGS))
        data, name = WRAPPINGS[suffix](data), name + suffix
        case.attack = f"{names[0]}, wrapped"
        if case.random.random() < 0.5:
            data, names = mutated(case.random, data, 1)
            case.attack = f"wrapped, {names[0]}"
    name = case.write("in-" + name, data)
    out = case.random.choice(("a.lanky", "a.mtx"))
    ran = convert(case, name, out, environment={"OMP_NUM_THREADS": case.random.choice((1, 1, 2, 4))})
    case.require(case.read(name) == data, f"the input was changed: {ran.command}")
    if ran.code == OK:
        round_trip(case, out)
    else:
        refused(case, ran, name)


def inside(random, data, wrapping, times):
    """Damage that decompression does not see: to the text, or to the tar around it."""
    try:
        plain = UNWRAPPINGS[wrapping](data)
    except (EOFError, OSError, lzma.LZMAError):
        plain = data  # a seed that is damaged already
    plain, names = mutated(random, plain, times)
    return WRAPPINGS[wrapping](plain), names


@functools.cache
def bomb_of(what, wrapping):
    """A small file that is a large one once it is decompressed."""
    head = b"%%MatrixMarket matrix coordinate real general\n3 3 9000000000\n"
    return WRAPPINGS[wrapping](head + BOMBS[what] * (BOMB_SIZE // len(BOMBS[what])))


def bomb(case):
    what, wrapping = case.random.choice(list(BOMBS)), case.random.choice((".gz", ".bz2"))
    case.attack = f"bomb of {what}"
    name = case.write("in-bomb.mtx" + wrapping, bomb_of(what, wrapping))
    ran = convert(case, name, "a.mtx", codes=(INPUT, BROKEN), seconds=60)
    refused(case, ran, name)


def convert(case, source, target, codes=(OK, INPUT, BROKEN), **limits):
    """A file may promise more rows than memory holds: that alone may end as want of memory."""
    ran = case.run("convert", source, target, codes=codes, memory=1024 * MIB, file_size=256 * MIB, **limits)
    if ran.code == BROKEN:
        is_memory = "memory" in ran.err or "bytes, but this machine has" in ran.err
        case.require(is_memory, f"exit code {BROKEN} for another reason than memory: {ran.command}: {ran.err}")
    return ran


def refused(case, ran, name):
    case.require(ran.err.startswith("lanky: "), f"no error of lanky: {ran.command}: {ran.err[:400]!r}")
    case.require(name in ran.err or ran.code == BROKEN or "File too large" in ran.err,
                 f"the error does not name {name}: {ran.command}: {ran.err[:400]!r}")
    left = [p.name for p in case.folder.iterdir() if p.name != name and not p.name.startswith(".")]
    case.require(not left, f"an error left {left}: {ran.command}")


def as_cached(text):
    """A matrix after its time in the cache, which holds no values where all are 1: complex ones are then real ones."""
    head, size, *entries = text.splitlines(keepends=True)
    if b" complex " not in head or not all(entry.endswith(b" 1 0\n") for entry in entries):
        return text
    return b"".join([head.replace(b" complex ", b" real "), size, *(entry[:-3] + b"\n" for entry in entries)])


def round_trip(case, out):
    """Of what was accepted, another trip through each format is the same to the byte."""
    if case.size(out) > 16 * MIB:
        return
    text = "b.mtx"
    convert(case, out, text, codes=(OK,))
    convert(case, text, "c.lanky", codes=(OK,))
    convert(case, "c.lanky", "d.mtx", codes=(OK,))
    convert(case, "c.lanky", "e.lanky", codes=(OK,))
    kept = as_cached(case.read(text))
    case.require(case.read("d.mtx") == kept, f"{text} is another after a trip through the binary cache")
    # The cache of a cache of complex ones is one of real ones.
    is_same = case.read("e.lanky") == case.read("c.lanky") or kept != case.read(text)
    case.require(is_same, "the cache is another after a trip through itself")


def cut_while_it_is_read(case):
    case.attack = "cut while it is read"
    size, pause = case.random.randrange(len(large_file())), case.random.uniform(0, 0.06)
    name = case.write("in-large.mtx", large_file())
    process = case.start("convert", name, "a.mtx", memory=1024 * MIB)
    time.sleep(pause)
    with open(case.folder / name, "r+b") as file:
        file.truncate(size)
    ran = case.finish(process, 20)
    case.judge(ran, (OK, INPUT))
    if ran.code != OK:
        refused(case, ran, name)
