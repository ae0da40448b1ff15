"""The concordance of the five texts (docs/concordance.toml): names, tests and pages exist, lines run, nothing is left out."""

import ast
import contextlib
import doctest
import functools
import inspect
import io
import re
import tomllib
from pathlib import Path

import pytest
from matplotlib import pyplot

import maxmargin

ROOT = Path(__file__).parents[2]
DATA = tomllib.loads((ROOT / "docs" / "concordance.toml").read_text(encoding="utf-8"))
TEXTS = ("UML", "DUR", "UNC", "COR", "NYU")
ITEMS = [(text, item) for text in TEXTS for item in DATA[text]]
IDS = [f"{text}-{n}-{item['at']}" for text in TEXTS for n, item in enumerate(DATA[text], 1)]
OWN_SEQUENCES = ("formula", "figure", "remark", "exercise")
"""Kinds that are numbered apart from definitions, claims, lemmas, theorems and so on, which share one sequence."""


def kind_of(label):
    """ "Claim 15.1" is a claim, "(15.4)" a formula."""
    return "formula" if label.startswith("(") else re.match(r"\w+", label)[0].lower()


def numbers_of(items, sequence):
    """The numbers of a sequence, as the items have them, in their order."""
    labels = [label for item in items for label in item["at"].split(", ")]
    found = [(kind_of(label), re.fullmatch(r"\w+ (\d[\d.]*)|\((\d[\d.]*)\)", label)) for label in labels]
    kinds = [(kind if kind in OWN_SEQUENCES else "statement", number) for kind, number in found if number]
    return [number[1] or number[2] for kind, number in kinds if kind == sequence]


def expanded(ranges):
    """ "15.1–15.3" is 15.1, 15.2, 15.3."""
    found = []
    for each in ranges:
        first, _, last = each.partition("–")
        head, _, start = first.rpartition(".")
        end = int((last or first).rpartition(".")[2])
        found += [f"{head}.{k}" if head else str(k) for k in range(int(start), end + 1)]
    return found


# -- the inventory ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
def test_every_item_of_the_text_is_there_in_its_order(text):
    inventory, items = DATA["text"][text], DATA[text]
    counts = {}
    for item in items:
        counts[kind_of(item["at"])] = counts.get(kind_of(item["at"]), 0) + 1
    assert counts == inventory["kinds"]
    places = inventory["places"]
    assert [place for k, place in enumerate(places) if place in places[:k]] == []
    visited = list(dict.fromkeys(item["place"] for item in items))
    assert visited == places
    assert [places.index(item["place"]) for item in items] == sorted(places.index(item["place"]) for item in items)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("sequence", ["statement", *OWN_SEQUENCES])
def test_the_numbers_of_the_text_are_complete(text, sequence):
    assert numbers_of(DATA[text], sequence) == expanded(DATA["text"][text].get("numbers", {}).get(sequence, []))


def test_the_page_says_how_many_items_there_are():
    page = (ROOT / "docs" / "concordance.md").read_text()
    rows = re.findall(r"^\| .* \| \[(\w+)\]\(#[\w-]+\) \| (\d+) \|$", page, re.MULTILINE)
    assert [(text, int(n)) for text, n in rows] == [(text, len(DATA[text])) for text in TEXTS]


def test_each_item_has_all_its_fields():
    for text, item in ITEMS:
        where = (text, item["at"], item["title"])
        assert set(item) == {"at", "place", "title", "names", "run", "tests", "page"}, where
        assert 5 <= len(item["title"]) <= 120, where
        assert not item["title"].endswith("."), where
        assert item["names"], where
        assert item["tests"], where
        assert item["run"].startswith(">>> "), where
        assert max(map(len, item["run"].splitlines())) <= 130, where


# -- names, tests, pages ---------------------------------------------------------------------------------------------


def is_public(name):
    """Whether maxmargin.a.b.c exists; a field of a dataclass without a default counts as an attribute of its class."""
    thing = maxmargin
    for part in name.split("."):
        if inspect.ismodule(thing) and part not in getattr(thing, "__all__", dir(maxmargin)):
            return False
        if part not in getattr(thing, "__dataclass_fields__", {}):
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
    return True


def test_each_name_of_the_concordance_is_public():
    assert [(text, item["at"], name) for text, item in ITEMS for name in item["names"] if not is_public(name)] == []


def test_a_name_that_does_not_exist_is_found():
    assert is_public("Halfspace.margin")
    assert is_public("Certificate.groups")
    assert not is_public("Halfspace.no_such")
    assert not is_public("no_such")
    assert not is_public("plot.np")


@functools.cache
def collected_from(file):
    """The tests of a file that are not skipped whatever happens."""
    tree = ast.parse((ROOT / file).read_text())
    marks = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"]
    if any("mark.skip" in ast.unparse(mark) and "skipif" not in ast.unparse(mark) for mark in marks):
        return frozenset()
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not is_skipped(node)
    )


def is_skipped(node):
    """Whether a test has a mark, or begins with a call, that skips it always or expects it to fail."""
    marks = [ast.unparse(decorator) for decorator in node.decorator_list]
    first = node.body[1:2] if ast.get_docstring(node) else node.body[:1]
    return any(re.match(r"pytest\.mark\.(skip|xfail)\b", mark) for mark in marks) or any(
        ast.unparse(line).startswith(("pytest.skip", "pytest.xfail")) for line in first
    )


def test_each_test_of_the_concordance_exists_and_is_not_skipped():
    named = [(text, item["at"], *test.split("::")) for text, item in ITEMS for test in item["tests"]]
    assert [each for each in named if not (ROOT / each[2]).is_file() or each[3] not in collected_from(each[2])] == []


def test_a_test_that_is_skipped_does_not_count():
    source = '@pytest.mark.skip("x")\ndef test_a(): pass\ndef test_b():\n    "d"\n    pytest.skip()\ndef test_c(): pass'
    assert [node.name for node in ast.parse(source).body if not is_skipped(node)] == ["test_c"]


@functools.cache
def sections_of(page):
    """The anchors of a page's headings, as the site makes them."""
    text = re.sub(r"^```.*?^```", "", (ROOT / "docs" / f"{page}.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("key", DATA["pages"])
def test_a_page_of_the_concordance_and_its_section_exist(key):
    page, _, section = DATA["pages"][key].partition("#")
    assert not section or section in sections_of(page), sections_of(page)
    assert sections_of(page)


def test_each_page_is_used_and_each_item_has_one():
    assert {item["page"] for _, item in ITEMS} == set(DATA["pages"])


# -- the lines -------------------------------------------------------------------------------------------------------


@functools.cache
def namespace():
    """What the setup makes."""
    made = {}
    exec(DATA["setup"], made)
    return made


@pytest.fixture
def no_pictures_stay():
    yield
    pyplot.close("all")


@pytest.mark.usefixtures("no_pictures_stay")
@pytest.mark.parametrize(("text", "item"), ITEMS, ids=IDS)
def test_a_line_of_the_concordance_prints_what_it_says(text, item):
    test = doctest.DocTestParser().get_doctest(item["run"], dict(namespace()), f"{text} {item['at']}", None, 0)
    assert any(example.want for example in test.examples), "a line that prints nothing shows nothing"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        failed = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.write).failed
    assert not failed, said.getvalue()
