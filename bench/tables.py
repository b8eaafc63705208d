"""Tables print in ASCII what the benches measured, with a few statistics."""

from collections.abc import Sequence
from statistics import median, quantiles

Cell = str | int | float


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """The first column is text, the others are figures, aligned to the right."""
    cells = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(columns))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        first, *others = zip(row, widths, strict=True)
        line = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        print("  " + "  ".join(line).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def p90(figures: Sequence[float]) -> float:
    return quantiles(figures, n=10, method="inclusive")[-1] if len(figures) > 1 else figures[0]


def middle(figures: Sequence[float]) -> float:
    return median(figures) if figures else 0.0


def _text(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:,.2f}" if abs(cell) < 100 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
