"""Two thousand damaged files; ``python -m tests.fuzz_files 100000`` reads many more."""

import pytest

from tests.fuzz_files import Watch, crafted, mutated, run, seeds


@pytest.fixture(scope="module")
def watch():
    return Watch()


def test_damaged_files_are_refused_by_name_and_nothing_else_happens(watch):
    ended = run(2000, seed=8, watch=watch)
    assert ended["model", "read"] == 0
    for kind in ("crafted model", "libsvm", "svmlight model", "svmlight", "csv"):
        assert ended[kind, "refused"] > 0
    assert ended["crafted model", "read"] > 0, "no crafted file came past the checksums"


def test_the_watch_sees_what_is_run(watch):
    watch.is_on = True
    try:
        exec("1 + 1")
    finally:
        watch.is_on = False
    assert watch.seen == ["exec"]
    watch.seen.clear()


def test_mutations_are_the_same_each_time():
    import random

    kind, _, content = seeds()[0]
    assert kind == "model"
    assert mutated(content, random.Random(3)) == mutated(content, random.Random(3))
    assert crafted(content, random.Random(3)) == crafted(content, random.Random(3))
