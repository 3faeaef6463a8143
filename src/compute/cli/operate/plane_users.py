"""`compute plane users`: certificates for users of a plane, and their roles in a project."""

from pathlib import Path
from typing import Final

import click

from compute.app.data_folder import ENVIRONMENT, default_data
from compute.cli.completion import values
from compute.cli.exits import Exit
from compute.cli.local.data_options import FolderType
from compute.cli.shell.commands import command as command_of
from compute.cli.shell.groups import Entry, LazyGroup

_LONGEST: Final = 24 * 365
ROLES: Final = ("viewer", "editor", "admin")  # of `project_users`, as a test checks
_data = click.option(
    "--data", metavar="DIR", type=FolderType(path_type=Path, file_okay=False),
    default=default_data, show_default="~/.local/share/compute",
    callback=lambda _context, _option, data: data.resolve(),
    help=f"The folder of the plane, or of the world. Also by {ENVIRONMENT}.",
)  # fmt: skip


_MODULE: Final = "compute.cli.operate.plane_users"
command: Final = LazyGroup(
    "users",
    {
        "add": Entry(_MODULE, "Make a kubeconfig for a user.", attribute="add"),
        "remove": Entry(_MODULE, "Revoke the role of a user in a project.", attribute="remove"),
        "revoke": Entry(_MODULE, "Revoke a certificate.", attribute="revoke"),
    },
    help="""Give users access to a plane, each with a certificate of their own.

    Roles say what a user may do. In a world, --project grants one; elsewhere kubectl does:
    kubectl create rolebinding, kubectl auth can-i --as NAME.
    """,
)


@command_of(
    name="add",
    examples=(
        "compute plane users add alice --project demo --role editor --out alice.kubeconfig",
        "compute plane users add olga --data ~/plane",
    ),
    exits=(Exit.NOT_YET, Exit.UNKNOWN, Exit.NOT_FOUND),
)
@click.argument("name")
@click.option(
    "--project", metavar="PROJECT", default="", shell_complete=values.projects,
    help="The project of a running world to add the user to. The kubeconfig leads there.",
)  # fmt: skip
@click.option(
    "--role", type=click.Choice(ROLES),
    help="What the user may do in the project.  [default: editor]",
)  # fmt: skip
@click.option(
    "--group", "groups", multiple=True, metavar="GROUP",
    help="A group that the user is in. May be given several times.",
)  # fmt: skip
@click.option(
    "--hours", type=click.IntRange(1, _LONGEST), default=24, show_default=True,
    help="How many hours the certificate is valid.",
)  # fmt: skip
@click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write, readable by you only; without this, stdout.",
)  # fmt: skip
@_data
def add(name: str, data: Path, **arguments: object) -> int:
    """Make a kubeconfig for a user. It holds the only copy of the user's key."""
    from compute.cli.operate.plane_users_run import add_user  # noqa: PLC0415 -- not for help

    return add_user(name, data, **arguments)


@command_of(
    name="remove",
    examples=(
        "compute plane users remove alice --project demo",
        "compute plane users remove alice --project demo --data ~/world",
    ),
    exits=(Exit.NOT_YET, Exit.UNKNOWN, Exit.NOT_FOUND),
)
@click.argument("name")
@click.option(
    "--project",
    metavar="PROJECT",
    required=True,
    shell_complete=values.projects,
    help="The project to remove the user from.",
)
@_data
def remove(name: str, project: str, data: Path) -> int:
    """Revoke the role that `add` granted a user in a project. The next request is refused."""
    from compute.cli.operate.plane_users_run import remove_user  # noqa: PLC0415 -- not for help

    return remove_user(name, project, data)


@command_of(
    name="revoke",
    examples=("compute plane users revoke 1f3a", "compute plane users revoke 1f3a --data ~/plane"),
)
@click.argument("serial")
@_data
def revoke(serial: str, data: Path) -> int:
    """Revoke a certificate. A running plane refuses it within a minute."""
    from compute.cli.operate.plane_users_run import revoke_certificate  # noqa: PLC0415 -- as above

    return revoke_certificate(serial, data)
