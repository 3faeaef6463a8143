"""The startup steps of every command that serves, and how commands print."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click

from compute.app import definitions, logs, process
from compute.app.sites import BadCities
from kubekit.plane import PlaneError

# The message of each says what is wrong, where, and what to do.
_REPORTED: Final = (BadCities, definitions.BadFile, process.Unsafe, PlaneError)


@contextmanager
def reporting_errors(data: Path) -> Iterator[None]:
    """Turn an expected error into one sentence for the user, and start to collect garbage."""
    gc.enable()
    logs.show_unhandled()
    try:
        yield
    except _REPORTED as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        where = error.filename or data
        raise click.ClickException(f"{where}: cannot be used: {error.strerror}") from error


def secure_process(data: Path, user: str = "") -> None:
    """Protect files and memory from other users. Memory is last: `become` makes it readable again."""
    if user:
        process.become(user, data)
    process.harden()
    change = process.keep_private(data)
    if change:
        echo(change)


def warning_of_root() -> str:
    if not process.is_root():
        return ""
    return "It runs as root, but does not need to: --user NAME makes it run as another user.\n"


def keep_standard_streams() -> None:
    """Open /dev/null for each standard stream that is closed.

    Without this, the first sockets would get those numbers, which the event loop refuses to close.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def echo(text: str) -> None:
    """Print lines, with control characters escaped. A closed stdout is not an error."""
    escaped = (c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    try:
        click.echo("".join(escaped))
    except BrokenPipeError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
