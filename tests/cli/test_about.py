"""Sentences and tables about a result."""

import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from maxmargin import (
    SVC,
    HardMarginSVC,
    LeaveOneOut,
    leave_one_out,
)
from maxmargin.cli.about import loo_tables, proof_parts, proofs
from maxmargin.core import Status
from maxmargin.estimators.leave_one_out.result import ErrorRange
from tests.cli.conftest import two_clouds


def test_the_table_of_a_certificate_has_its_numbers():
    model = HardMarginSVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    console = Console(width=80)
    with console.capture() as captured:
        console.print(proof_parts(proofs(model))[-1])
    (gap, primal, dual, violation, margin, support) = captured.get().splitlines()[1].split()[-6:]
    assert float(gap) <= 1e-3
    assert float(primal) == float(dual) == 2.0
    assert float(violation) <= 1e-3
    assert (float(margin), support) == (0.5, "2")


def test_an_uncertain_error_is_shown_as_a_range():
    result: LeaveOneOut = leave_one_out(SVC(kernel="linear"), *two_clouds())
    console = Console(width=100)
    with console.capture() as captured:
        for table in loo_tables(replace(result, error_range=ErrorRange(0.1, 0.2), status=Status.STALLED)):
            console.print(table)
    assert "10.00% … 20.00%" in captured.get()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_gap_of_a_table_is_that_of_the_sentence(n_classes):
    X, _ = two_clouds()
    found = proofs(SVC(tol=1e-6).fit(X, np.arange(len(X)) % n_classes))
    sentence, *_, table = proof_parts(found)
    said = re.search(r"a relative ([0-9.e-]+) of the best possible", sentence).group(1)
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table)
    assert said in captured.get().split()
