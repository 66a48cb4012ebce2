"""Rows of Markdown tables."""


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def heading(names):
    return row(names) + row(["---"] + ["---:"] * (len(names) - 1))
