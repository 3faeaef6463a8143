"""The standard streams. After `prepare` they are open, and a write never ends a command."""

import io
import os
import sys


def prepare() -> None:
    """Make every stream usable.

    A stream that the caller closed reads as empty and discards what is written; otherwise output for
    stderr could go to stdout. A character that the terminal cannot show is escaped.
    """
    sys.stdin = sys.stdin or _nowhere()
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Stdout:
    has_reader = True


def show(text: str) -> None:
    """Print to stdout. A reader that is gone, such as ``head``, is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _Stdout.has_reader = False
        discard_output()


def has_reader() -> bool:
    """Whether stdout was read so far. A command that would print without end stops when it is not."""
    return _Stdout.has_reader


def discard_output() -> None:
    """Discard what stdout still buffers. Python would fail on it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
