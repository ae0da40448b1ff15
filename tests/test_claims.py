"""No sentence that the library prints claims anything without a test that backs it."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.claims import CLAIMS, NO_CLAIMS, WORDS, claiming_sentences, script_sentences, sentences, template_sentences

HERE = Path(__file__).parent


@cache
def functions_of(file):
    """The names of the tests in a file."""
    tree = ast.parse((HERE.parent / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def is_listed(sentence, listed):
    return any(file == sentence.file and sentence.text.startswith(begins) for file, begins, *_ in listed)


def test_every_claim_is_listed_with_its_test():
    unbacked = [one for one in claiming_sentences() if not is_listed(one, (*CLAIMS, *NO_CLAIMS))]
    assert unbacked == [], "back each by a test in CLAIMS, weaken it, or list it in NO_CLAIMS"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.file}: {claim.begins}")
def test_the_test_of_each_claim_exists(claim):
    file, _, name = claim.test.partition("::")
    assert name.startswith("test_")
    assert name in functions_of(file)


@pytest.mark.parametrize("listed", [*CLAIMS, *NO_CLAIMS], ids=lambda listed: f"{listed[0]}: {listed[1]}")
def test_what_is_listed_is_said(listed):
    assert any(is_listed(one, [listed]) for one in claiming_sentences())


@pytest.mark.parametrize(
    "source",
    [
        'print("This is always so.")',
        'print(f"At {x} it cannot be {y}.")',
        'raise NotSeparableError(f"No hyperplane separates {a} from {b}.")',
        'table = {"certified": f"gap {x} is proved"}',
        "print(f'{\"never again\" if x else y}')",
    ],
)
def test_a_claim_is_noticed(source):
    assert any(WORDS.search(one.text) and " " in one.text for one in sentences(source, "a.py"))


@pytest.mark.parametrize(
    "source",
    ["<p>This is\nalways so.</p>", "<p>At {{ x }} it cannot be.</p>", "{% if x %}{{ 'never again' if y }}{% endif %}"],
)
def test_a_claim_in_a_template_is_noticed(source):
    assert any(WORDS.search(one.text) and " " in one.text for one in template_sentences(source, "a.html.j2"))


@pytest.mark.parametrize("source", ['words = "It always is.";', "const words = `At ${x} it cannot be.`;"])
def test_a_claim_in_a_script_is_noticed(source):
    assert any(WORDS.search(one.text) for one in script_sentences(source, "a.js"))
    assert not list(script_sentences(f"// {source}", "a.js"))


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring that always claims."""',
        'raise InvalidInputError("It must be at least 1.")',
        'x = "Plain words."',
    ],
)
def test_what_is_no_printed_claim_is_left_alone(source):
    assert not any(WORDS.search(one.text) for one in sentences(source, "a.py"))
