"""`compute plane-keys`: the keys that the secrets of a plane are sealed with."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from compute.app.folders import Folder
from kubekit.plane.plane import DATABASE
from kubekit.plane.store.errors import KeysRefused
from kubekit.plane.store.keys import KeyFile
from kubekit.plane.store.lock import holder
from kubekit.plane.store.log import KEYS

Result = TypeVar("Result")

_data = click.option(
    "--data", required=True, metavar="DIR", type=Folder(path_type=Path, file_okay=False),
    help="The folder of the plane.",
)  # fmt: skip


@click.group(name="plane-keys")
def command() -> None:
    """Show and change the keys that the secrets of a plane are sealed with."""


@command.command(name="list")
@_data
def names(data: Path) -> int:
    """Show the names of the keys, the one to seal with first."""
    for name in _said(_file(data).names):
        click.echo(name)
    return 0


@command.command()
@_data
def rotate(data: Path) -> int:
    """Add a key. The plane seals everything anew with it, and goes on serving.

    The old keys stay in the file: copies of the database from before need them.
    """
    file = _file(data)
    click.echo(f"Key {_said(file.rotate)} is now the first one in {file.path}.")
    process = holder(data / DATABASE)
    if process:
        click.echo(f"kill -USR1 {process} lets the plane seal everything with it now;")
        click.echo("else it does so at its next start.")
    else:
        click.echo("The plane seals everything with it at its next start.")
    return 0


def _file(data: Path) -> KeyFile:
    if not (data / DATABASE).exists():
        raise click.ClickException(f"{data}: there is no plane in it")
    return KeyFile(data / KEYS)


def _said(ask: Callable[[], Result]) -> Result:
    """The answer, or a failure in the words that it comes with."""
    try:
        return ask()
    except KeysRefused as refusal:
        raise click.ClickException(str(refusal)) from refusal
