"""`compute plane-keys`: the keys that the secrets of a plane are sealed with."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from compute.cli.data_options import FolderType
from kubekit.plane import PlaneDirectory, PlaneError

Result = TypeVar("Result")

_data = click.option(
    "--data", required=True, metavar="DIR", type=FolderType(path_type=Path, file_okay=False),
    help="The folder of the plane.",
)  # fmt: skip


@click.group(name="plane-keys")
def command() -> None:
    """Show and change the keys that the secrets of a plane are sealed with."""


@command.command(name="list")
@_data
def names(data: Path) -> int:
    """Show the names of the keys, the one to seal with first."""
    for name in _said(_directory(data).keys.names):
        click.echo(name)
    return 0


@command.command()
@_data
def rotate(data: Path) -> int:
    """Add a key. The plane seals everything anew with it, and goes on serving.

    The old keys stay in the file: copies of the database from before need them.
    """
    directory = _directory(data)
    keys = directory.keys
    click.echo(f"Key {_said(keys.rotate)} is now the first one in {keys.path}.")
    process = directory.process()
    if process:
        click.echo(f"kill -USR1 {process} lets the plane seal everything with it now;")
        click.echo("else it does so at its next start.")
    else:
        click.echo("The plane seals everything with it at its next start.")
    return 0


def _directory(data: Path) -> PlaneDirectory:
    directory = PlaneDirectory(data)
    if not directory.exists():
        raise click.ClickException(f"{data}: there is no plane in it")
    return directory


def _said(ask: Callable[[], Result]) -> Result:
    """The answer, or a failure in the words that it comes with."""
    try:
        return ask()
    except PlaneError as refusal:
        raise click.ClickException(str(refusal)) from refusal
