"""Reads the versions of this command and of the server, and prints them."""

from importlib.metadata import version
from typing import Final

from compute.app.data_folder import written_state
from compute.cli.invocation import spelled
from compute.cli.output.formats import show_data
from compute.cli.output.tables import plain
from compute.cli.plugin_manifest import PACKAGE
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


def show_versions(output: str, *, only_client: bool) -> None:
    """Print the versions, and a warning where they do not fit together."""
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
