"""What makes the site out of the pages: formulas, tables of results, docstrings."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="needs the extra docs: pip install 'maxmargin[docs]'")

DOCS = Path(__file__).parents[2] / "docs"


def extension(name):
    spec = importlib.util.spec_from_file_location(f"_site_{name}", DOCS / "_extensions" / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def heard(monkeypatch):
    """The mathml extension and the warnings that it gave."""
    mathml, warnings = extension("mathml"), []
    monkeypatch.setattr(mathml.LOG, "warning", lambda text, *values, **_: warnings.append(text % values))
    return mathml, warnings


def test_a_formula_becomes_mathml_that_names_its_symbols(heard):
    mathml, warnings = heard
    found = mathml.to_mathml(r"\tfrac{1}{2}\|w\|^2 + \sum_j c_j \xi_j", is_block=True)
    assert found.startswith("<math")
    assert 'display="block"' in found
    assert {"w", "c", "ξ"} <= set(re.findall(r"<mi>(.)</mi>", found))
    assert not warnings


@pytest.mark.parametrize("tex", [r"\frac12", r"\tfrac12\|w\|^2", r"\nosuchcommand{x}", r"\frac{1"])
def test_a_formula_that_would_be_misread_is_a_warning(heard, tex):
    mathml, warnings = heard
    assert mathml.to_mathml(tex, is_block=False).startswith("<code>")
    assert len(warnings) == 1


def test_every_formula_of_the_pages_can_be_drawn(heard):
    mathml, warnings = heard
    pages = [*DOCS.glob("*.md"), *DOCS.glob("chapters/*.md")]
    blocks = [tex for page in pages for tex in re.findall(r"^\$\$\n(.*?)^\$\$", page.read_text(), re.M | re.S)]
    assert len(blocks) > 20
    for tex in blocks:
        mathml.to_mathml(tex, is_block=True)
    assert not warnings


def row(contender, seconds, *, reached=True, our_gap=1e-4):
    return {
        "data": "a", "C": 1.0, "gap": 1e-3, "ours": 2.0, "our gap": our_gap,
        "contender": contender, "seconds": seconds, "reached": reached, "ratio": seconds / 2.0,
    }  # fmt: skip


def test_a_contender_that_did_not_reach_the_gap_has_a_lower_bound():
    tables = extension("benchmark_tables")
    rows = [row("fast", 1.0), row("slow", 50.0, reached=False)]
    case = tables.summary.cases(rows)[0]
    assert tables.ratios(rows, case) == [{"data": "`a`", "ours": "2 s", "fast": "0.5", "slow": "≥ 25"}]
    assert "| `a` | 2 s | 0.5 | ≥ 25 |" in tables.markdown_table(tables.ratios(rows, case))


def test_where_we_missed_the_gap_ourselves_there_is_no_ratio():
    tables = extension("benchmark_tables")
    rows = [row("fast", 1.0), row("fast", 9.0, our_gap=1.0) | {"data": "b"}]
    assert [line["data"] for line in tables.ratios(rows, tables.summary.cases(rows)[0])] == ["`a`"]


def test_formulas_and_bars_of_a_docstring_survive():
    docstrings = extension("docstrings")
    lines = [
        "Words |P|, `a|b`.",
        "",
        "    min ½‖w‖² + |b|",
        "",
        "More.",
        "",
        "Examples",
        "--------",
        ">>> a | b",
        "c | d",
    ]
    docstrings.prepare(None, "class", "X", None, None, lines)
    assert lines[0] == r"Words \|P\|, `a|b`."
    assert lines[2:5] == [".. code-block:: text", "", "    min ½‖w‖² + |b|"]
    assert lines[-2:] == [">>> a | b", "c | d"]


def test_a_long_formula_is_broken_where_its_parts_stand_apart():
    docstrings = extension("docstrings")
    left, right = "min " + "x" * 50 + ",", "c = " + "y" * 40
    lines = ["Words.", "", f"    {left}        {right}", "", "    a = b,    c = d"]
    docstrings.prepare(None, "class", "X", None, None, lines)
    assert [line.strip() for line in lines if line.startswith("    ")] == [left, right, "a = b,    c = d"]


def test_a_property_keeps_its_sentence():
    docstrings = extension("docstrings")
    lines = ["seconds or rounds.", "", ":type: When each trace was certified"]
    docstrings.rejoin(None, "property", "X.moments", None, None, lines)
    assert lines == ["When each trace was certified: seconds or rounds.", ""]


@pytest.mark.parametrize(
    ("words", "marked"),
    [
        ("0 ≤ c_j and 2α_iR² + ξ_i", ["j", "i", "i"]),
        ("½α_i²k_ii, ‖Σ_j x_j‖_∞", ["i", "ii", "j", "j", "∞"]),
        ("cod_rna, leave_one_out, dual_coef_, X_train", []),
    ],
)
def test_symbols_get_their_subscripts_and_names_do_not(words, marked):
    assert [match.group(2) for match in extension("typography").SUBSCRIPT.finditer(words)] == marked


def test_attributes_keep_their_underscores():
    docstrings = extension("docstrings")
    lines = [
        "Words.",
        "",
        "Attributes",
        "----------",
        "a_, b_",
        "    Both.",
        "c_ : int",
        "    One.",
        "",
        "Notes",
        "-----",
        "No.",
    ]
    docstrings.prepare(None, "class", "X", None, None, lines)
    assert lines[4:10] == [
        ":Attributes:",
        "",
        "    * ``a_``, ``b_``",
        "        Both.",
        "    * ``c_`` (*int*)",
        "        One.",
    ]
    assert lines[-3:] == ["Notes", "-----", "No."]


@pytest.mark.parametrize("text", ["UML", "DUR", "UNC", "COR", "NYU"])
def test_the_concordance_has_a_row_for_each_item_with_its_line_and_a_link(text):
    made = extension("concordance_tables")
    data = tomllib.loads(made.DATA.read_text(encoding="utf-8"))
    rows = made.table(data[text], data["pages"]).removesuffix("\n`````").split("\n* - ")[2:]
    cells = [row.splitlines() for row in "\n* -".join(rows).split("\n* -")]
    found = [cell for cell in cells if not cell[1].startswith("  - **")]
    assert [cell[0].strip() for cell in found] == [item["at"] for item in data[text]]
    for cell, item in zip(found, data[text], strict=True):
        text_of_cell = "\n".join(line.removeprefix("    ") for line in cell)
        assert item["run"].rstrip("\n") in text_of_cell
        assert re.search(r"\]\([\w/]+\.md(#[\w-]+)?\)", text_of_cell)


def test_a_method_is_linked_to_its_class_in_the_reference():
    made = extension("concordance_tables")
    assert made.home_of("Halfspace.margin") == "api/halfspace"
    assert made.home_of("bounds.hard_margin") == "api/bounds_hard_margin"
    with pytest.raises(KeyError, match="missing"):
        made.home_of("no_such.name")
