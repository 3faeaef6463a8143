"""What every command that serves does at its beginning, and how it speaks."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click

from compute.app import definitions, process
from compute.app.sites import BadCities
from kubekit.plane import PlaneError

# Each of these says in its own words what is wrong, where, and what to do.
_SPOKEN: Final = (BadCities, definitions.BadFile, process.Unsafe, PlaneError)


@contextmanager
def reporting_errors(data: Path) -> Iterator[None]:
    """Tell whoever started the command what it cannot do, in one sentence."""
    try:
        yield
    except _SPOKEN as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        where = error.filename or data
        raise click.ClickException(f"{where}: cannot be used: {error.strerror}") from error


def secure_process(data: Path, user: str = "") -> None:
    """See to it that nobody else gets at anything. Memory is closed last: a new user opens it."""
    if user:
        process.become(user, data)
    process.harden()
    mended = process.keep_private(data)
    if mended:
        say(mended)


def warning_of_root() -> str:
    if not process.is_root():
        return ""
    return "It runs as root, which it need not: --user NAME lets it go on as somebody else.\n"


def keep_standard_streams() -> None:
    """Put nothing in the place of streams that were closed: the loop refuses to close their numbers.

    Without this, the first sockets would get those numbers.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def say(text: str) -> None:
    """Print lines, with the names in them spelled out. Nobody need be there to read: it goes on."""
    shown = (c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    try:
        click.echo("".join(shown))
    except BrokenPipeError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
