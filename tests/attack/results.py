"""What a file of results must be after whatever happened to the batch that wrote it: whole lines of JSON, each matrix
ended once, and what stood there before still there."""

import json


def matrix_file(rows):
    """A Matrix Market file of so many rows with four entries at least."""
    entries = [(1, 1), (2, 2), (3, 1), (3, 3)] + [(i, (i * 5) % 3 + 1) for i in range(4, rows + 1)]
    lines = "".join(f"{i} {k} {i + 0.5}\n" for i, k in entries)
    return f"%%MatrixMarket matrix coordinate real general\n{rows} 3 {len(entries)}\n{lines}"


def lines_of(case, name, may_be_torn=False):
    """The lines of a file of results. The last one may lack its end only after a kill."""
    if not case.exists(name):
        return []
    parts = case.read(name).split(b"\n")
    tail = parts.pop()
    case.require(not tail or may_be_torn, f"{name} ends with half a line: {tail[-200:]!r}")
    found = []
    for number, part in enumerate(parts, 1):
        try:
            found.append(json.loads(part))
        except RecursionError:
            found.append({"kind": "nested"})  # deeper than Python reads, and what the case asked for
        except ValueError:
            case.require(False, f"{name}:{number} is no line of JSON: {part[:200]!r}")
        case.require(isinstance(found[-1], dict), f"{name}:{number} is no object")
    return found


def whole_part(case, name):
    """The bytes up to the last end of a line."""
    data = case.read(name) if case.exists(name) else b""
    return data[: data.rfind(b"\n") + 1]


def status_by_source(case, lines):
    """How each matrix ended; a matrix has one final line."""
    found = {}
    for line in lines:
        if line["kind"] != "matrix":
            continue
        source = line["source"]
        case.require(source not in found, f"{source} has two final lines")
        case.require("status" in line, f"{source}: its final line has no status")
        found[source] = line["status"]
    return found
