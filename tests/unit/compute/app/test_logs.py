"""The log of a server: one event, one line, whatever text from outside it contains."""

import io
import logging
import re
import subprocess
import sys
import warnings
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from compute.app.logs import LONGEST, LogfmtFormatter, log_to_stderr

ROOT = Path(__file__).parents[4]
TOKEN = "kJ8planted-token-value"
JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlLXBsYW50ZWQ"
HOSTILE = {
    "newline": "a\nlevel=error msg=forged",
    "return": "a\rb",
    "escape": "\x1b[31mred\x1b]0;title\x07",
    "c1": "\x9b31m\x85",
    "separators": "a\u2028b\u2029c",
    "bidi": "\u202egnp.exe",
    "format": "%s %(name)s {0} {record}",
    "quote": 'a" level=error x="',
    "backslash": "a\\",
    "null": "a\x00b",
    "surrogate": "\ud800",
    "megabyte": "x" * 1_000_000,
    "empty": "",
}


def line_of(message: str, *args: object, exc_info: object = None, **extra: object) -> str:
    record = logging.makeLogRecord(
        {"name": "compute.x", "levelno": 30, "levelname": "WARNING", "msg": message, "args": args}
    )
    record.created, record.exc_info = 1_772_366_400.25, exc_info  # type: ignore[assignment]
    vars(record).update(extra)
    return LogfmtFormatter().format(record)


def pairs(line: str) -> dict[str, str]:
    """The fields, as a reader of logfmt finds them."""
    return dict(re.findall(r'(\w+)=((?:"(?:[^"\\]|\\.)*")|[^\s"]+)', line))


def test_l1_an_event_with_its_fields():
    """Time, level, logger, message and the fields."""
    got = line_of("namespace not created", namespace="default", why="the disk is full", retry=1.5)

    assert got == (
        "time=2026-03-01T12:00:00.250Z level=warning logger=compute.x "
        'msg="namespace not created" namespace=default why="the disk is full" retry=1.5'
    )


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_l1_text_from_outside_is_one_value_on_one_line(text):
    """As message, argument, field or exception: no second line, no raw control, no second field."""
    expected = {"time", "level", "logger", "msg", "name_of"}
    for got in (
        line_of(text, name_of=text),
        line_of("refused: %s", text, name_of=text),
        line_of("failed", name_of=text, exc_info=(ValueError, ValueError(text), None)),
    ):
        assert got.isprintable()
        assert len(got.splitlines()) == 1
        assert len(got) <= LONGEST + 3
        assert set(pairs(got)) - {"error", "trace"} == expected
        assert pairs(got)["level"] == "warning"


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_l1_any_text_is_one_printable_line(text):
    """There is no character that gets through as more than itself."""
    got = line_of(text, field=text)

    assert got.isprintable()
    assert got.encode("utf-8").count(b"\n") == 0
    assert list(pairs(got)) == ["time", "level", "logger", "msg", "field"]


def test_l1_long_values_are_cut_and_say_so():
    """A line has a limit, and still says how long the value was."""
    assert "... (1000000 characters)" in line_of("x" * 1_000_000)
    many = {f"field{n}": "x" * 900 for n in range(50)}
    assert len(line_of("a", **many)) == LONGEST + 3


def test_l1_a_traceback_is_part_of_its_line():
    """The place of the error is escaped on the same line."""
    with pytest.raises(ValueError, match="bad") as caught:
        int("bad\nvalue")
    got = line_of("a request failed", exc_info=(caught.type, caught.value, caught.tb))

    assert "ValueError: invalid literal" in pairs(got)["error"]
    assert "test_logs.py" in pairs(got)["trace"]
    assert len(got.splitlines()) == 1


def test_l1_an_error_is_written_once():
    """An error field of the caller replaces the one of the exception."""
    with pytest.raises(ValueError, match="bad") as caught:
        int("bad")
    failure = (caught.type, caught.value, caught.tb)

    assert (
        line_of("a reconcile failed", exc_info=failure, error="KeyError: 'x'").count("error=") == 1
    )


def test_l1_a_message_with_wrong_arguments_is_written():
    """A wrong number of arguments neither loses the record nor raises an error."""

    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert 'msg="two: %s %s"' in line_of("two: %s %s", "one")
    assert "field=(Broken)" in line_of("a", field=Broken())


@pytest.mark.parametrize(
    "extra",
    [
        {"header": f"Bearer {TOKEN}"},
        {"header": f"authorization: bearer  {TOKEN}, x"},
        {"header": f"Basic {TOKEN}"},
        {"token": TOKEN},
        {"client_secret": TOKEN},
        {"Authorization": TOKEN},
        {"key": f"-----BEGIN PRIVATE KEY-----\n{TOKEN}\n-----END PRIVATE KEY-----"},
        {"key": f"-----BEGIN EC PRIVATE KEY-----\n{TOKEN}"},
        {"what": JWT},
    ],
    ids=["bearer", "lower", "basic", "token", "secret", "name", "key", "half a key", "jwt"],
)
def test_k2_what_looks_like_a_credential_is_hidden(extra):
    """Should one ever be handed to the log, it is not shown: in a field, a message or an error."""
    text = next(iter(extra.values()))
    lines = [line_of("refused", **extra)]
    if text != TOKEN:
        lines.append(line_of("refused %s", text))
        lines.append(line_of("refused", exc_info=(ValueError, ValueError(text), None)))

    for got in lines:
        assert TOKEN not in got
        assert "c2lnbmF0dXJl" not in got
        assert "[hidden]" in got


def test_l1_events_are_shown_on_stderr_from_their_level_on(monkeypatch):
    """Those below the level are not; warnings of Python are events as well; then all is as before."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    log, root = logging.getLogger("compute.test"), logging.getLogger()
    before = (root.level, list(root.handlers))
    with log_to_stderr("warning"):
        log.info("not this")
        log.warning("but this", extra={"why": "x"})
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn("old\nthing", DeprecationWarning, stacklevel=1)
    log.error("nor this")
    lines = stream.getvalue().splitlines()

    assert [pairs(line)["logger"] for line in lines] == ["compute.test", "py.warnings"]
    assert lines[0].endswith('msg="but this" why=x')
    assert (root.level, root.handlers) == before


def test_l1_a_stream_that_is_gone_stops_nothing(monkeypatch):
    """Without a reader, a record that cannot be written is dropped silently."""
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    with log_to_stderr("debug"):
        logging.getLogger("compute.test").error("into the void")


def test_l1_where_no_log_is_set_up_the_fields_are_shown_too():
    """A server that has not set up its log yet must not show a message without what it is about."""
    script = """
import logging
from compute.app.logs import show_unhandled
show_unhandled()
logging.getLogger("compute.x").warning("webhook failed", extra={"why": "refused"})
"""
    line = [sys.executable, "-c", script]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)

    assert pairs(done.stderr)["why"] == "refused"
