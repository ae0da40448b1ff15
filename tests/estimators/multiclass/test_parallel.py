"""Several problems of one fit in threads: Ctrl-C loses none of them."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

from maxmargin.solvers import Budget

module = import_module("maxmargin.estimators.multiclass.parallel")


def test_ctrl_c_while_problems_are_handed_out_asks_all_of_them_to_stop(monkeypatch):
    """The first may be at work before the last is handed out; whenever Ctrl-C comes, each returns what it has."""

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *args):
            future = super().submit(*args)
            os.kill(os.getpid(), signal.SIGINT)
            return future

    def train(k, budget):
        while not budget.stop():
            time.sleep(0.001)
        return k

    monkeypatch.setattr(module, "ThreadPoolExecutor", Interrupted)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is born deaf to it
    try:
        assert module.in_threads(train, 3, Budget(), n_threads=2) == [0, 1, 2]
    finally:
        signal.signal(signal.SIGINT, usual)
