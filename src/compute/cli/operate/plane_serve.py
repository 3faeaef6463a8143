"""`compute plane serve`: serves a Kubernetes API from one folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from compute.app.logs import LEVELS
from compute.cli.local.data_options import FolderType
from compute.cli.shell.commands import command as command_of

_PORT: Final = 7443


@command_of(
    name="serve",
    examples=("compute plane serve --data ~/plane", "compute plane serve --data ~/plane --port 0"),
)
@click.option(
    "--data", required=True, metavar="DIR", type=FolderType(path_type=Path, file_okay=False),
    help="The folder of the plane; created if it is missing.",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True,
    help="The port to listen on; 0 takes any free port.",
)  # fmt: skip
@click.option(
    "--bind", metavar="ADDRESS", default="127.0.0.1", show_default=True,
    help="The address to listen on. Other machines can reach any address but the loopback.",
)  # fmt: skip
@click.option(
    "--crds", "folders", multiple=True, metavar="DIR", type=click.Path(path_type=Path),
    help="A folder of CustomResourceDefinitions to serve as well. May be given several times.",
)  # fmt: skip
@click.option(
    "--log-level", type=click.Choice(LEVELS), default="info", show_default=True,
    help="The lowest level of log records on stderr.",
)  # fmt: skip
@click.option(
    "--user", metavar="NAME", default="",
    help="The user to run as, where root starts the command.",
)  # fmt: skip
def command(data: Path, port: int, bind: str, folders: Sequence[Path], **options: str) -> int:
    """Serve a Kubernetes API from a folder of this machine.

    It serves this project's kinds, namespaces, config maps, secrets, events and leases, and the
    kinds of any CustomResourceDefinitions. DIR/kubeconfig lets kubectl in.
    """
    from compute.cli.operate.plane import serve  # noqa: PLC0415 -- help needs none of it

    serve(data, (bind, port), folders, options)
    return 0
