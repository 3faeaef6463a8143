"""The log of a server: one line per event on stderr, as ``key=value`` pairs (logfmt).

    time=2026-03-01T12:00:00.250Z level=warning logger=kubekit.plane msg="default object not created" object=default

Text from outside, such as the name of an object, is always a value: it is quoted where it could be
mistaken for syntax, control characters are escaped, and long values are cut. Text that looks
like a credential is hidden.
"""

import logging
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

LEVELS: Final = ("debug", "info", "warning", "error")
LONGEST: Final = 8192  # characters of a line
_VALUE: Final = 1000  # characters of a value
_TRACE: Final = 4000  # characters of a traceback, its end
_HIDDEN: Final = "[hidden]"
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_UNQUOTED: Final = re.compile(r"[^\s\"'=\\]+")
_SECRET_NAME: Final = re.compile(r"(?i)token|password|passwd|secret|authorization|credential")
_CREDENTIAL: Final = re.compile(
    r"(?i)\b(?P<scheme>bearer|basic)\s+[^\s\"',;]+"  # a header
    r"|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*"  # a JSON web token
    r"|(?P<key>-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(?:-----END|\Z)",
    re.DOTALL,
)


@contextmanager
def log_to_stderr(level: str) -> Iterator[None]:
    """Write log records of this level and above to stderr, inside the context."""
    root = logging.getLogger()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogfmtFormatter())
    before, complaints = root.level, logging.raiseExceptions
    logging.raiseExceptions = False  # with stderr closed there is no place to report
    logging.captureWarnings(capture=True)
    root.setLevel(level.upper())
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        logging.captureWarnings(capture=False)
        logging.raiseExceptions = complaints


def show_unhandled() -> None:
    """Write complete lines where no log is set up.

    The last resort of `logging` would write messages only, without the fields of the records.
    """
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(LogfmtFormatter())


class LogfmtFormatter(logging.Formatter):
    """Formats each record as one line, whatever it contains."""

    def format(self, record: logging.LogRecord) -> str:
        pairs = [f"{name}={_quoted(value)}" for name, value in _pairs(record)]
        line = " ".join(pairs)
        return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def _pairs(record: logging.LogRecord) -> Iterator[tuple[str, str]]:
    moment = datetime.fromtimestamp(record.created, UTC)
    yield "time", f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
    yield "level", record.levelname.lower()
    yield "logger", record.name
    yield "msg", _cut(_message(record))
    fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    for name, value in fields.items():
        yield name, _HIDDEN if _SECRET_NAME.search(name) else _cut(_text(value))
    if record.exc_info and record.exc_info[1] is not None:
        error = record.exc_info[1]
        if "error" not in fields:
            yield "error", _cut(f"{type(error).__name__}: {_text(error)}")
        yield "trace", "".join(traceback.format_tb(error.__traceback__))[-_TRACE:]


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a message with wrong arguments is still written
        return str(record.msg)


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - whatever it is, the record is written
        return f"({type(value).__name__})"


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}... ({len(text)} characters)"


def _quoted(value: str) -> str:
    redacted = _CREDENTIAL.sub(_hide, value)
    if _UNQUOTED.fullmatch(redacted) and redacted.isprintable():
        return redacted
    escaped = redacted.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{"".join(map(_escaped, escaped))}"'


def _hide(match: re.Match[str]) -> str:
    return f"{match['scheme'] or match['key'] or ''} {_HIDDEN}".lstrip()


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()
