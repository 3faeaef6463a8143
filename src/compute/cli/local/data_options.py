"""Options of commands that name a folder."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from compute.app.data_folder import ENVIRONMENT, default_data

T = TypeVar("T")


class FolderType(click.Path):
    """A folder on the command line. An unset shell variable must not mean the current folder."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not str(value):
            self.fail("the name is empty; write . for this folder", param, ctx)
        return super().convert(value, param, ctx)


def data_option(function: Callable[..., T]) -> Callable[..., T]:
    """The option that names the folder of a world."""
    return click.option(
        "--data", metavar="DIR", type=FolderType(path_type=Path, file_okay=False),
        default=default_data, show_default="~/.local/share/compute",
        help=f"The folder of the world. Also by {ENVIRONMENT}.",
    )(function)  # fmt: skip


def same_data_option(function: Callable[..., T]) -> Callable[..., T]:
    """The same option after the name of a subcommand, where users write it too."""
    return click.option(
        "--data", metavar="DIR", type=FolderType(path_type=Path, file_okay=False),
        expose_value=False, callback=_set_folder, help="The folder of the world.",
    )(function)  # fmt: skip


def _set_folder(context: click.Context, _: click.Parameter, data: Path | None) -> None:
    if data is not None:
        context.obj = data.resolve()
