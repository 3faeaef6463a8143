"""Instants and durations."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from kubekit.api import times
from kubekit.api.times import TimeError

NOON = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))
NAIVE = datetime(2024, 5, 1, 12)  # noqa: DTZ001 - what is to be refused

zones = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)
instants = st.datetimes(
    datetime(2, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(9998, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    timezones=zones,
)
durations = st.timedeltas(timedelta(days=-100_000), timedelta(days=100_000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-01T12:00:00Z", NOON),
        ("2024-05-01T12:00:00+00:00", NOON),
        ("2024-05-01T12:00:00-00:00", NOON),
        ("2024-05-01T17:30:00+05:30", NOON),
        ("2024-04-30T12:01:00-23:59", NOON),
        ("2024-05-01T12:00:00.5Z", NOON + timedelta(milliseconds=500)),
        ("2024-05-01T12:00:00.000001Z", NOON + timedelta(microseconds=1)),
        ("2024-05-01T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
        ("2024-05-01T12:00:00.9999999999999999999Z", NOON + timedelta(microseconds=999999)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_parse(text, expected):
    """An instant comes back in UTC, whatever zone it was written in, cut to microseconds."""
    got = times.parse(text)

    assert got == expected
    assert got.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "form of RFC 3339"),
        ("2024-05-01", "form of RFC 3339"),
        ("2024-05-01 12:00:00Z", "form of RFC 3339"),
        ("2024-05-01t12:00:00Z", "form of RFC 3339"),
        ("2024-05-01T1:00:00Z", "form of RFC 3339"),
        ("20240501T120000Z", "form of RFC 3339"),
        ("+024-05-01T12:00:00Z", "form of RFC 3339"),
        ("2024-05-01T12:00:00.Z", "form of RFC 3339"),
        ("2024-05-01T12:00:00", "does not end in Z"),
        ("2024-05-01T12:00:00z", "does not end in Z"),
        ("2024-05-01T12:00:00,5Z", "does not end in Z"),
        ("2024-05-01T12:00:00+0530", "does not end in Z"),
        ("2024-05-01T12:00:00Z ", "does not end in Z"),
        ("2024-05-01T12:00:00+24:00", "hour must be in 0..23"),
        ("2024-05-01T12:00:00+10:60", "minute must be in 0..59"),
        ("2024-05-01T24:00:00Z", "hour must be in 0..23"),
        ("2016-12-31T23:59:60Z", "second must be in 0..59"),
        ("2023-02-29T00:00:00Z", "day"),
        ("2024-13-01T00:00:00Z", "month must be in 1..12"),
        ("0000-01-01T00:00:00Z", "year"),
        ("0001-01-01T00:00:00+01:00", "out of range"),
        ("9999-12-31T23:59:59-01:00", "out of range"),
        ("2024-05-01T12:00:00Z" * 50_000, "does not end in Z"),
    ],
)
def test_what_is_no_instant_is_refused(text, why):
    """The message shows the text, what is wrong and how it should look."""
    with pytest.raises(TimeError) as caught:
        times.parse(text)

    message = str(caught.value)
    assert message.startswith(repr(text[:80]))
    assert why in message
    assert message.endswith("write it as 2024-05-01T12:00:00Z")


@pytest.mark.parametrize(
    ("when", "in_seconds", "in_micros"),
    [
        (NOON, "2024-05-01T12:00:00Z", "2024-05-01T12:00:00.000000Z"),
        (NOON.astimezone(INDIA), "2024-05-01T12:00:00Z", "2024-05-01T12:00:00.000000Z"),
        (
            NOON.replace(microsecond=999999),
            "2024-05-01T12:00:00Z",
            "2024-05-01T12:00:00.999999Z",
        ),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_format(when, in_seconds, in_micros):
    """A Time has whole seconds, cut and never rounded; a MicroTime always has six decimals."""
    assert times.format_time(when) == in_seconds
    assert times.format_micro(when) == in_micros


def test_seconds():
    """What a server gives back for an instant has no fraction and is in UTC."""
    got = times.seconds(NOON.replace(microsecond=7).astimezone(INDIA))

    assert got == NOON
    assert got.tzinfo is UTC


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        (timedelta(0), "0s"),
        (timedelta(milliseconds=999), "0s"),
        (timedelta(seconds=59), "59s"),
        (timedelta(seconds=60), "1m"),
        (timedelta(seconds=119), "1m"),
        (timedelta(minutes=59, seconds=59), "59m"),
        (timedelta(hours=1), "1h"),
        (timedelta(hours=23, minutes=59), "23h"),
        (timedelta(days=1), "1d"),
        (timedelta(days=800, hours=23), "800d"),
        (timedelta(seconds=-5), "0s"),
    ],
)
def test_age(passed, expected):
    """An age has one unit; a time in the future, by another machine's clock, counts as now."""
    assert times.age(NOON, NOON + passed) == expected


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(times.format_time, id="format_time"),
        pytest.param(times.format_micro, id="format_micro"),
        pytest.param(times.seconds, id="seconds"),
        pytest.param(lambda when: times.age(when, NOON), id="age since"),
        pytest.param(lambda when: times.age(NOON, when), id="age now"),
    ],
)
def test_a_datetime_without_zone_is_refused(use):
    """Its meaning would depend on the machine."""
    with pytest.raises(TimeError, match="2024-05-01T12:00:00 has no time zone"):
        use(NAIVE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", timedelta(0)),
        ("+0", timedelta(0)),
        ("0s", timedelta(0)),
        ("10m", timedelta(minutes=10)),
        ("1h30m", timedelta(minutes=90)),
        ("1.5h", timedelta(minutes=90)),
        (".5s", timedelta(milliseconds=500)),
        ("1.s", timedelta(seconds=1)),
        ("300ms", timedelta(milliseconds=300)),
        ("100us", timedelta(microseconds=100)),
        ("100\N{MICRO SIGN}s", timedelta(microseconds=100)),
        ("100\N{GREEK SMALL LETTER MU}s", timedelta(microseconds=100)),
        ("1999ns", timedelta(microseconds=1)),
        ("-1999ns", timedelta(microseconds=-1)),
        ("600ns600ns", timedelta(microseconds=1)),
        ("1s1h", timedelta(hours=1, seconds=1)),
        ("1m1m", timedelta(minutes=2)),
        ("-5m", timedelta(minutes=-5)),
        ("+5m", timedelta(minutes=5)),
        ("2562047h47m16.854775807s", timedelta(microseconds=(2**63 - 1) // 1000)),
    ],
)
def test_parse_duration(text, expected):
    """Durations are numbers with units, in any order, summed up and cut to microseconds."""
    assert times.parse_duration(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("-", "it is empty"),
        ("5", "'' is not a unit"),
        ("1h1", "'' is not a unit"),
        ("1d", "'d' is not a unit"),
        ("1S", "'S' is not a unit"),
        ("1 s", "' s' is not a unit"),
        ("1h-5m", "'h-' is not a unit"),
        ("s", "a number is missing before 's'"),
        (".s", "a number is missing before 's'"),
        ("--5m", "a number is missing before '-5m'"),
        ("2562047h47m16.854775808s", "longer than 292 years"),
        ("9" * 100 + "h", "longer than 292 years"),
        ("1s" * 65, "longer than 128 characters"),
        ("1s" * 500_000, "longer than 128 characters"),
    ],
)
def test_what_is_no_duration_is_refused(text, why):
    """The message shows the text, what is wrong and how it should look."""
    with pytest.raises(TimeError) as caught:
        times.parse_duration(text)

    message = str(caught.value)
    assert message.startswith(repr(text[:80]))
    assert why in message
    assert message.endswith("write it as 300ms, 10m or 1h30m")


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (timedelta(0), "0s"),
        (timedelta(microseconds=1), "1\N{MICRO SIGN}s"),
        (timedelta(microseconds=1500), "1.5ms"),
        (timedelta(milliseconds=300), "300ms"),
        (timedelta(seconds=1), "1s"),
        (timedelta(milliseconds=1100), "1.1s"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(minutes=10), "10m0s"),
        (timedelta(minutes=1, microseconds=1), "1m0.000001s"),
        (timedelta(hours=1), "1h0m0s"),
        (timedelta(hours=1, seconds=1), "1h0m1s"),
        (timedelta(days=2), "48h0m0s"),
        (timedelta(minutes=-5), "-5m0s"),
        (timedelta(microseconds=-1), "-1\N{MICRO SIGN}s"),
    ],
)
def test_format_duration(duration, expected):
    """Durations print as Go prints them: hours are the largest unit, seconds always shown."""
    assert times.format_duration(duration) == expected


@given(instants)
def test_micro_times_read_back(when):
    """An instant of microseconds survives the wire."""
    assert times.parse(times.format_micro(when)) == when


@given(instants)
def test_times_read_back_as_seconds(when):
    """What `seconds` promises is what the wire does."""
    assert times.parse(times.format_time(when)) == times.seconds(when)


@given(durations)
def test_durations_read_back(duration):
    """A duration survives the wire."""
    assert times.parse_duration(times.format_duration(duration)) == duration
