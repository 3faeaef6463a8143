"""Names of workloads as a user gives them: as arguments, as ``workload/NAME``, or on stdin."""

from collections.abc import Iterable, Iterator
from typing import Final

import click

_STDIN: Final = "-"
_KINDS: Final = frozenset({"workload", "workloads", "workload.compute.datumapis.com"})


def workload_names(arguments: Iterable[str], stdin: Iterable[str]) -> list[str]:
    """The names, each once. ``-`` stands for the lines of stdin."""
    return list(dict.fromkeys(_names(arguments, stdin)))


def _names(arguments: Iterable[str], stdin: Iterable[str]) -> Iterator[str]:
    for argument in arguments:
        if argument != _STDIN:
            yield _name(argument)
            continue
        lines = [line.strip() for line in stdin]
        names = [_name(line) for line in lines if line]
        if not names:
            # A command in front of the pipe that failed prints no names: that is no success.
            raise click.UsageError("there are no names of workloads on stdin")
        yield from names


def _name(text: str) -> str:
    kind, slash, name = text.rpartition("/")
    if slash and kind not in _KINDS:
        raise click.UsageError(f"{text!r} is no workload; write NAME or workload/NAME")
    if not name or any(c.isspace() for c in name):
        raise click.UsageError(f"{text!r} is no name of a workload; give one name a line")
    return name
