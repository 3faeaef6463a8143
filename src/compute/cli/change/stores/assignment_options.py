"""The arguments and options of commands that set values, which `assignments` reads."""

from collections.abc import Callable
from typing import Final, TypeVar

import click

T = TypeVar("T")

_OPTIONS: Final = (
    click.argument("name", metavar="NAME"),
    click.argument("assignments", metavar="[KEY=VALUE | KEY=- | KEY-]...", nargs=-1),
    click.option(
        "--from-file", "files", multiple=True, metavar="[KEY=]PATH",
        help="The content of a file, under its name or KEY. May be given several times.",
    ),
    click.option(
        "--from-env-file", "env_files", multiple=True, metavar="PATH",
        help="The KEY=VALUE lines of a file.",
    ),
)  # fmt: skip


def assignment_options(function: Callable[..., T]) -> Callable[..., T]:
    """``NAME``, and the arguments and options that name values."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
