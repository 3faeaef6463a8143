"""`compute plane keys`: the keys that the secrets of a plane are sealed with."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from compute.cli.exits import Exit, Failure
from compute.cli.local.data_options import FolderType
from compute.cli.shell.commands import command as command_of
from compute.cli.shell.groups import Entry, LazyGroup

if TYPE_CHECKING:  # it imports the whole plane, of which help needs nothing
    from kubekit.plane import PlaneDirectory

Result = TypeVar("Result")

_data = click.option(
    "--data", required=True, metavar="DIR", type=FolderType(path_type=Path, file_okay=False),
    help="The folder of the plane.",
)  # fmt: skip


_MODULE: Final = "compute.cli.operate.plane_keys"
command: Final = LazyGroup(
    "keys",
    {
        "list": Entry(_MODULE, "Show the names of the keys.", attribute="names"),
        "rotate": Entry(_MODULE, "Add a key to seal with.", attribute="rotate"),
    },
    help="Show and change the keys that the secrets of a plane are sealed with.",
)


@command_of(
    name="list",
    examples=(
        "compute plane keys list --data ~/plane",
        "compute plane keys list --data ~/world/planes/core",
    ),
    exits=(Exit.NOT_FOUND,),
)
@_data
def names(data: Path) -> int:
    """Show the names of the keys, the one to seal with first."""
    for name in _checked(_directory(data).keys.names):
        click.echo(name)
    return 0


@command_of(
    name="rotate",
    examples=(
        "compute plane keys rotate --data ~/plane",
        "compute plane keys rotate --data ~/world/planes/core",
    ),
    exits=(Exit.NOT_FOUND,),
)
@_data
def rotate(data: Path) -> int:
    """Add a key. The plane seals everything again with it while it serves.

    The old keys stay in the file: older copies of the database need them.
    """
    directory = _directory(data)
    keys = directory.keys
    click.echo(f"Key {_checked(keys.rotate)} is now the first one in {keys.path}.")
    process = directory.process()
    if process:
        click.echo(f"kill -USR1 {process} makes the plane seal everything with it now;")
        click.echo("otherwise it does so at its next start.")
    else:
        click.echo("The plane seals everything with it at its next start.")
    return 0


def _directory(data: Path) -> "PlaneDirectory":
    from kubekit.plane import PlaneDirectory  # noqa: PLC0415 -- as above

    directory = PlaneDirectory(data)
    if not directory.exists():
        raise Failure(
            f"{data}: there is no plane in it",
            Exit.NOT_FOUND,
            next_step=f"compute plane serve --data {shlex.quote(str(data))}",
        )
    return directory


def _checked(call: Callable[[], Result]) -> Result:
    """The result of a call. An error becomes one sentence for the user."""
    from kubekit.plane import PlaneError  # noqa: PLC0415 -- as above

    try:
        return call()
    except PlaneError as refusal:
        raise Failure(str(refusal)) from refusal
