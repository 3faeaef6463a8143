"""The standard streams, made safe: always there, and never the end of a command."""

import io
import os
import sys


def prepare() -> None:
    """Make every stream usable.

    One that the caller closed reads as empty and takes what is written nowhere; else what is meant
    for stderr would be printed to stdout. A character that the terminal cannot show is spelled out.
    """
    sys.stdin = sys.stdin or _nowhere()
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show(text: str) -> None:
    """Print to stdout. A reader that has left, such as ``head``, changes nothing for the command."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        discard_output()


def discard_output() -> None:
    """Send to nowhere what stdout still holds. Python would fail on it once more at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
