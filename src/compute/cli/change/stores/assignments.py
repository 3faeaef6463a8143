"""Values on a command line: ``KEY=VALUE``, ``KEY=-``, ``KEY-``, files, and files of variables.

Bytes stay as they are: those of the arguments too, whatever their encoding. No error repeats a value.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import click

from compute.cli.exits import Failure
from compute.cli.output.terminal import is_interactive
from compute.cli.shell.commands import current_help
from compute.cli.shell.prompts import notify
from compute.decide.stored_values import ValueChange, key_fault

_STDIN: Final = "-"
_BOM: Final = b"\xef\xbb\xbf"


def read_change(
    assignments: Sequence[str],
    files: Sequence[str],
    env_files: Sequence[str],
    *,
    hidden: bool = False,
) -> ValueChange:
    """The change that the arguments describe. Each key may be named once.

    A value that is typed on a terminal is not shown if it is to be ``hidden``.
    """
    values: dict[str, bytes] = {}
    removed: set[str] = set()
    stdin = _Stdin(hidden=hidden)
    for key, value in chain(
        _assigned(assignments, stdin), _of_files(files, stdin), _variables(env_files)
    ):
        if key in values or key in removed:
            raise click.UsageError(f"the key {key} is given twice")
        if value is None:
            removed.add(key)
        else:
            values[key] = value
    if not values and not removed:
        raise click.UsageError("nothing to set: give KEY=VALUE, --from-file or --from-env-file")
    return ValueChange(values, frozenset(removed))


def _assigned(assignments: Sequence[str], stdin: "_Stdin") -> Iterator[tuple[str, bytes | None]]:
    """The keys of arguments, each with its value; None removes it."""
    for position, assignment in enumerate(assignments, 1):
        key, equals, value = assignment.partition("=")
        if equals:
            key = _checked(key)
            yield key, stdin.read(key) if value == _STDIN else os.fsencode(value)
        elif key.endswith("-"):
            yield _checked(key.removesuffix("-")), None
        else:  # it may be a secret, so it is not repeated
            raise click.UsageError(
                f"argument {position} after NAME has no '=': write KEY=VALUE, KEY=- to read the value "
                "from stdin, or KEY- to remove the key"
            )


def _of_files(files: Sequence[str], stdin: "_Stdin") -> Iterator[tuple[str, bytes | None]]:
    """The contents of files, each under its key, or under its own name."""
    for argument in files:
        key, equals, path = argument.partition("=")
        path = path if equals else argument
        key = _checked(key if equals else Path(argument).name)
        yield key, stdin.read(key) if path == _STDIN else _content(path)


def _checked(key: str) -> str:
    if fault := key_fault(key):
        raise click.UsageError(f"{key!r} cannot be a key: {fault}")
    return key


def _variables(paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    """The lines of files of variables. Quotes are part of a value, as for containers."""
    for path in paths:
        for number, line in enumerate(_content(path).removeprefix(_BOM).splitlines(), 1):
            if line.strip() and not line.lstrip().startswith(b"#"):
                yield _variable(line, f"{path}, line {number}")


def _variable(line: bytes, where: str) -> tuple[str, bytes]:
    name, equals, value = line.partition(b"=")
    if not equals:
        raise Failure(f"{where}: there is no '='; write KEY=VALUE", next_step=current_help())
    key = os.fsdecode(name.strip())
    if fault := key_fault(key):
        raise Failure(f"{where}: {key!r} cannot be a key: {fault}", next_step=current_help())
    return key, value


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Failure(
            f"{path}: cannot be read: {error.strerror}", next_step=current_help()
        ) from error


class _Stdin:
    """The bytes of stdin, for one key."""

    def __init__(self, *, hidden: bool) -> None:
        self._hidden = hidden
        self._key = ""

    def read(self, key: str) -> bytes:
        if self._key:
            raise click.UsageError(
                f"stdin can be the value of one key only, not of {self._key} and {key}"
            )
        self._key = key
        if is_interactive() and self._hidden:
            return _typed_unseen(key)
        if is_interactive():
            notify(f"Type the value of {key}, and end it with Ctrl-D:")
        value = sys.stdin.buffer.read()
        if value.endswith(b"\n") and value.count(b"\n") == 1:
            notify(
                f"The value of {key} ends with a newline, which is part of it; printf adds none."
            )
        return value


def _typed_unseen(key: str) -> bytes:
    from getpass import getpass  # noqa: PLC0415 -- only on a terminal

    try:
        return os.fsencode(getpass(f"Value of {key} (not shown): "))
    except EOFError as error:
        raise click.Abort from error
