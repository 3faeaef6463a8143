"""`compute version`: the versions of this command and of the server."""

from importlib.metadata import version
from typing import Final

import click

from compute.app.data_folder import written_state
from compute.cli.exits import Exit
from compute.cli.invocation import spelled
from compute.cli.output.formats import output_option, show_data
from compute.cli.output.tables import plain
from compute.cli.plugin_manifest import PACKAGE
from compute.cli.shell.commands import command as command_of
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.cli.target.project_paths import platform_of
from compute.views.versions import ServerVersionView, compared, read_server_version
from kubekit.client.http.settings import HttpSettings
from kubekit.client.http.transport import HttpTransport

# A person waits for one line, so no attempt is repeated.
_SETTINGS: Final = HttpSettings(
    connections=2, connect_timeout=5.0, request_timeout=10.0, attempts=1, warn=lambda _: None
)


@command_of(
    examples=("compute version", "compute version --client", "compute version -o json"),
    exits=(Exit.NOT_FOUND, Exit.UNKNOWN),
    target=True,
)
@click.option("--client", "only_client", is_flag=True, help="Do not ask the server.")
@output_option("table", "json", "yaml")
def command(output: str, *, only_client: bool) -> int:
    """Show the versions of this command and of the server, and whether they fit together."""
    client = version(PACKAGE)
    if output == "table":
        show(f"Client:  {client}")
    server = None if only_client else in_project(_server)
    view = compared(client, server)
    if output != "table":
        show_data(view, output)
    elif server is not None:
        show(f"Server:  {_server_line(server)}")
    if view.skew:
        notify(f"Warning: {plain(spelled(view.skew))}")
    return 0


async def _server(session: Session) -> ServerVersionView:
    target = session.target
    async with HttpTransport(target.connection, session.environment, _SETTINGS) as transport:
        state = written_state(target.world) if target.world else None
        return await read_server_version(
            transport, platform_of(target.server), state.version if state else ""
        )


def _server_line(server: ServerVersionView) -> str:
    kubernetes = f"Kubernetes API {server.kubernetes}" if server.kubernetes else ""
    parts = (server.version, kubernetes, *server.api_versions)
    return plain(f"{', '.join(filter(None, parts))} at {server.server}")
