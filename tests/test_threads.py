"""The guards of settings that belong to the whole process: they count their holders, over all threads, and restore."""

import os
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from maxmargin import HardMarginSVC
from maxmargin.threads import MOST_PIECES, SHORT_TURN, in_pieces, one_blas_thread, short_turns, together


def blas_threads():
    """How many threads each BLAS of this process may use."""
    import scipy.linalg  # noqa: F401

    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def usual():
    """What BLAS may use when nobody holds the guard: more than one thread, or there is nothing to see."""
    before = blas_threads()
    if not before or min(before) < 2:
        pytest.skip("BLAS has one thread only")
    return before


def held(number):
    return [1] * len(number)


class Holder(threading.Thread):
    """A thread that enters the guard, waits until it is told to leave, and lives on until it is told to end."""

    def __init__(self):
        super().__init__(daemon=True)
        self.entered, self.may_leave, self.left, self.may_end = (threading.Event() for _ in range(4))
        self.seen = None
        self.start()
        assert self.entered.wait(10)

    def run(self):
        with one_blas_thread():
            self.seen = blas_threads()
            self.entered.set()
            self.may_leave.wait(10)
        self.left.set()
        self.may_end.wait(10)

    def leave(self):
        self.may_leave.set()
        assert self.left.wait(10)

    def end(self):
        self.may_end.set()
        self.join(10)


def test_the_guard_sets_one_thread_and_restores(usual):
    with one_blas_thread():
        assert blas_threads() == held(usual)
    assert blas_threads() == usual


def test_guards_nest(usual):
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == held(usual)
        assert blas_threads() == held(usual), "the inner guard may not restore what the outer one holds"
    assert blas_threads() == usual


def test_an_error_inside_restores(usual):
    with pytest.raises(RuntimeError, match="inside"), one_blas_thread():
        raise RuntimeError("inside")
    assert blas_threads() == usual


def test_a_second_thread_can_hold_the_guard_after_the_first(usual):
    with one_blas_thread():
        pass
    other = Holder()
    seen = other.seen, blas_threads()
    other.leave()
    other.end()
    assert seen == (held(usual), held(usual))
    assert blas_threads() == usual


def test_the_last_of_several_threads_restores(usual):
    first, second = Holder(), Holder()
    both = blas_threads()
    first.leave()
    one = blas_threads()
    second.leave()
    none = blas_threads()
    first.end()
    second.end()
    assert both == held(usual)
    assert one == held(usual), "one holder is left"
    assert none == usual


def test_many_threads_in_a_hurry_leave_it_as_it_was(usual):
    wrong = []

    def hurry():
        for _ in range(30):
            with one_blas_thread():
                if blas_threads() != held(usual):
                    wrong.append(blas_threads())

    workers = [threading.Thread(target=hurry) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert wrong == []
    assert blas_threads() == usual


def test_a_fit_leaves_the_limit_as_it_was(usual):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    HardMarginSVC().fit(rng.standard_normal((400, 3)) + 6.0 * y[:, None], y)
    assert blas_threads() == usual


def test_a_failing_fit_leaves_the_limit_as_it_was(usual):
    with pytest.raises(ValueError, match="No hyperplane"):
        HardMarginSVC().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert blas_threads() == usual


def test_a_fit_in_another_thread_holds_the_guard(usual, monkeypatch):
    from maxmargin.solvers import ConstraintGeneration

    seen = []
    step = ConstraintGeneration.step

    def watched(self, *args):
        seen.append(blas_threads())
        return step(self, *args)

    monkeypatch.setattr(ConstraintGeneration, "step", watched)
    HardMarginSVC().fit([[0.0], [1.0]], [0, 1])
    worker = threading.Thread(target=HardMarginSVC().fit, args=([[0.0], [1.0]], [0, 1]))
    worker.start()
    worker.join(60)
    assert seen == [held(usual)] * 2


def test_short_turns_end_with_the_last_who_asked_for_them():
    usual = sys.getswitchinterval()
    with short_turns():
        with short_turns():
            pass
        assert sys.getswitchinterval() == pytest.approx(SHORT_TURN)
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_turns_that_are_shorter_already_stay_so():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with short_turns():
            assert sys.getswitchinterval() == pytest.approx(1e-5)
    finally:
        sys.setswitchinterval(usual)


@pytest.mark.parametrize("n_threads", [1, 2, 3, 4, 50])
@pytest.mark.parametrize(("n_items", "least"), [(0, 1), (1, 1), (7, 3), (1000, 1), (1000, 30), (1000, 2000)])
def test_pieces_are_the_same_for_any_number_of_threads(n_items, least, n_threads):
    found = in_pieces(lambda begin, end: (begin, end), n_items, n_threads, least)
    assert found == in_pieces(lambda begin, end: (begin, end), n_items, 1, least)
    assert [begin for begin, _ in found] == [0, *(end for _, end in found[:-1])]
    assert found[-1][1] == n_items
    assert len(found) <= MOST_PIECES
    assert len(found) == 1 or min(end - begin for begin, end in found) >= least


@pytest.mark.parametrize("n_threads", [2, 3, 4])
def test_sums_over_pieces_have_the_same_bits_for_any_number_of_threads(n_threads):
    values = np.random.default_rng(0).standard_normal(10_001)
    sums = [sum(in_pieces(lambda i, j: values[i:j].sum(), len(values), n)) for n in (1, n_threads)]
    assert sums[0] == sums[1]


@pytest.mark.parametrize("n_threads", [1, 2, 3, 4])
def test_pieces_may_be_cut_into_pieces(n_threads):
    def inner(begin, end):
        return sum(in_pieces(lambda i, j: j - i, end - begin, n_threads))

    assert sum(in_pieces(inner, 1000, n_threads)) == 1000


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_the_error_of_a_task_is_raised_when_all_that_were_begun_have_ended(n_threads):
    running = set()

    def task(begin, end):
        running.add(begin)
        if begin == 0:
            raise ValueError("the first piece")
        time.sleep(0.01)
        running.discard(begin)

    with pytest.raises(ValueError, match="the first piece"):
        in_pieces(task, 1000, n_threads)
    assert running == {0}


def test_tasks_take_part_on_several_threads():
    names = together([lambda: (time.sleep(0.02), threading.current_thread().name)[1]] * 8, n_threads=2)
    assert len(set(names)) == min(2, os.cpu_count() or 1) or os.cpu_count() == 1
