"""Settings for the whole suite: Hypothesis draws the same examples each time and keeps no files."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "same-everywhere",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("same-everywhere")
