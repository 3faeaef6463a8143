"""Ages as kubectl shows them."""

from datetime import UTC, datetime, timedelta

import pytest

from kubekit.api import times
from kubekit.plane.registry.printing import ages

NOW = datetime(2026, 5, 1, 12, 0, 0, 250_000, UTC)
DAY = 24 * 3600


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (121, "2m1s"),
        (599, "9m59s"),
        (600, "10m"),
        (601, "10m"),
        (179 * 60, "179m"),
        (180 * 60, "3h"),
        (181 * 60, "3h1m"),
        (8 * 3600 - 1, "7h59m"),
        (8 * 3600, "8h"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (49 * 3600, "2d1h"),
        (8 * DAY - 1, "7d23h"),
        (8 * DAY, "8d"),
        (729 * DAY, "729d"),
        (730 * DAY, "2y"),
        (731 * DAY, "2y1d"),
        (8 * 365 * DAY - 1, "7y364d"),
        (8 * 365 * DAY, "8y"),
        (50 * 365 * DAY, "50y"),
    ],
)
def test_an_age_is_shown_in_the_units_that_matter(seconds, shown):
    """Small ages have a second unit where the first one alone would be coarse."""
    when = times.format_micro(NOW - timedelta(seconds=seconds))
    assert ages.since(when, NOW) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "<unknown>"),
        (None, "<unknown>"),
        ("noon", "<invalid>"),
        ("2026-13-01T12:00:00Z", "<invalid>"),
        ("2026-W18-5T12:00:00Z", "<invalid>"),
        ("2026-05-01T11:59:00Z", "60s"),
        ("2026-05-01T13:59:00+02:00", "60s"),
    ],
)
def test_only_an_instant_has_an_age(text, shown):
    """A missing time is unknown, a text that is no time is invalid; zones are heeded."""
    assert ages.since(text, NOW) == shown
