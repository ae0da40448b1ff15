"""Settings for the whole suite, among them the two profiles of Hypothesis.

`everyday` draws the same examples in every run and keeps no files. `explore` draws others each time, and keeps what failed in
`.hypothesis/`, so that the next run tries it first: ``python -m tests explore``, or ``HYPOTHESIS_PROFILE=explore`` before
``python -m pytest``. A test that sets its own number of examples leaves the rest to the profile.

``python -m tests --fast`` says in ``MAXMARGIN_TESTS_UNTIL`` (seconds since 1970) when its time is over: later tests are skipped.
"""

import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

FAILED_EXAMPLES = Path(__file__).parent.parent / ".hypothesis" / "examples"
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

settings.register_profile("everyday", COMMON, derandomize=True, database=None)
settings.register_profile(
    "explore", COMMON, derandomize=False, database=DirectoryBasedExampleDatabase(FAILED_EXAMPLES), print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))
UNTIL = float(os.environ.get("MAXMARGIN_TESTS_UNTIL", "inf"))


def pytest_runtest_setup():
    if time.time() > UNTIL:
        pytest.skip("no time left in a fast run; python -m tests runs it")


@pytest.fixture
def hears_ctrl_c():
    """A background job is born deaf to Ctrl-C; not so the test that asks for this."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
