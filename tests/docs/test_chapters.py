"""Each chapter is a notebook that runs, shows its own pictures, and has exercises with solutions that check themselves."""

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs the extra test: pip install 'maxmargin[test]'")
pyplot = pytest.importorskip("matplotlib.pyplot", reason="needs the extra plot: pip install 'maxmargin[plot]'")

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def loaded(path):
    spec = importlib.util.spec_from_file_location(f"_site_{path.stem}", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


notebooks = loaded(DOCS / "_extensions" / "notebooks.py")
CHAPTERS = notebooks.chapters(DOCS)
each_chapter = pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)


def exercises(text):
    """Number, source and words of each exercise of a page."""
    part = text.split("\n## Exercises\n")[1]
    return re.findall(r"^\*\*(\d+)\*?\*?(?:\.\*\*)?(?: \[([^\]]+)\]\.)?(.*?)(?=^\*\*\d+|\Z)", part, re.M | re.S)


@each_chapter
def test_the_notebook_is_valid_and_runs_and_draws_each_picture_of_the_page(page):
    text = page.read_text()
    notebook = nbformat.from_dict(notebooks.notebook_of(text))
    nbformat.validate(notebook)
    known, figures = {"__name__": "__main__"}, 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if "raises-exception" in cell.metadata.get("tags", ()):
                with pytest.raises(Exception):  # noqa: B017, PT011 (which one is what the page's own doctest says)
                    exec(compile(cell.source, "<cell>", "exec"), known)
            else:
                exec(compile(cell.source, "<cell>", "exec"), known)
            figures += len(pyplot.get_fignums())
            pyplot.close("all")
    pictures = re.findall(r"^!\[([^\]]+)\]\(([^)]+)\)$", text, re.MULTILINE)
    assert [name for _, name in pictures] == [f"{page.stem}_{k}.png" for k in range(1, figures + 1)]
    assert all((page.parent / name).exists() and len(words) > 40 for words, name in pictures)


@each_chapter
def test_a_chapter_begins_with_a_picture(page):
    title, first, *_ = [block for block in page.read_text().split("\n\n") if block.strip()]
    assert title.startswith("# ")
    assert re.fullmatch(rf"!\[[^\]]+\]\({page.stem}_1\.png\)", first)


@each_chapter
def test_a_chapter_has_two_exercises_of_our_own_with_solutions_that_check_themselves(page):
    found = exercises(page.read_text())
    assert [int(number) for number, *_ in found] == list(range(1, len(found) + 1))
    assert sum(not source for _, source, _ in found) >= 2
    for number, _, words in found:
        _, _, solution = words.partition(":::{dropdown} Solution")
        assert solution.count(">>> ") >= 1, number


def test_every_exercise_of_the_textbook_is_there_once():
    sources = [source for page in CHAPTERS for _, source, _ in exercises(page.read_text())]
    assert sorted(source for source in sources if source) == [f"UML 15.8, exercise {k}" for k in (1, 2, 3, 4)]
    assert sources.count("") >= 2 * 4


def test_the_course_lists_each_chapter_once_and_the_themes_are_ten():
    text = (DOCS / "chapters" / "index.md").read_text()
    names = [page.stem for page in CHAPTERS]
    assert sorted(re.findall(r"^\| \[[^\]]+\]\((\w+)\.md\)", text, re.MULTILINE)) == names
    assert sorted(text.split(":hidden:\n\n")[1].split("\n```")[0].split()) == names
    assert len(names) == 10


@each_chapter
def test_links_lead_to_pages_and_sections_that_are_there(page):
    for target in re.findall(r"\]\((?!http)([^)]+)\)", page.read_text()):
        file, _, section = target.partition("#")
        assert (page.parent / file).exists(), target
        if section:
            headings = re.findall(r"^#+ (.+)$", (page.parent / file).read_text(), re.MULTILINE)
            assert section in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}, target


PAGE = """# Title

![A picture](x_1.png)

Words with a [link](other.md#part) and a [site](https://example.org).

```python
>>> x = 1
>>> x + 1  # doctest: +ELLIPSIS
2
>>> y = 2

```

## Exercises

**1.** What?

:::{dropdown} Solution
Because $x$.

```python
>>> [][1]
Traceback (most recent call last):
IndexError: list index out of range

```

:::
"""


def test_a_page_becomes_cells():
    cells = notebooks.cells_of(PAGE)
    assert [cell["source"] for cell in cells] == [
        "# Title\n\n\nWords with a link and a [site](https://example.org).",
        notebooks.INTRODUCTION,
        "x = 1\nx + 1",
        "y = 2",
        "## Exercises\n\n**1.** What?",
        "##### Solution\n\nBecause $x$.",
        "[][1]",
    ]
    assert cells[5]["metadata"]["jp-MarkdownHeadingCollapsed"]
    assert cells[6]["metadata"] == {"tags": ["raises-exception"]}
    nbformat.validate(nbformat.from_dict(notebooks.notebook_of(PAGE)))


def test_a_chapter_has_a_link_to_its_notebook_below_its_title_and_other_pages_have_none():
    nodes = pytest.importorskip("docutils.nodes", reason="needs the extra docs: pip install 'maxmargin[docs]'")
    for docname, links in (("chapters/bounds", 1), ("chapters/index", 0), ("bounds", 0)):
        section = nodes.section("", nodes.title("", "Title"), nodes.paragraph("", "Words."))
        notebooks.offer(SimpleNamespace(env=SimpleNamespace(docname=docname)), section)
        found = list(section.findall(nodes.raw))
        assert len(found) == links
        if found:
            assert 'href="bounds.ipynb" download' in found[0].astext()
            assert section.index(found[0]) == 1


def test_the_notebooks_are_written_beside_the_pages(tmp_path):
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), srcdir=str(DOCS), outdir=str(tmp_path))
    notebooks.write(app, None)
    assert sorted(path.stem for path in (tmp_path / "chapters").glob("*.ipynb")) == [page.stem for page in CHAPTERS]
    assert json.loads((tmp_path / "chapters" / "bounds.ipynb").read_text())["nbformat"] == 4
