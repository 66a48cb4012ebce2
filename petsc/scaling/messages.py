#!/usr/bin/env python3
"""The messages of MatMult of an MPIAIJ matrix of PETSc, without PETSc: for each rank its rows, the nonzeros of its two
blocks, its ghosts, and the vector entries that it receives from and sends to each neighbour. scatter.cpp prints the same
from PETSc's own scatter; messages_test.py compares the two.

    messages.py stencil --points 336,336,336 --ranks 64 --stencil 27
    messages.py matrix wave.mtx.xz --ranks 16 --partition bisection [--write wave.petsc]
    messages.py survey OUT.jsonl wave.mtx.xz ...
"""

import argparse
import array
import collections
import itertools
import json
import lzma
import pathlib
import sys


class Rank(collections.namedtuple("Rank", "rank rows ghosts diagonal_nnz off_diagonal_nnz receives sends")):
    """One rank; receives and sends are {other rank: vector entries}."""

    __slots__ = ()

    def line(self):
        fields = self._asdict()
        for way in ("receives", "sends"):
            fields[way] = [list(pair) for pair in sorted(fields[way].items())]
        return fields


def part_begin(points, parts, part):
    """The first of `points` that a part owns: sizes differ by one, larger ones first, as PETSc splits rows."""
    return part * (points // parts) + min(part, points % parts)


def process_grid(ranks, points):
    """(x, y, z) boxes, of all ways to have as many boxes as ranks one with the fewest points on the faces between them."""
    def faces(grid):
        return sum((grid[d] - 1) * points[(d + 1) % 3] * points[(d + 2) % 3] for d in range(3))

    grids = [(ranks // (y * z), y, z) for z in range(1, ranks + 1) for y in range(1, ranks // z + 1) if ranks % (y * z) == 0]
    return min(grids, key=lambda grid: (faces(grid), [-count for count in grid]))


class Box:
    """A stencil of 27 or 7 points on a box of nodes, split into a grid of boxes, one a rank; x fastest."""

    def __init__(self, points, grid, corners=True):
        self.points, self.grid, self.corners = tuple(points), tuple(grid), corners
        self.ranks = grid[0] * grid[1] * grid[2]

    def place(self, rank):
        x, y, _ = self.grid
        return rank % x, rank // x % y, rank // x // y

    def size(self, rank):
        return tuple(part_begin(self.points[d], self.grid[d], p + 1) - part_begin(self.points[d], self.grid[d], p)
                     for d, p in enumerate(self.place(rank)))

    def neighbours(self, rank):
        """(other rank, points of the face, edge or corner between the two). A stencil is one point wide, so that as many
        entries go each way."""
        place, size = self.place(rank), self.size(rank)
        for step in itertools.product((-1, 0, 1), repeat=3):
            distance = sum(map(abs, step))
            if distance == 0 or (distance > 1 and not self.corners):
                continue
            z, y, x = step  # the order of ranks
            other = (place[0] + x, place[1] + y, place[2] + z)
            if all(0 <= other[d] < self.grid[d] for d in range(3)):
                shared = 1
                for d, s in enumerate((x, y, z)):
                    shared *= 1 if s else size[d]
                yield other[0] + self.grid[0] * (other[1] + self.grid[1] * other[2]), shared

    def nonzeros(self, rank):
        """(of the diagonal block, of the other one)."""
        place, size = self.place(rank), self.size(rank)
        # Along one dimension: pairs of a point and one at most a point away, within the box and in all.
        inside = [3 * n - 2 for n in size]
        everywhere = [3 * n - (place[d] == 0) - (place[d] == self.grid[d] - 1) for d, n in enumerate(size)]
        if self.corners:
            own, whole = (a[0] * a[1] * a[2] for a in (inside, everywhere))
            return own, whole - own
        rows = size[0] * size[1] * size[2]
        own, whole = (rows + sum((a[d] - size[d]) * rows // size[d] for d in range(3)) for a in (inside, everywhere))
        return own, whole - own

    def rank(self, rank):
        counts = dict(self.neighbours(rank))
        size = self.size(rank)
        return Rank(rank, size[0] * size[1] * size[2], sum(counts.values()), *self.nonzeros(rank), counts, dict(counts))

    def heaviest(self):
        """A rank that receives most; all others have at most its neighbours where the boxes are equal."""
        return max(range(self.ranks), key=lambda rank: (sum(count for _, count in self.neighbours(rank)), -rank))

    def sides(self, rank):
        """Whether there is a box below and above along x, y and z: six digits."""
        return "".join(f"{int(p > 0)}{int(p < self.grid[d] - 1)}" for d, p in enumerate(self.place(rank)))


class Pattern:
    """A square sparse matrix in rows: offsets [rows + 1], columns [nnz]."""

    def __init__(self, offsets, columns):
        self.offsets, self.columns = offsets, columns
        self.rows = len(offsets) - 1

    def row(self, row):
        return self.columns[self.offsets[row]:self.offsets[row + 1]]

    def permuted(self, order):
        """Row and column order[i] become i."""
        place = array.array("i", bytes(4 * self.rows))
        for new, old in enumerate(order):
            place[old] = new
        offsets, columns = array.array("q", [0]), array.array("i")
        for old in order:
            columns.extend(sorted(place[column] for column in self.row(old)))
            offsets.append(len(columns))
        return Pattern(offsets, columns)

    def write_petsc(self, path):
        """PETSc's binary file, which MatLoad reads; all values are 1. Big-endian: class, extents, nnz, lengths, columns."""
        head = array.array("i", [1211216, self.rows, self.rows, len(self.columns)])
        head.extend(self.offsets[row + 1] - self.offsets[row] for row in range(self.rows))
        head.extend(self.columns)
        values = array.array("d", [1.0]) * len(self.columns)
        with open(path, "wb") as file:
            for part in (head, values):
                part.byteswap()
                part.tofile(file)


def read_pattern(path):
    """The pattern of a square Matrix Market file (.mtx or .mtx.xz), symmetric ones expanded."""
    with (lzma.open if str(path).endswith(".xz") else open)(path, "rt", encoding="ascii") as file:
        symmetric = file.readline().split()[4].lower() != "general"
        line = file.readline()
        while line.startswith("%"):
            line = file.readline()
        rows, columns, _ = map(int, line.split())
        if rows != columns:
            sys.exit(f"messages.py: {path} is {rows} x {columns}; a vector is split as the rows are, so it must be square")
        found = [[] for _ in range(rows)]
        for line in file:
            i, j = (int(word) - 1 for word in line.split(None, 2)[:2])
            found[i].append(j)
            if symmetric and i != j:
                found[j].append(i)
    offsets, flat = array.array("q", [0]), array.array("i")
    for row in found:
        flat.extend(sorted(set(row)))
        offsets.append(len(flat))
    return Pattern(offsets, flat)


def breadth_first(pattern, inside, start):
    """The vertices of one component of `inside` (part of each vertex, negative once visited elsewhere), from start."""
    part = inside[start]
    order, inside[start] = [start], ~part
    for vertex in order:
        for other in pattern.row(vertex):
            if inside[other] == part:
                inside[other] = ~part
                order.append(other)
    return order


def bisect(pattern, ranks):
    """An order of rows in which the rows of a rank stand together: the graph is halved again and again along breadth-first
    levels from a vertex at its end. Every rank has as many rows as PETSc gives it by default."""
    inside = array.array("i", bytes(4 * pattern.rows))
    result = []

    def split(vertices, first, last):
        if last - first == 1:
            result.extend(sorted(vertices))
            return
        part = first
        for vertex in vertices:
            inside[vertex] = part
        order = []
        for vertex in vertices:
            if inside[vertex] == part:
                component = breadth_first(pattern, inside, vertex)
                for other in component:
                    inside[other] = part
                order += breadth_first(pattern, inside, component[-1])
        middle = (first + last) // 2
        size = sum(part_begin(pattern.rows, ranks, r + 1) - part_begin(pattern.rows, ranks, r) for r in range(first, middle))
        low, high = order[:size], order[size:]
        for vertex in high:
            inside[vertex] = middle
        split(low, first, middle)
        split(high, middle, last)

    split(range(pattern.rows), 0, ranks)
    return result


def split_rows(pattern, ranks):
    """All ranks of a matrix whose rows are split as PETSc does by default."""
    begin = [part_begin(pattern.rows, ranks, r) for r in range(ranks + 1)]
    owner = array.array("i")
    for r in range(ranks):
        owner.extend([r] * (begin[r + 1] - begin[r]))
    receives, sends, sizes = [], [{} for _ in range(ranks)], []
    for r in range(ranks):
        columns = pattern.columns[pattern.offsets[begin[r]]:pattern.offsets[begin[r + 1]]]
        outside = [column for column in columns if owner[column] != r]
        counts = collections.Counter(owner[column] for column in set(outside))
        receives.append(dict(counts))
        sizes.append((len(columns) - len(outside), len(outside)))
        for other, count in counts.items():
            sends[other][r] = count
    return [Rank(r, begin[r + 1] - begin[r], sum(receives[r].values()), *sizes[r], receives[r], sends[r])
            for r in range(ranks)]


def partitioned(pattern, ranks, partition):
    return pattern.permuted(bisect(pattern, ranks)) if partition == "bisection" and ranks > 1 else pattern


def summary(ranks):
    """What a table tells of all ranks."""
    rows, ghosts = sum(r.rows for r in ranks), sum(r.ghosts for r in ranks)
    nnz = sum(r.diagonal_nnz + r.off_diagonal_nnz for r in ranks)
    return {"ranks": len(ranks), "rows": rows, "nnz": nnz,
            "max_rank_nnz": max(r.diagonal_nnz + r.off_diagonal_nnz for r in ranks),
            "max_neighbours": max(len(r.receives) for r in ranks), "max_ghosts": max(r.ghosts for r in ranks),
            "ghosts": ghosts, "off_diagonal_nnz": sum(r.off_diagonal_nnz for r in ranks)}


def survey(out, paths, most):
    """A JSON line for each matrix, partition and number of ranks, and of two stencils for comparison."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    from environment import env_line
    with open(out, "w", encoding="utf-8") as file:
        def write(line):
            print(json.dumps(line), file=file, flush=True)

        write(env_line())
        counts = [1 << k for k in range(13) if 1 << k <= most]
        for width, many in itertools.product((27, 7), counts):
            box = Box((160,) * 3, process_grid(many, (160,) * 3), width == 27)
            write({"kind": "scaling_messages", "case": f"stencil{width}:160", "partition": "boxes", "measured": False,
                   **summary([box.rank(r) for r in range(box.ranks)])})
        for path in paths:
            pattern = read_pattern(path)
            for partition, many in itertools.product(("rows", "bisection"), counts):
                write({"kind": "scaling_messages", "case": pathlib.Path(path).name.split(".")[0], "partition": partition,
                       "measured": False, **summary(split_rows(partitioned(pattern, many, partition), many))})


def triple(text):
    return tuple(int(word) for word in text.split(","))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    stencil = commands.add_parser("stencil")
    stencil.add_argument("--points", type=triple, required=True)
    stencil.add_argument("--ranks", type=int, required=True)
    stencil.add_argument("--stencil", type=int, choices=(27, 7), default=27)
    matrix = commands.add_parser("matrix")
    matrix.add_argument("path")
    matrix.add_argument("--ranks", type=int, required=True)
    matrix.add_argument("--partition", choices=("rows", "bisection"), default="rows")
    matrix.add_argument("--write", help="the partitioned matrix as a binary file of PETSc")
    table = commands.add_parser("survey")
    table.add_argument("out")
    table.add_argument("paths", nargs="*")
    table.add_argument("--most", type=int, default=64)
    options = parser.parse_args()
    if options.command == "survey":
        survey(options.out, options.paths, options.most)
        return
    if options.command == "stencil":
        box = Box(options.points, process_grid(options.ranks, options.points), options.stencil == 27)
        ranks = [box.rank(r) for r in range(box.ranks)]
    else:
        pattern = partitioned(read_pattern(options.path), options.ranks, options.partition)
        if options.write:
            pattern.write_petsc(options.write)
        ranks = split_rows(pattern, options.ranks)
    for rank in ranks:
        print(json.dumps(rank.line()))


if __name__ == "__main__":
    main()
