"""The public module of losses; the losses themselves are tested in tests/core/losses."""

import re

import numpy as np
import pytest

from maxmargin import losses
from maxmargin.core.losses import LOSSES


def test_every_loss_there_is_is_public():
    assert {type(loss).__name__ for loss in LOSSES.values()} <= set(losses.__all__)


def test_the_table_says_what_the_losses_say():
    rows = [line.split("`")[1:] for line in losses.__doc__.splitlines() if line.startswith("`")]
    assert len(rows) == len(LOSSES)
    for name, rest in rows:
        loss = getattr(losses, name)()
        convex, lipschitz, smooth = re.search(r" (yes|no) +(\S+) +(\S+)  ", rest).groups()
        assert convex == ("yes" if loss.convex else "no")
        assert {"no": np.inf, "1": 1.0}[lipschitz] == loss.lipschitz
        assert {"no": np.inf, "2": 2.0, "¼": 0.25}[smooth] == loss.smoothness


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_found_by_its_name(name):
    assert losses.loss_from_name(name) == LOSSES[name]
