"""Draw the pictures of the chapters: ``python docs/draw_chapters.py [CHAPTER …]``. Needs the extra "plot".

A picture is what the code of the page draws: the examples run in their order, and the k-th figure becomes NAME_k.png.
"""

import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))


def main(names: list[str]) -> None:
    """Draw those of some chapters, or of all."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from notebooks import cells_of, chapters

    for page in chapters(HERE):
        if names and page.stem not in names:
            continue
        drawn, known = 0, {"__name__": "__main__"}
        for cell in cells_of(page.read_text()):
            if cell["cell_type"] == "code":
                run(cell, known)
            for number in pyplot.get_fignums():
                drawn += 1
                figure: Any = pyplot.figure(number)
                figure.savefig(page.parent / f"{page.stem}_{drawn}.png", dpi=80, metadata={"Software": None})
                pyplot.close(figure)


def run(cell: dict[str, Any], known: dict[str, Any]) -> None:
    """Run the code of a cell; one that is to raise an exception may."""
    try:
        with redirect_stdout(StringIO()):
            exec(compile(cell["source"], "<cell>", "exec"), known)
    except Exception:
        if "raises-exception" not in cell["metadata"].get("tags", ()):
            raise


if __name__ == "__main__":
    main(sys.argv[1:])
