"""Names of dense launches in committed lines, as lanky would give them today.

A launch was once named by an index into its kernel's table ("update_direct_kernel, variant 1"), so that deleting a row of
the table shifted what the names behind it stood for. Its parameters make its name now. Committed lines keep what they say,
and this table tells what each index stood for: it was the same in all files that were measured before the change.
"""

import re

# Of each kernel the words of index 0, 1 and so on; of some, such a list for each type ("": of all others).
FORMER = {
    "update_direct_kernel": ["2 columns, 2 deep", "4 columns, 4 deep", "6 columns, 6 deep", "8 columns, 8 deep",
                             "8 columns, 8 deep", "8 columns, 4 deep"],
    "update_packed_kernel": ["2 x 2", "3 x 3", "4 x 4", "5 x 5"],
    "update_lanes_kernel": [
        "lanes x 1, 2 columns, 2 deep, rows x 4", "lanes x 1, 2 columns, 2 deep, rows x 8",
        "lanes x 2, 2 columns, 2 deep, rows x 2", "lanes x 1, 4 columns, 4 deep, rows x 2",
        "lanes x 2, 4 columns, 4 deep, rows x 2", "lanes x 1, 8 columns, 8 deep, rows x 2"],
    "update_tile_kernel": ["by rows, 4 words wide, 4 deep", "by rows, 8 words wide, 4 deep",
                           "by columns, 4 words wide, 4 deep", "by columns, 8 words wide, 4 deep"],
    "update_mma_kernel by columns": [
        "8 columns, 8 deep by 8, rows x 1", "8 columns, 16 deep by 8, rows x 1", "16 columns, 32 deep by 8, rows x 1",
        "8 columns, 64 deep by 8, rows x 1", "8 columns, 16 deep by 16, rows x 1", "8 columns, 32 deep by 16, rows x 1",
        "8 columns, 64 deep by 16, rows x 1", "8 columns, 128 deep by 16, rows x 1"],
    "update_mma_kernel by rows": [
        "8 columns, 8 deep by 8, rows x 1", "16 columns, 16 deep by 8, rows x 1", "8 columns, 32 deep by 8, rows x 1",
        "8 columns, 64 deep by 8, rows x 1", "32 columns, 8 deep by 8, rows x 2", "8 columns, 8 deep by 8, rows x 4",
        "16 columns, 16 deep by 16, rows x 2", "32 columns, 32 deep by 32, rows x 2", "32 columns, 64 deep by 32, rows x 1",
        "32 columns, 128 deep by 32, rows x 1", "16 columns, 32 deep by 16, rows x 1", "32 columns, 32 deep by 16, rows x 2",
        "32 columns, 64 deep by 16, rows x 2"],
    "update_mma_kernel from rows to columns": [
        "16 columns, 8 deep by 8, rows x 1", "16 columns, 16 deep by 8, rows x 1", "8 columns, 32 deep by 8, rows x 1",
        "8 columns, 64 deep by 8, rows x 1", "16 columns, 16 deep by 16, rows x 1", "16 columns, 32 deep by 16, rows x 1",
        "16 columns, 64 deep by 16, rows x 1", "8 columns, 8 deep by 8, rows x 1", "8 columns, 16 deep by 16, rows x 1",
        "8 columns, 32 deep by 32, rows x 1", "8 columns, 64 deep by 32, rows x 1"],
    "update_mma_kernel from columns to rows": [
        "16 columns, 8 deep by 8, rows x 1", "16 columns, 16 deep by 8, rows x 1", "16 columns, 32 deep by 8, rows x 1",
        "8 columns, 64 deep by 8, rows x 1", "32 columns, 8 deep by 8, rows x 1", "32 columns, 16 deep by 16, rows x 1",
        "32 columns, 32 deep by 16, rows x 1", "16 columns, 8 deep by 8, rows x 1", "16 columns, 16 deep by 16, rows x 1",
        "16 columns, 32 deep by 16, rows x 1", "16 columns, 64 deep by 16, rows x 1"],
    "update_ring_kernel by columns": ["8 x 4 sums", "8 x 8 sums", "4 x 2 sums", "4 x 4 sums", "4 x 8 sums"],
    "update_ring_kernel by rows": [*5 * [""], "8 x 4 sums", "8 x 8 sums", "4 x 2 sums", "4 x 4 sums", "4 x 8 sums"],
    "update_ring_mma_kernel by columns": [""],
    "update_ring_mma_kernel by rows": [""],
    "update_words_kernel": [""],
    "update_staged_kernel": [""],
    "gram_vector_kernel": ["1 x 1", "2 x 2", "4 x 4", "8 x 8", "8 x 1", "3 x 3"],
    "gram_direct_kernel": ["8 x 8", "16 x 16"],
    "gram_staged_kernel": ["16 x 16", "32 x 32", "64 x 64"],
    "gram_fma_kernel": {
        "c64": ["16 x 16", "32 x 32", "128 x 16", "64 x 64", "32 x 32", "128 x 16", "64 x 64", "16 x 16"],
        "c128": ["8 x 8", "16 x 16", "32 x 32", "64 x 64", "16 x 16"],
        "": ["32 x 32", "128 x 16", "64 x 64", "64 x 64", "32 x 32", "128 x 16"]},
    "gram_rows_kernel": {"f16": ["32 x 8", "64 x 8"], "bf16": ["32 x 8", "64 x 8"], "": ["16 x 8", "32 x 8"]},
    "gram_row_vector_kernel": [f"{n} x {n}" for n in range(9)],
    "gram_row_strip_kernel": ["1 column", "8 columns"],
    "gram_wgmma_kernel": ["", "64 x 8", "128 x 8"],
    "gram_triangle_kernel": [f"{8 * n} x {8 * n}" for n in range(9)],
    "gram_words_kernel": ["32 x 32"],
    "gemm_tile_kernel": ["16 x 16", "128 x 8", "128 x 32"],
}
# Descriptions of the tile kernel have its tile behind the index, and once had it in its place.
INDEXED = re.compile(r"(\w+_kernel(?: (?:by|from) [^,]*)?)((?:, tf32(?:x3)?)?), (?:variant|tile) (\d+)(?!\d| x)"
                     r"(?:, \d+ x \d+(?= x))?")


def renamed(text, dtype):
    """A name, or a description that begins with one, of a product of this type."""
    def name(found):
        kernel, math, index = found.groups()
        words = FORMER[kernel]
        if isinstance(words, dict):
            words = words.get(dtype, words[""])
        return ", ".join(part for part in (kernel + math, words[int(index)]) if part)
    return INDEXED.sub(name, text)


def with_todays_names(line):
    """A line of results of a dense product."""
    return line | {key: renamed(line[key], line["dtype"]) for key in ("variant", "kernel") if line.get(key)}
