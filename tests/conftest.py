"""Settings for the whole suite: Hypothesis draws the same examples each time and keeps no files."""

import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "same-everywhere",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("same-everywhere")


@pytest.fixture
def hears_ctrl_c():
    """A background job is born deaf to Ctrl-C; not so the test that asks for this."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
