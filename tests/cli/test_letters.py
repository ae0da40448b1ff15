"""LIBSVM's options are understood, or a hint says what they are called here."""

import pytest

from maxmargin import SVC, load


def test_letters_that_are_the_same_are_understood(call, clouds):
    call("fit", clouds, "-c", "10", "-g", "0.5", "-q", "-o", "m.maxmargin", code=0)
    assert load("m.maxmargin").get_params() == SVC(C=10, gamma=0.5).get_params()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["-v", "5"], 2, "maxmargin cv DATA -k 5"),
        (["-b", "1"], 2, "CalibratedClassifierCV"),
        (["-m", "100"], 2, "--set cache_size=100"),
        (["-n", "0.5"], 2, "choose C instead"),
        (["-p", "0.1"], 2, "regression"),
        (["-B", "1"], 2, "--set intercept_scaling=1"),
        (["-e", "0.001"], 2, "--tol 0.001"),
        (["-s", "0"], 2, "C-SVC, is the default"),
        (["-w", "5"], 2, "--class-weight 1=5"),
        (["-w1", "5"], 2, "--class-weight 1=5"),
        (["a.model"], 2, "fit DATA -o MODEL"),
        (["-t", "2"], 1, "LIBSVM's -t is --kernel"),
    ],
)
def test_others_have_a_hint(call, clouds, options, code, words):
    done = call("fit", clouds, *options, code=code)
    assert words in done.err
    assert done.is_one_line
    found = call("fit", clouds, *options, "--json", code=code).json
    assert words in found["error"]
    assert found["exit_code"] == code


def test_other_unknown_options_have_none(call, clouds):
    assert "LIBSVM" not in call("fit", clouds, "--nonsense", code=2).err
